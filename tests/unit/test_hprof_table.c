/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hprof_table.c: the order of a table's rows, and their exact times. */
#include "ascii_fixture.h"
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

/* Readers of HPROF need not keep longer lines, and the lines have all rows in their order. */
TEST(exact_times_stand_behind_the_table_in_lines_of_bounded_length, setup, teardown)
{
    enum { MOST = 1000 };
    static struct hpx_trace_rec empty = {.serial = HPX_SERIAL_TRACE};
    static struct hpx_call_row rows[MOST];
    struct hpx_call_snapshot s = {.rows = rows, .nrows = MOST};
    for (uint32_t i = 0; i < MOST; i++) {
        rows[i] = (struct hpx_call_row){.trace = &empty, .calls = 1, .self_ns = UINT64_C(1000000000000) - UINT64_C(999999999) * i};
        s.self_ns += rows[i].self_ns;
    }
    hpx_ascii_cpu_times(&w, &s, 0, NOW);
    char total[64], *at = strstr(written_whole(), "CPU TIME (ms) END\n");
    assert_non_null(at);
    at += sizeof "CPU TIME (ms) END";
    int n = snprintf(total, sizeof total, "hprofx: total in ns: %llu\n", (unsigned long long)s.self_ns);
    assert_memory_equal(at, total, n);
    at += n;
    for (uint32_t i = 0; i < MOST;) {
        char *end = strchr(at, '\n');
        assert_true(end != NULL && end - at <= 1000);
        assert_memory_equal(at, "hprofx: rows in ns: ", 20);
        for (at += 19; at < end; i++) {
            assert_true(*at == ' ' && i < MOST && strtoull(at + 1, &at, 10) == rows[i].self_ns);
        }
        at++;
    }
    assert_string_equal(at, "");
}

TEST(a_table_of_counts_has_no_times, setup, teardown)
{
    static struct hpx_trace_rec empty = {.serial = HPX_SERIAL_TRACE};
    struct hpx_row row = {&empty, 3};
    struct hpx_snapshot s = {.rows = &row, .nrows = 1, .total = 3};
    hpx_ascii_cpu_samples(&w, &s, 0, NOW);
    assert_null(strstr(written_whole(), "in ns"));
}

TESTS(NULL, NULL)
