/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_read.c: a trace reads the heap itself (trace.h): what was told of some classes serves all, then everything that roots reach. */
#include "walk_internal.h"

#define FILTER_BITS     15u  /* at least: a filter that stays in the nearest cache */
#define KLASS_AT_MOST   192u /* how far into a class object the address of its class is looked for */
#define SIZE_AT_MOST    64u  /* how far into a class the size of its instances is looked for */
#define SLOW            1u   /* this bit of the size is no part of it */
#define REFINED_AT_MOST 320u /* how far into the class of an array the class that its objects have is looked for */

/* ---- what follows for all classes ---- */

/* Whether a class word stands for the class at this address, or may, which the code learns. */
static bool stands_for(const struct hpx_walk *w, struct hpx_trace_code *code, uint32_t word, uint64_t klass)
{
    return w->oops.class_half ? hpx_walk_half(klass) == word : hpx_trace_learn(code, word, klass);
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
        if (k->words != 0 && c->told_size != 0 && hpx_trace_size_with_stack(w, c->first, c) != c->told_size) {
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
    const struct hpx_heap_klass *k = klass_at(w, number);
    if (k != NULL) {
        (void)claim_bit(w, w->trace.reached, number.v);
    } else {
        hpx_walk_meet_mirror(w, key, 0, w->class_of_classes);
    }
    if (e == NULL && klass_of(w, key) != 0) { /* that of `int` has no class */
        fail(w, k != NULL ? HPX_WALK_STRANGE : HPX_WALK_LATE);
    } else if (e != NULL && e->value == 0 && k != NULL && k->linked && k->above != NULL && k->above->above != NULL) {
        stop(w); /* it would have told at least of its superclass: the VM has not visited it yet, so it visits in another order */
    }
    for (uint64_t i = e != NULL && e->value != 0 ? e->value - 1 : w->trace.edges.len; i < w->trace.edges.len && edges[i].of == key; i++) {
        reach(w, edges[i].to);
    }
}

static inline void trace_instance(struct hpx_walk *w, uint64_t key, const struct hpx_walk_class *c)
{
    uint8_t *values = hpx_heap_spool_instance(&w->spool, id_at(w, key), 0, hpx_heap_class_id(c->klass->number), c->klass->instance_size);
    w->found.bytes += hpx_likely(c->klass->words == 0) ? c->vm_size : hpx_trace_size_with_stack(w, key, c);
    if (hpx_unlikely(c->klass->virtual_thread) && hpx_address_map_find(&w->trace.visited, key) == NULL) {
        hpx_trace_later(w, key); /* its stack is known to the VM alone */
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
            (void)claim_bit(w, t->special, filter_bit(w, key));
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

void hpx_trace_roots(struct hpx_walk *w)
{
    struct hpx_trace *t = &w->trace;
    hpx_trace_end_told(w);
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
    hpx_trace_roots(w);
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
    if (t->reached != NULL) { /* a walk that was not set up has no layout */
        hpx_walk_unmap(t->reached, ((uint64_t)w->layout->nclasses / 64 + 1) * 8);
    }
    *t = (struct hpx_trace){.object = 0};
}
