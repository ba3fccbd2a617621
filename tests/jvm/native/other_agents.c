/* SPDX-License-Identifier: BSD-2-Clause */
/* other_agents.c: what native code does beside us: a signal handler and timer of its own (preloaded or later), a blocked signal, attached
 * threads. */
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_long timers, strangers;
static JavaVM *jvm;
static jclass program;
static jmethodID work;

static void on_signal(int sig, siginfo_t *si, void *context)
{
    (void)sig;
    (void)context;
    atomic_fetch_add(si->si_code == SI_KERNEL ? &timers : &strangers, 1);
}

static int take(int sig)
{
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = on_signal;
    sa.sa_flags = SA_SIGINFO | SA_RESTART;
    return sigaction(sig, &sa, NULL);
}

/* A preload that is there before the JVM. */
__attribute__((constructor)) static void at_load(void)
{
    if (getenv("OTHER_AGENTS_HANDLER") != NULL) {
        take(SIGPROF);
    }
}

/* A profiler beside ours: two clocks of each thread, which expire in the same ticks as ours and have lower signals. */
static const int ticking[] = {SIGSTKFLT, SIGURG};

static void JNICALL start_clocks(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti;
    (void)env;
    (void)thread;
    for (int i = 0; i < 2; i++) {
        struct sigevent to;
        struct itimerspec every = {{0, 4000000}, {0, 4000000}};
        timer_t id;
        memset(&to, 0, sizeof to);
        to.sigev_notify = SIGEV_THREAD_ID;
        to.sigev_signo = ticking[i];
        to._sigev_un._tid = (int)syscall(SYS_gettid);
        if (timer_create(CLOCK_THREAD_CPUTIME_ID, &to, &id) == 0) {
            timer_settime(id, 0, &every, NULL);
        }
    }
}

static jint tick(JavaVM *vm)
{
    jvmtiEnv *jvmti;
    jvmtiEventCallbacks on;
    memset(&on, 0, sizeof on);
    on.VMInit = start_clocks;
    on.ThreadStart = start_clocks;
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK || take(ticking[0]) != 0 || take(ticking[1]) != 0) {
        return JNI_ERR;
    }
    (*jvmti)->SetEventCallbacks(jvmti, &on, (jint)sizeof on);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_THREAD_START, NULL);
    return JNI_OK;
}

/* As an agent: "tick", or behind ours: it wants the signal to end the process. */
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)reserved;
    if (options != NULL && strcmp(options, "tick") == 0) {
        return tick(vm);
    }
    return signal(SIGPROF, SIG_DFL) == SIG_ERR ? JNI_ERR : JNI_OK;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    (void)reserved;
    jvm = vm;
    return JNI_VERSION_1_8;
}

JNIEXPORT void JNICALL Java_OtherAgents_take(JNIEnv *env, jclass c)
{
    (void)env;
    (void)c;
    take(SIGPROF);
}

JNIEXPORT void JNICALL Java_OtherAgents_timer(JNIEnv *env, jclass c, jlong us)
{
    (void)env;
    (void)c;
    struct itimerval t = {{0, (suseconds_t)us}, {0, (suseconds_t)us}};
    setitimer(ITIMER_PROF, &t, NULL);
}

JNIEXPORT jlong JNICALL Java_OtherAgents_timers(JNIEnv *env, jclass c)
{
    (void)env;
    (void)c;
    return atomic_load(&timers);
}

JNIEXPORT jlong JNICALL Java_OtherAgents_strangers(JNIEnv *env, jclass c)
{
    (void)env;
    (void)c;
    return atomic_load(&strangers);
}

struct order {
    int rounds;
    jlong ns;
    int leave;  /* 0: the thread ends attached */
    int blocks; /* the signal of sampling */
};

static void *attach_and_work(void *arg)
{
    struct order *o = arg;
    if (o->blocks) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    }
    for (int i = 0; i < o->rounds; i++) {
        char name[32];
        JNIEnv *env;
        snprintf(name, sizeof name, "attached-%d", i);
        JavaVMAttachArgs args = {JNI_VERSION_1_8, name, NULL};
        if ((*jvm)->AttachCurrentThreadAsDaemon(jvm, (void **)&env, &args) != JNI_OK) {
            abort();
        }
        (*env)->CallStaticVoidMethod(env, program, work, o->ns);
        if (o->leave) {
            (*jvm)->DetachCurrentThread(jvm);
        }
    }
    return NULL;
}

/* `threads` native threads, one after the other. */
JNIEXPORT void JNICALL Java_OtherAgents_attach(JNIEnv *env, jclass c, jint threads, jint rounds, jlong ns, jboolean leave, jboolean blocks)
{
    struct order o = {rounds, ns, leave, blocks};
    program = (*env)->NewGlobalRef(env, c);
    work = (*env)->GetStaticMethodID(env, c, "work", "(J)V");
    for (int i = 0; i < threads; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, attach_and_work, &o) != 0) {
            abort();
        }
        pthread_join(t, NULL);
    }
}
