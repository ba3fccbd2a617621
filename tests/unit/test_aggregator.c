/* SPDX-License-Identifier: BSD-2-Clause */
/* test_aggregator.c: order inside a pass, the end of threads, the rhythm, and the two ways to find space. */
#include "aggregator.h"
#include "clock.h"
#include "cmocka_all.h"
#include "failing_memory.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool refuse_thread;

int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    return refuse_thread ? EAGAIN : __real_pthread_create(t, attr, fn, arg);
}

/* What a test watches; the sink's calls write it. */
static struct {
    struct hpx_aggregator a;
    char calls[4096]; /* m, the ids of events, g (gone), e (pass_end), in the order of the calls */
    size_t ncalls;
    uint64_t lost; /* of threads that are gone */
    void (*in_message)(void);
    bool (*in_pass_end)(void);
} w;

static struct hpx_thread thread;

static void call(char c)
{
    if (w.ncalls + 1 < sizeof(w.calls)) {
        w.calls[w.ncalls++] = c;
    }
}

static void sink_message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    call('m');
    free(m);
    if (w.in_message) {
        w.in_message();
    }
}

static void sink_events(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    (void)ctx;
    (void)t;
    const struct hpx_ev_head *end = ev + n / HPX_EV_UNIT;
    for (; ev != end; ev = hpx_ring_next(ev, end)) {
        if (ev->kind != HPX_EV_PAD) {
            call((char)ev->id);
        }
    }
}

static void sink_gone(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    call('g');
    w.lost += hpx_counter_get(&t->counters, HPX_C_LOST_RING_FULL);
    hpx_ring_fini(&t->ring);
}

static bool sink_end(void *ctx)
{
    (void)ctx;
    call('e');
    return w.in_pass_end && w.in_pass_end();
}

static int begin(void **state)
{
    (void)state;
    static const struct hpx_sink sink = {.message = sink_message, .events = sink_events, .thread_gone = sink_gone, .pass_end = sink_end};
    memset(&w, 0, sizeof(w));
    return hpx_aggregator_init(&w.a, &sink);
}

static int end(void **state)
{
    (void)state;
    hpx_aggregator_fini(&w.a);
    return 0;
}

static const char *calls(void)
{
    w.calls[w.ncalls] = 0;
    w.ncalls = 0;
    return w.calls;
}

static void attach(struct hpx_thread *t, uint32_t size)
{
    memset((void *)t, 0, sizeof(*t));
    assert_int_equal(hpx_ring_init(&t->ring, size), 0);
    hpx_registry_push(&w.a.registry, t);
}

static void commit(struct hpx_thread *t, struct hpx_ev_head *ev, char id, size_t n)
{
    ev->kind = HPX_EV_TEST;
    ev->id = (uint32_t)id;
    hpx_ring_commit(&t->ring, ev, n);
}

static bool push(struct hpx_thread *t, char id, size_t n)
{
    struct hpx_ev_head *ev = hpx_reserve_or_drop(&w.a, t, n, 3);
    if (ev) {
        commit(t, ev, id, n);
    }
    return ev != NULL;
}

static void post(void)
{
    hpx_lane_post(&w.a.control, hpx_msg_new(1, sizeof(struct hpx_msg)), false);
}

TEST(pass_applies_messages_before_events, begin, end)
{
    attach(&thread, HPX_RING_MIN);
    assert_true(push(&thread, '1', 16));
    assert_true(push(&thread, '2', 32));
    post();
    assert_int_equal(hpx_aggregator_pass(&w.a), 48);
    assert_string_equal(calls(), "m12e");
    assert_int_equal(hpx_aggregator_pass(&w.a), 0);
    assert_string_equal(calls(), "e");
    assert_int_equal(w.a.passes, 2);
    assert_int_equal(w.a.bytes, 48);
}

static uint64_t said_tail;

static uint64_t sink_tail(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    (void)t;
    return said_tail;
}

TEST(pass_drains_as_far_as_the_sink_says_until_a_thread_retires, begin, end)
{
    w.a.sink.tail = sink_tail;
    attach(&thread, HPX_RING_MIN);
    assert_true(push(&thread, 'a', 16));
    assert_true(push(&thread, 'b', 16));
    assert_true(push(&thread, 'c', 16));
    said_tail = 32;
    hpx_aggregator_pass(&w.a);
    assert_string_equal(calls(), "abe");
    said_tail = 16; /* behind what was drained: nothing is drained twice */
    hpx_aggregator_pass(&w.a);
    assert_string_equal(calls(), "e");
    hpx_registry_retire(&thread);
    hpx_aggregator_pass(&w.a);
    assert_string_equal(calls(), "cge");
}

TEST(pass_without_room_for_a_thread_takes_it_later, begin, end)
{
    attach(&thread, HPX_RING_MIN);
    assert_true(push(&thread, '1', 16));
    memory_refuse();
    size_t n = hpx_aggregator_pass(&w.a);
    memory_allow();
    assert_int_equal(n, 0);
    assert_string_equal(calls(), "e");
    hpx_aggregator_pass(&w.a);
    assert_string_equal(calls(), "1e");
}

static void count_threads(void *ctx, struct hpx_thread *t)
{
    (void)t;
    ++*(int *)ctx;
}

TEST(each_visits_live_threads, begin, end)
{
    static struct hpx_thread many[200];
    for (size_t i = 0; i < HPX_ARRAY_LEN(many); i++) {
        attach(&many[i], HPX_RING_MIN);
    }
    hpx_aggregator_pass(&w.a);
    for (size_t i = 0; i < HPX_ARRAY_LEN(many); i += 2) {
        hpx_registry_retire(&many[i]);
    }
    hpx_aggregator_pass(&w.a);
    int n = 0;
    hpx_aggregator_each(&w.a, count_threads, &n);
    assert_int_equal(n, 100);
    hpx_aggregator_fini(&w.a);
    size_t gone = 0;
    for (const char *c = calls(); *c; c++) {
        gone += *c == 'g';
    }
    assert_int_equal(gone, 200);
}

TEST(fini_gives_back_threads_that_no_pass_has_seen, begin, end)
{
    attach(&thread, HPX_RING_MIN);
    hpx_aggregator_fini(&w.a);
    assert_string_equal(calls(), "g");
}

TEST(reserve_or_drop_counts_the_weight_of_what_it_drops, begin, end)
{
    attach(&thread, HPX_RING_MIN);
    for (int i = 0; i < 8; i++) {
        assert_true(push(&thread, '1', 512));
    }
    assert_false(push(&thread, '1', 512));
    assert_false(push(&thread, '1', 16));
    assert_int_equal(hpx_counter_get(&thread.counters, HPX_C_LOST_RING_FULL), 6);
    hpx_aggregator_pass(&w.a);
    assert_true(push(&thread, '1', 512));
}

static void fill(void)
{
    attach(&thread, HPX_RING_MIN);
    while (push(&thread, '1', 512)) {
    }
}

TEST(reserve_or_wait_with_a_closed_gate_gives_up_at_once, begin, end)
{
    struct hpx_gate g = {0};
    fill();
    w.a.wait_ns = UINT64_MAX / 2; /* a wait would never end */
    assert_null(hpx_reserve_or_wait(&w.a, &g, &thread, 16));
    assert_int_equal(hpx_counter_get(&thread.counters, HPX_C_LOST_WAIT), 1);
}

TEST(reserve_or_wait_finds_space_when_the_aggregator_runs, begin, end)
{
    struct hpx_gate g = {0};
    hpx_gate_open(&g);
    fill();
    w.a.wait_ns = UINT64_C(60000000000);
    assert_int_equal(hpx_aggregator_start(&w.a, NULL), 0);
    for (int i = 0; i < 100; i++) {
        struct hpx_ev_head *ev = hpx_reserve_or_wait(&w.a, &g, &thread, 1024);
        assert_non_null(ev);
        commit(&thread, ev, '2', 1024);
    }
    hpx_aggregator_stop(&w.a);
    assert_int_equal(hpx_counter_get(&thread.counters, HPX_C_LOST_WAIT), 0);
}

static struct {
    bool all_blocked;
    char name[16];
    pid_t tid;
    sem_t ready;
} seen;

static bool look_around(void)
{
    if (w.a.passes != 1) {
        return false;
    }
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    seen.all_blocked = sigismember(&set, SIGPROF) && sigismember(&set, SIGTERM) && sigismember(&set, SIGRTMAX);
    pthread_getname_np(pthread_self(), seen.name, sizeof(seen.name));
    seen.tid = gettid();
    sem_post(&seen.ready);
    return false;
}

TEST(aggregator_thread_has_a_name_an_id_and_all_signals_blocked, begin, end)
{
    sigset_t none, after;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    sem_init(&seen.ready, 0, 0);
    w.in_pass_end = look_around;
    assert_int_equal(hpx_aggregator_start(&w.a, NULL), 0);
    assert_true(w.a.running);
    pid_t tid = w.a.tid;
    sem_wait(&seen.ready);
    hpx_aggregator_stop(&w.a);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&after, SIGTERM), 0);
    assert_true(seen.all_blocked);
    assert_string_equal(seen.name, "hprofx-aggr");
    assert_int_equal(seen.tid, tid);
    assert_int_not_equal(tid, gettid());
    assert_false(w.a.running);
    sem_destroy(&seen.ready);
}

TEST(start_without_a_thread_says_so, begin, end)
{
    static struct hpx_err err;
    refuse_thread = true;
    int rc = hpx_aggregator_start(&w.a, &err);
    refuse_thread = false;
    assert_int_equal(rc, -HPX_E_SYS);
    assert_non_null(strstr(err.msg, "cannot start the aggregator thread"));
    assert_false(w.a.running);
    hpx_aggregator_stop(&w.a);
}

TEST(stop_drains_what_was_posted_before, begin, end)
{
    attach(&thread, HPX_RING_MIN);
    assert_int_equal(hpx_aggregator_start(&w.a, NULL), 0);
    for (int i = 0; i < 100; i++) {
        assert_true(push(&thread, '1', 16));
    }
    post();
    hpx_registry_retire(&thread);
    hpx_aggregator_stop(&w.a);
    int events = 0, messages = 0, gone = 0;
    for (const char *c = calls(); *c; c++) {
        events += *c == '1';
        messages += *c == 'm';
        gone += *c == 'g';
    }
    assert_int_equal(events, 100);
    assert_int_equal(messages, 1);
    assert_int_equal(gone, 1);
}

/* The aggregator's thread is the producer here: this ring belongs to it. */
static bool push_one(void)
{
    push(&thread, '1', 16);
    return false;
}

TEST(stop_ends_although_producers_go_on, begin, end)
{
    attach(&thread, HPX_RING_MIN);
    push_one();
    w.in_pass_end = push_one;
    assert_int_equal(hpx_aggregator_start(&w.a, NULL), 0);
    hpx_aggregator_stop(&w.a);
    assert_true(w.a.passes >= HPX_LAST_PASSES);
}

static bool ask_again(void)
{
    return w.a.passes < 10;
}

TEST(pass_end_gets_another_pass_when_it_asks, begin, end)
{
    w.in_pass_end = ask_again;
    assert_int_equal(hpx_aggregator_start(&w.a, NULL), 0);
    hpx_aggregator_stop(&w.a);
    assert_true(w.a.passes >= 10);
}

TEST(all_that_is_a_held_ones_is_the_holders, begin, end)
{
    attach(&thread, HPX_RING_MIN);
    assert_int_equal(hpx_aggregator_start(&w.a, NULL), 0);
    for (int i = 0; i < 1000; i++) {
        hpx_aggregator_hold(&w.a);
        hpx_aggregator_await_held(&w.a);
        hpx_aggregator_pass(&w.a);
        (void)calls();
        assert_true(push(&thread, '1', 16));
        hpx_aggregator_wake(&w.a); /* and it makes no pass */
        assert_int_equal(hpx_aggregator_pass(&w.a), 16);
        assert_string_equal(calls(), "1e");
        assert_true(push(&thread, '2', 16));
        hpx_aggregator_go_on(&w.a);
    }
    hpx_aggregator_stop(&w.a);
    assert_int_equal(w.a.bytes, 1000 * 32);
}

TEST(stop_ends_one_that_is_held_or_asked_to_be, begin, end)
{
    attach(&thread, HPX_RING_MIN);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(hpx_aggregator_start(&w.a, NULL), 0);
        hpx_aggregator_hold(&w.a);
        if (i % 2) {
            hpx_aggregator_await_held(&w.a);
        }
        assert_true(push(&thread, '1', 16));
        hpx_aggregator_stop(&w.a);
        assert_non_null(strchr(calls(), '1')); /* it has made its last pass */
    }
}

TESTS(NULL, NULL)
