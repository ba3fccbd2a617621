/* SPDX-License-Identifier: BSD-2-Clause */
/* test_call_balance.c: who gives which threads away, and when. */
#include "drainers_fixture.h"

/* A window in which the main one used this share of a core, and these threads sent as much as that. */
static void window(uint32_t load, const unsigned *calls)
{
    for (unsigned i = 0; i < THREADS; i++) {
        for (unsigned k = 0; k < calls[i]; k++) {
            enter(i, 1);
            enter(i, 2);
            leave(i, 2);
            leave(i, 1);
        }
        flush(i);
    }
    uint64_t until = w.s.meter.wall + w.s.window_ns;
    while (hpx_clock_mono() < until) {
        sched_yield();
    }
    /* As CPU time is compared with what passed until the look: for all of it, or for none. */
    fake_cpu = w.s.meter.cpu + (load ? UINT64_C(1000000000000) : 1);
    hpx_aggregator_pass(&w.a);
}

static unsigned given(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        n += in_drainer(i);
    }
    return n;
}

static void begin_balance(unsigned limit)
{
    begin(limit);
    w.balance = true;
    w.s.window_ns = 1000000;
    fake_cpu = 1;
    hpx_aggregator_pass(&w.a); /* the first window begins */
}

TEST(half_of_a_busy_ones_load_goes_to_a_drainer)
{
    static const unsigned even[] = {400, 400, 400, 400};
    begin_balance(1);
    window(1, even);
    assert_int_equal(given(), 0);
    window(1, even);
    assert_int_equal(given(), 2);
    assert_int_equal(w.s.running, 1);
    end();
}

TEST(one_thread_alone_never_has_a_drainer)
{
    static const unsigned alone[] = {900, 0, 0, 0}, nearly[] = {900, 100, 0, 0};
    begin_balance(4);
    for (unsigned i = 0; i < 20; i++) {
        window(1, i % 2 ? alone : nearly);
    }
    assert_int_equal(w.s.most, 0);
    end();
}

/* A drainer that says this load, and never measures its own: its window does not end. */
static void start_drainer(uint32_t load, bool divisible)
{
    w.s.window_ns = UINT64_MAX;
    assert_true(hpx_call_drainers_start(&w.s));
    w.s.window_ns = 1000000;
    atomic_store(&w.s.drainers[w.s.running - 1]->load, load);
    atomic_store(&w.s.drainers[w.s.running - 1]->divisible, divisible);
}

static bool asked(unsigned drainer)
{
    return atomic_load(&w.s.drainers[drainer]->wanted);
}

TEST(a_busy_drainer_is_asked_to_share_if_there_is_room)
{
    static const unsigned nothing[] = {0, 0, 0, 0};
    begin_balance(2);
    start_drainer(1000, false);
    start_drainer(1000, true);
    window(0, nothing);     /* the main one has room */
    assert_false(asked(0)); /* one thread makes its load */
    assert_true(asked(1));
    end();
}

TEST(nobody_is_asked_to_share_without_room)
{
    static const unsigned nothing[] = {0, 0, 0, 0};
    begin_balance(2);
    start_drainer(1000, true);
    start_drainer(600, true);
    window(1, nothing);
    assert_false(asked(0) || asked(1));
    end();
}

TEST(a_thread_goes_to_a_drainer_with_load_if_the_main_one_has_more)
{
    static const unsigned uneven[] = {2800, 400, 400, 400};
    begin_balance(1);
    start_drainer(670, false); /* with a tenth of a core more it is busy */
    window(1, uneven);
    window(1, uneven);
    assert_int_equal(w.s.running, 1);
    assert_false(in_drainer(0));
    assert_in_range(given(), 1, 2);
    end();
}

/* A drainer is asked, and has four threads of the same load: two go home. */
TEST(a_drainer_that_is_asked_gives_half_of_its_load_back)
{
    begin_balance(1);
    start_drainer(0, false);
    for (unsigned i = 0; i < THREADS; i++) {
        enter(i, 1);
        flush(i);
    }
    hpx_aggregator_pass(&w.a);
    hpx_call_drainers_give(&w.s, to_first, NULL);
    assert_int_equal(given(), THREADS);
    uint64_t until = hpx_clock_mono() + UINT64_C(20000000000);
    struct hpx_call_drainer *d = w.s.drainers[0];
    hpx_aggregator_hold(&d->a);
    hpx_aggregator_await_held(&d->a);
    d->window_ns = 1000000; /* its windows end from now on */
    atomic_store(&d->wanted, true);
    hpx_aggregator_go_on(&d->a);
    while (given() == THREADS && hpx_clock_mono() < until) {
        for (unsigned i = 0; i < THREADS; i++) {
            for (unsigned k = 0; k < 400; k++) {
                enter(i, 2);
                leave(i, 2);
                enter(i, 3);
                leave(i, 3);
            }
            flush(i);
        }
        atomic_store(&d->wanted, true);
        hpx_aggregator_wake(&d->a);
        sched_yield();
    }
    assert_in_range(given(), 1, THREADS - 1);
    end();
}

/* Nobody is measured where no drainer may be; where one is given threads, it has a while before the next ones go. */
TEST(without_drainers_nothing_is_measured_and_after_a_gift_there_is_calm)
{
    static const unsigned even[] = {400, 400, 400, 400};
    begin_balance(0);
    hpx_aggregator_pass(&w.a);
    assert_int_equal(w.s.meter.wall, 0);
    end();
    begin_balance(2);
    window(1, even);
    window(1, even);
    assert_int_equal(given(), 2);
    uint32_t calm = w.s.calm_windows;
    assert_true(calm > 0);
    window(1, even);
    assert_int_equal(w.s.calm_windows, calm - 1);
    end();
}

TEST(the_drainer_with_the_least_load_has_the_next_thread)
{
    static const unsigned even[] = {400, 400, 400, 400};
    begin_balance(2);
    start_drainer(300, false);
    start_drainer(100, false);
    window(1, even);
    window(1, even);
    assert_int_equal(given(), 2);
    unsigned of_second = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        of_second += hpx_aggregator_of(&w.threads[i].t, &w.a) == &w.s.drainers[1]->a;
    }
    assert_true(of_second > 0);
    end();
}

TEST(limit_follows_the_processors)
{
    cpu_set_t was, one;
    assert_int_equal(sched_getaffinity(0, sizeof(was), &was), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &was)) {
            CPU_SET(i, &one);
        }
    }
    assert_int_equal(hpx_call_drainers_limit(), CPU_COUNT(&was) / 2);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(hpx_call_drainers_limit(), 0);
    assert_int_equal(sched_setaffinity(0, sizeof(was), &was), 0);
}

TESTS(NULL, NULL)
