/* SPDX-License-Identifier: BSD-2-Clause */
/* service.c: the attached thread of service.h. */
#include "service.h"
#include "clock.h"
#include "cpuclock.h"
#include "log.h"
#include "names.h"
#include "spawn.h"
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

enum { MSG_QUIT = HPX_MSG_OTHER, MSG_COLLECT };

struct msg_collect {
    struct hpx_msg m;
    void (*done)(uint64_t unused);
};

#define RECHECK_NS UINT64_C(10000000000)

static struct {
    struct hpx_lane lane;
    sem_t left;           /* posted when the thread has left the JVM */
    bool started;         /* VMInit's and VMDeath's */
    atomic_bool running;  /* relaxed: who asks first */
    struct hpx_msg *quit; /* made at load: asking needs no memory */
    _Atomic pid_t tid;    /* relaxed: for the CPU clock only */
} service;

int hpx_service_init(void)
{
    sem_init(&service.left, 0, 0);
    service.quit = hpx_msg_new(MSG_QUIT, sizeof *service.quit);
    return service.quit == NULL ? -HPX_E_NOMEM : hpx_lane_init(&service.lane);
}

void hpx_service_post(struct hpx_msg *r)
{
    hpx_lane_post(&service.lane, r, true);
}

bool hpx_service_collect(void (*done)(uint64_t unused))
{
    struct msg_collect *m = hpx_msg_new(MSG_COLLECT, sizeof *m);
    if (m == NULL) {
        return false;
    }
    m->done = done;
    hpx_lane_post(&service.lane, &m->m, true);
    return true;
}

static void collect(const JNIEnv *env, struct msg_collect *m)
{
    jvmtiError e = env != NULL ? (*hpx_agent.jvmti)->ForceGarbageCollection(hpx_agent.jvmti) : JVMTI_ERROR_UNATTACHED_THREAD;
    if (e != JVMTI_ERROR_NONE) {
        hpx_warn("no garbage was collected: %s", hpx_jvmti_error(e));
    }
    m->done(0);
    free(m);
}

/* env NULL: the JVM let us not in. */
static void serve_one(JNIEnv *env, struct hpx_msg *m)
{
    switch (m->kind) {
    case HPX_MSG_SWEEP:
        hpx_names_sweep(env, (struct hpx_msg_sweep *)(void *)m);
        break;
    case HPX_MSG_DROP:
        hpx_names_drop(env, (struct hpx_msg_sweep *)(void *)m);
        break;
    case MSG_COLLECT:
        collect(env, (struct msg_collect *)(void *)m);
        break;
    default:
        if (env != NULL) {
            hpx_names_resolve(hpx_agent.jvmti, env, (struct hpx_msg_resolve *)(void *)m);
        } else {
            hpx_names_refuse((struct hpx_msg_resolve *)(void *)m);
        }
        break;
    }
}

/* false: asked to leave. */
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

/* A machine may be moved to another host while the program runs. */
static void recheck_clock(void)
{
    static uint64_t last;
    uint64_t now = hpx_clock_mono();
    if (hpx_agent_calls() && now - last >= RECHECK_NS) {
        if (!hpx_cpuclock_recheck()) {
            hpx_warn("%s: the kernel is asked for each time from now on, which is slow: %s", hpx_agent_mode(), hpx_cpuclock_reason());
        }
        last = hpx_clock_mono();
    }
}

static void *run(void *unused)
{
    (void)unused;
    JNIEnv *env = NULL;
    JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)(uintptr_t)HPX_SERVICE_NAME, NULL};
    atomic_store_explicit(&service.tid, hpx_spawn_enter("hprofx-service"), memory_order_relaxed);
    hpx_self = &hpx_ours;
    if ((*hpx_agent.vm)->AttachCurrentThreadAsDaemon(hpx_agent.vm, (void **)&env, &args) != JNI_OK) {
        env = NULL;
        hpx_warn("cpu=samples: the VM lets no thread of ours in: lines, and names of classes loaded early, are missing");
    }
    for (;;) {
        uint32_t seen = hpx_wake_value(&service.lane.wake);
        if (!serve(env)) {
            break;
        }
        hpx_wake_wait(&service.lane.wake, seen, RECHECK_NS);
        recheck_clock();
    }
    if (env != NULL) {
        (*hpx_agent.vm)->DetachCurrentThread(hpx_agent.vm);
    }
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

void hpx_service_stop(uint64_t ns)
{
    if (!service.started) {
        return;
    }
    hpx_service_quit();
    uint64_t end = hpx_clock_mono() + ns;
    struct timespec until = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};
    while (sem_clockwait(&service.left, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
    }
}

uint64_t hpx_service_cpu(void)
{
    pid_t tid = atomic_load_explicit(&service.tid, memory_order_relaxed);
    return tid ? hpx_clock_tid_cpu(tid) : 0;
}
