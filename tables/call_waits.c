/* SPDX-License-Identifier: BSD-2-Clause */
/* call_waits.c: one binary heap of turns per key. */
#include "call_waits.h"
#include "id_map.h"
#include <stdlib.h>

#define WORDS 2
#define FIRST 8u /* turns of a new heap */

struct probe {
    struct hpx_call_waits *w;
    uint64_t key;
    uint32_t hash;
};

static struct hpx_call_waiting *at(const struct hpx_call_waits *w, uint32_t number)
{
    return hpx_vec_at(&w->keys, number);
}

static bool same(const void *key, const uint32_t *slot)
{
    const struct probe *p = key;
    p->w->steps++;
    return slot[1] == p->hash && slot[0] != HPX_SLOTS_REMOVED && at(p->w, slot[0] - 1)->key == p->key;
}

static uint32_t *find(struct hpx_call_waits *w, uint64_t key)
{
    struct probe p = {w, key, hpx_id_hash(key)};
    return hpx_slots_find(&w->slots, WORDS, p.hash, same, &p);
}

int hpx_call_waits_init(struct hpx_call_waits *w)
{
    *w = (struct hpx_call_waits){0};
    hpx_vec_init(&w->keys, sizeof(struct hpx_call_waiting));
    return hpx_slots_init(&w->slots, WORDS, 0);
}

void hpx_call_waits_fini(struct hpx_call_waits *w)
{
    for (uint32_t i = 0; i < w->keys.len; i++) {
        free(at(w, i)->turns);
    }
    hpx_vec_fini(&w->keys);
    hpx_slots_fini(&w->slots, WORDS);
}

/* ---- a heap ---- */

static bool grow(struct hpx_call_waits *w, struct hpx_call_waiting *k)
{
    uint32_t cap = k->cap ? 2 * k->cap : FIRST;
    uint64_t *turns = cap > k->cap ? realloc(k->turns, cap * sizeof(*turns)) : NULL; /* not from 2^31 on: it would be freed */
    if (!turns) {
        return false;
    }
    w->heap_bytes += (cap - k->cap) * sizeof(*turns);
    k->turns = turns;
    k->cap = cap;
    return true;
}

/* Places `turn` at i, where there is a hole, or above it. */
static void rise(struct hpx_call_waits *w, struct hpx_call_waiting *k, uint32_t i, uint64_t turn)
{
    while (i > 0 && (w->steps++, k->turns[(i - 1) / 2] > turn)) {
        k->turns[i] = k->turns[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    k->turns[i] = turn;
}

/* Fills the hole at i from below, then with the last turn. */
static void sink(struct hpx_call_waits *w, struct hpx_call_waiting *k, uint32_t i)
{
    uint64_t last = k->turns[--k->n];
    for (uint32_t child; (child = 2 * i + 1) < k->n; i = child) {
        w->steps++;
        child += child + 1 < k->n && k->turns[child + 1] < k->turns[child];
        k->turns[i] = k->turns[child];
    }
    rise(w, k, i, last);
}

/* ---- keys ---- */

/* A key without turns; NULL without memory. */
static struct hpx_call_waiting *new_key(struct hpx_call_waits *w, uint64_t key)
{
    if (hpx_slots_reserve(&w->slots, WORDS, NULL, NULL) != 0 || (!w->free_key && !hpx_vec_push(&w->keys))) {
        return NULL;
    }
    uint32_t number = w->free_key ? w->free_key - 1 : w->keys.len - 1;
    struct hpx_call_waiting *k = at(w, number);
    w->free_key = number + 1; /* until its first turn has memory */
    if (!grow(w, k)) {
        return NULL;
    }
    w->free_key = k->next_free;
    k->next_free = 0;
    k->key = key;
    (void)hpx_slots_put(&w->slots, WORDS, hpx_id_hash(key), number);
    return k;
}

static void drop_key(struct hpx_call_waits *w, uint32_t *slot)
{
    uint32_t number = slot[0];
    struct hpx_call_waiting *k = at(w, number - 1);
    w->heap_bytes -= k->cap * sizeof(*k->turns);
    free(k->turns);
    *k = (struct hpx_call_waiting){.next_free = w->free_key};
    w->free_key = number;
    hpx_slots_remove(&w->slots, slot);
}

bool hpx_call_waits_add(struct hpx_call_waits *w, uint64_t key, uint64_t turn)
{
    const uint32_t *slot = find(w, key);
    struct hpx_call_waiting *k = slot ? at(w, slot[0] - 1) : new_key(w, key);
    if (!k || (k->n == k->cap && !grow(w, k))) {
        return false;
    }
    rise(w, k, k->n++, turn);
    return true;
}

void hpx_call_waits_remove(struct hpx_call_waits *w, uint64_t key, uint64_t turn)
{
    uint32_t *slot = find(w, key);
    struct hpx_call_waiting *k = slot ? at(w, slot[0] - 1) : NULL;
    uint32_t i = 0;
    while (k && i < k->n && k->turns[i] != turn) { /* the first one, but for a mount that was forced */
        w->steps++;
        i++;
    }
    if (!k || i == k->n) {
        return;
    }
    sink(w, k, i);
    if (k->n == 0) {
        drop_key(w, slot);
    }
}

bool hpx_call_waits_earlier(struct hpx_call_waits *w, uint64_t key, uint64_t turn)
{
    const uint32_t *slot = find(w, key);
    return slot && at(w, slot[0] - 1)->turns[0] < turn;
}
