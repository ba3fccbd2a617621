/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_clock.c: the price of reading each clock, and how far the one made of counter and rseq is from the thread clock under load.
 *
 * Price: one thread, rows in turn round by round. Error: four threads on two processors read, sleep and are switched out; each error is how
 * far a read was outside the thread clock's answers just before and just after it. */
#include "clock.h"
#include "cpuclock.h"
#include "micro.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define THREADS 4

static unsigned reads = 200000, load_ms = 1000;
static uint64_t sink; /* so that no read is left out */
static struct hpx_cpuclock own;

static uint64_t nothing(void)
{
    return 0;
}

static uint64_t own_now(void)
{
    return hpx_cpuclock_now(&own);
}

/* One loop for each, so that each read is inlined as in the probe. */
#define LOOP_OF(NAME, READ)                                                                                                                \
    static void NAME(unsigned n)                                                                                                           \
    {                                                                                                                                      \
        uint64_t sum = 0;                                                                                                                  \
        for (unsigned i = 0; i < n; i++) {                                                                                                 \
            sum += READ();                                                                                                                 \
            __asm__ volatile("" : "+r"(sum));                                                                                              \
        }                                                                                                                                  \
        sink += sum;                                                                                                                       \
    }
LOOP_OF(loop_nothing, nothing)
LOOP_OF(loop_counter, hpx_counter)
LOOP_OF(loop_own, own_now)
LOOP_OF(loop_mono, hpx_clock_mono)
LOOP_OF(loop_thread, hpx_clock_thread_cpu)

struct price {
    void (*loop)(unsigned n);
    unsigned part; /* of the reads: a slow clock is read less often */
    bool fast_only;
};

static bool price_once(const struct hpx_bench_row *row, double *figures)
{
    const struct price *p = row->how;
    if (p->fast_only && !hpx_cpuclock_is_fast()) {
        return true;
    }
    unsigned n = reads / p->part;
    double best = INFINITY; /* of three: the processors are shared with others */
    for (int i = 0; i < 3; i++) {
        uint64_t begin = hpx_clock_mono();
        p->loop(n);
        double ns = (double)(hpx_clock_mono() - begin) / n;
        best = ns < best ? ns : best;
    }
    figures[0] = best;
    return true;
}

struct load {
    pthread_t thread;
    int cpu;
    bool sleeps;
    uint64_t reads, resyncs, errors, error_ns, worst_ns, end_ns;
};

static void note(struct load *l, uint64_t low, uint64_t ns, uint64_t high)
{
    uint64_t off = 0;
    if (ns < low) {
        off = low - ns;
    } else if (ns > high) {
        off = ns - high;
    }
    l->errors++;
    l->error_ns += off;
    l->worst_ns = off > l->worst_ns ? off : l->worst_ns;
    l->end_ns = off;
}

static void *under_load(void *arg)
{
    struct load *l = arg;
    struct hpx_cpuclock c;
    (void)hpx_bench_pin(l->cpu);
    hpx_cpuclock_enter(&c);
    uint64_t sum = 0;
    for (uint64_t end = hpx_clock_mono() + load_ms * UINT64_C(1000000); hpx_clock_mono() < end;) {
        for (int i = 0; i < 2000; i++) {
            sum += hpx_cpuclock_now(&c);
        }
        l->reads += 2001;
        uint64_t low = hpx_clock_thread_cpu(), ns = hpx_cpuclock_now(&c);
        note(l, low, ns, hpx_clock_thread_cpu());
        if (l->sleeps && l->errors % 32 == 0) {
            (void)nanosleep(&(struct timespec){0, 500000}, NULL);
        }
    }
    (void)nanosleep(&(struct timespec){0, 100000}, NULL); /* at the end: after a resync */
    uint64_t low = hpx_clock_thread_cpu(), ns = hpx_cpuclock_now(&c);
    note(l, low, ns, hpx_clock_thread_cpu());
    l->resyncs = atomic_load_explicit(&c.resyncs, memory_order_relaxed);
    hpx_cpuclock_leave(&c);
    __asm__ volatile("" ::"r"(sum));
    return NULL;
}

enum quantity { RESYNCS, MEAN, WORST, END };

static struct {
    double figures[END + 1];
} loaded;

/* One run for all rows; the first asks for it. */
static bool run_load(void)
{
    struct load l[THREADS] = {0};
    int cpu[2] = {0, 0};
    uint64_t errors = 0, error_ns = 0, worst = 0, end = 0, resyncs = 0;
    if (!hpx_bench_two_processors(cpu)) {
        cpu[1] = cpu[0] = sched_getcpu();
    }
    for (int i = 0; i < THREADS; i++) {
        l[i].cpu = cpu[i % 2];
        l[i].sleeps = i >= 2; /* each processor: one that runs all the time, one that sleeps now and then */
        if (pthread_create(&l[i].thread, NULL, under_load, &l[i]) != 0) {
            perror("pthread_create");
            return false;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(l[i].thread, NULL);
        errors += l[i].errors;
        error_ns += l[i].error_ns;
        resyncs += l[i].resyncs;
        worst = l[i].worst_ns > worst ? l[i].worst_ns : worst;
        end = l[i].end_ns > end ? l[i].end_ns : end;
    }
    loaded.figures[RESYNCS] = (double)resyncs * 1000 / load_ms / THREADS;
    loaded.figures[MEAN] = (double)error_ns / (double)errors;
    loaded.figures[WORST] = (double)worst;
    loaded.figures[END] = (double)end;
    return true;
}

static bool load_once(const struct hpx_bench_row *row, double *figures)
{
    const enum quantity *q = row->how;
    if (*q == RESYNCS && !run_load()) {
        return false;
    }
    figures[0] = loaded.figures[*q];
    return true;
}

static const struct price prices[] = {
    {loop_nothing, 1, false}, {loop_counter, 1, true}, {loop_own, 1, true}, {loop_mono, 4, false}, {loop_thread, 10, false}};
static const enum quantity quantities[] = {RESYNCS, MEAN, WORST, END};
static struct hpx_bench_row price_rows[] = {
    {.name = "the loop", .once = price_once, .how = &prices[0]},
    {.name = HPX_COUNTER_NAME, .once = price_once, .how = &prices[1]},
    {.name = "thread clock by " HPX_COUNTER_NAME " and rseq", .once = price_once, .how = &prices[2]},
    {.name = "CLOCK_MONOTONIC", .once = price_once, .how = &prices[3]},
    {.name = "CLOCK_THREAD_CPUTIME_ID", .once = price_once, .how = &prices[4]},
};
static struct hpx_bench_row load_rows[] = {
    {.name = "resyncs a second and thread", .once = load_once, .how = &quantities[RESYNCS]},
    {.name = "mean error, ns", .once = load_once, .how = &quantities[MEAN]},
    {.name = "worst momentary error, ns", .once = load_once, .how = &quantities[WORST]},
    {.name = "worst error at the end, ns", .once = load_once, .how = &quantities[END]},
};

int main(int argc, char **argv)
{
    static struct hpx_bench_section tables[] = {
        {.title = "a read", .key = "read", .columns = {{"ns", "ns"}}, .rows = price_rows, .nrows = HPX_ARRAY_LEN(price_rows)},
        {.title = "4 threads on 2 processors, with sleeps",
         .key = "load",
         .columns = {{"median run", "value"}, {"worst run", "worst"}},
         .rows = load_rows,
         .nrows = HPX_ARRAY_LEN(load_rows)},
    };
    struct hpx_bench_args args;
    char head[256];
    if (!hpx_bench_parse(&args, "clock", argc, argv)) {
        return 2;
    }
    uint64_t begin = hpx_clock_mono();
    hpx_cpuclock_setup(HPX_CPUCLOCK_CPU, NULL);
    double setup_ms = (double)(hpx_clock_mono() - begin) / 1e6;
    if (args.quick) {
        load_ms = 200;
    }
    printf("%s%s%s; self-test %.1f ms\n", hpx_cpuclock_name(), *hpx_cpuclock_reason() ? ": " : "", hpx_cpuclock_reason(), setup_ms);
    hpx_cpuclock_enter(&own);
    unsigned rounds = hpx_bench_measure(tables, HPX_ARRAY_LEN(tables), args.quick ? 3 : 9, args.seconds);
    if (rounds == 0) {
        return 1;
    }
    hpx_cpuclock_leave(&own);
    for (size_t i = 0; i < HPX_ARRAY_LEN(load_rows); i++) {
        load_rows[i].figures[1] = load_rows[i].rounds[0][rounds - 1]; /* sorted by now */
    }
    hpx_bench_print(tables, HPX_ARRAY_LEN(tables));
    double alone = price_rows[1].figures[0], mine = price_rows[2].figures[0];
    struct hpx_bench_goal goals[2] = {{.what = "read above " HPX_COUNTER_NAME " alone, ns", .value = mine - alone, .limit = 3},
                                      {.what = "error at the end, ns", .value = load_rows[END].figures[1], .limit = 0}};
    size_t ngoals = hpx_cpuclock_is_fast() ? HPX_ARRAY_LEN(goals) : 0;
    hpx_bench_print_goals(goals, ngoals);
    (void)snprintf(head, sizeof(head), "\"clock\": \"%s\", \"reason\": \"%s\", \"self_test_ms\": %.3f", hpx_cpuclock_name(),
                   hpx_cpuclock_reason(), setup_ms);
    struct hpx_bench_report report = {"clock", head, rounds, tables, HPX_ARRAY_LEN(tables), goals, ngoals};
    return args.json && !hpx_bench_write_json(&report, args.json);
}
