/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fleet_delta.c: allocations since the profile before: sums over profiles in any order, with missing ones, after a restart, of
 * estimates that fall, of runs that are forgotten. */
#include "cmocka_all.h"
#include "compiler.h"
#include "delta.h"
#include "failing_memory.h"
#include <stdlib.h>

#define STACKS 40
#define DAY    86400

static struct hpx_delta *delta;

static int setup(void **state)
{
    (void)state;
    delta = hpx_delta_new(HPX_DELTA_STACKS);
    return delta != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    hpx_delta_free(delta);
    return 0;
}

static uint32_t named(struct hpx_tree *t, const char *text)
{
    return hpx_tree_name(t, text, strlen(text));
}

/* Stack i: also such that differ by a line, a kind or a source alone. */
static uint32_t stack(struct hpx_tree *t, uint32_t i)
{
    char text[32];
    int n = snprintf(text, sizeof text, "m%u", i / 4);
    uint32_t main = hpx_tree_node(t, 0, hpx_tree_frame(t, named(t, "main"), 0, 0, HPX_FRAME_METHOD));
    uint32_t name = hpx_tree_name(t, text, (size_t)n);
    return hpx_tree_node(
        t, main,
        hpx_tree_frame(t, name, i % 4 == 1 ? named(t, "C.java") : 0, i % 4 == 2 ? 7 : 0, i % 4 == 3 ? HPX_FRAME_CLASS : HPX_FRAME_METHOD));
}

/* A profile of a run, the stacks in an order of its own; totals of stack i: `total` times i. */
static void make(struct hpx_tree *t, uint64_t pid, uint64_t number, uint64_t total)
{
    assert_true(hpx_tree_init(t));
    t->origin = (struct hpx_tree_origin){.host = named(t, "h"), .pid = pid, .began_ms = 5, .number = number};
    for (uint32_t k = 0; k < STACKS && total > 0; k++) {
        uint32_t i = (k * 7 + (uint32_t)number) % STACKS, node = stack(t, i);
        hpx_tree_add(t, &t->views[HPX_VIEW_ALLOC], node, 0, (uint64_t[HPX_TREE_VALUES]){total * i, 16 * total * i, 3, 48});
        hpx_tree_add(t, &t->views[HPX_VIEW_CPU], node, 0, (uint64_t[HPX_TREE_VALUES]){1, 10});
    }
    hpx_tree_finish(t);
    hpx_tree_without_threads(t);
    assert_false(t->no_memory);
}

/* Hands a profile on. Its objects are added to *sum. */
static enum hpx_delta_done take_at(uint64_t pid, uint64_t number, uint64_t total, bool base, uint64_t now, uint64_t *sum)
{
    struct hpx_tree t;
    make(&t, pid, number, total);
    uint64_t live = t.views[HPX_VIEW_ALLOC].totals[2], cpu = t.views[HPX_VIEW_CPU].totals[0];
    enum hpx_delta_done done = hpx_delta_take(delta, &t, base, now);
    const uint64_t *totals = t.views[HPX_VIEW_ALLOC].totals;
    assert_int_equal(totals[1], 16 * totals[0]);
    assert_int_equal(totals[2], live); /* as they are */
    assert_int_equal(t.views[HPX_VIEW_CPU].totals[0], cpu);
    *sum += totals[0];
    hpx_tree_fini(&t);
    return done;
}

static enum hpx_delta_done take(uint64_t number, uint64_t total, uint64_t *sum)
{
    return take_at(1, number, total, false, 0, sum);
}

/* What all stacks have when each has `total` times its number. */
static uint64_t all(uint64_t total)
{
    return total * STACKS * (STACKS - 1) / 2;
}

/* All orders of four profiles, each of which may be missing: what is handed on is what the latest one knows. */
TEST(sums_are_equal_over_any_order_and_with_any_missing, setup, teardown)
{
    unsigned orders = 0;
    for (unsigned word = 0; word < 256; word++) {
        uint64_t sum = 0, latest = 0;
        unsigned order[4], used = 0;
        for (unsigned i = 0; i < 4; i++) {
            order[i] = word >> 2 * i & 3;
            used |= 1u << order[i];
        }
        for (unsigned missing = 0; used == 15 && missing < 16; missing++) {
            sum = latest = 0;
            for (unsigned i = 0; i < 4; i++) {
                uint64_t number = order[i] + 1;
                if ((missing >> order[i] & 1) != 0) {
                    continue;
                }
                bool first = latest == 0;
                enum hpx_delta_done done = take(number, 3 * number, &sum);
                assert_int_equal(done, first && number > 1 ? HPX_DELTA_NO_BASE : HPX_DELTA_DONE);
                if (first && number > 1) {
                    assert_int_equal(sum, 0);
                    sum = all(3 * number); /* what the base would have had */
                }
                latest = number > latest ? number : latest;
                assert_int_equal(sum, all(3 * latest));
            }
            hpx_delta_free(delta);
            delta = hpx_delta_new(HPX_DELTA_STACKS);
            orders++;
        }
    }
    assert_int_equal(orders, 24 * 16);
}

TEST(the_same_profile_again_has_nothing_left, setup, teardown)
{
    uint64_t sum = 0;
    assert_int_equal(take(1, 4, &sum), HPX_DELTA_DONE);
    assert_int_equal(take(1, 4, &sum), HPX_DELTA_DONE);
    assert_int_equal(take(1, 9, &sum), HPX_DELTA_DONE);
    assert_int_equal(sum, all(4));
}

TEST(estimates_that_fall_are_made_up_for_first, setup, teardown)
{
    static const uint64_t totals[] = {10, 7, 9, 10, 12, 11, 12, 13};
    uint64_t sum = 0, most = 0;
    for (size_t i = 0; i < HPX_ARRAY_LEN(totals); i++) {
        assert_int_equal(take(i + 1, totals[i], &sum), HPX_DELTA_DONE);
        most = totals[i] > most ? totals[i] : most;
        assert_int_equal(sum, all(most)); /* never less than before, never twice */
    }
}

TEST(a_run_begins_with_its_first_profile_even_if_nothing_was_allocated, setup, teardown)
{
    uint64_t sum = 0;
    struct hpx_tree t;
    make(&t, 1, 1, 0);
    uint64_t run = hpx_delta_run(&t);
    assert_false(hpx_delta_knows(delta, run));
    assert_int_equal(hpx_delta_take(delta, &t, false, 0), HPX_DELTA_DONE);
    assert_true(hpx_delta_knows(delta, run)); /* nobody has to look for what came before */
    hpx_tree_fini(&t);
    assert_int_equal(take(2, 3, &sum), HPX_DELTA_DONE);
    assert_int_equal(sum, all(3));
    make(&t, 2, 7, 0); /* a later one without allocations has none that could be missing */
    assert_int_equal(hpx_delta_take(delta, &t, false, 0), HPX_DELTA_DONE);
    hpx_tree_fini(&t);
}

TEST(runs_are_told_apart, setup, teardown)
{
    struct hpx_tree t;
    uint64_t runs[6];
    for (size_t i = 0; i < HPX_ARRAY_LEN(runs); i++) {
        make(&t, i == 1 ? 2 : 1, i == 5 ? 9 : 1, 1);
        t.origin.host = named(&t, i == 2 ? "other" : "h");
        t.origin.began_ms += i == 3;
        t.origin.container = i == 4 ? named(&t, "c") : 0;
        runs[i] = hpx_delta_run(&t);
        assert_true(runs[i] != 0);
        for (size_t k = 0; k < i && i < 5; k++) {
            assert_true(runs[k] != runs[i]);
        }
        hpx_tree_fini(&t);
    }
    assert_int_equal(runs[5], runs[0]); /* another profile of the run */
    uint64_t one = 0, two = 0;
    (void)take_at(1, 1, 5, false, 0, &one);
    (void)take_at(2, 1, 5, false, 0, &two);
    (void)take_at(1, 2, 6, false, 0, &one);
    (void)take_at(2, 2, 9, false, 0, &two);
    assert_int_equal(one, all(6));
    assert_int_equal(two, all(9));
}

TEST(a_profile_of_no_run_stays_as_it_is, setup, teardown)
{
    uint64_t sum = 0;
    struct hpx_tree t;
    make(&t, 1, 0, 1);
    assert_int_equal(hpx_delta_run(&t), 0);
    assert_false(hpx_delta_knows(delta, 0));
    hpx_tree_fini(&t);
    for (int i = 0; i < 2; i++) {
        sum = 0;
        assert_int_equal(take(0, 5, &sum), HPX_DELTA_DONE);
        assert_int_equal(sum, all(5));
    }
}

TEST(a_run_that_is_silent_for_a_day_is_forgotten, setup, teardown)
{
    uint64_t sum = 0;
    assert_int_equal(take_at(1, 1, 1, false, 100, &sum), HPX_DELTA_DONE);
    assert_int_equal(take_at(1, 2, 2, false, 100 + DAY, &sum), HPX_DELTA_DONE); /* heard of just in time */
    assert_int_equal(sum, all(2));
    assert_int_equal(take_at(2, 1, 1, false, 101 + 2 * DAY, &sum), HPX_DELTA_DONE);
    sum = 0;
    assert_int_equal(take_at(1, 3, 9, false, 101 + 2 * DAY, &sum), HPX_DELTA_NO_BASE);
    assert_int_equal(sum, 0);
    assert_int_equal(take_at(1, 4, 10, false, 102 + 2 * DAY, &sum), HPX_DELTA_DONE);
    assert_int_equal(sum, all(1));
}

/* Against a list of all runs with the times when they were heard of. */
TEST(of_many_runs_those_are_forgotten_that_were_silent_for_longest, setup, teardown)
{
    enum { RUNS = 400, KEPT = 90 };
    static uint64_t heard[RUNS + 1], number[RUNS + 1]; /* heard: 0: forgotten */
    struct hpx_tree t;
    uint64_t sum = 0, chance = 1;
    size_t runs = 0;
    hpx_delta_free(delta);
    delta = hpx_delta_new((size_t)KEPT * STACKS);
    for (uint64_t now = 1; now <= 3000; now++) {
        chance = chance * 6364136223846793005u + 1442695040888963407u;
        uint64_t pid = 1 + (chance >> 33) % RUNS, oldest = 0;
        make(&t, pid, ++number[pid], 1);
        assert_true(hpx_delta_knows(delta, hpx_delta_run(&t)) == (heard[pid] != 0));
        hpx_tree_fini(&t);
        for (size_t i = 1; i <= RUNS && runs > KEPT; i++) {
            oldest = heard[i] != 0 && (oldest == 0 || heard[i] < heard[oldest]) ? i : oldest;
        }
        runs -= oldest != 0;
        heard[oldest] = 0;
        (void)take_at(pid, number[pid], 1, false, now, &sum);
        runs += heard[pid] == 0;
        heard[pid] = now;
    }
    assert_true(sum > 0);
}

TEST(without_memory_allocations_are_left_out_and_never_wrong, setup, teardown)
{
    uint64_t step = memory_fault_step(), lost = 0;
    bool reached = true;
    for (uint64_t first = memory_first_fault(); reached; first += step) {
        struct hpx_tree one, two;
        hpx_delta_free(delta);
        delta = hpx_delta_new(HPX_DELTA_STACKS);
        make(&one, 1, 1, 2);
        make(&two, 1, 2, 5);
        memory_fail(first, first);
        enum hpx_delta_done a = hpx_delta_take(delta, &one, false, 0), b = hpx_delta_take(delta, &two, false, 0);
        reached = memory_calls() >= first;
        memory_allow();
        uint64_t was = one.no_memory ? 0 : one.views[HPX_VIEW_ALLOC].totals[0],
                 now = two.no_memory ? 0 : two.views[HPX_VIEW_ALLOC].totals[0];
        assert_true(one.no_memory || was == (a == HPX_DELTA_DONE ? all(2) : 0));
        assert_true(two.no_memory || now == (b == HPX_DELTA_DONE ? all(3) : 0));
        assert_true(a == HPX_DELTA_DONE || b != HPX_DELTA_DONE); /* without the first there is no base for the second */
        assert_true(reached || (a == HPX_DELTA_DONE && b == HPX_DELTA_DONE && !one.no_memory && !two.no_memory));
        lost += a != HPX_DELTA_DONE || b != HPX_DELTA_DONE;
        hpx_tree_fini(&one);
        hpx_tree_fini(&two);
    }
    assert_true(lost > 3 || step > 1);
    memory_refuse();
    struct hpx_delta *none = hpx_delta_new(HPX_DELTA_STACKS);
    memory_allow();
    assert_null(none);
    hpx_delta_free(NULL);
}

TESTS(NULL, NULL)
