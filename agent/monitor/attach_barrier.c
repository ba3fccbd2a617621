/* SPDX-License-Identifier: BSD-2-Clause */
/* attach_barrier.c: see attach_barrier.h. */
#include "attach_barrier.h"
#include "boot_class.h"
#include "clock.h"
#include "compiler.h"
#include <stdatomic.h>
#include <time.h>

#define RELEASE_KEEPS   10 /* from then on threads live that a question looks at */
#define RELEASE_CRASHES 23 /* from then on if a thread attaches */
#define QUESTIONS       64u
#define LOOK_NS         20000
#define WAIT_NS         UINT64_C(2000000000) /* who asks may be suspended by a debugger, behind the question */

static struct {
    JavaVM *java;                          /* constant from load on */
    const struct JNIInvokeInterface_ *vms; /* constant from load on; NULL: this VM needs no care */
    struct JNIInvokeInterface_ ours;
    _Atomic uint32_t attaching, asking; /* seq_cst: each side announces itself, then looks for the other */
    /* before RELEASE_KEEPS */
    JavaVM *old;            /* constant from load on; NULL: a later VM */
    jvmtiEnv *ends;         /* of ThreadEnd; constant from load to unload; NULL: the VM has given none */
    _Atomic(jclass) thread; /* java.lang.Thread; acq_rel: thread_class() */
    _Atomic uint32_t
        questions[QUESTIONS]; /* odd: one runs. seq_cst: it begins, then the thread is looked at; the thread ends, then looks */
} barrier;

static bool is_attached(JavaVM *vm)
{
    void *env = NULL;
    return barrier.vms->GetEnv(vm, &env, JNI_VERSION_1_6) == JNI_OK;
}

static void begin(void)
{
    atomic_fetch_add(&barrier.attaching, 1);
    uint64_t until = atomic_load(&barrier.asking) > 0 ? hpx_clock_mono() + WAIT_NS : 0;
    while (atomic_load(&barrier.asking) > 0 && hpx_clock_mono() < until) {
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
}

static void end(void)
{
    atomic_fetch_sub(&barrier.attaching, 1);
}

static jint attach_apart(JavaVM *vm, jint(JNICALL *how)(JavaVM *, void **, void *), void **env, void *args)
{
    if (is_attached(vm)) {
        return how(vm, env, args);
    }
    begin();
    jint rc = how(vm, env, args);
    end();
    return rc;
}

static jint JNICALL attach(JavaVM *vm, void **env, void *args)
{
    return attach_apart(vm, barrier.vms->AttachCurrentThread, env, args);
}

static jint JNICALL attach_as_daemon(JavaVM *vm, void **env, void *args)
{
    return attach_apart(vm, barrier.vms->AttachCurrentThreadAsDaemon, env, args);
}

/* The VM attaches the calling thread under this name, unless it is attached already. */
static jint JNICALL destroy(JavaVM *vm)
{
    JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)(uintptr_t) "DestroyJavaVM", NULL};
    void *env = NULL;
    (void)attach(vm, &env, &args);
    return barrier.vms->DestroyJavaVM(vm);
}

/* ---- before JDK 10 ---- */

/* Waits for the questions that have begun. */
static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)jvmti, (void)env, (void)thread;
    uint64_t until = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        uint32_t runs = atomic_load(&barrier.questions[i]);
        while ((runs & 1) != 0 && atomic_load(&barrier.questions[i]) == runs) {
            until = until == 0 ? hpx_clock_mono() + WAIT_NS : until;
            if (hpx_clock_mono() >= until) {
                return;
            }
            nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
        }
    }
}

static void load_old(JavaVM *vm)
{
    static const jvmtiEventCallbacks callbacks = {.ThreadEnd = on_thread_end};
    void *env = NULL;
    barrier.old = vm;
    if (barrier.ends != NULL || (*vm)->GetEnv(vm, &env, JVMTI_VERSION_1_2) != JNI_OK) {
        return;
    }
    jvmtiEnv *ends = env;
    if ((*ends)->SetEventCallbacks(ends, &callbacks, (jint)sizeof callbacks) == JVMTI_ERROR_NONE &&
        (*ends)->SetEventNotificationMode(ends, JVMTI_ENABLE, JVMTI_EVENT_THREAD_END, NULL) == JVMTI_ERROR_NONE) {
        barrier.ends = ends;
    } else {
        (void)(*ends)->DisposeEnvironment(ends);
    }
}

void hpx_attach_barrier_unload(void)
{
    if (barrier.ends != NULL) {
        (void)(*barrier.ends)->DisposeEnvironment(barrier.ends);
        barrier.ends = NULL;
    }
}

/* NULL: the VM does not tell it now. Global. */
static jclass thread_class(JNIEnv *env)
{
    jclass none = NULL, known = atomic_load_explicit(&barrier.thread, memory_order_acquire);
    if (known != NULL) {
        return known;
    }
    jclass local = hpx_boot_class(env, "java/lang/Thread");
    known = local != NULL ? (*env)->NewGlobalRef(env, local) : NULL;
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, local);
    if (known != NULL &&
        !atomic_compare_exchange_strong_explicit(&barrier.thread, &none, known, memory_order_acq_rel, memory_order_acquire)) {
        (*env)->DeleteGlobalRef(env, known);
        known = none;
    }
    return known;
}

/* Thread.exit(), which comes before ThreadEnd, takes a thread out of its group. true: it may have come; or the VM does not tell. */
static bool may_be_ending(JNIEnv *env, jobject object)
{
    jclass thread = thread_class(env);
    if (thread == NULL || !(*env)->IsInstanceOf(env, object, thread)) {
        return thread == NULL;
    }
    jfieldID field = (*env)->GetFieldID(env, thread, "group", "Ljava/lang/ThreadGroup;");
    jobject group = field != NULL ? (*env)->GetObjectField(env, object, field) : NULL;
    (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, group);
    return group == NULL;
}

/* NULL: too many ask. */
static _Atomic uint32_t *begin_question(void)
{
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        uint32_t n = atomic_load_explicit(&barrier.questions[i], memory_order_relaxed);
        if ((n & 1) == 0 && atomic_compare_exchange_strong(&barrier.questions[i], &n, n + 1)) {
            return &barrier.questions[i];
        }
    }
    return NULL;
}

static enum hpx_usage_answer ask_vm(jvmtiEnv *jvmti, jobject object, jvmtiMonitorUsage *to)
{
    jvmtiError e = (*jvmti)->GetObjectMonitorUsage(jvmti, object, to);
    return e == JVMTI_ERROR_NONE ? HPX_USAGE_TOLD : HPX_USAGE_REFUSED;
}

static enum hpx_usage_answer ask_old(jvmtiEnv *jvmti, jobject object, jvmtiMonitorUsage *to)
{
    enum hpx_usage_answer answer = HPX_USAGE_ENDING;
    void *at = NULL;
    JNIEnv *env = (*barrier.old)->GetEnv(barrier.old, &at, JNI_VERSION_1_6) == JNI_OK ? at : NULL;
    _Atomic uint32_t *question = env != NULL && barrier.ends != NULL && !(*env)->ExceptionCheck(env) ? begin_question() : NULL;
    if (question != NULL) {
        if (!may_be_ending(env, object)) { /* behind its begin: a thread that is not yet will wait */
            answer = ask_vm(jvmti, object, to);
        }
        atomic_fetch_add(question, 1);
    }
    return answer;
}

/* ---- all ---- */

void hpx_attach_barrier_load(JavaVM *vm, jint release)
{
    if (release < RELEASE_KEEPS) {
        load_old(vm);
    }
    if (release < RELEASE_CRASHES || barrier.vms != NULL) {
        return;
    }
    barrier.java = vm;
    barrier.vms = *vm;
    barrier.ours = *barrier.vms;
    barrier.ours.AttachCurrentThread = attach;
    barrier.ours.AttachCurrentThreadAsDaemon = attach_as_daemon;
    barrier.ours.DestroyJavaVM = destroy;
    /* partner: the VM's callers, which follow the pointer */
    __atomic_store_n((const struct JNIInvokeInterface_ **)barrier.java, &barrier.ours, __ATOMIC_RELEASE);
}

enum hpx_usage_answer hpx_attach_barrier_ask(jvmtiEnv *jvmti, jobject object, jvmtiMonitorUsage *to)
{
    enum hpx_usage_answer answer;
    if (barrier.old != NULL) {
        return ask_old(jvmti, object, to);
    }
    atomic_fetch_add(&barrier.asking, 1);
    if (barrier.vms != NULL && *barrier.java != &barrier.ours) { /* by the VM's, or by its own, which may call the VM's */
        answer = HPX_USAGE_REPLACED;
    } else if (barrier.vms != NULL && atomic_load(&barrier.attaching) > 0) {
        answer = HPX_USAGE_ATTACHING;
    } else {
        answer = ask_vm(jvmti, object, to);
    }
    atomic_fetch_sub(&barrier.asking, 1);
    return answer;
}
