/* SPDX-License-Identifier: BSD-2-Clause */
/* earlythread.c: preloaded, and an agent: a native thread attaches to the JVM while the agent's library is about to install its first
 * handler of faults. At the end the file EARLYTHREAD gets two numbers: 1 if the thread attached, and the clocks that the library has
 * started on any thread before it had its handlers. */
#include <dlfcn.h>
#include <jvmti.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static int (*real_timer_create)(clockid_t, struct sigevent *, timer_t *);
static long (*real_syscall)(long, ...);
static JavaVM *jvm;
static sem_t attached;
static atomic_int attached_ok, guarded; /* guarded: faults that have a handler */
static atomic_uint clocks;

__attribute__((constructor)) static void begin(void)
{
    *(void **)&real_sigaction = dlsym(RTLD_NEXT, "sigaction");
    *(void **)&real_timer_create = dlsym(RTLD_NEXT, "timer_create");
    *(void **)&real_syscall = dlsym(RTLD_NEXT, "syscall");
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("EARLYTHREAD");
    FILE *f = path != NULL && jvm != NULL ? fopen(path, "we") : NULL;
    if (f != NULL) {
        fprintf(f, "%d %u\n", atomic_load(&attached_ok), atomic_load(&clocks));
        fclose(f);
    }
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)options, (void)reserved;
    jvm = vm;
    return JNI_OK;
}

static int ours(const void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) != 0 && info.dli_fname != NULL && strstr(info.dli_fname, "libhprofx") != NULL;
}

static void *attach(void *unused)
{
    (void)unused;
    JNIEnv *env;
    JavaVMAttachArgs args = {JNI_VERSION_1_8, (char *)(uintptr_t) "early", NULL};
    pthread_setname_np(pthread_self(), "early");
    atomic_store(&attached_ok, (*jvm)->AttachCurrentThreadAsDaemon(jvm, (void **)&env, &args) == JNI_OK);
    sem_post(&attached);
    for (;;) {
        pause();
    }
    return NULL;
}

static void start_thread(void)
{
    static atomic_int once;
    pthread_t t;
    sem_init(&attached, 0, 0);
    if (atomic_exchange(&once, 1) == 0 && pthread_create(&t, NULL, attach, NULL) == 0) {
        pthread_detach(t);
        sem_wait(&attached);
    }
}

int sigaction(int sig, const struct sigaction *want, struct sigaction *was)
{
    int installs = jvm != NULL && want != NULL && (sig == SIGSEGV || sig == SIGBUS) && ours(__builtin_return_address(0));
    if (real_sigaction == NULL) {
        begin();
    }
    if (installs && atomic_load(&guarded) == 0) {
        start_thread();
    }
    int rc = real_sigaction(sig, want, was);
    atomic_fetch_add(&guarded, installs);
    return rc;
}

static void clock_started(void)
{
    atomic_fetch_add(&clocks, atomic_load(&guarded) < 2);
}

int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    if (ours(__builtin_return_address(0))) {
        clock_started();
    }
    return real_timer_create(clock, event, timer);
}

long syscall(long number, ...)
{
    long a[6];
    va_list rest;
    if (real_syscall == NULL) {
        begin();
    }
    va_start(rest, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(rest, long);
    }
    va_end(rest);
    if (number == SYS_perf_event_open) {
        clock_started();
    }
    return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
