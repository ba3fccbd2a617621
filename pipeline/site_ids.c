/* SPDX-License-Identifier: BSD-2-Clause */
/* site_ids.c: the lock-free tables. Contract: site_ids.h. */
#include "site_ids.h"
#include <string.h>
#include <sys/mman.h>

#define PROBES    16u /* entries of a table that a lookup of a key tries: 512 bytes */
#define PAGE_BITS 10u

/* Key and counters lie together: a free of a site that was just looked up hits the cache. */
struct hpx_site_place {
    _Atomic uint64_t key; /* relaxed: orders only the entry itself; 0: empty */
    struct hpx_site_objects objects;
    uint64_t unused; /* 32 bytes: a place lies in one cache line */
};

static_assert(PROBES * sizeof(struct hpx_site_place) == 512, "what a lookup touches");

static uint32_t places(unsigned table)
{
    return HPX_SITE_FIRST << 2 * table;
}

/* The id of a table's first entry. */
static uint32_t base(unsigned table)
{
    return 1 + (places(table) - HPX_SITE_FIRST) / 3;
}

static_assert(1 + (HPX_SITE_FIRST * ((1ull << 2 * HPX_SITE_TABLES) - 1)) / 3 <= HPX_SITE_IDS_MOST, "the ids of all tables");

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static struct hpx_site_place *table_at(struct hpx_site_ids *s, unsigned i)
{
    struct hpx_site_place *t = atomic_load_explicit(&s->tables[i], memory_order_acquire), *made;
    if (hpx_likely(t != NULL)) {
        return t;
    }
    made = map(places(i) * sizeof(*made));
    if (made != NULL && atomic_compare_exchange_strong_explicit(&s->tables[i], &t, made, memory_order_acq_rel, memory_order_acquire)) {
        return made;
    }
    if (made != NULL) {
        munmap(made, places(i) * sizeof(*made));
    }
    return t;
}

void hpx_site_ids_fini(struct hpx_site_ids *s)
{
    for (unsigned i = 0; i < HPX_SITE_TABLES; i++) {
        struct hpx_site_place *t = atomic_load_explicit(&s->tables[i], memory_order_relaxed);
        if (t != NULL) {
            munmap(t, places(i) * sizeof(*t));
        }
        atomic_store_explicit(&s->tables[i], NULL, memory_order_relaxed);
    }
    for (unsigned i = 0; i < HPX_ARRAY_LEN(s->mirrors); i++) {
        void *page = atomic_load_explicit(&s->mirrors[i], memory_order_relaxed);
        if (page != NULL) {
            munmap(page, sizeof(uint64_t) << PAGE_BITS);
        }
        atomic_store_explicit(&s->mirrors[i], NULL, memory_order_relaxed);
    }
    atomic_store_explicit(&s->none.objects, 0, memory_order_relaxed);
    atomic_store_explicit(&s->none.bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&s->classes, 0, memory_order_relaxed);
    atomic_store_explicit(&s->looked, false, memory_order_relaxed);
}

uint32_t hpx_site_ids_get(struct hpx_site_ids *s, uint64_t key, bool *fresh)
{
    *fresh = false;
    for (unsigned i = 0; i < HPX_SITE_TABLES; i++) {
        struct hpx_site_place *t = table_at(s, i);
        if (t == NULL) {
            return HPX_SITE_NONE;
        }
        uint32_t mask = places(i) - 1;
        for (uint32_t k = 0; k < PROBES; k++) {
            uint32_t at = ((uint32_t)key + k) & mask;
            uint64_t there = atomic_load_explicit(&t[at].key, memory_order_relaxed);
            *fresh =
                there == 0 && atomic_compare_exchange_strong_explicit(&t[at].key, &there, key, memory_order_relaxed, memory_order_relaxed);
            if (*fresh || there == key) {
                return base(i) + at;
            }
        }
    }
    return HPX_SITE_NONE;
}

struct hpx_site_objects *hpx_site_ids_objects_of(struct hpx_site_ids *s, uint32_t id)
{
    unsigned i = 0;
    while (i + 1 < HPX_SITE_TABLES && id >= base(i + 1)) {
        i++;
    }
    struct hpx_site_place *t = id != HPX_SITE_NONE ? atomic_load_explicit(&s->tables[i], memory_order_acquire) : NULL;
    return t != NULL ? &t[id - base(i)].objects : &s->none;
}

struct hpx_class_number hpx_site_ids_class(struct hpx_site_ids *s, uint64_t mirror)
{
    const struct hpx_class_number none = {0}, number = {1 + atomic_fetch_add_explicit(&s->classes, 1, memory_order_relaxed)};
    if (number.v >= HPX_SITE_MOST) {
        atomic_store_explicit(&s->classes, HPX_SITE_MOST, memory_order_relaxed); /* so it never wraps */
        return none;
    }
    if (mirror == 0) {
        return number;
    }
    _Atomic(_Atomic uint64_t *) *slot = &s->mirrors[number.v >> PAGE_BITS];
    _Atomic uint64_t *page = atomic_load_explicit(slot, memory_order_acquire);
    if (page == NULL) {
        void *made = map(sizeof(uint64_t) << PAGE_BITS);
        if (made == NULL) {
            return none;
        }
        if (atomic_compare_exchange_strong_explicit(slot, &page, made, memory_order_acq_rel, memory_order_acquire)) {
            page = made;
        } else {
            munmap(made, sizeof(uint64_t) << PAGE_BITS);
        }
    }
    /* before the class gets its tag, so before a free can read it */
    atomic_store_explicit(&page[number.v & ((1u << PAGE_BITS) - 1)], mirror, memory_order_relaxed);
    return number;
}

/* The tag as an object: of a class that of its mirror. 0: it has none. */
static uint64_t object_tag(struct hpx_site_ids *s, uint64_t tag)
{
    uint32_t class = hpx_site_class_of(tag).v;
    if (class == 0) {
        return tag;
    }
    _Atomic uint64_t *page = class < HPX_SITE_MOST ? atomic_load_explicit(&s->mirrors[class >> PAGE_BITS], memory_order_acquire) : NULL;
    return page != NULL ? atomic_load_explicit(&page[class & ((1u << PAGE_BITS) - 1)], memory_order_relaxed) : 0;
}

static uint32_t id_of(uint64_t tag)
{
    return (uint32_t)(tag >> HPX_SITE_UNITS_BITS);
}

static uint64_t bytes_of(uint64_t tag)
{
    return (tag & ((UINT64_C(1) << HPX_SITE_UNITS_BITS) - 1)) * HPX_SITE_UNIT;
}

void hpx_site_ids_freed(struct hpx_site_ids *s, uint64_t tag)
{
    tag = object_tag(s, tag);
    if (tag == 0) {
        return;
    }
    struct hpx_site_objects *f = hpx_site_ids_objects_of(s, id_of(tag));
    /* One writer at a time, so no atomic addition: one pause may report ten million frees. */
    atomic_store_explicit(&f->objects, atomic_load_explicit(&f->objects, memory_order_relaxed) + 1, memory_order_relaxed);
    atomic_store_explicit(&f->bytes, atomic_load_explicit(&f->bytes, memory_order_relaxed) + bytes_of(tag), memory_order_relaxed);
}

/* ---- a look ---- */

#define PIECE_BYTES (HPX_SITE_PIECE * sizeof(struct hpx_site_count))

bool hpx_site_look_begin(struct hpx_site_look *l, const struct hpx_site_ids *s)
{
    unsigned tables = 1; /* and one that may come meanwhile */
    for (unsigned i = 0; i < HPX_SITE_TABLES; i++) {
        tables += atomic_load_explicit(&s->tables[i], memory_order_relaxed) != NULL;
    }
    uint32_t ids = tables < HPX_SITE_TABLES ? base(tables) : HPX_SITE_IDS_MOST;
    memset(l, 0, sizeof(*l));
    for (uint32_t i = 0; i <= (ids - 1) / HPX_SITE_PIECE; i++) {
        void *p = mmap(NULL, PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) {
            hpx_site_look_fini(l);
            return false;
        }
        l->pieces[i] = p;
    }
    return true;
}

void hpx_site_look_add(struct hpx_site_look *l, struct hpx_site_ids *s, uint64_t tag)
{
    tag = object_tag(s, tag);
    uint32_t id = id_of(tag);
    struct hpx_site_count *piece = tag != 0 && id < HPX_SITE_IDS_MOST ? l->pieces[id / HPX_SITE_PIECE] : NULL;
    if (piece != NULL) {
        piece[id % HPX_SITE_PIECE].objects++;
        piece[id % HPX_SITE_PIECE].bytes += bytes_of(tag);
    }
}

/* Only entries with a key, so that untouched pages stay unmapped. */
static uint64_t take_table(const struct hpx_site_look *l, struct hpx_site_place *t, uint32_t n, uint32_t id)
{
    uint64_t all = 0;
    for (uint32_t k = 0; k < n; k++, id++) {
        const struct hpx_site_count *piece = l->pieces[id / HPX_SITE_PIECE];
        if (atomic_load_explicit(&t[k].key, memory_order_relaxed) != 0) {
            const struct hpx_site_count live = piece != NULL ? piece[id % HPX_SITE_PIECE] : (struct hpx_site_count){0};
            atomic_store_explicit(&t[k].objects.objects, live.objects, memory_order_relaxed);
            atomic_store_explicit(&t[k].objects.bytes, live.bytes, memory_order_relaxed);
            all += live.objects;
        }
    }
    return all;
}

uint64_t hpx_site_look_take(struct hpx_site_look *l, struct hpx_site_ids *s)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < HPX_SITE_TABLES; i++) {
        struct hpx_site_place *t = atomic_load_explicit(&s->tables[i], memory_order_acquire);
        all += t != NULL ? take_table(l, t, places(i), base(i)) : 0;
    }
    atomic_store_explicit(&s->looked, true, memory_order_relaxed); /* ordered by what tells the aggregator that the look is over */
    return all;
}

void hpx_site_look_fini(struct hpx_site_look *l)
{
    for (unsigned i = 0; i < HPX_SITE_PIECES; i++) {
        if (l->pieces[i] != NULL) {
            munmap(l->pieces[i], PIECE_BYTES);
        }
        l->pieces[i] = NULL;
    }
}

void hpx_site_ids_forget_look(struct hpx_site_ids *s)
{
    atomic_store_explicit(&s->looked, false, memory_order_relaxed);
}

size_t hpx_site_ids_bytes(const struct hpx_site_ids *s)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < HPX_SITE_TABLES; i++) {
        bytes += atomic_load_explicit(&s->tables[i], memory_order_relaxed) != NULL ? places(i) * sizeof(struct hpx_site_place) : 0;
    }
    for (unsigned i = 0; i < HPX_ARRAY_LEN(s->mirrors); i++) {
        bytes += atomic_load_explicit(&s->mirrors[i], memory_order_relaxed) != NULL ? sizeof(uint64_t) << PAGE_BITS : 0;
    }
    return bytes;
}
