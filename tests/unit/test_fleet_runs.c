/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fleet_runs.c: the profiles of a run, one after the other: allocations since the profile before, over restarts; profiles that came
 * without a file. */
#include "fleet_intake_fixture.h"

/* ---- allocations of a run ---- */

/* Profile `number` of a run, with so many objects since its begin, of 16 bytes, of which one lives. */
static void put_run(const char *name, unsigned pid, unsigned number, unsigned objects)
{
    char text[2000];
    (void)snprintf(text, sizeof text,
                   "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\nwords\n--------\n\nTRACE 300001:\n\tA.m(A.java:1)\n"
                   "SITES BEGIN (ordered by live bytes) Thu Jan  1 00:00:00 1970\n"
                   "          percent          live          alloc'ed  stack class\n"
                   " rank   self  accum     bytes objs     bytes  objs trace name\n"
                   "    1 100.00%% 100.00%%        16    1 %9u %5u 300001 A[]\nSITES END\n"
                   "hprofx: version: 1\nhprofx: host: h\nhprofx: pid: %u\nhprofx: service: shop\n"
                   "hprofx: run began: 1000 ms since 1970\nhprofx: profile: %u, from %u000 to %u000 ms since 1970\n",
                   16 * objects, objects, pid, number, number, number + 1);
    put_text(name, text);
    touch(name, 1000 + number);
}

TEST(without_the_profile_before_allocations_are_left_out, begin, end)
{
    uint64_t before = hpx_metric_get(HPX_METRIC_RUNS_WITHOUT_BASE, NULL, NULL);
    put_run("in/x.1", 7, 1, 3);
    scan_gives("shop 48\n");
    settle();
    restart();
    assert_int_equal(unlinkat(dir, "in/x.1", 0), 0);
    put_run("in/x.2", 7, 2, 5);
    scan_says("shop 0\n", "hprofx: x.2 is sent without allocations: those of its run before are not known\n");
    assert_int_equal(hpx_metric_get(HPX_METRIC_RUNS_WITHOUT_BASE, NULL, NULL), before + 1);
    put_run("in/x.3", 7, 3, 9);
    scan_says("shop 64\n", "");
}

/* A base that is broken, replaced or of another run is none, and is not mentioned again. */
TEST(a_base_that_is_none_is_not_taken, begin, end)
{
    for (int i = 0; i < 3; i++) {
        put_run("in/x.1", 7, 1, 3);
        scan_gives("shop 48\n");
        settle();
        restart();
        if (i == 0) {
            put_text("in/x.1", "?");
        } else if (i == 1) {
            put_run("in/x.1", 8, 1, 3);
        } else {
            assert_int_equal(unlinkat(dir, "in/x.1", 0), 0);
            assert_int_equal(symlinkat("x.2", dir, "in/x.1"), 0);
        }
        put_run("in/x.2", 7, 2, 5);
        scan_says("shop 0\n", "hprofx: x.2 is sent without allocations: those of its run before are not known\n");
        (void)unlinkat(dir, "in/x.1", 0);
        (void)unlinkat(dir, "in/x.2", 0);
        (void)unlinkat(dir, "seen", 0);
        restart();
    }
}

/* ---- without a file ---- */

TEST(what_an_agent_sent_is_handed_on_likewise, begin, end)
{
    static const uint8_t id[HPX_PROFILE_ID] = {1, 2, 3};
    static const uint64_t values[] = {1, 16, 1, 16}, more[] = {3, 48, 1, 16};
    for (unsigned i = 1; i <= 2; i++) {
        struct hpx_tree t;
        assert_true(hpx_tree_init(&t));
        uint32_t frame = hpx_tree_frame(&t, hpx_tree_name(&t, "A.m", 3), 0, 0, HPX_FRAME_METHOD), thread = hpx_tree_name(&t, "main", 4);
        t.origin = (struct hpx_tree_origin){.pid = 7, .began_ms = 1000, .number = i};
        hpx_tree_add(&t, &t.views[HPX_VIEW_ALLOC], hpx_tree_node(&t, 0, frame), thread, i == 1 ? values : more);
        handed[0] = '\0';
        hpx_intake_receive(intake, &t, id, take, &asked);
        assert_string_equal(handed, i == 1 ? "java 16\n" : "java 32\n");
        assert_memory_equal(last_id, id, sizeof id);
        assert_true(last_start_ms > 0 && last_host > 0);
        assert_int_equal(hpx_tree_sample_at(&t.views[HPX_VIEW_ALLOC], 0)->thread, 0);
        hpx_tree_fini(&t);
    }
    assert_false(hpx_intake_unsettled(intake)); /* there is no file to remember */
}

TESTS(NULL, NULL)
