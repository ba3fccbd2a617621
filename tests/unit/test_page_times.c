/* SPDX-License-Identifier: BSD-2-Clause */
/* test_page_times.c: the places of a view, and into how many bins their moments fall. What the page reads of them: tests/page/times.mjs. */
#include "cmocka_all.h"
#include "compiler.h"
#include "page_times.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZERO UINT64_C(1700000000000)

static struct hpx_tree tree;
static struct hpx_page_view view;
static uint32_t number[16];

static uint32_t name(const char *text)
{
    return hpx_tree_name(&tree, text, strlen(text));
}

static uint32_t node(const char *method)
{
    return hpx_tree_node(&tree, 0, hpx_tree_frame(&tree, name(method), 0, 0, HPX_FRAME_METHOD));
}

static void moment(uint64_t ms, uint32_t unit_ms, uint32_t at, const char *thread)
{
    const struct hpx_tree_moment m = {.at_ms = ZERO + ms, .unit_ms = unit_ms, .node = at, .thread = name(thread)};
    hpx_tree_add_moment(&tree, &tree.views[HPX_VIEW_CPU], &m, (uint64_t[]){1, 10});
}

static int setup(void **state)
{
    (void)state;
    bool made = hpx_tree_init(&tree);
    tree.timed = true;
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_CPU], node("a"), name("one"), (uint64_t[]){4, 40});
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_CPU], node("b"), name("two"), (uint64_t[]){2, 20});
    hpx_tree_add_times(&tree, ZERO, ZERO + 100000);
    tree.times_zero_ms = ZERO;
    return made ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    hpx_page_view_fini(&view);
    memset(&view, 0, sizeof view);
    hpx_tree_fini(&tree);
    return 0;
}

static uint64_t divided_view(enum hpx_view_kind kind, uint64_t most_bytes)
{
    hpx_tree_finish(&tree);
    for (uint32_t i = 0; i < tree.nodes.len; i++) {
        number[i] = i;
    }
    assert_true(hpx_page_view_init(&view, &tree.views[kind], number, true, 1));
    return hpx_page_step(&view, 1, &tree, most_bytes);
}

static uint64_t divided(uint64_t most_bytes)
{
    return divided_view(HPX_VIEW_CPU, most_bytes);
}

static void moments_of_a_place_in_one_step_are_one_bin(void **state)
{
    (void)state;
    moment(20, 1, node("a"), "one");
    moment(29, 1, node("a"), "one");
    moment(30, 1, node("a"), "one");
    moment(20, 1, node("b"), "two");
    assert_int_equal(divided(HPX_PAGE_TIMES), 10);
    assert_int_equal(view.n, 2);
    assert_int_equal(view.ngrains, 1);
    assert_int_equal(view.grains[0].ms, 10);
    assert_int_equal(view.grains[0].bins, 3);
    assert_int_equal(view.timed, 3);
}

static void a_moment_without_a_sample_has_a_place_of_its_own(void **state)
{
    (void)state;
    moment(20, 1, node("b"), "one");
    moment(20, 1, node("c"), "one");
    moment(40, 1, node("c"), "one");
    moment(10, 1, node("a"), "one");
    assert_int_equal(divided(HPX_PAGE_TIMES), 10);
    assert_int_equal(view.n, 4);
    size_t alone = 0;
    for (size_t i = 0; i < view.n; i++) {
        alone += view.places[i].sample == HPX_PAGE_NONE;
        assert_true(i == 0 || view.places[i - 1].at < view.places[i].at || view.places[i - 1].thread < view.places[i].thread);
    }
    assert_int_equal(alone, 2);
    assert_int_equal(view.first[view.n], 4);
    assert_int_equal(view.grains[0].bins, 4);
}

static void bins_grow_until_all_fit(void **state)
{
    (void)state;
    for (uint64_t ms = 0; ms < 100000; ms += 10) {
        moment(ms, 1, node("a"), "one");
    }
    assert_int_equal(divided(300), 1000); /* a place: its number of bins; a bin: a byte of its begin, one of its samples or two */
    assert_int_equal(view.grains[0].bins, 100);
    assert_int_equal(hpx_page_step(&view, 1, &tree, HPX_PAGE_TIMES), 10);
    assert_int_equal(view.grains[0].bins, 10000);
}

static void what_is_sure_of_a_second_stays_a_second(void **state)
{
    (void)state;
    moment(0, 1000, node("a"), "one");
    moment(1000, 1000, node("a"), "one");
    moment(1000, 1, node("a"), "one");
    assert_int_equal(divided(HPX_PAGE_TIMES), 10);
    assert_int_equal(view.ngrains, 2);
    assert_int_equal(view.grains[0].ms + view.grains[1].ms, 1010);
    assert_int_equal(view.grains[0].bins + view.grains[1].bins, 3);
}

/* A wait for a lock; both are in the tables, which have no threads. */
static void wait_of(uint64_t ms, uint64_t ns, const char *thread)
{
    const struct hpx_tree_moment m = {.at_ms = ZERO + ms, .unit_ms = 1, .node = node("a"), .thread = name(thread), .lasted = true};
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_LOCK], node("a"), 0, (uint64_t[]){1, ns});
    hpx_tree_add_moment(&tree, &tree.views[HPX_VIEW_LOCK], &m, (uint64_t[]){1, ns});
}

static void long_waits_are_a_bin_each(void **state)
{
    (void)state;
    wait_of(5000, 1000000000, "one");
    wait_of(5000, 1000000000, "one");
    wait_of(5000, 9000000, "one");
    wait_of(5001, 9000000, "one");
    assert_int_equal(divided_view(HPX_VIEW_LOCK, HPX_PAGE_TIMES), 10);
    assert_int_equal(view.ngrains, 2);
    assert_int_equal(view.grains[0].ms, 10);
    assert_int_equal(view.grains[1].ms, 10);
    assert_true(view.grains[0].waits != view.grains[1].waits);
    assert_int_equal(view.grains[view.grains[0].waits ? 0 : 1].bins, 2);
    assert_int_equal(view.grains[view.grains[0].waits ? 1 : 0].bins, 1);
}

static void a_sample_without_a_thread_is_divided_among_the_threads_of_its_moments(void **state)
{
    (void)state;
    wait_of(10, 300, "one");
    wait_of(20, 500, "two");
    wait_of(30, 100, "one");
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_LOCK], node("a"), 0, (uint64_t[]){2, 50});
    (void)divided_view(HPX_VIEW_LOCK, HPX_PAGE_TIMES);
    assert_int_equal(view.n, 3);
    for (size_t i = 0; i < view.n; i++) {
        const char *thread = hpx_tree_text(&tree, view.places[i].thread);
        assert_int_equal(hpx_page_value(&view, i, 0), strcmp(thread, "two") == 0 ? 1 : 2);
        assert_int_equal(hpx_page_value(&view, i, 1), strcmp(thread, "two") == 0 ? 500 : strcmp(thread, "one") == 0 ? 400 : 50);
    }
}

static void moments_have_no_more_than_their_sample(void **state)
{
    (void)state;
    wait_of(10, 300, "one");
    const struct hpx_tree_moment more = {.at_ms = ZERO + 10, .unit_ms = 1, .node = node("a"), .thread = name("two"), .lasted = true};
    hpx_tree_add_moment(&tree, &tree.views[HPX_VIEW_LOCK], &more, (uint64_t[]){1, 999});
    (void)divided_view(HPX_VIEW_LOCK, HPX_PAGE_TIMES);
    uint64_t sum = 0;
    for (size_t i = 0; i < view.n; i++) {
        sum += hpx_page_value(&view, i, 1);
        assert_true(hpx_page_value(&view, i, 1) <= 300);
    }
    assert_int_equal(sum, 300);
}

static void what_was_at_the_end_is_in_the_last_bin(void **state)
{
    (void)state;
    moment(99990, 1, node("a"), "one");
    moment(100000, 1, node("a"), "one");
    (void)divided(HPX_PAGE_TIMES);
    assert_int_equal(view.grains[0].bins, 1);
}

static void no_step_is_longer_than_the_run(void **state)
{
    (void)state;
    moment(20, 1, node("a"), "one");
    assert_int_equal(divided(0), 100000);
}

static void times_begin_whole_steps_behind_the_run(void **state)
{
    (void)state;
    assert_int_equal(hpx_page_begin(&tree, 10), ZERO);
    tree.times_zero_ms = ZERO - 1234;
    assert_int_equal(hpx_page_begin(&tree, 10), ZERO - 4);
    assert_int_equal(hpx_page_begin(&tree, 1000), ZERO - 234);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(moments_of_a_place_in_one_step_are_one_bin, setup, teardown),
        cmocka_unit_test_setup_teardown(a_moment_without_a_sample_has_a_place_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(bins_grow_until_all_fit, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_sure_of_a_second_stays_a_second, setup, teardown),
        cmocka_unit_test_setup_teardown(long_waits_are_a_bin_each, setup, teardown),
        cmocka_unit_test_setup_teardown(a_sample_without_a_thread_is_divided_among_the_threads_of_its_moments, setup, teardown),
        cmocka_unit_test_setup_teardown(moments_have_no_more_than_their_sample, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_at_the_end_is_in_the_last_bin, setup, teardown),
        cmocka_unit_test_setup_teardown(no_step_is_longer_than_the_run, setup, teardown),
        cmocka_unit_test_setup_teardown(times_begin_whole_steps_behind_the_run, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
