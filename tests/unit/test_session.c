/* SPDX-License-Identifier: BSD-2-Clause */
/* test_session.c: dump and output without a JVM: requests during requests, the end during a request, no memory at each step, one session
 * after another. */
#include "model_table.h"
#include "session_fixture.h"
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void stop_stream(uint64_t until_ns)
{
    (void)until_ns;
}

/* ---- a mode whose section is no snapshot: a forked child, which has nothing but its descriptor, writes it while the writer's thread
 * passes it on, in pieces ---- */

#define STREAMED 3000000u

struct stream_rows {
    int fd;
    pid_t child;
};

static void *snapshot_stream(enum hpx_take take)
{
    struct stream_rows *r = malloc(sizeof *r);
    int ends[2];
    if (r == NULL || pipe(ends) != 0) {
        free(r);
        return NULL;
    }
    r->child = take == HPX_TAKE_RESET ? fork() : -1;
    if (r->child == 0) {
        static char piece[1000];
        memset(piece, '.', sizeof piece - 1);
        piece[sizeof piece - 1] = '\n';
        for (unsigned n = 0; n < STREAMED; n += sizeof piece) {
            if (write(ends[1], piece, sizeof piece) != sizeof piece) {
                _exit(1);
            }
        }
        (void)execl("/bin/true", "true", (char *)NULL); /* so that valgrind has no word on what the child holds */
        _exit(1);
    }
    close(ends[1]);
    r->fd = ends[0];
    return r;
}

static bool never_empty(const void *rows)
{
    (void)rows;
    return false;
}

static int child_status;

static void destroy_stream(void *rows)
{
    struct stream_rows *r = rows;
    if (r != NULL) {
        close(r->fd);
        if (r->child > 0) {
            waitpid(r->child, &child_status, 0);
        }
        free(r);
    }
}

static void text_stream(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    const struct stream_rows *r = rows;
    (void)cutoff, (void)answer;
    for (ssize_t n = 1; n > 0;) {
        char *at = hpx_out_piece(to->out);
        n = read(r->fd, at, HPX_OUT_PIECE);
        if (n > 0) {
            hpx_out_filled(to->out, at + n);
        }
    }
}

static const struct hpx_section section_stream = {
    .title = "the stream", .empty = never_empty, .destroy = destroy_stream, .text = text_stream};
static const struct hpx_mode mode_stream = {
    .name = "test=stream",
    .section = &section_stream,
    .load = {.wanted = always},
    .pass = {.gone = gone},
    .dump = {.snapshot = snapshot_stream},
    .end = {.stop = stop_stream},
    .report = {.collect = collect, .lines = lines, .summary = summary},
};
static const struct hpx_mode *const streaming[] = {&mode_stream, NULL};
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

TEST(a_request_during_a_request_has_a_dump_of_its_own, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    second.prepared_after = 2;
    done = 0;
    first.n = 1;
    assert_true(hpx_dump_request(&keep_request));
    pass();
    assert_true(hpx_dump_request(&reset_request));
    assert_true(hpx_dump_request(&reset_request));
    for (int i = 0; i < 12; i++) {
        pass();
    }
    wait_and_end();
    assert_string_equal(tables("x.txt"), "FIRST 1 SECOND 0 FIRST 1 SECOND 0 FIRST 0 SECOND 0 FIRST 0 SECOND 0 ");
    assert_int_equal(done, 3);
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

TEST(without_doe_the_end_has_no_dump, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,doe=n,verbose=n"));
    first.n = 7;
    wait_and_end();
    assert_string_equal(tables("x.txt"), "");
    assert_string_equal(content("said"), "");
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

TEST(split_gives_each_request_a_file, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,split=y,verbose=n"));
    for (int i = 1; i <= 2; i++) {
        first.n = (unsigned)i;
        assert_true(hpx_dump_request(&reset_request));
        for (int k = 0; k < 4; k++) {
            pass();
        }
    }
    wait_and_end();
    assert_string_equal(tables("x.txt.1"), "FIRST 1 SECOND 0 ");
    assert_string_equal(tables("x.txt.2"), "FIRST 2 SECOND 0 ");
    assert_string_equal(tables("x.txt"), "FIRST 0 SECOND 0 ");
}

/* Nothing is once only: what one has said, opened and counted does not reach the next one. */
TEST(a_session_begins_where_another_one_has_ended, setup, teardown)
{
    for (int i = 0; i < 3; i++) {
        char name[24], options[64];
        snprintf(name, sizeof name, "x%d.txt", i);
        snprintf(options, sizeof options, "cpu=samples,file=%s,verbose=n", name);
        assert_true(begin(options));
        first.n = 1 + (unsigned)i;
        assert_true(hpx_dump_request(&reset_request));
        for (int k = 0; k < 4; k++) {
            pass();
        }
        wait_and_end();
        snprintf(options, sizeof options, "FIRST %d SECOND 0 FIRST 0 SECOND 0 ", 1 + i);
        assert_string_equal(tables(name), options);
    }
}

TEST(a_section_may_stream_from_a_forked_child, setup, teardown)
{
    struct stat st;
    child_status = -1;
    assert_true(begin_with(streaming, "cpu=samples,file=x.txt,verbose=n"));
    end();
    assert_true(hpx_output_wait(UINT64_C(60000000000)));
    hpx_session_end();
    assert_int_equal(child_status, 0);
    assert_int_equal(stat("x.txt", &st), 0);
    assert_in_range(st.st_size, STREAMED, STREAMED + 10000);
    assert_string_equal(content("said"), "");
}

static uint64_t sum_of(const char *text)
{
    uint64_t sum = 0;
    for (const char *at = text; (at = strstr(at, "FIRST ")) != NULL; at++) {
        sum += strtoull(at + 6, NULL, 10);
    }
    return sum;
}

/* The k-th request of memory fails, then so many more: each count is in one of the dumps, or a line says that one was left out; the output
 * has its end. */
TEST(no_memory_at_each_step_loses_nothing_in_silence, setup, teardown)
{
    for (uint64_t more = 0; more < 3; more += 2) {
        for (uint64_t k = memory_first_fault();; k += memory_fault_step()) {
            assert_int_equal(ftruncate(said_fd, 0), 0);
            assert_int_equal(lseek(said_fd, 0, SEEK_SET), 0);
            assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
            memory_fail(k, k + more);
            for (int i = 0; i < 2; i++) {
                first.n += 10;
                (void)hpx_dump_request(&reset_request);
                for (int n = 0; n < 4; n++) {
                    pass();
                }
            }
            first.n += 10;
            end();
            uint64_t calls = memory_calls();
            memory_allow();
            assert_true(hpx_output_wait(UINT64_C(60000000000)));
            uint64_t sum = sum_of(tables("x.txt"));
            if (sum != 30 && strstr(content("said"), "no memory for a dump; it is not written") == NULL) {
                fail_msg("request %u of memory: %u of 30 counted, said: %s", (unsigned)k, (unsigned)sum, content("said"));
            }
            hpx_session_end();
            (void)unlink("x.txt");
            (void)unlink("x.txt.journal.part");
            if (calls < k) {
                break;
            }
        }
    }
}

/* Sent to the phase's last pass, events are in the dump: one more pass reads them. */
TEST(a_phase_is_followed_by_one_more_pass, setup, teardown)
{
    static struct hpx_mode only;
    static const struct hpx_mode *const modes[] = {&only, NULL};
    only = mode_second;
    only.dump.tail = NULL;
    only.dump.taken = NULL;
    only.end.stop = stop_stream;
    assert_true(begin_with(modes, "cpu=samples,file=x.txt,verbose=n"));
    assert_true(hpx_dump_request(&reset_request));
    pass();
    assert_int_equal(second.prepares, 1);
    second.n = 5;
    pass();
    wait_and_end();
    assert_string_equal(tables("x.txt"), "SECOND 5 SECOND 0 ");
}

/* Readers of such a table stop at a line that is no row. */
TEST(a_bare_output_has_its_tables_alone_and_the_report_is_said, setup, teardown)
{
    static struct hpx_section section;
    static struct hpx_mode only;
    static const struct hpx_mode *const modes[] = {&only, NULL};
    section = section_second;
    section.bare = true;
    only = mode_second;
    only.section = &section;
    only.end.stop = stop_stream;
    for (int verbose = 1; verbose >= 0; verbose--) {
        assert_true(begin_with(modes, verbose ? "cpu=samples,file=x.txt" : "cpu=samples,file=y.txt,verbose=n"));
        assert_true(hpx_dump_request(&reset_request));
        second.n = 5;
        pass();
        pass();
        second.n = 6;
        wait_and_end();
        assert_string_equal(content(verbose ? "x.txt" : "y.txt"), "SECOND 5\nSECOND 6\n");
        const char *one = strstr(content("said"), "Dumping the second ... done.\nhprofx: version: ");
        assert_non_null(one);
        one = strstr(one, "hprofx: figure: 5\nhprofx: lost: 0\n");
        assert_non_null(one);
        one = strstr(one, "Dumping the second ... done.\nhprofx: version: ");
        assert_non_null(one);
        one = strstr(one, "hprofx: figure: 6\nhprofx: lost: 0\n");
        assert_non_null(one);
        assert_null(strstr(one + 1, "hprofx: figure: "));
        one = strstr(one, "hprofx: at the end: 6\n");
        assert_non_null(one);
        assert_string_equal(strchr(one, '\n'), "\n"); /* verbose=n adds nothing */
    }
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

TEST(a_session_that_did_not_begin_ends, setup, teardown)
{
    for (uint64_t k = 1;; k++) {
        memory_fail(k, k);
        bool begun_whole = begin("cpu=samples,file=x.txt,verbose=n");
        uint64_t calls = memory_calls();
        memory_allow();
        if (begun_whole) {
            wait_and_end();
        } else {
            hpx_session_end();
        }
        (void)unlink("x.txt.part");
        (void)unlink("x.txt.journal.part");
        if (calls < k) {
            break;
        }
    }
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
