/* SPDX-License-Identifier: BSD-2-Clause */
/* walk_fixture_vm.c: what the VM of walk_fixture.h tells, and how: CallbackWrapper and TwoOopCallbackWrapper of HotSpot's jvmtiTagMap.cpp.
 */
#include "walk_fixture.h"
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__has_attribute) && __has_attribute(no_sanitize_address)
#define ON_STACK __attribute__((noinline, no_sanitize_address)) /* AddressSanitizer may keep variables elsewhere */
#else
#define ON_STACK __attribute__((noinline))
#endif

/* JDK 8 to 27. */
struct direct {
    const void *map, *table;
    uint64_t object;
    jlong size, tag, class_tag;
    uint64_t to_self;
    const void *referrer_table;
    uint64_t referrer;
    jlong referrer_tag, referrer_class_tag;
    jlong *referrer_tag_p;
};

/* JDK 28. */
struct indirect {
    const void *map, *table;
    uint64_t object; /* address of a variable */
    jlong size, tag, class_tag;
    uint64_t to_self;
    uint64_t referrer; /* the same */
    const void *referrer_table;
    jlong referrer_tag, referrer_class_tag;
    jlong *referrer_tag_p;
};

_Static_assert(offsetof(struct direct, tag) - offsetof(struct direct, object) == 16, "two words before");
_Static_assert(offsetof(struct direct, referrer_tag) - offsetof(struct direct, referrer) == 8, "one word before");
_Static_assert(offsetof(struct indirect, tag) - offsetof(struct indirect, object) == 16, "two words before");
_Static_assert(offsetof(struct indirect, referrer_tag) - offsetof(struct indirect, referrer) == 16, "two words before");

/* ---- events ---- */

static struct fx_event *add(int what, jvmtiHeapReferenceKind kind, int from, int to)
{
    assert_true(fx.nevents < FX_EVENTS);
    struct fx_event *e = &fx.events[fx.nevents++];
    memset(e, 0, sizeof *e);
    e->what = what;
    e->kind = kind;
    e->from = from;
    e->to = to;
    e->length = fx.objects[to].length;
    e->to_address = fx_address(to);
    e->from_address = from >= 0 ? fx_address(from) : 0;
    return e;
}

struct fx_event *fx_root(jvmtiHeapReferenceKind kind, int to)
{
    return add(FX_REFERENCE, kind, -1, to);
}

struct fx_event *fx_frame(jvmtiHeapReferenceKind kind, int to, jlong tid, uint64_t method, jint depth)
{
    struct fx_event *e = fx_root(kind, to);
    if (kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL) {
        e->info.stack_local = (jvmtiHeapReferenceInfoStackLocal){.thread_id = tid, .depth = depth, .method = (jmethodID)(uintptr_t)method};
    } else {
        e->info.jni_local = (jvmtiHeapReferenceInfoJniLocal){.thread_id = tid, .depth = depth, .method = (jmethodID)(uintptr_t)method};
    }
    return e;
}

struct fx_event *fx_class_of(int object)
{
    return add(FX_REFERENCE, JVMTI_HEAP_REFERENCE_CLASS, object, fx.objects[object].klass);
}

struct fx_event *fx_ref(jvmtiHeapReferenceKind kind, int from, int to, jint index)
{
    struct fx_event *e = add(FX_REFERENCE, kind, from, to);
    if (kind == JVMTI_HEAP_REFERENCE_CONSTANT_POOL) {
        e->info.constant_pool.index = index;
    } else if (kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT) {
        e->info.array.index = index;
    } else {
        e->info.field.index = index;
    }
    return e;
}

struct fx_event *fx_field(int from, int to, jint index)
{
    return fx_ref(JVMTI_HEAP_REFERENCE_FIELD, from, to, index);
}

struct fx_event *fx_element(int from, int to, jint index)
{
    return fx_ref(JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT, from, to, index);
}

static jvalue value_of(jvmtiPrimitiveType type, uint64_t bits)
{
    jvalue v = {.j = 0x5a5a5a5a5a5a5a5a}; /* what a VM leaves beside a short value */
    switch (type) {
    case JVMTI_PRIMITIVE_TYPE_BOOLEAN:
        v.z = (jboolean)bits;
        break;
    case JVMTI_PRIMITIVE_TYPE_BYTE:
        v.b = (jbyte)bits;
        break;
    case JVMTI_PRIMITIVE_TYPE_CHAR:
        v.c = (jchar)bits;
        break;
    case JVMTI_PRIMITIVE_TYPE_SHORT:
        v.s = (jshort)bits;
        break;
    case JVMTI_PRIMITIVE_TYPE_INT:
    case JVMTI_PRIMITIVE_TYPE_FLOAT:
        v.i = (jint)bits;
        break;
    default:
        v.j = (jlong)bits;
        break;
    }
    return v;
}

struct fx_event *fx_value(int of, jint index, jvmtiPrimitiveType type, uint64_t bits)
{
    struct fx_event *e = add(FX_VALUE, JVMTI_HEAP_REFERENCE_FIELD, -1, of);
    e->info.field.index = index;
    e->type = type;
    e->value = value_of(type, bits);
    return e;
}

struct fx_event *fx_static(int of, jint index, jvmtiPrimitiveType type, uint64_t bits)
{
    struct fx_event *e = fx_value(of, index, type, bits);
    e->kind = JVMTI_HEAP_REFERENCE_STATIC_FIELD;
    return e;
}

struct fx_event *fx_elements(int of, jvmtiPrimitiveType type, const void *elements)
{
    struct fx_event *e = add(FX_ELEMENTS, 0, -1, of);
    e->type = type;
    e->elements = elements;
    return e;
}

/* ---- callbacks ---- */

static jlong class_tag_of(int object)
{
    return object >= 0 ? fx.objects[fx.objects[object].klass].tag : 0;
}

static jint call(const jvmtiHeapCallbacks *all, void *user, const struct fx_event *e, jlong class_tag, jlong *tag, jlong *referrer_tag)
{
    switch (e->what) {
    case FX_REFERENCE:
        return all->heap_reference_callback(e->kind, e->kind == JVMTI_HEAP_REFERENCE_CLASS ? NULL : &e->info, class_tag,
                                            class_tag_of(e->from), fx.objects[e->to].size, tag, referrer_tag, e->length, user);
    case FX_VALUE:
        return all->primitive_field_callback != NULL
                   ? all->primitive_field_callback(e->kind, &e->info, class_tag, tag, e->value, e->type, user)
                   : JVMTI_VISIT_OBJECTS;
    default:
        return all->array_primitive_value_callback(class_tag, fx.objects[e->to].size, tag, e->length, e->type, e->elements, user);
    }
}

static ON_STACK jint tell_direct(const jvmtiHeapCallbacks *all, void *user, const struct fx_event *e)
{
    struct fx_object *to = &fx.objects[e->to], *from = e->from >= 0 ? &fx.objects[e->from] : NULL;
    bool self = e->from == e->to;
    struct direct d = {.map = &d,
                       .table = &d,
                       .object = e->to_address,
                       .size = to->size,
                       .tag = to->tag,
                       .class_tag = class_tag_of(e->to),
                       .to_self = self,
                       .referrer_table = self ? NULL : &d,
                       .referrer = self ? 0 : e->from_address,
                       .referrer_tag = self || from == NULL ? 0 : from->tag,
                       .referrer_class_tag = class_tag_of(e->from)};
    d.referrer_tag_p = from == NULL ? NULL : self ? &d.tag : &d.referrer_tag;
    jint rc = call(all, user, e, d.class_tag, &d.tag, d.referrer_tag_p);
    to->tag = d.tag;
    if (from != NULL && !self) {
        from->tag = d.referrer_tag;
    }
    return rc;
}

static ON_STACK jint tell_indirect(const jvmtiHeapCallbacks *all, void *user, const struct fx_event *e)
{
    struct fx_object *to = &fx.objects[e->to], *from = e->from >= 0 ? &fx.objects[e->from] : NULL;
    bool self = e->from == e->to;
    uint64_t variables[2] = {e->to_address, e->from_address};
    struct indirect d = {.map = &d,
                         .table = &d,
                         .object = e->to_variable != 0 ? e->to_variable : (uintptr_t)&variables[0],
                         .size = to->size,
                         .tag = to->tag,
                         .class_tag = class_tag_of(e->to),
                         .to_self = self,
                         .referrer = e->from_variable != 0 ? e->from_variable : (uintptr_t)&variables[1],
                         .referrer_table = self ? NULL : &d,
                         .referrer_tag = self || from == NULL ? 0 : from->tag,
                         .referrer_class_tag = class_tag_of(e->from)};
    d.referrer_tag_p = from == NULL ? NULL : self ? &d.tag : &d.referrer_tag;
    jint rc = call(all, user, e, d.class_tag, &d.tag, d.referrer_tag_p);
    to->tag = d.tag;
    if (from != NULL && !self) {
        from->tag = d.referrer_tag;
    }
    return rc;
}

/* Objects without a tag are numbered as they are told of, the referrer first. */
static void number_objects(const struct fx_event *e, uint64_t *last)
{
    int two[] = {e->from, e->to};
    for (int i = 0; i < 2; i++) {
        struct fx_object *o = two[i] >= 0 ? &fx.objects[two[i]] : NULL;
        if (o != NULL && o->tag == 0 && o->ordinal == 0) {
            o->ordinal = ++*last;
        }
    }
}

static jvmtiError JNICALL follow(jvmtiEnv *env, jint filter, jclass klass, jobject first, const jvmtiHeapCallbacks *all, const void *user)
{
    uint64_t last = 0;
    (void)env;
    assert_true(filter == 0 && klass == NULL && first == NULL);
    for (uint32_t i = 0; i < fx.nevents && fx.aborted == 0 && fx.rc == JVMTI_ERROR_NONE; i++) {
        const struct fx_event *e = &fx.events[i];
        number_objects(e, &last);
        jint rc = fx.mode == FX_INDIRECT ? tell_indirect(all, (void *)(uintptr_t)user, e) : tell_direct(all, (void *)(uintptr_t)user, e);
        fx.told++;
        fx.aborted += (rc & JVMTI_VISIT_ABORT) != 0;
        assert_true((rc & JVMTI_VISIT_ABORT) || (rc & JVMTI_VISIT_OBJECTS) || e->what != FX_REFERENCE ||
                    e->kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL);
        if (fx.watch != NULL) {
            fx.watch(fx.told);
        }
    }
    return fx.rc;
}

void fx_follow(void)
{
    static const struct jvmtiInterface_1_ functions = {.FollowReferences = follow};
    jvmtiEnv env = &functions;
    hpx_walk_follow(&env, &fx.walk);
}

enum hpx_walk_end fx_walk(void)
{
    struct stat st;
    fx_follow();
    hpx_walk_finish(&fx.walk);
    if (fstat(fx.fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        fx.spool_len = (size_t)st.st_size;
        fx.spool = mmap(NULL, fx.spool_len, PROT_READ, MAP_PRIVATE, fx.fd, 0);
        assert_true(fx.spool != MAP_FAILED);
    }
    return fx.walk.end;
}
