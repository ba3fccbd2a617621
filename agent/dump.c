/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.c: the sink of dump.h. */
#include "dump.h"
#include "clock.h"
#include "company.h"
#include "journal.h"
#include "log.h"
#include "output.h"
#include "peer.h"
#include "report.h"
#include "sampler.h"
#include "service.h"
#include "tracker.h"
#include <stdlib.h>

enum { MSG_FINAL = HPX_MSG_OTHER, MSG_WISH };

#define NAMES_WAIT_NS   (500ull * 1000 * 1000) /* for names that are still asked for when a dump is due */
#define QUIESCE_WAIT_NS (200ull * 1000 * 1000) /* for handlers that are inside at the end: a thread may have lost its CPU there */
#define JOURNAL_NS      (600ull * 1000 * 1000) /* with the wait for names and a pass: a table each second */
#define JOURNAL_WAIT_NS (200ull * 1000 * 1000) /* for names */
#define JOURNAL_RESTS   3u
#define COLLECT_TRACES  65536u /* of a drainer at a time */
#define PEEK_TRIES      100u
#define MOST_ASKED      64u /* dumps by SIGQUIT that are not yet written: each holds a snapshot */

static _Atomic uint32_t asked;    /* relaxed: of MOST_ASKED */
static atomic_bool period_runs;   /* relaxed: a hint: the last dump of dump= is not yet written */
static struct hpx_msg *final_msg; /* made at load: asking for the end needs no memory; VMDeath's */

struct msg_wish {
    struct hpx_msg m;
    struct hpx_dump_wish wish;
    bool journal; /* a table for the journal instead: the one of them is static */
};
static struct msg_wish journal_wish = {.journal = true};

/* The aggregator's alone. */
static struct {
    enum {
        IDLE,
        ASKED, /* the first request waits for names */
        TAKEN, /* this pass reads what the threads keep back */
        ENDING,
        STOPPED,
        NAMING,
        ENDED
    } state;
    struct hpx_msg *wishes, **wishes_end; /* requests that have no dump yet */
    uint64_t naming_until;
    uint64_t journal;             /* when the next table of the journal is due; UINT64_MAX: it waits among the wishes */
    uint64_t journal_since;       /* CPU time when the work for the table that is being made began */
    uint64_t round;               /* when the last round of the journal began */
    uint32_t left;                /* traces of it that wait still */
    uint64_t collect;             /* when drainers are next asked for what they have counted */
    uint64_t journal_lost;        /* of the model, as it was last looked at */
    uint64_t periodic;            /* when the next dump of dump= is due; 0: none */
    struct hpx_snapshot *samples; /* of the dump that is being made */
    struct hpx_call_snapshot *calls;
} dump;

static void request(void *ctx, struct hpx_msg *r)
{
    (void)ctx;
    hpx_service_post(r);
}

static bool thread_event(void *ctx, const struct hpx_thread_rec *rec, bool end)
{
    (void)ctx;
    return hpx_output_thread_event(rec, end);
}

static bool class_event(void *ctx, const struct hpx_class_rec *rec, bool unloaded)
{
    (void)ctx;
    return hpx_output_class_event(rec, unloaded);
}

static void disarm(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_sampler_disarm(HPX_CONTAINER_OF(t, struct hpx_agent_thread, base));
    hpx_sampler_rest(HPX_CONTAINER_OF(t, struct hpx_agent_thread, base));
}

static void quiesce(void *until, struct hpx_thread *t)
{
    hpx_sampler_quiesce(HPX_CONTAINER_OF(t, struct hpx_agent_thread, base), *(const uint64_t *)until);
}

static void quiesce_probe(void *until, struct hpx_thread *t)
{
    hpx_tracker_quiesce(HPX_CONTAINER_OF(t, struct hpx_agent_thread, base), *(const uint64_t *)until);
}

/* After this no probe or handler of the threads known so far is inside, and none begins. */
static void stop_producers(void)
{
    uint64_t until = hpx_clock_mono() + QUIESCE_WAIT_NS;
    if (hpx_agent_calls()) {
        hpx_tracker_close();
        hpx_aggregator_each(&hpx_agent.aggregator, quiesce_probe, &until);
    }
    if (!hpx_agent_samples() && !hpx_agent_sampled()) {
        return;
    }
    hpx_aggregator_each(&hpx_agent.aggregator, quiesce, &until);
    hpx_aggregator_each(&hpx_agent.aggregator, disarm, NULL);
}

static void add_wish(struct hpx_msg *m)
{
    m->next = NULL;
    *dump.wishes_end = m;
    dump.wishes_end = &m->next;
}

static struct msg_wish *drop_wish(void)
{
    struct hpx_msg *m = dump.wishes;
    dump.wishes = m->next;
    dump.wishes_end = dump.wishes != NULL ? dump.wishes_end : &dump.wishes;
    return (struct msg_wish *)(void *)m;
}

static void message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    if (hpx_model_message(hpx_agent.model, m)) {
        return;
    }
    if (hpx_peer_message(m)) {
        return;
    }
    if (m->kind == MSG_WISH && dump.state != ENDED) {
        add_wish(m);
        return;
    }
    if (m->kind == MSG_FINAL && dump.state < ENDING) {
        dump.state = ENDING;
    }
    free(m);
}

/* Where a dump on request is made behind this pass: what t keeps back at that place of its ring. */
static uint64_t tail(void *ctx, struct hpx_thread *t)
{
    struct hpx_agent_thread *at = HPX_CONTAINER_OF(t, struct hpx_agent_thread, base);
    uint64_t to = hpx_ring_peek(&t->ring);
    (void)ctx;
    if (dump.state == TAKEN && at->counting == at) {
        if (hpx_calls_peek(&at->calls, PEEK_TRIES, &at->kept)) {
            return at->kept.at;
        }
        at->kept = (struct hpx_calls_pending){0}; /* its owner is in a push: it is in the next dump */
    }
    return to;
}

static void events(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    (void)ctx;
    hpx_model_events(hpx_agent.model, t, ev, n);
}

static void thread_came(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_shard_came(&hpx_agent.shard, t);
}

/* times=sampled: no handler of t runs any more; its last ticks found no room. */
static void lose_owed(struct hpx_agent_thread *t)
{
    hpx_count(&hpx_agent.counters, HPX_C_LOST_RING_FULL, t->owed / hpx_agent.opt.interval_ns);
    t->owed = 0;
}

static void thread_gone(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_model_thread_gone(hpx_agent.model, t);
    struct hpx_agent_thread *at = HPX_CONTAINER_OF(t, struct hpx_agent_thread, base);
    lose_owed(at);
    hpx_ring_fini(&t->ring);
    if (!at->adopted) {
        free(at);
    }
}

/* All probes are out for good: what a thread keeps back stands, behind its last record. */
static void take_pending(void *ctx, struct hpx_thread *t)
{
    struct hpx_agent_thread *at = HPX_CONTAINER_OF(t, struct hpx_agent_thread, base);
    struct hpx_calls_pending p;
    (void)ctx;
    if (hpx_calls_peek(&at->calls, 3, &p)) {
        hpx_model_calls_pending(hpx_agent.model, t, &p);
    }
    hpx_model_calls_time(hpx_agent.model, t, hpx_clock_tid_cpu(at->tid));
    lose_owed(at);
}

/* In the pass that tail() was for. */
static void take_kept(void *ctx, struct hpx_thread *t)
{
    struct hpx_agent_thread *at = HPX_CONTAINER_OF(t, struct hpx_agent_thread, base);
    (void)ctx;
    if (at->counting == at) {
        hpx_model_calls_pending(hpx_agent.model, t, &at->kept);
        hpx_model_calls_time(hpx_agent.model, t, hpx_clock_tid_cpu(at->tid));
    }
}

/* The same of a thread that a drainer has. */
static void take_kept_apart(struct hpx_calltab *table, struct hpx_thread *t)
{
    struct hpx_agent_thread *at = HPX_CONTAINER_OF(t, struct hpx_agent_thread, base);
    if (at->counting == at) {
        hpx_calltab_pending(table, t->calls, &at->kept);
    }
}

/* Each resets its counts: one that was taken is kept until the other one has memory. */
static bool take_snapshots(bool keep)
{
    if (hpx_agent_samples() && dump.samples == NULL) {
        dump.samples = (keep ? hpx_model_snapshot_kept : hpx_model_snapshot)(hpx_agent.model);
    }
    if (hpx_agent_calls() && dump.calls == NULL) {
        dump.calls = (keep ? hpx_model_call_snapshot_kept : hpx_model_call_snapshot)(hpx_agent.model);
    }
    if (hpx_model_journal_lost(hpx_agent.model) > dump.journal_lost) {
        dump.journal_lost = hpx_model_journal_lost(hpx_agent.model);
        hpx_journal_no_memory();
    }
    return (!hpx_agent_samples() || dump.samples != NULL) && (!hpx_agent_calls() || dump.calls != NULL);
}

/* wish NULL: the last one. false: no memory to pass it on, and there is time left. */
static bool hand_over(const struct hpx_report *r, const struct hpx_dump_wish *wish)
{
    if (!hpx_output_dump(dump.samples, dump.calls, r, wish)) {
        if (hpx_clock_mono() <= dump.naming_until) {
            return false;
        }
        hpx_output_leave_out(dump.samples, dump.calls, wish);
    }
    dump.samples = NULL;
    dump.calls = NULL;
    return true;
}

/* What waits when a round begins is written in tables of one slice each: each trace at most once in JOURNAL_NS. At most a quarter of a
 * core: what a table has cost the aggregator passes three times over before the next one. By CPU time, as waiting for a core or for a
 * drainer's end is no cost. */
static void set_journal_due(void)
{
    uint64_t rest = hpx_clock_mono() + JOURNAL_RESTS * (hpx_clock_thread_cpu() - dump.journal_since), next = dump.round + JOURNAL_NS;
    dump.left -= dump.left < HPX_JOURNAL_SLICE ? dump.left : HPX_JOURNAL_SLICE;
    dump.journal = dump.left > 0 || rest > next ? rest : next;
}

static void serve_journal(void)
{
    bool whole = hpx_journal_take_anew();
    if (dump.left == 0) {
        dump.round = hpx_clock_mono();
        dump.left = hpx_agent_calls() ? hpx_model_call_journal_waiting(hpx_agent.model) : 0;
    }
    struct hpx_snapshot *samples = hpx_agent_samples() ? hpx_model_journal(hpx_agent.model, whole) : NULL;
    struct hpx_call_snapshot *calls = hpx_agent_calls() ? hpx_model_call_journal(hpx_agent.model, whole) : NULL;
    if ((hpx_agent_samples() && samples == NULL) || (hpx_agent_calls() && calls == NULL)) {
        hpx_journal_no_memory(); /* what one of them may have taken is in the next table of everything */
        hpx_snapshot_destroy(samples);
        hpx_call_snapshot_destroy(calls);
        dump.left = 0;
    } else {
        hpx_output_journal(samples, calls, whole);
        dump.left = whole ? 0 : dump.left;
    }
    set_journal_due();
}

/* The first request's dump; false: no memory for it now, and there is time left. */
static bool serve_wish(void)
{
    struct msg_wish *m = (struct msg_wish *)(void *)dump.wishes;
    if (m->journal) {
        (void)drop_wish();
        if (dump.state != NAMING) { /* at the end the last dump comes at once */
            serve_journal();
        }
        return true;
    }
    if (m->wish.traces && dump.samples == NULL) {
        dump.samples = hpx_model_traces(hpx_agent.model); /* NULL: said when it is handed over */
    } else if (!m->wish.traces && !take_snapshots(m->wish.keep) && hpx_clock_mono() <= dump.naming_until) {
        return false; /* the counts stand: a later pass may find memory */
    }
    struct hpx_report r;
    hpx_report_collect(&r, dump.calls);
    if (!hand_over(&r, &m->wish)) {
        return false;
    }
    free(drop_wish());
    return true;
}

static void finish(void)
{
    hpx_peer_drop();
    hpx_model_give_up(hpx_agent.model);
    hpx_service_quit();
    bool wanted = hpx_agent.opt.doe;
    if (hpx_agent_calls()) {
        hpx_aggregator_each(&hpx_agent.aggregator, take_pending, NULL);
    }
    while (dump.wishes != NULL) {
        if (!serve_wish()) {
            return;
        }
    }
    if (wanted && !take_snapshots(false) && hpx_clock_mono() <= dump.naming_until) {
        return;
    }
    struct hpx_report r;
    hpx_report_collect(&r, dump.calls); /* after the snapshots, which count what they cannot name */
    if (wanted && !hand_over(&r, NULL)) {
        return;
    }
    hpx_output_end(&r);
    dump.state = ENDED;
}

/* Names that are asked for have come, or were waited for long enough. */
static bool named(void)
{
    return hpx_model_unresolved(hpx_agent.model) == 0 || hpx_clock_mono() > dump.naming_until;
}

static void note_journal(void)
{
    if (hpx_journal_on() && hpx_clock_mono() >= dump.journal && !hpx_output_journal_waits()) {
        add_wish(&journal_wish.m);
        dump.journal = UINT64_MAX;
    }
}

/* The writer's thread, or the aggregator. */
static void period_done(uint64_t unused)
{
    (void)unused;
    atomic_store_explicit(&period_runs, false, memory_order_relaxed);
}

/* An output that does not move would have them pile up in memory: the next one has the counts. */
static void note_period(void)
{
    const struct hpx_dump_wish all = {.cutoff = hpx_agent.opt.cutoff, .done = period_done};
    uint64_t now = hpx_clock_mono();
    if (dump.periodic == 0 || now < dump.periodic || dump.wishes != NULL || atomic_load_explicit(&period_runs, memory_order_relaxed)) {
        return;
    }
    dump.periodic = now - dump.periodic < hpx_agent.opt.dump_ns ? dump.periodic + hpx_agent.opt.dump_ns : now + hpx_agent.opt.dump_ns;
    atomic_store_explicit(&period_runs, true, memory_order_relaxed);
    if (!hpx_dump_request(&all)) {
        period_done(0);
    }
}

/* Stops the drainers: not for each slice of what they have counted. */
static void collect(void)
{
    uint64_t now = hpx_clock_mono();
    if (now >= dump.collect) {
        (void)hpx_shard_collect(&hpx_agent.shard, COLLECT_TRACES, tail, take_kept_apart);
        dump.collect = now + JOURNAL_NS;
    }
}

static bool serve(bool again)
{
    dump.journal_since = dump.state == TAKEN ? dump.journal_since : hpx_clock_thread_cpu();
    dump.state = serve_wish() ? IDLE : ASKED;
    return again || (dump.state == IDLE && dump.wishes != NULL);
}

/* While the program runs; `again` as of hpx_sink.pass_end. */
static bool go_on(bool again)
{
    if (dump.state == TAKEN) {
        hpx_aggregator_each(&hpx_agent.aggregator, take_kept, NULL);
        if (dump.wishes == &journal_wish.m) {
            dump.journal_since = hpx_clock_thread_cpu();
            collect();
        }
        return serve(again);
    }
    note_period();
    hpx_peer_pass_end();
    note_journal();
    if (dump.state == IDLE && dump.wishes != NULL) {
        bool journal = dump.wishes == &journal_wish.m;
        dump.state = ASKED;
        dump.naming_until = hpx_clock_mono() + (journal ? JOURNAL_WAIT_NS : NAMES_WAIT_NS);
    }
    if (dump.state == ASKED && named()) {
        if (hpx_agent_calls()) {
            if (dump.wishes != &journal_wish.m) {
                hpx_shard_gather(&hpx_agent.shard); /* the next pass finds their threads as new ones */
            }
            dump.state = TAKEN;
            return true;
        }
        return serve(again);
    }
    hpx_company_look_own();
    if (hpx_agent_sampled() && hpx_company_ended()) {
        hpx_shard_gather(&hpx_agent.shard); /* the next look finds all clocks */
    } else if (hpx_agent_calls()) {
        hpx_shard_balance(&hpx_agent.shard);
    }
    return again;
}

/* The pass that ends with ENDING had looked for new threads and tails before; the one that ends with STOPPED finds the last threads, the
 * next their last records. */
static bool pass_end(void *ctx)
{
    (void)ctx;
    hpx_sampler_look();
    bool again = hpx_model_pass_end(hpx_agent.model);
    switch (dump.state) {
    case ENDING:
        hpx_gate_close(&hpx_agent.gate);
        stop_producers();
        hpx_model_look_for_unloaded(hpx_agent.model);
        if (hpx_agent_calls()) {
            hpx_shard_gather(&hpx_agent.shard); /* the next pass finds their threads as new ones */
        }
        dump.state = STOPPED;
        return true;
    case STOPPED:
        stop_producers(); /* a thread that came between the last look for new ones and the end of the gate */
        dump.state = NAMING;
        dump.naming_until = hpx_clock_mono() + NAMES_WAIT_NS;
        return true;
    case NAMING:
        if (named()) {
            finish();
        }
        return again;
    case ENDED:
        return again;
    default:
        return go_on(again);
    }
}

int hpx_dump_init(struct hpx_sink *sink)
{
    struct hpx_model_config cfg = {
        .thread_in_traces = hpx_agent.opt.thread,
        .lines = hpx_agent.opt.lineno,
        .signatures = hpx_agent.opt.binary,
        .calls = hpx_agent_calls(),
        .call_signatures = hpx_agent.opt.cpu & HPX_CPU_OLD,
        .call_depth = hpx_agent.opt.cpu & HPX_CPU_OLD ? 2 : hpx_agent.opt.depth,
        .call_sampled = hpx_agent_sampled(),
        .request = request,
        .thread_event = thread_event,
        .class_event = hpx_agent.opt.binary ? class_event : NULL,
    };
    hpx_agent.model = hpx_model_create(&cfg);
    *sink = (struct hpx_sink){.message = message, .events = events, .thread_gone = thread_gone, .pass_end = pass_end};
    dump.wishes_end = &dump.wishes;
    dump.journal = hpx_clock_mono() + JOURNAL_NS;
    dump.periodic = hpx_agent.opt.dump_ns > 0 ? hpx_clock_mono() + hpx_agent.opt.dump_ns : 0;
    if (hpx_agent_calls() && hpx_agent.model != NULL) {
        hpx_shard_init(&hpx_agent.shard, &hpx_agent.aggregator, hpx_model_calltab(hpx_agent.model), hpx_shard_limit());
        sink->thread_came = thread_came;
        sink->tail = tail;
    }
    final_msg = hpx_msg_new(MSG_FINAL, sizeof *final_msg);
    return hpx_agent.model != NULL && final_msg != NULL ? 0 : -HPX_E_NOMEM;
}

bool hpx_dump_request(const struct hpx_dump_wish *wish)
{
    static atomic_bool said;
    struct msg_wish *m = hpx_msg_new(MSG_WISH, sizeof *m);
    if (m == NULL) {
        hpx_count(&hpx_agent.counters, HPX_C_DUMPS_UNTOLD, 1);
        hpx_warn_once(&said,
                      "%s: no memory for a dump on request: it is left out, what was counted is in the next one; raise the limit of the "
                      "process's memory",
                      hpx_agent_mode());
        return false;
    }
    m->wish = *wish;
    hpx_lane_post(&hpx_agent.aggregator.control, &m->m, true);
    return true;
}

/* The writer's thread, or the aggregator. */
static void signal_done(uint64_t unused)
{
    (void)unused;
    atomic_fetch_sub_explicit(&asked, 1, memory_order_relaxed);
}

void hpx_dump_request_signal(void)
{
    static atomic_bool said;
    const struct hpx_dump_wish all = {.cutoff = hpx_agent.opt.cutoff, .done = signal_done};
    if (atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed) >= MOST_ASKED) {
        signal_done(0);
        hpx_count(&hpx_agent.counters, HPX_C_DUMPS_UNTOLD, 1);
        hpx_warn_once(&said, "%s: %u dumps on request wait for the output: further ones are left out; what was counted is in the next one",
                      hpx_agent_mode(), MOST_ASKED);
    } else if (!hpx_dump_request(&all)) {
        signal_done(0);
    }
}

void hpx_dump_request_final(void)
{
    struct hpx_msg *m = final_msg;
    final_msg = NULL;
    if (m != NULL) {
        hpx_lane_post(&hpx_agent.aggregator.control, m, true);
    }
}
