/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_table.c: see thread_table.h. */
#include "thread_table.h"
#include "id_map.h"
#include "snapshot.h"
#include <stdlib.h>

#define WORDS 2

struct probe {
    const struct hpx_threads *threads;
    uint64_t key;
    uint32_t hash;
};

static struct hpx_thread_entry *entry(const struct hpx_threads *t, uint32_t number)
{
    return hpx_vec_at(&t->all, number);
}

static bool same(const void *key, const uint32_t *slot)
{
    const struct probe *p = key;
    return slot[1] == p->hash && slot[0] != HPX_SLOTS_REMOVED && entry(p->threads, slot[0] - 1)->key == p->key;
}

static uint32_t *find(const struct hpx_threads *t, uint64_t key)
{
    struct probe p = {t, key, hpx_id_hash(key)};
    return hpx_slots_find(&t->index, WORDS, p.hash, same, &p);
}

int hpx_threads_init(struct hpx_threads *t)
{
    *t = (struct hpx_threads){.free = 0};
    hpx_vec_init(&t->all, sizeof(struct hpx_thread_entry));
    return hpx_slots_init(&t->index, WORDS, 0);
}

void hpx_threads_fini(struct hpx_threads *t)
{
    for (uint32_t i = 0; i < t->all.len; i++) {
        free(entry(t, i)->said);
        free(entry(t, i)->renamed);
    }
    hpx_slots_fini(&t->index, WORDS);
    hpx_vec_fini(&t->all);
}

uint32_t hpx_threads_add(struct hpx_threads *t, uint64_t key, uint32_t serial)
{
    if (hpx_slots_reserve(&t->index, WORDS, NULL, NULL) != 0 || (!t->free && !hpx_vec_push(&t->all))) {
        return 0;
    }
    uint32_t number = t->free ? t->free - 1 : t->all.len - 1;
    struct hpx_thread_entry *e = entry(t, number);
    t->free = e->next_free;
    *e = (struct hpx_thread_entry){.key = key, .serial = serial != 0 ? serial : HPX_SERIAL_THREAD + ++t->begun};
    (void)hpx_slots_put(&t->index, WORDS, hpx_id_hash(key), number);
    return e->serial;
}

uint32_t hpx_threads_remove(struct hpx_threads *t, uint64_t key)
{
    uint32_t *slot = find(t, key);
    if (!slot) {
        return 0;
    }
    uint32_t number = *slot - 1;
    struct hpx_thread_entry *e = entry(t, number);
    hpx_slots_remove(&t->index, slot);
    t->said_bytes -= (e->said ? e->said->m.size : 0) + (e->renamed ? e->renamed->m.size : 0);
    free(e->said);
    free(e->renamed);
    e->said = NULL;
    e->renamed = NULL;
    e->next_free = t->free;
    t->free = number + 1;
    return e->serial;
}

void hpx_threads_keep(struct hpx_threads *t, uint64_t key, struct hpx_msg_thread_start *said)
{
    entry(t, *find(t, key) - 1)->said = said;
    t->said_bytes += said->m.size;
}

const struct hpx_thread_entry *hpx_threads_rename(struct hpx_threads *t, uint64_t key, uint32_t serial, struct hpx_msg_thread_name *renamed)
{
    const uint32_t *slot = find(t, key);
    struct hpx_thread_entry *e = slot ? entry(t, *slot - 1) : NULL;
    if (!e || e->serial != serial || !e->said) {
        return NULL;
    }
    t->said_bytes -= e->renamed ? e->renamed->m.size : 0;
    t->said_bytes += renamed->m.size;
    free(e->renamed);
    e->renamed = renamed;
    return e;
}

static int by_serial(const void *a, const void *b)
{
    uint32_t x = (*(const struct hpx_thread_entry *const *)a)->serial, y = (*(const struct hpx_thread_entry *const *)b)->serial;
    return (x > y) - (x < y);
}

uint32_t hpx_threads_list(const struct hpx_threads *t, const struct hpx_thread_entry **to)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->all.len; i++) {
        if (entry(t, i)->said) {
            to[n++] = entry(t, i);
        }
    }
    if (n > 1) {
        qsort(to, n, sizeof(struct hpx_thread_entry *), by_serial);
    }
    return n;
}
