/* SPDX-License-Identifier: BSD-2-Clause */
/* site_ids.c: tables of 4 and 16 entries: a key has one id, which is fresh for one thread; and the tags of mirrors. */
#include "site_ids.h"
#include "relacy.h"

#define KEYS 5u

static struct hpx_site_ids ids;
static uint32_t id_of[RELACY_THREADS][KEYS + 1];
static bool fresh_for[RELACY_THREADS][KEYS + 1];

/* ---- ids ---- */

static void begin(void)
{
    hpx_site_ids_fini(&ids);
    for (unsigned t = 0; t < RELACY_THREADS; t++) {
        for (unsigned k = 0; k <= KEYS; k++) {
            id_of[t][k] = HPX_SITE_NONE;
            fresh_for[t][k] = false;
        }
    }
}

/* Keys of one chain: two fit into the first table. */
static void get(void)
{
    unsigned self = relacy_self(), first = relacy_rand(KEYS);
    for (unsigned i = 0; i < 4; i++) {
        unsigned k = 1 + (first + i) % KEYS;
        id_of[self][k] = hpx_site_ids_get(&ids, 16 * k, &fresh_for[self][k]);
        relacy_check(id_of[self][k] == HPX_SITE_NONE || hpx_site_ids_objects_of(&ids, id_of[self][k]) != &ids.none);
    }
}

static void compare(void)
{
    for (unsigned k = 1; k <= KEYS; k++) {
        unsigned fresh = 0, users = 0;
        for (unsigned t = 0; t < RELACY_THREADS; t++) {
            fresh += fresh_for[t][k];
            users += id_of[t][k] != HPX_SITE_NONE;
            for (unsigned u = 0; u < t; u++) {
                relacy_check(id_of[t][k] == id_of[u][k] || id_of[t][k] == HPX_SITE_NONE || id_of[u][k] == HPX_SITE_NONE);
            }
            for (unsigned other = 1; other < k; other++) {
                relacy_check(id_of[t][k] != id_of[t][other] || id_of[t][k] == HPX_SITE_NONE);
            }
        }
        relacy_check(fresh == (users > 0));
    }
    hpx_site_ids_fini(&ids);
}

/* ---- mirrors: the VM orders a tag that is set with a free that reports it ---- */

#define CLASSES 3

static _Atomic uint64_t class_tags[2 * CLASSES];

static void begin_classes(void)
{
    hpx_site_ids_fini(&ids);
    for (unsigned i = 0; i < 2 * CLASSES; i++) {
        atomic_init(&class_tags[i], 0);
    }
}

static void number_classes(void)
{
    bool fresh;
    unsigned first = relacy_self() * CLASSES;
    uint32_t id = hpx_site_ids_get(&ids, 16, &fresh);
    for (unsigned i = first; i < first + CLASSES; i++) {
        struct hpx_class_number number = hpx_site_ids_class(&ids, hpx_site_tag(id, 8));
        relacy_check(number.v != 0);
        atomic_store_explicit(&class_tags[i], hpx_site_class_tag(number), memory_order_release);
    }
}

static void unload(void)
{
    uint64_t freed = 0;
    for (unsigned i = 0; i < 2 * CLASSES; i++) {
        uint64_t tag = atomic_load_explicit(&class_tags[i], memory_order_acquire);
        if (tag != 0) {
            hpx_site_ids_freed(&ids, tag);
            freed++;
        }
    }
    relacy_check(atomic_load_explicit(&ids.none.objects, memory_order_relaxed) == 0);
    relacy_check(freed == 0 || atomic_load_explicit(&hpx_site_ids_objects_of(&ids, 1)->objects, memory_order_relaxed) == freed);
}

static void end(void)
{
    hpx_site_ids_fini(&ids);
}

const struct relacy_test relacy_tests[] = {
    {.name = "site_ids", .runs = 8000, .before = begin, .thread = {get, get, get}, .after = compare},
    {.name = "mirrors", .runs = 5000, .before = begin_classes, .thread = {number_classes, number_classes, unload}, .after = end},
    {.name = NULL},
};
