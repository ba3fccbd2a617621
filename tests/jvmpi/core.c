/* SPDX-License-Identifier: BSD-2-Clause */
/* core.c: the agent: loading, counting of events, ids, traces, collections. */
#include "core.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

JVMPI_Interface *jvmpi;
JavaVM *ours;
atomic_int counts[JVMPI_MAX_EVENT_TYPE_VAL + 1];
struct started started;
_Thread_local struct met met[8];
_Thread_local int meetings;
void (*_Atomic in_event)(JVMPI_Event *event);

static atomic_int checks;

void check(bool holds, const char *text, const char *file, int line)
{
    checks++;
    if (!holds) {
        printf("BAD %s:%d %s\n", strrchr(file, '/') == NULL ? file : strrchr(file, '/') + 1, line, text);
        fflush(stdout);
    }
}

static void note_thread(const JVMPI_Event *e)
{
    snprintf(started.name, sizeof(started.name), "%s", e->u.thread_start.thread_name);
    snprintf(started.group, sizeof(started.group), "%s", e->u.thread_start.group_name);
    snprintf(started.parent, sizeof(started.parent), "%s", e->u.thread_start.parent_name);
    started.id = e->u.thread_start.thread_id;
    started.env = e->u.thread_start.thread_env_id;
    started.type = e->event_type;
    counts[0] += strcmp(started.name, "one") == 0 || strcmp(started.name, "two") == 0;
}

static void note_meeting(const JVMPI_Event *e)
{
    if (meetings < 8) {
        bool waits = e->event_type == JVMPI_EVENT_MONITOR_WAIT || e->event_type == JVMPI_EVENT_MONITOR_WAITED;
        met[meetings++] =
            (struct met){e->event_type, waits ? e->u.monitor_wait.object : e->u.monitor.object, waits ? e->u.monitor_wait.timeout : 0};
    }
}

static void notify(JVMPI_Event *e)
{
    jint type = e->event_type & ~JVMPI_REQUESTED_EVENT;
    counts[type]++;
    if (type == JVMPI_EVENT_THREAD_START) {
        note_thread(e);
    } else if (type >= JVMPI_EVENT_MONITOR_CONTENDED_ENTER && type <= JVMPI_EVENT_MONITOR_WAITED) {
        note_meeting(e);
    } else if (type == JVMPI_EVENT_DATA_DUMP_REQUEST) {
        printf("dump requested\n");
        fflush(stdout);
    } else if (type == JVMPI_EVENT_JVM_INIT_DONE) {
        CHECK(e->env_id != NULL && counts[JVMPI_EVENT_THREAD_START] > 0 && counts[JVMPI_EVENT_JVM_SHUT_DOWN] == 0);
    } else if (type == JVMPI_EVENT_JVM_SHUT_DOWN) {
        CHECK(e->env_id != NULL && counts[JVMPI_EVENT_JVM_INIT_DONE] == 1);
        printf("shut down, %d checks\n", checks);
        fflush(stdout);
    }
    void (*f)(JVMPI_Event *) = in_event;
    if (f != NULL) {
        f(e);
    }
}

static void never(void *arg)
{
    (void)arg;
    CHECK(!"reached");
}

/* Every event of this part is enabled here, so no scenario depends on another. */
JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    static const jint wanted[] = {JVMPI_EVENT_JVM_INIT_DONE,
                                  JVMPI_EVENT_JVM_SHUT_DOWN,
                                  JVMPI_EVENT_THREAD_START,
                                  JVMPI_EVENT_THREAD_END,
                                  JVMPI_EVENT_DATA_DUMP_REQUEST,
                                  JVMPI_EVENT_GC_START,
                                  JVMPI_EVENT_GC_FINISH,
                                  JVMPI_EVENT_MONITOR_CONTENDED_ENTER,
                                  JVMPI_EVENT_MONITOR_CONTENDED_ENTERED,
                                  JVMPI_EVENT_MONITOR_WAIT,
                                  JVMPI_EVENT_MONITOR_WAITED,
                                  JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER,
                                  JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED,
                                  JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT};
    void *any = NULL;
    ours = vm;
    CHECK(options != NULL && strcmp(options, "a:b,c") == 0 && reserved == NULL);
    CHECK((*vm)->GetEnv(vm, &any, JVMPI_VERSION_1) == JNI_OK && (*vm)->GetEnv(vm, &any, JVMPI_VERSION_1_1) == JNI_OK);
    CHECK((*vm)->GetEnv(vm, (void **)&jvmpi, JVMPI_VERSION_1_2) == JNI_OK && any == jvmpi);
    CHECK(jvmpi->version == JVMPI_VERSION_1_2 && jvmpi->NotifyEvent == NULL);
    CHECK((*vm)->GetEnv(vm, &any, JVMPI_VERSION_1_2 + 1) < 0);
    CHECK((*vm)->GetEnv(vm, NULL, JVMPI_VERSION_1) < 0);
    jvmpi->NotifyEvent = notify;
    CHECK(jvmpi->CreateSystemThread((char *)"early", JVMPI_NORMAL_PRIORITY, never) == JNI_ERR);
    CHECK(jvmpi->RequestEvent(JVMPI_EVENT_THREAD_START, NULL) == JVMPI_FAIL);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        CHECK(jvmpi->EnableEvent(wanted[i], NULL) == JVMPI_SUCCESS);
    }
    CHECK(jvmpi->EnableEvent(JVMPI_EVENT_GC_START, NULL) == JVMPI_SUCCESS);
    return JNI_OK;
}

/* ---- what the program calls ---- */

JNIEXPORT void JNICALL Java_JvmpiCore_codes(JNIEnv *env, jclass class);
JNIEXPORT void JNICALL Java_JvmpiCore_ids(JNIEnv *env, jclass class, jobject a, jobject b);
JNIEXPORT jlong JNICALL Java_JvmpiCore_id(JNIEnv *env, jclass class, jobject a);
JNIEXPORT jobject JNICALL Java_JvmpiCore_object(JNIEnv *env, jclass class, jlong id);
JNIEXPORT void JNICALL Java_JvmpiCore_trace(JNIEnv *env, jclass class, jint deep);
JNIEXPORT jint JNICALL Java_JvmpiCore_count(JNIEnv *env, jclass class, jint event);
JNIEXPORT void JNICALL Java_JvmpiCore_collections(JNIEnv *env, jclass class);
JNIEXPORT jlong JNICALL Java_JvmpiCore_self(JNIEnv *env, jclass class);

JNIEXPORT void JNICALL Java_JvmpiCore_codes(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    static const jint never_sent[] = {JVMPI_EVENT_OBJECT_MOVE,
                                      JVMPI_EVENT_INSTRUCTION_START,
                                      JVMPI_EVENT_DATA_RESET_REQUEST,
                                      JVMPI_EVENT_ARENA_NEW,
                                      JVMPI_EVENT_ARENA_DELETE,
                                      JVMPI_EVENT_MONITOR_CONTENDED_EXIT,
                                      0,
                                      -1,
                                      JVMPI_MAX_EVENT_TYPE_VAL + 1};
    static const jint requests[] = {JVMPI_EVENT_HEAP_DUMP, JVMPI_EVENT_MONITOR_DUMP, JVMPI_EVENT_OBJECT_DUMP};
    for (size_t i = 0; i < sizeof(never_sent) / sizeof(never_sent[0]); i++) {
        CHECK(jvmpi->EnableEvent(never_sent[i], NULL) == JVMPI_NOT_AVAILABLE &&
              jvmpi->DisableEvent(never_sent[i], NULL) == JVMPI_NOT_AVAILABLE);
        CHECK(jvmpi->RequestEvent(never_sent[i], NULL) == JVMPI_NOT_AVAILABLE);
    }
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        CHECK(jvmpi->EnableEvent(requests[i], NULL) == JVMPI_NOT_AVAILABLE &&
              jvmpi->DisableEvent(requests[i], NULL) == JVMPI_NOT_AVAILABLE);
    }
    CHECK(jvmpi->RequestEvent(JVMPI_EVENT_GC_START, NULL) == JVMPI_NOT_AVAILABLE);
    CHECK(jvmpi->DisableEvent(JVMPI_EVENT_THREAD_END, NULL) == JVMPI_SUCCESS);
    CHECK(jvmpi->DisableEvent(JVMPI_EVENT_THREAD_END, NULL) == JVMPI_SUCCESS); /* is off */
    CHECK(jvmpi->EnableEvent(JVMPI_EVENT_THREAD_END, NULL) == JVMPI_SUCCESS);
}

JNIEXPORT void JNICALL Java_JvmpiCore_ids(JNIEnv *env, jclass class, jobject a, jobject b)
{
    (void)class;
    jobjectID ia = jvmpi->jobject2jobjectID(a), ib = jvmpi->jobject2jobjectID(b);
    CHECK(ia != NULL && ib != NULL && ia != ib);
    CHECK(jvmpi->jobject2jobjectID(a) == ia && jvmpi->jobject2jobjectID(NULL) == NULL);
    jobject back = jvmpi->jobjectID2jobject(ia);
    CHECK(back != NULL && (*env)->IsSameObject(env, a, back));
    CHECK(jvmpi->jobjectID2jobject(NULL) == NULL && jvmpi->jobjectID2jobject((jobjectID)(uintptr_t)-5) == NULL);
    jclass of = (*env)->GetObjectClass(env, a);
    jmethodID method = (*env)->GetMethodID(env, of, "hashCode", "()I");
    CHECK(jvmpi->GetMethodClass(method) == jvmpi->jobject2jobjectID(of));
    CHECK(jvmpi->GetMethodClass(NULL) == NULL);
}

JNIEXPORT jlong JNICALL Java_JvmpiCore_id(JNIEnv *env, jclass class, jobject a)
{
    (void)env, (void)class;
    return (jlong)(uintptr_t)jvmpi->jobject2jobjectID(a);
}

JNIEXPORT jobject JNICALL Java_JvmpiCore_object(JNIEnv *env, jclass class, jlong id)
{
    (void)env, (void)class;
    return jvmpi->jobjectID2jobject((jobjectID)(uintptr_t)id);
}

/* Called by deep() at the given depth, which main's thread calls: trace, deep... */
JNIEXPORT void JNICALL Java_JvmpiCore_trace(JNIEnv *env, jclass class, jint deep)
{
    JVMPI_CallFrame frames[600];
    JVMPI_CallTrace t = {.env_id = env, .frames = frames};
    jmethodID own = (*env)->GetStaticMethodID(env, class, "trace", "(I)V"), caller = (*env)->GetStaticMethodID(env, class, "deep", "(I)V");
    jvmpi->GetCallTrace(&t, 3);
    CHECK(t.num_frames == 3 && frames[0].method_id == own && frames[0].lineno < 0);
    CHECK(frames[1].method_id == caller && frames[1].lineno > 0 && frames[2].method_id == caller && frames[2].lineno > 0);
    CHECK(frames[1].lineno != frames[2].lineno); /* the innermost call is elsewhere */
    jvmpi->GetCallTrace(&t, 600);
    CHECK(t.num_frames > deep && t.num_frames < 600 && frames[deep].method_id == caller && frames[deep + 1].method_id != caller);
    jvmpi->GetCallTrace(&t, 0);
    CHECK(t.num_frames == 0);
    jvmpi->GetCallTrace(&t, -1);
    CHECK(t.num_frames == 0);
    t.env_id = (JNIEnv *)&t;
    jvmpi->GetCallTrace(&t, 5);
    CHECK(t.num_frames == 0);
    t.env_id = NULL;
    jvmpi->GetCallTrace(&t, 5);
    CHECK(t.num_frames == 0);
    jvmpi->GetCallTrace(NULL, 5);
}

JNIEXPORT jint JNICALL Java_JvmpiCore_count(JNIEnv *env, jclass class, jint event)
{
    (void)env, (void)class;
    return counts[event];
}

static void in_collection(JVMPI_Event *e)
{
    if (e->event_type == JVMPI_EVENT_GC_START || e->event_type == JVMPI_EVENT_GC_FINISH) {
        CHECK(counts[JVMPI_EVENT_GC_START] - counts[JVMPI_EVENT_GC_FINISH] == (e->event_type == JVMPI_EVENT_GC_START));
        CHECK(jvmpi->EnableEvent(JVMPI_EVENT_THREAD_END, NULL) == JVMPI_FAIL); /* nobody may wait here */
        CHECK(jvmpi->GetThreadObject(e->env_id) == NULL);
    }
}

JNIEXPORT void JNICALL Java_JvmpiCore_collections(JNIEnv *env, jclass class)
{
    (void)env, (void)class;
    int before = counts[JVMPI_EVENT_GC_START];
    in_event = in_collection;
    jvmpi->RunGC();
    in_event = NO_HANDLER;
    CHECK(counts[JVMPI_EVENT_GC_START] > before && counts[JVMPI_EVENT_GC_START] == counts[JVMPI_EVENT_GC_FINISH]);
    jvmpi->EnableGC(); /* without DisableGC: nothing */
    jvmpi->DisableGC();
    jvmpi->DisableGC();
    jvmpi->EnableGC();
    jvmpi->EnableGC();
    before = counts[JVMPI_EVENT_GC_START];
    CHECK(jvmpi->DisableEvent(JVMPI_EVENT_GC_START, NULL) == JVMPI_SUCCESS);
    jvmpi->RunGC();
    CHECK(counts[JVMPI_EVENT_GC_START] == before && counts[JVMPI_EVENT_GC_FINISH] > before);
    counts[JVMPI_EVENT_GC_FINISH] = before;
    CHECK(jvmpi->EnableEvent(JVMPI_EVENT_GC_START, NULL) == JVMPI_SUCCESS);
}

JNIEXPORT jlong JNICALL Java_JvmpiCore_self(JNIEnv *env, jclass class)
{
    (void)class;
    return (jlong)(uintptr_t)env;
}
