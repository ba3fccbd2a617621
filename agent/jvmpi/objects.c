/* SPDX-License-Identifier: BSD-2-Clause */
/* objects.c: objects that are allocated and freed.
 *
 * SampledObjectAlloc of every object on JDK 17 and later. JDK 11 to 16 miss some of them (docs/sites.md), so probes (probes.h) report those
 * too; on JDK 8, or if another agent has the event, probes and VMObjectAlloc are all. Where two may report an object, a tag in the
 * environment of the probes says that it was sent; the tags of ids are in the other one.
 */
#include "boot_class.h"
#include "class_events.h"
#include "frees.h"
#include "nested.h"
#include "probes.h"
#include <string.h>

/* From JVMTI 11, by number: headers of older JDKs do not have the names. */
#define EVENT_SAMPLED_OBJECT_ALLOC     86
#define CAPABILITY_SAMPLED             43  /* bit of can_generate_sampled_object_alloc_events */
#define FUNCTION_SET_SAMPLING_INTERVAL 156 /* SetHeapSamplingInterval */

#define SENT             1
#define MOST_DIMENSIONS  255u
#define CLASSES_OF_OWN   64u /* remembered by a thread; a power of two */
#define CALLBACK_SAMPLED (EVENT_SAMPLED_OBJECT_ALLOC - JVMTI_MIN_EVENT_TYPE_VAL)

static struct {
    bool sampled, probes; /* who reports; constant from load on */
    jclass object_arrays; /* Object[]; global references and ids: constant from live() on */
    jfieldID component;   /* of java.lang.Class; NULL: JDK 8, which has the method alone */
    jmethodID get_component;
} vm;

static bool is_live(void)
{
    return atomic_load_explicit(&hpx_jvmpi.phase, memory_order_relaxed) == HPX_JVMPI_LIVE;
}

/* ---- the class ---- */

/* What the event says of objects of a class. */
struct kind {
    jobjectID klass; /* the class itself; NULL: none */
    jobjectID told;  /* class_id */
    jint is_array;
};

jint hpx_jvmpi_type_of(char letter)
{
    static const char letters[] = "ZCFDBSIJ"; /* from JVMPI_BOOLEAN on, which the header has in this order */
    const char *at = strchr(letters, letter);
    return at != NULL && letter != '\0' ? JVMPI_BOOLEAN + (jint)(at - letters) : JVMPI_CLASS;
}

static_assert(JVMPI_LONG - JVMPI_BOOLEAN == 7 && JVMPI_BYTE - JVMPI_BOOLEAN == 4, "order of the letters");

/* Calls no Java code but on JDK 8, where the method is native. NULL: an exception is pending, or the VM has no answer. */
jobjectID hpx_jvmpi_element_id(JNIEnv *env, jclass klass)
{
    jobject element = NULL;
    if ((*env)->ExceptionCheck(env)) {
        return NULL;
    }
    if (vm.component != NULL) {
        element = (*env)->GetObjectField(env, klass, vm.component);
    } else if (vm.get_component != NULL) {
        hpx_jvmpi_own_begin();
        element = (*env)->CallObjectMethod(env, klass, vm.get_component);
        hpx_jvmpi_own_end();
        (*env)->ExceptionClear(env);
    }
    jobjectID id = hpx_jvmpi_id_of(element);
    (*env)->DeleteLocalRef(env, element);
    return id;
}

static struct kind ask(JNIEnv *env, jclass klass, jobjectID id)
{
    struct kind k = {.klass = id, .told = id, .is_array = JVMPI_NORMAL_OBJECT};
    char *signature = NULL;
    if ((*hpx_jvmpi.jvmti)->GetClassSignature(hpx_jvmpi.jvmti, klass, &signature, NULL) != JVMTI_ERROR_NONE) {
        return k;
    }
    if (signature[0] == '[') {
        k.is_array = hpx_jvmpi_type_of(signature[1]);
        k.told = k.is_array == JVMPI_CLASS ? hpx_jvmpi_element_id(env, klass) : NULL;
    }
    hpx_jvmpi_give_back(signature);
    return k;
}

static struct kind kind_of(JNIEnv *env, jclass klass)
{
    static __thread struct kind known[CLASSES_OF_OWN];
    jobjectID id = hpx_jvmpi_id_of(klass);
    struct kind *k = &known[(uint64_t)hpx_jvmpi_tag(id) % CLASSES_OF_OWN];
    if (id == NULL) {
        return (struct kind){.klass = NULL};
    }
    if (k->klass != id) {
        struct kind fresh = ask(env, klass, id);
        if (fresh.is_array == JVMPI_CLASS && fresh.told == NULL) {
            return fresh; /* the next one asks again */
        }
        *k = fresh;
    }
    return *k;
}

/* ---- an allocation ---- */

static void send(JNIEnv *env, jobjectID id, jclass klass, jlong size, jint event_type)
{
    struct kind k = kind_of(env, klass);
    JVMPI_Event event = {
        .event_type = event_type,
        .u.obj_alloc = {
            .arena_id = 1, .class_id = k.told, .is_array = k.is_array, .size = size < INT32_MAX ? (jint)size : INT32_MAX, .obj_id = id}};
    hpx_jvmpi_nested_notify(env, &event);
}

/* Whether the object is sent now. Where probes report objects too, the first to come sends it. */
static bool claim(jobject object)
{
    jvmtiEnv *marks = hpx_jvmpi_probes_env();
    jlong tag = 0;
    return !vm.probes || ((*marks)->GetTag(marks, object, &tag) == JVMTI_ERROR_NONE && tag == 0 &&
                          (*marks)->SetTag(marks, object, SENT) == JVMTI_ERROR_NONE);
}

static void JNICALL on_alloc(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jclass klass, jlong size)
{
    (void)jvmti, (void)thread;
    if (hpx_jvmpi_nested_may(JVMPI_EVENT_OBJECT_ALLOC) && claim(object)) {
        send(env, hpx_jvmpi_id_of_new(object), klass, size, JVMPI_EVENT_OBJECT_ALLOC);
    }
}

static bool send_known(JNIEnv *env, jobject object, jobjectID id, jint event_type)
{
    jlong size = 0;
    jclass klass = (*env)->GetObjectClass(env, object);
    bool good = klass != NULL && (*hpx_jvmpi.jvmti)->GetObjectSize(hpx_jvmpi.jvmti, object, &size) == JVMTI_ERROR_NONE;
    if (good) {
        send(env, id, klass, size, event_type);
    }
    (*env)->DeleteLocalRef(env, klass);
    return good;
}

static void probed(JNIEnv *env, jobject object)
{
    if (claim(object)) {
        (void)send_known(env, object, hpx_jvmpi_id_of(object), JVMPI_EVENT_OBJECT_ALLOC);
    }
}

void hpx_jvmpi_objects_announce(JNIEnv *env, jobject object)
{
    if (vm.probes && hpx_jvmpi_nested_may(JVMPI_EVENT_OBJECT_ALLOC)) {
        probed(env, object);
    }
}

/* A new array of arrays holds new arrays or none, so the first NULL ends the loop. level: from 1. */
static void probed_arrays(JNIEnv *env, jobject array, unsigned level)
{
    probed(env, array);
    if (level == MOST_DIMENSIONS || vm.object_arrays == NULL || !(*env)->IsInstanceOf(env, array, vm.object_arrays)) {
        return;
    }
    jsize n = (*env)->GetArrayLength(env, array);
    for (jsize i = 0; i < n; i++) {
        jobject one = (*env)->GetObjectArrayElement(env, array, i);
        if (one == NULL) {
            return;
        }
        probed_arrays(env, one, level + 1);
        (*env)->DeleteLocalRef(env, one);
    }
}

void JNICALL hpx_jvmpi_on_object(JNIEnv *env, jclass tracker, jobject object)
{
    (void)tracker;
    if (object != NULL && hpx_jvmpi_nested_may(JVMPI_EVENT_OBJECT_ALLOC)) {
        probed(env, object);
    }
}

void JNICALL hpx_jvmpi_on_multi(JNIEnv *env, jclass tracker, jobject array, jint unused)
{
    (void)tracker, (void)unused;
    if (array != NULL && hpx_jvmpi_nested_may(JVMPI_EVENT_OBJECT_ALLOC)) {
        probed_arrays(env, array, 1);
    }
}

/* ---- freed ---- */

void hpx_jvmpi_objects_freed(jobjectID id)
{
    if (hpx_jvmpi_on(JVMPI_EVENT_OBJECT_FREE)) {
        JVMPI_Event event = {.event_type = JVMPI_EVENT_OBJECT_FREE, .env_id = hpx_jvmpi_env(), .u.obj_free.obj_id = id};
        hpx_jvmpi_notify(&event);
    }
}

static void JNICALL on_free(jvmtiEnv *jvmti, jlong tag)
{
    (void)jvmti;
    hpx_jvmpi_class_events_freed(hpx_jvmpi_id(tag));
    hpx_jvmpi_objects_freed(hpx_jvmpi_id(tag));
}

/* ---- the module ---- */

static void callbacks(jvmtiEventCallbacks *set)
{
    set->ObjectFree = on_free;
    set->VMObjectAlloc = on_alloc;
    if (sizeof *set > CALLBACK_SAMPLED * sizeof(void *)) { /* else the header is older than the event, and probes do it */
        jvmtiEventVMObjectAlloc same = on_alloc;           /* of the same type */
        memcpy((char *)set + CALLBACK_SAMPLED * sizeof(void *), &same, sizeof same);
    }
}

bool hpx_jvmpi_objects_by_probes(void)
{
    return vm.probes && hpx_jvmpi_on(JVMPI_EVENT_OBJECT_ALLOC);
}

/* Every object. Before the first TLAB, whether the event will be enabled or not: a thread keeps the interval that it began with. */
static void set_interval(void)
{
    typedef jvmtiError(JNICALL * set)(jvmtiEnv *, jint);
    set fn;
    memcpy(&fn, (const char *)*hpx_jvmpi.jvmti + (FUNCTION_SET_SAMPLING_INTERVAL - 1) * sizeof(void *), sizeof fn);
    (void)fn(hpx_jvmpi.jvmti, 0);
}

/* Chooses who reports. Another agent may have the event already, and then the VM does not give it to us. */
static void capabilities(jvmtiCapabilities *wanted)
{
    jvmtiCapabilities event;
    memset(&event, 0, sizeof event);
    ((unsigned char *)&event)[CAPABILITY_SAMPLED / 8] = (unsigned char)(1u << CAPABILITY_SAMPLED % 8);
    vm.sampled = sizeof(jvmtiEventCallbacks) > CALLBACK_SAMPLED * sizeof(void *) && hpx_jvmpi_need(&event);
    vm.probes = !vm.sampled || hpx_jvmpi.jdk < 17;
    if (vm.sampled) {
        set_interval();
    }
    wanted->can_generate_object_free_events = !hpx_jvmpi_frees_by_looks();
    wanted->can_generate_vm_object_alloc_events = 1;
    hpx_jvmpi_probes_load();
}

static bool listen_allocations(bool on)
{
    if (vm.sampled) {
        return hpx_jvmpi_listen((jvmtiEvent)EVENT_SAMPLED_OBJECT_ALLOC, on);
    }
    return hpx_jvmpi_listen(JVMTI_EVENT_VM_OBJECT_ALLOC, on);
}

/* A collection retires the TLABs of all threads: JDK 17 reports no allocation in one from before the event was on. */
static bool begin(JNIEnv *env)
{
    bool good = listen_allocations(true) && (!vm.probes || (hpx_jvmpi_probes_env() != NULL && hpx_jvmpi_probes_update(env)));
    if (good && vm.sampled) {
        (void)(*hpx_jvmpi.jvmti)->ForceGarbageCollection(hpx_jvmpi.jvmti);
    }
    return good;
}

static jint switch_alloc(bool on)
{
    JNIEnv *env = hpx_jvmpi_env();
    if (!is_live()) {
        return JVMPI_SUCCESS; /* see live() */
    }
    return (on ? env != NULL && begin(env) : listen_allocations(false)) ? JVMPI_SUCCESS : JVMPI_FAIL;
}

/* OBJECT_FREE stays: the flag holds it back. */
static jint switched(jint event, bool on, void *arg)
{
    (void)arg;
    if (event == JVMPI_EVENT_OBJECT_ALLOC) {
        return switch_alloc(on);
    }
    return !on || hpx_jvmpi_frees_begin() ? JVMPI_SUCCESS : JVMPI_FAIL;
}

static jint requested(jint event, void *arg)
{
    JNIEnv *env = hpx_jvmpi_env();
    if (event != JVMPI_EVENT_OBJECT_ALLOC) {
        return JVMPI_NOT_AVAILABLE;
    }
    jobject object = env != NULL && arg != NULL ? hpx_jvmpi_object_of(arg) : NULL;
    bool sent = object != NULL && send_known(env, object, arg, JVMPI_EVENT_OBJECT_ALLOC | JVMPI_REQUESTED_EVENT);
    if (env != NULL) {
        (*env)->DeleteLocalRef(env, object);
    }
    return sent ? JVMPI_SUCCESS : JVMPI_FAIL;
}

static void live(JNIEnv *env, jthread thread)
{
    (void)thread;
    hpx_jvmpi_own_begin();
    jclass arrays = hpx_boot_class(env, "[Ljava/lang/Object;"), classes = hpx_boot_class(env, "java/lang/Class");
    vm.object_arrays = arrays != NULL ? (*env)->NewGlobalRef(env, arrays) : NULL;
    vm.component = classes != NULL && hpx_jvmpi.jdk >= 9 ? (*env)->GetFieldID(env, classes, "componentType", "Ljava/lang/Class;") : NULL;
    (*env)->ExceptionClear(env);
    if (vm.component == NULL && classes != NULL) {
        vm.get_component = (*env)->GetMethodID(env, classes, "getComponentType", "()Ljava/lang/Class;");
        (*env)->ExceptionClear(env);
    }
    (*env)->DeleteLocalRef(env, arrays);
    (*env)->DeleteLocalRef(env, classes);
    hpx_jvmpi_own_end();
    if (hpx_jvmpi_on(JVMPI_EVENT_OBJECT_ALLOC)) {
        (void)begin(env);
    }
}

const struct hpx_jvmpi_source hpx_jvmpi_objects = {
    .events = (const jint[]){JVMPI_EVENT_OBJECT_ALLOC, JVMPI_EVENT_OBJECT_FREE, 0},
    .switched = switched,
    .requested = requested,
    .callbacks = callbacks,
    .capabilities = capabilities,
    .live = live,
};
