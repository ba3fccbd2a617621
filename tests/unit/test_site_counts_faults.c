/* SPDX-License-Identifier: BSD-2-Clause */
/* test_site_counts_faults.c: each allocation of a whole scenario of sites=counts fails once, and everything from it on: every object that
 * was counted is in a row, told of as missed, or counted lost, also where one record stands for many. */
#include "failing_memory.h"
#include "site_counts_fixture.h"

#define PLACES 200u
#define ARRAYS 7u /* of a record */

static const struct hpx_site_options counting = {.ids = &ids, .counts = true};
static const struct hpx_call_options with_calls = {.depth = 3};
static bool lost, missed; /* in any scenario */
static uint64_t sent;

static void announce(uint32_t id)
{
    static const char text[] = "Lp/A;\0A.java\0run\0()V\0[[I";
    struct hpx_msg_sites *m = hpx_msg_sites_new(1, sizeof(text));
    if (m != NULL) {
        memcpy(m->text, text, sizeof(text));
        m->of[0].id = id;
        m->of[0].line = (uint16_t)id;
        m->of[0].opcode = MULTIANEWARRAY;
        fx_message(&f, m);
    }
}

static void allocate(uint32_t from, uint32_t to, bool in_calls)
{
    for (uint32_t i = from; i < to; i++) {
        announce(i);
        if (in_calls) {
            fx_event(&f, &f.t, HPX_EV_ENTER, i, 0);
        }
        fx_event(&f, &f.t, in_calls ? HPX_EV_PLACE_MULTI : HPX_EV_COUNT_MULTI, i, HPX_EV_MULTI_STAMP(0, 1, 32));
        fx_event(&f, &f.t, in_calls ? HPX_EV_PLACE_MULTI : HPX_EV_COUNT_MULTI, i, HPX_EV_MULTI_STAMP(1, ARRAYS, 24));
        fx_event(&f, &f.t, in_calls ? HPX_EV_PLACE : HPX_EV_COUNT, i, 16);
        fx_event(&f, &f.t, in_calls ? HPX_EV_PLACE_MADE : HPX_EV_COUNT_MADE, i, HPX_EV_MADE_STAMP((struct hpx_class_number){i}, 6, 24));
        hpx_sites_add_counter(sites, i, 3, 48, true);
        sent += ARRAYS + 11;
    }
}

/* A failure from call `first` to `last`. The last snapshot has memory again. */
static void scenario(uint64_t first, uint64_t last, bool in_calls)
{
    sent = 0;
    memory_fail(first, last);
    fx_begin(&f, NULL);
    sites = f.m ? hpx_sites_create(f.m, &counting) : NULL;
    f.calls = sites && in_calls ? hpx_call_rows_create(f.m, &with_calls) : NULL;
    if (!sites || (in_calls && !f.calls)) {
        memory_allow();
        if (f.m) {
            (void)teardown(NULL);
        }
        return;
    }
    allocate(1, PLACES / 2, in_calls);
    hpx_site_snapshot_destroy(hpx_sites_snapshot(sites));
    allocate(PLACES / 2, PLACES, in_calls);
    struct hpx_site_snapshot *s = hpx_sites_snapshot(sites);
    hpx_model_pass_end(f.m);
    uint64_t enters =
        in_calls ? fx_counter(&f, HPX_C_LOST_NO_MEMORY) : 0; /* of calls and objects: only without such a loss are they told apart */
    uint64_t uncounted = fx_counter(&f, HPX_C_ALLOCATIONS_UNCOUNTED);
    if (s != NULL && enters == 0) {
        assert_int_equal(s->objects + s->missed_objects + uncounted, sent);
    }
    missed |= s != NULL && s->missed_objects > 0;
    hpx_site_snapshot_destroy(s);
    memory_allow();
    s = hpx_sites_snapshot(sites);
    assert_non_null(s);
    if (enters == 0) {
        assert_int_equal(s->objects + s->missed_objects + uncounted, sent);
    }
    lost |= uncounted > 0;
    hpx_site_snapshot_destroy(s);
    (void)teardown(NULL);
}

static void every_failure(bool in_calls)
{
    scenario(MEMORY_NEVER, 0, in_calls);
    uint64_t n = memory_calls();
    assert_true(n > 100);
    assert_false(lost || missed);
    for (uint64_t k = memory_first_fault(); k <= n; k += memory_fault_step()) {
        scenario(k, k, in_calls);
        scenario(k, k + 9, in_calls);
        scenario(k, UINT64_MAX, in_calls);
    }
}

TEST(objects_of_places_are_never_lost_in_silence)
{
    lost = missed = false;
    every_failure(false);
    assert_true(lost || memory_fault_step() > 1);
}

TEST(objects_of_calls_are_never_lost_in_silence)
{
    lost = missed = false;
    every_failure(true);
    assert_true(missed || memory_fault_step() > 1);
}

TESTS(NULL, NULL)
