/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_shard.c: exact calls of one and of four threads, with drainers beside the aggregator and without, no JVM: CPU time an event on the
 * side of the threads and on ours, and events a second. An event is an enter or an exit. Each thread is fib(15) over and over, with a
 * count for a clock. CPU time says what a machine with enough processors would do; the rate is that of this one. */
#include "call_drainers.h"
#include "clock.h"
#include "micro.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define RING_BYTES (256u << 10)
#define PRODUCERS  4u

static unsigned rounds = 11, repeats = 4000;
static unsigned most; /* drainers that the balance has had */

struct producer {
    struct hpx_thread t;
    struct hpx_calls calls;
    uint64_t now, cpu, made;
};

static struct {
    struct hpx_aggregator a;
    struct hpx_gate gate;
    struct hpx_calltab tab;
    struct hpx_call_drainers s;
    HPX_ALIGNED(HPX_CACHE_LINE) struct producer producers[PRODUCERS];
    unsigned drainers, given;
    bool balance;
    uint64_t cpu; /* the main aggregator's, at the end of its last pass that brought something */
    uint64_t bytes;
    pthread_barrier_t start;
} w;

static __attribute__((noinline)) void fib(struct producer *p, uint32_t n, bool probes)
{
    if (probes) {
        hpx_calls_enter(&p->calls, 1, ++p->now);
    }
    p->made++;
    if (n >= 2) {
        fib(p, n - 1, probes);
        fib(p, n - 2, probes);
    }
    if (probes) {
        hpx_calls_exit(&p->calls, 1, ++p->now);
    }
}

static void *produce(void *arg)
{
    struct producer *p = arg;
    pthread_barrier_wait(&w.start);
    uint64_t from = hpx_clock_thread_cpu();
    for (unsigned i = 0; i < repeats; i++) {
        fib(p, 15, true);
    }
    hpx_calls_flush(&p->calls, p->now);
    p->cpu = hpx_clock_thread_cpu() - from;
    hpx_registry_retire(&p->t);
    return NULL;
}

/* ---- the main aggregator ---- */

static void on_message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    free(m);
}

static void on_events(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    (void)ctx;
    (void)hpx_calltab_apply(&w.tab, t->call_stacks, ev, ev + n / HPX_EV_UNIT);
}

static void on_came(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_call_drainers_came(&w.s, t);
}

static void on_gone(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_calltab_retire(&w.tab, t->call_stacks);
    t->call_stacks = NULL;
}

/* In turn: the main one, the first drainer, ... */
static uint32_t deal(void *ctx, struct hpx_thread *t)
{
    (void)ctx, (void)t;
    unsigned to = w.given++ % (w.drainers + 1);
    return to == 0 ? HPX_CALL_DRAINER_NONE : to - 1;
}

static bool on_pass_end(void *ctx)
{
    (void)ctx;
    if (w.a.bytes != w.bytes) {
        w.bytes = w.a.bytes;
        w.cpu = hpx_clock_thread_cpu();
    }
    if (w.balance) {
        hpx_call_drainers_balance(&w.s);
    }
    return false;
}

static bool begin(unsigned producers, unsigned drainers, bool balance)
{
    const struct hpx_sink sink = {
        .message = on_message, .events = on_events, .thread_came = on_came, .thread_gone = on_gone, .pass_end = on_pass_end};
    const struct hpx_calltab_config cfg = {.depth = 4};
    memset((void *)&w, 0, sizeof(w));
    hpx_gate_open(&w.gate);
    w.drainers = drainers;
    hpx_aggregator_init(&w.a, &sink);
    if (hpx_calltab_init(&w.tab, &cfg) != 0 || pthread_barrier_init(&w.start, NULL, producers + 1) != 0) {
        return false;
    }
    w.a.wait_ns = UINT64_C(60000000000);
    hpx_call_drainers_init(&w.s, &w.a, &w.tab, balance ? hpx_call_drainers_limit() : drainers);
    w.balance = balance;
    for (unsigned i = 0; i < producers; i++) {
        struct producer *p = &w.producers[i];
        if (hpx_ring_init(&p->t.ring, RING_BYTES) != 0) {
            return false;
        }
        hpx_calls_init(&p->calls, &w.a, &w.gate, &p->t);
        hpx_registry_push(&w.a.registry, &p->t);
        p->t.call_stacks = hpx_calltab_attach(&w.tab, 0);
        if (!p->t.call_stacks) {
            return false;
        }
        hpx_calltab_detach(&w.tab, p->t.call_stacks); /* the first pass adopts it */
    }
    for (unsigned i = 0; i < drainers; i++) {
        if (!hpx_call_drainers_start(&w.s)) {
            return false;
        }
    }
    (void)hpx_aggregator_pass(&w.a);
    hpx_call_drainers_give(&w.s, deal, NULL);
    return true;
}

struct way {
    unsigned producers, drainers;
    bool balance; /* as in the agent: none at first, then what the load asks for */
};

static bool run(const struct hpx_bench_row *row, double *figures)
{
    const struct way *way = row->how;
    pthread_t threads[PRODUCERS];
    uint64_t made = 0, cpu = 0;
    if (!begin(way->producers, way->drainers, way->balance)) {
        return false;
    }
    for (unsigned i = 0; i < way->producers; i++) {
        if (pthread_create(&threads[i], NULL, produce, &w.producers[i]) != 0) {
            return false;
        }
    }
    if (hpx_aggregator_start(&w.a, NULL) != 0) {
        return false;
    }
    pthread_barrier_wait(&w.start);
    uint64_t from = hpx_clock_mono();
    for (unsigned i = 0; i < way->producers; i++) {
        pthread_join(threads[i], NULL);
        made += w.producers[i].made;
        cpu += w.producers[i].cpu;
    }
    uint64_t to = hpx_clock_mono();
    hpx_aggregator_stop(&w.a);
    hpx_call_drainers_gather(&w.s);
    w.balance = false;
    while (hpx_aggregator_pass(&w.a) > 0 || w.a.nthreads > 0) { /* what the drainers gave back */
    }
    figures[0] = 2e3 * (double)made / (double)(to - from);
    figures[1] = (double)cpu / (2 * (double)made);
    figures[2] = (double)(w.cpu + w.s.cpu_ns) / (2 * (double)made);
    most = way->balance && w.s.most > most ? w.s.most : most;
    bool ok = w.tab.calls == made && w.tab.stray + w.tab.resynced + w.tab.lost_events == 0;
    hpx_call_drainers_fini(&w.s);
    hpx_aggregator_fini(&w.a);
    hpx_calltab_fini(&w.tab);
    for (unsigned i = 0; i < way->producers; i++) {
        hpx_ring_fini(&w.producers[i].t.ring);
    }
    pthread_barrier_destroy(&w.start);
    if (!ok) {
        (void)fprintf(stderr, "bench_shard: %s: calls lost\n", row->name);
    }
    return ok;
}

/* What the threads do without probes. */
static bool plain(const struct hpx_bench_row *row, double *figures)
{
    struct producer *p = &w.producers[0];
    (void)row;
    p->made = 0;
    uint64_t from = hpx_clock_thread_cpu();
    for (unsigned i = 0; i < repeats; i++) {
        fib(p, 15, false);
    }
    figures[1] = (double)(hpx_clock_thread_cpu() - from) / (2 * (double)p->made);
    return true;
}

static const struct way ways[] = {{1, 0, false}, {4, 0, false}, {4, 1, false}, {4, 3, false}, {4, 0, true}};
static struct hpx_bench_row rows[] = {
    {.name = "one thread, no probes", .once = plain},
    {.name = "one thread, the aggregator alone", .once = run, .how = &ways[0]},
    {.name = "four threads, the aggregator alone", .once = run, .how = &ways[1]},
    {.name = "four threads, one drainer", .once = run, .how = &ways[2]},
    {.name = "four threads, three drainers", .once = run, .how = &ways[3]},
    {.name = "four threads, as balanced", .once = run, .how = &ways[4]},
};
static struct hpx_bench_section tables[] = {
    {"fib(15) on all threads at once",
     "threads",
     {{"M events/s", "m_s"}, {"threads' CPU, ns an event", "producer_ns"}, {"our CPU, ns an event", "drain_ns"}},
     rows,
     HPX_ARRAY_LEN(rows)},
};

int main(int argc, char **argv)
{
    struct hpx_bench_args args;
    char head[64];
    int cpus[2];
    if (!hpx_bench_parse(&args, "shard", argc, argv)) {
        return 2;
    }
    if (args.quick) {
        rounds = 3;
        repeats = 200;
    }
    bool two = hpx_bench_two_processors(cpus);
    rounds = hpx_bench_measure(tables, HPX_ARRAY_LEN(tables), rounds, args.seconds);
    if (rounds == 0) {
        (void)fprintf(stderr, "bench_shard: did not run to its end\n");
        return 1;
    }
    printf("exact calls of several threads, without clock; medians of %u alternating rounds%s\n", rounds, two ? "" : "; one core only");
    hpx_bench_print(tables, HPX_ARRAY_LEN(tables));
    printf("the balance had %u drainers at most\n", most);
    double one = rows[1].figures[1] + rows[1].figures[2];
    struct hpx_bench_goal goals[2] = {{.value = rows[2].figures[1] / rows[1].figures[1], .limit = 1.3},
                                      {.value = (rows[4].figures[1] + rows[4].figures[2]) / one, .limit = 1.3}};
    (void)snprintf(goals[0].what, sizeof(goals[0].what), "four threads over one: CPU of the threads an event");
    (void)snprintf(goals[1].what, sizeof(goals[1].what), "four threads with three drainers over one: CPU of both sides an event");
    hpx_bench_print_goals(goals, HPX_ARRAY_LEN(goals));
    (void)snprintf(head, sizeof(head), "\"two_cores\": %s", two ? "true" : "false");
    const struct hpx_bench_report report = {"shard", head, rounds, tables, HPX_ARRAY_LEN(tables), goals, HPX_ARRAY_LEN(goals)};
    return args.json && !hpx_bench_write_json(&report, args.json);
}
