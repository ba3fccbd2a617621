/* SPDX-License-Identifier: BSD-2-Clause */
/* test_live.c: parts of a tree in another, and the live objects of many runs. What is answered over HTTP: tests/fleet/test_pull.py. */
#include "carry.h"
#include "cmocka_all.h"
#include "live_objects.h"
#include "metrics.h"
#include <stdlib.h>

static const struct hpx_pull_asked everything = {0};

static uint32_t stack(struct hpx_tree *t, const char *const *frames)
{
    uint32_t node = 0;
    for (; *frames != NULL; frames++) {
        node = hpx_tree_node(t, node, hpx_tree_frame(t, hpx_tree_name(t, *frames, strlen(*frames)), 0, 1, HPX_FRAME_METHOD));
    }
    return node;
}

/* A profile with live objects at a stack of its own, and some CPU time. */
static void profile(struct hpx_tree *t, uint64_t pid, uint64_t number, uint64_t bytes)
{
    char own[32];
    (void)snprintf(own, sizeof own, "own%u.%u", (unsigned)pid, (unsigned)number);
    assert_true(hpx_tree_init(t));
    uint32_t busy = stack(t, (const char *[]){"main", "busy", NULL}), keeps = stack(t, (const char *[]){"main", own, NULL});
    hpx_tree_add(t, &t->views[HPX_VIEW_CPU], busy, hpx_tree_name(t, "thread", 6), (const uint64_t[]){3, 30});
    if (bytes > 0) {
        hpx_tree_add(t, &t->views[HPX_VIEW_ALLOC], keeps, 0, (const uint64_t[]){5, 500, 1, bytes});
    }
    t->origin = (struct hpx_tree_origin){.host = hpx_tree_name(t, "h", 1), .pid = pid, .began_ms = 7, .number = number};
    hpx_tree_finish(t);
}

static void add(struct hpx_live *l, uint64_t pid, uint64_t number, uint64_t bytes, uint64_t now)
{
    struct hpx_tree t;
    profile(&t, pid, number, bytes);
    hpx_live_add(l, &t, now);
    hpx_tree_fini(&t);
}

static uint64_t live_bytes(struct hpx_live *l, uint64_t now, size_t *runs)
{
    struct hpx_tree t;
    assert_true(hpx_tree_init(&t));
    *runs = hpx_live_copy(l, &everything, now, &t);
    hpx_tree_finish(&t);
    assert_false(t.no_memory);
    uint64_t n = t.views[HPX_VIEW_ALLOC].totals[3];
    assert_int_equal(t.views[HPX_VIEW_ALLOC].totals[1], 0);
    assert_int_equal(t.views[HPX_VIEW_CPU].samples.len, 0);
    hpx_tree_fini(&t);
    return n;
}

TEST(what_is_carried_has_its_stacks_alone_and_no_threads)
{
    struct hpx_tree from, to;
    profile(&from, 1, 1, 40);
    assert_true(hpx_tree_init(&to));
    assert_true(hpx_carry(&to, &from, &hpx_carry_live));
    assert_int_equal(to.nodes.len, 3); /* the root, main, own */
    assert_int_equal(to.views[HPX_VIEW_CPU].samples.len, 0);
    assert_true(hpx_carry(&to, &from, &hpx_carry_flow));
    assert_true(hpx_carry(&to, &from, &hpx_carry_flow));
    hpx_tree_fini(&from);
    assert_int_equal(to.nodes.len, 4);
    assert_int_equal(to.views[HPX_VIEW_CPU].samples.len, 1);
    assert_int_equal(hpx_tree_sample_at(&to.views[HPX_VIEW_CPU], 0)->thread, 0);
    hpx_tree_finish(&to);
    assert_int_equal(to.views[HPX_VIEW_CPU].totals[1], 60);
    const uint64_t alloc[] = {10, 1000, 1, 40};
    assert_memory_equal(to.views[HPX_VIEW_ALLOC].totals, alloc, sizeof alloc);
    assert_int_equal(hpx_carry_size(&to), 4 + 2);
    hpx_tree_fini(&to);
}

TEST(measures_of_other_profilers_find_their_place)
{
    struct hpx_tree to;
    assert_true(hpx_tree_init(&to));
    for (int round = 0; round < 2; round++) { /* in another order, and the names do not outlive the tree that they come from */
        struct hpx_tree from;
        char *names[] = {strdup(round == 0 ? "goroutine" : "mutex"), strdup(round == 0 ? "mutex" : "goroutine")};
        size_t first, second;
        assert_true(hpx_tree_init(&from));
        (void)hpx_tree_find(&from, names[0], "count", &first);
        struct hpx_tree_view *v = hpx_tree_find(&from, names[1], "count", &second);
        uint64_t values[HPX_TREE_VALUES] = {0};
        values[first] = round == 0 ? 1 : 20;
        values[second] = round == 0 ? 2 : 10;
        hpx_tree_add(&from, v, stack(&from, (const char *[]){"a", NULL}), 0, values);
        hpx_tree_finish(&from);
        assert_true(hpx_carry(&to, &from, &hpx_carry_flow));
        hpx_tree_fini(&from);
        free(names[0]);
        free(names[1]);
    }
    struct hpx_tree_column c;
    hpx_tree_finish(&to);
    assert_true(hpx_tree_column(&to, "goroutine", &c));
    assert_int_equal(to.views[c.view].totals[c.measure], 11);
    assert_true(hpx_tree_column(&to, "mutex", &c));
    assert_int_equal(to.views[c.view].totals[c.measure], 22);
    hpx_tree_fini(&to);
}

TEST(a_run_is_forgotten_five_minutes_after_its_last_profile)
{
    struct hpx_live l;
    size_t runs;
    assert_true(hpx_live_init(&l));
    add(&l, 1, 1, 10, 1000);
    add(&l, 2, 1, 200, 1000);
    add(&l, 2, 2, 0, 2000); /* without live objects, but alive */
    assert_int_equal(live_bytes(&l, 1000 + HPX_LIVE_KEPT_MS, &runs), 210);
    assert_int_equal(live_bytes(&l, 1001 + HPX_LIVE_KEPT_MS, &runs), 200);
    assert_int_equal(runs, 1);
    assert_int_equal(live_bytes(&l, 2001 + HPX_LIVE_KEPT_MS, &runs), 0);
    assert_int_equal(runs, 0);
    assert_int_equal(l.rows, 0);
    hpx_live_fini(&l);
}

TEST(stacks_that_no_run_needs_go)
{
    struct hpx_live l;
    size_t runs;
    assert_true(hpx_live_init(&l));
    for (unsigned i = 1; i <= 40000; i++) { /* each with a stack of its own */
        add(&l, 1 + i % 3, i, i, i);
    }
    assert_true(l.tree.nodes.len < 20000);
    assert_int_equal(l.rows, 3);
    assert_int_equal(live_bytes(&l, 40000, &runs), 40000 + 39999 + 39998);
    assert_int_equal(runs, 3);
    hpx_live_fini(&l);
}

TEST(a_run_that_does_not_fit_is_left_out_and_counted)
{
    struct hpx_live l;
    struct hpx_tree t;
    size_t runs;
    uint64_t before = hpx_metric_get(HPX_METRIC_LIVE_DROPPED, "too many stacks", NULL);
    assert_true(hpx_live_init(&l));
    add(&l, 1, 1, 10, 1);
    add(&l, 2, 1, 20, 1);
    profile(&t, 2, 2, 1);
    for (uint32_t i = 0; i < HPX_LIVE_MOST / 2; i++) {
        uint32_t node = hpx_tree_node(&t, 0, hpx_tree_frame(&t, 1, 0, (int32_t)i + 10, HPX_FRAME_METHOD));
        hpx_tree_add(&t, &t.views[HPX_VIEW_HEAP], node, 0, (const uint64_t[]){1, 1});
    }
    hpx_live_add(&l, &t, 2);
    hpx_tree_fini(&t);
    assert_int_equal(hpx_metric_get(HPX_METRIC_LIVE_DROPPED, "too many stacks", NULL), before + 1);
    assert_int_equal(live_bytes(&l, 2, &runs), 10);
    assert_true(l.tree.nodes.len < 100);
    add(&l, 2, 3, 20, 3);
    assert_int_equal(live_bytes(&l, 3, &runs), 30);
    hpx_live_fini(&l);
}

TEST(a_profile_of_an_unknown_process_is_counted)
{
    struct hpx_live l;
    size_t runs;
    uint64_t before = hpx_metric_get(HPX_METRIC_LIVE_DROPPED, "unknown process", NULL);
    assert_true(hpx_live_init(&l));
    add(&l, 0, 1, 10, 1);
    assert_int_equal(hpx_metric_get(HPX_METRIC_LIVE_DROPPED, "unknown process", NULL), before + 1);
    assert_int_equal(live_bytes(&l, 1, &runs), 0);
    hpx_live_fini(&l);
}

TESTS(NULL, NULL)
