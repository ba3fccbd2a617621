/* SPDX-License-Identifier: BSD-2-Clause */
/* test_call_table.c: exact calls added up, against sums made by hand and against a table that knows no short cut. */
#include "call_fixture.h"

#include <stdlib.h>
#include <string.h>

/* ---- against a table without short cuts ---- */

#define PLAIN_MOST 20000
#define PLAIN_DEEP 5

struct plain_row {
    uint32_t trace[PLAIN_DEEP + 1];
    struct hpx_call_cost cost;
};

static struct {
    uint32_t methods[64];
    uint64_t entered[64], callees[64];
    uint32_t depth, cut;
    struct plain_row rows[PLAIN_MOST];
    uint32_t nrows;
} plain;

static void plain_count(uint64_t now)
{
    uint32_t trace[PLAIN_DEEP + 1] = {0}, i = 0, d = plain.depth--;
    for (; i < plain.cut && i < d; i++) {
        trace[i] = plain.methods[d - 1 - i];
    }
    uint32_t at = 0;
    while (at < plain.nrows && memcmp(plain.rows[at].trace, trace, sizeof(trace)) != 0) {
        at++;
    }
    if (at == plain.nrows) {
        assert_true(plain.nrows++ < PLAIN_MOST);
        memcpy(plain.rows[at].trace, trace, sizeof(trace));
    }
    uint64_t total = now - plain.entered[d - 1];
    plain.rows[at].cost.calls++;
    plain.rows[at].cost.total += (int64_t)total;
    plain.rows[at].cost.self += (int64_t)(total - plain.callees[d - 1]);
    if (d > 1) {
        plain.callees[d - 2] += total;
    }
}

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void plain_and_table(uint32_t depth, uint32_t methods, uint64_t seed)
{
    begin(depth);
    memset(&plain, 0, sizeof(plain));
    plain.cut = depth;
    uint64_t now = 0;
    for (uint32_t i = 0; i < 20000 || plain.depth > 0; i++) {
        uint64_t dice = next(&seed);
        now += dice >> 32 & 15;
        uint32_t method = 1 + (uint32_t)(dice >> 8) % methods;
        bool deeper = plain.depth == 0 || (plain.depth < 60 && i < 20000 && dice % 100 < 50);
        if (deeper && dice % 7 == 0) {
            plain.methods[plain.depth] = method;
            plain.callees[plain.depth] = 0;
            plain.entered[plain.depth++] = now;
            plain_count(now + 3);
            now += 3;
            event(HPX_EV_LEAF, method, HPX_EV_LEAF_STAMP(1, 3));
        } else if (deeper) {
            plain.methods[plain.depth] = method;
            plain.callees[plain.depth] = 0;
            plain.entered[plain.depth++] = now;
            event(HPX_EV_ENTER, method, now);
        } else {
            event(dice & 64 ? HPX_EV_EXIT : HPX_EV_THROWN, plain.methods[plain.depth - 1], now);
            plain_count(now);
        }
    }
    uint32_t counted = 0;
    for (uint32_t i = 0; i < tab.traces.raws.len; i++) {
        counted += hpx_calltab_cost(&tab, i)->calls > 0;
    }
    assert_int_equal(counted, plain.nrows);
    for (uint32_t i = 0; i < plain.nrows; i++) {
        assert_cost(plain.rows[i].trace, plain.rows[i].cost.calls, plain.rows[i].cost.self, plain.rows[i].cost.total);
    }
    assert_int_equal(tab.stray + tab.resynced + tab.no_memory, 0);
    end();
}

TEST(calls_of_random_trees_add_up_as_in_a_table_without_short_cuts)
{
    for (uint32_t depth = 0; depth <= PLAIN_DEEP; depth++) {
        plain_and_table(depth, 2, 7 + depth);
        plain_and_table(depth, depth < 3 ? 20 : 4, 77 + depth);
    }
}

/* ---- what is missing ---- */

TEST(gap_keeps_the_depth_so_that_recursion_stays_right)
{
    begin(2);
    event(HPX_EV_ENTER, 1, 0);
    event(HPX_EV_ENTER, 5, 1);
    event(HPX_EV_ENTER, 5, 2);
    gap(7, 1, 2, 3, 10); /* the inner 5 returned; two calls are open that nobody saw; one came and went */
    assert_int_equal(tab.lost_events, 7);
    assert_int_equal(tab.lost_calls, 1);
    assert_open(4, 10 - 8);
    event(HPX_EV_EXIT, 6, 20);
    event(HPX_EV_EXIT, 5, 30); /* also one of the unseen */
    event(HPX_EV_EXIT, 5, 40);
    event(HPX_EV_EXIT, 1, 50);
    assert_cost(TRACE(5, 5), 2, 8 + 10, 8 + 20);
    assert_cost(TRACE(5, 1), 1, 39 - 28, 39);
    assert_cost(TRACE(6, HPX_CALL_LOST), 1, 10, 10);
    assert_cost(TRACE(1), 1, 11, 50);
    assert_int_equal(tab.stray + tab.resynced, 0);
    assert_int_equal(tab.calls, 5);
    end();
}

/* ---- dumps ---- */

TEST(pending_calls_that_a_gap_swallowed_do_not_hide_others)
{
    begin(1);
    struct hpx_calls_pending p = {.method = 2, .calls = 5, .ns = 50};
    hpx_calltab_pending(&tab, th, &p);
    gap(14, 0, 0, 7, 100);
    event(HPX_EV_LEAF, 2, HPX_EV_LEAF_STAMP(3, 3));
    assert_cost(TRACE(2), 8, 53, 53);
    assert_int_equal(tab.lost_calls, 2); /* five of the seven were counted */
    end();
}

TEST(probes_are_taken_off_the_call_and_its_caller)
{
    begin(3);
    tab.cfg.inner = 2;
    tab.cfg.outer = 3;
    event(HPX_EV_ENTER, 1, 0);
    event(HPX_EV_ENTER, 2, 10);
    event(HPX_EV_LEAF, 3, HPX_EV_LEAF_STAMP(10, 40));
    event(HPX_EV_EXIT, 2, 110);
    assert_open(1, 10 - 3); /* until 110; of the probes of 2 the outer part is in it */
    event(HPX_EV_EXIT, 1, 200);
    assert_cost(TRACE(3, 2, 1), 10, 20, 20);
    assert_cost(TRACE(2, 1), 1, 100 - 50 - 2 - 20, 100 - 50 - 2);
    assert_cost(TRACE(1), 1, 200 - 2 - 55 - 48, 200 - 2 - 55);
    assert_int_equal(hpx_calltab_probes(&tab), 60);
    end();
}

/* ---- merge ---- */

TEST(merged_tables_are_one_and_the_second_is_empty)
{
    const struct hpx_calltab_config cfg = {.depth = 2};
    struct hpx_calltab other;
    begin(2);
    assert_int_equal(hpx_calltab_init(&other, &cfg), 0);
    struct hpx_call_thread *x = hpx_calltab_attach(&other, 0);
    event(HPX_EV_ENTER, 1, 0);
    event(HPX_EV_LEAF, 2, HPX_EV_LEAF_STAMP(3, 4));
    event(HPX_EV_EXIT, 1, 10);
    const struct hpx_ev_head ev[] = {{HPX_EV_EXIT, 1, 9, 0}, /* stray */
                                     {HPX_EV_ENTER, 1, 5, 5},  {HPX_EV_LEAF, 1, 2, HPX_EV_LEAF_STAMP(1, 2)}, {HPX_EV_EXIT, 1, 5, 10},
                                     {HPX_EV_ENTER, 1, 1, 10}, {HPX_EV_LEAF, 1, 2, HPX_EV_LEAF_STAMP(1, 2)}, {HPX_EV_EXIT, 1, 1, 20}};
    (void)hpx_calltab_apply(&other, x, ev, ev + HPX_ARRAY_LEN(ev));
    other.lost_calls = 100;
    other.lost_events = 200;
    other.forced = 300;
    other.no_memory = 400;
    other.resynced = 500;
    assert_true(hpx_calltab_merge(&tab, &other, UINT32_MAX));
    assert_int_equal(tab.lost_calls, 100);
    assert_int_equal(tab.lost_events, 200);
    assert_int_equal(tab.forced, 300);
    assert_int_equal(tab.no_memory, 400);
    assert_int_equal(tab.resynced, 500);
    assert_cost(TRACE(1), 2, 6 + 8, 20);
    assert_cost(TRACE(2, 1), 4, 6, 6);
    assert_cost(TRACE(2, 5), 1, 2, 2);
    assert_int_equal(tab.calls, 8);
    assert_int_equal(tab.stray, 1);
    assert_int_equal(cost_of(&other, TRACE(2, 5)).calls, 0);
    assert_int_equal(other.calls + other.stray, 0);
    assert_true(hpx_calltab_merge(&tab, &other, UINT32_MAX));
    assert_cost(TRACE(2, 5), 1, 2, 2);
    hpx_calltab_fini(&other);
    end();
}

TESTS(NULL, NULL)
