/* SPDX-License-Identifier: BSD-2-Clause */
/* walk_trace.c: a walk that reads the heap itself (trace.h). */
#include "walk_internal.h"

#define LONG            65536 /* elements of an array that the VM does not visit */
#define SHIFT_MOST      16u
#define FILTER_BITS     15u  /* at least: a filter that stays in the nearest cache */
#define KLASS_AT_MOST   192u /* how far into a class object the address of its class is looked for */
#define SIZE_AT_MOST    64u  /* how far into a class the size of its instances is looked for */
#define SLOW            1u   /* this bit of the size is no part of it */
#define REFINED_AT_MOST 320u /* how far into the class of an array the class that its objects have is looked for */
#define HELPER_STEP     32u  /* bytes between two arrays in the helper, at least */

/* What a class object refers to. */
struct hpx_trace_edge {
    uint64_t of, to; /* keys */
};

static void trace(struct hpx_walk *w);

static void stop(struct hpx_walk *w)
{
    fail(w, HPX_WALK_STRANGE);
}

/* The walk is over. Up to JDK 20 HotSpot would go through the whole heap once more, and crash at the helper, which is no array any more. */
static jint leave(struct hpx_walk *w)
{
    if (w->last != NULL) {
        w->last();
    }
    return JVMTI_VISIT_ABORT;
}

/* ---- what stands for an address ---- */

/* The word was told to stand for the address. false: that contradicts what was told before. */
static bool learn(struct hpx_trace_code *c, uint32_t word, uint64_t address)
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

static inline bool narrow(const struct hpx_walk *w)
{
    return w->reference_size == sizeof(uint32_t);
}

/* The object that a reference at this address names; 0: null. */
static inline uint64_t refers(const struct hpx_walk *w, uint64_t at)
{
    if (!narrow(w)) {
        return moved(w, *(const uint64_t *)(uintptr_t)at);
    }
    const struct hpx_trace_code *c = &w->trace.reference;
    uint32_t word = *(const uint32_t *)(uintptr_t)at;
    return hpx_likely(word != 0) ? moved(w, c->base + ((uint64_t)word << c->shift)) : 0;
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
    return c->known ? refers(w, at) == key : learn(c, *(const uint32_t *)(uintptr_t)at, key);
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

/* Everything was told of the object that the VM visited last: as many references as it holds. */
static void end_told(struct hpx_walk *w)
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

static inline bool test_bit(const uint64_t *bits, uint64_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static inline void set_bit(uint64_t *bits, uint64_t i)
{
    bits[i / 64] |= UINT64_C(1) << i % 64;
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
    end_told(w);
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

/* The VM shall visit this object by the helper. */
static void add_later(struct hpx_walk *w, uint64_t key)
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
        add_later(w, key);
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
        trace(w);
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

/* Behind the fields of a stack of a virtual thread lie its words, and a bit for each reference that they may be. */
static uint64_t size_with_stack(const struct hpx_walk *w, uint64_t key, const struct hpx_walk_class *c)
{
    const uint64_t words = *(const uint32_t *)(uintptr_t)(key + hpx_oops_field_at(&w->oops, c->klass->words));
    const uint64_t bits = words * (8 / w->reference_size), bytes = c->vm_size + 8 * (words + (bits + 63) / 64);
    return (bytes + w->alignment - 1) / w->alignment * w->alignment;
}

static void told_size(struct hpx_walk *w, uint64_t key, struct hpx_walk_class *c, uint32_t size)
{
    c->told_size = c->first == 0 || c->first == key ? size : c->told_size;
    if (c->plan != 0 && c->klass->words != 0 && size_with_stack(w, key, c) != size) {
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

/* ---- what follows for all classes ---- */

/* Whether a class word stands for the class at this address, or may, which the code learns. */
static bool stands_for(const struct hpx_walk *w, struct hpx_trace_code *code, uint32_t word, uint64_t klass)
{
    return w->oops.class_half ? hpx_walk_half(klass) == word : learn(code, word, klass);
}

/* Where class objects hold the address of their class: at the offset where all that were told agree with the class words. */
static void find_klass_at(struct hpx_walk *w)
{
    struct hpx_trace *t = &w->trace;
    for (uint32_t at = 8; at < KLASS_AT_MOST && t->klass_at == 0; at += 8) {
        struct hpx_trace_code code = {.known = false};
        uint32_t agree = 0;
        bool all = true;
        for (uint32_t i = 0; all && i < w->classes_room; i++) {
            const struct hpx_walk_class *c = &w->classes[i];
            if (c->mirror != 0 && !(c->klass != NULL && c->klass->kind == HPX_HEAP_OBJECTS)) {
                uint64_t klass = *(const uint64_t *)(uintptr_t)(c->mirror + at);
                all = klass > HPX_WALK_STEP && klass % 8 == 0 && stands_for(w, &code, c->word, klass);
                agree++;
            }
        }
        if (all && agree > 8 && (code.known || w->oops.class_half)) {
            t->klass_at = at;
            t->klass = code;
        }
    }
    if (t->klass_at == 0) {
        stop(w);
    }
}

static inline uint64_t klass_of(const struct hpx_walk *w, uint64_t mirror)
{
    return *(const uint64_t *)(uintptr_t)(mirror + w->trace.klass_at);
}

static bool told_array(const struct hpx_walk_class *c)
{
    return c->mirror != 0 && c->klass != NULL && c->klass->kind == HPX_HEAP_OBJECTS;
}

/* On JDK 28 arrays of objects have a class of their own behind that of the class object; on older releases it is the same. */
static void find_refined_at(struct hpx_walk *w)
{
    struct hpx_trace *t = &w->trace;
    for (uint32_t at = 0; at < REFINED_AT_MOST; at += 8) {
        bool all = true;
        for (uint32_t i = 0; all && i < w->classes_room; i++) {
            const struct hpx_walk_class *c = &w->classes[i];
            if (told_array(c)) {
                uint64_t klass = klass_of(w, c->mirror);
                klass = at == 0 ? klass : *(const uint64_t *)(uintptr_t)(klass + at);
                all = stands_for(w, &t->klass, c->word, klass);
            }
        }
        if (all) {
            t->refined_at = at;
            return;
        }
    }
    stop(w);
}

static bool sizes_agree(const struct hpx_walk *w, uint32_t at)
{
    uint32_t agree = 0;
    for (uint32_t i = 0; i < w->classes_room; i++) {
        const struct hpx_walk_class *c = &w->classes[i];
        if (c->mirror != 0 && c->told_size != 0 && c != w->class_of_classes && c->klass != NULL && c->klass->kind == HPX_HEAP_INSTANCES) {
            uint32_t size = *(const uint32_t *)(uintptr_t)(klass_of(w, c->mirror) + at);
            if (size & SLOW ? (size & ~SLOW) > c->told_size : size != c->told_size) {
                return false;
            }
            agree++;
        }
    }
    return agree > 8;
}

static void find_size_at(struct hpx_walk *w)
{
    struct hpx_trace *t = &w->trace;
    for (uint32_t at = 8; at < SIZE_AT_MOST && t->size_at == 0; at += 4) {
        t->size_at = sizes_agree(w, at) ? at : 0;
    }
    if (t->size_at == 0) {
        stop(w);
    }
}

/* The class words of all classes that were listed, by the addresses that their class objects hold. */
static void learn_all_classes(struct hpx_walk *w)
{
    const struct hpx_layout *l = w->layout;
    const struct hpx_trace_code *code = &w->trace.klass;
    for (uint32_t i = 0; i < l->loaded && w->end == HPX_WALK_WHOLE; i++) {
        uint64_t mirror = l->class_numbers[i].v != 0 ? moved(w, hpx_oops_handle(l->class_refs[i])) : 0,
                 klass = mirror != 0 ? klass_of(w, mirror) : 0;
        const struct hpx_heap_klass *k = klass_at(w, l->class_numbers[i]);
        if (klass != 0 && k != NULL && k->kind == HPX_HEAP_OBJECTS && w->trace.refined_at != 0) {
            klass = *(const uint64_t *)(uintptr_t)(klass + w->trace.refined_at); /* 0: there is no such array yet */
        }
        uint64_t word = w->oops.class_half ? hpx_walk_half(klass) : (klass - code->base) >> code->shift;
        if (klass == 0 || (!w->oops.class_half && klass != code->base + (word << code->shift)) ||
            word > UINT32_MAX >> w->oops.class_shift) {
            continue; /* a class without instances may be out of reach of class words */
        }
        struct hpx_walk_class *c = find_class(w, (uint32_t)word);
        if (c->mirror != 0 && c->mirror != mirror) {
            stop(w);
        } else if (c != w->class_of_classes) {
            learn_class(w, c, mirror);
        }
    }
}

static uint32_t size_of(const struct hpx_walk *w, const struct hpx_walk_class *c)
{
    return c->mirror == 0 || (c->told_size != 0 && c->klass->words == 0)
               ? c->told_size
               : *(const uint32_t *)(uintptr_t)(klass_of(w, c->mirror) + w->trace.size_at) & ~SLOW;
}

/* An array of this type: told, or as that of another type of the same size; 8 bytes need no telling. */
static uint32_t array_base_of(struct hpx_walk *w, uint8_t type)
{
    uint32_t *base = w->trace.array_base;
    const uint32_t aligned = (w->oops.length_at + 4 + 7) & ~7u;
    for (uint8_t other = HPX_TYPE_BOOLEAN; base[type] == 0 && other <= HPX_TYPE_LONG; other++) {
        base[type] = hpx_type_size(other, 8) == hpx_type_size(type, 8) ? base[other] : 0;
    }
    if (base[type] == 0 && (hpx_type_size(type, 8) == 8 || aligned == w->oops.length_at + 4)) {
        base[type] = aligned;
    }
    if (base[type] == 0) {
        stop(w);
    }
    return base[type];
}

static void add_steps(struct hpx_walk *w, struct hpx_walk_class *c, bool references)
{
    const struct hpx_heap_klass *k = c->klass;
    for (uint32_t i = 0; i < k->nslots; i++) {
        if (k->slots[i] != 0 && (HPX_HEAP_SLOT_TYPE(k->slots[i]) == HPX_TYPE_OBJECT) == references) {
            struct hpx_trace_step *s = push(w, &w->trace.steps, sizeof *s);
            if (s == NULL) {
                return;
            }
            *s = (struct hpx_trace_step){hpx_oops_field_at(&w->oops, k->ids[i]), (uint32_t)k->slots[i]};
            c->nrefs += references;
            c->nvalues += !references;
        }
    }
}

/* The first object of a class is met. false: it cannot be read. */
static bool make_plan(struct hpx_walk *w, struct hpx_walk_class *c)
{
    const struct hpx_heap_klass *k = c->klass;
    if (is_unknown(k) || (c->mirror == 0 && c != w->class_of_classes)) {
        fail(w, HPX_WALK_LATE);
        return false;
    }
    c->plan = 1 + (uint32_t)w->trace.steps.len;
    if (k->kind == HPX_HEAP_INSTANCES) {
        c->vm_size = size_of(w, c);
        if (k->words != 0 && c->told_size != 0 && size_with_stack(w, c->first, c) != c->told_size) {
            stop(w);
        }
        add_steps(w, c, true);
        if (w->primitive_fields && !w->fields) {
            add_steps(w, c, false);
        }
    } else if (k->kind == HPX_HEAP_PRIMITIVES) {
        (void)array_base_of(w, k->type);
    }
    return w->end == HPX_WALK_WHOLE;
}

/* ---- the trace ---- */

static inline uint64_t filter_bit(const struct hpx_walk *w, uint64_t key)
{
    return key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - w->trace.filter_bits);
}

/* The id of an object that is referred to. */
static inline uint64_t id_at(struct hpx_walk *w, uint64_t key)
{
    if (hpx_unlikely(test_bit(w->trace.special, filter_bit(w, key)))) {
        uint64_t as = hpx_walk_known_as(w, key);
        struct hpx_class_number number = hpx_site_class_of(as);
        if (klass_at(w, number) != NULL) {
            return hpx_heap_class_id(number);
        }
        return as != 0 && number.v == 0 ? w->layout->threads[as - 1].object : plain_id(w, key);
    }
    return plain_id(w, key);
}

/* false: it was set before. Of several workers one sets it. */
static inline bool claim_bit(const struct hpx_walk *w, uint64_t *bits, uint64_t i)
{
    const uint64_t bit = UINT64_C(1) << i % 64;
    if (__atomic_load_n(&bits[i / 64], __ATOMIC_RELAXED) & bit) {
        return false;
    }
    if (w->trace.team == NULL) {
        bits[i / 64] |= bit;
        return true;
    }
    return (__atomic_fetch_or(&bits[i / 64], bit, __ATOMIC_RELAXED) & bit) == 0;
}

static inline void reach(struct hpx_walk *w, uint64_t key)
{
    if (hpx_unlikely(key < w->low || key >= w->high || key % 8 != 0)) {
        stop(w);
    } else if (claim_bit(w, w->trace.marks, (key - w->low) / 8)) {
        __builtin_prefetch((const void *)(uintptr_t)key);
        (void)push_key(w, &w->trace.stack, key);
    }
}

static void trace_mirror(struct hpx_walk *w, uint64_t key)
{
    const struct hpx_class_number number = hpx_site_class_of(hpx_walk_known_as(w, key));
    const struct hpx_address_entry *e = hpx_address_map_find(&w->trace.visited, key);
    const struct hpx_trace_edge *edges = w->trace.edges.at;
    const bool listed = klass_at(w, number) != NULL;
    if (listed) {
        (void)claim_bit(w, w->trace.reached, number.v);
    } else {
        hpx_walk_meet_mirror(w, key, 0, w->class_of_classes);
    }
    if (e == NULL && klass_of(w, key) != 0) { /* that of `int` has no class */
        fail(w, listed ? HPX_WALK_STRANGE : HPX_WALK_LATE);
    }
    for (uint64_t i = e != NULL && e->value != 0 ? e->value - 1 : w->trace.edges.len; i < w->trace.edges.len && edges[i].of == key; i++) {
        reach(w, edges[i].to);
    }
}

static inline void trace_instance(struct hpx_walk *w, uint64_t key, const struct hpx_walk_class *c)
{
    uint8_t *values = hpx_heap_spool_instance(&w->spool, id_at(w, key), 0, hpx_heap_class_id(c->klass->number), c->klass->instance_size);
    w->found.bytes += hpx_likely(c->klass->words == 0) ? c->vm_size : size_with_stack(w, key, c);
    if (hpx_unlikely(c->klass->virtual_thread) && hpx_address_map_find(&w->trace.visited, key) == NULL) {
        add_later(w, key); /* its stack is known to the VM alone */
    }
    if (c->nrefs + c->nvalues == 0) {
        return; /* there may be no steps at all */
    }
    const struct hpx_trace_step *s = (const struct hpx_trace_step *)w->trace.steps.at + c->plan - 1;
    for (uint32_t i = 0; i < c->nrefs; i++, s++) {
        uint64_t to = refers(w, key + s->at);
        if (to != 0) {
            reach(w, to);
            hpx_heap_spool_value(&w->spool, values + HPX_HEAP_SLOT_OFFSET(s->slot), HPX_TYPE_OBJECT, id_at(w, to));
        }
    }
    for (uint32_t i = 0; i < c->nvalues; i++, s++) {
        uint8_t type = HPX_HEAP_SLOT_TYPE(s->slot);
        hpx_heap_spool_value(&w->spool, values + HPX_HEAP_SLOT_OFFSET(s->slot), type,
                             hpx_walk_bits((const void *)(uintptr_t)(key + s->at), type));
    }
}

static inline void trace_elements(struct hpx_walk *w, uint64_t key, uint32_t from, uint32_t end)
{
    const uint32_t to = end - from > HPX_TRACE_CHUNK ? from + HPX_TRACE_CHUNK : end;
    if (to < end) {
        (void)push_key(w, &w->trace.stack, HPX_TRACE_RANGE(to, end));
        (void)push_key(w, &w->trace.stack, key | HPX_TRACE_ARRAY);
    }
    for (uint32_t i = from; i < to; i++) {
        uint64_t element = refers(w, key + w->array_base + (uint64_t)i * w->reference_size);
        if (element != 0) {
            reach(w, element);
        }
    }
}

static inline void trace_objects(struct hpx_walk *w, uint64_t key, const struct hpx_walk_class *c)
{
    const uint32_t length = hpx_oops_length(&w->oops, key);
    w->found.bytes += array_bytes(w, length);
    w->found.cut += hpx_heap_spool_objects(&w->spool, id_at(w, key), 0, hpx_heap_class_id(c->klass->number), length) < length;
    for (uint32_t i = 0; i < length; i++) {
        uint64_t element = refers(w, key + w->array_base + (uint64_t)i * w->reference_size);
        if (element != 0) {
            (void)hpx_heap_spool_element(&w->spool, i, id_at(w, element));
        }
    }
    hpx_heap_spool_objects_end(&w->spool);
    trace_elements(w, key, 0, length);
}

static inline void trace_primitives(struct hpx_walk *w, uint64_t key, const struct hpx_walk_class *c)
{
    const uint8_t type = c->klass->type;
    const uint32_t n = hpx_oops_length(&w->oops, key), base = w->trace.array_base[type], each = hpx_type_size(type, 8);
    const uint64_t size = (base + (uint64_t)n * each + w->alignment - 1) / w->alignment * w->alignment;
    const bool text = type == HPX_TYPE_BYTE || type == HPX_TYPE_CHAR, hidden = w->arrays || (w->strings && text);
    const uint32_t shown = w->primitive_arrays ? n : 0;
    w->found.cut +=
        hpx_heap_spool_primitives(&w->spool, id_at(w, key), 0, type, shown, hidden ? NULL : (const void *)(uintptr_t)(key + base)) < shown;
    w->found.bytes += size;
    w->found.heads += size - (uint64_t)shown * each;
}

static inline void trace_object(struct hpx_walk *w, uint64_t key)
{
    struct hpx_walk_class *c = find_class(w, hpx_oops_class_word(&w->oops, key));
    if (hpx_unlikely(c->plan == 0)) {
        if (!make_plan(w, c)) {
            return;
        }
        if (c != w->class_of_classes) {
            reach(w, c->mirror);
        }
    }
    if (c == w->class_of_classes) {
        trace_mirror(w, key);
        return;
    }
    count_object(w);
    if (hpx_likely(c->klass->kind == HPX_HEAP_INSTANCES)) {
        trace_instance(w, key, c);
    } else if (c->klass->kind == HPX_HEAP_OBJECTS) {
        trace_objects(w, key, c);
    } else {
        trace_primitives(w, key, c);
    }
}

static uint64_t marks_bytes(const struct hpx_walk *w)
{
    return ((w->high - w->low) / 8 / 64 + 1) * 8;
}

/* Before the trace: what was told of each class serves all. */
static bool prepare(struct hpx_walk *w)
{
    struct hpx_trace *t = &w->trace;
    find_klass_at(w);
    if (w->end == HPX_WALK_WHOLE) {
        find_size_at(w);
        find_refined_at(w);
    }
    if (narrow(w) && !t->reference.known) {
        stop(w);
    }
    if (w->end == HPX_WALK_WHOLE) {
        learn_all_classes(w);
    }
    t->marks = hpx_walk_map(marks_bytes(w));
    for (t->filter_bits = FILTER_BITS; w->known.room * 8 >> t->filter_bits > 0; t->filter_bits++) { /* one bit in 16 is set, or fewer */
    }
    t->special = hpx_walk_map((UINT64_C(1) << t->filter_bits) / 8);
    t->reached = hpx_walk_map(((uint64_t)w->layout->nclasses / 64 + 1) * 8);
    if (t->marks == NULL || t->special == NULL || t->reached == NULL) {
        no_memory(w); /* the VM needs no such maps */
    }
    for (uint64_t i = 0; w->end == HPX_WALK_WHOLE && i < w->known.room; i++) {
        const uint64_t key = w->known.at[i].key;
        if (key != 0) {
            set_bit(t->special, filter_bit(w, key));
        }
        if (moved(w, key) != key) {
            fail(w, HPX_WALK_MOVED);
        }
    }
    return w->end == HPX_WALK_WHOLE;
}

/* What the VM told of classes that nothing reaches. */
static void drop_unreached(struct hpx_walk *w)
{
    struct hpx_heap_fact *f = w->facts.at;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < w->facts.len; i++) {
        if (test_bit(w->trace.reached, f[i].klass.v)) {
            f[kept++] = f[i];
        }
    }
    w->facts.len = kept;
}

/* What is on the stack, and what follows from it. */
void hpx_trace_work(struct hpx_walk *w)
{
    struct hpx_trace *t = &w->trace;
    while (t->stack.len > t->bottom && w->end == HPX_WALK_WHOLE && w->spool.error == 0) {
        uint64_t key = key_at(&t->stack, --t->stack.len);
        if (hpx_unlikely(key & HPX_TRACE_ARRAY)) {
            const uint64_t range = key_at(&t->stack, --t->stack.len);
            trace_elements(w, key & ~HPX_TRACE_ARRAY, HPX_TRACE_RANGE_FROM(range), HPX_TRACE_RANGE_TO(range));
        } else {
            trace_object(w, key);
            if (hpx_unlikely(w->found.objects >= t->share_at)) {
                hpx_trace_share(w);
            }
        }
    }
}

/* From the roots that were added. */
static void trace(struct hpx_walk *w)
{
    struct hpx_trace *t = &w->trace;
    end_told(w);
    if (t->marks == NULL && !prepare(w)) {
        return;
    }
    while (t->traced < t->roots.len) {
        reach(w, key_at(&t->roots, t->traced++));
    }
    t->share_at = w->workers > 1 ? w->found.objects + w->alone : UINT64_MAX;
    hpx_trace_work(w);
    hpx_trace_join(w);
}

/* While the VM went on after the trace, Shenandoah may have copied an object that was traced: another reference to it would be another
 * object. */
static void check_moved(struct hpx_walk *w)
{
    const uint64_t *marks = w->trace.marks;
    for (uint64_t i = 0; i <= (w->high - w->low) / 8 / 64; i++) {
        for (uint64_t left = marks[i]; left != 0; left &= left - 1) {
            const uint64_t key = w->low + 8 * (i * 64 + (uint64_t)__builtin_ctzll(left));
            if (moved(w, key) != key) {
                fail(w, HPX_WALK_MOVED);
                return;
            }
        }
    }
}

void hpx_trace_run(struct hpx_walk *w)
{
    struct hpx_trace *t = &w->trace;
    trace(w);
    if (w->end != HPX_WALK_WHOLE || w->spool.error != 0) {
        return;
    }
    if (w->moves && t->asked > 0) {
        check_moved(w);
    }
    bool all = t->asked == t->later.len && (!w->verifies || t->objects == w->found.objects);
    for (uint64_t i = 0; all && i < t->later.len; i++) {
        const uint64_t key = moved(w, key_at(&t->later, i));
        const struct hpx_heap_klass *klass = find_class(w, hpx_oops_class_word(&w->oops, key))->klass;
        all = !klass->virtual_thread || hpx_address_map_find(&t->visited, key) != NULL; /* the VM has told its stack */
    }
    if (!all) {
        stop(w);
    }
    drop_unreached(w);
}

void hpx_trace_fini(struct hpx_walk *w)
{
    struct hpx_trace *t = &w->trace;
    hpx_address_map_fini(&t->visited);
    hpx_walk_list_fini(&t->roots, sizeof(uint64_t));
    hpx_walk_list_fini(&t->later, sizeof(uint64_t));
    hpx_walk_list_fini(&t->edges, sizeof(struct hpx_trace_edge));
    hpx_walk_list_fini(&t->steps, sizeof(struct hpx_trace_step));
    hpx_walk_list_fini(&t->stack, sizeof(uint64_t));
    hpx_walk_unmap(t->marks, marks_bytes(w));
    hpx_walk_unmap(t->special, (UINT64_C(1) << t->filter_bits) / 8);
    hpx_walk_unmap(t->reached, ((uint64_t)w->layout->nclasses / 64 + 1) * 8);
    *t = (struct hpx_trace){.object = 0};
}
