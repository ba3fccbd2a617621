/* SPDX-License-Identifier: BSD-2-Clause */
/* test_session_end.c: the wait for the end: an output that stands, threads of ours that work or wait. */
#include "clock.h"
#include "output_internal.h"
#include "session_fixture.h"
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

/* The writer's thread is inside a section: requests by signal pile up to their bound, and the end gives the output up. */
TEST(an_output_that_stands_holds_nobody, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    assert_int_equal(sem_init(&gate, 0, 0), 0);
    atomic_store(&stands, true);
    for (int i = 0; i < 70; i++) {
        hpx_dump_request_signal();
        pass();
        pass();
        pass();
    }
    assert_int_equal(hpx_counter_get(&hpx_session.counters, HPX_C_DUMPS_NOT_MADE), 6);
    end();
    assert_false(hpx_output_wait(1));
    assert_non_null(
        strstr(content("said"), "test=first,test=second: 64 requested dumps wait for the output; further requests are skipped"));
    assert_non_null(strstr(content("said"), "file=x.txt: the output is stalled; the program ends and the profile is incomplete"));
    atomic_store(&stands, false);
    sem_post(&gate);
    assert_true(hpx_output_wait(UINT64_C(60000000000)));
    hpx_session_end();
    assert_non_null(strstr(content("x.txt"), "hprofx: dumps skipped: 6 "));
}

/* ---- what waits for an output that stands ---- */

enum { THREADS = 40000, NAME_LEN = 1000 };

static unsigned lines_with(const char *file, const char *word)
{
    char *buf = NULL;
    size_t room = 0;
    unsigned n = 0;
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    while (getline(&buf, &room, in) >= 0) {
        n += strstr(buf, word) != NULL;
    }
    free(buf);
    (void)fclose(in);
    return n;
}

static bool thread_event(uint32_t i, enum hpx_thread_event what)
{
    static char name[NAME_LEN];
    memset(name, 'n', sizeof name);
    const struct hpx_text text = {name, sizeof name}, none = {name, 0};
    const struct hpx_thread_rec rec = {
        .serial = HPX_SERIAL_THREAD + 1000 + i, .object = HPX_OBJECT_FIRST + i, .name = text, .group = none, .parent_group = none};
    return hpx_output_thread_event(&rec, what);
}

/* What is shown and what is counted is all there was, and a thread that is shown begins and ends. */
TEST(what_waits_for_an_output_that_stands_is_bounded, setup, teardown)
{
    unsigned posted = 0;
    uint64_t most = 0;
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    assert_int_equal(sem_init(&gate, 0, 0), 0);
    atomic_store(&stands, true);
    hpx_dump_request_signal();
    for (int i = 0; i < 3; i++) {
        pass();
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        if (thread_event(i, HPX_THREAD_STARTS)) {
            posted++;
            assert_true(thread_event(i, HPX_THREAD_ENDS));
        }
        uint64_t now = atomic_load(&hpx_output.waiting);
        most = now > most ? now : most;
    }
    assert_true(most < HPX_OUTPUT_WAITING + 4 * NAME_LEN);
    assert_true(posted > 1000 && posted < THREADS);
    assert_int_equal(posted + hpx_counter_get(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED), THREADS);
    assert_int_equal(lines_with("said", "the output is too slow: 16 MB wait for it"), 1);
    atomic_store(&stands, false);
    sem_post(&gate);
    end();
    assert_true(hpx_output_wait(UINT64_C(60000000000)));
    assert_int_equal(atomic_load(&hpx_output.waiting), 0);
    hpx_session_end();
    assert_int_equal(lines_with("x.txt", "THREAD START ("), posted);
    assert_int_equal(lines_with("x.txt", "THREAD END ("), posted);
    assert_int_equal(lines_with("x.txt", "hprofx: thread events lost: "), 1);
}

TEST(what_becomes_of_a_skipped_request_is_said_as_it_is, setup, teardown)
{
    static const char *const options[] = {"cpu=samples,file=x.txt,verbose=n", "cpu=samples,file=x.txt,verbose=n,doe=n,dump=60s",
                                          "cpu=samples,file=x.txt,verbose=n,doe=n"};
    for (int i = 0; i < 3; i++) {
        assert_true(begin(options[i]));
        hpx_dump_request_skip();
        assert_non_null(
            strstr(content("said"), i < 2 ? "its counts go into the next dump;" : "its counts are lost without a later request"));
        end();
        assert_true(hpx_output_wait(UINT64_C(60000000000)));
        hpx_session_end();
    }
}

/* ---- who works while the end is awaited: a thread that computes gets CPU time between two looks, in step with them ---- */

#define LOOKS 10

static bool stepping;
static _Atomic int steps_left;
static sem_t look, worked;
static bool for_minutes;

bool __real_hpx_spawn_wait(sem_t *ended, uint64_t until);
bool __wrap_hpx_spawn_wait(sem_t *ended, uint64_t until);
bool __wrap_hpx_spawn_wait(sem_t *ended, uint64_t until)
{
    if (atomic_load(&steps_left) == 0) {
        return __real_hpx_spawn_wait(ended, stepping ? hpx_clock_mono() + UINT64_C(60000000000) : until);
    }
    sem_post(&look);
    while (sem_wait(&worked) != 0 && errno == EINTR) {
    }
    return false;
}

static void compute_in_step(void)
{
    for (int left_now = LOOKS - 1; left_now >= 0; left_now--) {
        while (sem_wait(&look) != 0 && errno == EINTR) {
        }
        uint64_t until = hpx_clock_thread_cpu() + 2 * HPX_OUTPUT_WORK_NS;
        while (hpx_clock_thread_cpu() < until) {
        }
        ahead += for_minutes ? UINT64_C(40000000000) : 0;
        atomic_store(&steps_left, left_now);
        sem_post(&worked);
    }
}

static void stop_alone(uint64_t until_ns)
{
    (void)until_ns;
}

static void *snapshot_slow(enum hpx_take take)
{
    compute_in_step();
    return take_of(&second, take);
}

static void text_slow(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    compute_in_step();
    text_second(to, rows, cutoff, answer);
}

static sem_t begun_to_end;

static void *end_as_the_aggregator(void *unused)
{
    hpx_session.aggregator.tid = (pid_t)syscall(SYS_gettid);
    sem_post(&begun_to_end);
    end();
    return unused;
}

static pthread_t begin_to_end(void)
{
    pthread_t aggregator;
    assert_int_equal(sem_init(&begun_to_end, 0, 0), 0);
    assert_int_equal(pthread_create(&aggregator, NULL, end_as_the_aggregator, NULL), 0);
    while (sem_wait(&begun_to_end) != 0 && errno == EINTR) {
    }
    return aggregator;
}

/* A thread computes, that of the writer or the aggregator. Returns whether the end was awaited. */
static bool await_in_step(const char *name, bool writer)
{
    static struct hpx_section section;
    static struct hpx_mode only;
    static const struct hpx_mode *const modes[] = {&only, NULL};
    char options[64];
    section = section_second;
    section.text = writer ? text_slow : text_second;
    only = mode_second;
    only.section = &section;
    only.dump.snapshot = writer ? snapshot_second : snapshot_slow;
    only.end.stop = stop_alone;
    snprintf(options, sizeof options, "cpu=samples,file=%s,verbose=n", name);
    assert_true(begin_with(modes, options));
    second.n = 3;
    assert_int_equal(sem_init(&look, 0, 0), 0);
    assert_int_equal(sem_init(&worked, 0, 0), 0);
    stepping = true;
    atomic_store(&steps_left, LOOKS);
    pthread_t aggregator = begin_to_end();
    bool whole = hpx_output_wait(for_minutes ? UINT64_MAX : 0); /* 0: who does not work between two looks is stalled */
    for (int i = atomic_exchange(&steps_left, 0); i > 0; i--) {
        sem_post(&look); /* given up: the test ends all the same */
    }
    pthread_join(aggregator, NULL);
    assert_true(whole || hpx_output_wait(UINT64_MAX));
    stepping = false;
    hpx_session_end();
    assert_string_equal(tables(name), "SECOND 3 ");
    return whole;
}

/* Of a table of many millions of rows the snapshot takes seconds, and so does sorting; nothing is written meanwhile. */
TEST(the_end_waits_while_a_thread_of_ours_works, setup, teardown)
{
    for_minutes = false;
    assert_true(await_in_step("x.txt", false));
    assert_true(await_in_step("y.txt", true));
    assert_string_equal(content("said"), "");
}

TEST(the_end_does_not_wait_for_ever_while_a_thread_of_ours_works, setup, teardown)
{
    for_minutes = true;
    for (int writer = 0; writer < 2; writer++) {
        assert_int_equal(ftruncate(said_fd, 0), 0);
        assert_int_equal(lseek(said_fd, 0, SEEK_SET), 0);
        assert_false(await_in_step(writer ? "y.txt" : "x.txt", writer));
        assert_string_equal(content("said"), "hprofx: test=second: the dump at exit is stalled: nothing was written for 5 minutes; the "
                                             "program ends and the profile is incomplete\n");
    }
}

/* As in a callback in which the VM keeps a thread. */
TEST(a_callback_that_never_leaves_is_no_slow_reader, setup, teardown)
{
    assert_true(begin("cpu=samples,file=x.txt,verbose=n"));
    assert_true(hpx_gate_enter(&hpx_session.gate));
    pthread_t aggregator = begin_to_end();
    while (!hpx_gate_waits()) {
        sched_yield();
    }
    assert_false(hpx_output_wait(1));
    assert_string_equal(content("said"), "hprofx: test=first,test=second: the dump at exit is stalled: a callback of the profiler does not "
                                         "return; the program ends and the profile is incomplete\n");
    hpx_gate_leave(&hpx_session.gate);
    pthread_join(aggregator, NULL);
    assert_true(hpx_output_wait(UINT64_C(60000000000)));
    hpx_session_end();
    assert_string_equal(tables("x.txt"), "FIRST 0 SECOND 0 ");
}

TESTS(NULL, NULL)
