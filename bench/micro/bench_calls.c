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

static unsigned rounds = 11, repeats = 700, long_repeats = 10000;
static uint64_t now; /* of the probes: a count, as cheap as a clock can be */
static int cpus[2];
static bool two;

/* ---- shapes ---- */

enum probes { NONE, FOLDED, EACH }; /* EACH: two records a call, by the ring's own calls: what folding is measured against */

static inline __attribute__((always_inline)) void push(struct hpx_calls *c, enum hpx_ev_kind kind, uint32_t method)
{
    struct hpx_ev_head *ev = hpx_ring_reserve(&c->thread->ring, sizeof(*ev));
    if (hpx_likely(ev)) {
        ev->kind = (uint16_t)kind;
        ev->id = method;
        ev->stamp = ++now;
        hpx_ring_commit(&c->thread->ring, ev, sizeof(*ev));
    }
}

static inline __attribute__((always_inline)) void enter(struct hpx_calls *c, enum probes probes, uint32_t method)
{
    if (probes == FOLDED) {
        hpx_calls_enter(c, method, ++now);
    } else if (probes == EACH) {
        push(c, HPX_EV_ENTER, method);
    }
}

static inline __attribute__((always_inline)) void leave(struct hpx_calls *c, enum probes probes, uint32_t method)
{
    if (probes == FOLDED) {
        hpx_calls_exit(c, method, ++now);
    } else if (probes == EACH) {
        push(c, HPX_EV_EXIT, method);
    }
}

/* One body, three functions: NAME_NONE(), NAME_FOLDED(), NAME_EACH(). */
#define BODY(name)                                                                                                                         \
    static inline __attribute__((always_inline)) uint64_t name##_body(struct hpx_calls *c, uint32_t n, uint32_t x, enum probes p,          \
                                                                      uint64_t (*again)(struct hpx_calls *, uint32_t, uint32_t))
#define THREE(name)                                                                                                                        \
    static __attribute__((noinline)) uint64_t name##_NONE(struct hpx_calls *c, uint32_t n, uint32_t x)                                     \
    {                                                                                                                                      \
        return name##_body(c, n, x, NONE, name##_NONE);                                                                                    \
    }                                                                                                                                      \
    static __attribute__((noinline)) uint64_t name##_FOLDED(struct hpx_calls *c, uint32_t n, uint32_t x)                                   \
    {                                                                                                                                      \
        return name##_body(c, n, x, FOLDED, name##_FOLDED);                                                                                \
    }                                                                                                                                      \
    static __attribute__((noinline)) uint64_t name##_EACH(struct hpx_calls *c, uint32_t n, uint32_t x)                                     \
    {                                                                                                                                      \
        return name##_body(c, n, x, EACH, name##_EACH);                                                                                    \
    }

BODY(fib)
{
    (void)x;
    enter(c, p, 1);
    uint64_t calls = n < 2 ? 1 : 1 + again(c, n - 1, 0) + again(c, n - 2, 0);
    leave(c, p, 1);
    return calls;
}
BODY(leafs)
{
    enter(c, p, 2 + x);
    uint64_t calls = 1;
    for (uint32_t i = 0; x == 0 && i < n; i++) {
        calls += again(c, 0, 1);
    }
    leave(c, p, 2 + x);
    return calls;
}
BODY(deep)
{
    enter(c, p, 4 + x);
    uint64_t calls = 1 + (n > 0 ? again(c, n - 1, (x + 1) % 7) : 0);
    leave(c, p, 4 + x);
    return calls;
}
/* A tree of 500 methods: three callees each, chosen by the path. */
BODY(bushy)
{
    uint32_t method = 20 + (x * 2654435761u >> 16) % 500;
    uint64_t calls = 1;
    enter(c, p, method);
    for (uint32_t i = 0; n > 0 && i < 3; i++) {
        calls += again(c, n - 1, x * 3 + i + 1);
    }
    leave(c, p, method);
    return calls;
}
THREE(fib)
THREE(leafs)
THREE(deep)
THREE(bushy)

struct shape {
    uint64_t (*call[3])(struct hpx_calls *c, uint32_t n, uint32_t x); /* by enum probes */
    uint32_t n, times;
};

static const struct shape fib = {{fib_NONE, fib_FOLDED, fib_EACH}, 15, 1}, leafs = {{leafs_NONE, leafs_FOLDED, leafs_EACH}, 100, 20},
                          deep = {{deep_NONE, deep_FOLDED, deep_EACH}, 200, 10}, bushy = {{bushy_NONE, bushy_FOLDED, bushy_EACH}, 7, 1};

/* Its calls. */
static uint64_t once(const struct shape *shape, enum probes probes)
{
    uint64_t calls = 0;
    for (uint32_t i = 0; i < shape->times; i++) {
        calls += shape->call[probes](&run.calls, shape->n, 0);
    }
    return calls;
}

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
    hpx_aggregator_init(&run.a, &sink);
    if (hpx_ring_init(&run.thread.ring, RING_BYTES) != 0 || hpx_calltab_init(&run.tab, &cfg) != 0) {
        return false;
    }
    run.a.wait_ns = UINT64_C(60000000000);
    hpx_calls_init(&run.calls, &run.a, &run.gate, &run.thread);
    hpx_registry_push(&run.a.registry, &run.thread);
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

struct way {
    const struct shape *shape;
    enum probes probes;
};

static bool alone(const struct hpx_bench_row *row, double *figures)
{
    const struct way *way = row->how;
    uint64_t plain = 0, probed = 0, drained = 0, bytes = 0, calls = 0, first = 0;
    (void)hpx_bench_pin(cpus[0]);
    if (!begin()) {
        return false;
    }
    for (unsigned i = 0; i <= repeats; i++) {
        uint64_t a = hpx_clock_thread_cpu();
        (void)once(way->shape, NONE);
        uint64_t b = hpx_clock_thread_cpu();
        uint64_t n = once(way->shape, way->probes);
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
        calls += once(shape, FOLDED);
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

static const struct way ways[] = {{&fib, FOLDED}, {&leafs, FOLDED}, {&deep, FOLDED}, {&bushy, FOLDED},
                                  {&fib, EACH},   {&leafs, EACH},   {&deep, EACH},   {&bushy, EACH}};
static struct hpx_bench_row one[] = {
    {.name = "fib(15)", .once = alone, .how = &ways[0]},
    {.name = "100 leafs a call", .once = alone, .how = &ways[1]},
    {.name = "200 deep", .once = alone, .how = &ways[2]},
    {.name = "tree of 500 methods", .once = alone, .how = &ways[3]},
    {.name = "fib(15), not folded", .once = alone, .how = &ways[4]},
    {.name = "100 leafs a call, not folded", .once = alone, .how = &ways[5]},
    {.name = "200 deep, not folded", .once = alone, .how = &ways[6]},
    {.name = "tree of 500 methods, not folded", .once = alone, .how = &ways[7]},
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
    struct hpx_bench_goal goals[2 * HPX_ARRAY_LEN(both)];
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
    rounds = hpx_bench_measure(tables, HPX_ARRAY_LEN(tables), rounds, args.seconds);
    if (rounds == 0) {
        (void)fprintf(stderr, "bench_calls: did not run to its end\n");
        return 1;
    }
    printf("exact calls, without clock; medians of %u alternating rounds%s\n", rounds, two ? "" : "; one core only");
    hpx_bench_print(tables, HPX_ARRAY_LEN(tables));
    set_goals(goals, HPX_ARRAY_LEN(goals));
    hpx_bench_print_goals(goals, HPX_ARRAY_LEN(goals));
    (void)snprintf(head, sizeof(head), "\"two_cores\": %s", two ? "true" : "false");
    const struct hpx_bench_report report = {"calls", head, rounds, tables, HPX_ARRAY_LEN(tables), goals, HPX_ARRAY_LEN(goals)};
    return args.json && !hpx_bench_write_json(&report, args.json);
}
