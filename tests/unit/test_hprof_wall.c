/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hprof_wall.c: WALL CLOCK as text and as records, byte for byte. */
#include "binary_fixture.h"
#include "hprof_wall.h"
#include <math.h>

#define MS       UINT64_C(1000000)
#define NOW      1795250000 /* Sat Nov 21 08:33:20 2026 UTC */
#define NOW_TEXT "Sat Nov 21 08:33:20 2026"
#define ROW(trace, state, ns)                                                                                                              \
    {                                                                                                                                      \
        trace, state, ns,                                                                                                                  \
        {                                                                                                                                  \
            "", 0                                                                                                                          \
        }                                                                                                                                  \
    }
#define CLASSED(trace, state, ns, class_name)                                                                                              \
    {                                                                                                                                      \
        trace, state, ns,                                                                                                                  \
        {                                                                                                                                  \
            class_name, sizeof(class_name) - 1                                                                                             \
        }                                                                                                                                  \
    }
#define TITLES "rank   self  accum        ms trace state    method\n"

static const struct hpx_method_rec park = {{"p.Unsafe", 8}, {"park", 4}, {"()V", 3}, {"", 0}, {100007}, 1};
static const struct hpx_frame_rec frames[] = {{&park, -1, 1}};
static struct hpx_trace_rec *first, *second, *third;

static int make(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    first = trace(300001, 0, 1, frames);
    second = trace(300002, 0, 0, NULL);
    third = trace(300003, 0, 0, NULL);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    free(first);
    free(second);
    free(third);
    return 0;
}

static struct hpx_wall_snapshot rows_of(uint32_t n, struct hpx_wall_row *rows)
{
    struct hpx_wall_snapshot s = {.nrows = n, .rows = rows};
    for (uint32_t i = 0; i < n; i++) {
        s.ns += rows[i].ns;
    }
    return s;
}

static const char *text_of(struct hpx_wall_snapshot s, double cutoff)
{
    struct hpx_ascii ascii;
    begin(8);
    hpx_ascii_init(&ascii, &out);
    hpx_ascii_wall_clock(&ascii, &s, cutoff, NOW);
    hpx_ascii_fini(&ascii);
    assert_int_equal(hpx_out_flush(&out), 0);
    static char text[1024];
    assert_true(sink.len < sizeof(text));
    memcpy(text, sink.bytes, sink.len);
    text[sink.len] = 0;
    end();
    return text;
}

TEST(a_row_names_what_the_thread_waits_for)
{
    struct hpx_wall_row rows[] = {ROW(first, HPX_WALL_PARKED, 1 * MS), CLASSED(first, HPX_WALL_PARKED, 2 * MS, "p.Lock$Sync"),
                                  CLASSED(first, HPX_WALL_BLOCKED, 2 * MS, "p.B"), CLASSED(first, HPX_WALL_BLOCKED, 2 * MS, "p.A")};
    assert_string_equal(text_of(rows_of(4, rows), 0),
                        "TRACE 300001:\n\tp.Unsafe.park(<Unknown Source>:Unknown line)\n"
                        "WALL CLOCK (ms) BEGIN (total = 7) " NOW_TEXT "\n" TITLES
                        "   1 28.57% 28.57%         2 300001 blocked p.A; p.Unsafe.park\n"
                        "   2 28.57% 57.14%         2 300001 blocked p.B; p.Unsafe.park\n"
                        "   3 28.57% 85.71%         2 300001 parked p.Lock$Sync; p.Unsafe.park\n"
                        "   4 14.29% 100.00%         1 300001 parked   p.Unsafe.park\n"
                        "WALL CLOCK (ms) END\n"
                        "hprofx: total in ns: 7000000\nhprofx: rows in ns: 2000000 2000000 2000000 1000000\n");
}

TEST(a_class_has_a_table_of_its_own)
{
    struct hpx_wall_row rows[] = {CLASSED(second, HPX_WALL_BLOCKED, 3 * MS, "p.B"), CLASSED(second, HPX_WALL_BLOCKED, 1 * MS, "p.A"),
                                  ROW(second, HPX_WALL_BLOCKED, 2 * MS)};
    struct hpx_wall_snapshot s = rows_of(3, rows);
    begin(4);
    hpx_binary_wall_clock(&w, &s, 0);
    assert_written("01 00000000 0000003a a0000001 \"hprofx: WALL CLOCK blocked, total 2 ms, 1 ms per count\""
                   "05 00000000 0000000c 000493e2 00000000 00000000"
                   "0d 00000000 00000010 00000002 00000001 00000002 000493e2"
                   "01 00000000 0000003e a0000002 \"hprofx: WALL CLOCK blocked p.A, total 1 ms, 1 ms per count\""
                   "0d 00000000 00000010 00000001 00000001 00000001 000493e2"
                   "01 00000000 0000003e a0000003 \"hprofx: WALL CLOCK blocked p.B, total 3 ms, 1 ms per count\""
                   "0d 00000000 00000010 00000003 00000001 00000003 000493e2");
    end();
}

TEST(a_large_total_has_a_larger_unit)
{
    struct hpx_wall_row rows[] = {ROW(second, HPX_WALL_PARKED, UINT64_C(5000000000) * MS)};
    struct hpx_wall_snapshot s = rows_of(1, rows);
    begin(4);
    hpx_binary_wall_clock(&w, &s, 0);
    assert_written("01 00000000 00000043 a0000001 \"hprofx: WALL CLOCK parked, total 5000000000 ms, 10 ms per count\""
                   "05 00000000 0000000c 000493e2 00000000 00000000"
                   "0d 00000000 00000010 1dcd6500 00000001 1dcd6500 000493e2");
    end();
}

TEST(rounded_rows_are_not_more_than_their_total)
{
    struct hpx_wall_row rows[] = {ROW(second, HPX_WALL_PARKED, 3 * MS / 2), ROW(third, HPX_WALL_PARKED, 3 * MS / 2)};
    struct hpx_wall_snapshot s = rows_of(2, rows);
    begin(4);
    hpx_binary_wall_clock(&w, &s, 0);
    assert_written("01 00000000 00000039 a0000001 \"hprofx: WALL CLOCK parked, total 3 ms, 1 ms per count\""
                   "05 00000000 0000000c 000493e2 00000000 00000000"
                   "05 00000000 0000000c 000493e3 00000000 00000000"
                   "0d 00000000 00000018 00000004 00000002 00000002 000493e2 00000002 000493e3");
    end();
}

TEST(rows_whose_long_names_are_left_out_are_one)
{
    static char names[2][1001];
    struct hpx_wall_row rows[] = {ROW(second, HPX_WALL_PARKED, 3 * MS / 2), ROW(second, HPX_WALL_PARKED, 3 * MS / 2),
                                  ROW(third, HPX_WALL_PARKED, 4 * MS), ROW(second, HPX_WALL_PARKED, 2 * MS)};
    memset(names[0], 'a', sizeof(names[0]));
    memset(names[1], 'b', sizeof(names[1]));
    rows[0].class_name = (struct hpx_text){names[0], sizeof(names[0])};
    rows[1].class_name = (struct hpx_text){names[1], sizeof(names[1])};
    struct hpx_wall_snapshot s = rows_of(4, rows);
    begin(4);
    hpx_binary_wall_clock(&w, &s, 0);
    assert_written("01 00000000 00000039 a0000001 \"hprofx: WALL CLOCK parked, total 9 ms, 1 ms per count\""
                   "05 00000000 0000000c 000493e2 00000000 00000000"
                   "05 00000000 0000000c 000493e3 00000000 00000000"
                   "0d 00000000 00000018 00000009 00000002 00000005 000493e2 00000004 000493e3");
    end();
}

static unsigned records;

static bool refuse_first(void *ctx)
{
    (void)ctx;
    sink.len = records == 0 ? 0 : sink.len;
    return records++ > 0;
}

TEST(a_table_without_its_head_is_not_written)
{
    struct hpx_wall_row rows[] = {ROW(second, HPX_WALL_RUNNING, 1 * MS), ROW(second, HPX_WALL_IO, 1 * MS)};
    struct hpx_wall_snapshot s = rows_of(2, rows);
    begin(4);
    records = 0;
    out.record = refuse_first;
    hpx_binary_wall_clock(&w, &s, 0);
    out.record = NULL;
    assert_written("01 00000000 00000035 a0000002 \"hprofx: WALL CLOCK io, total 1 ms, 1 ms per count\""
                   "05 00000000 0000000c 000493e2 00000000 00000000"
                   "0d 00000000 00000010 00000001 00000001 00000001 000493e2");
    end();
}

TEST(time_without_an_id_for_its_name_is_counted)
{
    struct hpx_wall_row rows[] = {ROW(second, HPX_WALL_RUNNING, 3 * MS), ROW(second, HPX_WALL_IO, MS / 2 - 1),
                                  ROW(second, HPX_WALL_WAITING, MS / 2 - 1)};
    struct hpx_wall_snapshot s = rows_of(3, rows);
    begin(4);
    w.nstrings = UINT32_MAX - 0xA0000000u;
    hpx_binary_wall_clock(&w, &s, 0);
    assert_int_equal(w.unwritten, 4);
    end();
}

TESTS(make, drop)
