/* SPDX-License-Identifier: BSD-2-Clause */
/* method_table.c: see method_table.h. */
#include "method_table.h"
#include "err.h"
#include <stdlib.h>

#define WORDS 2

int hpx_methods_init(struct hpx_methods *t)
{
    *t = (struct hpx_methods){.free = 0};
    hpx_vec_init(&t->classes, sizeof(struct hpx_class));
    hpx_vec_init(&t->sampled, sizeof(struct hpx_sampled));
    if (hpx_slots_init(&t->index, WORDS, 0) != 0 || hpx_id_map_init(&t->ids) != 0 || !hpx_vec_push(&t->classes)) {
        hpx_methods_fini(t);
        return -HPX_E_NOMEM;
    }
    return 0;
}

void hpx_methods_fini(struct hpx_methods *t)
{
    for (uint32_t i = 0; i < t->classes.len; i++) {
        free(hpx_methods_class(t, (struct hpx_class_index){i})->said);
    }
    hpx_slots_fini(&t->index, WORDS);
    hpx_id_map_fini(&t->ids);
    hpx_vec_fini(&t->classes);
    hpx_vec_fini(&t->sampled);
}

/* ---- announced ---- */

struct hpx_class_index hpx_methods_new_class(struct hpx_methods *t, struct hpx_msg_class *said)
{
    if (!t->free && !hpx_vec_push(&t->classes)) {
        return (struct hpx_class_index){0};
    }
    struct hpx_class_index klass = {t->free ? t->free : t->classes.len - 1};
    struct hpx_class *c = hpx_methods_class(t, klass);
    t->free = c->next_free;
    *c = (struct hpx_class){.said = said};
    t->live++;
    t->said_bytes += said->m.size;
    return klass;
}

struct probe {
    const struct hpx_methods *methods;
    uint64_t id;
    uint32_t hash;
    struct hpx_class_index klass; /* sought for removal: this class's slot; else 0 */
    uint32_t *at;
};

static bool same_id(const void *key, const uint32_t *slot)
{
    const struct probe *p = key;
    if (slot[1] != p->hash || slot[0] == HPX_SLOTS_REMOVED) {
        return false;
    }
    const struct hpx_msg_class *said = hpx_methods_class(p->methods, (struct hpx_class_index){slot[0] - 1})->said;
    for (uint32_t i = 0; i < said->nmethods; i++) {
        if (said->ids[i] == p->id) {
            *p->at = i;
            return true;
        }
    }
    return false;
}

/* Of two ids of one class with equal hashes either slot will do: both are removed. */
static bool same_class(const void *key, const uint32_t *slot)
{
    const struct probe *p = key;
    return slot[1] == p->hash && slot[0] == p->klass.v + 1;
}

static uint32_t *find_id(const struct hpx_methods *t, uint64_t id, uint32_t *at)
{
    struct probe p = {t, id, hpx_id_hash(id), {0}, at};
    return hpx_slots_find(&t->index, WORDS, p.hash, same_id, &p);
}

bool hpx_methods_announce(struct hpx_methods *t, struct hpx_class_index klass, uint64_t id)
{
    uint32_t at, *slot = find_id(t, id, &at);
    if (slot) {
        *slot = klass.v + 1;
        return true;
    }
    if (hpx_slots_reserve(&t->index, WORDS, NULL, NULL) != 0) {
        return false;
    }
    (void)hpx_slots_put(&t->index, WORDS, hpx_id_hash(id), klass.v);
    return true;
}

struct hpx_class_index hpx_methods_find(const struct hpx_methods *t, uint64_t id, uint32_t *at)
{
    const uint32_t *slot = find_id(t, id, at);
    return (struct hpx_class_index){slot ? *slot - 1 : 0};
}

void hpx_methods_forget(struct hpx_methods *t, struct hpx_class_index klass)
{
    struct hpx_class *c = hpx_methods_class(t, klass);
    for (uint32_t i = 0; i < c->said->nmethods; i++) {
        struct probe p = {.hash = hpx_id_hash(c->said->ids[i]), .klass = klass};
        uint32_t *slot = hpx_slots_find(&t->index, WORDS, p.hash, same_class, &p);
        if (slot) { /* else another class announced the id since, or memory was short for it */
            hpx_slots_remove(&t->index, slot);
        }
    }
    t->said_bytes -= c->said->m.size;
    t->live--;
    free(c->said);
    c->said = NULL;
    if (c->nsampled == 0) {
        c->next_free = t->free;
        t->free = klass.v;
    }
}

/* ---- sampled ---- */

uint32_t hpx_methods_sampled_find(const struct hpx_methods *t, uint64_t id)
{
    uint32_t number = hpx_id_map_find(&t->ids, id);
    return number == HPX_INTERN_NONE || hpx_methods_sampled(t, t->npseudo + number)->stale ? HPX_INTERN_NONE : t->npseudo + number;
}

uint32_t hpx_methods_sample(struct hpx_methods *t, uint64_t id, struct hpx_class_index klass)
{
    struct hpx_sampled *s = hpx_vec_push(&t->sampled);
    if (!s) {
        return HPX_INTERN_NONE;
    }
    if (hpx_id_map_bind(&t->ids, id) == HPX_INTERN_NONE) {
        t->sampled.len--;
        return HPX_INTERN_NONE;
    }
    *s = (struct hpx_sampled){.klass = klass, .symbolized = HPX_INTERN_NONE};
    hpx_methods_class(t, klass)->nsampled += klass.v != 0;
    return t->sampled.len - 1;
}

void hpx_methods_adopt(struct hpx_methods *t, uint32_t sampled, struct hpx_class_index klass)
{
    hpx_methods_sampled(t, sampled)->klass = klass;
    hpx_methods_class(t, klass)->nsampled++;
}

void hpx_methods_stale(struct hpx_methods *t, uint32_t sampled)
{
    hpx_methods_sampled(t, sampled)->stale = true;
    t->generation++;
}

struct hpx_sampled *hpx_methods_pseudo(struct hpx_methods *t)
{
    struct hpx_sampled *s = hpx_vec_push(&t->sampled);
    if (s) {
        *s = (struct hpx_sampled){.symbolized = HPX_INTERN_NONE, .state = HPX_SAMPLED_SETTLED};
        t->npseudo++;
    }
    return s;
}
