/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.c: the sink of dump.h, and when a request is served. dump_serve.c serves it. */
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

#define NAMES_WAIT_NS   (500ull * 1000 * 1000) /* for names that are still asked for when a dump is due */
#define PREPARE_WAIT_NS (500ull * 1000 * 1000) /* for the modes' phases */
#define QUIESCE_WAIT_NS (200ull * 1000 * 1000) /* for producers that are inside at the end: a thread may have lost its CPU there */
#define JOURNAL_WAIT_NS (200ull * 1000 * 1000) /* for names */

static HPX_OF_SESSION atomic_bool serving; /* seq_cst: the aggregator takes the rows of a request; read by hpx_dump_await_served() */

static HPX_OF_SESSION struct hpx_dump_msg journal_request; /* a table for the journal instead of a dump */

/* The aggregator's alone. */
static HPX_OF_SESSION struct {
    enum {
        IDLE,
        ASKED,     /* the first request waits for names */
        PREPARING, /* for the modes' phases */
        NAMED,     /* for names that came meanwhile, or for memory */
        TAKEN,     /* this pass reads what the threads have pending */
        ENDING,
        STOPPED,
        NAMING,
        ENDED
    } state;
    struct hpx_msg *requests, **requests_end; /* requests that have no dump yet */
    uint64_t naming_until, prepare_until;
    bool passed; /* a table of the journal passes the first request, which goes on with this mode */
    uint32_t passed_mode;
    uint64_t passed_until;
    uint32_t preparing;     /* the mode of the first request whose phase runs; those before it have prepared */
    bool peeks;             /* some mode has its own tail() or a phase: one more pass follows the phases */
    uint64_t journal;       /* when the next table of the journal is due; UINT64_MAX: it waits among the requests */
    uint64_t journal_since; /* CPU time when the work for the table that is being made began */
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

/* After this none of the producers known so far is inside, and none begins. */
static void stop_producers(void)
{
    uint64_t until = hpx_clock_mono() + QUIESCE_WAIT_NS;
    for (uint32_t i = hpx_session.nmodes; i > 0; i--) {
        hpx_session.modes[i - 1]->stop(until);
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

static struct hpx_dump_msg *drop_request(void)
{
    struct hpx_dump_msg *m = first_request();
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
    return dump.state == TAKEN && mode_of(t)->tail != NULL ? mode_of(t)->tail(t) : hpx_ring_peek(&t->ring);
}

static void events(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    (void)ctx;
    hpx_model_events(hpx_session.model, t, ev, n);
}

static void thread_came(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    if (mode_of(t)->came != NULL) {
        mode_of(t)->came(t);
    }
}

static void thread_gone(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_model_thread_gone(hpx_session.model, t);
    mode_of(t)->gone(t);
}

/* false: no memory for it now, and there is time left. */
static bool serve_first(void)
{
    struct hpx_dump_msg *m = first_request();
    bool ends = dump.state == NAMING;
    if (m == &journal_request) {
        (void)drop_request();
        if (!ends) { /* at the end the last dump comes at once */
            dump.journal = hpx_dump_serve_journal(dump.journal_since);
        }
        return true;
    }
    if (!hpx_dump_serve(&m->request, ends, dump.naming_until)) {
        return false;
    }
    free(drop_request());
    return true;
}

static void finish(void)
{
    hpx_peer_drop();
    hpx_model_give_up(hpx_session.model);
    hpx_session.host->leave();
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        if (hpx_session.modes[i]->ended != NULL) {
            hpx_session.modes[i]->ended();
        }
    }
    while (dump.requests != NULL) {
        if (!serve_first()) {
            return;
        }
    }
    if (hpx_dump_serve_last(dump.naming_until)) {
        dump.state = ENDED;
    }
}

/* Names that are asked for have come, or were waited for long enough. */
static bool named(void)
{
    return hpx_model_unresolved(hpx_session.model) == 0 || hpx_clock_mono() > dump.naming_until;
}

static void note_journal(void)
{
    if (hpx_journal_on() && hpx_clock_mono() >= dump.journal && !hpx_output_journal_waits()) {
        add_request(&journal_request.m);
        dump.journal = UINT64_MAX;
    }
}

static enum hpx_why why_of(uint32_t mode)
{
    const struct hpx_dump_msg *m = first_request();
    const struct hpx_parts parts = {.modes = m->request.modes};
    if (m == &journal_request) {
        return HPX_WHY_JOURNAL;
    }
    bool rows = !m->request.traces && m->request.clear.control == HPX_CONTROL_NONE && hpx_parts_has(&parts, mode);
    return rows ? HPX_WHY_REQUEST : HPX_WHY_OTHERS;
}

static void prepare_next(uint32_t mode)
{
    const struct hpx_mode *m = mode < hpx_session.nmodes ? hpx_session.modes[mode] : NULL;
    bool patient = m != NULL && m->patience != NULL && why_of(mode) == HPX_WHY_REQUEST;
    dump.preparing = mode;
    dump.prepare_until = hpx_clock_mono() + (patient ? m->patience() : PREPARE_WAIT_NS);
}

static void begin_preparing(void)
{
    prepare_next(0);
    if (dump.passed && first_request() != &journal_request) {
        dump.passed = false;
        dump.preparing = dump.passed_mode;
        dump.prepare_until = dump.passed_until;
    }
}

/* All modes' phases are done, one after the other, or were waited for long enough. */
static bool prepared(void)
{
    while (dump.preparing < hpx_session.nmodes) {
        const struct hpx_mode *m = hpx_session.modes[dump.preparing];
        if (m->prepare != NULL && !m->prepare(why_of(dump.preparing)) && hpx_clock_mono() <= dump.prepare_until) {
            return false;
        }
        prepare_next(dump.preparing + 1);
    }
    return true;
}

static void wait_for_names(void)
{
    dump.naming_until = hpx_clock_mono() + (first_request() == &journal_request ? JOURNAL_WAIT_NS : NAMES_WAIT_NS);
}

/* Not once VMDeath has closed the gate: the modes then prepare for the last dump, and finish() serves the requests that are left. */
static bool serve(bool again)
{
    dump.journal_since = dump.state == TAKEN ? dump.journal_since : hpx_clock_thread_cpu();
    atomic_store(&serving, true); /* partner: hpx_dump_await_served() */
    if (atomic_load(&hpx_session.gate.open)) {
        dump.state = serve_first() ? IDLE : NAMED;
    }
    atomic_store(&serving, false);
    return again || (dump.state == IDLE && dump.requests != NULL);
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

/* A heap walk takes seconds, and the journal promises a table a second. The first request goes on behind it where it was; what the service
 * thread does for it goes on meanwhile. */
static bool let_journal_pass(void)
{
    struct hpx_msg *first = dump.requests, *next = first->next;
    if (next != &journal_request.m || hpx_session.modes[dump.preparing]->patience == NULL) {
        return false;
    }
    dump.passed = true;
    dump.passed_mode = dump.preparing;
    dump.passed_until = dump.prepare_until;
    first->next = next->next;
    next->next = first;
    dump.requests = next;
    dump.requests_end = first->next == NULL ? &first->next : dump.requests_end;
    dump.state = IDLE;
    return true;
}

/* While the program runs; `again` as of hpx_sink.pass_end. */
static bool go_on(bool again)
{
    if (dump.state == TAKEN) {
        dump.journal_since = hpx_clock_thread_cpu();
        for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
            if (hpx_session.modes[i]->taken != NULL) {
                hpx_session.modes[i]->taken(why_of(i));
            }
        }
        return serve(again);
    }
    if (dump.requests == NULL) {
        hpx_dump_request_periodic();
    }
    hpx_peer_pass_end();
    note_journal();
    if (dump.state == IDLE && dump.requests != NULL) {
        dump.state = ASKED;
        wait_for_names();
    }
    if (dump.state == ASKED && named()) {
        dump.state = PREPARING;
        begin_preparing();
    }
    if (dump.state == PREPARING && prepared()) {
        dump.state = NAMED;
        wait_for_names();
    }
    if (dump.state == NAMED && named()) {
        if (dump.peeks) {
            dump.state = TAKEN;
            return true;
        }
        return serve(again);
    }
    if (dump.state == PREPARING && let_journal_pass()) {
        return true;
    }
    for (uint32_t i = dump.state == PREPARING ? dump.preparing : 0; i < hpx_session.nmodes && dump.state != NAMED; i++) {
        if (hpx_session.modes[i]->idle != NULL) {
            hpx_session.modes[i]->idle();
        }
    }
    return again;
}

/* The pass that ends with ENDING had looked for new threads and tails before; the one that ends with STOPPED finds the last threads, the
 * next their last records. */
static bool pass_end(void *ctx)
{
    (void)ctx;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        if (hpx_session.modes[i]->look != NULL) {
            hpx_session.modes[i]->look();
        }
    }
    bool again = hpx_model_pass_end(hpx_session.model);
    switch (dump.state) {
    case ENDING:
        hpx_gate_close_and_wait(&hpx_session.gate);
        stop_producers();
        hpx_model_look_for_unloaded(hpx_session.model);
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
    const struct hpx_options *o = &hpx_session.opt;
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
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        hpx_session.modes[i]->configure(&cfg);
        dump.peeks = dump.peeks || hpx_session.modes[i]->tail != NULL || hpx_session.modes[i]->prepare != NULL;
    }
    hpx_session.model = hpx_model_create(&cfg);
    *sink = (struct hpx_sink){.message = message,
                              .events = events,
                              .thread_gone = thread_gone,
                              .pass_end = pass_end,
                              .tail = dump.peeks ? tail : NULL,
                              .thread_came = thread_came};
    dump.requests_end = &dump.requests;
    dump.journal = hpx_clock_mono() + HPX_JOURNAL_TABLE_NS;
    return hpx_dump_request_init() && hpx_session.model != NULL ? 0 : -HPX_E_NOMEM;
}

void hpx_dump_fini(void)
{
    while (dump.requests != NULL) {
        struct hpx_dump_msg *m = drop_request();
        if (m != &journal_request) {
            free(m);
        }
    }
    hpx_dump_serve_fini();
    hpx_dump_request_fini();
}
