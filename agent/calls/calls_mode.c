/* SPDX-License-Identifier: BSD-2-Clause */
/* calls_mode.c: the registrations of calls_mode.h: rows, drainers, figures. */
#include "calls_mode.h"
#include "call_drainers.h"
#include "calls_thread.h"
#include "classes.h"
#include "clock.h"
#include "downcall.h"
#include "hprofx_bci.h"
#include "journal.h"
#include "kept_states.h"
#include "model_table.h"
#include "peer.h"
#include "report.h"
#include "signal_watch.h"
#include "tracker.h"
#include <inttypes.h>
#include <stdlib.h>

#define COLLECT_TRACES 65536u /* of a drainer at a time */
#define PEEK_TRIES     100u
#define LAST_TRIES     3u

/* The aggregator's. */
static HPX_OF_SESSION struct hpx_call_drainers drainers; /* drainers beside it */
static HPX_OF_SESSION uint64_t next_collect;             /* when drainers are next asked for what they have counted */
static HPX_OF_SESSION bool prepared;                     /* the end's barrier */

static struct hpx_calls_thread *state(struct hpx_thread *t)
{
    return HPX_CONTAINER_OF(t, struct hpx_calls_thread, s.base);
}

static bool wanted_times(const struct hpx_options *o)
{
    return (o->cpu & HPX_CPU_TIMES) && hpx_options_follow_calls(o);
}

static bool wanted_old(const struct hpx_options *o)
{
    return o->cpu & HPX_CPU_OLD;
}

const struct hpx_mode *hpx_calls_mode_active(void)
{
    return wanted_old(hpx_session.opt) ? &hpx_calls_mode_old : &hpx_calls_mode;
}

struct hpx_call_rows *hpx_calls_rows(void)
{
    return hpx_model_table(hpx_session.model, HPX_EV_ENTER);
}

static bool tables(struct hpx_model *m)
{
    bool old = wanted_old(hpx_session.opt);
    const struct hpx_call_options o = {
        .signatures = old, .depth = old ? 2 : hpx_session.opt->depth, .times_from_ticks = hpx_calls_timed_by_samples()};
    return hpx_call_rows_create(m, &o) != NULL;
}

static void begin(void)
{
    next_collect = 0;
    prepared = false;
    hpx_call_drainers_init(&drainers, &hpx_session.aggregator, hpx_call_rows_table(hpx_calls_rows()), hpx_call_drainers_limit());
}

/* ---- threads ---- */

static void came(struct hpx_thread *t)
{
    hpx_call_drainers_came(&drainers, t);
}

/* times=sampled: no handler of t runs any more; its last ticks found no room. */
static void lose_owed(struct hpx_calls_thread *t)
{
    hpx_count(&hpx_session.counters, HPX_C_LOST_RING_FULL, t->owed / hpx_session.opt->interval_ns);
    t->owed = 0;
}

static void gone(struct hpx_thread *t)
{
    state(t)->stack_limit.limit = UINTPTR_MAX; /* a probe that finds it in a later session takes its slow way */
    if (!hpx_gate_own_wait(&state(t)->in_probe, 0) || !hpx_gate_own_wait(&state(t)->tick.in_handler, 0)) {
        return; /* the thread is stopped inside, and will write its ring: everything stays */
    }
    lose_owed(state(t));
    hpx_kept_states_give(&state(t)->s);
}

/* In its first pass the aggregator has time: the program has just begun. */
static void look(void)
{
    if (!prepared) {
        prepared = true;
        hpx_tracker_prepare();
    }
}

static void idle(void)
{
    if (hpx_ticks_leads(hpx_calls_mode_active())) {
        hpx_signal_watch_look_own();
    }
    if (hpx_calls_timed_by_samples() && hpx_signal_watch_ended()) {
        hpx_call_drainers_gather(&drainers); /* the next look finds all clocks */
    } else {
        hpx_call_drainers_balance(&drainers);
    }
}

/* ---- rows ---- */

static bool prepare(enum hpx_why why)
{
    if (why != HPX_WHY_JOURNAL) {
        hpx_call_drainers_gather(&drainers); /* the next pass finds their threads as new ones */
    }
    return true;
}

/* What t has pending at that place of its ring. */
static uint64_t tail(struct hpx_thread *t)
{
    struct hpx_calls_thread *at = state(t);
    uint64_t to = hpx_ring_peek(&t->ring);
    if (hpx_calls_peek(&at->calls, PEEK_TRIES, &at->pending)) {
        return at->pending.at;
    }
    at->pending = (struct hpx_calls_pending){0}; /* its owner is in a push: it is in the next dump */
    return to;
}

static uint64_t tail_apart(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    return tail(t);
}

static void take_pending(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_call_rows_pending(hpx_calls_rows(), t, &state(t)->pending);
    hpx_call_rows_time(hpx_calls_rows(), t, hpx_clock_tid_cpu(state(t)->s.tid));
}

/* The same of a thread that a drainer has. */
static void take_pending_apart(struct hpx_calltab *table, struct hpx_thread *t)
{
    hpx_calltab_pending(table, t->call_stacks, &state(t)->pending);
}

static void taken(enum hpx_why why)
{
    uint64_t now = hpx_clock_mono();
    hpx_session_each(hpx_calls_mode_active(), take_pending, NULL);
    if (why == HPX_WHY_JOURNAL && now >= next_collect) { /* holds the drainers: not for each slice of what they have counted */
        (void)hpx_call_drainers_collect(&drainers, COLLECT_TRACES, tail_apart, take_pending_apart);
        next_collect = now + HPX_JOURNAL_TABLE_NS;
    }
}

static void *snapshot(enum hpx_take take)
{
    return hpx_call_rows_snapshot(hpx_calls_rows(), take);
}

static uint32_t waiting(void)
{
    return hpx_call_rows_waiting(hpx_calls_rows());
}

static bool empty(const void *rows)
{
    return ((const struct hpx_call_snapshot *)rows)->nrows == 0;
}

static void destroy(void *rows)
{
    hpx_call_snapshot_destroy(rows);
}

static void text_times(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_cpu_times(to, rows, cutoff, time(NULL));
}

static void text_old(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    if (answer) {
        text_times(to, rows, cutoff, answer); /* a peer gets CPU TIME, as from the original */
    } else {
        hpx_ascii_cpu_old(to, rows);
    }
}

/* ---- commands ---- */

static bool control(const struct hpx_command *c)
{
    switch (c->control) {
    case HPX_CONTROL_CLEAR_CPU:
        hpx_call_rows_clear(hpx_calls_rows());
        return true;
    case HPX_CONTROL_DEPTH:
        hpx_peer_leave_out(c, "the depth of exact calls is that of the start");
        return true;
    default:
        return false;
    }
}

/* ---- the end ---- */

static void quiesce_probe(void *until, struct hpx_thread *t)
{
    hpx_tracker_quiesce(state(t), *(const uint64_t *)until);
}

static void push_owed(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_calls_thread_tick(state(t), 0);
}

static void stop(uint64_t until_ns)
{
    hpx_classes_close();
    hpx_tracker_close();
    hpx_session_each(hpx_calls_mode_active(), quiesce_probe, &until_ns);
    if (hpx_calls_timed_by_samples()) {
        hpx_ticks_stop(until_ns);
        hpx_session_each(hpx_calls_mode_active(), push_owed, NULL);
    }
    hpx_classes_close_and_wait();        /* takes as long as the rewriting of a class: behind what has a bound */
    hpx_call_drainers_gather(&drainers); /* the next pass finds their threads as new ones */
}

/* All probes are out for good: what a thread has pending stands, behind its last record. */
static void take_last_pending(void *ctx, struct hpx_thread *t)
{
    struct hpx_calls_thread *at = state(t);
    struct hpx_calls_pending p;
    (void)ctx;
    if (hpx_calls_peek(&at->calls, LAST_TRIES, &p)) {
        hpx_call_rows_pending(hpx_calls_rows(), t, &p);
    }
    hpx_call_rows_time(hpx_calls_rows(), t, hpx_clock_tid_cpu(at->s.tid));
    lose_owed(at);
}

static void ended(void)
{
    hpx_session_each(hpx_calls_mode_active(), take_last_pending, NULL);
}

static void fini(void)
{
    hpx_call_drainers_fini(&drainers);
}

/* ---- the report ---- */

struct figures {
    struct hpx_call_snapshot rows; /* without its rows */
    uint64_t inner_ns, outer_ns;   /* of a probe */
    uint64_t drainers, drainers_ns, given;
};
HPX_FIGURES_FIT(struct figures);

static void collect(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    const struct hpx_calltab *table = hpx_call_rows_table(hpx_calls_rows());
    struct figures g = {.drainers = drainers.most, .drainers_ns = drainers.cpu_ns, .given = drainers.given};
    hpx_ticks_collect(hpx_calls_mode_active(), total);
    if (rows != NULL) {
        g.rows = *(const struct hpx_call_snapshot *)rows;
        g.inner_ns = table->cfg.inner;
        g.outer_ns = table->cfg.outer;
    }
    HPX_FIGURES_PUT(f, g);
}

static uint64_t own_cpu(const struct hpx_counters *total)
{
    return hpx_ticks_cpu(hpx_calls_mode_active(), total) + drainers.cpu_ns;
}

static void add_times(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_call_snapshot *rows)
{
    if (!hpx_calls_timed_by_samples()) {
        hpx_lines_add(to, "hprofx: times: %s%s%s\n", hpx_cpuclock_name(), hpx_cpuclock_reason()[0] ? ": " : "", hpx_cpuclock_reason());
        return;
    }
    hpx_lines_add(to, "hprofx: times: sampled by %s, every %.6g ms\n", hpx_clocks_name(), hpx_lines_ms(hpx_session.opt->interval_ns));
    if (hpx_ticks_leads(hpx_calls_mode_active())) {
        hpx_ticks_lines(to, r, hpx_lines_ms(rows->ticks_ns));
    }
    hpx_lines_add(to, "hprofx: ticks: %" PRIu64 ", %.3f ms\n", rows->ticks, hpx_lines_ms(rows->ticks_ns));
    hpx_lines_add(to, "hprofx: ticks outside counted methods: %.3f ms\n", hpx_lines_ms(rows->outside_ns));
}

void hpx_calls_replaced_lines(struct hpx_lines *to, const struct hpx_call_snapshot *rows)
{
    uint32_t n = rows->nreplaced, named = n < HPX_REPLACED_NAMED ? n : HPX_REPLACED_NAMED;
    if (n == 0) {
        return;
    }
    hpx_lines_add(to, "hprofx: replaced by the VM: %" PRIu32 " method%s of this table", n, n == 1 ? "" : "s");
    for (uint32_t i = 0; i < named; i++) {
        const struct hpx_method_rec *m = rows->replaced[i];
        hpx_lines_add(to, "%s %.*s.%.*s", i > 0 ? "," : ":", (int)m->class_name.len, m->class_name.bytes, (int)m->name.len, m->name.bytes);
    }
    if (n > named) {
        hpx_lines_add(to, " and %" PRIu32 " more", n - named);
    }
    hpx_lines_add(to, "; where the VM runs its own code instead, neither they nor the methods that they call are counted\n");
}

static void lines(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    struct hpx_classes_figures made;
    struct figures g;
    const char *down = hpx_classes_no_downcalls();
    HPX_FIGURES_GET(f, g);
    hpx_classes_figures(&made);
    add_times(to, r, &g.rows);
    hpx_lines_add(to, "hprofx: probes: %s%s\n", down == NULL ? "critical downcalls" : "JNI natives: ", down == NULL ? "" : down);
    hpx_lines_add(to, "hprofx: instrumented: %" PRIu64 " methods of %" PRIu64 " classes\n", made.methods, made.classes);
    hpx_classes_left_lines(to, &made);
    if (made.bare > 0) {
        hpx_lines_add(to, "hprofx: methods without exception probe: %" PRIu64 " methods\n", made.bare);
    }
    hpx_lines_add(to, "hprofx: calls: %" PRIu64 " returned, %.3f ms of self time in this table\n", g.rows.all_calls,
                  hpx_lines_ms(g.rows.self_ns));
    hpx_calls_replaced_lines(to, &g.rows);
    hpx_lines_add(to, "hprofx: open calls: %" PRIu64 ", %.3f ms\n", g.rows.open_calls, hpx_lines_ms(g.rows.open_ns));
    if (!hpx_calls_timed_by_samples()) {
        hpx_lines_add(to, "hprofx: probe overhead subtracted: %.3f ms (%" PRIu64 " + %" PRIu64 " ns per call)\n",
                      hpx_lines_ms(g.rows.probes_ns), g.inner_ns, g.outer_ns);
    }
    hpx_lines_add(to, "hprofx: missed exits: %" PRIu64 "\n", g.rows.resynced);
    hpx_lines_add(to, "hprofx: unmatched exits: %" PRIu64 "\n", g.rows.stray);
    if (g.drainers > 0) {
        hpx_lines_add(to, "hprofx: drainers: %" PRIu64 " besides the aggregator, %.3f ms; %" PRIu64 " threads assigned to them\n",
                      g.drainers, hpx_lines_ms(g.drainers_ns), g.given);
    }
    if (g.rows.lost_events > 0) {
        hpx_lines_add(to, "hprofx: incomplete: %" PRIu64 " events lost, including %" PRIu64 " whole calls\n", g.rows.lost_events,
                      g.rows.lost_calls);
    }
}

static void summary(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    struct figures g;
    HPX_FIGURES_GET(f, g);
    hpx_lines_add(to, "hprofx: calls: %" PRIu64 ", %" PRIu64 " events lost; own CPU time %.2f %% of the program's\n", g.rows.all_calls,
                  g.rows.lost_events, hpx_lines_percent(r->own_cpu_ns, r->program_cpu_ns));
}

static const struct hpx_section section_times = {
    .title = "CPU usage by timing methods", .empty = empty, .destroy = destroy, .text = text_times};
static const struct hpx_section section_old = {
    .bare = true, .title = "CPU usage in old prof format", .empty = empty, .destroy = destroy, .text = text_old};

#define BOTH(its_wanted)                                                                                                                   \
    .vm = &hpx_calls_vm_mode, .load = {.wanted = (its_wanted), .tables = tables, .begin = begin},                                          \
    .pass = {.look = look, .idle = idle, .came = came, .gone = gone},                                                                      \
    .dump = {.prepare = prepare, .tail = tail, .taken = taken, .snapshot = snapshot, .waiting = waiting},                                  \
    .peer = {.listed_by = HPX_COMMAND_CPU_SAMPLES, .control = control}, .end = {.stop = stop, .ended = ended, .fini = fini},               \
    .report = {.collect = collect, .own_cpu = own_cpu, .lines = lines, .summary = summary}

const struct hpx_mode hpx_calls_mode = {.name = "cpu=times", .section = &section_times, BOTH(wanted_times)};
const struct hpx_mode hpx_calls_mode_old = {.name = "cpu=old", .section = &section_old, BOTH(wanted_old)};
