/* SPDX-License-Identifier: BSD-2-Clause */
/* test_batches.c: batches against a VM whose stops are known: a fixed time, which grows with the number of classes, and one per class. */
#include "batches.h"
#include "cmocka_all.h"
#include "compiler.h"

#define US UINT64_C(1000)
#define MS (1000 * US)

static struct hpx_batches run(uint32_t classes, uint64_t fixed, uint64_t per_class)
{
    struct hpx_batches b = {0};
    for (uint32_t done = 0; done < classes;) {
        uint32_t n = hpx_batches_size(&b) < classes - done ? hpx_batches_size(&b) : classes - done;
        hpx_batches_took(&b, n, fixed + n * per_class);
        done += n;
    }
    return b;
}

TEST(stops_stay_below_the_limit, NULL, NULL)
{
    const uint64_t fixed[] = {100 * US, 5 * MS, 20 * MS}, per_class[] = {1 * US, 20 * US, 200 * US};
    for (size_t i = 0; i < HPX_ARRAY_LEN(fixed); i++) {
        for (size_t k = 0; k < HPX_ARRAY_LEN(per_class); k++) {
            struct hpx_batches b = run(20000, fixed[i], per_class[k]);
            assert_true(b.longest_ns <= HPX_BATCH_STOP_NS);
        }
    }
}

TEST(few_calls_for_many_classes, NULL, NULL)
{
    assert_true(run(20000, 2 * MS, 20 * US).calls < 40);
    assert_true(run(20000, 5 * MS, 1 * US).calls < 20);
}

/* The fixed time is that of a walk of all classes: batches of one size would make the whole quadratic. */
TEST(the_whole_is_linear, NULL, NULL)
{
    struct hpx_batches some = run(10000, 10000 * 1 * US, 20 * US), many = run(100000, 100000 * 1 * US, 20 * US);
    assert_true(many.stops_ns < 20 * some.stops_ns);
    assert_true(many.longest_ns < 300 * MS); /* no batch is short where the walk alone takes 100 ms */
}

/* One stop that took long for another reason makes no batch small for long. */
TEST(recovers_from_a_long_stop, NULL, NULL)
{
    struct hpx_batches b = {0};
    for (int i = 0; i < 8; i++) {
        hpx_batches_took(&b, hpx_batches_size(&b), 1 * MS + hpx_batches_size(&b) * 10 * US);
    }
    uint32_t before = hpx_batches_size(&b);
    hpx_batches_took(&b, before, 900 * MS);
    assert_true(hpx_batches_size(&b) < before);
    for (int i = 0; i < 4; i++) {
        hpx_batches_took(&b, hpx_batches_size(&b), 1 * MS + hpx_batches_size(&b) * 10 * US);
    }
    assert_true(hpx_batches_size(&b) >= before / 2);
}

/* The last one of a list is short, whatever its size was to be. */
TEST(a_short_last_batch_does_not_grow_the_next_beyond_its_share, NULL, NULL)
{
    struct hpx_batches b = {0};
    hpx_batches_took(&b, 1, 1 * MS);
    assert_int_equal(hpx_batches_size(&b), HPX_BATCH_FIRST);
}

TESTS(NULL, NULL)
