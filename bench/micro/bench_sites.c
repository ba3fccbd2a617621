/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_sites.c: what heap=sites does per allocation and per free, without a JVM: the id of a known site, a free, and the aggregator's
 * side, events applied to the table. CPU time of one pinned thread; sites come in an order without pattern. The limit of a lookup and of a
 * free is a load, or a load and a store, at a place that is as far apart. */
#include "clock.h"
#include "hash.h"
#include "micro.h"
#include "model.h"
#include "site_table.h"

#include <stdlib.h>
#include <string.h>

#define MANY    100000u /* sites */
#define FEW     1000u
#define FRAMES  4u
#define EVENTS  4096u /* of one run, as the aggregator gives them: a ring of 64 KiB */
#define CLASSES 100u

static unsigned rounds = 11;
static struct {
    uint64_t calls, events;
} amount = {1000000, 4000000};

struct place {
    uint64_t key, objects, bytes, pad;
};

static struct hpx_site_ids ids;
static uint32_t id_of[MANY];
static uint64_t keys[MANY], tags[MANY];
static uint32_t order[1u << 20]; /* of sites, below MANY */
static struct place places[MANY];
static volatile uint64_t result;

static uint64_t next_random(uint64_t *x)
{
    *x += UINT64_C(0x9e3779b97f4a7c15);
    return hpx_hash128(x, sizeof *x).lo;
}

static bool prepare(void)
{
    uint64_t x = 1;
    bool fresh;
    for (uint32_t i = 0; i < MANY; i++) {
        keys[i] = next_random(&x) | 1;
        id_of[i] = hpx_site_ids_get(&ids, keys[i], &fresh);
        if (id_of[i] == HPX_SITE_NONE) {
            return false;
        }
        tags[i] = hpx_site_tag(id_of[i], 24);
        places[i].key = keys[i];
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(order); i++) {
        order[i] = (uint32_t)(next_random(&x) % MANY);
    }
    return true;
}

/* BODY: with i, the number of a site below the row's. */
#define CALLS(NAME, BODY)                                                                                                                  \
    static bool NAME(const struct hpx_bench_row *row, double *figures)                                                                     \
    {                                                                                                                                      \
        uint32_t sites = *(const uint32_t *)row->how;                                                                                      \
        uint64_t sum = 0;                                                                                                                  \
        bool fresh = false;                                                                                                                \
        uint64_t from = hpx_clock_thread_cpu();                                                                                            \
        for (uint64_t n = 0; n < amount.calls; n++) {                                                                                      \
            uint32_t i = order[n % HPX_ARRAY_LEN(order)];                                                                                  \
            i = sites == MANY ? i : i % FEW;                                                                                               \
            BODY;                                                                                                                          \
        }                                                                                                                                  \
        figures[0] = (double)(hpx_clock_thread_cpu() - from) / (double)amount.calls;                                                       \
        result = sum;                                                                                                                      \
        return !fresh;                                                                                                                     \
    }

CALLS(load, sum += places[i].key)
CALLS(get, sum += hpx_site_ids_get(&ids, keys[i], &fresh))
CALLS(add, volatile struct place *p = &places[i]; p->objects = p->objects + 1; p->bytes = p->bytes + 24)
CALLS(freed, hpx_site_ids_freed(&ids, tags[i]))

/* ---- the aggregator's side ---- */

static struct {
    struct hpx_model *m;
    struct hpx_sites *sites;
    struct hpx_thread t;
} w;

static struct hpx_ev_head events[EVENTS];
static struct {
    struct hpx_ev_head head;
    struct hpx_ev_hash hash;
    struct hpx_ev_site site;
    struct hpx_ev_frame frames[FRAMES];
} definitions[EVENTS];

static bool begin(void)
{
    const struct hpx_model_config cfg = {0};
    const struct hpx_site_options o = {&ids, 0, true, .counts = false};
    w.m = hpx_model_create(&cfg);
    w.sites = w.m ? hpx_sites_create(w.m, &o) : NULL;
    if (!w.sites) {
        return false;
    }
    for (uint32_t i = 1; i <= CLASSES; i++) {
        struct hpx_msg_site_class *c = hpx_msg_site_class_new(8);
        if (!c) {
            return false;
        }
        c->number.v = i;
        (void)snprintf(c->signature, 9, "LC%05u;", i);
        (void)hpx_model_message(w.m, &c->m);
    }
    return true;
}

static void end(void)
{
    hpx_model_thread_gone(w.m, &w.t);
    hpx_model_destroy(w.m);
    memset((void *)&w, 0, sizeof(w));
}

/* Sites are new, and so are their traces; of four methods each. Returns ns. */
static uint64_t define(uint32_t sites)
{
    uint64_t ns = 0;
    for (uint32_t done = 0; done < sites;) {
        uint32_t n = sites - done < EVENTS ? sites - done : EVENTS;
        for (uint32_t i = 0; i < n; i++, done++) {
            definitions[i].head = (struct hpx_ev_head){.kind = HPX_EV_SITE_DEF, .units = sizeof(definitions[i]) / HPX_EV_UNIT, .stamp = 24};
            definitions[i].head.id = id_of[done];
            definitions[i].site = (struct hpx_ev_site){.klass = {1 + done % CLASSES}};
            for (uint32_t f = 0; f < FRAMES; f++) {
                definitions[i].frames[f] = (struct hpx_ev_frame){.bci = (int32_t)(done % 97), .method = 0x1000 + 8 * (done / 97 % 500 + f)};
            }
            struct hpx_hash128 h = hpx_hash128(definitions[i].frames, sizeof(definitions[i].frames));
            definitions[i].hash = (struct hpx_ev_hash){h.lo, h.hi};
        }
        uint64_t from = hpx_clock_thread_cpu();
        hpx_model_events(w.m, &w.t, &definitions[0].head, n * sizeof(definitions[0]));
        ns += hpx_clock_thread_cpu() - from;
    }
    return ns;
}

static bool defined(const struct hpx_bench_row *row, double *figures)
{
    uint32_t sites = *(const uint32_t *)row->how;
    if (!begin()) {
        return false;
    }
    figures[0] = (double)define(sites) / sites;
    figures[1] = 1e3 / figures[0];
    bool ok = hpx_sites_recorded_objects(w.sites) == sites;
    end();
    return ok;
}

/* Every event is read once and its site's counters are written; the events themselves are filled outside the time. */
static bool applied(const struct hpx_bench_row *row, double *figures)
{
    uint32_t sites = *(const uint32_t *)row->how;
    uint64_t ns = 0, at = 0, n = 0;
    if (!begin()) {
        return false;
    }
    (void)define(sites);
    for (; n < amount.events; n += EVENTS) {
        for (uint32_t i = 0; i < EVENTS; i++, at++) {
            uint32_t site = order[at % HPX_ARRAY_LEN(order)] % sites;
            events[i] = (struct hpx_ev_head){.kind = HPX_EV_ALLOC, .units = 1, .id = id_of[site], .stamp = 24};
        }
        uint64_t from = hpx_clock_thread_cpu();
        hpx_model_events(w.m, &w.t, events, sizeof(events));
        ns += hpx_clock_thread_cpu() - from;
    }
    figures[0] = (double)ns / (double)n;
    figures[1] = 1e3 / figures[0];
    bool ok = hpx_sites_recorded_objects(w.sites) == sites + n;
    end();
    return ok;
}

static const uint32_t few = FEW, many = MANY;

#define ROWS(WHAT, FUNCTION)                                                                                                               \
    {.name = WHAT ", 1,000 sites", .once = FUNCTION, .how = &few},                                                                         \
    {                                                                                                                                      \
        .name = WHAT ", 100,000 sites", .once = FUNCTION, .how = &many                                                                     \
    }

static struct hpx_bench_row calls[] = {ROWS("a load", load), ROWS("hpx_site_ids_get, known", get), ROWS("two additions in memory", add),
                                       ROWS("hpx_site_ids_freed", freed)};
static struct hpx_bench_row tables_rows[] = {ROWS("allocations", applied), ROWS("definitions of 4 frames", defined)};
static struct hpx_bench_section tables[] = {
    {"ids of sites, random order", "ids", {{"ns", "ns"}}, calls, HPX_ARRAY_LEN(calls)},
    {"events applied to the table", "table", {{"ns an event", "event_ns"}, {"M events/s", "m_s"}}, tables_rows, HPX_ARRAY_LEN(tables_rows)},
};

int main(int argc, char **argv)
{
    struct hpx_bench_args args;
    char head[64];
    int cpus[2];
    if (!hpx_bench_parse(&args, "sites", argc, argv)) {
        return 2;
    }
    if (args.quick) {
        rounds = 3;
        amount.calls = 200000;
        amount.events = 400000;
    }
    bool pinned = hpx_bench_two_processors(cpus) && hpx_bench_pin(cpus[0]);
    rounds = prepare() ? hpx_bench_measure(tables, HPX_ARRAY_LEN(tables), rounds, args.seconds) : 0;
    hpx_site_ids_fini(&ids);
    if (rounds == 0) {
        (void)fprintf(stderr, "bench_sites: did not run to its end\n");
        return 1;
    }
    printf("allocation sites, without a JVM; medians of %u alternating rounds\n", rounds);
    hpx_bench_print(tables, HPX_ARRAY_LEN(tables));
    (void)snprintf(head, sizeof(head), "\"pinned\": %s", pinned ? "true" : "false");
    const struct hpx_bench_report report = {"sites", head, rounds, tables, HPX_ARRAY_LEN(tables), NULL, 0};
    return args.json && !hpx_bench_write_json(&report, args.json);
}
