/* SPDX-License-Identifier: BSD-2-Clause */
/* walk.c: the callbacks of walk.h. */
#include "walk_internal.h"
#include <stdlib.h>
#include <string.h>

/* ---- records ---- */

static inline void close_object(struct hpx_walk *w)
{
    if (w->current != 0 && w->klass != NULL) {
        if (w->klass->kind == HPX_HEAP_OBJECTS) {
            hpx_heap_spool_objects_end(&w->spool);
        } else if (w->klass->kind == HPX_HEAP_PRIMITIVES) { /* the VM told no contents */
            (void)hpx_heap_spool_primitives(&w->spool, plain_id(w, w->current), w->site, w->klass->type, 0, NULL);
        }
    }
    w->current = 0;
    w->klass = NULL;
    w->values = NULL;
}

/* Instances of one class have one size but for class objects, which hold static fields, and stacks of virtual threads; files have one. */
static inline void open_instance(struct hpx_walk *w, uint64_t id, uint32_t site, const struct hpx_walk_class *c)
{
    w->found.bytes += c->vm_size;
    w->values = hpx_heap_spool_instance(&w->spool, id, site, hpx_heap_class_id(c->klass->number), c->klass->instance_size);
}

/* The callbacks of another object begin. */
static inline void open_object(struct hpx_walk *w, uint64_t key, uint64_t tag, const struct hpx_walk_class *c)
{
    const struct hpx_heap_klass *klass = c->klass;
    uint64_t id = id_of(w, key, c);
    uint32_t site = is_flat(w, key) ? HPX_SITE_NONE : site_of(w, tag); /* the tag is that of an equal object */
    close_object(w);
    count_object(w);
    w->current = key;
    w->nflat -= is_flat(w, key);
    if (!w->by_tags) {
        struct hpx_address_entry *root = hpx_address_map_find(&w->rooted, key);
        if (root != NULL && root->value++ != 0) {
            contradict(w); /* a second record */
        }
    }
    if (is_unknown(klass)) {
        w->found.unknown++;
        (void)hpx_heap_spool_instance(&w->spool, id, site, hpx_heap_class_id(w->layout->object_class), 0);
        return;
    }
    w->klass = klass;
    if (klass->kind == HPX_HEAP_INSTANCES) {
        open_instance(w, id, site, c);
    } else if (klass->kind == HPX_HEAP_OBJECTS) {
        uint32_t length = array_length(w, key);
        w->found.bytes += array_bytes(w, length);
        w->found.cut += hpx_heap_spool_objects(&w->spool, id, site, hpx_heap_class_id(klass->number), length) < length;
    } else {
        w->site = site; /* its contents come next */
    }
}

/* A value of the open instance, as wide as the type of the field; reference: it is the id of an object. */
static inline void set_field(struct hpx_walk *w, uint64_t key, jint index, bool reference, const void *value)
{
    if (hpx_unlikely(key != w->current)) {
        contradict(w);
        return;
    }
    if (w->values == NULL) {
        return; /* an object of an unknown class */
    }
    uint32_t at = (uint32_t)index - w->klass->first;
    uint64_t slot = at < w->klass->nslots ? w->klass->slots[at] : 0;
    const uint8_t type = HPX_HEAP_SLOT_TYPE(slot);
    if (hpx_unlikely(slot == 0 || (type == HPX_TYPE_OBJECT) != reference)) {
        fail(w, HPX_WALK_ORDER); /* the VM told of a field that its class does not have, or the value of another one */
        return;
    }
    hpx_heap_spool_value(&w->spool, w->values + HPX_HEAP_SLOT_OFFSET(slot), type, hpx_walk_bits(value, type));
}

static inline void set_element(struct hpx_walk *w, uint64_t key, jint index, uint64_t value)
{
    if (hpx_unlikely(key != w->current)) {
        contradict(w);
    } else if (w->klass != NULL && (w->klass->kind != HPX_HEAP_OBJECTS || !hpx_heap_spool_element(&w->spool, (uint32_t)index, value))) {
        fail(w, HPX_WALK_ORDER);
    }
}

void hpx_walk_add_fact(struct hpx_walk *w, struct hpx_class_number number, uint8_t kind, uint32_t index, uint8_t type, uint64_t value)
{
    struct hpx_heap_fact *f = number.v != 0 ? push(w, &w->facts, sizeof *f) : NULL;
    if (f != NULL) {
        *f = (struct hpx_heap_fact){.value = value, .klass = number, .index = index, .kind = kind, .type = type};
    }
}

void hpx_walk_add_static(struct hpx_walk *w, struct hpx_class_number number, jint index, const void *value)
{
    const struct hpx_heap_klass *c = klass_at(w, number);
    uint32_t at = c != NULL ? (uint32_t)index - c->first - c->inherited : 0;
    if (c != NULL && at < c->nfields) {
        hpx_walk_add_fact(w, number, HPX_HEAP_STATIC, at, c->fields[at].type, hpx_walk_bits(value, c->fields[at].type));
    }
}

void hpx_walk_meet_of_class(struct hpx_walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
                            struct hpx_class_number referrer, uint64_t id)
{
    if (kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD) {
        hpx_walk_add_static(w, referrer, info->field.index, &id);
    } else if (kind == JVMTI_HEAP_REFERENCE_CONSTANT_POOL) {
        hpx_walk_add_fact(w, referrer, HPX_HEAP_CONSTANT, (uint32_t)info->constant_pool.index, HPX_TYPE_OBJECT, id);
    } else if (kind == JVMTI_HEAP_REFERENCE_CLASS_LOADER) {
        hpx_walk_add_fact(w, referrer, HPX_HEAP_LOADER, 0, 0, id);
    } else if (kind == JVMTI_HEAP_REFERENCE_SIGNERS) {
        hpx_walk_add_fact(w, referrer, HPX_HEAP_SIGNERS, 0, 0, id);
    } else if (kind == JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN) {
        hpx_walk_add_fact(w, referrer, HPX_HEAP_DOMAIN, 0, 0, id);
    }
}

/* ---- redact=, keep= ---- */

static bool is_contents(const struct hpx_walk *w, const struct hpx_heap_klass *what)
{
    return what != NULL && (what->kind == HPX_HEAP_PRIMITIVES || what->number.v == w->layout->string_class.v);
}

static bool is_kept(const struct hpx_walk *w, uint64_t key, const struct hpx_heap_klass *what)
{
    return w->keeps && is_contents(w, what) && hpx_address_map_find(&w->kept, key) != NULL;
}

/* Whether contents that the referrer holds stay readable. It may hold the first object of a class, of which nothing is known yet: whether
 * that is contents is_kept() asks when it is read. */
static void pass_on_keep(struct hpx_walk *w, uint64_t key, const struct hpx_heap_klass *what, uint64_t referrer,
                         const struct hpx_walk_class *c)
{
    const struct hpx_heap_klass *of = klass_at(w, number_of(w, referrer, c));
    if ((what == NULL || is_contents(w, what)) &&
        ((of != NULL && of->keeps) || (c->klass != NULL && c->klass->keeps) || is_kept(w, referrer, c->klass))) {
        (void)put(w, &w->kept, key);
    }
}

/* ---- the callbacks ---- */

static inline jint carry_on(const struct hpx_walk *w)
{
    return hpx_likely(w->end == HPX_WALK_WHOLE && w->spool.error == 0) ? JVMTI_VISIT_OBJECTS : JVMTI_VISIT_ABORT;
}

bool hpx_walk_begin(struct hpx_walk *w, const void *frame)
{
    w->begun = true;
    if (w->first != NULL && w->first(w, frame) == JVMTI_VISIT_ABORT) {
        return false;
    }
    if (!w->by_tags) {
        hpx_walk_know(w);
    }
    return w->end == HPX_WALK_WHOLE;
}

static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong referrer_class_tag,
                                 jlong size, jlong *tag, jlong *referrer_tag, jint length, void *user)
{
    struct hpx_walk *w = user;
    struct hpx_walk_class *of = NULL;
    if (hpx_unlikely(!w->begun) && !hpx_walk_begin(w, HPX_FRAME_END())) {
        return JVMTI_VISIT_ABORT;
    }
    uint64_t referrer = referrer_tag != NULL ? referrer_key(w, tag, referrer_tag) : 0, key = key_of(w, tag);
    if (hpx_unlikely(w->end != HPX_WALK_WHOLE)) {
        return JVMTI_VISIT_ABORT; /* no such address may be read */
    }
    struct hpx_walk_class *c = class_of(w, key, class_tag);
    if (hpx_unlikely(referrer_tag == NULL) && hpx_walk_own_root(w, kind, info, key, c)) {
        return w->end == HPX_WALK_WHOLE ? 0 : JVMTI_VISIT_ABORT;
    }
    if (is_flat(w, key)) {
        hpx_walk_meet_flat(w, kind, info, referrer, referrer_tag != NULL ? class_of(w, referrer, referrer_class_tag) : NULL, key);
    }
    uint64_t id = meet(w, key, (uint64_t)*tag, c, size, length);
    if (hpx_likely(kind == JVMTI_HEAP_REFERENCE_FIELD)) {
        set_field(w, referrer, info->field.index, true, &id);
    } else if (kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT) {
        set_element(w, referrer, info->array.index, id);
    } else if (referrer_tag == NULL) {
        hpx_walk_meet_root(w, kind, info, key, c, id);
    } else if (kind == JVMTI_HEAP_REFERENCE_CLASS) {
        of = class_of(w, referrer, referrer_class_tag);
        learn_class(w, of, key);
        open_object(w, referrer, (uint64_t)*referrer_tag, of);
    } else {
        of = class_of(w, referrer, referrer_class_tag);
        hpx_walk_meet_of_class(w, kind, info, number_of(w, referrer, of), id);
    }
    if (hpx_unlikely(w->keeps) && referrer_tag != NULL) {
        pass_on_keep(w, key, c->klass, referrer, of != NULL ? of : class_of(w, referrer, referrer_class_tag));
    }
    return carry_on(w);
}

static jint JNICALL on_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong *tag, jvalue value,
                             jvmtiPrimitiveType type, void *user)
{
    struct hpx_walk *w = user;
    uint64_t key = key_of(w, tag);
    (void)type;
    if (hpx_unlikely(w->end != HPX_WALK_WHOLE)) {
        return JVMTI_VISIT_ABORT;
    }
    bool is_static = kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD;
    struct hpx_class_number number = is_static ? number_of(w, key, class_of(w, key, class_tag)) : (struct hpx_class_number){0};
    if (w->fields) {
        const struct hpx_heap_klass *c = is_static ? klass_at(w, number) : class_of(w, key, class_tag)->klass;
        if ((c == NULL || !c->keeps) && (is_static || !is_kept(w, key, c))) {
            return carry_on(w); /* 0 */
        }
    }
    if (is_static) {
        hpx_walk_add_static(w, number, info->field.index, &value);
    } else {
        set_field(w, key, info->field.index, false, &value);
    }
    return carry_on(w);
}

static jint JNICALL on_array(jlong class_tag, jlong size, jlong *tag, jint n, jvmtiPrimitiveType type, const void *elements, void *user)
{
    struct hpx_walk *w = user;
    uint64_t key = key_of(w, tag);
    (void)class_tag;
    if (key != w->current) {
        contradict(w);
        return JVMTI_VISIT_ABORT;
    }
    const struct hpx_heap_klass *c = w->klass;
    if (c == NULL || c->kind != HPX_HEAP_PRIMITIVES) {
        return carry_on(w); /* of an unknown class */
    }
    bool text = type == JVMTI_PRIMITIVE_TYPE_BYTE || type == JVMTI_PRIMITIVE_TYPE_CHAR;
    bool hidden = (w->arrays || (w->strings && text)) && !is_kept(w, key, c);
    uint32_t length = w->primitive_arrays ? (uint32_t)n : 0;
    w->found.cut += hpx_heap_spool_primitives(&w->spool, plain_id(w, key), w->site, c->type, length, hidden ? NULL : elements) < length;
    w->found.bytes += (uint64_t)size;
    w->found.heads += (uint64_t)size - (w->primitive_arrays ? (uint64_t)n * hpx_type_size(c->type, 8) : 0);
    w->current = 0;
    w->klass = NULL;
    return carry_on(w);
}

void hpx_walk_follow(jvmtiEnv *jvmti, struct hpx_walk *w)
{
    jvmtiHeapCallbacks all;
    memset(&all, 0, sizeof all);
    all.heap_reference_callback = w->traces ? hpx_trace_reference : on_reference;
    all.primitive_field_callback = w->traces ? hpx_trace_field : on_field;
    all.array_primitive_value_callback = w->traces ? hpx_trace_array : on_array;
    if (!w->primitive_fields || (w->fields && !w->keeps)) {
        all.primitive_field_callback = NULL;
    }
    bool bounds = w->oops.high != 0 && !w->oops.views, small = !w->by_tags && !w->wide && !w->flattened;
    w->low = bounds ? w->oops.low : 8;
    w->high = bounds ? w->oops.high : UINT64_MAX;
    w->mask = small && w->oops.views ? (UINT64_C(1) << HPX_OOPS_VIEW) - 1 : UINT64_MAX;
    w->base = small ? w->oops.low & w->mask : 0;
    w->shift = small ? 3 : 0;
    if ((*jvmti)->FollowReferences(jvmti, 0, NULL, NULL, &all, w) != JVMTI_ERROR_NONE) {
        fail(w, HPX_WALK_REFUSED);
    }
}

/* ---- the end ---- */

/* Of classes that are not in the dump: VMs never visit the mirrors of primitive types and of archived classes. */
static void put_mirrors(struct hpx_walk *w)
{
    const struct hpx_walk_class *c = w->class_of_classes;
    for (uint64_t i = 0; c != NULL && c->klass != NULL && i < w->mirrors.room; i++) {
        const struct hpx_address_entry *e = &w->mirrors.at[i];
        if (e->key != 0) {
            open_instance(w, plain_id(w, e->key), (uint32_t)e->value, c);
            count_object(w);
        }
    }
}

/* The size of an instance of each class; those of unknown classes are shown as java.lang.Object. */
static void put_sizes(struct hpx_walk *w)
{
    for (uint32_t i = 0; i < w->classes_room; i++) {
        const struct hpx_walk_class *c = &w->classes[i];
        if (c->klass != NULL && c->klass->kind == HPX_HEAP_INSTANCES && c->vm_size != 0) {
            hpx_walk_add_fact(w, c->klass->number, HPX_HEAP_VM_SIZE, 0, 0, c->vm_size);
            w->found.bytes += c->klass->number.v == w->layout->object_class.v ? w->found.unknown * c->vm_size : 0;
        }
    }
}

void hpx_walk_finish(struct hpx_walk *w)
{
    close_object(w);
    if (w->traces && w->end == HPX_WALK_WHOLE) {
        hpx_trace_run(w);
    }
    put_mirrors(w);
    if (w->end == HPX_WALK_WHOLE && !w->by_tags) {
        hpx_walk_check_roots(w);
    }
    put_sizes(w);
    w->found.objects_end = w->found.facts_at = hpx_heap_spool_at(&w->spool);
    w->found.nfacts = w->facts.len;
    hpx_heap_spool_bytes(&w->spool, w->facts.at, w->facts.len * sizeof(struct hpx_heap_fact));
    w->found.roots_at = hpx_heap_spool_at(&w->spool);
    w->found.nroots = w->roots.len;
    hpx_heap_spool_bytes(&w->spool, w->roots.at, w->roots.len * sizeof(struct hpx_heap_root_fact));
    if (hpx_heap_spool_flush(&w->spool) != 0) {
        fail(w, HPX_WALK_NO_SPACE);
    }
    if (w->progress != NULL) {
        atomic_store_explicit(w->progress, w->found.objects, memory_order_relaxed);
    }
}

void hpx_walk_fini(struct hpx_walk *w)
{
    hpx_walk_list_fini(&w->facts, sizeof(struct hpx_heap_fact));
    hpx_walk_list_fini(&w->roots, sizeof(struct hpx_heap_root_fact));
    hpx_walk_list_fini(&w->flat, sizeof(struct hpx_walk_class *));
    hpx_walk_list_fini(&w->lengths, sizeof(uint32_t));
    hpx_address_map_fini(&w->known);
    hpx_address_map_fini(&w->rooted);
    hpx_address_map_fini(&w->mirrors);
    hpx_address_map_fini(&w->kept);
    hpx_trace_fini(w);
    hpx_heap_spool_fini(&w->spool);
    free(w->classes);
    w->classes = NULL;
}
