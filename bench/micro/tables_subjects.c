/* SPDX-License-Identifier: BSD-2-Clause */
/* tables_subjects.c: our table (hash trusted), ck_ht (byte strings) and cds_lfht (grows in a separate thread); the last two compare
 * the key. */
#include "tables_subjects.h"
#include "arena.h"
#include "intern.h"
#include <ck_ht.h>
#include <stdlib.h>
#include <string.h>
#include <urcu/urcu-bp.h>

#include <urcu/rculfhash.h>

/* clang looks into liburcu's macros, which cast const away. */
#pragma GCC diagnostic ignored "-Wcast-qual"

static struct hpx_arena arena;

static size_t key_bytes(const struct hpx_bench_key *k)
{
    return k->n * sizeof(*k->frames);
}

static struct hpx_bench_frame *copy_key(const struct hpx_bench_key *k)
{
    struct hpx_bench_frame *to = hpx_arena_alloc(&arena, key_bytes(k), 8);
    if (to) {
        memcpy(to, k->frames, key_bytes(k));
    }
    return to;
}

/* ---- own ---- */

static struct hpx_intern own;

static bool own_make(void)
{
    hpx_arena_init(&arena);
    return hpx_intern_init(&own, 0) == 0;
}

static bool own_insert(const struct hpx_bench_key *k, uint32_t id)
{
    return copy_key(k) && hpx_intern_insert(&own, k->hash, id) == 0;
}

static uint32_t own_find(const struct hpx_bench_key *k)
{
    return hpx_intern_find(&own, k->hash);
}

static size_t own_bytes(void)
{
    return hpx_intern_bytes(&own);
}

static void own_drop(void)
{
    hpx_intern_fini(&own);
    hpx_arena_fini(&arena);
}

/* ---- ck_ht ---- */

static ck_ht_t ht;
static size_t ht_bytes_held;

static void *ht_malloc(size_t n)
{
    ht_bytes_held += n;
    return malloc(n);
}

static void ht_free(void *p, size_t n, bool defer)
{
    (void)defer;
    ht_bytes_held -= n;
    free(p);
}

static struct ck_malloc ht_memory = {.malloc = ht_malloc, .free = ht_free};

/* Never wanted for our keys, whose hash is given; ck_ht stores the hash and does not ask again when it grows. */
static void ht_hash(ck_ht_hash_t *h, const void *key, size_t n, uint64_t seed)
{
    (void)seed;
    h->value = hpx_hash128(key, n).lo;
}

static bool ht_make(void)
{
    hpx_arena_init(&arena);
    ht_bytes_held = 0;
    return ck_ht_init(&ht, CK_HT_MODE_BYTESTRING, ht_hash, &ht_memory, 64, 1);
}

static bool ht_insert(const struct hpx_bench_key *k, uint32_t id)
{
    ck_ht_entry_t e;
    const struct hpx_bench_frame *copy = copy_key(k);
    if (!copy) {
        return false;
    }
    ck_ht_hash_t h = {.value = k->hash.lo};
    ck_ht_entry_set(&e, h, copy, (uint16_t)key_bytes(k), (const void *)((uintptr_t)id + 1));
    return ck_ht_put_spmc(&ht, h, &e);
}

static uint32_t ht_find(const struct hpx_bench_key *k)
{
    ck_ht_entry_t e;
    ck_ht_hash_t h = {.value = k->hash.lo};
    ck_ht_entry_key_set(&e, k->frames, (uint16_t)key_bytes(k));
    return ck_ht_get_spmc(&ht, h, &e) ? (uint32_t)((uintptr_t)ck_ht_entry_value(&e) - 1) : HPX_INTERN_NONE;
}

static size_t ht_bytes(void)
{
    return ht_bytes_held;
}

static void ht_drop(void)
{
    ck_ht_destroy(&ht);
    hpx_arena_fini(&arena);
}

/* ---- cds_lfht ---- */

struct node {
    struct cds_lfht_node node;
    const struct hpx_bench_frame *frames;
    uint32_t n, id;
};

static struct cds_lfht *lfht;

static int node_is(struct cds_lfht_node *at, const void *key)
{
    const struct node *n = caa_container_of(at, struct node, node);
    const struct hpx_bench_key *k = key;
    return n->n == k->n && memcmp(n->frames, k->frames, key_bytes(k)) == 0;
}

static bool lfht_make(void)
{
    hpx_arena_init(&arena);
    lfht = cds_lfht_new_flavor(64, 64, 0, CDS_LFHT_AUTO_RESIZE | CDS_LFHT_ACCOUNTING, &urcu_bp_flavor, NULL);
    return lfht;
}

static bool lfht_insert(const struct hpx_bench_key *k, uint32_t id)
{
    const struct hpx_bench_frame *copy = copy_key(k);
    struct node *n = hpx_arena_alloc(&arena, sizeof(*n), 16);
    if (!copy || !n) {
        return false;
    }
    *n = (struct node){.frames = copy, .n = k->n, .id = id};
    cds_lfht_node_init(&n->node);
    urcu_bp_read_lock();
    cds_lfht_add(lfht, k->hash.lo, &n->node);
    urcu_bp_read_unlock();
    return true;
}

static uint32_t lfht_find(const struct hpx_bench_key *k)
{
    struct cds_lfht_iter it;
    urcu_bp_read_lock();
    cds_lfht_lookup(lfht, k->hash.lo, node_is, k, &it);
    struct cds_lfht_node *at = cds_lfht_iter_get_node(&it);
    uint32_t id = at ? caa_container_of(at, struct node, node)->id : HPX_INTERN_NONE;
    urcu_bp_read_unlock();
    return id;
}

static size_t lfht_bytes(void)
{
    return 0;
}

static void lfht_drop(void)
{
    struct cds_lfht_iter it;
    struct node *n;
    urcu_bp_read_lock();
    cds_lfht_for_each_entry(lfht, &it, n, node)
    {
        (void)cds_lfht_del(lfht, &n->node);
    }
    urcu_bp_read_unlock();
    (void)cds_lfht_destroy(lfht, NULL);
    hpx_arena_fini(&arena);
}

static const struct hpx_bench_table own_table = {"own (hash trusted)", own_make, own_insert, own_find, own_bytes, own_drop};
static const struct hpx_bench_table ht_table = {"ck_ht, byte strings", ht_make, ht_insert, ht_find, ht_bytes, ht_drop};
static const struct hpx_bench_table lfht_table = {"cds_lfht, accounting", lfht_make, lfht_insert, lfht_find, lfht_bytes, lfht_drop};
const struct hpx_bench_table *const hpx_bench_tables[HPX_BENCH_TABLES] = {&own_table, &ht_table, &lfht_table};

void hpx_bench_start(void)
{
    /* The worker thread begins with the first table that grows. */
    if (!lfht_make()) {
        return;
    }
    struct hpx_bench_frame f = {0};
    for (uint32_t i = 0; i < 10000; i++) {
        f.method = i;
        struct hpx_bench_key k = {hpx_hash128(&f, sizeof(f)), &f, 1};
        (void)lfht_insert(&k, i);
    }
    lfht_drop();
}
