/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hprof_table.c: the order of a table's rows. */
#include "cmocka_all.h"
#include "hprof_table.h"
#include <stdlib.h>

static bool above(const struct hpx_row *x, const struct hpx_row *y)
{
    return x->count != y->count ? x->count > y->count : x->trace->serial < y->trace->serial;
}

TEST(rows_are_ranked_by_count_then_serial)
{
    enum { MOST = 3000 };
    static struct hpx_trace_rec *traces[MOST];
    static struct hpx_row rows[MOST];
    static const uint32_t sizes[] = {1, 2, 100, MOST};
    unsigned short seed[3] = {5, 6, 7};
    for (uint32_t i = 0; i < MOST; i++) {
        traces[i] = calloc(1, sizeof(*traces[i]));
        assert_non_null(traces[i]);
    }
    for (unsigned round = 0; round < 60; round++) {
        uint32_t n = sizes[round % HPX_ARRAY_LEN(sizes)];
        bool mixed = round % 2; /* else the serials rise */
        unsigned shift = round % 4 == 3 ? 45 : 0;
        for (uint32_t i = 0; i < n; i++) {
            traces[i]->serial = mixed ? i * 2654435761u : HPX_SERIAL_TRACE + i; /* odd: no two are the same */
            rows[i] = (struct hpx_row){traces[i], (uint64_t)(1 + nrand48(seed) % (round % 5 ? 5000 : 3)) << shift};
        }
        struct hpx_ranked r = hpx_table_rank(&hpx_table_samples, rows, n, 1, 0);
        assert_int_equal(r.ranked, n);
        for (uint32_t i = 1; i < n; i++) {
            assert_true(above(&rows[i - 1], &rows[i]));
        }
    }
    for (uint32_t i = 0; i < MOST; i++) {
        free(traces[i]);
    }
}

TESTS(NULL, NULL)
