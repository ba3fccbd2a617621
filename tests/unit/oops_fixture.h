/* SPDX-License-Identifier: BSD-2-Clause */
/* oops_fixture.h: a VM without Java for the check of oops.h: it makes objects in memory of the fixture, and tells a walk of them as HotSpot
 * does, or with one difference. */
#ifndef HPX_OOPS_FIXTURE_H
#define HPX_OOPS_FIXTURE_H

#include "boot_class.h"
#include "cmocka_all.h"
#include "oops.h"
#include <string.h>
#include <sys/mman.h>

#if defined(__has_attribute) && __has_attribute(no_sanitize_address)
#define ON_STACK __attribute__((noinline, no_sanitize_address)) /* AddressSanitizer may keep variables elsewhere */
#else
#define ON_STACK __attribute__((noinline))
#endif

/* ---- the VM ---- */

enum { OBJECT_ARRAY = 1, OBJECT, LONG, BYTE_ARRAY, LONG_ARRAY, CLASS };
#define MOST  64u
#define WORDS 16u

struct object {
    uint64_t *at;
    int klass;
    jint length;
    jobject elements[32];
};

/* How the VM is; a test changes it. */
static struct vm {
    bool indirect;
    uint32_t class_at, class_shift, length_at;
    uintptr_t field; /* id of Long.value */
    /* what differs */
    uint32_t wrong_attempts; /* only in the first ones; 0: in all */
    int element, referrer;   /* this element, or its referrer, stands elsewhere; -1: none */
    int missing;             /* this element is not told; -1: none */
    bool self, value, bytes, longs;
    bool no_value, no_bytes, no_longs;          /* not told */
    int again;                                  /* this element is told a second time, and stands elsewhere; -1: none */
    bool bytes_again;                           /* so are the bytes */
    bool marked;                                /* local references have a bit set */
    int odd_class_word;                         /* this element has a class word of its own; -1: none */
    int no_class_word;                          /* of this element; -1: none */
    int class_word_of;                          /* this element has that of its successor; -1: none */
    int length_of;                              /* this element has a wrong length in memory; -1: none */
    bool lengths_elsewhere, refuses, no_frames; /* no_frames: PushLocalFrame fails */
    bool no_objects;                            /* AllocObject fails */
    uint32_t fails_at;                          /* this call that makes an object gives none; 0: none */
    /* what happened */
    uint32_t attempts, calls, frames, popped, exceptions, told;
    uint32_t forbidden; /* calls while an exception was pending */
    bool pending;
} vm;

static struct object objects[MOST];
static uint64_t handles[MOST];
static uint32_t nobjects;
static char *reserved; /* a hole, memory that nobody may read, and the heap */
static uint64_t *heap;
#define PAGE ((size_t)4096)

static bool is_wrong(void)
{
    return vm.wrong_attempts == 0 || vm.attempts <= vm.wrong_attempts;
}

static struct object *object_of(jobject local)
{
    return &objects[(uint64_t *)(void *)((uintptr_t)local & ~(uintptr_t)7) - handles];
}

static uint64_t address(jobject local)
{
    return *(uint64_t *)(void *)((uintptr_t)local & ~(uintptr_t)7);
}

static void write4(struct object *o, uint32_t at, uint32_t value)
{
    memcpy((char *)o->at + at, &value, sizeof value);
}

/* A new object; NULL and an exception if it is the turn of this call to fail, or if an exception waits. */
static jobject make(int klass, jint length)
{
    vm.forbidden += vm.pending;
    if (++vm.calls == vm.fails_at || vm.pending) { /* as HotSpot, which JNI does not promise */
        vm.pending = true;
        return NULL;
    }
    assert_true(nobjects < MOST);
    struct object *o = &objects[nobjects];
    *o = (struct object){.at = heap + (size_t)nobjects * WORDS, .klass = klass, .length = length};
    memset(o->at, 0, WORDS * sizeof *o->at);
    write4(o, vm.class_at, (0x800u + 0x100u * (uint32_t)klass) << vm.class_shift | (vm.class_shift != 0 ? nobjects & 0x3ff : 0));
    if (length >= 0) {
        write4(o, vm.length_at, (uint32_t)length);
    }
    handles[nobjects] = (uint64_t)(uintptr_t)o->at;
    return (jobject)(void *)((char *)&handles[nobjects++] + vm.marked);
}

static jobject long_class; /* what hpx_boot_class() gave for java.lang.Long */

jclass hpx_boot_class(JNIEnv *env, const char *name)
{
    (void)env;
    assert_string_equal(name, "java/lang/Long");
    long_class = make(CLASS, -1);
    vm.pending = vm.pending && long_class != NULL;
    return long_class;
}

/* Of Number only its address is asked for. */
static jclass JNICALL superclass(JNIEnv *env, jclass klass)
{
    static int number;
    (void)env;
    return klass == long_class ? (jclass)(void *)&number : make(CLASS, -1);
}

static jclass JNICALL class_of_object(JNIEnv *env, jobject object)
{
    (void)env;
    assert_int_equal(object_of(object)->klass, LONG);
    return long_class;
}

static jfieldID JNICALL get_field(JNIEnv *env, jclass klass, const char *name, const char *signature)
{
    (void)env;
    assert_true(klass == long_class && strcmp(name, "value") == 0 && strcmp(signature, "J") == 0);
    return (jfieldID)vm.field; /* NOLINT(performance-no-int-to-ptr) */
}

static jobjectArray JNICALL new_objects(JNIEnv *env, jsize n, jclass klass, jobject first)
{
    (void)env;
    assert_non_null(klass);
    jobject a = make(OBJECT_ARRAY, n);
    for (jsize i = 0; a != NULL && i < n; i++) {
        object_of(a)->elements[i] = first;
    }
    return a;
}

static jbyteArray JNICALL new_bytes(JNIEnv *env, jsize n)
{
    (void)env;
    return make(BYTE_ARRAY, n);
}

static jlongArray JNICALL new_longs(JNIEnv *env, jsize n)
{
    (void)env;
    return make(LONG_ARRAY, n);
}

static jobject JNICALL alloc(JNIEnv *env, jclass klass)
{
    (void)env;
    assert_non_null(klass);
    if (vm.no_objects) {
        vm.pending = true;
        return NULL;
    }
    return make(klass == long_class ? LONG : OBJECT, -1);
}

static void JNICALL set_element(JNIEnv *env, jobjectArray array, jsize i, jobject value)
{
    (void)env;
    assert_true(array != NULL && i < object_of(array)->length);
    object_of(array)->elements[i] = value;
}

static jboolean JNICALL check_exception(JNIEnv *env)
{
    (void)env;
    return vm.pending;
}

static void JNICALL clear_exception(JNIEnv *env)
{
    (void)env;
    vm.exceptions++;
    vm.pending = false;
}

static jint JNICALL push_frame(JNIEnv *env, jint room)
{
    (void)env;
    assert_in_range(room, 21, 1000);
    if (vm.no_frames) {
        vm.pending = true;
        return JNI_ENOMEM;
    }
    vm.frames++;
    vm.attempts++;
    nobjects = 0;
    return 0;
}

static jobject JNICALL pop_frame(JNIEnv *env, jobject result)
{
    (void)env;
    assert_null(result);
    assert_false(vm.pending);
    vm.popped++;
    return NULL;
}

/* ---- its walk ---- */

struct direct {
    const void *map, *table;
    uint64_t object;
    jlong size, tag, class_tag;
    uint64_t to_self;
    const void *referrer_table;
    uint64_t referrer;
    jlong referrer_tag;
};

struct indirect {
    const void *map, *table;
    const uint64_t *object;
    jlong size, tag, class_tag;
    uint64_t to_self;
    const uint64_t *referrer;
    const void *referrer_table;
    jlong referrer_tag;
};

/* What a callback is told. referrer 0: a value; i: element. */
struct telling {
    const jvmtiHeapCallbacks *all;
    void *user;
    uint64_t object, referrer;
    bool self;
    jvmtiHeapReferenceKind kind;
    jint index, length;
    jvmtiPrimitiveType type;
};

static jint call(const struct telling *t, jlong *tag, jlong *referrer_tag)
{
    jvmtiHeapReferenceInfo info = {.array = {.index = t->index}};
    jvalue value = {.j = (jlong)1 << 40};
    vm.told++;
    if (t->referrer != 0) {
        return t->all->heap_reference_callback(t->kind, &info, 0, 0, 16, tag, t->self ? tag : referrer_tag, t->length, t->user);
    }
    if (t->length < 0) {
        return t->all->primitive_field_callback(JVMTI_HEAP_REFERENCE_FIELD, &info, 0, tag, value, t->type, t->user);
    }
    return t->all->array_primitive_value_callback(0, 16, tag, t->length, t->type, heap, t->user);
}

static ON_STACK jint tell(const struct telling *t)
{
    if (vm.indirect) {
        uint64_t variables[2] = {t->object, t->referrer};
        struct indirect d = {.map = &d,
                             .table = &d,
                             .object = &variables[0],
                             .to_self = t->self,
                             .referrer = &variables[1],
                             .referrer_table = t->self ? NULL : &d};
        return call(t, &d.tag, &d.referrer_tag);
    }
    struct direct d = {.map = &d,
                       .table = &d,
                       .object = t->object,
                       .to_self = t->self,
                       .referrer_table = t->self ? NULL : &d,
                       .referrer = t->self ? 0 : t->referrer};
    return call(t, &d.tag, &d.referrer_tag);
}

static void tell_value(struct telling t, jobject of, int klass)
{
    const struct object *o = object_of(of);
    bool silent = klass == LONG ? vm.no_value : klass == BYTE_ARRAY ? vm.no_bytes : vm.no_longs;
    bool wrong = is_wrong() && (klass == LONG ? vm.value : klass == BYTE_ARRAY ? vm.bytes : vm.longs);
    t.referrer = 0;
    t.self = false;
    t.object = address(of) + (wrong ? WORDS * sizeof(uint64_t) : 0);
    t.length = o->length;
    t.type = klass == BYTE_ARRAY ? JVMTI_PRIMITIVE_TYPE_BYTE : JVMTI_PRIMITIVE_TYPE_LONG;
    if (!silent) {
        (void)tell(&t);
    }
    if (klass == BYTE_ARRAY && vm.bytes_again && is_wrong()) {
        t.object += WORDS * sizeof(uint64_t);
        (void)tell(&t);
    }
}

/* Every object refers to its class first. */
static void tell_class(struct telling t, jobject of)
{
    t.kind = JVMTI_HEAP_REFERENCE_CLASS;
    t.object = handles[0];
    t.referrer = address(of);
    t.self = false;
    t.length = -1;
    (void)tell(&t);
}

static void damage(jobject array)
{
    struct object *o = object_of(array);
    if (!is_wrong()) {
        return;
    }
    if (vm.no_class_word >= 0) {
        write4(object_of(o->elements[vm.no_class_word]), vm.class_at, 0);
    }
    if (vm.class_word_of >= 0) {
        uint32_t word;
        memcpy(&word, (char *)object_of(o->elements[vm.class_word_of + 1])->at + vm.class_at, sizeof word);
        write4(object_of(o->elements[vm.class_word_of]), vm.class_at, word);
    }
    if (vm.odd_class_word >= 0) {
        write4(object_of(o->elements[vm.odd_class_word]), vm.class_at, 0x7700u << vm.class_shift);
    }
    if (vm.length_of >= 0) {
        write4(object_of(o->elements[vm.length_of]), vm.length_at, 12345);
    }
}

static void tell_element(struct telling t, jobject array, jint i)
{
    jobject element = object_of(array)->elements[i];
    t.index = i;
    t.length = object_of(element)->length;
    t.object = address(element) + (is_wrong() && i == vm.element ? WORDS * sizeof(uint64_t) : 0);
    t.referrer = address(array) + (is_wrong() && i == vm.referrer ? WORDS * sizeof(uint64_t) : 0);
    t.self = element == array && !(is_wrong() && vm.self);
    if (element == array && !t.self) {
        t.referrer += WORDS * sizeof(uint64_t); /* it has a tag for itself, and something else beside it */
    }
    if (tell(&t) != JVMTI_VISIT_OBJECTS || t.self) {
        return;
    }
    int klass = object_of(element)->klass;
    assert_true(klass == LONG || klass == BYTE_ARRAY || klass == LONG_ARRAY);
    tell_class(t, element);
    tell_value(t, element, klass);
}

static jvmtiError JNICALL follow(jvmtiEnv *env, jint filter, jclass klass, jobject outer, const jvmtiHeapCallbacks *all, const void *user)
{
    struct telling t = {.all = all, .user = (void *)(uintptr_t)user, .kind = JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT};
    (void)env;
    assert_true(filter == 0 && klass == NULL && outer != NULL && !vm.pending);
    if (vm.refuses && is_wrong()) {
        return JVMTI_ERROR_OUT_OF_MEMORY;
    }
    jobject array = object_of(outer)->elements[0];
    damage(array);
    tell_class(t, outer);
    t.object = address(array);
    t.referrer = address(outer);
    t.length = object_of(array)->length;
    if (tell(&t) == JVMTI_VISIT_OBJECTS) {
        tell_class(t, array);
        t.kind = JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT;
        for (jint i = 0; i < object_of(array)->length; i++) {
            if (!(is_wrong() && i == vm.missing)) {
                tell_element(t, array, i);
            }
            if (is_wrong() && i == vm.again) {
                int right = vm.element;
                vm.element = i;
                tell_element(t, array, i);
                vm.element = right;
            }
        }
    }
    return JVMTI_ERROR_NONE;
}

static const char *check(struct hpx_oops *o)
{
    static const struct JNINativeInterface_ jni = {.GetSuperclass = superclass,
                                                   .NewObjectArray = new_objects,
                                                   .NewByteArray = new_bytes,
                                                   .NewLongArray = new_longs,
                                                   .AllocObject = alloc,
                                                   .GetObjectClass = class_of_object,
                                                   .GetFieldID = get_field,
                                                   .SetObjectArrayElement = set_element,
                                                   .ExceptionCheck = check_exception,
                                                   .ExceptionClear = clear_exception,
                                                   .PushLocalFrame = push_frame,
                                                   .PopLocalFrame = pop_frame};
    static const struct jvmtiInterface_1_ tool = {.FollowReferences = follow};
    JNIEnv env = &jni;
    jvmtiEnv jvmti = &tool;
    const char *doubt = hpx_oops_check(o, &jvmti, &env);
    assert_int_equal(vm.frames, vm.popped);
    assert_false(vm.pending);
    return doubt;
}

static int setup(void **state)
{
    (void)state;
    reserved = mmap(NULL, 4 * PAGE + MOST * WORDS * sizeof *heap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (reserved == MAP_FAILED || munmap(reserved, PAGE) != 0 || mprotect(reserved + PAGE, PAGE, PROT_NONE) != 0) {
        return -1;
    }
    heap = (uint64_t *)(void *)(reserved + 2 * PAGE);
    return 0;
}

#endif
