/* SPDX-License-Identifier: BSD-2-Clause */
/* test_site_faults.c: each allocation of a whole scenario of sites fails once, and everything from it on: nothing crashes, each object that
 * was told of is in a row or counted lost, nothing leaks (ASan). */
#include "failing_memory.h"
#include "site_fixture.h"

#define CLASSES 90u
#define SITES   500u

static bool lost, unnamed, no_snapshot; /* in any scenario */

/* What the snapshot says; 0: there is none, for want of memory. */
static uint64_t shown(void)
{
    struct hpx_site_snapshot *s = hpx_sites_snapshot(sites);
    uint64_t n = s ? s->objects : 0;
    no_snapshot |= s == NULL;
    hpx_site_snapshot_destroy(s);
    return n;
}

static uint64_t tell(uint32_t from, uint32_t to)
{
    uint64_t sent = 0;
    for (uint32_t i = from; i < to; i++) {
        uint32_t id = id_of(i);
        if (id == HPX_SITE_NONE) {
            continue; /* counted where it is requested */
        }
        allocate(&f.u, id, 16); /* before its definition */
        define(&f.t, id, 1 + i % CLASSES, 16, 0, FX_STACK({8 + 8 * (i % 40), (int32_t)(i % 7)}, {8, (int32_t)i}));
        allocate(&f.t, id, 16);
        sent += 3;
    }
    return sent;
}

/* A failure from call `first` to `last`. The last snapshot has memory again. */
static void scenario(uint64_t first, uint64_t last)
{
    static const struct hpx_model_config cfg = {.lines = false};
    uint64_t sent = 0, announced = 0, n;
    memory_fail(first, last);
    begin(&cfg, 0, true);
    if (!sites) {
        (void)end(NULL);
        return;
    }
    for (uint32_t i = 0; i < 30; i++) {
        give_class();
    }
    for (uint32_t i = 0; i < CLASSES; i++) {
        char signature[32];
        (void)snprintf(signature, sizeof(signature), "Lp/Object%u;", i);
        announced += object_class(i + 1, 0, signature);
    }
    sent += tell(0, SITES / 2);
    (void)shown();
    sent += tell(SITES / 2, SITES);
    (void)shown();
    memory_allow();
    n = shown();
    uint64_t gone = fx_counter(&f, HPX_C_LOST_NO_MEMORY) + fx_counter(&f, HPX_C_ALLOCATIONS_UNCOUNTED);
    assert_int_equal(n + gone, sent);
    struct hpx_site_snapshot *s = hpx_sites_snapshot(sites);
    assert_int_equal(s->objects, n);
    uint64_t nameless = fx_counter(&f, HPX_C_CLASSES_UNNAMED);
    if (announced == CLASSES && sent == UINT64_C(3) * SITES && gone == 0) { /* a class is missing in the rows where it is counted */
        assert_int_equal(find_row(s, "hprofx.unknown", NULL) != NULL, nameless > 0);
    }
    lost |= gone > 0;
    unnamed |= nameless > 0;
    hpx_site_snapshot_destroy(s);
    (void)end(NULL);
}

static uint64_t count_calls(void)
{
    scenario(MEMORY_NEVER, 0);
    return memory_calls();
}

TEST(without_a_failure_nothing_is_lost, NULL, end)
{
    lost = unnamed = no_snapshot = false;
    assert_true(count_calls() > 100);
    assert_false(lost || unnamed || no_snapshot);
}

TEST(each_allocation_that_fails_alone_loses_nothing_in_silence, NULL, end)
{
    uint64_t n = count_calls();
    lost = unnamed = no_snapshot = false;
    for (uint64_t k = memory_first_fault(); k <= n; k += memory_fault_step()) {
        scenario(k, k);
    }
    assert_true((lost && unnamed && no_snapshot) || memory_fault_step() > 1);
}

TEST(allocations_that_all_fail_from_one_on_lose_nothing_in_silence, NULL, end)
{
    uint64_t n = count_calls();
    for (uint64_t k = memory_first_fault(); k <= n; k += memory_fault_step()) {
        scenario(k, UINT64_MAX);
    }
}

TEST(several_that_fail_lose_nothing_in_silence, NULL, end)
{
    uint64_t n = count_calls();
    for (uint64_t k = memory_first_fault(); k <= n; k += memory_fault_step()) {
        scenario(k, k + 9);
    }
}

TESTS(NULL, NULL)
