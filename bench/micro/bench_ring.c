/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_ring.c: the byte ring beside ck_ring, a queue under a mutex, and the limits of the machine, in one run.
 *
 * Three shapes, because each hides what another shows. Saturated: both sides spin. Warm: one thread pushes 512 records and pops them.
 * Core to core: bursts of 512 in strict alternation between two cores. Rows alternate round by round; each figure is the median of whole
 * runs. A bulk hand-over of 32 KiB blocks tells how near the two cores are: figures of different placements do not compare. */
#include "clock.h"
#include "micro.h"
#include "ring.h"

#include <ck_ring.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_BYTES 65536u /* of every ring */
#define BURST      512u
#define BURSTS     1024u
#define WARM_TIMES 64u
#define WARM_ROUND 9u
#define BLOCK      32768u
#define NEAR_GB_S  20.0 /* measured on the first machine: 11 to 13 far, 42 near */
#define ROUNDS     40u  /* of a run */
#define MAX_RUNS   25

/* push waits for space, pop for data: one pair of functions serves all shapes. pop returns a sum over all words. */
struct impl {
    const char *name;
    unsigned bytes;
    bool pairs; /* hands over between threads; the memcpy row does not */
    void (*reset)(void);
    void (*push)(uint64_t n, uint64_t x);
    uint64_t (*pop)(uint64_t n);
};

struct figures {
    double saturated, push_warm, pop_warm, push_core, pop_core; /* M records/s, then ns */
};

static struct hpx_ring own;
static struct ck_ring ck;
static char *slots; /* of ck_ring, the queue and the limit */
static struct {
    pthread_mutex_t lock;
    uint64_t head, tail;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void own_reset(void)
{
    atomic_store(&own.tail, 0);
    atomic_store(&own.head, 0);
    own.head_cache = 0;
}

static void queue_reset(void)
{
    queue.head = queue.tail = 0;
}

static void nothing(void)
{
}

/* Everything below, for one size of record. A record's words are all live: they follow x. */
#define RINGS_OF(B)                                                                                                                        \
    struct rec##B {                                                                                                                        \
        uint64_t w[(B) / 8];                                                                                                               \
    };                                                                                                                                     \
    CK_RING_PROTOTYPE(rec##B, rec##B)                                                                                                      \
    static inline void fill##B(uint64_t *w, uint64_t x)                                                                                    \
    {                                                                                                                                      \
        for (unsigned k = 0; k < (B) / 8; k++) {                                                                                           \
            w[k] = x + k;                                                                                                                  \
        }                                                                                                                                  \
    }                                                                                                                                      \
    static inline uint64_t sum##B(const uint64_t *w)                                                                                       \
    {                                                                                                                                      \
        uint64_t sum = 0;                                                                                                                  \
        for (unsigned k = 0; k < (B) / 8; k++) {                                                                                           \
            sum += w[k];                                                                                                                   \
        }                                                                                                                                  \
        return sum;                                                                                                                        \
    }                                                                                                                                      \
    static void own_push##B(uint64_t n, uint64_t x)                                                                                        \
    {                                                                                                                                      \
        for (unsigned tries = 0; n; x += 3) {                                                                                              \
            struct hpx_ev_head *ev = hpx_ring_reserve(&own, B);                                                                            \
            if (hpx_unlikely(!ev)) {                                                                                                       \
                hpx_bench_pause(&tries);                                                                                                   \
                continue;                                                                                                                  \
            }                                                                                                                              \
            ev->kind = (uint16_t)(HPX_EV_TEST + (x & 1));                                                                                  \
            ev->id = (uint32_t)x;                                                                                                          \
            ev->stamp = x;                                                                                                                 \
            uint64_t *w = (uint64_t *)(void *)(ev + 1);                                                                                    \
            for (unsigned k = 2; k < (B) / 8; k++) {                                                                                       \
                w[k - 2] = x + k;                                                                                                          \
            }                                                                                                                              \
            hpx_ring_commit(&own, ev, B);                                                                                                  \
            n--;                                                                                                                           \
        }                                                                                                                                  \
    }                                                                                                                                      \
    static uint64_t own_pop##B(uint64_t n)                                                                                                 \
    {                                                                                                                                      \
        uint64_t sum = 0, at = hpx_ring_position(&own);                                                                                    \
        for (unsigned tries = 0; n;) {                                                                                                     \
            uint64_t to = hpx_ring_peek(&own);                                                                                             \
            if (at == to) {                                                                                                                \
                hpx_bench_pause(&tries);                                                                                                   \
                continue;                                                                                                                  \
            }                                                                                                                              \
            while (at != to) {                                                                                                             \
                size_t bytes;                                                                                                              \
                const struct hpx_ev_head *ev = hpx_ring_span(&own, at, to, &bytes), *end = ev + bytes / HPX_EV_UNIT;                       \
                for (; ev != end; ev = hpx_ring_next(ev, end)) {                                                                           \
                    if (ev->kind != HPX_EV_PAD) {                                                                                          \
                        sum += sum##B((const uint64_t *)(const void *)ev);                                                                 \
                        n--;                                                                                                               \
                    }                                                                                                                      \
                }                                                                                                                          \
                at += bytes;                                                                                                               \
            }                                                                                                                              \
            hpx_ring_release(&own, at);                                                                                                    \
        }                                                                                                                                  \
        return sum;                                                                                                                        \
    }                                                                                                                                      \
    static void ck_reset##B(void)                                                                                                          \
    {                                                                                                                                      \
        ck_ring_init(&ck, SLOT_BYTES / (B));                                                                                               \
    }                                                                                                                                      \
    static void ck_copy_push##B(uint64_t n, uint64_t x)                                                                                    \
    {                                                                                                                                      \
        for (unsigned tries = 0; n; x += 3) {                                                                                              \
            struct rec##B rec;                                                                                                             \
            fill##B(rec.w, x);                                                                                                             \
            if (hpx_unlikely(!CK_RING_ENQUEUE_SPSC(rec##B, &ck, (struct rec##B *)(void *)slots, &rec))) {                                  \
                hpx_bench_pause(&tries);                                                                                                   \
                continue;                                                                                                                  \
            }                                                                                                                              \
            n--;                                                                                                                           \
        }                                                                                                                                  \
    }                                                                                                                                      \
    static void ck_place_push##B(uint64_t n, uint64_t x)                                                                                   \
    {                                                                                                                                      \
        for (unsigned tries = 0; n; x += 3) {                                                                                              \
            struct rec##B *rec = ck_ring_enqueue_reserve_spsc_rec##B(&ck, (struct rec##B *)(void *)slots);                                 \
            if (hpx_unlikely(!rec)) {                                                                                                      \
                hpx_bench_pause(&tries);                                                                                                   \
                continue;                                                                                                                  \
            }                                                                                                                              \
            fill##B(rec->w, x);                                                                                                            \
            ck_ring_enqueue_commit_spsc(&ck);                                                                                              \
            n--;                                                                                                                           \
        }                                                                                                                                  \
    }                                                                                                                                      \
    static uint64_t ck_pop##B(uint64_t n)                                                                                                  \
    {                                                                                                                                      \
        uint64_t sum = 0;                                                                                                                  \
        for (unsigned tries = 0; n;) {                                                                                                     \
            struct rec##B rec;                                                                                                             \
            if (hpx_unlikely(!CK_RING_DEQUEUE_SPSC(rec##B, &ck, (struct rec##B *)(void *)slots, &rec))) {                                  \
                hpx_bench_pause(&tries);                                                                                                   \
                continue;                                                                                                                  \
            }                                                                                                                              \
            sum += sum##B(rec.w);                                                                                                          \
            n--;                                                                                                                           \
        }                                                                                                                                  \
        return sum;                                                                                                                        \
    }                                                                                                                                      \
    static void mutex_push##B(uint64_t n, uint64_t x)                                                                                      \
    {                                                                                                                                      \
        for (unsigned tries = 0; n; x += 3) {                                                                                              \
            pthread_mutex_lock(&queue.lock);                                                                                               \
            bool room = queue.tail - queue.head < SLOT_BYTES / (B);                                                                        \
            if (hpx_likely(room)) {                                                                                                        \
                fill##B((uint64_t *)(void *)(slots + queue.tail++ % (SLOT_BYTES / (B)) * (B)), x);                                         \
                n--;                                                                                                                       \
            }                                                                                                                              \
            pthread_mutex_unlock(&queue.lock);                                                                                             \
            if (!room) {                                                                                                                   \
                hpx_bench_pause(&tries);                                                                                                   \
            }                                                                                                                              \
        }                                                                                                                                  \
    }                                                                                                                                      \
    static uint64_t mutex_pop##B(uint64_t n)                                                                                               \
    {                                                                                                                                      \
        uint64_t sum = 0;                                                                                                                  \
        for (unsigned tries = 0; n;) {                                                                                                     \
            pthread_mutex_lock(&queue.lock);                                                                                               \
            bool any = queue.tail != queue.head;                                                                                           \
            if (hpx_likely(any)) {                                                                                                         \
                sum += sum##B((const uint64_t *)(const void *)(slots + queue.head++ % (SLOT_BYTES / (B)) * (B)));                          \
                n--;                                                                                                                       \
            }                                                                                                                              \
            pthread_mutex_unlock(&queue.lock);                                                                                             \
            if (!any) {                                                                                                                    \
                hpx_bench_pause(&tries);                                                                                                   \
            }                                                                                                                              \
        }                                                                                                                                  \
        return sum;                                                                                                                        \
    }                                                                                                                                      \
    static void limit_push##B(uint64_t n, uint64_t x)                                                                                      \
    {                                                                                                                                      \
        for (uint64_t i = 0; i < n; i++, x += 3) {                                                                                         \
            fill##B((uint64_t *)(void *)(slots + i % (SLOT_BYTES / (B)) * (B)), x);                                                        \
            __asm__ volatile("" ::: "memory");                                                                                             \
        }                                                                                                                                  \
    }                                                                                                                                      \
    static uint64_t limit_pop##B(uint64_t n)                                                                                               \
    {                                                                                                                                      \
        uint64_t sum = 0;                                                                                                                  \
        for (uint64_t i = 0; i < n; i++) {                                                                                                 \
            sum += sum##B((const uint64_t *)(const void *)(slots + i % (SLOT_BYTES / (B)) * (B)));                                         \
        }                                                                                                                                  \
        return sum;                                                                                                                        \
    }

RINGS_OF(16)
RINGS_OF(32)
RINGS_OF(64)

#define ROWS_OF(B)                                                                                                                         \
    {"own", B, true, own_reset, own_push##B, own_pop##B}, {"ck_ring copy", B, true, ck_reset##B, ck_copy_push##B, ck_pop##B},              \
        {"ck_ring in place", B, true, ck_reset##B, ck_place_push##B, ck_pop##B},                                                           \
        {"mutex queue", B, true, queue_reset, mutex_push##B, mutex_pop##B},                                                                \
    {                                                                                                                                      \
        "memory limit", B, false, nothing, limit_push##B, limit_pop##B                                                                     \
    }

static const struct impl impls[] = {ROWS_OF(16), ROWS_OF(32), ROWS_OF(64)};
#define NIMPL HPX_ARRAY_LEN(impls)

/* The limit of a hand-over: blocks of 32 KiB, two of them, whole-block copies on both sides. */
static struct {
    HPX_ALIGNED(64) char block[2][BLOCK];
    HPX_ALIGNED(64) _Atomic uint64_t sent; /* release: bulk_push; acquire: bulk_pop */
    HPX_ALIGNED(64) _Atomic uint64_t read; /* release: bulk_pop; acquire: bulk_push */
} bulk;

static void bulk_reset(void)
{
    atomic_store(&bulk.sent, 0);
    atomic_store(&bulk.read, 0);
}

static void bulk_push(uint64_t n, uint64_t x)
{
    static HPX_ALIGNED(64) char from[BLOCK];
    unsigned tries = 0;
    memset(from, (int)x, sizeof(from));
    for (uint64_t i = 0; i < n; i++) {
        while (i - atomic_load_explicit(&bulk.read, memory_order_acquire) >= 2) {
            hpx_bench_pause(&tries);
        }
        memcpy(bulk.block[i % 2], from, BLOCK);
        atomic_store_explicit(&bulk.sent, i + 1, memory_order_release);
    }
}

static uint64_t bulk_pop(uint64_t n)
{
    static HPX_ALIGNED(64) char to[BLOCK];
    uint64_t sum = 0;
    unsigned tries = 0;
    for (uint64_t i = 0; i < n; i++) {
        while (atomic_load_explicit(&bulk.sent, memory_order_acquire) <= i) {
            hpx_bench_pause(&tries);
        }
        memcpy(to, bulk.block[i % 2], BLOCK);
        atomic_store_explicit(&bulk.read, i + 1, memory_order_release);
        sum += (uint64_t)to[i % BLOCK];
    }
    return sum;
}

static const struct impl bulk_impl = {"bulk", BLOCK, true, bulk_reset, bulk_push, bulk_pop};

/* The producer's core. It is given one job at a time. */
static struct {
    const struct impl *im;
    uint64_t n;
    bool bursts;
    double push_ns[BURSTS];
    HPX_ALIGNED(64) _Atomic uint64_t asked; /* release: run_job; acquire: producer. UINT64_MAX: the end */
    HPX_ALIGNED(64) _Atomic uint64_t turn;  /* release, acquire: both, in alternation: even = producer's burst, odd = consumer's */
    int cpu;
} job;

static volatile uint64_t sink;
static bool pinned = true;

static void pin(int cpu)
{
    pinned = hpx_bench_pin(cpu) && pinned;
}

static void wait_turn(uint64_t turn)
{
    unsigned tries = 0;
    while (atomic_load_explicit(&job.turn, memory_order_acquire) != turn) {
        hpx_bench_pause(&tries);
    }
}

static void *producer(void *arg)
{
    (void)arg;
    pin(job.cpu);
    for (uint64_t done = 0;; done++) {
        uint64_t asked;
        unsigned tries = 0;
        while ((asked = atomic_load_explicit(&job.asked, memory_order_acquire)) == done) {
            hpx_bench_pause(&tries);
        }
        if (asked == UINT64_MAX) {
            return NULL;
        }
        if (!job.bursts) {
            job.im->push(job.n, asked);
            continue;
        }
        for (uint64_t i = 0; i < BURSTS; i++) {
            wait_turn(2 * i);
            uint64_t from = hpx_clock_mono();
            job.im->push(BURST, from);
            job.push_ns[i] = (double)(hpx_clock_mono() - from) / BURST;
            atomic_store_explicit(&job.turn, 2 * i + 1, memory_order_release);
        }
    }
}

static void give_job(const struct impl *im, uint64_t n, bool bursts)
{
    static uint64_t count;
    im->reset();
    job.im = im;
    job.n = n;
    job.bursts = bursts;
    atomic_store_explicit(&job.turn, 0, memory_order_relaxed); /* seen with `asked` */
    atomic_store_explicit(&job.asked, ++count, memory_order_release);
}

/* Records a second, in millions. */
static double saturated_once(const struct impl *im, uint64_t n)
{
    uint64_t from = hpx_clock_mono();
    give_job(im, n, false);
    sink += im->pop(n);
    return (double)n * 1e3 / (double)(hpx_clock_mono() - from);
}

static void core_to_core(const struct impl *im, struct figures *f)
{
    static double pop_ns[BURSTS];
    give_job(im, 0, true);
    for (uint64_t i = 0; i < BURSTS; i++) {
        wait_turn(2 * i + 1);
        uint64_t from = hpx_clock_mono();
        sink += im->pop(BURST);
        pop_ns[i] = (double)(hpx_clock_mono() - from) / BURST;
        atomic_store_explicit(&job.turn, 2 * i + 2, memory_order_release);
    }
    f->push_core = hpx_bench_median(job.push_ns, BURSTS);
    f->pop_core = hpx_bench_median(pop_ns, BURSTS);
}

static void warm_once(const struct impl *im, double *push, double *pop)
{
    uint64_t pushing = 0, popping = 0;
    im->reset();
    for (unsigned i = 0; i < WARM_TIMES; i++) {
        uint64_t a = hpx_clock_mono();
        im->push(BURST, a);
        uint64_t b = hpx_clock_mono();
        sink += im->pop(BURST);
        pushing += b - a;
        popping += hpx_clock_mono() - b;
    }
    *push = (double)pushing / (WARM_TIMES * BURST);
    *pop = (double)popping / (WARM_TIMES * BURST);
}

/* One whole run: every figure of every row, rows alternating. `gb_s`: the bulk hand-over. */
static void whole_run(struct figures *f, double *gb_s, bool two_cores)
{
    static double push[NIMPL][WARM_ROUND], pop[NIMPL][WARM_ROUND];
    double blocks = 0;
    for (unsigned r = 0; two_cores && r < ROUNDS; r++) {
        double b = saturated_once(&bulk_impl, 64);
        blocks = b > blocks ? b : blocks;
        for (size_t i = 0; i < NIMPL; i++) {
            double s = impls[i].pairs ? saturated_once(&impls[i], 20000) : 0;
            f[i].saturated = s > f[i].saturated ? s : f[i].saturated;
        }
    }
    *gb_s = blocks * BLOCK / 1e3; /* M blocks/s to GB/s */
    for (size_t i = 0; i < NIMPL; i++) {
        if (!impls[i].pairs) {
            f[i].saturated = *gb_s * 1e3 / impls[i].bytes;
        } else if (two_cores) {
            core_to_core(&impls[i], &f[i]);
        }
    }
    for (unsigned r = 0; r < WARM_ROUND; r++) {
        for (size_t i = 0; i < NIMPL; i++) {
            warm_once(&impls[i], &push[i][r], &pop[i][r]);
        }
    }
    for (size_t i = 0; i < NIMPL; i++) {
        f[i].push_warm = hpx_bench_median(push[i], WARM_ROUND);
        f[i].pop_warm = hpx_bench_median(pop[i], WARM_ROUND);
    }
}

static double over_runs(struct figures runs[][NIMPL], int n, size_t row, size_t offset)
{
    double v[MAX_RUNS];
    for (int r = 0; r < n; r++) {
        v[r] = *(const double *)(const void *)((const char *)&runs[r][row] + offset);
    }
    return hpx_bench_median(v, (size_t)n);
}

/* own against the better form of ck_ring, at 16 bytes, run by run. */
static double ratio_to_ck(struct figures runs[][NIMPL], int n)
{
    double v[MAX_RUNS];
    for (int r = 0; r < n; r++) {
        double ck_best = runs[r][1].saturated > runs[r][2].saturated ? runs[r][1].saturated : runs[r][2].saturated;
        v[r] = ck_best > 0 ? runs[r][0].saturated / ck_best : 0;
    }
    return hpx_bench_median(v, (size_t)n);
}

struct report {
    struct figures f[NIMPL];
    double gb_s, ratio;
    const char *placement;
    int runs;
};

static void print_table(const struct report *r)
{
    printf("ring, 64 KiB of slots; cores %s (bulk hand-over %.1f GB/s); medians of %d runs%s\n", r->placement, r->gb_s, r->runs,
           pinned ? "" : "; NOT pinned");
    printf("%-18s %5s %12s %10s %10s %10s %10s\n", "ring", "bytes", "saturated", "warm push", "warm pop", "c2c push", "c2c pop");
    printf("%-18s %5s %12s %10s %10s %10s %10s\n", "", "", "M records/s", "ns", "ns", "ns", "ns");
    for (size_t i = 0; i < NIMPL; i++) {
        const struct figures *f = &r->f[i];
        printf("%-18s %5u %12.1f %10.2f %10.2f", impls[i].name, impls[i].bytes, f->saturated, f->push_warm, f->pop_warm);
        if (impls[i].pairs) {
            printf(" %10.2f %10.2f\n", f->push_core, f->pop_core);
        } else {
            printf(" %10s %10s\n", "-", "-");
        }
    }
    printf("saturated, 16 bytes, own / ck_ring: %.2f (goal >= 2)%s\n", r->ratio, r->ratio >= 2 ? "" : " MISSED");
    printf("warm push, 16 bytes: %.2f ns (goal <= 1.5)%s\n", r->f[0].push_warm, r->f[0].push_warm <= 1.5 ? "" : " MISSED");
}

static int write_json(const struct report *r, const char *name)
{
    FILE *out = fopen(name, "we");
    if (!out) {
        perror(name);
        return 1;
    }
    fprintf(out, "{\"bench\": \"ring\", \"placement\": \"%s\", \"bulk_gb_s\": %.2f, \"rounds\": %d, \"pinned\": %s,\n \"rows\": [\n",
            r->placement, r->gb_s, r->runs, pinned ? "true" : "false");
    for (size_t i = 0; i < NIMPL; i++) {
        const struct figures *f = &r->f[i];
        fprintf(out,
                "  {\"ring\": \"%s\", \"bytes\": %u, \"saturated_m_s\": %.2f, \"warm_push_ns\": %.3f, \"warm_pop_ns\": %.3f, "
                "\"core_push_ns\": %.3f, \"core_pop_ns\": %.3f}%s\n",
                impls[i].name, impls[i].bytes, f->saturated, f->push_warm, f->pop_warm, f->push_core, f->pop_core,
                i + 1 < NIMPL ? "," : "");
    }
    fprintf(out,
            " ],\n \"goals\": [\n  {\"what\": \"saturated, 16 bytes, own / ck_ring\", \"value\": %.3f, \"at_least\": 2},\n"
            "  {\"what\": \"warm push, 16 bytes, ns\", \"value\": %.3f, \"at_most\": 1.5}\n ]}\n",
            r->ratio, r->f[0].push_warm);
    return fclose(out) != 0;
}

static void summarise(struct report *r, struct figures runs[][NIMPL], double *gb_s, bool two_cores)
{
    for (size_t i = 0; i < NIMPL; i++) {
        r->f[i].saturated = over_runs(runs, r->runs, i, offsetof(struct figures, saturated));
        r->f[i].push_warm = over_runs(runs, r->runs, i, offsetof(struct figures, push_warm));
        r->f[i].pop_warm = over_runs(runs, r->runs, i, offsetof(struct figures, pop_warm));
        r->f[i].push_core = over_runs(runs, r->runs, i, offsetof(struct figures, push_core));
        r->f[i].pop_core = over_runs(runs, r->runs, i, offsetof(struct figures, pop_core));
    }
    r->ratio = ratio_to_ck(runs, r->runs);
    r->gb_s = hpx_bench_median(gb_s, (size_t)r->runs);
    const char *apart = r->gb_s < NEAR_GB_S ? "far" : "near";
    r->placement = two_cores ? apart : "one only: saturated and core to core left out";
}

int main(int argc, char **argv)
{
    static struct figures runs[MAX_RUNS][NIMPL];
    static struct report report;
    double gb_s[MAX_RUNS] = {0};
    struct hpx_bench_args args;
    if (!hpx_bench_parse(&args, "ring", argc, argv)) {
        return 2;
    }
    int most = args.quick ? 1 : 15;
    int cpu[2] = {0, 0};
    bool two_cores = hpx_bench_two_processors(cpu);
    pthread_t thread;
    slots = aligned_alloc(4096, SLOT_BYTES);
    if (!slots || hpx_ring_init(&own, SLOT_BYTES) != 0) {
        return 1;
    }
    memset(slots, 0, SLOT_BYTES);
    memset(own.bytes, 0, SLOT_BYTES);
    job.cpu = cpu[1];
    if (two_cores) {
        pin(cpu[0]);
        if (pthread_create(&thread, NULL, producer, NULL) != 0) {
            return 1;
        }
    }
    struct hpx_bench_box box = hpx_bench_box(args.seconds);
    for (; report.runs < most && hpx_bench_box_fits(&box); report.runs++) {
        whole_run(runs[report.runs], &gb_s[report.runs], two_cores);
    }
    if (two_cores) {
        atomic_store_explicit(&job.asked, UINT64_MAX, memory_order_release);
        pthread_join(thread, NULL);
    }
    summarise(&report, runs, gb_s, two_cores);
    print_table(&report);
    hpx_ring_fini(&own);
    free(slots);
    return args.json ? write_json(&report, args.json) : 0;
}
