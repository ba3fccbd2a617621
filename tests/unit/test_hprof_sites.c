/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hprof_sites.c: SITES, ALLOC SITES and HEAP SUMMARY byte for byte. */
#include "binary_fixture.h"
#include "hprof_sites.h"
#include <math.h>

#define NOW      1795250000 /* Sat Nov 21 08:33:20 2026 UTC */
#define NOW_TEXT "Sat Nov 21 08:33:20 2026"
#define TITLES                                                                                                                             \
    "          percent          live          alloc'ed  stack class\n"                                                                     \
    " rank   self  accum     bytes objs     bytes  objs trace name\n"

static struct hpx_ascii a;
static struct hpx_trace_rec *traces[8];

static int setup(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    for (uint32_t i = 0; i < HPX_ARRAY_LEN(traces); i++) {
        traces[i] = trace(HPX_SERIAL_TRACE + i, 0, 0, NULL);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < HPX_ARRAY_LEN(traces); i++) {
        free(traces[i]);
    }
    free(sink.bytes);
    return 0;
}

static struct hpx_site_row site(uint32_t number, const char *name, uint64_t live_bytes, uint64_t live, uint64_t bytes, uint64_t objects)
{
    return (struct hpx_site_row){.trace = traces[number],
                                 .class_name = text(name),
                                 .klass = {100001 + number},
                                 .changed = number % 2 != 0,
                                 .live_bytes = live_bytes,
                                 .live_objects = live,
                                 .bytes = bytes,
                                 .objects = objects};
}

static struct hpx_site_snapshot sites_of(uint32_t n, struct hpx_site_row *rows, bool live, uint16_t flags)
{
    struct hpx_site_snapshot s = {.nrows = n, .rows = rows, .live = live, .flags = flags};
    for (uint32_t i = 0; i < n; i++) {
        s.live_bytes += rows[i].live_bytes;
        s.live_objects += rows[i].live_objects;
        s.bytes += rows[i].bytes;
        s.objects += rows[i].objects;
    }
    return s;
}

/* The section alone, its TRACEs left out. */
static void assert_text(struct hpx_site_snapshot *s, double cutoff, const char *want)
{
    sink.len = 0;
    assert_int_equal(sink_open(&out, &sink), 0);
    hpx_ascii_init(&a, &out);
    hpx_ascii_sites(&a, s, cutoff, NOW);
    assert_int_equal(hpx_out_flush(&out), 0);
    sink.bytes[sink.len] = 0;
    const char *section = strstr((const char *)sink.bytes, "SITES BEGIN");
    assert_string_equal(section != NULL ? section : (const char *)sink.bytes, want);
    hpx_ascii_fini(&a);
    assert_int_equal(hpx_out_close(&out), 0);
}

TEST(equal_rows_are_in_the_order_of_trace_and_name)
{
    struct hpx_site_row rows[] = {site(2, "b", 8, 1, 8, 1), site(1, "bb", 8, 1, 8, 1), site(1, "c", 8, 1, 8, 1), site(1, "b", 8, 1, 8, 1)};
    struct hpx_site_snapshot s = sites_of(4, rows, true, 0);
    assert_text(&s, 0,
                "SITES BEGIN (ordered by live bytes) " NOW_TEXT "\n" TITLES "    1 25.00% 25.00%         8    1         8     1 300001 b\n"
                "    2 25.00% 50.00%         8    1         8     1 300001 bb\n"
                "    3 25.00% 75.00%         8    1         8     1 300001 c\n"
                "    4 25.00% 100.00%         8    1         8     1 300002 b\n"
                "SITES END\n");
}

TEST(allocated_bytes_order_the_rows_when_asked_for)
{
    struct hpx_site_row rows[] = {site(1, "p.C", 75, 1, 75, 1), site(2, "p.D", 25, 1, 125, 3)};
    struct hpx_site_snapshot s = sites_of(2, rows, true, HPX_SITES_BY_ALLOCATED);
    assert_text(&s, 0,
                "SITES BEGIN (ordered by allocated bytes) " NOW_TEXT "\n" TITLES
                "    1 25.00% 25.00%        25    1       125     3 300002 p.D\n"
                "    2 75.00% 100.00%        75    1        75     1 300001 p.C\n"
                "SITES END\n");
}

TEST(only_changed_rows_are_listed_when_asked_for)
{
    struct hpx_site_row rows[] = {site(1, "p.C", 10, 1, 10, 1), site(2, "p.D", 60, 1, 60, 1), site(3, "p.E", 30, 1, 30, 1)};
    struct hpx_site_snapshot s = sites_of(3, rows, true, HPX_SITES_CHANGED);
    assert_text(&s, 0, /* shares are of all rows */
                "SITES BEGIN (ordered by live bytes) " NOW_TEXT "\n" TITLES
                "    1 30.00% 30.00%        30    1        30     1 300003 p.E\n"
                "    2 10.00% 40.00%        10    1        10     1 300001 p.C\n"
                "SITES END\n");
}

TEST(wide_numbers_are_whole_and_names_harmless)
{
    struct hpx_site_row rows[] = {site(1, "p.\x1b[2J\n\xC0\x80", UINT64_C(1) << 62, UINT64_C(123456789012), UINT64_MAX, UINT64_MAX)};
    struct hpx_site_snapshot s = {.nrows = 1, .rows = rows, .live = true, .live_bytes = UINT64_C(1) << 62};
    assert_text(&s, 0,
                "SITES BEGIN (ordered by live bytes) " NOW_TEXT "\n" TITLES
                "    1 100.00% 100.00% 4611686018427387904 123456789012 18446744073709551615 18446744073709551615 300001 "
                "p.\\u001B[2J\\n\\u0000\n"
                "SITES END\n");
}

TEST(a_section_without_rows_has_its_titles)
{
    struct hpx_site_snapshot s = {.live = true};
    assert_text(&s, 0.0001, "SITES BEGIN (ordered by live bytes) " NOW_TEXT "\n" TITLES "SITES END\n");
    s.flags = HPX_SITES_SUMMARY;
    assert_text(&s, 0.0001, ""); /* the text has no such record */
}

/* LOAD CLASS and TRACE of rows 1 and 2, whose names are strings 1 and 2. */
#define LOADED                                                                                                                             \
    "01 00000000 00000007 A0000001 \"p.C\" 02 00000000 00000010 000186A2 10000002 000493E0 A0000001"                                       \
    "05 00000000 0000000C 000493E1 00000000 00000000"                                                                                      \
    "01 00000000 00000009 A0000002 \"int[]\" 02 00000000 00000010 000186A3 10000003 000493E0 A0000002"                                     \
    "05 00000000 0000000C 000493E2 00000000 00000000"

TEST(alloc_sites_have_a_float_and_the_largest_figures_that_fit)
{
    struct hpx_site_row rows[] = {site(2, "int[]", 16, 2, 64, 4),
                                  site(1, "p.C", UINT64_C(0x100000000), 3, UINT64_C(0x1FFFFFFFF), UINT64_C(0x100000000))};
    struct hpx_site_snapshot s = {.nrows = 2,
                                  .rows = rows,
                                  .live = true,
                                  .live_bytes = UINT64_C(0x100000010),
                                  .live_objects = 5,
                                  .bytes = UINT64_C(0x123456789A),
                                  .objects = UINT64_C(0x100000004)};
    rows[0].array = 10;
    begin(4);
    hpx_binary_sites(&w, &s, 0);
    assert_written(LOADED "06 00000000 00000054 0000 00000000 FFFFFFFF 00000005 000000123456789A 0000000100000004 00000002"
                          "00 000186A2 000493E1 FFFFFFFF 00000003 FFFFFFFF FFFFFFFF"
                          "0A 000186A3 000493E2 00000010 00000002 00000040 00000004");
    s.flags = HPX_SITES_CHANGED | HPX_SITES_BY_ALLOCATED;
    hpx_binary_sites(&w, &s, 0.0001); /* of the two the first alone has changed; it is defined already */
    assert_written("06 00000000 0000003B 0003 38D1B717 FFFFFFFF 00000005 000000123456789A 0000000100000004 00000001"
                   "00 000186A2 000493E1 FFFFFFFF 00000003 FFFFFFFF FFFFFFFF");
    s.nrows = 0;
    s.flags = 0;
    hpx_binary_sites(&w, &s, 0.5);
    assert_written("06 00000000 00000022 0000 3F000000 FFFFFFFF 00000005 000000123456789A 0000000100000004 00000000");
    end();
}

TEST(flags_have_the_order_of_the_rows)
{
    struct hpx_site_snapshot s = {.live = true};
    begin(4);
    hpx_binary_sites(&w, &s, 0);
    assert_written("06 00000000 00000022 0000 00000000 00000000 00000000 0000000000000000 0000000000000000 00000000");
    s.live = false; /* by allocated bytes */
    hpx_binary_sites(&w, &s, 0);
    assert_written("06 00000000 00000022 0002 00000000 00000000 00000000 0000000000000000 0000000000000000 00000000");
    s = (struct hpx_site_snapshot){.live = true, .counts = true};
    hpx_binary_sites(&w, &s, 0);
    assert_written("06 00000000 00000022 0002 00000000 00000000 00000000 0000000000000000 0000000000000000 00000000");
    end();
}

TEST(a_heap_summary_is_33_bytes)
{
    struct hpx_site_row rows[] = {site(1, "p.C", 1, 2, 3, 4)};
    struct hpx_site_snapshot s = sites_of(1, rows, true, HPX_SITES_SUMMARY);
    begin(8);
    hpx_binary_sites(&w, &s, 0);
    assert_written("07 00000000 00000018 00000001 00000002 0000000000000003 0000000000000004");
    s.live_bytes = s.live_objects = UINT64_C(0x100000000);
    hpx_binary_sites(&w, &s, 0);
    assert_written("07 00000000 00000018 FFFFFFFF FFFFFFFF 0000000000000003 0000000000000004");
    end();
}

/* ---- an output that refuses records ---- */

static size_t taken;
static unsigned asked, refused;
static uint64_t left_out;

static bool refuse_one(void *ctx)
{
    (void)ctx;
    bool no = asked++ == refused;
    sink.len = no ? taken : sink.len;
    taken = sink.len;
    return !no;
}

static void leave_out(void *ctx, uint64_t bytes)
{
    (void)ctx;
    left_out += bytes;
}

static void begin_refusing(unsigned which, size_t most)
{
    begin(4);
    out.record = refuse_one;
    out.leave_out = leave_out;
    out.most = most;
    asked = 0;
    taken = 0;
    left_out = 0;
    refused = which;
}

TEST(a_row_whose_definition_was_refused_is_left_out_and_tried_again)
{
    struct hpx_site_row rows[] = {site(1, "p.C", 64, 1, 64, 1), site(2, "int[]", 16, 1, 16, 1)}, again[2];
    for (unsigned which = 0; which < 8; which++) { /* string, class and trace of each row, the table; 7: none */
        memcpy(again, rows, sizeof(rows));
        struct hpx_site_snapshot s = sites_of(2, again, true, 0);
        begin_refusing(which, 0);
        hpx_binary_sites(&w, &s, 0);
        assert_int_equal(hpx_out_flush(&out), 0);
        uint32_t shown = which == 6 ? 0 : which == 7 ? 2 : 1;
        if (shown > 0) {
            assert_int_equal(sink.bytes[sink.len - 25 * shown - 1], shown);
            assert_int_equal(sink.bytes[sink.len - 25 + 4], which >= 3 && which < 6 ? 0xA2 : 0xA3); /* the class of the last row */
        }
        assert_int_equal(w.unplaced_sites, 0); /* what an output refuses it counts itself */
        memcpy(again, rows, sizeof(rows));
        s = sites_of(2, again, true, 0);
        hpx_binary_sites(&w, &s, 0);
        assert_int_equal(hpx_out_flush(&out), 0);
        assert_int_equal(sink.bytes[sink.len - 51], 2);
        end();
    }
}

TEST(a_table_has_the_rows_that_its_output_takes)
{
    struct hpx_site_row rows[] = {site(1, "p.C", 64, 1, 64, 1), site(2, "p.D", 32, 1, 32, 1), site(3, "p.E", 16, 1, 16, 1)};
    for (uint32_t fit = 0; fit < 4; fit++) {
        struct hpx_site_snapshot s = sites_of(3, rows, true, 0);
        begin_refusing(1000, 9 + 34 + 25 * fit + (fit < 3 ? 24 : 0));
        hpx_binary_sites(&w, &s, 0);
        assert_int_equal(hpx_out_flush(&out), 0);
        assert_int_equal(sink.bytes[sink.len - 25 * fit - 1], fit);
        assert_int_equal(left_out, 25 * (3 - fit));
        end();
    }
}

TESTS(setup, teardown)
