/* SPDX-License-Identifier: BSD-2-Clause */
/* core_threads.c: threads: storage, objects, suspension, status, threads of the agent. */
#include "core.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

JNIEXPORT void JNICALL Java_JvmpiCore_storage(JNIEnv *env, jclass class, jlong other);
JNIEXPORT void JNICALL Java_JvmpiCore_storageEnded(JNIEnv *env, jclass class, jlong ended);
JNIEXPORT void JNICALL Java_JvmpiCore_threadObject(JNIEnv *env, jclass class, jobject own, jlong other, jobject others);
JNIEXPORT void JNICALL Java_JvmpiCore_requested(JNIEnv *env, jclass class, jobject thread, jlong its, jobject ended);
JNIEXPORT jint JNICALL Java_JvmpiCore_status(JNIEnv *env, jclass class, jlong other);
JNIEXPORT void JNICALL Java_JvmpiCore_suspend(JNIEnv *env, jclass class, jlong other);
JNIEXPORT void JNICALL Java_JvmpiCore_resume(JNIEnv *env, jclass class, jlong other);
JNIEXPORT jboolean JNICALL Java_JvmpiCore_hasRun(JNIEnv *env, jclass class, jlong other);
JNIEXPORT void JNICALL Java_JvmpiCore_lists(JNIEnv *env, jclass class, jlong a, jlong b);
JNIEXPORT void JNICALL Java_JvmpiCore_suspendWithIds(JNIEnv *env, jclass class, jlong other, jobjectArray objects, jint rounds);
JNIEXPORT void JNICALL Java_JvmpiCore_traceOf(JNIEnv *env, jclass class, jlong other, jint at_least);
JNIEXPORT void JNICALL Java_JvmpiCore_virtual(JNIEnv *env, jclass class, jobject thread);
JNIEXPORT void JNICALL Java_JvmpiCore_attach(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_JvmpiCore_unattached(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_JvmpiCore_systemThread(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_JvmpiCore_cpuTime(JNIEnv *env, jclass class);

static JNIEnv *of(jlong env)
{
    return (JNIEnv *)(uintptr_t)env;
}

JNIEXPORT void JNICALL Java_JvmpiCore_storage(JNIEnv *env, jclass class, jlong other)
{
    (void)class;
    int a, b;
    CHECK(jvmpi->GetThreadLocalStorage(env) == NULL);
    jvmpi->SetThreadLocalStorage(env, &a);
    jvmpi->SetThreadLocalStorage(of(other), &b);
    CHECK(jvmpi->GetThreadLocalStorage(env) == &a && jvmpi->GetThreadLocalStorage(of(other)) == &b);
    jvmpi->SetThreadLocalStorage(NULL, &a);
    jvmpi->SetThreadLocalStorage((JNIEnv *)&a, &a);
    CHECK(jvmpi->GetThreadLocalStorage(NULL) == NULL && jvmpi->GetThreadLocalStorage((JNIEnv *)&a) == NULL);
    jvmpi->SetThreadLocalStorage(env, NULL);
    CHECK(jvmpi->GetThreadLocalStorage(env) == NULL);
}

JNIEXPORT void JNICALL Java_JvmpiCore_storageEnded(JNIEnv *env, jclass class, jlong ended)
{
    (void)env, (void)class;
    CHECK(jvmpi->GetThreadLocalStorage(of(ended)) == NULL);
    CHECK(jvmpi->GetThreadObject(of(ended)) == NULL && jvmpi->GetThreadStatus(of(ended)) == 0);
    jvmpi->SuspendThread(of(ended));
    jvmpi->ResumeThread(of(ended));
}

JNIEXPORT void JNICALL Java_JvmpiCore_threadObject(JNIEnv *env, jclass class, jobject own, jlong other, jobject others)
{
    (void)class;
    CHECK(jvmpi->GetThreadObject(env) == jvmpi->jobject2jobjectID(own));
    CHECK(jvmpi->GetThreadObject(of(other)) == jvmpi->jobject2jobjectID(others));
    CHECK(jvmpi->GetThreadObject(NULL) == NULL);
}

/* A thread that was named "one" in a group "inner" of "outer". */
JNIEXPORT void JNICALL Java_JvmpiCore_requested(JNIEnv *env, jclass class, jobject thread, jlong its, jobject ended)
{
    (void)env, (void)class;
    jobjectID id = jvmpi->jobject2jobjectID(thread);
    int before = counts[JVMPI_EVENT_THREAD_START];
    CHECK(jvmpi->DisableEvent(JVMPI_EVENT_THREAD_START, NULL) == JVMPI_SUCCESS);
    CHECK(jvmpi->RequestEvent(JVMPI_EVENT_THREAD_START, id) == JVMPI_SUCCESS);
    CHECK(counts[JVMPI_EVENT_THREAD_START] == before + 1 && started.type == (JVMPI_EVENT_THREAD_START | JVMPI_REQUESTED_EVENT));
    CHECK(started.id == id && started.env == of(its));
    CHECK(strcmp(started.name, "one") == 0 && strcmp(started.group, "inner") == 0 && strcmp(started.parent, "outer") == 0);
    CHECK(jvmpi->RequestEvent(JVMPI_EVENT_THREAD_START, jvmpi->jobject2jobjectID(ended)) == JVMPI_FAIL);
    CHECK(jvmpi->RequestEvent(JVMPI_EVENT_THREAD_START, NULL) == JVMPI_FAIL);
    CHECK(jvmpi->RequestEvent(JVMPI_EVENT_THREAD_START, jvmpi->jobject2jobjectID(class)) == JVMPI_FAIL); /* no thread */
    CHECK(jvmpi->EnableEvent(JVMPI_EVENT_THREAD_START, NULL) == JVMPI_SUCCESS);
}

JNIEXPORT jint JNICALL Java_JvmpiCore_status(JNIEnv *env, jclass class, jlong other)
{
    (void)env, (void)class;
    return jvmpi->GetThreadStatus(of(other));
}

JNIEXPORT void JNICALL Java_JvmpiCore_suspend(JNIEnv *env, jclass class, jlong other)
{
    (void)env, (void)class;
    jvmpi->DisableGC();
    jvmpi->SuspendThread(of(other));
}

JNIEXPORT void JNICALL Java_JvmpiCore_resume(JNIEnv *env, jclass class, jlong other)
{
    (void)env, (void)class;
    jvmpi->ResumeThread(of(other));
    jvmpi->EnableGC();
}

JNIEXPORT jboolean JNICALL Java_JvmpiCore_hasRun(JNIEnv *env, jclass class, jlong other)
{
    (void)env, (void)class;
    return jvmpi->ThreadHasRun(of(other));
}

JNIEXPORT void JNICALL Java_JvmpiCore_lists(JNIEnv *env, jclass class, jlong a, jlong b)
{
    (void)env, (void)class;
    JNIEnv *list[] = {of(a), NULL, of(b), (JNIEnv *)&list};
    jint results[] = {5, 5, 5, 5};
    jvmpi->DisableGC();
    jvmpi->SuspendThreadList(4, list, results);
    CHECK(results[0] == 0 && results[1] != 0 && results[2] == 0 && results[3] != 0);
    CHECK((jvmpi->GetThreadStatus(of(a)) & JVMPI_THREAD_SUSPENDED) != 0 && (jvmpi->GetThreadStatus(of(b)) & JVMPI_THREAD_SUSPENDED) != 0);
    results[0] = results[1] = results[2] = results[3] = 5;
    jvmpi->ResumeThreadList(4, list, results);
    CHECK(results[0] == 0 && results[1] != 0 && results[2] == 0 && results[3] != 0);
    CHECK((jvmpi->GetThreadStatus(of(a)) & JVMPI_THREAD_SUSPENDED) == 0 && (jvmpi->GetThreadStatus(of(b)) & JVMPI_THREAD_SUSPENDED) == 0);
    jvmpi->ResumeThreadList(1, list, results);
    CHECK(results[0] != 0); /* not suspended */
    jvmpi->SuspendThreadList(1, NULL, results);
    jvmpi->SuspendThreadList(1, list, NULL);
    jvmpi->SuspendThreadList(-1, list, results);
    jvmpi->EnableGC();
}

/* The other thread asks for ids all the time. It must not stop with what is needed here. */
JNIEXPORT void JNICALL Java_JvmpiCore_suspendWithIds(JNIEnv *env, jclass class, jlong other, jobjectArray objects, jint rounds)
{
    (void)class;
    jvmpi->DisableGC();
    for (jint i = 0; i < rounds; i++) {
        jobject o = (*env)->GetObjectArrayElement(env, objects, i);
        jvmpi->SuspendThread(of(other));
        jobjectID id = jvmpi->jobject2jobjectID(o);
        CHECK(id != NULL && jvmpi->jobject2jobjectID(o) == id && jvmpi->GetThreadObject(of(other)) != NULL);
        jvmpi->ResumeThread(of(other));
        (*env)->DeleteLocalRef(env, o);
    }
    jvmpi->EnableGC();
}

JNIEXPORT void JNICALL Java_JvmpiCore_traceOf(JNIEnv *env, jclass class, jlong other, jint at_least)
{
    (void)class;
    JVMPI_CallFrame frames[64];
    JVMPI_CallTrace t = {.env_id = of(other), .frames = frames};
    jmethodID run = (*env)->GetStaticMethodID(env, class, "stand", "(Ljava/lang/Object;)V");
    bool found = false;
    jvmpi->GetCallTrace(&t, 64);
    for (jint i = 0; i < t.num_frames; i++) {
        found = found || frames[i].method_id == run;
    }
    CHECK(t.num_frames >= at_least && found);
}

/* Called by a virtual thread: the JNIEnv is its carrier's, the frames are its own. */
JNIEXPORT void JNICALL Java_JvmpiCore_virtual(JNIEnv *env, jclass class, jobject thread)
{
    JVMPI_CallFrame frames[4];
    JVMPI_CallTrace t = {.env_id = env, .frames = frames};
    jmethodID own = (*env)->GetStaticMethodID(env, class, "virtual", "(Ljava/lang/Thread;)V");
    jobjectID carrier = jvmpi->GetThreadObject(env);
    CHECK(carrier != NULL && carrier != jvmpi->jobject2jobjectID(thread));
    CHECK((jvmpi->GetThreadStatus(env) & JVMPI_THREAD_SUSPENDED) == 0);
    jvmpi->GetCallTrace(&t, 4);
    CHECK(t.num_frames >= 2 && frames[0].method_id == own);
    CHECK(jvmpi->RequestEvent(JVMPI_EVENT_THREAD_START, jvmpi->jobject2jobjectID(thread)) == JVMPI_FAIL);
    CHECK(jvmpi->RequestEvent(JVMPI_EVENT_THREAD_START, carrier) == JVMPI_SUCCESS && started.env == env);
}

/* ---- threads that the agent makes ---- */

static void *attached(void *arg)
{
    JNIEnv *env = NULL, *again = NULL;
    (void)arg;
    int starts = counts[JVMPI_EVENT_THREAD_START], ends = counts[JVMPI_EVENT_THREAD_END], value;
    JavaVMAttachArgs args = {JNI_VERSION_1_2, (char *)"native one", NULL};
    CHECK((*ours)->GetEnv(ours, (void **)&env, JNI_VERSION_1_2) == JNI_EDETACHED);
    CHECK((*ours)->AttachCurrentThread(ours, (void **)&env, &args) == JNI_OK && env != NULL);
    CHECK((*ours)->GetEnv(ours, (void **)&again, JNI_VERSION_1_2) == JNI_OK && again == env);
    CHECK(counts[JVMPI_EVENT_THREAD_START] == starts + 1 && started.env == env && strcmp(started.name, "native one") == 0);
    CHECK(jvmpi->GetThreadLocalStorage(env) == NULL);
    jvmpi->SetThreadLocalStorage(env, &value);
    CHECK(jvmpi->GetThreadLocalStorage(env) == &value);
    CHECK(jvmpi->GetThreadObject(env) == started.id && started.id != NULL);
    CHECK((jvmpi->GetThreadStatus(env) & 0xff) == JVMPI_THREAD_RUNNABLE);
    JVMPI_CallFrame frames[4];
    JVMPI_CallTrace t = {.env_id = env, .frames = frames};
    jvmpi->GetCallTrace(&t, 4);
    CHECK(t.num_frames == 0);
    jvmpi->RunGC();
    CHECK((*ours)->DetachCurrentThread(ours) == JNI_OK);
    CHECK(counts[JVMPI_EVENT_THREAD_END] == ends + 1);
    CHECK(jvmpi->GetThreadLocalStorage(env) == NULL && jvmpi->GetThreadObject(env) == NULL);
    CHECK((*ours)->AttachCurrentThreadAsDaemon(ours, (void **)&env, NULL) == JNI_OK);
    CHECK(counts[JVMPI_EVENT_THREAD_START] == starts + 2 && jvmpi->GetThreadLocalStorage(env) == NULL);
    CHECK((*ours)->DetachCurrentThread(ours) == JNI_OK);
    return NULL;
}

JNIEXPORT void JNICALL Java_JvmpiCore_attach(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    pthread_t t;
    CHECK(pthread_create(&t, NULL, attached, NULL) == 0 && pthread_join(t, NULL) == 0);
}

/* All functions on a thread that the VM does not know. */
static void *stranger(void *known)
{
    JVMPI_CallFrame frames[4];
    JVMPI_CallTrace t = {.env_id = known, .frames = frames, .num_frames = 7};
    JNIEnv *list[] = {known};
    jint result = 0;
    jvmpi->GetCallTrace(&t, 4);
    CHECK(t.num_frames == 0);
    CHECK(jvmpi->EnableEvent(JVMPI_EVENT_GC_START, NULL) == JVMPI_FAIL &&
          jvmpi->RequestEvent(JVMPI_EVENT_THREAD_START, NULL) == JVMPI_FAIL);
    CHECK(jvmpi->GetThreadObject(known) == NULL && jvmpi->GetThreadStatus(known) == 0 && !jvmpi->ThreadHasRun(known));
    CHECK(jvmpi->jobject2jobjectID((jobject)known) == NULL && jvmpi->jobjectID2jobject((jobjectID)(uintptr_t)1) == NULL);
    CHECK(jvmpi->GetMethodClass((jmethodID)known) == NULL);
    CHECK(jvmpi->CreateSystemThread((char *)"x", JVMPI_NORMAL_PRIORITY, NULL) == JNI_ERR);
    CHECK(jvmpi->GetCurrentThreadCpuTime() > 0);
    jvmpi->SuspendThread(known);
    jvmpi->ResumeThread(known);
    jvmpi->SuspendThreadList(1, list, &result);
    CHECK(result != 0);
    jvmpi->RunGC();
    jvmpi->SetThreadLocalStorage(NULL, &t);
    JVMPI_RawMonitor m = jvmpi->RawMonitorCreate((char *)"stranger's");
    jvmpi->RawMonitorEnter(m);
    jvmpi->RawMonitorExit(m);
    jvmpi->RawMonitorDestroy(m);
    return NULL;
}

JNIEXPORT void JNICALL Java_JvmpiCore_unattached(JNIEnv *env, jclass class)
{
    (void)class;
    pthread_t t;
    CHECK(pthread_create(&t, NULL, stranger, env) == 0 && pthread_join(t, NULL) == 0);
}

static atomic_bool system_ran;
static JVMPI_RawMonitor system_monitor;

static void system_thread(void *arg)
{
    JNIEnv *env = NULL;
    CHECK(arg == NULL && (*ours)->GetEnv(ours, (void **)&env, JNI_VERSION_1_2) == JNI_OK);
    CHECK(strcmp(started.name, "sys") == 0 && strcmp(started.group, "system") == 0 && started.env == env);
    CHECK(jvmpi->GetThreadObject(env) == started.id);
    jvmpi->RawMonitorEnter(system_monitor);
    system_ran = true;
    jvmpi->RawMonitorNotifyAll(system_monitor);
    jvmpi->RawMonitorExit(system_monitor);
}

JNIEXPORT void JNICALL Java_JvmpiCore_systemThread(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    system_monitor = jvmpi->RawMonitorCreate((char *)"system");
    jvmpi->RawMonitorEnter(system_monitor);
    CHECK(jvmpi->CreateSystemThread((char *)"sys", JVMPI_MAXIMUM_PRIORITY, system_thread) == JNI_OK);
    while (!system_ran) {
        jvmpi->RawMonitorWait(system_monitor, 0);
    }
    jvmpi->RawMonitorExit(system_monitor);
    CHECK(jvmpi->CreateSystemThread((char *)"x", 0, system_thread) == JNI_ERR);
    CHECK(jvmpi->CreateSystemThread((char *)"x", 11, system_thread) == JNI_ERR);
    CHECK(jvmpi->CreateSystemThread((char *)"x", JVMPI_NORMAL_PRIORITY, NULL) == JNI_ERR);
}

JNIEXPORT void JNICALL Java_JvmpiCore_cpuTime(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    jlong a = jvmpi->GetCurrentThreadCpuTime(), b = a;
    while (b <= a) { /* the clock moves while this thread runs */
        b = jvmpi->GetCurrentThreadCpuTime();
    }
    CHECK(a > 0 && b > a);
}
