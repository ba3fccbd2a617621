/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_told.c: what the VM tells a trace (trace.h): the callbacks, what they teach and check, and the helper, by which the VM is asked. */
#include "walk_internal.h"

#define LONG        65536 /* elements of an array that the VM does not visit */
#define SHIFT_MOST  16u
#define HELPER_STEP 32u /* bytes between two arrays in the helper, at least */

/* The walk is over. Up to JDK 20 HotSpot would go through the whole heap once more, and crash at the helper, which is no array any more. */
static jint leave(struct hpx_walk *w)
{
    if (w->last != NULL) {
        w->last();
    }
    return JVMTI_VISIT_ABORT;
}

/* ---- what stands for an address ---- */

bool hpx_trace_learn(struct hpx_trace_code *c, uint32_t word, uint64_t address)
{
    if (c->known) {
        return c->base + ((uint64_t)word << c->shift) == address;
    }
    if (c->address == 0) {
        c->first = word;
        c->address = address;
        return true;
    }
    if (word == c->first) {
        return address == c->address;
    }
    const int64_t words = (int64_t)word - (int64_t)c->first, bytes = (int64_t)(address - c->address);
    while (c->shift <= SHIFT_MOST && words * ((int64_t)1 << c->shift) != bytes) {
        c->shift++;
    }
    c->base = c->address - ((uint64_t)c->first << c->shift);
    c->known = c->shift <= SHIFT_MOST;
    return c->known;
}

static inline bool is_null(const struct hpx_walk *w, uint64_t at)
{
    return narrow(w) ? *(const uint32_t *)(uintptr_t)at == 0 : *(const uint64_t *)(uintptr_t)at == 0;
}

/* A reference that names the old copy of an object teaches nothing, so with a collector that moves objects the usual code is tried first:
 * base 0. */
static bool learn_reference(struct hpx_walk *w, uint64_t at, uint64_t key)
{
    struct hpx_trace_code *c = &w->trace.reference;
    if (w->moves && !c->known) {
        const struct hpx_trace_code untried = *c;
        *c = (struct hpx_trace_code){.known = true, .shift = w->high > UINT64_C(1) << 32 ? (unsigned)__builtin_ctz(w->alignment) : 0};
        if (refers(w, at) == key) {
            return true;
        }
        *c = untried;
    }
    return c->known ? refers(w, at) == key : hpx_trace_learn(c, *(const uint32_t *)(uintptr_t)at, key);
}

/* The VM has told that the reference there names the object. */
static void told_reference(struct hpx_walk *w, uint64_t referrer, uint64_t at, uint64_t key)
{
    struct hpx_trace *t = &w->trace;
    t->told++;
    if (referrer != t->object || !(narrow(w) ? learn_reference(w, at, key) : refers(w, at) == key)) {
        stop(w);
    }
}

/* ---- what the VM tells ---- */

static inline uint64_t slot_of(const struct hpx_walk *w, const struct hpx_heap_klass *klass, jint index, uint32_t *at)
{
    uint32_t i = klass != NULL ? (uint32_t)index - klass->first : UINT32_MAX;
    *at = klass != NULL && i < klass->nslots ? hpx_oops_field_at(&w->oops, klass->ids[i]) : 0;
    return *at != 0 ? klass->slots[i] : 0;
}

static uint64_t references_of(const struct hpx_walk *w, uint64_t key, const struct hpx_heap_klass *klass)
{
    uint64_t n = 0;
    for (uint32_t i = 0; klass->kind == HPX_HEAP_INSTANCES && i < klass->nslots; i++) {
        n += klass->slots[i] != 0 && HPX_HEAP_SLOT_TYPE(klass->slots[i]) == HPX_TYPE_OBJECT &&
             !is_null(w, key + hpx_oops_field_at(&w->oops, klass->ids[i]));
    }
    const uint64_t length = klass->kind == HPX_HEAP_OBJECTS ? hpx_oops_length(&w->oops, key) : 0;
    for (uint64_t i = 0; i < length; i++) {
        n += !is_null(w, key + w->array_base + i * w->reference_size);
    }
    return n;
}

void hpx_trace_end_told(struct hpx_walk *w)
{
    struct hpx_trace *t = &w->trace;
    if (t->object == 0) {
        return;
    }
    const struct hpx_heap_klass *klass = find_class(w, hpx_oops_class_word(&w->oops, t->object))->klass;
    const uint64_t held = references_of(w, t->object, klass);
    if (held != t->told) {
        fail(w, w->moves && klass->referents && held == t->told + 1 ? HPX_WALK_MOVED : HPX_WALK_STRANGE);
    }
    t->object = 0;
    t->told = 0;
}

static void add_edge(struct hpx_walk *w, uint64_t of, uint64_t to)
{
    struct hpx_trace *t = &w->trace;
    struct hpx_address_entry *e = put(w, &t->visited, of);
    if (t->marks != NULL && test_bit(t->marks, (of - w->low) / 8)) {
        stop(w); /* it was traced as one that refers to nothing: the VM visits in another order */
    }
    if (e != NULL && e->value == 0) {
        e->value = 1 + t->edges.len;
    } else if (t->edges.len > 0 && ((const struct hpx_trace_edge *)t->edges.at)[t->edges.len - 1].of != of) {
        stop(w); /* what a class refers to is told without a break */
    }
    struct hpx_trace_edge *edge = push(w, &t->edges, sizeof *edge);
    if (edge != NULL) {
        *edge = (struct hpx_trace_edge){of, to};
    }
}

static void begin_told(struct hpx_walk *w, uint64_t key, struct hpx_walk_class *of, uint64_t mirror)
{
    hpx_trace_end_told(w);
    learn_class(w, of, mirror);
    if (is_unknown(of->klass)) {
        fail(w, HPX_WALK_LATE);
        return;
    }
    w->trace.object = key;
    w->trace.objects++;
    if (of->klass->virtual_thread) {
        (void)put(w, &w->trace.visited, key); /* and has told its stack */
    }
}

void hpx_trace_later(struct hpx_walk *w, uint64_t key)
{
    if (w->trace.next == 0 || !push_key(w, &w->trace.later, key)) {
        fail(w, w->trace.helper == NULL ? HPX_WALK_NO_MEMORY : HPX_WALK_STRANGE); /* the heap had no room for the helper */
    }
}

static jint carry_on(struct hpx_walk *w, bool visit)
{
    return w->end != HPX_WALK_WHOLE ? leave(w) : visit ? JVMTI_VISIT_OBJECTS : 0;
}

/* Class objects and threads are visited all, of any other class the first object that the VM tells of; and objects that come before it is
 * known whether their class is one of threads. The VM visits last what it is told first, so up to the helper that is nothing. Not a long
 * array: each element would cost a call of the VM. */
static jint visit(struct hpx_walk *w, struct hpx_walk_class *c, uint64_t key, jint length)
{
    struct hpx_trace *t = &w->trace;
    if (length > LONG && !w->verifies) {
        return carry_on(w, false);
    }
    c->first = c->first == 0 ? key : c->first;
    bool wanted = w->verifies || c->special || c->mirror == 0 || c->first == key;
    if (wanted && t->next != 0 && !t->pushed) {
        hpx_trace_later(w, key);
        wanted = false;
    }
    return carry_on(w, wanted);
}

/* An object reference at this address. */
static void set_reference(struct hpx_walk *w, uint64_t at, uint64_t key)
{
    const struct hpx_trace_code *c = &w->trace.reference;
    if (narrow(w)) {
        *(uint32_t *)(uintptr_t)at = (uint32_t)((key - c->base) >> c->shift);
    } else {
        *(uint64_t *)(uintptr_t)at = key;
    }
    if ((narrow(w) && !c->known) || refers(w, at) != key) {
        stop(w);
    }
}

/* The VM visits the helper, or an array in it: the elements become what it shall visit, behind another array in the helper, which it will
 * visit when it has nothing else to visit. That array begins below this one, which is over by then. No elements: that was all. */
static void ask(struct hpx_walk *w)
{
    struct hpx_trace *t = &w->trace;
    const uint64_t size = w->reference_size, first = moved(w, hpx_oops_handle(t->helper)),
                   end = first + w->array_base + HPX_TRACE_HELPER * size;
    const uint64_t step = w->alignment > HELPER_STEP ? w->alignment : HELPER_STEP;
    if (t->asked == t->later.len) {
        hpx_trace_roots(w);
        if (t->asked == t->later.len) {
            (void)leave(w);
        }
    }
    const bool begins = t->array == 0;
    t->array = t->next;
    t->next = begins ? first + HPX_TRACE_HELPER / 2 * size : t->array - step;
    uint64_t at = t->array + w->array_base, until = (begins ? t->next : end) - size;
    if (t->asked == t->later.len) {
        t->next = 0;
    } else if (t->next < first + step) {
        stop(w);
    } else {
        memcpy((void *)(uintptr_t)t->next, (const void *)(uintptr_t)t->array, w->oops.length_at);
        *(uint64_t *)(uintptr_t)t->next = t->mark; /* up to JDK 20 the VM has written to it that the array was visited */
        *(uint32_t *)(uintptr_t)(t->next + w->oops.length_at) = 0;
        set_reference(w, at, t->next);
        for (at += size; t->asked < t->later.len && at <= until; at += size) {
            set_reference(w, at, key_at(&t->later, t->asked++));
        }
    }
    *(uint32_t *)(uintptr_t)(t->array + w->oops.length_at) = (uint32_t)((at - t->array - w->array_base) / size);
}

/* Whether this is about the helper, which is no object of the program. */
static bool is_helper(struct hpx_walk *w, uint64_t referrer, uint64_t key)
{
    struct hpx_trace *t = &w->trace;
    if (referrer == 0 && t->next != 0 && key == moved(w, t->next)) {
        t->next = key;
        t->pushed = true;
        return true;
    }
    return referrer != 0 && (referrer == t->next || referrer == t->array);
}

uint64_t hpx_trace_size_with_stack(const struct hpx_walk *w, uint64_t key, const struct hpx_walk_class *c)
{
    const uint64_t words = *(const uint32_t *)(uintptr_t)(key + hpx_oops_field_at(&w->oops, c->klass->words));
    const uint64_t bits = words * (8 / w->reference_size), bytes = c->vm_size + 8 * (words + (bits + 63) / 64);
    return (bytes + w->alignment - 1) / w->alignment * w->alignment;
}

static void told_size(struct hpx_walk *w, uint64_t key, struct hpx_walk_class *c, uint32_t size)
{
    c->told_size = c->first == 0 || c->first == key ? size : c->told_size;
    if (c->plan != 0 && c->klass->words != 0 && hpx_trace_size_with_stack(w, key, c) != size) {
        stop(w);
    }
}

jint JNICALL hpx_trace_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong referrer_class_tag,
                                 jlong size, jlong *tag, jlong *referrer_tag, jint length, void *user)
{
    struct hpx_walk *w = user;
    uint32_t at;
    if (hpx_unlikely(!w->begun)) {
        if (!hpx_walk_begin(w, HPX_FRAME_END())) {
            return w->end != HPX_WALK_WHOLE ? leave(w) : JVMTI_VISIT_ABORT; /* of the process that was copied */
        }
        w->trace.next = moved(w, hpx_oops_handle(w->trace.helper));
        w->trace.mark = w->trace.next != 0 ? *(const uint64_t *)(uintptr_t)w->trace.next : 0;
    }
    uint64_t referrer = referrer_tag != NULL ? referrer_key(w, tag, referrer_tag) : 0, key = key_of(w, tag);
    if (hpx_unlikely(w->end != HPX_WALK_WHOLE)) {
        return leave(w);
    }
    if (hpx_unlikely(is_helper(w, referrer, key))) {
        if (kind == JVMTI_HEAP_REFERENCE_CLASS) {
            ask(w);
        }
        return carry_on(w, kind != JVMTI_HEAP_REFERENCE_CLASS);
    }
    if (hpx_unlikely(moved(w, key) != key)) { /* a handle that the VM has not mended yet: there would be two records */
        fail(w, HPX_WALK_MOVED);
        return leave(w);
    }
    struct hpx_walk_class *c = class_of(w, key, class_tag), *of = referrer != 0 ? class_of(w, referrer, referrer_class_tag) : NULL;
    if (c == w->class_of_classes) {
        (void)put(w, &w->trace.visited, key);
    }
    if (of == NULL && hpx_walk_own_root(w, kind, info, key, c)) {
        return c == w->class_of_classes ? visit(w, c, key, length) : carry_on(w, false);
    }
    if (length >= 0) {
        meet_array(w, key, length);
    } else {
        told_size(w, key, c, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX);
    }
    if (of == NULL) {
        (void)push_key(w, &w->trace.roots, key);
        hpx_walk_meet_root(w, kind, info, key, c, id_of(w, key, c));
    } else if (kind == JVMTI_HEAP_REFERENCE_CLASS) {
        begin_told(w, referrer, of, key);
    } else if (kind == JVMTI_HEAP_REFERENCE_FIELD) {
        if (HPX_HEAP_SLOT_TYPE(slot_of(w, of->klass, info->field.index, &at)) == HPX_TYPE_OBJECT && at != 0) {
            told_reference(w, referrer, referrer + at, key);
        } else {
            stop(w);
        }
    } else if (kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT) {
        told_reference(w, referrer, referrer + w->array_base + (uint64_t)(uint32_t)info->array.index * w->reference_size, key);
    } else {
        add_edge(w, referrer, key);
        hpx_walk_meet_of_class(w, kind, info, number_of(w, referrer, of), id_of(w, key, c));
    }
    return visit(w, c, key, length);
}

jint JNICALL hpx_trace_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong *tag, jvalue value,
                             jvmtiPrimitiveType type, void *user)
{
    struct hpx_walk *w = user;
    uint64_t key = key_of(w, tag);
    (void)type;
    if (hpx_unlikely(w->end != HPX_WALK_WHOLE)) {
        return leave(w);
    }
    struct hpx_walk_class *c = class_of(w, key, class_tag);
    if (kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD) {
        hpx_walk_add_static(w, number_of(w, key, c), info->field.index, &value);
        return JVMTI_VISIT_OBJECTS;
    }
    uint32_t at;
    uint64_t slot = slot_of(w, c->klass, info->field.index, &at);
    uint8_t as = HPX_HEAP_SLOT_TYPE(slot);
    if (key != w->trace.object || slot == 0 || as == HPX_TYPE_OBJECT ||
        hpx_walk_bits((const void *)(uintptr_t)(key + at), as) != hpx_walk_bits(&value, as)) {
        stop(w);
        return leave(w);
    }
    return JVMTI_VISIT_OBJECTS;
}

jint JNICALL hpx_trace_array(jlong class_tag, jlong size, jlong *tag, jint n, jvmtiPrimitiveType type, const void *elements, void *user)
{
    struct hpx_walk *w = user;
    uint64_t key = key_of(w, tag);
    (void)size, (void)type;
    if (hpx_unlikely(w->end != HPX_WALK_WHOLE)) {
        return leave(w);
    }
    const struct hpx_heap_klass *klass = class_of(w, key, class_tag)->klass;
    const uint64_t at = (uint64_t)(uintptr_t)elements - key;
    if (klass == NULL || klass->kind != HPX_HEAP_PRIMITIVES || hpx_oops_length(&w->oops, key) != (uint32_t)n) {
        stop(w);
        return leave(w);
    }
    uint32_t *base = &w->trace.array_base[klass->type];
    if (n > 0) {
        *base = *base == 0 && at < 64 ? (uint32_t)at : *base;
        if (*base != at) {
            stop(w);
        }
    }
    return JVMTI_VISIT_OBJECTS;
}
