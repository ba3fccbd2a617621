/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_serve.c: a dump when its turn has come: takes the rows of the modes and hands them over. Contract: dump_serve.h. */
#include "dump_serve.h"
#include "clock.h"
#include "journal.h"
#include "net.h"
#include "origin.h"
#include "output.h"
#include "peer.h"
#include "report.h"
#include <string.h>

#define JOURNAL_RESTS 3u

static HPX_OF_SESSION struct {
    struct hpx_parts parts;        /* of the dump that is being made */
    struct hpx_snapshot *traces;   /* the same, of one that is all traces */
    uint64_t round;                /* when the last round of the journal began */
    uint32_t left;                 /* traces of it that wait still */
    uint64_t journal_lost;         /* of the model, as it was last looked at */
    uint64_t since[HPX_MODES_MAX]; /* hpx_clock_mono(): when the counts of each mode were last reset; 0: when the session went live */
    uint64_t from;                 /* the same of the dump that is being made: the first of its modes; 0: nothing is taken */
    uint32_t number;               /* of the last profile */
} made;

static void add_thread(void *ctx, struct hpx_thread *t)
{
    hpx_counters_add(ctx, &t->counters);
}

/* The period of the dump that is being made. */
static void set_period(struct hpx_report *r)
{
    uint64_t now = hpx_clock_mono(), ms = made.from > 0 && made.from < now ? (now - made.from) / 1000000 : 0;
    uint64_t to = hpx_origin_wall_ms();
    r->period = (struct hpx_period){ms < to ? to - ms : 0, to, made.number + 1};
}

/* The figures so far, and those of the dump that is being made. */
static void collect(struct hpx_report *r)
{
    memset(r, 0, sizeof *r);
    hpx_counters_add(&r->total, &hpx_session.counters);
    hpx_counters_add(&r->total, hpx_model_counters(hpx_session.model));
    hpx_aggregator_each(&hpx_session.aggregator, add_thread, &r->total);
    hpx_count(&r->total, HPX_C_THREADS_UNSAMPLED, hpx_session.aggregator.untaken);
    hpx_net_count(&r->total);
    r->own_cpu_ns = hpx_clock_tid_cpu(hpx_session.aggregator.tid) + hpx_output_cpu() + hpx_net_cpu() + hpx_session.host->own_cpu();
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        const struct hpx_mode *m = hpx_session.modes[i];
        m->report.collect(&r->figures[i], &r->total, made.parts.of[i]);
        r->own_cpu_ns += m->report.own_cpu != NULL ? m->report.own_cpu(&r->total) : 0;
    }
    uint64_t all = hpx_clock_process_cpu() - hpx_session.start_cpu;
    r->program_cpu_ns = all > r->own_cpu_ns ? all - r->own_cpu_ns : 0;
    r->table_bytes = hpx_model_bytes(hpx_session.model);
    r->trace_bytes = hpx_symbols_trace_bytes(hpx_model_symbols(hpx_session.model));
    r->classes = hpx_symbols_classes(hpx_model_symbols(hpx_session.model));
    set_period(r);
}

/* The counts of the mode are in a snapshot, and those of the next one begin. */
static void taken(uint32_t mode, enum hpx_take take)
{
    uint64_t since = made.since[mode] > 0 ? made.since[mode] : hpx_session.start_mono;
    made.from = made.from == 0 || since < made.from ? since : made.from;
    if (take == HPX_TAKE_RESET) {
        made.since[mode] = hpx_clock_mono();
    }
}

/* Each resets its counts: one that was taken is kept until the others have memory. */
static bool take_snapshots(enum hpx_take take, uint32_t modes, uint16_t flags)
{
    made.parts.modes = modes;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        const struct hpx_mode *m = hpx_session.modes[i];
        if (made.parts.of[i] != NULL || !hpx_parts_has(&made.parts, i)) {
            continue;
        }
        made.parts.of[i] = m->dump.snapshot(take);
        if (made.parts.of[i] != NULL) {
            taken(i, take);
        }
        if (made.parts.of[i] != NULL && flags != 0 && m->section->choose != NULL) {
            m->section->choose(made.parts.of[i], flags);
        }
    }
    if (hpx_model_journal_lost(hpx_session.model) > made.journal_lost) {
        made.journal_lost = hpx_model_journal_lost(hpx_session.model);
        hpx_journal_no_memory();
    }
    return hpx_parts_all(&made.parts);
}

/* request NULL: the last one. */
static void hand_over(const struct hpx_report *r, const struct hpx_dump_request *request)
{
    hpx_output_dump(&made.parts, made.traces, r, request);
    made.number += made.traces == NULL;
    made.parts = (struct hpx_parts){.modes = 0};
    made.traces = NULL;
    made.from = 0;
}

/* What waits when a round begins is written in tables of one slice each: each trace at most once in HPX_JOURNAL_TABLE_NS. At most a quarter
 * of a core: the next table is due after three times the aggregator's CPU time for the last one. CPU time, because waiting for a core or a
 * drainer costs nothing. */
static uint64_t next_journal(uint64_t since)
{
    uint64_t rest = hpx_clock_mono() + JOURNAL_RESTS * (hpx_clock_thread_cpu() - since);
    uint64_t next = made.round + HPX_JOURNAL_TABLE_NS;
    made.left -= made.left < HPX_JOURNAL_SLICE ? made.left : HPX_JOURNAL_SLICE;
    return made.left > 0 || rest > next ? rest : next;
}

static uint32_t waiting(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        const struct hpx_mode *m = hpx_session.modes[i];
        n += m->dump.waiting != NULL ? m->dump.waiting() : 0;
    }
    return n;
}

uint64_t hpx_dump_serve_journal(uint64_t since)
{
    struct hpx_parts parts = {.modes = 0};
    bool whole = hpx_journal_take_anew();
    if (made.left == 0) {
        made.round = hpx_clock_mono();
        made.left = waiting();
    }
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        parts.of[i] = hpx_session.modes[i]->dump.snapshot(whole ? HPX_TAKE_ALL : HPX_TAKE_NEW);
    }
    if (!hpx_parts_all(&parts)) {
        hpx_journal_no_memory(); /* what one of them may have taken is in the next table of everything */
        hpx_parts_destroy(&parts);
        made.left = 0;
    } else {
        hpx_output_journal(&parts, whole);
        made.left = whole ? 0 : made.left;
    }
    return next_journal(since);
}

static void begin_anew(const struct hpx_command *clear)
{
    for (uint32_t i = 0; clear->control == HPX_CONTROL_CLEAR_CPU && i < hpx_session.nmodes; i++) {
        made.since[i] = hpx_clock_mono();
    }
}

bool hpx_dump_serve(const struct hpx_dump_request *request, bool ends, uint64_t until)
{
    if (request->clear.control != HPX_CONTROL_NONE) {
        if (!ends) { /* the last dump has what was counted until the end */
            hpx_peer_control(&request->clear);
            begin_anew(&request->clear);
        }
        request->done(request->arg);
        return true;
    }
    if (!hpx_output_reserve()) { /* before anything is taken: the next dump has its counts */
        if (hpx_clock_mono() <= until) {
            return false;
        }
        hpx_dump_request_skip();
        if (request->done != NULL) {
            request->done(request->arg);
        }
        return true;
    }
    if (request->traces && made.traces == NULL) {
        made.traces = hpx_model_traces(hpx_session.model); /* NULL: said when it is handed over */
    } else if (!request->traces && !take_snapshots(request->keep ? HPX_TAKE_KEEP : HPX_TAKE_RESET, request->modes, request->flags) &&
               hpx_clock_mono() <= until) {
        return false; /* the counts stand: a later pass may find memory */
    }
    struct hpx_report r;
    collect(&r);
    r.kept = request->keep;
    hand_over(&r, request);
    return true;
}

bool hpx_dump_serve_last(uint64_t until)
{
    bool wanted = hpx_session.opt->doe;
    if (wanted && !take_snapshots(HPX_TAKE_RESET, 0, 0) && hpx_clock_mono() <= until) {
        return false;
    }
    struct hpx_report r;
    collect(&r); /* after the snapshots, which count what they cannot name */
    if (wanted) {
        hand_over(&r, NULL);
    }
    hpx_output_end(&r);
    return true;
}

void hpx_dump_serve_fini(void)
{
    hpx_parts_destroy(&made.parts);
    hpx_snapshot_destroy(made.traces);
    memset(&made, 0, sizeof made);
}
