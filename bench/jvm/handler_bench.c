/* SPDX-License-Identifier: BSD-2-Clause */
/* handler_bench.c: an agent with the same per-thread CPU timer as cpu=samples and a handler that does less: the floor for the handler's
 * cost. Test code of tools/bench.
 *
 * Options: MODE,INTERVAL_US,OUTPUT
 *   empty  the handler counts its calls
 *   agct   AsyncGetCallTrace straight into the product's ring (pipeline/ring.c), nothing else: no remedy, no hash, no table
 * At VMDeath `key value` lines go to OUTPUT: signals, and for agct the time inside the handler. */
#include "ring.h"

#include <dlfcn.h>
#include <errno.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES  (256u << 10)
#define MAX_TIMES   (1u << 16)
#define MAX_THREADS 64
#define DEPTH       1024

struct asgct_trace {
    JNIEnv *env;
    jint frames_n;
    void *frames;
};

struct thread {
    struct hpx_ring ring;
    JNIEnv *env;
    timer_t timer;
};

static void (*asgct)(struct asgct_trace *, jint, void *);
static struct thread threads[MAX_THREADS];
static _Atomic unsigned threads_n; /* release: attach(); acquire: drain(). Covers the thread's ring. */
static __thread struct thread *self;
static _Atomic unsigned times_n, signals, failed, full;
static uint32_t times[MAX_TIMES];
static _Atomic bool stop; /* relaxed: a flag alone */
static pthread_t drainer;
static bool walks, drains;
static long interval_us;
static const char *output;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void walk(struct thread *t, void *context)
{
    struct hpx_ev_head *ev = hpx_ring_reserve(&t->ring, HPX_EV_SAMPLE_BYTES(DEPTH));
    if (!ev) {
        atomic_fetch_add_explicit(&full, 1, memory_order_relaxed);
        return;
    }
    struct hpx_ev_frame *frames = (struct hpx_ev_frame *)(void *)(ev + 2);
    struct asgct_trace trace = {.env = t->env, .frames_n = 0, .frames = frames};
    asgct(&trace, DEPTH, context);
    if (trace.frames_n <= 0) {
        atomic_fetch_add_explicit(&failed, 1, memory_order_relaxed);
        return;
    }
    ev->kind = HPX_EV_SAMPLE_DEF;
    ev->id = 0;
    ev->stamp = 1;
    hpx_ring_commit(&t->ring, ev, HPX_EV_SAMPLE_BYTES(trace.frames_n));
}

static void handler(int signo, siginfo_t *info, void *context)
{
    struct thread *t = self;
    (void)signo;
    (void)info;
    atomic_fetch_add_explicit(&signals, 1, memory_order_relaxed);
    if (!walks || !t) {
        return;
    }
    int saved = errno;
    uint64_t begin = now_ns();
    walk(t, context);
    unsigned i = atomic_fetch_add_explicit(&times_n, 1, memory_order_relaxed);
    if (i < MAX_TIMES) {
        times[i] = (uint32_t)(now_ns() - begin);
    }
    errno = saved;
}

static void *drain(void *unused)
{
    sigset_t all;
    const struct timespec pause = {0, 10000000};
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        unsigned n = atomic_load_explicit(&threads_n, memory_order_acquire);
        for (unsigned i = 0; i < n && i < MAX_THREADS; i++) {
            hpx_ring_release(&threads[i].ring, hpx_ring_peek(&threads[i].ring));
        }
        nanosleep(&pause, NULL);
    }
    return unused;
}

static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;

static void attach(JNIEnv *env)
{
    pthread_mutex_lock(&attach_lock);
    unsigned n = atomic_load_explicit(&threads_n, memory_order_relaxed);
    struct thread *t = n < MAX_THREADS && !self ? &threads[n] : NULL;
    if (t && hpx_ring_init(&t->ring, RING_BYTES) == 0) {
        t->env = env;
        atomic_store_explicit(&threads_n, n + 1, memory_order_release);
        self = t;
    } else {
        t = NULL;
    }
    pthread_mutex_unlock(&attach_lock);
    if (!t) {
        return;
    }
    pid_t tid = (pid_t)syscall(SYS_gettid);
    struct sigevent ev;
    memset(&ev, 0, sizeof(ev));
    ev.sigev_notify = SIGEV_THREAD_ID;
    ev.sigev_signo = SIGPROF;
    ev._sigev_un._tid = tid;
    const struct timespec every = {interval_us / 1000000, interval_us % 1000000 * 1000};
    const struct itimerspec spec = {every, every};
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &ev, &t->timer) != 0 || timer_settime(t->timer, 0, &spec, NULL) != 0) {
        fprintf(stderr, "handler_bench: no timer: %s\n", strerror(errno));
    }
}

static void JNICALL on_thread(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti;
    (void)thread;
    attach(env);
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti;
    (void)env;
    (void)thread;
    struct thread *t = self;
    self = NULL;
    if (t) {
        timer_delete(t->timer);
    }
}

static void JNICALL on_load(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
    (void)jvmti;
    (void)env;
    (void)thread;
    (void)class;
}

static void JNICALL on_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
    jint n = 0;
    jmethodID *methods = NULL;
    (void)env;
    (void)thread;
    if ((*jvmti)->GetClassMethods(jvmti, class, &n, &methods) == JVMTI_ERROR_NONE) {
        (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    }
}

static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    jint n = 0;
    jclass *classes = NULL;
    if (walks && (*jvmti)->GetLoadedClasses(jvmti, &n, &classes) == JVMTI_ERROR_NONE) {
        for (jint i = 0; i < n; i++) {
            on_prepare(jvmti, env, thread, classes[i]);
        }
        (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
    }
    drains = pthread_create(&drainer, NULL, drain, NULL) == 0;
    attach(env);
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void JNICALL on_death(jvmtiEnv *jvmti, JNIEnv *env)
{
    FILE *f = fopen(output, "we");
    unsigned n = atomic_load(&times_n);
    (void)jvmti;
    (void)env;
    atomic_store_explicit(&stop, true, memory_order_relaxed);
    if (drains) {
        pthread_join(drainer, NULL);
    }
    if (!f) {
        return;
    }
    fprintf(f, "signals %u\n", atomic_load(&signals));
    if (walks) {
        n = n < MAX_TIMES ? n : MAX_TIMES;
        qsort(times, n, sizeof(times[0]), compare);
        fprintf(f, "failed %u\nring_full %u\ninside_n %u\n", atomic_load(&failed), atomic_load(&full), n);
        if (n > 0) {
            fprintf(f, "inside_p25_ns %u\ninside_p50_ns %u\ninside_p75_ns %u\n", times[n / 4], times[n / 2], times[n - 1 - n / 4]);
        }
    }
    fclose(f);
}

static bool parse(char *options)
{
    char *comma = options ? strchr(options, ',') : NULL;
    char *second = comma ? strchr(comma + 1, ',') : NULL;
    if (!second) {
        return false;
    }
    *comma = *second = '\0';
    walks = strcmp(options, "agct") == 0;
    interval_us = strtol(comma + 1, NULL, 10);
    output = strdup(second + 1);
    return interval_us > 0 && output && (walks || strcmp(options, "empty") == 0);
}

static bool subscribe(jvmtiEnv *jvmti)
{
    static const jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT,    JVMTI_EVENT_VM_DEATH,   JVMTI_EVENT_THREAD_START,
                                        JVMTI_EVENT_THREAD_END, JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE};
    jvmtiEventCallbacks callbacks;
    size_t n = walks ? HPX_ARRAY_LEN(events) : 4;
    memset(&callbacks, 0, sizeof(callbacks));
    callbacks.VMInit = on_init;
    callbacks.VMDeath = on_death;
    callbacks.ThreadStart = on_thread;
    callbacks.ThreadEnd = on_thread_end;
    callbacks.ClassLoad = on_load;
    callbacks.ClassPrepare = on_prepare;
    if ((*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof(callbacks)) != JVMTI_ERROR_NONE) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL) != JVMTI_ERROR_NONE) {
            return false;
        }
    }
    return true;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiEnv *jvmti = NULL;
    struct sigaction action;
    (void)reserved;
    if (!parse(options)) {
        fprintf(stderr, "handler_bench: options are empty|agct,INTERVAL_US,OUTPUT\n");
        return JNI_ERR;
    }
    void *libjvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = libjvm ? dlsym(libjvm, "AsyncGetCallTrace") : NULL;
    memcpy(&asgct, &symbol, sizeof(asgct));
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (!asgct || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK || !subscribe(jvmti) ||
        sigaction(SIGPROF, &action, NULL) != 0) {
        fprintf(stderr, "handler_bench: the JVM lacks what this needs\n");
        return JNI_ERR;
    }
    return JNI_OK;
}
