/* SPDX-License-Identifier: BSD-2-Clause */
/* walk.c: the callbacks of walk.h. */
#include "walk.h"
#include <string.h>
#include <sys/mman.h>

#define STEP 4096u /* objects between two reports of progress */

/* ---- lists ---- */

static void *push(struct hpx_walk *w, struct hpx_walk_list *l, size_t size)
{
    if (l->len == l->room) {
        uint64_t room = l->room != 0 ? 2 * l->room : 8192;
        void *p = mmap(NULL, room * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) {
            w->failed = "no memory for the walk";
            return NULL;
        }
        if (l->at != NULL) {
            memcpy(p, l->at, l->len * size);
            munmap(l->at, l->room * size);
        }
        l->at = p;
        l->room = room;
    }
    return (char *)l->at + l->len++ * size;
}

static void list_fini(struct hpx_walk_list *l, size_t size)
{
    if (l->at != NULL) {
        munmap(l->at, l->room * size);
    }
    *l = (struct hpx_walk_list){.at = NULL};
}

/* ---- objects and classes ---- */

/* NULL: not a class of the dump. */
static const struct hpx_heap_klass *class_of(const struct hpx_walk *w, jlong class_tag)
{
    uint32_t number = hpx_site_class_of((uint64_t)class_tag);
    return number < w->nclasses ? w->classes[number] : NULL;
}

static uint64_t id_of(const struct hpx_walk *w, uint64_t tag)
{
    uint64_t ordinal = hpx_walk_ordinal(tag);
    if (tag & HPX_SITE_CLASS_TAG) {
        return HPX_CLASS_OBJECT_FIRST + (uint64_t)hpx_site_class_of(tag);
    }
    return ordinal < w->nthreads ? w->thread_ids[ordinal] : HPX_HEAP_OBJECT_FIRST + ordinal;
}

static bool is_class(const struct hpx_walk *w, uint64_t tag)
{
    return (tag & HPX_SITE_CLASS_TAG) && class_of(w, (jlong)tag) != NULL;
}

static void note_size(struct hpx_walk *w, const struct hpx_heap_klass *klass, jlong size)
{
    if (klass != NULL && klass->kind == HPX_HEAP_INSTANCES && w->vm_size[klass->number] == 0) {
        w->vm_size[klass->number] = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    }
}

/* Its class was loaded during the dump: it is shown as an instance of java.lang.Object. */
static bool is_unknown(const struct hpx_heap_klass *klass)
{
    return klass == NULL || (klass->kind == HPX_HEAP_INSTANCES && !klass->linked);
}

/* An object that was not met before. */
static void discover(struct hpx_walk *w, jlong *tag, jlong class_tag, jlong size, jint length)
{
    const struct hpx_heap_klass *klass = class_of(w, class_tag);
    uint64_t old = hpx_walk_plain(w->tags, (uint64_t)*tag); /* of a class that has a number, but is not in this dump */
    uint64_t ordinal = hpx_walk_new(w->tags, old);
    if (ordinal == UINT64_MAX || (w->spool.id_size == 4 && HPX_HEAP_OBJECT_FIRST + ordinal > UINT32_MAX)) {
        w->failed = ordinal == UINT64_MAX ? "no memory for the tags of the walk" : "too many objects for idsize=4; use idsize=8";
        return;
    }
    if (length >= 0) {
        hpx_walk_page_of(w->tags, ordinal)->length[HPX_WALK_SLOT(ordinal)] = (uint32_t)length;
    }
    if (klass != NULL && klass->number == w->class_class) {
        uint64_t *mirror = push(w, &w->mirrors, sizeof *mirror);
        if (mirror != NULL) {
            *mirror = ordinal;
        }
    }
    note_size(w, klass, size);
    /* instances of one class have one size but for class objects, which hold the static fields, and stacks of virtual threads; files have
     * one */
    if (!is_unknown(klass)) {
        w->bytes += klass->kind == HPX_HEAP_INSTANCES ? w->vm_size[klass->number] : (uint64_t)size;
    }
    *tag = (jlong)(HPX_WALK_TAG | ordinal);
}

/* The id of an object that a root or reference names. */
static uint64_t meet(struct hpx_walk *w, jlong *tag, jlong class_tag, jlong size, jint length)
{
    if (is_class(w, (uint64_t)*tag)) {
        return id_of(w, (uint64_t)*tag);
    }
    if (!hpx_walk_is((uint64_t)*tag)) {
        discover(w, tag, class_tag, size, length);
    } else if (hpx_walk_ordinal((uint64_t)*tag) < w->nthreads) {
        note_size(w, class_of(w, class_tag), size);
    }
    return id_of(w, (uint64_t)*tag);
}

static uint32_t site_of(const struct hpx_walk *w, uint64_t tag)
{
    uint64_t old = hpx_walk_plain(w->tags, tag);
    return old & HPX_SITE_CLASS_TAG ? HPX_SITE_NONE : (uint32_t)(old >> HPX_SITE_UNITS_BITS);
}

/* ---- records ---- */

static void close_object(struct hpx_walk *w)
{
    if (w->current != 0 && w->klass != NULL && w->klass->kind == HPX_HEAP_OBJECTS) {
        hpx_heap_spool_objects_end(&w->spool);
    } else if (w->current != 0 && w->klass != NULL && w->klass->kind == HPX_HEAP_PRIMITIVES) { /* the VM told no contents */
        (void)hpx_heap_spool_primitives(&w->spool, id_of(w, w->current), site_of(w, w->current), w->klass->type, 0, NULL);
    }
    w->current = 0;
    w->values = NULL;
}

static void count_object(struct hpx_walk *w)
{
    w->objects++;
    if (w->progress != NULL && w->objects % STEP == 0) {
        atomic_store_explicit(w->progress, w->objects, memory_order_relaxed);
    }
}

static uint64_t class_id(uint32_t number)
{
    return HPX_CLASS_OBJECT_FIRST + (uint64_t)number;
}

/* The callbacks of another object begin. */
static void open_object(struct hpx_walk *w, uint64_t tag, jlong class_tag)
{
    const struct hpx_heap_klass *klass = class_of(w, class_tag);
    uint64_t ordinal = hpx_walk_ordinal(tag);
    uint32_t length;
    close_object(w);
    if (!hpx_walk_is(tag)) {
        return; /* a class */
    }
    count_object(w);
    if (ordinal < w->nthreads && !is_unknown(klass)) {
        w->bytes += w->vm_size[klass->number];
    }
    if (is_unknown(klass)) {
        w->unknown++;
        (void)hpx_heap_spool_instance(&w->spool, id_of(w, tag), site_of(w, tag), class_id(w->object_class), 0);
        return;
    }
    w->current = tag;
    w->klass = klass;
    switch (klass->kind) {
    case HPX_HEAP_INSTANCES:
        w->values = hpx_heap_spool_instance(&w->spool, id_of(w, tag), site_of(w, tag), class_id(klass->number), klass->instance_size);
        break;
    case HPX_HEAP_OBJECTS:
        length = hpx_walk_page_of(w->tags, ordinal)->length[HPX_WALK_SLOT(ordinal)];
        w->cut += hpx_heap_spool_objects(&w->spool, id_of(w, tag), site_of(w, tag), class_id(klass->number), length) < length;
        break;
    default:
        break; /* its contents come next */
    }
}

/* The declared field of an index, and its place in an instance of `klass`. NULL: no such field. */
static const struct hpx_heap_field *field_of(const struct hpx_heap_klass *klass, jint index, uint32_t *offset)
{
    uint32_t at = (uint32_t)index - klass->first;
    const struct hpx_heap_klass *c = klass;
    while (c->above != NULL && at < c->inherited) {
        c = c->above;
    }
    at -= c->inherited;
    if (at >= c->nfields) {
        return NULL;
    }
    *offset = klass->instance_size - c->instance_size + c->fields[at].offset;
    return &c->fields[at];
}

static void set_field(struct hpx_walk *w, uint64_t tag, jint index, uint64_t value)
{
    uint32_t offset = 0;
    if (w->current == 0 || ((tag ^ w->current) & (HPX_WALK_KEEP - 1)) != 0 || w->values == NULL) {
        return; /* an object of an unknown class */
    }
    const struct hpx_heap_field *f = field_of(w->klass, index, &offset);
    if (f == NULL || f->is_static) {
        w->failed = "the VM told of a field that its class does not have";
        return;
    }
    hpx_heap_spool_value(&w->spool, w->values + offset, f->type, value);
}

static void add_fact(struct hpx_walk *w, uint64_t tag, uint8_t kind, uint32_t index, uint8_t type, uint64_t value)
{
    if (!is_class(w, tag)) {
        return; /* loaded during the dump: it is shown as an object */
    }
    struct hpx_heap_fact *f = push(w, &w->facts, sizeof *f);
    if (f != NULL) {
        *f = (struct hpx_heap_fact){.value = value, .klass = hpx_site_class_of(tag), .index = index, .kind = kind, .type = type};
    }
}

static void add_static(struct hpx_walk *w, uint64_t tag, jint index, uint64_t value)
{
    const struct hpx_heap_klass *c = is_class(w, tag) ? class_of(w, (jlong)tag) : NULL;
    uint32_t at = c != NULL ? (uint32_t)index - c->first - c->inherited : 0;
    if (c != NULL && at < c->nfields) {
        add_fact(w, tag, HPX_HEAP_STATIC, at, c->fields[at].type, value);
    }
}

static void add_root(struct hpx_walk *w, uint32_t kind, uint64_t object, uint64_t thread_tag, jmethodID method, jint depth)
{
    struct hpx_heap_root_fact *r = push(w, &w->roots, sizeof *r);
    if (r != NULL) {
        bool known = hpx_walk_is(thread_tag) && hpx_walk_ordinal(thread_tag) < w->nthreads;
        *r = (struct hpx_heap_root_fact){.object = object,
                                         .thread = known ? id_of(w, thread_tag) : 0,
                                         .method = (uint64_t)(uintptr_t)method,
                                         .depth = depth,
                                         .kind = kind};
    }
}

/* Whether contents that the referrer holds stay readable, by redact= and keep=. */
static void pass_on_keep(const struct hpx_walk *w, jlong *tag, jlong class_tag, uint64_t referrer, jlong referrer_class)
{
    const struct hpx_heap_klass *c = class_of(w, referrer_class);
    bool of_class = is_class(w, referrer) && class_of(w, (jlong)referrer)->keeps;
    const struct hpx_heap_klass *what = class_of(w, class_tag);
    bool contents = what != NULL && (what->kind == HPX_HEAP_PRIMITIVES || what->number == w->string_class);
    if (contents && hpx_walk_is((uint64_t)*tag) &&
        (of_class || (c != NULL && c->keeps) || (hpx_walk_is(referrer) && (referrer & HPX_WALK_KEEP)))) {
        *tag |= (jlong)HPX_WALK_KEEP;
    }
}

/* ---- the callbacks ---- */

static jint carry_on(const struct hpx_walk *w)
{
    return w->failed == NULL ? JVMTI_VISIT_OBJECTS : JVMTI_VISIT_ABORT;
}

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong referrer_class_tag,
                                 jlong size, jlong *tag, jlong *referrer_tag, jint length, void *user)
{
    struct hpx_walk *w = user;
    if (!w->begun) {
        w->begun = true;
        if (w->first != NULL && w->first(w, __builtin_frame_address(0)) == JVMTI_VISIT_ABORT) {
            return JVMTI_VISIT_ABORT;
        }
    }
    uint64_t referrer = referrer_tag != NULL ? (uint64_t)*referrer_tag : 0;
    if (kind == JVMTI_HEAP_REFERENCE_CLASS && !is_class(w, referrer)) {
        open_object(w, referrer, referrer_class_tag);
    }
    uint64_t id = meet(w, tag, class_tag, size, length);
    if (w->failed != NULL) {
        return JVMTI_VISIT_ABORT;
    }
    if (w->keeps && kind <= JVMTI_HEAP_REFERENCE_CONSTANT_POOL) {
        pass_on_keep(w, tag, class_tag, referrer, referrer_class_tag);
    }
    switch (kind) {
    case JVMTI_HEAP_REFERENCE_FIELD:
        set_field(w, referrer, info->field.index, id);
        break;
    case JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT:
        if (w->current != 0 && ((referrer ^ w->current) & (HPX_WALK_KEEP - 1)) == 0 && w->klass->kind == HPX_HEAP_OBJECTS &&
            !hpx_heap_spool_element(&w->spool, (uint32_t)info->array.index, id)) {
            w->failed = "the VM told of the elements of an array in an unknown order";
        }
        break;
    case JVMTI_HEAP_REFERENCE_STATIC_FIELD:
        add_static(w, referrer, info->field.index, id);
        break;
    case JVMTI_HEAP_REFERENCE_CONSTANT_POOL:
        add_fact(w, referrer, HPX_HEAP_CONSTANT, (uint32_t)info->constant_pool.index, HPX_HEAP_OBJECT, id);
        break;
    case JVMTI_HEAP_REFERENCE_CLASS_LOADER:
        add_fact(w, referrer, HPX_HEAP_LOADER, 0, 0, id);
        break;
    case JVMTI_HEAP_REFERENCE_SIGNERS:
        add_fact(w, referrer, HPX_HEAP_SIGNERS, 0, 0, id);
        break;
    case JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN:
        add_fact(w, referrer, HPX_HEAP_DOMAIN, 0, 0, id);
        break;
    case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
        add_root(w, HPX_ROOT_JNI_GLOBAL, id, 0, NULL, -1);
        break;
    case JVMTI_HEAP_REFERENCE_SYSTEM_CLASS:
        add_root(w, HPX_ROOT_STICKY_CLASS, id, 0, NULL, -1);
        break;
    case JVMTI_HEAP_REFERENCE_MONITOR:
        add_root(w, HPX_ROOT_MONITOR_USED, id, 0, NULL, -1);
        break;
    case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
        add_root(w, HPX_ROOT_JAVA_FRAME, id, (uint64_t)info->stack_local.thread_tag, info->stack_local.method, info->stack_local.depth);
        break;
    case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
        add_root(w, HPX_ROOT_JNI_LOCAL, id, (uint64_t)info->jni_local.thread_tag, info->jni_local.method, info->jni_local.depth);
        break;
    case JVMTI_HEAP_REFERENCE_THREAD:
        add_root(w, HPX_ROOT_THREAD_OBJECT, id, 0, NULL, -1);
        break;
    case JVMTI_HEAP_REFERENCE_OTHER:
        add_root(w, HPX_ROOT_UNKNOWN, id, 0, NULL, -1);
        break;
    default:
        break; /* class: done; superclass and interface: known */
    }
    return carry_on(w);
}

static uint64_t bits_of(jvalue value, jvmtiPrimitiveType type)
{
    uint32_t word;
    uint64_t wide;
    switch (type) {
    case JVMTI_PRIMITIVE_TYPE_BOOLEAN:
        return value.z;
    case JVMTI_PRIMITIVE_TYPE_BYTE:
        return (uint64_t)value.b;
    case JVMTI_PRIMITIVE_TYPE_CHAR:
        return value.c;
    case JVMTI_PRIMITIVE_TYPE_SHORT:
        return (uint64_t)value.s;
    case JVMTI_PRIMITIVE_TYPE_INT:
        return (uint64_t)value.i;
    case JVMTI_PRIMITIVE_TYPE_FLOAT:
        memcpy(&word, &value.f, sizeof word);
        return word;
    case JVMTI_PRIMITIVE_TYPE_LONG:
        return (uint64_t)value.j;
    default:
        memcpy(&wide, &value.d, sizeof wide);
        return wide;
    }
}

static jint JNICALL on_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong *tag, jvalue value,
                             jvmtiPrimitiveType type, void *user)
{
    struct hpx_walk *w = user;
    bool is_static = kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD;
    const struct hpx_heap_klass *c = is_static ? class_of(w, *tag) : class_of(w, class_tag);
    if (!w->primitive_fields ||
        (w->fields && (c == NULL || !c->keeps) && !((uint64_t)*tag & HPX_WALK_KEEP && hpx_walk_is((uint64_t)*tag)))) {
        return carry_on(w); /* 0 */
    }
    if (is_static) {
        add_static(w, (uint64_t)*tag, info->field.index, bits_of(value, type));
    } else {
        set_field(w, (uint64_t)*tag, info->field.index, bits_of(value, type));
    }
    return carry_on(w);
}

static jint JNICALL on_array(jlong class_tag, jlong size, jlong *tag, jint n, jvmtiPrimitiveType type, const void *elements, void *user)
{
    struct hpx_walk *w = user;
    const struct hpx_heap_klass *c = class_of(w, class_tag);
    if (w->current == 0 || (((uint64_t)*tag ^ w->current) & (HPX_WALK_KEEP - 1)) != 0 || c == NULL || c->kind != HPX_HEAP_PRIMITIVES) {
        return carry_on(w);
    }
    bool text = type == JVMTI_PRIMITIVE_TYPE_BYTE || type == JVMTI_PRIMITIVE_TYPE_CHAR;
    bool hidden = (w->arrays || (w->strings && text)) && !((uint64_t)*tag & HPX_WALK_KEEP);
    uint32_t length = w->primitive_arrays ? (uint32_t)n : 0;
    w->cut += hpx_heap_spool_primitives(&w->spool, id_of(w, w->current), site_of(w, w->current), c->type, length,
                                        hidden ? NULL : elements) < length;
    w->heads += (uint64_t)size - (w->primitive_arrays ? (uint64_t)n * hpx_heap_size_of(c->type, 8) : 0);
    w->current = 0;
    return carry_on(w);
}

jvmtiError hpx_walk_follow(jvmtiEnv *jvmti, struct hpx_walk *w)
{
    jvmtiHeapCallbacks all;
    memset(&all, 0, sizeof all);
    all.heap_reference_callback = on_reference;
    all.primitive_field_callback = w->primitive_fields && (!w->fields || w->keeps) ? on_field : NULL;
    all.array_primitive_value_callback = on_array;
    return (*jvmti)->FollowReferences(jvmti, 0, NULL, NULL, &all, w);
}

/* Of classes that are not in the dump: VMs never visit the mirrors of primitive types and of archived classes. */
static void put_mirrors(struct hpx_walk *w)
{
    const struct hpx_heap_klass *c = w->class_class < w->nclasses ? w->classes[w->class_class] : NULL;
    for (uint64_t i = 0; c != NULL && i < w->mirrors.len; i++) {
        uint64_t tag = HPX_WALK_TAG | ((const uint64_t *)w->mirrors.at)[i];
        (void)hpx_heap_spool_instance(&w->spool, id_of(w, tag), site_of(w, tag), class_id(c->number), c->instance_size);
        count_object(w);
    }
}

bool hpx_walk_finish(struct hpx_walk *w)
{
    close_object(w);
    put_mirrors(w);
    w->bytes += w->unknown * (w->object_class < w->nclasses ? w->vm_size[w->object_class] : 0);
    for (uint32_t n = 0; n < w->nclasses; n++) {
        if (w->vm_size[n] != 0) {
            struct hpx_heap_fact *f = push(w, &w->facts, sizeof *f);
            if (f != NULL) {
                *f = (struct hpx_heap_fact){.value = w->vm_size[n], .klass = n, .kind = HPX_HEAP_VM_SIZE};
            }
        }
    }
    w->objects_end = w->facts_at = hpx_heap_spool_at(&w->spool);
    hpx_heap_spool_bytes(&w->spool, w->facts.at, w->facts.len * sizeof(struct hpx_heap_fact));
    w->roots_at = hpx_heap_spool_at(&w->spool);
    hpx_heap_spool_bytes(&w->spool, w->roots.at, w->roots.len * sizeof(struct hpx_heap_root_fact));
    if (hpx_heap_spool_flush(&w->spool) != 0 && w->failed == NULL) {
        w->failed = "the disk is full, or cannot be written";
    }
    if (w->progress != NULL) {
        atomic_store_explicit(w->progress, w->objects, memory_order_relaxed);
    }
    return w->failed == NULL;
}

void hpx_walk_fini(struct hpx_walk *w)
{
    list_fini(&w->facts, sizeof(struct hpx_heap_fact));
    list_fini(&w->roots, sizeof(struct hpx_heap_root_fact));
    list_fini(&w->mirrors, sizeof(uint64_t));
    hpx_heap_spool_fini(&w->spool);
}
