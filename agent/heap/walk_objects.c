/* SPDX-License-Identifier: BSD-2-Clause */
/* walk_objects.c: how a walk knows objects and classes: see walk_internal.h. */
#include "walk_internal.h"
#include <string.h>
#include <sys/mman.h>

void *hpx_walk_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p != MAP_FAILED ? p : NULL;
}

void hpx_walk_unmap(void *p, size_t bytes)
{
    if (p != NULL) {
        munmap(p, bytes);
    }
}

bool hpx_walk_room(struct hpx_walk *w, struct hpx_walk_list *l, size_t size)
{
    uint64_t room = l->room != 0 ? 2 * l->room : 8192;
    void *p = hpx_walk_map(room * size);
    if (p == NULL) {
        no_memory(w);
        return false;
    }
    if (l->at != NULL) {
        memcpy(p, l->at, l->len * size);
    }
    hpx_walk_unmap(l->at, l->room * size);
    l->at = p;
    l->room = room;
    return true;
}

void hpx_walk_list_fini(struct hpx_walk_list *l, size_t size)
{
    hpx_walk_unmap(l->at, l->room * size);
    *l = (struct hpx_walk_list){.at = NULL};
}

struct hpx_walk_class *hpx_walk_add_class(struct hpx_walk *w, struct hpx_walk_class *c, uint32_t word)
{
    static struct hpx_walk_class none;
    if (word == 0 && w->oops.class_half && !w->by_tags) {
        return find_class(w, HPX_WALK_HALF_OF_ZERO);
    }
    if (w->nclasses >= w->classes_room / 4 * 3 || word == 0) {
        fail(w, word == 0 ? HPX_WALK_DOUBT : HPX_WALK_NO_MEMORY); /* more classes came than the table has room for */
        return &none;
    }
    w->nclasses++;
    c->word = word;
    c->klass = w->by_tags ? klass_at(w, (struct hpx_class_number){word - 1}) : NULL;
    if (word == (w->by_tags ? 1 + w->layout->class_class.v : w->oops.class_of_classes)) {
        w->class_of_classes = c;
        c->klass = klass_at(w, w->layout->class_class); /* class objects do not refer to their class */
    }
    c->special = c == w->class_of_classes || (w->by_tags && word == 1) || (c->klass != NULL && c->klass->thread);
    return c;
}

/* The class word of flattened objects: no other one has both its first and its last bit, as a class word is an address, or an address
 * shifted by 3 at least. */
static uint32_t flat_word(uint64_t klass)
{
    return UINT32_C(1) << 31 | (uint32_t)klass >> 4 << 1 | 1;
}

uint64_t hpx_walk_flat_key(struct hpx_walk *w, const jlong *tag, uint64_t address)
{
    const struct hpx_oops_variable *v = hpx_oops_variable(tag);
    if (hpx_likely(v->flat_at == 0)) {
        return address;
    }
    struct hpx_walk_class *c = find_class(w, flat_word(v->klass));
    if (c->flat == 0) {
        struct hpx_walk_class **to = push(w, &w->flat, sizeof(struct hpx_walk_class *));
        if (to == NULL || w->flat.len >> (64 - HPX_WALK_FLAT) != 0) {
            no_memory(w);
            return address;
        }
        *to = c;
        c->flat = w->flat.len;
    }
    return (address + v->flat_at) | c->flat << HPX_WALK_FLAT;
}

/* A field has its place from its id, elements have places of one size. A holder that is flattened itself is not compared. */
void hpx_walk_meet_flat(struct hpx_walk *w, jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo *info, uint64_t referrer,
                        const struct hpx_walk_class *of, uint64_t key)
{
    const uint64_t at = (key & ((UINT64_C(1) << HPX_WALK_FLAT) - 1)) - referrer, elements = (w->array_base + 7) & ~7u;
    bool good = is_flat(w, referrer);
    if (!good && kind == JVMTI_HEAP_REFERENCE_FIELD) {
        const uint32_t i = of->klass != NULL ? (uint32_t)info->field.index - of->klass->first : UINT32_MAX;
        good = is_unknown(of->klass) || (i < of->klass->nslots && at == hpx_oops_field_at(&w->oops, of->klass->ids[i]));
    } else if (!good && kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT) {
        const uint64_t i = (uint32_t)info->array.index, bytes = at - elements;
        good = at >= elements && (i == 0 ? bytes == 0 : bytes >= i && bytes % i == 0);
    }
    if (!good) {
        contradict(w);
    }
    w->nflat++;
}

uint64_t hpx_walk_key_by_tag(struct hpx_walk *w, jlong *tag)
{
    if (*tag == 0) {
        if (push(w, &w->lengths, sizeof(uint32_t)) == NULL) {
            return 1;
        }
        *tag = (jlong)w->lengths.len;
    }
    return (uint64_t)*tag;
}

uint64_t hpx_walk_known_as(const struct hpx_walk *w, uint64_t key)
{
    if (w->by_tags) {
        return key & HPX_SITE_CLASS_TAG ? key : key & HPX_LAYOUT_THREAD_TAG ? 1 + (uint64_t)(uint32_t)key : 0;
    }
    const struct hpx_address_entry *e = hpx_address_map_find(&w->known, key);
    return e != NULL ? e->value : 0;
}

void hpx_walk_meet_mirror(struct hpx_walk *w, uint64_t key, uint64_t tag, const struct hpx_walk_class *c)
{
    if (c == w->class_of_classes && number_of(w, key, c).v == 0) {
        struct hpx_address_entry *e = put(w, &w->mirrors, key);
        if (e != NULL) {
            e->value = site_of(w, tag);
        }
    }
}

/* An object whose address its reference tells. */
static void know(struct hpx_walk *w, jobject local, uint64_t as)
{
    uint64_t key = moved(w, hpx_oops_handle(local));
    struct hpx_address_entry *e = key != 0 ? put(w, &w->known, key) : NULL;
    if (e != NULL) {
        e->value = as;
    }
}

void hpx_walk_know(struct hpx_walk *w)
{
    const struct hpx_layout *l = w->layout;
    for (uint32_t i = 0; i < l->nthreads; i++) {
        know(w, l->refs[i], 1 + (uint64_t)i);
        uint64_t key = moved(w, hpx_oops_handle(l->refs[i]));
        if (key != 0) {
            find_class(w, hpx_oops_class_word(&w->oops, key))->special = true;
        }
    }
    for (uint32_t i = 0; i < l->loaded; i++) {
        if (l->class_numbers[i].v != 0) {
            know(w, l->class_refs[i], hpx_site_class_tag(l->class_numbers[i]));
        }
    }
}
