/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_calls.c: exact calls without a clock and without a JVM: what a pair of probes costs, what it puts into the ring, what the
 * aggregator needs for it. The shapes are C functions that call themselves with and without probes; the difference is the probes'. An event
 * is an enter or an exit: two a call, however few records say them. */
#include "call_table.h"
#include "clock.h"
#include "micro.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define RING_BYTES (256u << 10)
#define DEPTH      4u

struct shape {
    uint64_t (*with)(struct hpx_calls *c), (*without)(struct hpx_calls *c); /* one run: its calls */
};

static struct {
    struct hpx_aggregator a;
    struct hpx_gate gate;
    HPX_ALIGNED(HPX_CACHE_LINE) struct hpx_thread thread;
    struct hpx_calls calls;
    struct hpx_calltab tab;
    struct hpx_call_thread *th;
    uint64_t events;    /* the aggregator's: applied */
    uint64_t last_cpu;  /* its CPU time when it had applied what is in `events` */
    uint64_t last_wall; /* and the time of day */
} run;

static unsigned rounds = 11, repeats = 2000, long_repeats = 30000;
static uint64_t now; /* of the probes: a count, as cheap as a clock can be */
static int cpus[2];
static bool two;

/* ---- shapes ---- */

#define PROBED(name)                                                                                                                       \
    static uint64_t name##_with(struct hpx_calls *c)                                                                                       \
    {                                                                                                                                      \
        return name##_run(c, true);                                                                                                        \
    }                                                                                                                                      \
    static uint64_t name##_without(struct hpx_calls *c)                                                                                    \
    {                                                                                                                                      \
        return name##_run(c, false);                                                                                                       \
    }                                                                                                                                      \
    static const struct shape name = {name##_with, name##_without};

static inline __attribute__((always_inline)) void enter(struct hpx_calls *c, bool probed, uint32_t method)
{
    if (probed) {
        hpx_calls_enter(c, method, ++now);
    }
}

static inline __attribute__((always_inline)) void leave(struct hpx_calls *c, bool probed, uint32_t method)
{
    if (probed) {
        hpx_calls_exit(c, method, ++now);
    }
}

/* Two functions that differ in one constant, so that the compiler makes two of it. */
#define RECURSION(name, extra)                                                                                                             \
    static __attribute__((noinline)) uint64_t name##_plain(struct hpx_calls *c, uint32_t n, uint32_t x);                                   \
    static __attribute__((noinline)) uint64_t name##_probed(struct hpx_calls *c, uint32_t n, uint32_t x);                                  \
    static inline __attribute__((always_inline)) uint64_t name##_again(struct hpx_calls *c, bool probed, uint32_t n, uint32_t x)           \
    {                                                                                                                                      \
        return probed ? name##_probed(c, n, x) : name##_plain(c, n, x);                                                                    \
    }                                                                                                                                      \
    static inline __attribute__((always_inline)) uint64_t name##_body(struct hpx_calls *c, bool probed, uint32_t n, uint32_t x)            \
    {                                                                                                                                      \
        extra                                                                                                                              \
    }                                                                                                                                      \
    static __attribute__((noinline)) uint64_t name##_plain(struct hpx_calls *c, uint32_t n, uint32_t x)                                    \
    {                                                                                                                                      \
        return name##_body(c, false, n, x);                                                                                                \
    }                                                                                                                                      \
    static __attribute__((noinline)) uint64_t name##_probed(struct hpx_calls *c, uint32_t n, uint32_t x)                                   \
    {                                                                                                                                      \
        return name##_body(c, true, n, x);                                                                                                 \
    }

RECURSION(fib, {
    (void)x;
    enter(c, probed, 1);
    uint64_t calls = n < 2 ? 1 : 1 + fib_again(c, probed, n - 1, 0) + fib_again(c, probed, n - 2, 0);
    leave(c, probed, 1);
    return calls;
})
RECURSION(leafs, {
    enter(c, probed, 2 + x);
    uint64_t calls = 1;
    for (uint32_t i = 0; x == 0 && i < n; i++) {
        calls += leafs_again(c, probed, 0, 1);
    }
    leave(c, probed, 2 + x);
    return calls;
})
RECURSION(deep, {
    enter(c, probed, 4 + x);
    uint64_t calls = 1 + (n > 0 ? deep_again(c, probed, n - 1, (x + 1) % 7) : 0);
    leave(c, probed, 4 + x);
    return calls;
})
/* A tree of 500 methods: three callees each, chosen by the path. */
RECURSION(bushy, {
    uint32_t method = 20 + (x * 2654435761u >> 16) % 500;
    uint64_t calls = 1;
    enter(c, probed, method);
    for (uint32_t i = 0; n > 0 && i < 3; i++) {
        calls += bushy_again(c, probed, n - 1, x * 3 + i + 1);
    }
    leave(c, probed, method);
    return calls;
})

static inline __attribute__((always_inline)) uint64_t fib_run(struct hpx_calls *c, bool probed)
{
    return fib_again(c, probed, 15, 0);
}
static inline __attribute__((always_inline)) uint64_t leafs_run(struct hpx_calls *c, bool probed)
{
    uint64_t calls = 0;
    for (int i = 0; i < 20; i++) {
        calls += leafs_again(c, probed, 100, 0);
    }
    return calls;
}
static inline __attribute__((always_inline)) uint64_t deep_run(struct hpx_calls *c, bool probed)
{
    uint64_t calls = 0;
    for (int i = 0; i < 10; i++) {
        calls += deep_again(c, probed, 200, 0);
    }
    return calls;
}
static inline __attribute__((always_inline)) uint64_t bushy_run(struct hpx_calls *c, bool probed)
{
    return bushy_again(c, probed, 7, 1);
}
PROBED(fib)
PROBED(leafs)
PROBED(deep)
PROBED(bushy)

/* ---- the reader ---- */

static void apply(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    (void)ctx;
    (void)t;
    uint64_t before = run.tab.calls;
    (void)hpx_calltab_apply(&run.tab, run.th, ev, ev + n / HPX_EV_UNIT);
    run.events += 2 * (run.tab.calls - before);
    run.last_cpu = hpx_clock_thread_cpu();
    run.last_wall = hpx_clock_mono();
}

static void no_message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    free(m);
}

static bool begin(void)
{
    const struct hpx_sink sink = {.message = no_message, .events = apply};
    const struct hpx_calltab_config cfg = {.depth = DEPTH};
    memset((void *)&run, 0, sizeof(run));
    hpx_gate_open(&run.gate);
    if (hpx_aggregator_init(&run.a, &sink) != 0 || hpx_ring_init(&run.thread.ring, RING_BYTES) != 0 ||
        hpx_calltab_init(&run.tab, &cfg) != 0) {
        return false;
    }
    run.a.wait_ns = UINT64_C(60000000000);
    hpx_calls_init(&run.calls, &run.a, &run.gate, &run.thread);
    hpx_registry_attach(&run.a.registry, &run.thread);
    run.th = hpx_calltab_attach(&run.tab, 0);
    return run.th != NULL;
}

static bool finish(const struct hpx_bench_row *row, uint64_t calls)
{
    bool ok = run.tab.calls == calls && hpx_counter_get(&run.thread.counters, HPX_C_LOST_WAIT) == 0;
    hpx_aggregator_fini(&run.a);
    hpx_calltab_fini(&run.tab);
    hpx_ring_fini(&run.thread.ring);
    if (!ok) {
        (void)fprintf(stderr, "bench_calls: %s: calls lost\n", row->name);
    }
    return ok;
}

/* ---- one thread ---- */

static bool alone(const struct hpx_bench_row *row, double *figures)
{
    const struct shape *shape = row->how;
    uint64_t plain = 0, probed = 0, drained = 0, bytes = 0, calls = 0, first = 0;
    (void)hpx_bench_pin(cpus[0]);
    if (!begin()) {
        return false;
    }
    for (unsigned i = 0; i <= repeats; i++) {
        uint64_t a = hpx_clock_thread_cpu();
        (void)shape->without(&run.calls);
        uint64_t b = hpx_clock_thread_cpu();
        uint64_t n = shape->with(&run.calls);
        uint64_t c = hpx_clock_thread_cpu();
        hpx_calls_flush(&run.calls, now);
        uint64_t d = hpx_clock_thread_cpu();
        size_t drained_bytes = hpx_aggregator_pass(&run.a);
        uint64_t e = hpx_clock_thread_cpu();
        if (i == 0) { /* touches the pages, makes the nodes */
            first = n;
            continue;
        }
        plain += b - a;
        probed += c - b;
        drained += e - d;
        bytes += drained_bytes;
        calls += n;
    }
    figures[0] = ((double)probed - (double)plain) / (double)calls;
    figures[1] = (double)bytes / (double)calls;
    figures[2] = (double)drained / (2 * (double)calls);
    return finish(row, calls + first);
}

/* ---- two threads ---- */

static bool beside(const struct hpx_bench_row *row, double *figures)
{
    const struct shape *shape = row->how;
    uint64_t calls = 0;
    cpu_set_t all;
    if (!two) {
        return true;
    }
    CPU_ZERO(&all);
    CPU_SET(cpus[0], &all);
    CPU_SET(cpus[1], &all);
    if (sched_setaffinity(0, sizeof(all), &all) != 0 || !begin() || hpx_aggregator_start(&run.a, NULL) != 0) {
        return false;
    }
    uint64_t cpu = hpx_clock_tid_cpu(run.a.tid), from = hpx_clock_mono();
    for (unsigned i = 0; i < long_repeats; i++) {
        calls += shape->with(&run.calls);
    }
    hpx_calls_flush(&run.calls, now);
    uint64_t to = hpx_clock_mono();
    hpx_registry_retire(&run.thread);
    hpx_aggregator_stop(&run.a);
    figures[0] = 2e3 * (double)calls / (double)(run.last_wall - from);
    figures[1] = (double)(run.last_cpu - cpu) / (2 * (double)calls);
    figures[2] = (double)(to - from) / (double)calls;
    return finish(row, calls);
}

static struct hpx_bench_row one[] = {
    {.name = "fib(15)", .once = alone, .how = &fib},
    {.name = "100 leafs a call", .once = alone, .how = &leafs},
    {.name = "200 deep", .once = alone, .how = &deep},
    {.name = "tree of 500 methods", .once = alone, .how = &bushy},
};
static struct hpx_bench_row both[] = {
    {.name = "fib(15)", .once = beside, .how = &fib},
    {.name = "100 leafs a call", .once = beside, .how = &leafs},
    {.name = "200 deep", .once = beside, .how = &deep},
    {.name = "tree of 500 methods", .once = beside, .how = &bushy},
};
static struct hpx_bench_section tables[] = {
    {"one thread in turn",
     "alone",
     {{"enter + exit, ns", "pair_ns"}, {"bytes a call", "call_bytes"}, {"applied, ns an event", "event_ns"}},
     one,
     HPX_ARRAY_LEN(one)},
    {"one producer, one aggregator",
     "beside",
     {{"M events/s", "m_s"}, {"its CPU, ns an event", "cpu_ns"}, {"a call with all, ns", "call_ns"}},
     both,
     HPX_ARRAY_LEN(both)},
};

static void set_goals(struct hpx_bench_goal *goals, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct hpx_bench_row *row = &one[i / 2];
        goals[i] = i % 2 ? (struct hpx_bench_goal){.value = 1e3 / row->figures[2], .limit = 100, .at_least = true}
                         : (struct hpx_bench_goal){.value = row->figures[2], .limit = 10};
        (void)snprintf(goals[i].what, sizeof(goals[i].what), i % 2 ? "%s, M events/s a core" : "%s, ns an event", row->name);
    }
}

int main(int argc, char **argv)
{
    struct hpx_bench_args args;
    struct hpx_bench_goal goals[2 * HPX_ARRAY_LEN(one)];
    char head[64];
    if (!hpx_bench_parse(&args, "calls", argc, argv)) {
        return 2;
    }
    if (args.quick) {
        rounds = 3;
        repeats = 200;
        long_repeats = 1000;
    }
    two = hpx_bench_two_processors(cpus);
    if (!hpx_bench_measure(tables, HPX_ARRAY_LEN(tables), rounds)) {
        (void)fprintf(stderr, "bench_calls: did not run to its end\n");
        return 1;
    }
    printf("exact calls, without clock; medians of %u alternating rounds%s\n", rounds, two ? "" : "; one core only");
    hpx_bench_print(tables, HPX_ARRAY_LEN(tables));
    set_goals(goals, HPX_ARRAY_LEN(goals));
    hpx_bench_print_goals(goals, HPX_ARRAY_LEN(goals));
    (void)snprintf(head, sizeof(head), "\"rounds\": %u, \"two_cores\": %s", rounds, two ? "true" : "false");
    const struct hpx_bench_report report = {"calls", head, tables, HPX_ARRAY_LEN(tables), goals, HPX_ARRAY_LEN(goals)};
    return args.json && !hpx_bench_write_json(&report, args.json);
}
