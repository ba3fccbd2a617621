/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hprof_table.c: the order of a table's rows, and their exact times. */
#include "ascii_fixture.h"
#include "hprof_table.h"
#include <stdlib.h>

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

/* ---- a bound ---- */

enum { PATHS = 2000 };

static const struct hpx_method_rec method = {{"p.C", 3}, {"m", 1}, {"()V", 3}, {"C.java", 6}, {0}, 0};
static struct hpx_trace_rec *paths[PATHS];
static struct hpx_call_row calls[PATHS];
static struct hpx_call_snapshot times;

/* Rows whose times differ; the first has half of the time. */
static void fill_calls(void)
{
    times = (struct hpx_call_snapshot){.rows = calls, .nrows = PATHS};
    for (uint32_t i = 0; i < PATHS; i++) {
        free(paths[i]);
        paths[i] = calloc(1, sizeof *paths[i] + 2 * sizeof(struct hpx_frame_rec));
        assert_non_null(paths[i]);
        paths[i]->serial = HPX_SERIAL_TRACE + 1 + i;
        paths[i]->nframes = 2;
        paths[i]->frames[0] = paths[i]->frames[1] = (struct hpx_frame_rec){&method, (int32_t)i + 1, 0};
        uint64_t ns = i == 0 ? UINT64_C(3000000) * PATHS : (uint64_t)(PATHS - i) * 1000;
        calls[i] = (struct hpx_call_row){.trace = paths[i], .calls = i + 1, .self_ns = ns, .total_ns = ns};
        times.self_ns += ns;
        times.calls += i + 1;
    }
}

static void free_calls(void)
{
    for (uint32_t i = 0; i < PATHS; i++) {
        free(paths[i]);
        paths[i] = NULL;
    }
}

/* Row `rank` of a table; false: it has no more. */
static bool read_row(const char *table, unsigned rank, unsigned *share, uint64_t *count, unsigned *serial)
{
    char head[16];
    unsigned whole, part, accum, of;
    unsigned long long n;
    snprintf(head, sizeof head, "\n%4u ", rank);
    const char *at = strstr(table, head);
    if (at == NULL || sscanf(at + 6, "%u.%u%% %u.%u%% %llu %u", &whole, &part, &accum, &of, &n, serial) != 6) {
        return false;
    }
    *share = whole * 100 + part;
    *count = n;
    return true;
}

TEST(rows_beyond_the_bound_of_a_file_are_one, setup, teardown)
{
    struct hpx_bound b = {.most = 50000};
    unsigned share, serial, summed_share = 0, rows = 0, largest = 0;
    uint64_t count, sum = 0;
    fill_calls();
    w.bound = &b;
    hpx_bound_allow(&b, &out, 1, true);
    hpx_ascii_cpu_times(&w, &times, 0, NOW);
    char *text = strdup(written_whole());
    assert_non_null(text);
    assert_true(strlen(text) > 46000 && strlen(text) < 51000);
    const char *table = strstr(text, "CPU TIME (ms) BEGIN");
    assert_non_null(table);
    for (unsigned rank = 1; read_row(table, rank, &share, &count, &serial); rank++) {
        sum += count;
        rows++;
        if (serial == HPX_SERIAL_SUMMED) {
            summed_share = share;
        } else {
            assert_int_equal(serial, HPX_SERIAL_TRACE + 1 + largest); /* the largest, in their order */
            largest++;
        }
    }
    assert_int_equal(sum, times.calls); /* nothing is lost */
    assert_true(largest > 300 && rows == largest + 1 && b.summed == PATHS - largest && summed_share > 0);
    assert_true(b.below > 0 && b.below < 0.001 && b.below == (double)(PATHS - largest) * 1000 / (double)times.self_ns);
    assert_non_null(strstr(text, "TRACE 299999:\n\thprofx.summed.rows_below_the_cutoff(<Unknown Source>:Unknown line)\n"));
    assert_non_null(strstr(table, "299999 hprofx.summed.rows_below_the_cutoff\n"));
    uint64_t exact = 0;
    for (char *at = strstr(text, HPX_TEXT_EXACT_ROWS); at != NULL; at = strstr(at, HPX_TEXT_EXACT_ROWS)) {
        for (at += sizeof HPX_TEXT_EXACT_ROWS - 2; *at == ' ';) {
            exact += strtoull(at + 1, &at, 10);
        }
    }
    assert_true(exact == times.self_ns);
    free(text);
    free_calls();
}

/* Once it is full, a dump has one row, and its trace is not written again. */
TEST(a_full_file_gets_one_row_for_a_dump, setup, teardown)
{
    struct hpx_bound b = {.most = 1};
    unsigned share, serial;
    uint64_t count;
    w.bound = &b;
    for (int dump = 0; dump < 2; dump++) {
        fill_calls();
        hpx_bound_allow(&b, &out, 1, dump > 0);
        hpx_ascii_cpu_times(&w, &times, 0, NOW);
        const char *text = written_whole();
        assert_true(strlen(text) < 512 && (strstr(text, "TRACE 299999:") != NULL) == (dump == 0));
        assert_true(read_row(text, 1, &share, &count, &serial) && !read_row(text, 2, &share, &count, &serial));
        assert_true(share == 10000 && count == times.calls && serial == HPX_SERIAL_SUMMED);
    }
    free_calls();
}

TEST(every_dump_but_the_last_takes_half_of_what_is_left, setup, teardown)
{
    struct hpx_bound b = {.most = 1000};
    hpx_out_printf(&out, "%300s", ""); /* lines of threads: they do not count */
    hpx_bound_allow(&b, &out, 1, false);
    assert_int_equal(b.allowed, 800);
    hpx_out_printf(&out, "%500s", "");
    hpx_bound_leave(&b, &out);
    hpx_out_printf(&out, "%200s", "");
    hpx_bound_allow(&b, &out, 2, false);
    assert_int_equal(b.allowed, 1125);
    hpx_out_printf(&out, "%400s", ""); /* a heap dump: it does not count */
    hpx_bound_skip(&b, &out);
    hpx_bound_leave(&b, &out);
    assert_int_equal(b.spent, 500);
    hpx_bound_allow(&b, &out, 1, true);
    assert_int_equal(b.allowed, 1900);
    assert_true(!hpx_bound_reached(&b, &out, 499) && hpx_bound_reached(&b, &out, 500) && !hpx_bound_reached(NULL, &out, 1));
    hpx_out_printf(&out, "%300s", "");
    hpx_out_printf(&out, "%300s", "");
    hpx_bound_leave(&b, &out);
    hpx_bound_allow(&b, &out, 1, true);
    assert_int_equal(b.allowed, 2000); /* nothing is left */
}

TEST(tables_of_one_section_take_equal_parts_behind_what_does_not_count, setup, teardown)
{
    struct hpx_bound b = {.most = 1000};
    hpx_bound_allow(&b, &out, 1, true);
    hpx_out_printf(&out, "%350s", ""); /* a monitor dump */
    hpx_out_printf(&out, "%350s", "");
    hpx_bound_skip(&b, &out);
    hpx_bound_part(&b, &out, 2);
    assert_int_equal(b.allowed, 1200);
    hpx_out_printf(&out, "%100s", "");
    hpx_bound_part(&b, &out, 1);
    assert_int_equal(b.allowed, 1700);
    hpx_bound_skip(NULL, &out);
    hpx_bound_part(NULL, &out, 1);
    hpx_bound_leave(&b, &out);
    assert_int_equal(b.spent, 100);
}

TESTS(NULL, NULL)
