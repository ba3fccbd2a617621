/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.c: the sink of dump.h. Decides when a request or a table of the journal is served; dump_serve.c serves it. */
#include "dump.h"
#include "clock.h"
#include "dump_request.h"
#include "dump_serve.h"
#include "journal.h"
#include "log.h"
#include "output.h"
#include "peer.h"
#include <stdlib.h>
#include <string.h>

#define NAMES_WAIT_NS   (500ull * 1000 * 1000) /* for outstanding names when a dump is due */
#define PREPARE_WAIT_NS (500ull * 1000 * 1000) /* for the preparing of every mode */
#define QUIESCE_WAIT_NS (200ull * 1000 * 1000) /* at the end, for producers that are inside: one may be waiting for a CPU */
#define JOURNAL_WAIT_NS (200ull * 1000 * 1000) /* for outstanding names when a table of the journal is due */

static HPX_OF_SESSION atomic_bool serving; /* seq_cst: the aggregator takes the rows of a request; read by hpx_dump_await_served() */

/* The states of the oldest request, or of a table of the journal. */
struct job {
    enum {
        IDLE,
        ASKED,     /* waits for names */
        PREPARING, /* waits for the modes to prepare */
        NAMED,     /* waits for names that preparing has added, or for memory */
        TAKEN      /* this pass reads the pending events of the threads */
    } step;
    uint32_t preparing; /* the mode that prepares; the modes before it have prepared */
    uint64_t naming_until, prepare_until;
    bool asked; /* threads, for their names */
};

/* The aggregator's alone. */
static HPX_OF_SESSION struct {
    enum { RUNS, ENDING, STOPPED, NAMING, ENDED } state;
    uint64_t naming_until;                    /* of NAMING */
    struct hpx_msg *requests, **requests_end; /* requests that have no dump yet */
    struct job request, table;                /* while a table is not idle, the request does not advance */
    uint64_t table_due;                       /* when the next table of the journal is due */
    bool table_turn;                          /* a table that is due begins before the first request */
    bool peeks; /* some mode has tail() or prepare(), or names are asked for: one more pass follows PREPARING */
} dump;

static inline const struct hpx_mode *mode_of(const struct hpx_thread *t)
{
    return t->mode;
}

static void request(void *ctx, struct hpx_msg *r)
{
    (void)ctx;
    hpx_session.host->request(r);
}

static bool thread_event(void *ctx, const struct hpx_thread_rec *rec, enum hpx_thread_event what)
{
    (void)ctx;
    return hpx_output_thread_event(rec, what);
}

static bool class_event(void *ctx, const struct hpx_class_rec *rec, bool unloaded)
{
    (void)ctx;
    return hpx_output_class_event(rec, unloaded);
}

/* Afterwards no producer that is known so far is inside, and none enters. */
static void stop_producers(void)
{
    uint64_t until = hpx_clock_mono() + QUIESCE_WAIT_NS;
    for (uint32_t i = hpx_session.nmodes; i > 0; i--) {
        const struct hpx_mode *m = hpx_session.modes[i - 1];
        if (m->end.stop != NULL) {
            m->end.stop(until);
        }
    }
}

static void add_request(struct hpx_msg *m)
{
    m->next = NULL;
    *dump.requests_end = m;
    dump.requests_end = &m->next;
}

static struct hpx_dump_msg *first_request(void)
{
    return (struct hpx_dump_msg *)(void *)dump.requests;
}

static struct job *current(void)
{
    return dump.table.step != IDLE ? &dump.table : &dump.request;
}

static struct hpx_dump_msg *drop_request(void)
{
    struct hpx_dump_msg *m = first_request();
    hpx_dump_request_served(&m->request);
    dump.requests = m->m.next;
    dump.requests_end = dump.requests != NULL ? dump.requests_end : &dump.requests;
    return m;
}

static void message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    if (hpx_model_message(hpx_session.model, m)) {
        return;
    }
    if (hpx_peer_message(m)) {
        return;
    }
    if (m->kind == HPX_DUMP_MSG_REQUEST && dump.state != ENDED) {
        add_request(m);
        return;
    }
    if (m->kind == HPX_DUMP_MSG_FINAL && dump.state < ENDING) {
        dump.state = ENDING;
    }
    free(m);
}

static uint64_t tail(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    return dump.state == RUNS && current()->step == TAKEN && mode_of(t)->dump.tail != NULL ? mode_of(t)->dump.tail(t)
                                                                                           : hpx_ring_peek(&t->ring);
}

static void events(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    (void)ctx;
    hpx_model_events(hpx_session.model, t, ev, n);
}

static void thread_came(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    if (mode_of(t)->pass.came != NULL) {
        mode_of(t)->pass.came(t);
    }
}

static void thread_gone(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_model_thread_gone(hpx_session.model, t);
    mode_of(t)->pass.gone(t);
}

/* false: there is no memory for it now; the next pass tries again. */
static bool serve_first(uint64_t until)
{
    if (!hpx_dump_serve(&first_request()->request, dump.state == NAMING, until)) {
        return false;
    }
    free(drop_request());
    return true;
}

static void leave_out_first(void)
{
    struct hpx_dump_msg *m = drop_request();
    hpx_count(&hpx_session.counters, HPX_C_DUMPS_NOT_MADE, 1);
    m->request.done(m->request.arg);
    free(m);
}

static void finish(void)
{
    hpx_peer_drop();
    hpx_symbols_give_up(hpx_model_symbols(hpx_session.model));
    hpx_session.host->leave();
    HPX_EACH_MODE(end.ended, ());
    while (dump.requests != NULL) {
        if (first_request()->request.periodic) { /* the JVM has ended: there is no heap and no monitor to ask for */
            leave_out_first();
        } else if (!serve_first(dump.naming_until)) {
            return;
        }
    }
    if (hpx_dump_serve_last(dump.naming_until)) {
        dump.state = ENDED;
    }
}

/* true if all requested names have come, or the time for them is over. */
static bool named(uint64_t until)
{
    return hpx_symbols_unresolved(hpx_model_symbols(hpx_session.model)) == 0 || hpx_clock_mono() > until;
}

/* The same of threads that may have renamed themselves. */
static bool asked(const struct job *j)
{
    return hpx_session.host->names == NULL || hpx_session.host->names(j == &dump.request) || hpx_clock_mono() > j->naming_until;
}

static void wait_for_names(struct job *j)
{
    j->naming_until = hpx_clock_mono() + (j == &dump.table ? JOURNAL_WAIT_NS : NAMES_WAIT_NS);
}

static void begin(struct job *j)
{
    j->step = ASKED;
    j->asked = false;
    wait_for_names(j);
}

static bool table_is_due(void)
{
    return hpx_journal_on() && hpx_clock_mono() >= dump.table_due && !hpx_output_journal_waits();
}

/* Requests and tables take turns when both are due. */
static struct job *begin_next(void)
{
    if ((dump.table_turn || dump.requests == NULL) && table_is_due()) {
        begin(&dump.table);
    } else if (dump.requests != NULL) {
        begin(&dump.request);
    }
    return current();
}

static enum hpx_why why_of(const struct job *j, uint32_t mode)
{
    if (j == &dump.table) {
        return HPX_WHY_JOURNAL;
    }
    return hpx_dump_request_shows(&first_request()->request, mode) ? HPX_WHY_REQUEST : HPX_WHY_OTHERS;
}

static void prepare_next(struct job *j, uint32_t mode)
{
    const struct hpx_mode *m = mode < hpx_session.nmodes ? hpx_session.modes[mode] : NULL;
    bool patient = m != NULL && m->dump.patience != NULL && why_of(j, mode) == HPX_WHY_REQUEST;
    j->preparing = mode;
    j->prepare_until = hpx_clock_mono() + (patient ? m->dump.patience() : PREPARE_WAIT_NS);
}

/* true if every mode has prepared, one after the other, or its time is over. */
static bool prepared(struct job *j)
{
    while (j->preparing < hpx_session.nmodes) {
        const struct hpx_mode *m = hpx_session.modes[j->preparing];
        if (m->dump.prepare != NULL && !m->dump.prepare(why_of(j, j->preparing)) && hpx_clock_mono() <= j->prepare_until) {
            return false;
        }
        prepare_next(j, j->preparing + 1);
    }
    return true;
}

/* A heap walk takes seconds, but the journal needs a table every second. The service thread continues to work for the request meanwhile. */
static bool lets_table_pass(const struct job *j)
{
    return j == &dump.request && j->step == PREPARING && hpx_session.modes[j->preparing]->dump.patience != NULL;
}

/* Serves nothing after VMDeath has closed the gate: the modes then prepare for the last dump, and finish() serves the remaining requests.
 * since: CPU time of the aggregator when it began a table. */
static bool serve(struct job *j, uint64_t since, bool again)
{
    atomic_store(&serving, true); /* partner: hpx_dump_await_served() */
    if (atomic_load(&hpx_session.gate.open)) {
        bool served = true;
        if (j == &dump.table) {
            dump.table_due = hpx_dump_serve_journal(since);
        } else {
            served = serve_first(j->naming_until);
        }
        j->step = served ? IDLE : NAMED;
        dump.table_turn = j == &dump.request;
    }
    atomic_store(&serving, false);
    return again || (j->step == IDLE && dump.requests != NULL);
}

bool hpx_dump_await_served(uint64_t until_ns)
{
    while (atomic_load(&serving)) {
        if (hpx_clock_mono() > until_ns) {
            return false;
        }
        nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    return true;
}

/* The end of a pass while the program runs. again, result: as hpx_sink.pass_end. */
static bool go_on(bool again)
{
    struct job *j = current();
    if (j->step == TAKEN) {
        uint64_t since = hpx_clock_thread_cpu();
        for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
            if (hpx_session.modes[i]->dump.taken != NULL) {
                hpx_session.modes[i]->dump.taken(why_of(j, i));
            }
        }
        return serve(j, since, again);
    }
    if (dump.requests == NULL) {
        hpx_dump_request_periodic();
    }
    hpx_peer_pass_end();
    j = j->step == IDLE ? begin_next() : j;
    j->asked = j->asked || (j->step == ASKED && asked(j));
    if (j->step == ASKED && j->asked && named(j->naming_until)) {
        j->step = PREPARING;
        prepare_next(j, 0);
    }
    if (j->step == PREPARING && prepared(j)) {
        j->step = NAMED;
        wait_for_names(j);
    }
    if (j->step == NAMED && named(j->naming_until)) {
        if (dump.peeks) {
            j->step = TAKEN;
            return true;
        }
        return serve(j, hpx_clock_thread_cpu(), again);
    }
    if (lets_table_pass(j) && table_is_due()) {
        begin(&dump.table);
        return true;
    }
    for (uint32_t i = j->step == PREPARING ? j->preparing : 0; i < hpx_session.nmodes && j->step != NAMED; i++) {
        if (hpx_session.modes[i]->pass.idle != NULL) {
            hpx_session.modes[i]->pass.idle();
        }
    }
    return again;
}

/* The pass that ends in ENDING has read the new threads and tails before the gate was empty. The pass that ends in STOPPED finds the last
 * threads, the pass after it their last records. */
static bool pass_end(void *ctx)
{
    (void)ctx;
    HPX_EACH_MODE(pass.look, ());
    bool again = hpx_model_pass_end(hpx_session.model);
    switch (dump.state) {
    case ENDING:
        hpx_gate_close_and_wait(&hpx_session.gate);
        stop_producers();
        hpx_symbols_look_for_unloaded(hpx_model_symbols(hpx_session.model));
        dump.state = STOPPED;
        return true;
    case STOPPED:
        stop_producers(); /* threads that came after the last look for new ones and before the gate was empty */
        dump.state = NAMING;
        dump.naming_until = hpx_clock_mono() + NAMES_WAIT_NS;
        return true;
    case NAMING:
        if (named(dump.naming_until)) {
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
    const struct hpx_options *o = hpx_session.opt;
    struct hpx_model_config cfg = {
        .thread_in_traces = o->thread,
        .lines = o->lineno,
        .signatures = o->binary,
        .class_numbers = o->heap_dump && o->binary,
        .request = request,
        .thread_event = thread_event,
        .class_event = o->binary ? class_event : NULL,
    };
    memset(&dump, 0, sizeof dump);
    dump.peeks = hpx_session.host->names != NULL;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        dump.peeks = dump.peeks || hpx_session.modes[i]->dump.tail != NULL || hpx_session.modes[i]->dump.prepare != NULL;
    }
    hpx_session.model = hpx_model_create(&cfg);
    bool made = hpx_session.model != NULL;
    for (uint32_t i = 0; made && i < hpx_session.nmodes; i++) {
        made = hpx_session.modes[i]->load.tables == NULL || hpx_session.modes[i]->load.tables(hpx_session.model);
    }
    *sink = (struct hpx_sink){.message = message,
                              .events = events,
                              .thread_gone = thread_gone,
                              .pass_end = pass_end,
                              .tail = dump.peeks ? tail : NULL,
                              .thread_came = thread_came};
    dump.requests_end = &dump.requests;
    dump.table_due = hpx_clock_mono() + HPX_JOURNAL_TABLE_NS;
    return hpx_dump_request_init() && made ? 0 : -HPX_E_NOMEM;
}

void hpx_dump_fini(void)
{
    while (dump.requests != NULL) {
        free(drop_request());
    }
    hpx_dump_serve_fini();
    hpx_dump_request_fini();
}
