/* SPDX-License-Identifier: BSD-2-Clause */
/* every.c: an agent that enables every event and calls every function, and holds the return codes to the table of the shim (table.h). Its
 * program is tests/jvm/programs/JvmpiEvery.java, which causes every event. Prints "BAD ..." for what differs, and at the end
 * "event NAME CLASS COUNT" and "function NAME CLASS CALLS" for every row. */
#include "table.h"
#include <jvmpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAPS, PART, NOT };
enum { ENABLE = 1, REQUEST = 2, ENABLE_AND_REQUEST = 3 };

static const struct {
    const char *name, *class;
    jint event;
    int kind, asked;
} events[] = {
#define ROW(name, class, asked, mode, sentence) {#name, #class, JVMPI_EVENT_##name, class, asked},
    HPX_JVMPI_EVENTS(ROW)
#undef ROW
};
#define NEVENTS (sizeof(events) / sizeof(events[0]))

enum {
#define ROW(name, class, when, sentence) F_##name,
    HPX_JVMPI_FUNCTIONS(ROW)
#undef ROW
        NFUNCTIONS
};
static const struct {
    const char *name, *class;
} functions[] = {
#define ROW(name, class, when, sentence) {#name, #class},
    HPX_JVMPI_FUNCTIONS(ROW)
#undef ROW
};

static JVMPI_Interface *jvmpi;
static atomic_long seen[JVMPI_MAX_EVENT_TYPE_VAL + 1], asked_for[JVMPI_MAX_EVENT_TYPE_VAL + 1];
static atomic_int called[NFUNCTIONS];

/* The function f, counted. */
#define CALL(f) (counted(F_##f)->f)
static const JVMPI_Interface *counted(int f)
{
    called[f]++;
    return jvmpi;
}

#define CHECK(cond) ((cond) ? (void)0 : bad(#cond, __LINE__))

static void bad(const char *what, int line)
{
    printf("BAD every.c:%d: %s\n", line, what);
    fflush(stdout);
}

/* ---- events ---- */

static void report(void)
{
    for (size_t i = 0; i < NEVENTS; i++) {
        printf("event %s %s %ld\n", events[i].name, events[i].class, (long)seen[events[i].event] + (long)asked_for[events[i].event]);
    }
    for (size_t i = 0; i < NFUNCTIONS; i++) {
        printf("function %s %s %d\n", functions[i].name, functions[i].class, (int)called[i]);
    }
    fflush(stdout);
}

static void notify(JVMPI_Event *e)
{
    jint type = e->event_type & ~JVMPI_REQUESTED_EVENT;
    if (type < 1 || type > JVMPI_MAX_EVENT_TYPE_VAL) {
        bad("an event of no type", __LINE__);
        return;
    }
    ++*((e->event_type & JVMPI_REQUESTED_EVENT) != 0 ? &asked_for[type] : &seen[type]);
    if (type == JVMPI_EVENT_JVM_SHUT_DOWN) {
        void (*leave)(jint) = CALL(ProfilerExit);
        report();
        leave(23);
    }
}

/* What the functions must answer by the row of the event. */
static void check_codes(size_t i, const char *when)
{
    bool can = events[i].kind != NOT && (events[i].asked & ENABLE) != 0;
    jint want = can ? JVMPI_SUCCESS : JVMPI_NOT_AVAILABLE;
    jint enabled = CALL(EnableEvent)(events[i].event, NULL), disabled = CALL(DisableEvent)(events[i].event, NULL);
    if (enabled != want || disabled != want || CALL(EnableEvent)(events[i].event, NULL) != want) {
        printf("BAD codes of %s %s: %d and %d, the table says %d\n", events[i].name, when, enabled, disabled, want);
    }
}

/* Without an argument: the dumps of the whole VM succeed, the others lack the id. */
static void check_requests(void)
{
    for (size_t i = 0; i < NEVENTS; i++) {
        bool can = events[i].kind != NOT && (events[i].asked & REQUEST) != 0;
        bool whole = events[i].event == JVMPI_EVENT_HEAP_DUMP || events[i].event == JVMPI_EVENT_MONITOR_DUMP;
        jint want = !can ? JVMPI_NOT_AVAILABLE : whole ? JVMPI_SUCCESS : JVMPI_FAIL;
        CALL(DisableGC)();
        jint got = CALL(RequestEvent)(events[i].event, NULL);
        CALL(EnableGC)();
        if (got != want) {
            printf("BAD code of the request for %s: %d, the table says %d\n", events[i].name, got, want);
        }
    }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)options, (void)reserved;
    if ((*vm)->GetEnv(vm, (void **)&jvmpi, JVMPI_VERSION_1_2) < 0) {
        return JNI_ERR;
    }
    jvmpi->NotifyEvent = notify;
    for (size_t i = 0; i < NEVENTS; i++) {
        check_codes(i, "at load");
    }
    return JNI_OK;
}

/* ---- what the program calls ---- */

JNIEXPORT void JNICALL Java_JvmpiEvery_codes(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_JvmpiEvery_functions(JNIEnv *env, jclass class, jobject object, jlong other);
JNIEXPORT jlong JNICALL Java_JvmpiEvery_self(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_JvmpiEvery_requests(JNIEnv *env, jclass class, jobject object);
JNIEXPORT void JNICALL Java_JvmpiEvery_references(JNIEnv *env, jclass class, jobject object);
JNIEXPORT void JNICALL Java_JvmpiEvery_rawContention(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_JvmpiEvery_sigquit(JNIEnv *env, jclass class);
JNIEXPORT jlong JNICALL Java_JvmpiEvery_count(JNIEnv *env, jclass class, jstring event);

JNIEXPORT void JNICALL Java_JvmpiEvery_codes(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    for (size_t i = 0; i < NEVENTS; i++) {
        check_codes(i, "while the program runs");
    }
    check_requests();
}

JNIEXPORT jlong JNICALL Java_JvmpiEvery_self(JNIEnv *env, jclass class)
{
    (void)class;
    return (jlong)(uintptr_t)env;
}

static atomic_int system_thread_ran;

static void system_thread(void *arg)
{
    (void)arg;
    system_thread_ran = 1;
}

static void call_threads(JNIEnv *env, JNIEnv *other)
{
    jint results[1] = {-1};
    JVMPI_CallFrame frames[8];
    JVMPI_CallTrace trace = {.env_id = other, .frames = frames};
    CALL(DisableGC)();
    CHECK(CALL(GetThreadObject)(other) != NULL && CALL(GetThreadObject)(other) != CALL(GetThreadObject)(env));
    CALL(SuspendThread)(other);
    CHECK((CALL(GetThreadStatus)(other) & JVMPI_THREAD_SUSPENDED) != 0);
    CALL(ResumeThread)(other);
    CALL(SuspendThreadList)(1, &other, results);
    CHECK(results[0] == 0);
    CHECK(!CALL(ThreadHasRun)(other)); /* it waits */
    CALL(GetCallTrace)(&trace, 8);
    CHECK(trace.num_frames > 0);
    results[0] = -1;
    CALL(ResumeThreadList)(1, &other, results);
    CHECK(results[0] == 0);
    CALL(EnableGC)();
    CHECK(CALL(CreateSystemThread)((char *)(uintptr_t) "system", JVMPI_NORMAL_PRIORITY, system_thread) == JNI_OK);
    while (system_thread_ran == 0) {
        (void)sched_yield();
    }
}

/* other: the JNIEnv of a thread that waits. */
JNIEXPORT void JNICALL Java_JvmpiEvery_functions(JNIEnv *env, jclass class, jobject object, jlong other)
{
    int local = 0;
    CALL(DisableGC)();
    jobjectID id = CALL(jobject2jobjectID)(object);
    CHECK(id != NULL && (*env)->IsSameObject(env, CALL(jobjectID2jobject)(id), object));
    CHECK(CALL(GetMethodClass)((*env)->GetStaticMethodID(env, class, "codes", "()V")) == CALL(jobject2jobjectID)(class));
    CALL(EnableGC)();
    CALL(SetThreadLocalStorage)(env, &local);
    CHECK(CALL(GetThreadLocalStorage)(env) == &local);
    jlong before = CALL(GetCurrentThreadCpuTime)();
    CHECK(before > 0 && CALL(GetCurrentThreadCpuTime)() >= before);
    long collections = seen[JVMPI_EVENT_GC_START];
    CALL(RunGC)();
    CHECK(seen[JVMPI_EVENT_GC_START] > collections);
    JVMPI_RawMonitor m = CALL(RawMonitorCreate)((char *)(uintptr_t) "every");
    CALL(RawMonitorEnter)(m);
    CALL(RawMonitorWait)(m, 1);
    CALL(RawMonitorNotifyAll)(m);
    CALL(RawMonitorExit)(m);
    CALL(RawMonitorDestroy)(m);
    call_threads(env, (JNIEnv *)(uintptr_t)other);
}

JNIEXPORT void JNICALL Java_JvmpiEvery_requests(JNIEnv *env, jclass class, jobject object)
{
    long before[] = {asked_for[JVMPI_EVENT_OBJECT_DUMP], asked_for[JVMPI_EVENT_OBJECT_ALLOC], asked_for[JVMPI_EVENT_CLASS_LOAD],
                     asked_for[JVMPI_EVENT_THREAD_START]};
    CALL(DisableGC)();
    jobjectID id = CALL(jobject2jobjectID)(object);
    CHECK(CALL(RequestEvent)(JVMPI_EVENT_OBJECT_DUMP, id) == JVMPI_SUCCESS);
    CHECK(CALL(RequestEvent)(JVMPI_EVENT_OBJECT_ALLOC, id) == JVMPI_SUCCESS);
    CHECK(CALL(RequestEvent)(JVMPI_EVENT_CLASS_LOAD, CALL(jobject2jobjectID)(class)) == JVMPI_SUCCESS);
    CHECK(CALL(RequestEvent)(JVMPI_EVENT_THREAD_START, CALL(GetThreadObject)(env)) == JVMPI_SUCCESS);
    CALL(EnableGC)();
    CHECK(asked_for[JVMPI_EVENT_OBJECT_DUMP] == before[0] + 1 && asked_for[JVMPI_EVENT_OBJECT_ALLOC] == before[1] + 1);
    CHECK(asked_for[JVMPI_EVENT_CLASS_LOAD] == before[2] + 1 && asked_for[JVMPI_EVENT_THREAD_START] == before[3] + 1);
}

JNIEXPORT void JNICALL Java_JvmpiEvery_references(JNIEnv *env, jclass class, jobject object)
{
    (void)class;
    long before[] = {seen[JVMPI_EVENT_JNI_GLOBALREF_ALLOC], seen[JVMPI_EVENT_JNI_GLOBALREF_FREE],
                     seen[JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC], seen[JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE]};
    (*env)->DeleteGlobalRef(env, (*env)->NewGlobalRef(env, object));
    (*env)->DeleteWeakGlobalRef(env, (*env)->NewWeakGlobalRef(env, object));
    CHECK(seen[JVMPI_EVENT_JNI_GLOBALREF_ALLOC] > before[0] && seen[JVMPI_EVENT_JNI_GLOBALREF_FREE] > before[1]);
    CHECK(seen[JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC] > before[2] && seen[JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE] > before[3]);
}

static JVMPI_RawMonitor held;

static void *enter_held(void *arg)
{
    (void)arg;
    CALL(RawMonitorEnter)(held);
    CALL(RawMonitorExit)(held);
    return NULL;
}

/* Leaves the monitor when the event says that the other thread waits for it. */
JNIEXPORT void JNICALL Java_JvmpiEvery_rawContention(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    pthread_t t;
    long before = seen[JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER];
    held = CALL(RawMonitorCreate)((char *)(uintptr_t) "held");
    CALL(RawMonitorEnter)(held);
    if (pthread_create(&t, NULL, enter_held, NULL) != 0) {
        bad("no thread", __LINE__);
        return;
    }
    while (seen[JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER] == before) {
        (void)sched_yield();
    }
    CALL(RawMonitorExit)(held);
    (void)pthread_join(t, NULL);
    CALL(RawMonitorDestroy)(held);
}

JNIEXPORT void JNICALL Java_JvmpiEvery_sigquit(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    (void)kill(getpid(), SIGQUIT);
}

/* Events of this name so far; -1: there is none. */
JNIEXPORT jlong JNICALL Java_JvmpiEvery_count(JNIEnv *env, jclass class, jstring event)
{
    (void)class;
    char name[64] = "";
    (*env)->GetStringUTFRegion(env, event, 0, (*env)->GetStringLength(env, event), name);
    for (size_t i = 0; i < NEVENTS; i++) {
        if (strcmp(events[i].name, name) == 0) {
            return seen[events[i].event];
        }
    }
    return -1;
}
