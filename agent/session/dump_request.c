/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_request.c: posts requests, and bounds those of one kind that are not yet written. Contract: dump_request.h. */
#include "dump_request.h"
#include "clock.h"
#include "log.h"
#include <stdlib.h>

#define MOST_ASKED 64u /* dumps by SIGQUIT that are not yet written: each holds a snapshot */

static HPX_OF_SESSION _Atomic uint32_t asked; /* relaxed: of MOST_ASKED */
/* relaxed: pending requests that have rows of each mode, in the order of session.modes; when VMDeath reads it only a thread that is still
 * inside the gate may add one, which comes too late */
static HPX_OF_SESSION _Atomic uint32_t pending[HPX_MODES_MAX];
static HPX_OF_SESSION atomic_bool period_runs; /* relaxed: a hint: the last dump of dump= is not yet written */
static HPX_OF_SESSION uint64_t periodic_due;   /* the aggregator's: when the next dump of dump= is due; 0: none */
static HPX_OF_SESSION atomic_bool said_no_memory, said_most;
static HPX_OF_SESSION struct hpx_msg *final_msg; /* made at load: asking for the end needs no memory; VMDeath's */

bool hpx_dump_request_init(void)
{
    atomic_store_explicit(&asked, 0, memory_order_relaxed);
    atomic_store_explicit(&period_runs, false, memory_order_relaxed);
    atomic_store_explicit(&said_no_memory, false, memory_order_relaxed);
    atomic_store_explicit(&said_most, false, memory_order_relaxed);
    periodic_due = hpx_session.opt->dump_ns > 0 ? hpx_clock_mono() + hpx_session.opt->dump_ns : 0;
    final_msg = hpx_msg_new(HPX_DUMP_MSG_FINAL, sizeof *final_msg);
    return final_msg != NULL;
}

void hpx_dump_request_fini(void)
{
    free(final_msg);
    final_msg = NULL;
}

/* What a skipped request has not written. */
static const char *when_written(void)
{
    return hpx_session.opt->doe || hpx_session.opt->dump_ns > 0 ? "go into the next dump"
                                                                : "are lost without a later request, because of doe=n";
}

void hpx_dump_request_skip(void)
{
    hpx_count(&hpx_session.counters, HPX_C_DUMPS_NOT_MADE, 1);
    hpx_warn_once(&said_no_memory,
                  "%s: no memory for a requested dump; it is skipped, and its counts %s; raise the memory limit of the process",
                  hpx_session_modes(), when_written());
}

static void count(const struct hpx_dump_request *request, uint32_t by)
{
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        bool shows = !request->periodic && hpx_dump_request_shows(request, i);
        atomic_fetch_add_explicit(&pending[i], shows ? by : 0, memory_order_relaxed);
    }
}

void hpx_dump_request_served(const struct hpx_dump_request *request)
{
    count(request, UINT32_MAX); /* one less */
}

uint32_t hpx_dump_request_pending(const struct hpx_mode *mode)
{
    uint32_t i = 0;
    while (i < hpx_session.nmodes && hpx_session.modes[i] != mode) {
        i++;
    }
    return i < hpx_session.nmodes ? atomic_load_explicit(&pending[i], memory_order_relaxed) : 0;
}

bool hpx_dump_request(const struct hpx_dump_request *request)
{
    struct hpx_dump_msg *m = hpx_msg_new(HPX_DUMP_MSG_REQUEST, sizeof *m);
    if (m == NULL) {
        hpx_dump_request_skip();
        return false;
    }
    m->request = *request;
    count(request, 1);
    hpx_lane_post(&hpx_session.aggregator.control, &m->m, true);
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
    const struct hpx_dump_request all = {.cutoff = hpx_session.opt->cutoff, .done = signal_done};
    if (atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed) >= MOST_ASKED) {
        signal_done(0);
        hpx_count(&hpx_session.counters, HPX_C_DUMPS_NOT_MADE, 1);
        hpx_warn_once(&said_most, "%s: %u requested dumps wait for the output; further requests are skipped, and their counts %s",
                      hpx_session_modes(), MOST_ASKED, when_written());
    } else if (!hpx_dump_request(&all)) {
        signal_done(0);
    }
}

/* The writer's thread, or the aggregator. */
static void period_done(uint64_t unused)
{
    (void)unused;
    atomic_store_explicit(&period_runs, false, memory_order_relaxed);
}

/* An output that does not move would have them pile up in memory: the next one has the counts. */
void hpx_dump_request_periodic(void)
{
    const struct hpx_dump_request all = {.cutoff = hpx_session.opt->cutoff, .periodic = true, .done = period_done};
    uint64_t now = hpx_clock_mono(), period = hpx_session.opt->dump_ns;
    if (periodic_due == 0 || now < periodic_due || atomic_load_explicit(&period_runs, memory_order_relaxed)) {
        return;
    }
    if (!atomic_load_explicit(&hpx_session.answers, memory_order_relaxed)) { /* the JVM could not be asked for heap and monitors */
        periodic_due = now + period;
        return;
    }
    periodic_due = now - periodic_due < period ? periodic_due + period : now + period;
    atomic_store_explicit(&period_runs, true, memory_order_relaxed);
    if (!hpx_dump_request(&all)) {
        period_done(0);
    }
}

void hpx_dump_request_final(void)
{
    struct hpx_msg *m = final_msg;
    final_msg = NULL;
    if (m != NULL) {
        hpx_lane_post(&hpx_session.aggregator.control, m, true);
    }
}
