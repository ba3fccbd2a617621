/* SPDX-License-Identifier: BSD-2-Clause */
/* test_site_sampled.c: estimates of sites=sampled: weights, variance, and how good they are. */
#include "site_fixture.h"
#include <math.h>

#define INTERVAL 524288u

static const struct hpx_model_config no_lines = {.lines = false};

static void begin_sampled(uint64_t interval)
{
    begin(&no_lines, interval, true);
    give_class();
    object_class(1, 8, "Lp/C;");
}

/* Of how many objects of this size one that was sampled stands for. */
static double weight_of(uint64_t size, uint64_t interval)
{
    return 1.0 / (1.0 - exp(-(double)size / (double)interval));
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-6 * want + 0.5)) { /* the test's own weight has fewer digits; rows are whole */
        fail_msg("%.3f, not %.3f", got, want);
    }
}

TEST(a_sample_stands_for_as_many_as_its_size_says, NULL, end)
{
    static const uint64_t sizes[] = {16, 1024, 65536, INTERVAL, 4 * INTERVAL, UINT64_C(100) * INTERVAL};
    for (size_t i = 0; i < HPX_ARRAY_LEN(sizes); i++) {
        double w = weight_of(sizes[i], INTERVAL), size = (double)sizes[i];
        begin_sampled(INTERVAL);
        define(&f.t, id_of(0), 1, sizes[i], sizes[i], FX_STACK({8, 1}));
        for (int k = 1; k < 7; k++) {
            allocate(&f.t, id_of(0), sizes[i]);
        }
        free_object(id_of(0), sizes[i]);
        free_object(id_of(0), sizes[i]);
        struct hpx_site_snapshot *s = take(1);
        const struct hpx_site_row *r = &s->rows[0];
        assert_int_equal(s->interval, INTERVAL);
        assert_near((double)r->objects, 7 * w);
        assert_near((double)r->bytes, 7 * w * size);
        assert_near((double)r->live_objects, 5 * w);
        assert_near((double)r->live_bytes, 5 * w * size);
        assert_near(r->variance, 7 * size * size * w * (w - 1));
        assert_int_equal(hpx_sites_recorded_objects(sites), 7); /* what was told of */
        assert_int_equal(hpx_sites_recorded_bytes(sites), 7 * sizes[i]);
        hpx_site_snapshot_destroy(s);
        (void)end(NULL);
    }
}

/* A Poisson process along the bytes of a thread picks the objects, as the VM does. Over many rounds the mean of the estimates is what was
 * allocated, and the mean of their squared errors is the variance that the rows tell. */
TEST(estimates_are_unbiased_and_their_error_is_as_told, NULL, end)
{
    enum { ROUNDS = 400, OBJECTS = 3000 };
    static const uint64_t sizes[] = {24, 400, 3000, 20000};
    const double interval = 8192;
    uint64_t dice = 1;
    double estimates = 0, errors = 0, told = 0, exact = 0;
    begin_sampled((uint64_t)interval);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        exact += (double)sizes[i % 4];
    }
    for (uint32_t k = 0; k < 4; k++) {
        define(&f.t, id_of(k), 1, sizes[k], sizes[k], FX_STACK({8, 1}));
    }
    for (int round = 0; round < ROUNDS; round++) {
        double next = 0;
        hpx_sites_clear(sites);
        for (uint32_t i = 0; i < OBJECTS; i++) {
            uint32_t k = i % 4;
            next -= (double)sizes[k];
            if (next < 0) {
                dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                next = -log(((double)(dice >> 11) + 1) / 9007199254740993.0) * interval; /* no memory of the bytes before */
                if (i > 0) {                                                             /* the first one starts the process */
                    allocate(&f.t, id_of(k), sizes[k]);
                }
            }
        }
        struct hpx_site_snapshot *s = hpx_sites_snapshot(sites);
        double error = (double)s->bytes - exact;
        estimates += (double)s->bytes / ROUNDS;
        errors += error * error / ROUNDS;
        told += s->rows[0].variance / ROUNDS;
        hpx_site_snapshot_destroy(s);
    }
    assert_true(fabs(estimates - exact) < 4 * sqrt(told / ROUNDS));
    assert_true(errors / told > 0.75 && errors / told < 1.25);
}

TESTS(NULL, NULL)
