/* SPDX-License-Identifier: BSD-2-Clause */
/* suspend.c: threads that the agent suspends and resumes, their status, and whether they ran meanwhile.
 *
 * A thread is suspended under the lock of ids, so that it does not stop with that lock in its hand (ids.c); a thread that suspends itself
 * has it not. */
#include "functions.h"
#include "java_threads.h"

static jlong cpu_time_of(jthread thread)
{
    jlong ns = 0;
    return (*hpx_jvmpi.jvmti)->GetThreadCpuTime(hpx_jvmpi.jvmti, thread, &ns) == JVMTI_ERROR_NONE ? ns : 0;
}

static void note_suspension(struct hpx_jvmpi_thread *t)
{
    t->suspensions++;
    if (!t->suspended) {
        t->suspended = true;
        (void)atomic_fetch_add_explicit(&hpx_jvmpi_suspended, 1, memory_order_relaxed);
    }
}

static void note_resumption(struct hpx_jvmpi_thread *t, jthread thread)
{
    t->ran = cpu_time_of(thread);
    if (t->suspended) {
        t->suspended = false;
        (void)atomic_fetch_sub_explicit(&hpx_jvmpi_suspended, 1, memory_order_relaxed);
    }
}

static jvmtiError suspend_self(struct hpx_jvmpi_thread *t, jthread thread)
{
    hpx_jvmpi_ids_lock();
    note_suspension(t);
    t->seen = t->suspensions;
    hpx_jvmpi_ids_unlock();
    jvmtiError e = (*hpx_jvmpi.jvmti)->SuspendThread(hpx_jvmpi.jvmti, thread);
    if (e != JVMTI_ERROR_NONE) {
        note_resumption(t, thread);
    }
    return e;
}

static jvmtiError suspend_other(struct hpx_jvmpi_thread *t, jthread thread)
{
    hpx_jvmpi_ids_lock();
    jvmtiError e = (*hpx_jvmpi.jvmti)->SuspendThread(hpx_jvmpi.jvmti, thread);
    if (e == JVMTI_ERROR_NONE) {
        note_suspension(t);
    }
    hpx_jvmpi_ids_unlock();
    return e;
}

static jvmtiError resume_one(struct hpx_jvmpi_thread *t, jthread thread)
{
    hpx_jvmpi_ids_lock();
    note_resumption(t, thread); /* before it runs, because it may end at once */
    jvmtiError e = (*hpx_jvmpi.jvmti)->ResumeThread(hpx_jvmpi.jvmti, thread);
    hpx_jvmpi_ids_unlock();
    return e;
}

/* A non-zero result that is no error of JVMTI's own stands for a thread that is unknown. */
static jint change(JNIEnv *env, bool suspend)
{
    JNIEnv *caller = hpx_jvmpi_env();
    struct hpx_jvmpi_thread *t = caller == NULL ? NULL : hpx_jvmpi_pin(env);
    if (t == NULL) {
        return JVMTI_ERROR_INVALID_THREAD;
    }
    hpx_jvmpi_vm_begin();
    jthread thread = (*caller)->NewLocalRef(caller, t->thread);
    jvmtiError e = thread == NULL  ? JVMTI_ERROR_INVALID_THREAD
                   : !suspend      ? resume_one(t, thread)
                   : env == caller ? suspend_self(t, thread)
                                   : suspend_other(t, thread);
    (*caller)->DeleteLocalRef(caller, thread);
    hpx_jvmpi_vm_end();
    hpx_jvmpi_unpin(t);
    return (jint)e;
}

void hpx_jvmpi_suspend(JNIEnv *env)
{
    hpx_jvmpi_called(HPX_JVMPI_F_SuspendThread);
    if (change(env, true) == JVMTI_ERROR_INVALID_THREAD) {
        hpx_jvmpi_rule("SuspendThread was called with a JNIEnv of no living thread");
    }
}

void hpx_jvmpi_resume(JNIEnv *env)
{
    hpx_jvmpi_called(HPX_JVMPI_F_ResumeThread);
    if (change(env, false) == JVMTI_ERROR_THREAD_NOT_SUSPENDED) {
        hpx_jvmpi_rule("ResumeThread was called for a thread that is not suspended");
    }
}

/* The calling thread comes last, because nobody goes on with the list while it is suspended. */
void hpx_jvmpi_suspend_list(jint n, JNIEnv **list, jint *results)
{
    hpx_jvmpi_called(HPX_JVMPI_F_SuspendThreadList);
    JNIEnv *caller = hpx_jvmpi_env();
    jint own = -1;
    for (jint i = 0; list != NULL && results != NULL && i < n; i++) {
        if (list[i] == caller && own < 0) {
            own = i;
        } else {
            results[i] = change(list[i], true);
        }
    }
    if (own >= 0) {
        results[own] = 0; /* for those who look while this thread cannot write */
        results[own] = change(caller, true);
    }
}

void hpx_jvmpi_resume_list(jint n, JNIEnv **list, jint *results)
{
    hpx_jvmpi_called(HPX_JVMPI_F_ResumeThreadList);
    for (jint i = 0; list != NULL && results != NULL && i < n; i++) {
        results[i] = change(list[i], false);
    }
}

jboolean hpx_jvmpi_has_run(JNIEnv *env)
{
    hpx_jvmpi_called(HPX_JVMPI_F_ThreadHasRun);
    struct hpx_jvmpi_thread *t = hpx_jvmpi_pin(env);
    if (t == NULL) {
        return JNI_FALSE;
    }
    if (!t->suspended) {
        hpx_jvmpi_rule("ThreadHasRun was called for a thread that is not suspended");
    }
    JNIEnv *caller = hpx_jvmpi_env();
    jboolean ran = JNI_FALSE;
    hpx_jvmpi_vm_begin();
    jthread thread = caller == NULL ? NULL : (*caller)->NewLocalRef(caller, t->thread);
    if (thread != NULL) {
        ran = cpu_time_of(thread) > t->ran;
        (*caller)->DeleteLocalRef(caller, thread);
    }
    hpx_jvmpi_vm_end();
    hpx_jvmpi_unpin(t);
    return ran;
}

jint hpx_jvmpi_status_from(jint state)
{
    if ((state & JVMTI_THREAD_STATE_ALIVE) == 0) {
        return 0;
    }
    jint status = JVMPI_THREAD_RUNNABLE;
    if ((state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0) {
        status = JVMPI_THREAD_MONITOR_WAIT;
    } else if ((state & JVMTI_THREAD_STATE_WAITING) != 0) { /* wait, sleep, park */
        status = JVMPI_THREAD_CONDVAR_WAIT;
    }
    return status | ((state & JVMTI_THREAD_STATE_SUSPENDED) != 0 ? JVMPI_THREAD_SUSPENDED : 0) |
           ((state & JVMTI_THREAD_STATE_INTERRUPTED) != 0 ? JVMPI_THREAD_INTERRUPTED : 0);
}

jint hpx_jvmpi_status(JNIEnv *env)
{
    hpx_jvmpi_called(HPX_JVMPI_F_GetThreadStatus);
    hpx_jvmpi_vm_begin();
    struct hpx_jvmpi_thread *held;
    jthread thread = hpx_jvmpi_hold(env, &held);
    jint state = 0, status = 0;
    if (thread != NULL) {
        status = (*hpx_jvmpi.jvmti)->GetThreadState(hpx_jvmpi.jvmti, thread, &state) == JVMTI_ERROR_NONE ? hpx_jvmpi_status_from(state) : 0;
        hpx_jvmpi_let_go(thread, held);
    }
    hpx_jvmpi_vm_end();
    return status;
}
