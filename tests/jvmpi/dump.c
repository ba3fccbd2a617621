/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.c: the agent, and the natives of JvmpiDump. */
#include "dump.h"
#include <jvmti.h>
#include <stdlib.h>
#include <string.h>

JNIEXPORT void JNICALL Java_JvmpiDump_heap(JNIEnv *env, jclass klass, jint level);
JNIEXPORT void JNICALL Java_JvmpiDump_refused(JNIEnv *env, jclass klass);
JNIEXPORT void JNICALL Java_JvmpiDump_counts(JNIEnv *env, jclass klass);
JNIEXPORT void JNICALL Java_JvmpiDump_object(JNIEnv *env, jclass klass, jobject object, jint kind);
JNIEXPORT void JNICALL Java_JvmpiDump_parts(JNIEnv *env, jclass klass, jclass of, jobject loader, jobject domain, jclass interface,
                                            jstring constant);
JNIEXPORT void JNICALL Java_JvmpiDump_frame(JNIEnv *env, jclass klass, jobject local, jlong thread, jstring name);
JNIEXPORT jlong JNICALL Java_JvmpiDump_self(JNIEnv *env, jclass klass);
JNIEXPORT void JNICALL Java_JvmpiDump_makeGlobal(JNIEnv *env, jclass klass, jobject object);
JNIEXPORT void JNICALL Java_JvmpiDump_roots(JNIEnv *env, jclass klass, jobject global, jobject system, jobject thread, jlong its);
JNIEXPORT void JNICALL Java_JvmpiDump_jniLocal(JNIEnv *env, jclass klass);
JNIEXPORT void JNICALL Java_JvmpiDump_monitors(JNIEnv *env, jclass klass, jobject lock, jobject lonely, jlong owner, jlong enters,
                                               jlong waits);

JVMPI_Interface *jvmpi;
static JavaVM *ours;
static char *one;         /* of the last OBJECT_DUMP */
static size_t one_length; /* bytes */
static struct {
    char *bytes;
    size_t n;
    int nthreads;
    jint *status;
    JVMPI_CallTrace *traces;
    jmethodID *inner; /* of each thread */
} monitors;
static int requested, in_collection;

static void take_monitors(const JVMPI_Event *e)
{
    monitors.n = (size_t)(e->u.monitor_dump.end - e->u.monitor_dump.begin);
    monitors.nthreads = e->u.monitor_dump.num_traces;
    monitors.bytes = malloc(monitors.n + 1);
    monitors.status = calloc((size_t)monitors.nthreads, sizeof *monitors.status);
    monitors.traces = calloc((size_t)monitors.nthreads, sizeof *monitors.traces);
    monitors.inner = calloc((size_t)monitors.nthreads, sizeof(*monitors.inner));
    memcpy(monitors.bytes, e->u.monitor_dump.begin, monitors.n);
    for (int i = 0; i < monitors.nthreads; i++) {
        monitors.status[i] = e->u.monitor_dump.threads_status[i];
        monitors.traces[i] = e->u.monitor_dump.traces[i];
        monitors.inner[i] = monitors.traces[i].num_frames > 0 ? monitors.traces[i].frames[0].method_id : NULL;
    }
}

static void notify(JVMPI_Event *e)
{
    requested += (e->event_type & JVMPI_REQUESTED_EVENT) != 0;
    switch (e->event_type & ~JVMPI_REQUESTED_EVENT) {
    case JVMPI_EVENT_CLASS_LOAD:
        class_loaded(e);
        break;
    case JVMPI_EVENT_HEAP_DUMP:
        take_heap(e);
        break;
    case JVMPI_EVENT_OBJECT_DUMP:
        one_length = (size_t)e->u.object_dump.data_len;
        one = malloc(one_length);
        memcpy(one, e->u.object_dump.data, one_length);
        break;
    case JVMPI_EVENT_MONITOR_DUMP:
        take_monitors(e);
        break;
    case JVMPI_EVENT_GC_START: /* no question is answered in a collection */
        in_collection += jvmpi->RequestEvent(JVMPI_EVENT_HEAP_DUMP, NULL) == JVMPI_FAIL;
        in_collection += jvmpi->RequestEvent(JVMPI_EVENT_MONITOR_DUMP, NULL) == JVMPI_FAIL;
        in_collection += jvmpi->RequestEvent(JVMPI_EVENT_OBJECT_DUMP, (void *)(uintptr_t)1) == JVMPI_FAIL;
        break;
    default:
        break;
    }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    (void)options, (void)reserved;
    ours = vm;
    if ((*vm)->GetEnv(vm, (void **)&jvmpi, JVMPI_VERSION_1_2) != JNI_OK) {
        return JNI_ERR;
    }
    jvmpi->NotifyEvent = notify;
    return JNI_OK;
}

static jobjectID id_of(jobject object)
{
    jvmpi->DisableGC();
    jobjectID id = jvmpi->jobject2jobjectID(object);
    jvmpi->EnableGC();
    return id;
}

/* ---- the heap ---- */

/* Before objects have ids: the VM looks at all of them to find a class by its id. */
static void ask_classes(JNIEnv *env)
{
    jvmtiEnv *jvmti = NULL;
    jclass *all = NULL;
    jint n = 0;
    CHECK((*ours)->GetEnv(ours, (void **)&jvmti, JVMTI_VERSION_1_1) == JNI_OK && (*jvmti)->GetLoadedClasses(jvmti, &n, &all) == 0);
    (void)(*env)->EnsureLocalCapacity(env, n + 64);
    jvmpi->DisableGC();
    for (int i = 0; i < n; i++) {
        jobjectID id = jvmpi->jobject2jobjectID(all[i]);
        CHECK(jvmpi->RequestEvent(JVMPI_EVENT_CLASS_LOAD, id) == JVMPI_SUCCESS); /* again: it may be linked by now */
        CHECK(class_of(id) != NULL);
        (*env)->DeleteLocalRef(env, all[i]);
    }
    jvmpi->EnableGC();
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
    (*jvmti)->DisposeEnvironment(jvmti);
}

static bool is_readable(void)
{
    const char *end = heap.bytes + heap.n, *at = heap.bytes;
    while (at != NULL && at < end) {
        struct record r;
        at = read_record(at, end, heap.level, &r);
    }
    return at == end;
}

/* A class that another thread loads or links after its CLASS_LOAD makes its record unreadable: then once more. */
JNIEXPORT void JNICALL Java_JvmpiDump_heap(JNIEnv *env, jclass klass, jint level)
{
    (void)klass;
    JVMPI_HeapDumpArg arg = {level};
    bool good = false;
    for (int i = 0; !good && i < 5; i++) {
        ask_classes(env);
        requested = 0;
        CHECK(jvmpi->RequestEvent(JVMPI_EVENT_HEAP_DUMP, level == 2 ? NULL : &arg) == JVMPI_SUCCESS);
        CHECK(requested == 1 && heap.level == level && heap.n > 0 && (level > 0 || heap.ntraces == 0));
        good = is_readable();
    }
    CHECK(good);
}

JNIEXPORT void JNICALL Java_JvmpiDump_refused(JNIEnv *env, jclass klass)
{
    (void)env, (void)klass;
    JVMPI_HeapDumpArg arg = {3};
    CHECK(jvmpi->RequestEvent(JVMPI_EVENT_HEAP_DUMP, &arg) == JVMPI_FAIL);
    CHECK(jvmpi->EnableEvent(JVMPI_EVENT_HEAP_DUMP, NULL) == JVMPI_NOT_AVAILABLE);
    CHECK(jvmpi->DisableEvent(JVMPI_EVENT_OBJECT_DUMP, NULL) == JVMPI_NOT_AVAILABLE);
    CHECK(jvmpi->EnableEvent(JVMPI_EVENT_MONITOR_DUMP, NULL) == JVMPI_NOT_AVAILABLE);
    jvmpi->DisableGC();
    CHECK(jvmpi->RequestEvent(JVMPI_EVENT_OBJECT_DUMP, NULL) == JVMPI_FAIL);
    CHECK(jvmpi->RequestEvent(JVMPI_EVENT_OBJECT_DUMP, (void *)(UINT64_C(1) << 60)) == JVMPI_FAIL);
    jvmpi->EnableGC();
    CHECK(jvmpi->EnableEvent(JVMPI_EVENT_GC_START, NULL) == JVMPI_SUCCESS);
    jvmpi->RunGC();
    CHECK(jvmpi->DisableEvent(JVMPI_EVENT_GC_START, NULL) == JVMPI_SUCCESS);
    CHECK(in_collection >= 3 && in_collection % 3 == 0);
}

/* Prints how many objects there are of every class. */
JNIEXPORT void JNICALL Java_JvmpiDump_counts(JNIEnv *env, jclass klass)
{
    static unsigned long primitives[JVMPI_LONG + 1], mirrors;
    (void)env, (void)klass;
    const char *end = heap.bytes + heap.n, *at = heap.bytes;
    while (at != NULL && at < end) {
        struct record r;
        at = read_record(at, end, heap.level, &r);
        CHECK(at != NULL);
        struct class_info *c = at != NULL ? class_of(r.klass) : NULL;
        if (r.type == JVMPI_GC_PRIM_ARRAY_DUMP) {
            primitives[r.of]++;
        } else if (r.type == JVMPI_GC_INSTANCE_DUMP || r.type == JVMPI_GC_OBJ_ARRAY_DUMP) {
            CHECK(c != NULL);
            if (c != NULL) {
                (*(r.type == JVMPI_GC_OBJ_ARRAY_DUMP ? &c->arrays : &c->objects))++;
            }
        } else if (r.type == JVMPI_GC_CLASS_DUMP) {
            mirrors++;
        }
    }
    for (int i = JVMPI_BOOLEAN; i <= JVMPI_LONG; i++) {
        printf("of [%c: %lu\n", "....ZCFDBSIJ"[i], primitives[i]);
    }
    printf("of classes: %lu\n", mirrors);
    print_classes();
    fflush(stdout);
}

/* Does the dumped value of a field equal what JNI says? Its end. */
static const char *check_value(JNIEnv *env, jobject object, jclass klass, const char *name, char letter, bool is_static, const char *at)
{
    char signature[] = {letter, '\0'};
    size_t n = size_of(letter, heap.level);
    jvalue v;
    memset(&v, 0, sizeof v);
    if (n == 0) {
        return at;
    }
    if (letter == 'L' || letter == '[') {
        jclass classes = (*env)->FindClass(env, "JvmpiDump");
        jmethodID get =
            (*env)->GetStaticMethodID(env, classes, "get", "(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/Object;)Ljava/lang/Object;");
        jobject value = (*env)->CallStaticObjectMethod(env, classes, get, klass, (*env)->NewStringUTF(env, name), object);
        CHECK(!(*env)->ExceptionCheck(env));
        jobjectID id = value != NULL ? id_of(value) : NULL;
        CHECK(memcmp(at, &id, sizeof id) == 0);
        return at + n;
    }
    jfieldID f = is_static ? (*env)->GetStaticFieldID(env, klass, name, signature) : (*env)->GetFieldID(env, klass, name, signature);
    CHECK(f != NULL);
#define GET(type) (is_static ? (*env)->GetStatic##type##Field(env, klass, f) : (*env)->Get##type##Field(env, object, f))
    switch (letter) {
    case 'Z':
        v.z = GET(Boolean);
        break;
    case 'B':
        v.b = GET(Byte);
        break;
    case 'C':
        v.c = GET(Char);
        break;
    case 'S':
        v.s = GET(Short);
        break;
    case 'I':
        v.i = GET(Int);
        break;
    case 'F':
        v.f = GET(Float);
        break;
    case 'J':
        v.j = GET(Long);
        break;
    default:
        v.d = GET(Double);
        break;
    }
    CHECK(memcmp(at, &v, n) == 0);
    return at + n;
}

static void check_instance(JNIEnv *env, jobject object, const struct record *r)
{
    const char *at = r->values;
    jclass c = (*env)->GetObjectClass(env, object);
    CHECK(r->klass == id_of(c));
    for (; c != NULL; c = (*env)->GetSuperclass(env, c)) {
        const struct class_info *info = class_of(id_of(c));
        for (int i = info->nstatics; i < info->nstatics + info->nfields; i++) {
            at = check_value(env, object, c, info->names[i], info->letters[i], false, at);
        }
    }
    CHECK(at == r->end);
}

static void check_objects(JNIEnv *env, jobjectArray array, const struct record *r)
{
    CHECK(r->n == (uint32_t)(*env)->GetArrayLength(env, array));
    for (uint32_t i = 0; i < r->n; i++) {
        jobject element = (*env)->GetObjectArrayElement(env, array, (jsize)i);
        jobjectID id = element != NULL ? id_of(element) : NULL;
        CHECK(memcmp(r->values + i * sizeof id, &id, sizeof id) == 0);
        (*env)->DeleteLocalRef(env, element);
    }
}

static void check_primitives(JNIEnv *env, jarray array, const struct record *r)
{
    void *elements = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
    size_t n = (size_t)(r->end - r->values);
    bool same = memcmp(r->values, elements, n) == 0;
    (*env)->ReleasePrimitiveArrayCritical(env, array, elements, JNI_ABORT);
    CHECK(same);
    CHECK(r->n == (uint32_t)(*env)->GetArrayLength(env, array));
    CHECK(heap.level == 2 ? n >= r->n : n == 0);
}

static void check_class(JNIEnv *env, jclass klass, const struct record *r)
{
    const struct class_info *info = class_of(id_of(klass));
    jclass super = (*env)->GetSuperclass(env, klass);
    CHECK(r->super == (super != NULL ? id_of(super) : NULL));
    const char *at = r->values;
    for (int i = 0; i < info->nstatics; i++) {
        at = check_value(env, NULL, klass, info->names[i], info->letters[i], true, at);
    }
    CHECK(at == r->end);
}

/* The record of an object in the heap dump says what JNI says, and the object's dump is the same record. kind: the type of level 0. */
JNIEXPORT void JNICALL Java_JvmpiDump_object(JNIEnv *env, jclass klass, jobject object, jint kind)
{
    struct record r;
    (void)klass;
    jobjectID id = id_of(object);
    if (!find_record(id, &r)) {
        printf("BAD no record of %p\n", (void *)id);
        return;
    }
    if (heap.level == 0) {
        CHECK(r.of == kind);
    } else if (r.type == JVMPI_GC_INSTANCE_DUMP) {
        check_instance(env, object, &r);
    } else if (r.type == JVMPI_GC_OBJ_ARRAY_DUMP) {
        check_objects(env, object, &r);
    } else if (r.type == JVMPI_GC_PRIM_ARRAY_DUMP) {
        check_primitives(env, object, &r);
    } else {
        check_class(env, object, &r);
    }
    if (heap.level == 2) {
        jvmpi->DisableGC();
        CHECK(jvmpi->RequestEvent(JVMPI_EVENT_OBJECT_DUMP, id) == JVMPI_SUCCESS);
        jvmpi->EnableGC();
        CHECK(one_length == (size_t)(r.end - r.begin));
        const size_t place = 1 + 7 * sizeof(void *); /* the size of an instance, which a heap dump alone knows */
        bool same = memcmp(one, r.begin, r.type == JVMPI_GC_CLASS_DUMP ? place : one_length) == 0 &&
                    (r.type != JVMPI_GC_CLASS_DUMP || memcmp(one + place + 4, r.begin + place + 4, one_length - place - 4) == 0);
        CHECK(same);
        free(one);
    }
}

/* A class's interfaces, loader and constants. */
JNIEXPORT void JNICALL Java_JvmpiDump_parts(JNIEnv *env, jclass klass, jclass of, jobject loader, jobject domain, jclass interface,
                                            jstring constant)
{
    struct record r;
    (void)env, (void)klass;
    jobjectID id = id_of(interface), text = id_of(constant);
    bool found = false;
    CHECK(find_record(id_of(of), &r) && r.type == JVMPI_GC_CLASS_DUMP);
    CHECK(r.n >= 16); /* bytes of an instance */
    CHECK(r.loader == id_of(loader) && r.domain == id_of(domain) && memcmp(r.interfaces, &id, sizeof id) == 0);
    for (int i = 0; i < r.nconstants; i++) {
        const char *at = r.constants + (size_t)i * (3 + sizeof id);
        CHECK(at[2] == JVMPI_CLASS);
        found = found || memcmp(at + 3, &text, sizeof text) == 0;
    }
    CHECK(found);
}

/* A local variable of a thread, in a method. */
JNIEXPORT void JNICALL Java_JvmpiDump_frame(JNIEnv *env, jclass klass, jobject local, jlong thread, jstring name)
{
    struct record r;
    (void)klass;
    JNIEnv *its = (JNIEnv *)(uintptr_t)thread;
    const char *text = (*env)->GetStringUTFChars(env, name, NULL);
    jmethodID method =
        (*env)->GetStaticMethodID(env, (*env)->FindClass(env, "JvmpiDump"), text, "(Ljava/util/concurrent/CountDownLatch;)V");
    bool found = false;
    CHECK(method != NULL);
    (*env)->ReleaseStringUTFChars(env, name, text);
    if (!find_root(JVMPI_GC_ROOT_JAVA_FRAME, id_of(local), its, &r)) {
        printf("BAD no root of a frame\n");
        return;
    }
    for (int i = 0; i < heap.ntraces; i++) {
        const JVMPI_CallTrace *t = &heap.traces[i];
        if (t->env_id == its) {
            found = r.frame >= 0 && r.frame < t->num_frames && t->frames[r.frame].method_id == method && t->frames[r.frame].lineno > 0;
        }
    }
    CHECK(found);
}

JNIEXPORT jlong JNICALL Java_JvmpiDump_self(JNIEnv *env, jclass klass)
{
    (void)klass;
    return (jlong)(uintptr_t)env;
}

JNIEXPORT void JNICALL Java_JvmpiDump_makeGlobal(JNIEnv *env, jclass klass, jobject object)
{
    (void)klass;
    CHECK((*env)->NewGlobalRef(env, object) != NULL);
}

JNIEXPORT void JNICALL Java_JvmpiDump_roots(JNIEnv *env, jclass klass, jobject global, jobject system, jobject thread, jlong its)
{
    struct record r;
    (void)env, (void)klass;
    CHECK(find_root(JVMPI_GC_ROOT_JNI_GLOBAL, id_of(global), NULL, &r));
    CHECK(find_root(JVMPI_GC_ROOT_STICKY_CLASS, id_of(system), NULL, &r));
    CHECK(find_root(JVMPI_GC_ROOT_THREAD_BLOCK, id_of(thread), (JNIEnv *)(uintptr_t)its, &r));
}

/* An object that is reachable only by a local reference of this native. */
JNIEXPORT void JNICALL Java_JvmpiDump_jniLocal(JNIEnv *env, jclass klass)
{
    struct record r;
    jobject local = (*env)->NewStringUTF(env, "local");
    Java_JvmpiDump_heap(env, klass, 1);
    CHECK(find_root(JVMPI_GC_ROOT_JNI_LOCAL, id_of(local), env, &r) && r.frame == 0);
    for (int i = 0; i < heap.ntraces; i++) {
        if (heap.traces[i].env_id == env) {
            CHECK(heap.traces[i].num_frames >= 2 &&
                  heap.traces[i].frames[0].method_id == (*env)->GetStaticMethodID(env, klass, "jniLocal", "()V"));
            return;
        }
    }
    CHECK(!"the trace of the calling thread");
}

/* ---- monitors ---- */

static const char *pointer(const char *at, void *to)
{
    memcpy(to, at, sizeof(void *));
    return at + sizeof(void *);
}

static const char *number(const char *at, uint32_t *to)
{
    memcpy(to, at, sizeof *to);
    return at + sizeof *to;
}

/* The rest of a record, from the owner on. */
static const char *monitor_rest(const char *at, JNIEnv **owner, uint32_t *entries, uint32_t *enter, JNIEnv **first, uint32_t *notified,
                                JNIEnv **other)
{
    at = number(pointer(at, owner), entries);
    at = number(at, enter);
    *first = *other = NULL;
    if (*enter > 0) {
        (void)pointer(at, first);
    }
    at = number(at + *enter * sizeof(void *), notified);
    if (*notified > 0) {
        (void)pointer(at, other);
    }
    return at + *notified * sizeof(void *);
}

static bool has_thread(jlong thread, jint status, JNIEnv *env, jclass klass, const char *method)
{
    for (int i = 0; i < monitors.nthreads; i++) {
        if (monitors.traces[i].env_id == (JNIEnv *)(uintptr_t)thread) {
            jmethodID want = method != NULL ? (*env)->GetStaticMethodID(env, klass, method, "()V") : monitors.inner[i];
            return monitors.status[i] == status && monitors.inner[i] == want && monitors.traces[i].num_frames > 0;
        }
    }
    return false;
}

JNIEXPORT void JNICALL Java_JvmpiDump_monitors(JNIEnv *env, jclass klass, jobject lock, jobject lonely, jlong owner, jlong enters,
                                               jlong waits)
{
    JVMPI_RawMonitor raw = jvmpi->RawMonitorCreate("_a raw one"), m;
    jvmpi->RawMonitorEnter(raw);
    jvmpi->RawMonitorEnter(raw);
    requested = 0;
    CHECK(jvmpi->RequestEvent(JVMPI_EVENT_MONITOR_DUMP, NULL) == JVMPI_SUCCESS && requested == 1);
    int seen = 0;
    const char *end = monitors.bytes + monitors.n, *at = monitors.bytes;
    while (at < end) {
        JNIEnv *by, *first, *other;
        uint32_t entries, enter, notified;
        jobjectID id;
        const char *name;
        if (*at++ == JVMPI_MONITOR_JAVA) {
            at = monitor_rest(pointer(at, &id), &by, &entries, &enter, &first, &notified, &other);
            if (id == id_of(lock)) {
                seen |= 1;
                CHECK(by == (JNIEnv *)(uintptr_t)owner && entries == 2);
                CHECK(enter == 1 && first == (JNIEnv *)(uintptr_t)enters);
                CHECK(notified == 1 && other == (JNIEnv *)(uintptr_t)waits);
            } else if (lonely != NULL && id == id_of(lonely)) {
                seen |= 2;
                CHECK(by == (JNIEnv *)(uintptr_t)owner && entries == 1 && enter == 0 && notified == 0);
            }
        } else {
            CHECK(at[-1] == JVMPI_MONITOR_RAW);
            at = monitor_rest(pointer(pointer(at, &name), &m), &by, &entries, &enter, &first, &notified, &other);
            if (m == raw) {
                seen |= 4;
                CHECK(by == env && entries == 2 && enter == 0 && notified == 0);
            }
        }
    }
    CHECK(at == end);
    CHECK(seen == (lonely != NULL ? 7 : 5));
    CHECK(has_thread(enters, JVMPI_THREAD_MONITOR_WAIT, env, klass, "enters"));
    CHECK(has_thread(waits, JVMPI_THREAD_CONDVAR_WAIT, env, klass, NULL));
    CHECK(has_thread(owner, JVMPI_THREAD_CONDVAR_WAIT, env, klass, NULL));
    CHECK(has_thread((jlong)(uintptr_t)env, JVMPI_THREAD_RUNNABLE, env, klass, NULL));
    jvmpi->RawMonitorExit(raw);
    jvmpi->RawMonitorExit(raw);
    jvmpi->RawMonitorDestroy(raw);
}
