/* SPDX-License-Identifier: BSD-2-Clause */
/* service.c: the attached thread of service.h. */
#include "service.h"
#include "boot_class.h"
#include "clock.h"
#include "log.h"
#include "names.h"
#include "spawn.h"
#include "threads.h"
#include "unannounced.h"
#include "vm_mode.h"
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

enum { MSG_QUIT = HPX_MSG_OTHER, MSG_RUN };

struct msg_run {
    struct hpx_msg m;
    jvmtiError (*fn)(jvmtiEnv *jvmti, JNIEnv *env);
    const char *failed;
    void (*done)(uint64_t arg);
    uint64_t arg;
};

#define RECHECK_NS UINT64_C(10000000000)

static HPX_OF_SESSION struct {
    struct hpx_lane lane;
    sem_t left;           /* posted when the thread has left the JVM */
    bool made;            /* by hpx_service_init() */
    bool started;         /* VMInit's and VMDeath's */
    atomic_bool running;  /* relaxed: decides which request to stop is the first */
    struct hpx_msg *quit; /* made at load: asking needs no memory */
    struct hpx_spawned thread;
} service;

int hpx_service_init(void)
{
    sem_init(&service.left, 0, 0);
    hpx_lane_init(&service.lane);
    service.made = true;
    service.quit = hpx_msg_new(MSG_QUIT, sizeof *service.quit);
    return service.quit == NULL ? -HPX_E_NOMEM : 0;
}

void hpx_service_post(struct hpx_msg *r)
{
    hpx_lane_post(&service.lane, r, true);
}

bool hpx_service_ask(const struct hpx_service_task *task, void (*done)(uint64_t arg), uint64_t arg)
{
    struct msg_run *m = hpx_msg_new(MSG_RUN, sizeof *m);
    if (m == NULL) {
        return false;
    }
    m->fn = task->fn;
    m->failed = task->failed;
    m->done = done;
    m->arg = arg;
    hpx_lane_post(&service.lane, &m->m, true);
    return true;
}

static void work_done(uint64_t work)
{
    struct hpx_service_work *w = (struct hpx_service_work *)(uintptr_t)work;
    atomic_fetch_add_explicit(&w->done, 1, memory_order_release); /* partner: hpx_service_prepare() */
    hpx_aggregator_wake(&hpx_session.aggregator);
}

bool hpx_service_prepare(struct hpx_service_work *w, const struct hpx_service_task *task)
{
    if (!w->asked) {
        w->asked = hpx_service_ask(task, work_done, (uint64_t)(uintptr_t)w);
        w->begun += w->asked;
        return !w->asked;
    }
    w->asked = atomic_load_explicit(&w->done, memory_order_acquire) != w->begun; /* partner: work_done() */
    return !w->asked;
}

void hpx_service_forget(struct hpx_service_work *w)
{
    w->asked = false;
}

static jvmtiError collect(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)env;
    return (*jvmti)->ForceGarbageCollection(jvmti);
}

bool hpx_service_collect(void (*done)(uint64_t unused))
{
    static const struct hpx_service_task collection = HPX_SERVICE_TASK(collect, "garbage collection failed");
    return hpx_service_ask(&collection, done, 0);
}

static void run_one(JNIEnv *env, struct msg_run *m)
{
    jvmtiError e = env != NULL ? m->fn(hpx_vm.jvmti, env) : JVMTI_ERROR_UNATTACHED_THREAD;
    if (e != JVMTI_ERROR_NONE) {
        hpx_warn("%s: %s", m->failed, hpx_jvmti_error(e));
    }
    m->done(m->arg);
    free(m);
}

/* env NULL: the thread could not attach. */
static void serve_one(JNIEnv *env, struct hpx_msg *m)
{
    switch (m->kind) {
    case HPX_MSG_SWEEP:
        hpx_names_sweep(env, (struct hpx_msg_sweep *)(void *)m);
        break;
    case HPX_MSG_DROP:
        hpx_names_drop(env, (struct hpx_msg_sweep *)(void *)m);
        break;
    case HPX_MSG_LOOK:
        hpx_unannounced_serve(hpx_vm.jvmti, env, (struct hpx_msg_look *)(void *)m);
        break;
    case MSG_RUN:
        run_one(env, (struct msg_run *)(void *)m);
        break;
    default:
        if (env != NULL) {
            hpx_names_resolve(hpx_vm.jvmti, env, (struct hpx_msg_resolve *)(void *)m);
        } else {
            hpx_names_refuse((struct hpx_msg_resolve *)(void *)m);
        }
        break;
    }
}

/* false: the thread must leave. */
static bool serve(JNIEnv *env)
{
    bool go_on = true;
    for (struct hpx_msg *m = hpx_lane_splice(&service.lane), *next; m != NULL; m = next) {
        next = m->next;
        if (m->kind == MSG_QUIT) {
            go_on = false;
            free(m);
        } else {
            serve_one(env, m);
        }
    }
    return go_on;
}

static void recheck(void)
{
    static HPX_OF_SESSION uint64_t last;
    uint64_t now = hpx_clock_mono();
    if (now - last < RECHECK_NS) {
        return;
    }
    HPX_EACH_MODE(vm->recheck, ());
    last = hpx_clock_mono();
}

static void *run(void *unused)
{
    (void)unused;
    hpx_spawn_enter("hprofx-service", &service.thread);
    JNIEnv *env = hpx_threads_attach(HPX_OURS "service");
    if (env == NULL) {
        hpx_warn("%s: cannot attach the service thread; line numbers, and names of classes loaded early, will be missing",
                 hpx_session_modes());
    }
    for (;;) {
        uint32_t seen = hpx_wake_value(&service.lane.wake);
        if (!serve(env)) {
            break;
        }
        hpx_wake_wait(&service.lane.wake, seen, RECHECK_NS);
        recheck();
    }
    if (env != NULL) {
        (*hpx_vm.java)->DetachCurrentThread(hpx_vm.java);
    }
    hpx_spawn_leave(&service.thread);
    sem_post(&service.left);
    return NULL;
}

int hpx_service_start(struct hpx_err *err)
{
    int rc = hpx_spawn(run, "hprofx-service", err);
    service.started = rc == 0;
    atomic_store_explicit(&service.running, rc == 0, memory_order_relaxed);
    return rc;
}

void hpx_service_quit(void)
{
    if (atomic_exchange_explicit(&service.running, false, memory_order_relaxed)) {
        hpx_lane_post(&service.lane, service.quit, true);
    }
}

bool hpx_service_stop(uint64_t ns)
{
    if (!service.started) {
        return true;
    }
    hpx_service_quit();
    return hpx_spawn_wait(&service.left, hpx_clock_mono() + ns);
}

void hpx_service_fini(void)
{
    if (!service.made) {
        return;
    }
    if (!service.started) {
        free(service.quit);
    }
    for (struct hpx_msg *m = hpx_lane_splice(&service.lane), *next; m != NULL; m = next) {
        next = m->next;
        free(m);
    }
    hpx_lane_fini(&service.lane);
    sem_destroy(&service.left);
}

uint64_t hpx_service_cpu(void)
{
    return hpx_spawn_cpu(&service.thread);
}

/* Who asked the program to end. Written before the thread starts, which keeps a copy: the session may end before it comes back. */
static struct exiting {
    void (*failed)(const char *why);
    uint32_t session;
} exiting;

/* Unless the session that asked has ended. */
static void say_not_ended(const struct exiting *e, const char *why)
{
    if (hpx_gate_enter(&hpx_session.gate)) {
        if (hpx_session_is(e->session)) {
            e->failed(why);
        }
        hpx_gate_leave(&hpx_session.gate);
    }
}

static void *end_program(void *unused)
{
    const struct exiting asked = exiting;
    (void)unused;
    hpx_spawn_enter("hprofx-exit", NULL);
    JNIEnv *env = hpx_threads_attach(HPX_OURS "exit");
    if (env == NULL) {
        say_not_ended(&asked, "the VM refused to attach the service thread");
        return NULL;
    }
    jclass system = hpx_boot_class(env, "java/lang/System");
    jmethodID leave = system != NULL ? (*env)->GetStaticMethodID(env, system, "exit", "(I)V") : NULL;
    if (leave != NULL) {
        (*env)->CallStaticVoidMethod(env, system, leave, (jint)0); /* comes back with an exception alone */
    }
    (*env)->ExceptionClear(env);
    say_not_ended(&asked, "System.exit threw an exception");
    (*hpx_vm.java)->DetachCurrentThread(hpx_vm.java);
    return NULL;
}

int hpx_service_exit(void (*failed)(const char *why), struct hpx_err *err)
{
    exiting = (struct exiting){failed, atomic_load_explicit(&hpx_session_number, memory_order_relaxed)};
    return hpx_spawn(end_program, "hprofx-exit", err);
}
