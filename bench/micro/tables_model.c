/* SPDX-License-Identifier: BSD-2-Clause */
/* tables_model.c: events into a model, and 20,000 classes of 250,000 methods.
 *
 * The made-up program has the proportions of the classes of JDK 17: 26,518 classes, 225,053 methods, 55,434 distinct method names of 15.7
 * bytes on average, class names of 42.7 bytes. */
#include "tables_model.h"
#include "clock.h"
#include "hash.h"
#include "sample_table.h"
#include <stdlib.h>
#include <string.h>

#define CLASSES 20000u
#define METHODS 250000u
#define NAMES   62000u /* distinct names of methods */
#define SAMPLED 3000u
#define DEPTH   30u
#define EVENTS  8192u

static double best(double so_far, double now)
{
    return so_far == 0 || now < so_far ? now : so_far;
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static struct hpx_msg_class *make_class(uint32_t number, uint32_t first, uint32_t n, uint64_t *seed)
{
    char text[8192];
    size_t len = (size_t)snprintf(text, sizeof(text), "Lcom/example/part%u/module%u/SomeClassOfIt%u;%cSomeClassOfIt%u.java%c", number % 40,
                                  number % 700, number, 0, number, 0);
    for (uint32_t i = 0; i < n; i++) {
        /* Frequent names are frequent: the lower of two dice. */
        uint64_t a = next(seed) % NAMES, b = next(seed) % NAMES;
        len += (size_t)snprintf(text + len, sizeof(text) - len, "doSomething%llu%c%c", (unsigned long long)(i % 3 ? (a < b ? a : b) : a), 0,
                                0);
    }
    struct hpx_msg_class *c = hpx_msg_class_new(n, (uint32_t)len);
    if (c) {
        c->ref = number + 1;
        c->named = true;
        memcpy(c->text, text, len);
        for (uint32_t i = 0; i < n; i++) {
            c->ids[i] = UINT64_C(0x7f3210000000) + 8u * (first + i);
        }
    }
    return c;
}

static bool announce_all(struct hpx_model *m, struct hpx_bench_model *b)
{
    static uint32_t least[CLASSES]; /* smallest time of each message so far: what it takes every time */
    uint64_t seed = 1, total = 0;
    double longest = 0;
    for (uint32_t i = 0, first = 0; i < CLASSES; i++) {
        uint32_t end = (uint32_t)((uint64_t)METHODS * (i + 1) / CLASSES);
        struct hpx_msg_class *c = make_class(i, first, end - first, &seed);
        if (!c) {
            return false;
        }
        uint64_t t0 = hpx_clock_mono();
        (void)hpx_model_message(m, &c->m);
        uint64_t took = hpx_clock_mono() - t0;
        total += took;
        least[i] = least[i] == 0 || took < least[i] ? (uint32_t)took : least[i];
        longest = least[i] > longest ? least[i] : longest;
        first = end;
    }
    b->method = best(b->method, (double)total / METHODS);
    b->longest_class = longest / 1e3;
    return true;
}

struct definition {
    struct hpx_ev_head head;
    struct hpx_ev_hash hash;
    struct hpx_ev_frame frames[DEPTH];
};

static void make_definition(struct definition *d, uint32_t slot, uint64_t *seed)
{
    memset(d, 0, sizeof(*d));
    for (uint32_t i = 0; i < DEPTH; i++) {
        uint64_t method = next(seed) % SAMPLED * (METHODS / SAMPLED);
        d->frames[i] = (struct hpx_ev_frame){(int32_t)(next(seed) % 200), 0, UINT64_C(0x7f3210000000) + 8 * method};
    }
    struct hpx_hash128 h = hpx_hash128(d->frames, sizeof(d->frames));
    d->hash = (struct hpx_ev_hash){h.lo, h.hi};
    d->head = (struct hpx_ev_head){HPX_EV_SAMPLE_DEF, sizeof(*d) / HPX_EV_UNIT, slot, 1};
}

static void sample_all(struct hpx_model *m, struct hpx_thread *t, struct hpx_bench_model *b)
{
    static struct definition defs[HPX_SLOTS];
    static struct hpx_ev_head samples[EVENTS];
    uint64_t seed = 2;
    for (uint32_t round = 0; round < 40; round++) { /* 10,240 traces; the last ones stay for the figures */
        for (uint32_t i = 0; i < HPX_SLOTS; i++) {
            make_definition(&defs[i], i, &seed);
        }
        hpx_model_events(m, t, &defs[0].head, sizeof(defs));
    }
    for (uint32_t i = 0; i < EVENTS; i++) {
        samples[i] = (struct hpx_ev_head){HPX_EV_SAMPLE, 1, (uint32_t)(next(&seed) % HPX_SLOTS), 1};
    }
    for (int i = 0; i < 20; i++) {
        uint64_t t0 = hpx_clock_mono();
        hpx_model_events(m, t, samples, sizeof(samples));
        uint64_t t1 = hpx_clock_mono();
        hpx_model_events(m, t, &defs[0].head, sizeof(defs));
        uint64_t t2 = hpx_clock_mono();
        b->sample = best(b->sample, (double)(t1 - t0) / EVENTS);
        b->define = best(b->define, (double)(t2 - t1) / HPX_SLOTS);
    }
}

static bool run_once(struct hpx_bench_model *b)
{
    const struct hpx_model_config cfg = {.lines = false};
    struct hpx_model *m = hpx_model_create(&cfg);
    struct hpx_samples *samples = m ? hpx_samples_create(m) : NULL;
    struct hpx_thread t = {0};
    if (!samples) {
        return false;
    }
    b->empty = hpx_model_bytes(m);
    bool ok = announce_all(m, b);
    b->announced = hpx_model_bytes(m);
    sample_all(m, &t, b);
    uint64_t t0 = hpx_clock_mono();
    struct hpx_snapshot *s = hpx_samples_snapshot(samples, HPX_TAKE_RESET);
    uint64_t took = hpx_clock_mono() - t0;
    b->sampled = hpx_model_bytes(m);
    if (s && s->nrows > 0) {
        b->snapshot = best(b->snapshot, (double)took / s->nrows);
    }
    hpx_snapshot_destroy(s);
    hpx_model_thread_gone(m, &t);
    hpx_model_destroy(m);
    return ok && s;
}

bool hpx_bench_model_run(struct hpx_bench_model *b, unsigned rounds)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < rounds; i++) {
        ok = run_once(b);
    }
    return ok;
}

void hpx_bench_model_print(const struct hpx_bench_model *b)
{
    static const double mib = 1 << 20;
    printf("\nmodel\n");
    printf("%-70s %8.1f ns\n", "a sample of a known stack (16 bytes)", b->sample);
    printf("%-70s %8.1f ns\n", "a definition of 30 frames that is known", b->define);
    printf("%-70s %8.1f ns\n", "a row of the first snapshot (30 frames made printable)", b->snapshot);
    printf("%-70s %8.1f ns\n", "a method announced by its class", b->method);
    printf("%-70s %8.1f us\n", "longest class message (12 or 13 methods)", b->longest_class);
    printf("%-70s %8.2f MiB\n", "tables at the start", (double)b->empty / mib);
    printf("%-70s %8.2f MiB (goal: below 16)\n", "with the names of 20,000 classes and 250,000 methods", (double)b->announced / mib);
    printf("%-70s %8.2f MiB\n", "and with 10,240 traces of 30 frames over 3,000 methods, shown", (double)b->sampled / mib);
}

void hpx_bench_model_json(FILE *f, const struct hpx_bench_model *b)
{
    (void)fprintf(f,
                  "{\"sample_ns\": %.2f, \"define_ns\": %.2f, \"snapshot_row_ns\": %.2f, \"method_ns\": %.2f, \"longest_class_us\": %.2f, "
                  "\"bytes_empty\": %zu, \"bytes_announced\": %zu, \"bytes_sampled\": %zu}",
                  b->sample, b->define, b->snapshot, b->method, b->longest_class, b->empty, b->announced, b->sampled);
}
