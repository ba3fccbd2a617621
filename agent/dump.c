/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.c: the sink of dump.h. */
#include "dump.h"
#include "clock.h"
#include "company.h"
#include "output.h"
#include "report.h"
#include "sampler.h"
#include "service.h"
#include "tracker.h"
#include <stdlib.h>

enum { MSG_FINAL = HPX_MSG_OTHER };

#define NAMES_WAIT_NS   (500ull * 1000 * 1000) /* for names that are still asked for when a dump is due */
#define QUIESCE_WAIT_NS (200ull * 1000 * 1000) /* for handlers that are inside at the end: a thread may have lost its CPU there */

static struct hpx_msg *final_msg; /* made at load: asking for the end needs no memory; VMDeath's */

/* The aggregator's alone. */
static struct {
    enum { IDLE, REQUESTED, STOPPED, NAMING, ENDED } state;
    uint64_t naming_until;
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

static void message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    if (hpx_model_message(hpx_agent.model, m)) {
        return;
    }
    if (m->kind == MSG_FINAL && dump.state == IDLE) {
        dump.state = REQUESTED;
    }
    free(m);
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

/* Each resets its counts: one that was taken is kept until the other one has memory. */
static bool take_snapshots(void)
{
    if (hpx_agent_samples() && dump.samples == NULL) {
        dump.samples = hpx_model_snapshot(hpx_agent.model);
    }
    if (hpx_agent_calls() && dump.calls == NULL) {
        dump.calls = hpx_model_call_snapshot(hpx_agent.model);
    }
    return (!hpx_agent_samples() || dump.samples != NULL) && (!hpx_agent_calls() || dump.calls != NULL);
}

static void finish(void)
{
    hpx_model_give_up(hpx_agent.model);
    hpx_service_quit();
    bool wanted = hpx_agent.opt.doe;
    if (hpx_agent_calls()) {
        hpx_aggregator_each(&hpx_agent.aggregator, take_pending, NULL);
    }
    if (wanted && !take_snapshots() && hpx_clock_mono() <= dump.naming_until) {
        return; /* the counts stand: the next pass may find memory */
    }
    struct hpx_report r;
    hpx_report_collect(&r, dump.calls); /* after the snapshots, which count what they cannot name */
    if (wanted) {
        hpx_output_dump(dump.samples, dump.calls, &r);
        dump.samples = NULL;
        dump.calls = NULL;
    }
    hpx_output_end(&r);
    dump.state = ENDED;
}

/* The pass that ends with REQUESTED had looked for new threads and tails before; the one that ends with STOPPED finds the last threads, the
 * next their last records. */
static bool pass_end(void *ctx)
{
    (void)ctx;
    hpx_sampler_look();
    bool again = hpx_model_pass_end(hpx_agent.model);
    switch (dump.state) {
    case REQUESTED:
        hpx_gate_close(&hpx_agent.gate);
        stop_producers();
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
        if (hpx_model_unresolved(hpx_agent.model) == 0 || hpx_clock_mono() > dump.naming_until) {
            finish();
        }
        return again;
    case IDLE:
        hpx_company_look_own();
        if (hpx_agent_sampled() && hpx_company_ended()) {
            hpx_shard_gather(&hpx_agent.shard); /* the next look finds all clocks */
        } else if (hpx_agent_calls()) {
            hpx_shard_balance(&hpx_agent.shard);
        }
        return again;
    default:
        return again;
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
    };
    hpx_agent.model = hpx_model_create(&cfg);
    *sink = (struct hpx_sink){.message = message, .events = events, .thread_gone = thread_gone, .pass_end = pass_end};
    if (hpx_agent_calls() && hpx_agent.model != NULL) {
        hpx_shard_init(&hpx_agent.shard, &hpx_agent.aggregator, hpx_model_calltab(hpx_agent.model), hpx_shard_limit());
        sink->thread_came = thread_came;
    }
    final_msg = hpx_msg_new(MSG_FINAL, sizeof *final_msg);
    return hpx_agent.model != NULL && final_msg != NULL ? 0 : -HPX_E_NOMEM;
}

void hpx_dump_request_final(void)
{
    struct hpx_msg *m = final_msg;
    final_msg = NULL;
    if (m != NULL) {
        hpx_lane_post(&hpx_agent.aggregator.control, m, true);
    }
}
