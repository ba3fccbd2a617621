/* SPDX-License-Identifier: BSD-2-Clause */
/* test_pace.c: what a peer gets of the profiler's time, with a clock that is a number. */
#include "cmocka_all.h"
#include "pace.h"

#define MS UINT64_C(1000000)

static const struct hpx_command gc = {.tag = HPX_COMMAND_FORCE_GC}, table = {.tag = HPX_COMMAND_CPU_SAMPLES},
                                traces = {.tag = HPX_COMMAND_DUMP_TRACES},
                                clear = {.tag = HPX_COMMAND_CONTROL, .control = HPX_CONTROL_CLEAR_CPU},
                                depth = {.tag = HPX_COMMAND_CONTROL, .control = HPX_CONTROL_DEPTH};

static bool begin(struct hpx_pace *p, const struct hpx_command *c, uint64_t now)
{
    bool may = hpx_pace_may(p, c, now);
    if (may) {
        hpx_pace_begin(p, c, now);
    }
    return may;
}

TEST(cheap_commands_share_a_turn_and_a_costly_one_ends_it)
{
    static const struct hpx_command *const costly[] = {&gc, &table, &traces, &clear};
    for (size_t i = 0; i < HPX_ARRAY_LEN(costly); i++) {
        struct hpx_pace p = {0};
        for (unsigned n = 0; n < 100; n++) {
            assert_true(begin(&p, &depth, 1000 * MS));
        }
        assert_true(begin(&p, costly[i], 1000 * MS));
        assert_false(begin(&p, &depth, 1000 * MS));
        assert_false(begin(&p, &table, 1000 * MS));
        hpx_pace_end(&p, 1000 * MS);
        assert_true(begin(&p, &depth, 1000 * MS));
    }
}

TEST(a_turn_of_cheap_ones_has_a_bound)
{
    struct hpx_pace p = {0};
    assert_true(begin(&p, &depth, 5 * MS));
    assert_true(begin(&p, &depth, 5 * MS + HPX_PACE_TURN_NS - 1));
    assert_false(begin(&p, &depth, 5 * MS + HPX_PACE_TURN_NS));
    hpx_pace_end(&p, 7 * MS);
    assert_false(begin(&p, &depth, 9 * MS - 1));
    assert_true(begin(&p, &depth, 9 * MS));
}

TEST(the_pause_behind_a_turn_is_as_long_as_it_was)
{
    struct hpx_pace p = {0};
    assert_true(begin(&p, &table, 1000 * MS));
    hpx_pace_end(&p, 1300 * MS);
    hpx_pace_end(&p, 1500 * MS); /* none runs */
    assert_false(begin(&p, &clear, 1600 * MS - 1));
    assert_true(begin(&p, &clear, 1600 * MS));
}

TEST(collections_are_a_second_apart_and_a_tenth_of_the_time)
{
    struct hpx_pace p = {0};
    assert_true(begin(&p, &gc, 0));
    hpx_pace_end(&p, 20 * MS);
    assert_true(begin(&p, &table, 40 * MS)); /* another command need not wait for so long */
    hpx_pace_end(&p, 50 * MS);
    assert_false(begin(&p, &gc, 1020 * MS - 1));
    assert_true(begin(&p, &gc, 1020 * MS));
    hpx_pace_end(&p, 3020 * MS);
    assert_false(begin(&p, &gc, 21020 * MS - 1));
    assert_true(begin(&p, &gc, 21020 * MS));
}

/* Always the next one as soon as it may begin, of any kind and price: what all of them get of the time. */
TEST(a_flood_gets_half_of_the_time)
{
    static const struct hpx_command *const all[] = {&gc, &table, &traces, &clear, &depth};
    uint64_t dice = 1, now = 0, spent = 0, collecting = 0;
    struct hpx_pace p = {0};
    for (unsigned n = 0; n < 20000; n++) {
        dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const struct hpx_command *c = all[(dice >> 33) % HPX_ARRAY_LEN(all)];
        uint64_t price = 1 + (dice >> 40) % (c == &depth ? 2000 : 700 * MS);
        while (!hpx_pace_may(&p, c, now)) {
            now += 10 * MS; /* a pass */
            hpx_pace_end(&p, now);
        }
        hpx_pace_begin(&p, c, now);
        now += price;
        spent += price;
        collecting += c == &gc ? price : 0;
        if (c != &depth) {
            hpx_pace_end(&p, now);
        }
    }
    assert_true(spent > 0 && 2 * spent <= now + 2000 * MS);
    assert_true(collecting > 0 && 10 * collecting <= now + 10000 * MS);
}

TEST(a_dump_waits_for_a_peer_that_reads)
{
    struct hpx_patience p = {.taken = 1000};
    uint64_t taken = 1000;
    for (unsigned n = 0; n < 1000; n++) { /* 66 KiB a second, in pieces of 6.6 */
        taken += 6759;
        assert_true(hpx_patience_lasts(&p, 100 * MS, taken));
    }
}

TEST(a_dump_waits_no_more_for_a_peer_that_stalls_or_drips)
{
    static const uint64_t rates[] = {0, 102, 6000}; /* bytes in 100 ms */
    for (size_t i = 0; i < HPX_ARRAY_LEN(rates); i++) {
        struct hpx_patience p = {.taken = 77};
        uint64_t taken = 77;
        for (unsigned n = 0; n < 9; n++) {
            taken += rates[i];
            assert_true(hpx_patience_lasts(&p, 100 * MS, taken));
        }
        assert_false(hpx_patience_lasts(&p, 100 * MS, taken + rates[i]));
    }
}

TESTS(NULL, NULL)
