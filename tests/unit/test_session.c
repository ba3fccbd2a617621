/* SPDX-License-Identifier: BSD-2-Clause */
/* test_session.c: dump and output without a JVM: requests during requests, the end during a request, one session
 * after another. */
#include "model_table.h"
#include "session_fixture.h"
#include <sched.h>

static void stop_nothing(uint64_t until_ns)
{
    (void)until_ns;
}

/* ---- a table of the second mode, and a ring for events from threads that are nobody's: made beforehand, no state, no START ---- */

static const struct hpx_ev_head *apply(void *self, struct hpx_thread *t, const struct hpx_ev_head *ev, const struct hpx_ev_head *last)
{
    struct counting *c = self;
    assert_ptr_equal(t->mode, &mode_second);
    for (; ev < last && ev->kind == HPX_EV_TEST; ev += ev->units) {
        c->n += ev->stamp;
    }
    return ev;
}

static size_t no_bytes(const void *self)
{
    (void)self;
    return 0;
}

static const struct hpx_model_table table = {.first = HPX_EV_TEST, .last = HPX_EV_TEST, .apply = apply, .bytes = no_bytes};
static HPX_ALIGNED(HPX_CACHE_LINE) struct hpx_thread vms;

static void begin_ring(void)
{
    hpx_model_add_table(hpx_session.model, &table, &second);
    memset(&vms, 0, sizeof vms);
    vms.mode = &mode_second;
    assert_int_equal(hpx_ring_init(&vms.ring, 16384), 0);
    hpx_registry_push(&hpx_session.aggregator.registry, &vms);
}

/* At a safepoint, say: never waits; what finds no room is counted as lost. */
static void push_as_the_vm(uint64_t weight)
{
    struct hpx_ev_head *ev = hpx_reserve_or_drop(&hpx_session.aggregator, &vms, sizeof *ev, weight);
    if (ev != NULL) {
        ev->kind = HPX_EV_TEST;
        ev->stamp = weight;
        hpx_ring_commit(&vms.ring, ev, sizeof *ev);
    }
}

TEST(a_dump_has_one_part_a_mode, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=y"));
    assert_string_equal(hpx_session_modes(), "test=first,test=second");
    first.n = 3;
    second.n = 4;
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 3 SECOND 4 ");
    assert_non_null(strstr(content("x.txt"), "hprofx: figure: 3\nhprofx: figure: 4\nhprofx: lost: 0\n"));
    assert_string_equal(content("said"), "Dumping the first ... the second ... done.\nhprofx: at the end: 3\nhprofx: at the end: 4\n");
}

TEST(a_phase_takes_several_passes_and_rows_are_taken_behind_one_more, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    second.prepared_after = 3;
    first.n = 1;
    assert_true(hpx_dump_request(&reset_request));
    for (int i = 0; i < 4; i++) {
        pass();
        assert_int_equal(second.prepares, i + 1);
        assert_int_equal(second.taken, 0);
    }
    first.n = 5; /* before the pass whose tails count */
    pass();
    assert_int_equal(second.taken, 1);
    assert_int_equal(first.n, 0);
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 5 SECOND 0 FIRST 0 SECOND 0 ");
    assert_int_equal(second.stopped, 2);
    assert_int_equal(second.ended, 1);
    assert_int_equal(left, 1);
}

TEST(events_of_the_vms_own_threads_come_by_a_ring_made_beforehand, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    begin_ring();
    pass();
    for (int i = 0; i < 2000; i++) { /* twice as many as there is room for */
        push_as_the_vm(1);
    }
    uint64_t lost = hpx_counter_get(&vms.counters, HPX_C_LOST_RING_FULL);
    assert_in_range(lost, 900, 1100);
    assert_true(hpx_dump_request(&reset_request));
    for (int i = 0; i < 4; i++) {
        pass();
    }
    push_as_the_vm(5);
    wait_and_end();
    char text[64];
    snprintf(text, sizeof text, "FIRST 0 SECOND %u FIRST 0 SECOND 5 ", (unsigned)(2000 - lost));
    assert_string_equal(tables("x.txt"), text);
    snprintf(text, sizeof text, "hprofx: lost, ring full: %u ", (unsigned)lost);
    assert_non_null(strstr(content("x.txt"), text));
}

TEST(a_phase_that_never_ends_is_given_up, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    second.never_prepared = true;
    first.n = 1;
    assert_true(hpx_dump_request(&reset_request));
    for (int i = 0; i < 20; i++) {
        pass();
    }
    assert_int_equal(second.taken, 0);
    ahead = 501000000;
    pass();
    pass();
    assert_int_equal(second.taken, 1);
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 1 SECOND 0 FIRST 0 SECOND 0 ");
}

TEST(the_end_during_a_request_serves_it_first, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    second.never_prepared = true;
    done = 0;
    first.n = 7;
    assert_true(hpx_dump_request(&keep_request));
    pass();
    pass();
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 7 SECOND 0 FIRST 7 SECOND 0 ");
    assert_int_equal(done, 1);
}

TEST(journals_have_what_is_counted_since_the_last_one, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    first.n = 9;
    ahead = 601000000;
    for (int i = 0; i < 4; i++) {
        pass();
    }
    while (hpx_output_journal_waits()) {
        sched_yield();
    }
    assert_string_equal(tables("x.txt.journal.part"), "FIRST 9 SECOND 0 ");
    wait_and_end();
    assert_null(content("x.txt.journal.part"));
}

static unsigned walked; /* how often the patient mode was asked, for a request */
static bool walk_is_over;

static bool prepare_patient(enum hpx_why why)
{
    walked += why == HPX_WHY_REQUEST;
    return why != HPX_WHY_REQUEST || walk_is_over;
}

static uint64_t patience(void)
{
    return UINT64_C(60000000000);
}

static void passes_until_journal_is(const char *wanted)
{
    ahead += 1000000000; /* more than lies between two tables, and less than the patience */
    for (int i = 0; i < 8; i++) {
        pass();
    }
    while (hpx_output_journal_waits()) {
        sched_yield();
    }
    assert_string_equal(tables("x.txt.journal.part"), wanted);
}

TEST(tables_of_the_journal_pass_a_request_that_waits_for_long, setup, teardown)
{
    struct hpx_mode patient = mode_second;
    patient.dump.prepare = prepare_patient;
    patient.dump.patience = patience;
    const struct hpx_mode *const modes[] = {&mode_first, &patient, NULL};
    assert_true(begin_with(modes, "cpu=samples,file=x.txt,verbose=n"));
    walk_is_over = false;
    done = walked = 0;
    first.n = 9;
    assert_true(hpx_dump_request(&reset_request));
    assert_true(hpx_dump_request(&keep_request));
    pass();
    assert_int_equal(walked, 1);
    passes_until_journal_is("FIRST 9 SECOND 0 ");
    passes_until_journal_is("FIRST 9 SECOND 0 FIRST 9 SECOND 0 ");
    assert_int_equal(done, 0);
    assert_true(walked > 2); /* the request went on where it was */
    walk_is_over = true;
    for (int i = 0; i < 8; i++) {
        pass();
    }
    wait_and_end();
    assert_int_equal(done, 2);
    assert_string_equal(tables("x.txt"), "FIRST 9 SECOND 0 FIRST 0 SECOND 0 FIRST 0 SECOND 0 ");
}

/* Sent to the phase's last pass, events are in the dump: one more pass reads them. */
TEST(a_phase_is_followed_by_one_more_pass, setup, teardown)
{
    static struct hpx_mode only;
    static const struct hpx_mode *const modes[] = {&only, NULL};
    only = mode_second;
    only.dump.tail = NULL;
    only.dump.taken = NULL;
    only.end.stop = stop_nothing;
    assert_true(begin_with(modes, "cpu=samples,file=x.txt,verbose=n"));
    assert_true(hpx_dump_request(&reset_request));
    pass();
    assert_int_equal(second.prepares, 1);
    second.n = 5;
    pass();
    wait_and_end();
    assert_string_equal(tables("x.txt"), "SECOND 5 SECOND 0 ");
}

/* From then on the modes prepare for the last dump, in which a request would find half of that. */
TEST(a_request_is_not_served_behind_a_closed_gate, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    done = 0;
    first.n = 7;
    assert_true(hpx_dump_request(&keep_request));
    pass();
    hpx_gate_close(&hpx_session.gate);
    assert_true(hpx_dump_await_served(0));
    for (int i = 0; i < 5; i++) {
        pass();
    }
    assert_int_equal(second.taken > 0, 1);
    assert_int_equal(done, 0);
    first.n = 8;
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 8 SECOND 0 FIRST 8 SECOND 0 ");
    assert_int_equal(done, 1);
}

/* Its modes wait still for what only a JVM can tell; the last dump has the counts. A dump that was asked for is made with what there is. */
TEST(a_periodic_dump_is_not_made_any_more_once_the_session_ends, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,dump=100ms,verbose=n"));
    atomic_store(&hpx_session.answers, true);
    second.never_prepared = true;
    first.n = 3;
    ahead += UINT64_C(150000000);
    pass();
    pass();
    assert_true(second.prepares > 0);
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 3 SECOND 0 ");
    assert_non_null(strstr(content("x.txt"), "hprofx: dumps skipped: 1 "));

    assert_true(begin("cpu=samples,file=x.txt,force=y,doe=n,verbose=n"));
    second.never_prepared = true;
    first.n = 4;
    assert_true(hpx_dump_request(&reset_request));
    pass();
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 4 SECOND 0 ");
}

TESTS(NULL, NULL)
