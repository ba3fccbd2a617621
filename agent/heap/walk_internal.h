/* SPDX-License-Identifier: BSD-2-Clause */
/* walk_internal.h: what the parts of a walk share: walk.c (records), walk_objects.c (keys and classes), walk_roots.c, trace_told.c,
 * trace_read.c and trace_team.c (traces). Restrictions as for callbacks (walk.h). The functions of every reference are inline. */
#ifndef HPX_WALK_INTERNAL_H
#define HPX_WALK_INTERNAL_H

#include "walk.h"
#include <string.h>

static inline void fail(struct hpx_walk *w, enum hpx_walk_end end)
{
    w->end = w->end == HPX_WALK_WHOLE ? end : w->end;
}

static inline void no_memory(struct hpx_walk *w)
{
    fail(w, HPX_WALK_NO_MEMORY);
}

/* What the VM tells does not fit together. */
static inline void contradict(struct hpx_walk *w)
{
    fail(w, w->by_tags ? HPX_WALK_ORDER : HPX_WALK_DOUBT);
}

/* ---- walk.c ---- */

/* At the first callback. */
bool hpx_walk_begin(struct hpx_walk *w, const void *frame);
/* No number: of a class that was loaded during the dump, which is shown as an object. */
void hpx_walk_add_fact(struct hpx_walk *w, struct hpx_class_number number, uint8_t kind, uint32_t index, uint8_t type, uint64_t value);
/* value: as wide as the type of the field. */
void hpx_walk_add_static(struct hpx_walk *w, struct hpx_class_number number, jint index, const void *value);
/* A class refers to the object with this id. */
void hpx_walk_meet_of_class(struct hpx_walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info,
                            struct hpx_class_number referrer, uint64_t id);

/* ---- trace_told.c ---- */

jint JNICALL hpx_trace_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong referrer_class_tag,
                                 jlong size, jlong *tag, jlong *referrer_tag, jint length, void *user);
jint JNICALL hpx_trace_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, jlong class_tag, jlong *tag, jvalue value,
                             jvmtiPrimitiveType type, void *user);
jint JNICALL hpx_trace_array(jlong class_tag, jlong size, jlong *tag, jint n, jvmtiPrimitiveType type, const void *elements, void *user);
/* The word was told to stand for the address. false: that contradicts what was told before. */
bool hpx_trace_learn(struct hpx_trace_code *c, uint32_t word, uint64_t address);
/* Everything was told of the object that the VM visited last: as many references as it holds. */
void hpx_trace_end_told(struct hpx_walk *w);
/* The VM shall visit this object by the helper. */
void hpx_trace_later(struct hpx_walk *w, uint64_t key);
/* Behind the fields of a stack of a virtual thread lie its words, and a bit for each reference that they may be. */
uint64_t hpx_trace_size_with_stack(const struct hpx_walk *w, uint64_t key, const struct hpx_walk_class *c);

/* ---- trace_read.c ---- */

/* From the roots that were added. */
void hpx_trace_roots(struct hpx_walk *w);
/* Reads everything that the roots reach, after the VM's part. */
void hpx_trace_run(struct hpx_walk *w);
void hpx_trace_fini(struct hpx_walk *w);
/* What is on the stack, and what follows from it. */
void hpx_trace_work(struct hpx_walk *w);

/* ---- trace_team.c ---- */

/* Begins the team, or passes work on if another worker has none. */
void hpx_trace_share(struct hpx_walk *w);
/* Helps until all workers are done, and takes their results. Without a team nothing. */
void hpx_trace_join(struct hpx_walk *w);

/* ---- walk_objects.c ---- */

/* Room for one more element. false: no memory, which has failed the walk. */
bool hpx_walk_room(struct hpx_walk *w, struct hpx_walk_list *l, size_t size);
/* A class that was not met: *c is a free entry of the table. */
struct hpx_walk_class *hpx_walk_add_class(struct hpx_walk *w, struct hpx_walk_class *c, uint32_t word);
/* The key of a flattened object; of another one its address. */
uint64_t hpx_walk_flat_key(struct hpx_walk *w, const jlong *tag, uint64_t address);
/* A flattened object is referred to: compares its place with what else is known of it. */
void hpx_walk_meet_flat(struct hpx_walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, uint64_t referrer,
                        const struct hpx_walk_class *of, uint64_t key);
/* By tags: the key of an object, which is its tag from now on. */
uint64_t hpx_walk_key_by_tag(struct hpx_walk *w, jlong *tag);
/* What a thread or class object of the dump is known as: 1 + the place of the thread in the layout, or the tag of the class. 0: neither. */
uint64_t hpx_walk_known_as(const struct hpx_walk *w, uint64_t key);
/* A class object that is met has its record at the end, unless it is a class of the dump. */
void hpx_walk_meet_mirror(struct hpx_walk *w, uint64_t key, uint64_t tag, const struct hpx_walk_class *c);
/* What the layout knows: the first callback, in the process that walks. */
void hpx_walk_know(struct hpx_walk *w);

/* ---- walk_roots.c ---- */

/* Whether the root is a reference of the layout, or of another thread of hprofx to what the layout knows: the program does not have it. */
bool hpx_walk_own_root(const struct hpx_walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, uint64_t key,
                       const struct hpx_walk_class *c);
/* A root names this object: it gets the id. */
void hpx_walk_meet_root(struct hpx_walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, uint64_t key,
                        const struct hpx_walk_class *c, uint64_t id);
/* At the end: every object that a root named has its record, and the threads were where their references say. */
void hpx_walk_check_roots(struct hpx_walk *w);

/* ---- lists ---- */

/* Cleared memory; NULL: there is none. The kernel does not count it before it is used: most of a sparse map never is, and lists double. */
void *hpx_walk_map(size_t bytes);
/* p may be NULL. */
void hpx_walk_unmap(void *p, size_t bytes);
void hpx_walk_list_fini(struct hpx_walk_list *l, size_t size);

static inline void *push(struct hpx_walk *w, struct hpx_walk_list *l, size_t size)
{
    return l->len < l->room || hpx_walk_room(w, l, size) ? (char *)l->at + l->len++ * size : NULL;
}

/* The same for a list of keys. */
static inline bool push_key(struct hpx_walk *w, struct hpx_walk_list *l, uint64_t key)
{
    uint64_t *to = push(w, l, sizeof *to);
    if (hpx_likely(to != NULL)) {
        *to = key;
    }
    return to != NULL;
}

static inline uint64_t key_at(const struct hpx_walk_list *l, uint64_t i)
{
    return ((const uint64_t *)l->at)[i];
}

static inline struct hpx_address_entry *put(struct hpx_walk *w, struct hpx_address_map *m, uint64_t key)
{
    struct hpx_address_entry *e = hpx_address_map_put(m, key);
    if (e == NULL) {
        no_memory(w);
    }
    return e;
}

/* ---- values ---- */

/* The bits of a value, as wide as its type: of the heap, of a jvalue, or the id of an object. */
static inline uint64_t hpx_walk_bits(const void *at, uint8_t type)
{
    switch (hpx_type_size(type, 8)) {
    case 1:
        return *(const uint8_t *)at;
    case 2:
        return *(const uint16_t *)at;
    case 4:
        return *(const uint32_t *)at;
    default:
        return *(const uint64_t *)at;
    }
}

/* ---- objects and classes ---- */

#define HPX_WALK_STEP 4096u /* objects between two reports of progress */

static inline void count_object(struct hpx_walk *w)
{
    w->found.objects++;
    if (w->progress != NULL && w->found.objects % HPX_WALK_STEP == 0) {
        atomic_fetch_add_explicit(w->progress, HPX_WALK_STEP, memory_order_relaxed);
    }
}

/* As the VM computes it. */
static inline uint64_t array_bytes(const struct hpx_walk *w, uint32_t length)
{
    uint64_t bytes = w->array_base + (uint64_t)length * w->reference_size;
    return (bytes + w->alignment - 1) / w->alignment * w->alignment;
}

/* Stands for a class whose address has a lower half of 0; no address ends like this. One JVM in 64 has such a class (JDK 17). */
#define HPX_WALK_HALF_OF_ZERO UINT32_MAX

/* The word of a class, if that is half of its address. */
static inline uint32_t hpx_walk_half(uint64_t klass)
{
    return (uint32_t)klass != 0 ? (uint32_t)klass : HPX_WALK_HALF_OF_ZERO;
}

/* NULL: not a class of the dump. */
static inline const struct hpx_heap_klass *klass_at(const struct hpx_walk *w, struct hpx_class_number number)
{
    return number.v < w->layout->nclasses ? w->layout->classes[number.v] : NULL;
}

static inline struct hpx_walk_class *find_class(struct hpx_walk *w, uint32_t word)
{
    for (uint32_t i = word * 0x9e3779b1u >> 7;; i++) {
        struct hpx_walk_class *c = &w->classes[i & (w->classes_room - 1)];
        if (hpx_likely(c->word == word) && hpx_likely(word != 0)) {
            return c;
        }
        if (c->word == 0) {
            return hpx_walk_add_class(w, c, word);
        }
    }
}

#define HPX_WALK_FLAT 48 /* where the number of a flattened object's class begins in its key; it is not 0 */

static inline bool is_flat(const struct hpx_walk *w, uint64_t key)
{
    return hpx_unlikely(w->flattened) && key >> HPX_WALK_FLAT != 0;
}

/* The class of an object. */
static inline struct hpx_walk_class *class_of(struct hpx_walk *w, uint64_t key, jlong class_tag)
{
    if (is_flat(w, key)) {
        return ((struct hpx_walk_class **)w->flat.at)[(key >> HPX_WALK_FLAT) - 1];
    }
    uint32_t by_tag = 1 + hpx_site_class_of((uint64_t)class_tag).v; /* 1: a class without a number */
    return find_class(w, hpx_unlikely(w->by_tags) ? by_tag : hpx_oops_class_word(&w->oops, key));
}

/* Where the collector has copied this object to. The old copy's mark ends with 11 and holds the address; 0 there is a mark of the VM's own
 * walk (JDK 8 to 20). An object that the collector could not copy stays where it is, and its mark has other bits (JDK 28). */
static inline uint64_t moved(const struct hpx_walk *w, uint64_t key)
{
    if (hpx_likely(!w->moves) || key == 0 || key < w->low || key >= w->high || key % 8 != 0) {
        return key;
    }
    const uint64_t mark = *(const uint64_t *)(uintptr_t)key, to = mark & ~UINT64_C(7);
    return hpx_unlikely((mark & 3) == 3 && to != 0) ? to : key;
}

static inline uint64_t checked(struct hpx_walk *w, const jlong *tag, uint64_t key)
{
    if (hpx_unlikely(key < w->low || key >= w->high || key % 8 != 0)) {
        fail(w, HPX_WALK_DOUBT);
        return key;
    }
    return hpx_unlikely(w->flattened) ? hpx_walk_flat_key(w, tag, key) : key;
}

static inline uint64_t key_of(struct hpx_walk *w, jlong *tag)
{
    return hpx_unlikely(w->by_tags) ? hpx_walk_key_by_tag(w, tag) : checked(w, tag, hpx_oops_object(&w->oops, tag));
}

static inline uint64_t referrer_key(struct hpx_walk *w, jlong *tag, jlong *referrer_tag)
{
    return hpx_unlikely(w->by_tags) ? hpx_walk_key_by_tag(w, referrer_tag)
                                    : checked(w, referrer_tag, hpx_oops_referrer(&w->oops, tag, referrer_tag));
}

/* The number of a class of the dump whose class object this is; 0: none. */
static inline struct hpx_class_number number_of(const struct hpx_walk *w, uint64_t key, const struct hpx_walk_class *c)
{
    const struct hpx_class_number none = {0}, number = c->special ? hpx_site_class_of(hpx_walk_known_as(w, key)) : none;
    return klass_at(w, number) != NULL ? number : none;
}

/* The id of an object that is neither class nor thread. */
static inline uint64_t plain_id(struct hpx_walk *w, uint64_t key)
{
    uint64_t id = HPX_HEAP_OBJECT_FIRST + (((key & w->mask) - w->base) >> w->shift);
    if (hpx_unlikely(w->spool.id_size == 4 && id > UINT32_MAX)) {
        fail(w, HPX_WALK_TOO_MANY);
    }
    return id;
}

static inline uint64_t id_of(struct hpx_walk *w, uint64_t key, const struct hpx_walk_class *c)
{
    uint64_t as = hpx_unlikely(c->special) ? hpx_walk_known_as(w, key) : 0;
    struct hpx_class_number number = hpx_site_class_of(as);
    if (klass_at(w, number) != NULL) {
        return hpx_heap_class_id(number);
    }
    return as != 0 && number.v == 0 ? w->layout->threads[as - 1].object : plain_id(w, key);
}

static inline uint32_t site_of(const struct hpx_walk *w, uint64_t tag)
{
    return w->by_tags || (tag & HPX_SITE_CLASS_TAG) ? HPX_SITE_NONE : (uint32_t)(tag >> HPX_SITE_UNITS_BITS);
}

/* Its class was loaded during the dump: it is shown as an instance of java.lang.Object. */
static inline bool is_unknown(const struct hpx_heap_klass *klass)
{
    return klass == NULL || (klass->kind == HPX_HEAP_INSTANCES && !klass->linked);
}

static inline uint32_t array_length(const struct hpx_walk *w, uint64_t key)
{
    return w->by_tags ? ((const uint32_t *)w->lengths.at)[key - 1] : hpx_oops_length(&w->oops, key);
}

static inline void meet_array(struct hpx_walk *w, uint64_t key, jint length)
{
    if (hpx_unlikely(w->by_tags)) {
        ((uint32_t *)w->lengths.at)[key - 1] = (uint32_t)length;
    } else if (hpx_unlikely(hpx_oops_length(&w->oops, key) != (uint32_t)length)) {
        fail(w, HPX_WALK_DOUBT);
    }
}

/* The id of an object that a root or reference names. */
static inline uint64_t meet(struct hpx_walk *w, uint64_t key, uint64_t tag, struct hpx_walk_class *c, jlong size, jint length)
{
    if (length >= 0) {
        meet_array(w, key, length);
    } else if (hpx_unlikely(c->vm_size == 0) && !is_flat(w, key)) { /* its bytes are its holder's */
        c->vm_size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    }
    if (hpx_unlikely(c->special)) {
        hpx_walk_meet_mirror(w, key, tag, c);
    }
    return id_of(w, key, c);
}

/* An object refers to its class: what the word in the object means. */
static inline void learn_class(struct hpx_walk *w, struct hpx_walk_class *c, uint64_t mirror)
{
    if (hpx_unlikely(c->mirror == 0)) {
        c->mirror = mirror;
        c->klass = w->by_tags ? c->klass : klass_at(w, hpx_site_class_of(hpx_walk_known_as(w, mirror)));
        c->special = c->special || (c->klass != NULL && c->klass->thread);
    } else if (hpx_unlikely(c->mirror != mirror) && !(w->by_tags && c->word == 1)) { /* by tags all classes without a number are one */
        contradict(w);
    }
}

/* ---- of a trace ---- */

static inline void stop(struct hpx_walk *w)
{
    fail(w, HPX_WALK_STRANGE);
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

static inline bool test_bit(const uint64_t *bits, uint64_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

#endif
