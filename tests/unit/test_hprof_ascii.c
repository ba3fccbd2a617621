/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hprof_ascii.c: the text format byte for byte, from records made by hand. */
#include "ascii_fixture.h"
#include "failing_memory.h"
#include "records.h"
#include "said.h"
#include "text_check.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hpx_method_rec hot_a = {{"HotSplit", 8}, {"hotA", 4}, {"", 0}, {"HotSplit.java", 13}, {0}, 1};

static struct hpx_trace_rec *one_frame(uint32_t serial, const struct hpx_method_rec *m)
{
    return trace(serial, 0, 1, &(struct hpx_frame_rec){m, -1, 0});
}

static void samples(uint32_t n, struct hpx_row *rows, double cutoff)
{
    struct hpx_snapshot s = samples_of(n, rows);
    hpx_ascii_cpu_samples(&w, &s, cutoff, NOW);
}

/* Rows whose trace could not be marked are left out, and come with the next dump. */
TEST(without_memory_a_trace_is_left_out_not_written_twice, setup, teardown)
{
    for (uint32_t serial = 300000; serial <= 300001; serial++) {
        struct hpx_row rows[] = {{trace(serial, 0, 1, &(struct hpx_frame_rec){&hot_a, 5, 1}), 2}};
        hpx_ascii_fini(&w);
        hpx_ascii_init(&w, &out);
        said_begin();
        memory_refuse();
        samples(1, rows, 0);
        hpx_ascii_dump_end(&w);
        memory_allow();
        bool first = serial == 300000; /* which needs no memory */
        assert_int_equal(strstr(written(), "TRACE 30000") != NULL, first);
        assert_int_equal(said_times("format=a: no memory"), !first);
        said_end();
        samples(1, rows, 0);
        assert_int_equal(strstr(written(), "TRACE 30000") != NULL, !first);
        samples(1, rows, 0);
        assert_null(strstr(written(), "TRACE 30000"));
        free((void *)(uintptr_t)rows[0].trace);
    }
}

TEST(a_thread_that_cannot_be_marked_in_a_late_file_is_left_out, setup, teardown)
{
    const struct hpx_thread_rec t = {.serial = 200001, .object = 0x50000001, .name = text("main")};
    w.late = true;
    memory_refuse();
    hpx_ascii_thread_start(&w, &t);
    hpx_ascii_thread_end(&w, &t);
    assert_false(hpx_ascii_thread(&w, t.serial));
    memory_allow();
    assert_string_equal(written(), "");
    assert_true(hpx_ascii_thread(&w, t.serial));
    assert_non_null(strstr(written(), "THREAD START (obj=50000001, id = 200001"));
    w.late = false; /* a file that has every thread from the start */
    memory_refuse();
    hpx_ascii_thread_start(&w, &(struct hpx_thread_rec){.serial = 200002 + 8192 * 4});
    hpx_ascii_thread_end(&w, &(struct hpx_thread_rec){.serial = 200002 + 8192 * 4});
    memory_allow();
    const char *both = written();
    assert_non_null(strstr(both, "THREAD START"));
    assert_non_null(strstr(both, "THREAD END"));
}

/* As in a file that was begun when the threads had ended. */
TEST(lines_of_threads_come_before_the_first_trace, setup, teardown)
{
    struct hpx_frame_rec frame = {&hot_a, 5, 0};
    struct hpx_row rows[] = {{trace(300005, 200003, 1, &frame), 3}, {trace(300006, 200004, 1, &frame), 1}};
    w.late = true;
    samples(2, rows, 0);
    const char *s = written(), *trace_line = strstr(s, "TRACE ");
    const char *starts[] = {strstr(s, "START (obj=50000003, id = 200003,"), strstr(s, "START (obj=50000004, id = 200004,")};
    for (size_t i = 0; i < 2; i++) {
        assert_true(starts[i] != NULL && starts[i] < trace_line);
        free((void *)(uintptr_t)rows[i].trace);
    }
}

TEST(accum_ends_at_100_however_many_rows_round, setup, teardown)
{
    struct hpx_row rows[7];
    for (uint32_t i = 0; i < 7; i++) {
        rows[i] = (struct hpx_row){one_frame(300010 - i, &hot_a), 1};
    }
    samples(7, rows, 0);
    const char *s = written();
    assert_non_null(strstr(s, "   1 14.29% 14.29%       1 300004 HotSplit.hotA\n   2 14.29% 28.57%       1 300005 HotSplit.hotA\n"));
    assert_non_null(strstr(s, "   7 14.29% 100.00%       1 300010 HotSplit.hotA\nCPU SAMPLES END\n"));
    for (size_t i = 0; i < 7; i++) {
        free((void *)(uintptr_t)rows[i].trace);
    }
}

/* Rows are put together without printf: they must be what it makes of them, also where a share is near the middle of two. */
TEST(rows_are_those_of_printf, setup, teardown)
{
    enum { ROWS = 3000 };
    static struct hpx_row rows[ROWS];
    static char want[ROWS * 80];
    unsigned short seed[3] = {4, 5, 6};
    for (int round = 0; round < 6; round++) {
        uint64_t total = 0, sum = 0;
        char *at = want;
        for (uint32_t i = 0; i < ROWS; i++) {
            /* 800 and more rows of one count: shares of 0.125 % and the like; serials in no order */
            uint64_t count = round < 2    ? 1u + (unsigned)round
                             : round == 2 ? UINT64_C(1) << nrand48(seed) % 48
                                          : 1 + (uint64_t)nrand48(seed) % (10u << 4 * round);
            rows[i] = (struct hpx_row){one_frame(300001 + (i * 7919u + (uint32_t)round) % ROWS * 7001, &hot_a), count};
            total += count;
        }
        struct hpx_snapshot s = {.total = total, .nrows = round == 1 ? 800 : ROWS, .rows = rows};
        s.total = round == 1 ? 1600 : total;
        hpx_ascii_fini(&w);
        hpx_ascii_cpu_samples(&w, &s, 0, NOW);
        for (uint32_t i = 0; i < s.nrows; i++) {
            sum += rows[i].count;
            assert_true(i == 0 || rows[i - 1].count > rows[i].count ||
                        (rows[i - 1].count == rows[i].count && rows[i - 1].trace->serial < rows[i].trace->serial));
            at += sprintf(at, "%4" PRIu32 " %5.2f%% %5.2f%% %7" PRIu64 " %5" PRIu32 " HotSplit.hotA\n", i + 1,
                          (double)rows[i].count * 100.0 / (double)s.total, (double)sum * 100.0 / (double)s.total, rows[i].count,
                          rows[i].trace->serial);
        }
        const char *table = strstr(written(), "trace method\n");
        assert_non_null(table);
        assert_memory_equal(table + 13, want, (size_t)(at - want));
        for (uint32_t i = 0; i < ROWS; i++) {
            free((void *)(uintptr_t)rows[i].trace);
        }
    }
}

TEST(figures_have_64_bits, setup, teardown)
{
    struct hpx_row rows[] = {{one_frame(300001, &hot_a), 5000000000000ull}, {one_frame(300002, &hot_a), 15000000000000000ull}};
    samples(2, rows, 0);
    const char *s = written();
    assert_non_null(strstr(s, "(total = 15005000000000000)"));
    assert_non_null(strstr(s, "   1 99.97% 99.97% 15000000000000000 300002 "));
    assert_non_null(strstr(s, "   2  0.03% 100.00% 5000000000000 300001 "));
    free((void *)(uintptr_t)rows[0].trace);
    free((void *)(uintptr_t)rows[1].trace);
}

TEST(names_of_frames_are_escaped_but_keep_quotes_and_backslashes, setup, teardown)
{
    struct hpx_method_rec m = {text("p.\xED\xA0\xBD\xED\xB8\x80"), text("a\nCPU SAMPLES END\n"), {NULL, 0}, text("S\x80\"\\.java"), {0}, 7};
    struct hpx_row row = {trace(300001, 0, 1, &(struct hpx_frame_rec){&m, 3, 0}), 1};
    samples(1, &row, 0);
    assert_string_equal(written(), "TRACE 300001:\n"
                                   "\tp.\xF0\x9F\x98\x80.a\\nCPU SAMPLES END\\n(S\\u0080\"\\.java:3)\n"
                                   "CPU SAMPLES BEGIN (total = 1) " NOW_TEXT "\n"
                                   "rank   self  accum   count trace method\n"
                                   "   1 100.00% 100.00%       1 300001 p.\xF0\x9F\x98\x80.a\\nCPU SAMPLES END\\n\n"
                                   "CPU SAMPLES END\n");
    free((void *)(uintptr_t)row.trace);
}

TEST(a_name_of_60000_bytes_stays_on_one_line, setup, teardown)
{
    static char name[60000];
    memset(name, 'n', sizeof(name));
    struct hpx_method_rec m = {{name, sizeof(name)}, {name, sizeof(name)}, {NULL, 0}, {name, sizeof(name)}, {0}, 8};
    struct hpx_row row = {trace(300001, 0, 1, &(struct hpx_frame_rec){&m, 3, 0}), 1};
    samples(1, &row, 0);
    const char *s = written();
    assert_int_equal(strcspn(s, "\n"), 13);
    assert_int_equal(strcspn(s + 14, "\n"), 3 * 60000 + 6); /* tab, dot, (, :3) */
    free((void *)(uintptr_t)row.trace);
}

TEST(dates_are_those_of_ctime, setup, teardown)
{
    static const time_t times[] = {0, NOW, 951782400, 1000000000, 4102444800};
    for (size_t i = 0; i < HPX_ARRAY_LEN(times); i++) {
        char expect[64];
        assert_non_null(ctime_r(&times[i], expect));
        hpx_ascii_header(&w, times[i]);
        assert_memory_equal(written() + 28, expect, strlen(expect));
    }
    hpx_ascii_header(&w, INT64_MAX);
    assert_memory_equal(written() + 28, "Thu Jan  1 00:00:00 1970\n", 25);
}

TEST(report_lines_stay_lines, setup, teardown)
{
    hpx_ascii_report(&w, "hprofx: interval: 4 ms\nhprofx: name: a\x1B[m\tb\nhprofx: last: 1");
    assert_string_equal(written(), "hprofx: interval: 4 ms\nhprofx: name: a\\u001B[m\\tb\nhprofx: last: 1\n");
    hpx_ascii_report(&w, "");
    assert_string_equal(written(), "");
}

/* A whole file of random names: UTF-8, no control but the layout's newline and tab, and as many lines as were meant. */
TEST(any_names_leave_the_layout_alone, setup, teardown)
{
    unsigned short seed[3] = {3, 4, 5};
    for (int round = 0; round < 3000; round++) {
        char bytes[6][48];
        struct hpx_text t[6];
        for (size_t i = 0; i < 6; i++) {
            t[i] = (struct hpx_text){bytes[i], (uint32_t)(nrand48(seed) % 48)};
            for (size_t j = 0; j < 48; j++) {
                bytes[i][j] = (char)(nrand48(seed) >> 7);
            }
        }
        struct hpx_thread_rec thread = {200001, 0x50000001, t[0], t[1], t[2], {NULL, 0}};
        struct hpx_method_rec m = {t[3], t[4], {NULL, 0}, t[5], {0}, 0};
        struct hpx_row row = {trace(300001, 0, 1, &(struct hpx_frame_rec){&m, 3, 0}), 1};
        hpx_ascii_fini(&w);
        hpx_ascii_thread_start(&w, &thread);
        samples(1, &row, 0);
        char *s = (char *)(uintptr_t)written(), *unnumbered = strdup(s);
        m.number = 1 + (uint32_t)round % 700; /* a text that is put together once is the same */
        hpx_ascii_fini(&w);
        hpx_ascii_thread_start(&w, &thread);
        samples(1, &row, 0);
        s = (char *)(uintptr_t)written();
        assert_string_equal(s, unnumbered);
        free(unnumbered);
        int lines = 0;
        for (char *line = s; *line != '\0'; lines++) {
            size_t n = strcspn(line, "\n");
            size_t tab = line[0] == '\t';
            assert_null(text_fault(line + tab, n - tab, false));
            line += n + 1;
        }
        assert_int_equal(lines, 7);
        free((void *)(uintptr_t)row.trace);
    }
}

TESTS(NULL, NULL)
