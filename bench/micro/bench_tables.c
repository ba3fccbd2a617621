/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_tables.c: the trace table against ck_ht and cds_lfht in one run (tables_subjects.c); the model's events and its memory for many
 * classes (tables_model.c).
 *
 * All tables get the same ready hash and copy the key to the same kind of arena; queries are prepared in small batches, so the key is hot
 * and the stored one is not. A figure is the best of the rounds, in which the tables alternate. The worst insert is the largest, over the
 * inserts, of the smallest time that this insert took in any round: what the table does at that insert every time, without what the machine
 * did once. */
#include "clock.h"
#include "intern.h"
#include "micro.h"
#include "tables_model.h"
#include "tables_subjects.h"
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH   64u
#define QUERIES (1u << 18)
#define SIZES   3

static const uint32_t sizes[SIZES] = {10000, 100000, 1000000};
enum shape { UNIFORM, SKEWED, MISS, SHAPES };
static const char *const shape_names[SHAPES] = {"hit, uniform", "hit, skewed", "miss"};

struct figures {
    double insert, query[SHAPES], worst, seen,
        bytes; /* ns; seen: longest of the best round; bytes an entry without the key, 0: not known */
};

struct run {
    unsigned rounds; /* wanted */
    unsigned made;   /* of the size that had the fewest */
    struct hpx_bench_box box;
    double clock;                                        /* ns of one clock reading */
    uint32_t *times;                                     /* smallest time of each insert so far */
    uint32_t *index[SHAPES];                             /* which key each query asks for */
    struct figures figures[SIZES][HPX_BENCH_TABLES + 1]; /* the last: one random load */
};

static struct hpx_bench_frame batch_frames[BATCH][HPX_BENCH_MAX_FRAMES];
static struct hpx_bench_key batch_keys[BATCH];
static volatile uint64_t sink;

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Key i of 8 to 56 frames, always the same, into place b of the batch. */
static void prepare(unsigned b, uint32_t i)
{
    uint64_t seed = mix(i);
    uint32_t n = 8 + (uint32_t)(seed % 49);
    for (uint32_t k = 0; k < n; k++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        batch_frames[b][k] = (struct hpx_bench_frame){(uint32_t)(seed >> 32) % 20000, (int32_t)(seed >> 20) & 1023};
    }
    batch_keys[b] = (struct hpx_bench_key){hpx_hash128(batch_frames[b], n * sizeof(struct hpx_bench_frame)), batch_frames[b], n};
}

static double best(double so_far, double now)
{
    return so_far == 0 || now < so_far ? now : so_far;
}

static double clock_cost(void)
{
    double cost = 0;
    for (int round = 0; round < 9; round++) {
        uint64_t t0 = hpx_clock_mono();
        for (int i = 0; i < 10000; i++) {
            sink += hpx_clock_mono();
        }
        cost = best(cost, (double)(hpx_clock_mono() - t0) / 10000);
    }
    return cost;
}

static bool fill(struct run *r, const struct hpx_bench_table *t, uint32_t n, struct figures *f)
{
    uint64_t total = 0, longest = 0;
    for (uint32_t i = 0; i < n;) {
        unsigned count = n - i < BATCH ? n - i : BATCH;
        for (unsigned b = 0; b < count; b++) {
            prepare(b, i + b);
        }
        uint64_t before = hpx_clock_mono();
        for (unsigned b = 0; b < count; b++, i++) {
            if (!t->insert(&batch_keys[b], i)) {
                return false;
            }
            uint64_t now = hpx_clock_mono(), took = now - before;
            total += took;
            longest = took > longest ? took : longest;
            r->times[i] = took < r->times[i] ? (uint32_t)took : r->times[i];
            before = now;
        }
    }
    f->insert = best(f->insert, (double)total / n - r->clock);
    f->seen = best(f->seen, (double)longest);
    return true;
}

static void choose_queries(struct run *r, uint32_t n)
{
    uint64_t seed = 1;
    for (uint32_t q = 0; q < QUERIES; q++) {
        seed = mix(seed);
        r->index[UNIFORM][q] = (uint32_t)(seed % n);
        double u = (double)(seed >> 11) / 9007199254740992.0;
        uint32_t rank = (uint32_t)exp(u * log(n)); /* P(rank) ~ 1 / rank */
        r->index[SKEWED][q] = (uint32_t)(mix(rank) % n);
        r->index[MISS][q] = n + (uint32_t)(seed % n);
    }
}

/* ns a find; wrong answers go to *wrong. */
static double query(const struct run *r, const struct hpx_bench_table *t, enum shape shape, uint64_t *wrong)
{
    uint64_t total = 0;
    for (uint32_t q = 0; q < QUERIES; q += BATCH) {
        uint32_t got[BATCH];
        for (unsigned b = 0; b < BATCH; b++) {
            prepare(b, r->index[shape][q + b]);
        }
        uint64_t t0 = hpx_clock_mono();
        for (unsigned b = 0; b < BATCH; b++) {
            got[b] = t->find(&batch_keys[b]);
        }
        total += hpx_clock_mono() - t0;
        for (unsigned b = 0; b < BATCH; b++) {
            *wrong += got[b] != (shape == MISS ? HPX_INTERN_NONE : r->index[shape][q + b]);
        }
    }
    return ((double)total - r->clock * (QUERIES / BATCH)) / QUERIES;
}

/* One load from a table of the own one's size, at the place that the hash names: no table that large can be quicker. */
static double random_load(const struct run *r, const uint64_t *slots, uint64_t mask, enum shape shape)
{
    uint64_t total = 0, sum = 0;
    for (uint32_t q = 0; q < QUERIES; q += BATCH) {
        for (unsigned b = 0; b < BATCH; b++) {
            prepare(b, r->index[shape][q + b]);
        }
        uint64_t t0 = hpx_clock_mono();
        for (unsigned b = 0; b < BATCH; b++) {
            sum += slots[2 * (batch_keys[b].hash.lo & mask)];
        }
        total += hpx_clock_mono() - t0;
    }
    sink += sum;
    return ((double)total - r->clock * (QUERIES / BATCH)) / QUERIES;
}

static bool measure_load(struct run *r, uint32_t n, struct figures *f)
{
    uint64_t size = 64;
    while (size / 4 * 3 < n) {
        size *= 2;
    }
    uint64_t *slots = malloc(size * 16);
    if (!slots) {
        return false;
    }
    memset(slots, 1, size * 16);
    for (unsigned round = 0; round < r->rounds; round++) {
        for (enum shape s = 0; s < SHAPES; s++) {
            f->query[s] = best(f->query[s], random_load(r, slots, size - 1, s));
        }
    }
    free(slots);
    return true;
}

static bool measure_size(struct run *r, unsigned size)
{
    uint32_t n = sizes[size];
    uint64_t wrong = 0;
    choose_queries(r, n);
    uint32_t *times = malloc(HPX_BENCH_TABLES * (size_t)n * sizeof(*times));
    if (!times) {
        return false;
    }
    memset(times, 0xff, HPX_BENCH_TABLES * (size_t)n * sizeof(*times));
    bool ok = true;
    unsigned made = 0;
    struct hpx_bench_box share = hpx_bench_box_share(&r->box, SIZES - size);
    for (; ok && made < r->rounds && hpx_bench_box_fits(&share); made++) {
        for (unsigned t = 0; ok && t < HPX_BENCH_TABLES; t++) {
            const struct hpx_bench_table *table = hpx_bench_tables[t];
            struct figures *f = &r->figures[size][t];
            r->times = times + (size_t)t * n;
            ok = table->make() && fill(r, table, n, f);
            for (enum shape s = 0; ok && s < SHAPES; s++) {
                f->query[s] = best(f->query[s], query(r, table, s, &wrong));
            }
            f->bytes = (double)table->bytes() / n;
            table->drop();
        }
    }
    r->made = made < r->made ? made : r->made;
    for (unsigned t = 0; t < HPX_BENCH_TABLES; t++) {
        double worst = 0;
        for (uint32_t i = 0; i < n; i++) {
            worst = times[(size_t)t * n + i] > worst ? times[(size_t)t * n + i] : worst;
        }
        r->figures[size][t].worst = worst;
    }
    free(times);
    if (wrong) {
        (void)fprintf(stderr, "bench_tables: %llu wrong answers\n", (unsigned long long)wrong);
    }
    return ok && !wrong && measure_load(r, n, &r->figures[size][HPX_BENCH_TABLES]);
}

static const char *name_of(unsigned t)
{
    return t < HPX_BENCH_TABLES ? hpx_bench_tables[t]->name : "one random load (limit)";
}

static void print_sizes(const struct run *r)
{
    printf("traces of 8 to 56 frames, hash given; ns; best of %u rounds\n", r->made);
    printf("%-26s %8s %8s %13s %12s %8s %17s %15s %8s\n", "table", "traces", "insert", shape_names[0], shape_names[1], shape_names[2],
           "worst insert, us", "longest seen, us", "B/entry");
    for (unsigned s = 0; s < SIZES; s++) {
        for (unsigned t = 0; t <= HPX_BENCH_TABLES; t++) {
            const struct figures *f = &r->figures[s][t];
            printf("%-26s %8u", name_of(t), sizes[s]);
            if (t < HPX_BENCH_TABLES) {
                printf(" %8.0f %13.1f %12.1f %8.1f %17.1f %15.1f ", f->insert, f->query[0], f->query[1], f->query[2], f->worst / 1e3,
                       f->seen / 1e3);
                if (f->bytes > 0) {
                    printf("%8.1f", f->bytes);
                }
                printf("\n");
            } else {
                printf(" %8s %13.1f %12.1f %8.1f\n", "", f->query[0], f->query[1], f->query[2]);
            }
        }
    }
    printf("goal: worst insert of the first table <= 50 us\n");
}

static void json_sizes(FILE *f, const struct run *r)
{
    (void)fprintf(f, "{\"rounds\": %u, \"clock_ns\": %.2f, \"tables\": [", r->made, r->clock);
    for (unsigned s = 0; s < SIZES; s++) {
        for (unsigned t = 0; t <= HPX_BENCH_TABLES; t++) {
            const struct figures *g = &r->figures[s][t];
            (void)fprintf(f,
                          "%s\n  {\"table\": \"%s\", \"traces\": %u, \"hit_uniform_ns\": %.2f, \"hit_skewed_ns\": %.2f, \"miss_ns\": %.2f",
                          s + t ? "," : "", name_of(t), sizes[s], g->query[UNIFORM], g->query[SKEWED], g->query[MISS]);
            if (t < HPX_BENCH_TABLES) {
                (void)fprintf(f, ", \"insert_ns\": %.2f, \"worst_insert_us\": %.2f, \"longest_seen_us\": %.2f, \"bytes_per_entry\": %.1f",
                              g->insert, g->worst / 1e3, g->seen / 1e3, g->bytes);
            }
            (void)fprintf(f, "}");
        }
    }
    (void)fprintf(f, "],\n \"model\": ");
}

/* The host moves the processors about: at least this process stays on one. */
static void pin(void)
{
    int cpu = sched_getcpu();
    if (!hpx_bench_pin(cpu < 0 ? 0 : cpu)) {
        (void)fprintf(stderr, "bench_tables: not pinned to one processor\n");
    }
}

static bool write_json(const char *name, const struct run *r, const struct hpx_bench_model *m)
{
    FILE *f = fopen(name, "w");
    if (!f) {
        return false;
    }
    json_sizes(f, r);
    hpx_bench_model_json(f, m);
    (void)fprintf(f, ",\n \"goals\": [");
    for (unsigned s = 0; s < SIZES; s++) {
        (void)fprintf(f, "\n  {\"what\": \"worst insert, %u traces, us\", \"value\": %.2f, \"at_most\": 50},", sizes[s],
                      r->figures[s][0].worst / 1e3);
    }
    (void)fprintf(f, "\n  {\"what\": \"tables with 20,000 classes, MiB\", \"value\": %.2f, \"at_most\": 16}]}\n",
                  (double)m->announced / (1 << 20));
    return fclose(f) == 0;
}

int main(int argc, char **argv)
{
    static struct run r;
    static struct hpx_bench_model m;
    struct hpx_bench_args args;
    if (!hpx_bench_parse(&args, "tables", argc, argv)) {
        return 2;
    }
    r.rounds = r.made = args.quick ? 1 : 5;
    r.box = hpx_bench_box(0.85 * args.seconds); /* the rest is the model's */
    hpx_bench_start(); /* before the pinning: the thread that grows a table of liburcu is not to share our processor */
    pin();
    r.clock = clock_cost();
    bool ok = true;
    for (unsigned s = 0; s < SHAPES; s++) {
        r.index[s] = malloc(QUERIES * sizeof(uint32_t));
        ok = ok && r.index[s];
    }
    for (unsigned s = 0; ok && s < SIZES; s++) {
        ok = measure_size(&r, s);
    }
    ok = ok && hpx_bench_model_run(&m, r.made);
    if (ok) {
        print_sizes(&r);
        hpx_bench_model_print(&m);
    }
    for (unsigned s = 0; s < SHAPES; s++) {
        free(r.index[s]);
    }
    if (!ok || (args.json && !write_json(args.json, &r, &m))) {
        (void)fprintf(stderr, "bench_tables: did not run to its end\n");
        return 1;
    }
    return 0;
}
