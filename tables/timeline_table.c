/* SPDX-License-Identifier: BSD-2-Clause */
/* timeline_table.c: see timeline_table.h. */
#include "timeline_table.h"
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

struct hpx_timeline {
    struct hpx_model *m;
    struct hpx_symbols *symbols;
    uint64_t zero_ns, zero_ms;
    struct hpx_time_store store;
    struct hpx_vec places;                  /* struct hpx_time_place: kind and id, of those since the last reset */
    struct hpx_vec numbers[HPX_TIME_KINDS]; /* uint32_t, by id: number of its place + 1; 0: none since then */
    struct {
        hpx_time_resolve *resolve;
        void *self;
    } sources[HPX_TIME_KINDS];
    uint64_t unplaced; /* lost without memory for their place */
    struct hpx_timeline_figures past;
};

void hpx_timeline_snapshot_destroy(struct hpx_timeline_snapshot *s)
{
    if (s != NULL) {
        hpx_time_store_fini(&s->events);
        free(s->places);
        free(s);
    }
}

/* ---- events ---- */

/* The time of what follows it in the ring. */
static const struct hpx_ev_head *apply(void *self, struct hpx_thread *t, const struct hpx_ev_head *ev, const struct hpx_ev_head *end)
{
    (void)self;
    for (; hpx_model_table_has(ev, end, HPX_EV_TIME, HPX_EV_TIME); ev += ev->units) {
        t->time_ns = ev->stamp;
    }
    return ev;
}

static uint64_t ms_of(const struct hpx_timeline *l, uint64_t ns)
{
    return ns > l->zero_ns ? (ns - l->zero_ns) / NS_PER_MS : 0;
}

/* The number of the place; UINT32_MAX without memory. */
static uint32_t place_of(struct hpx_timeline *l, enum hpx_time_kind kind, uint32_t id)
{
    uint32_t *number = hpx_vec_find(&l->numbers[kind], id);
    if (hpx_unlikely(number == NULL)) {
        number = id < UINT32_MAX ? hpx_vec_reach(&l->numbers[kind], id) : NULL;
    }
    if (hpx_unlikely(number != NULL && *number == 0)) {
        struct hpx_time_place *place = hpx_vec_push(&l->places);
        if (place != NULL) {
            *place = (struct hpx_time_place){.kind = kind, .id = id};
            *number = l->places.len;
        }
    }
    return number != NULL ? *number - 1 : UINT32_MAX;
}

static void add(struct hpx_timeline *l, uint64_t ms, enum hpx_time_kind kind, uint32_t thread, uint32_t id, uint64_t count, uint64_t ns)
{
    uint32_t place = place_of(l, kind, id);
    if (hpx_unlikely(place == UINT32_MAX)) {
        l->unplaced += count;
        return;
    }
    hpx_time_store_add(&l->store, &(struct hpx_time_event){ms, thread, place, count, ns});
}

void hpx_timeline_add(struct hpx_timeline *l, const struct hpx_thread *t, enum hpx_time_kind kind, uint32_t serial, uint32_t id,
                      uint64_t count, uint64_t ns)
{
    if (l != NULL) {
        add(l, ms_of(l, t->time_ns), kind, serial - HPX_SERIAL_THREAD, id, count, ns);
    }
}

void hpx_timeline_at(struct hpx_timeline *l, uint64_t at_ns, enum hpx_time_kind kind, uint64_t ns)
{
    add(l, ms_of(l, at_ns), kind, 0, 0, 1, ns);
}

static size_t bytes(const void *self)
{
    const struct hpx_timeline *l = self;
    size_t n = sizeof(*l) + l->store.bytes + l->places.bytes;
    for (uint32_t i = 0; i < HPX_TIME_KINDS; i++) {
        n += l->numbers[i].bytes;
    }
    return n;
}

static void destroy(void *self)
{
    struct hpx_timeline *l = self;
    hpx_time_store_fini(&l->store);
    hpx_vec_fini(&l->places);
    for (uint32_t i = 0; i < HPX_TIME_KINDS; i++) {
        hpx_vec_fini(&l->numbers[i]);
    }
    free(l);
}

static const struct hpx_model_table table = {.first = HPX_EV_TIME, .last = HPX_EV_TIME, .apply = apply, .bytes = bytes, .destroy = destroy};

struct hpx_timeline *hpx_timeline_create(struct hpx_model *m, uint64_t zero_ns, uint64_t zero_ms)
{
    struct hpx_timeline *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        return NULL;
    }
    l->m = m;
    l->symbols = hpx_model_symbols(m);
    l->zero_ns = zero_ns;
    l->zero_ms = zero_ms;
    hpx_vec_init(&l->places, sizeof(struct hpx_time_place));
    for (uint32_t i = 0; i < HPX_TIME_KINDS; i++) {
        hpx_vec_init(&l->numbers[i], sizeof(uint32_t));
    }
    hpx_model_add_table(m, &table, l);
    return l;
}

void hpx_timeline_source(struct hpx_model *m, enum hpx_time_kind kind, hpx_time_resolve *resolve, void *self)
{
    struct hpx_timeline *l = hpx_timeline_of(m);
    if (l != NULL) {
        l->sources[kind].resolve = resolve;
        l->sources[kind].self = self;
    }
}

/* ---- snapshot ---- */

static bool resolve(const struct hpx_timeline *l, struct hpx_time_place *to)
{
    uint32_t symbolized;
    if (to->kind == HPX_TIME_CPU) {
        bool printed = hpx_symbols_print(l->symbols, to->id, &symbolized);
        to->trace = printed ? hpx_symbols_rec(l->symbols, symbolized) : NULL;
        return printed;
    }
    return l->sources[to->kind].resolve == NULL || l->sources[to->kind].resolve(l->sources[to->kind].self, to);
}

static void forget_places(struct hpx_timeline *l)
{
    for (uint32_t i = 0; i < l->places.len; i++) {
        const struct hpx_time_place *place = hpx_vec_at(&l->places, i);
        *(uint32_t *)hpx_vec_at(&l->numbers[place->kind], place->id) = 0;
    }
    hpx_vec_fini(&l->places);
    hpx_vec_init(&l->places, sizeof(struct hpx_time_place));
}

static void note(struct hpx_timeline *l)
{
    l->past.bytes = l->store.bytes;
    l->past.coarse_ms = l->store.coarse_ms;
    l->past.events += l->store.events;
    l->past.lost += l->store.lost;
}

struct hpx_timeline_snapshot *hpx_timeline_snapshot(struct hpx_timeline *l, enum hpx_take take, uint64_t end_ns)
{
    struct hpx_timeline_snapshot *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return NULL;
    }
    s->zero_ms = l->zero_ms;
    s->end_ms = ms_of(l, end_ns);
    if (take != HPX_TAKE_RESET) {
        return s;
    }
    s->nplaces = l->places.len;
    s->places = malloc(s->nplaces * sizeof(s->places[0]) + 1);
    bool good = s->places != NULL;
    for (uint32_t i = 0; good && i < s->nplaces; i++) {
        s->places[i] = *(const struct hpx_time_place *)hpx_vec_at(&l->places, i);
        good = resolve(l, &s->places[i]);
    }
    if (!good) {
        hpx_timeline_snapshot_destroy(s);
        return NULL;
    }
    note(l);
    s->taken = true;
    hpx_time_store_take(&l->store, &s->events);
    forget_places(l);
    return s;
}

struct hpx_timeline_figures hpx_timeline_figures(const struct hpx_timeline *l)
{
    struct hpx_timeline_figures f = l->past;
    f.events += l->store.events;
    f.lost += l->store.lost + l->unplaced;
    return f;
}
