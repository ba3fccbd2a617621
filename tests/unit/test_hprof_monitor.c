/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hprof_monitor.c: MONITOR DUMP, DEADLOCKS, the tables of blocked time and the lines of waits, byte for byte. */
#include "ascii_fixture.h"
#include "hprof_blocks.h"
#include "monitor_text.h"
#include "records.h"
#include <math.h>
#include <string.h>

#define MS      UINT64_C(1000000)
#define HOSTILE "p.C\nCPU SAMPLES END\n\x1B\"\\" /* as a class, and as a thread */
#define TITLES  "rank   self  accum   count trace monitor\n"
#define EMPTY_0 "TRACE 300000:\n\t<empty>\n"

static struct hpx_trace_rec *traces[8];

static int begin(void **state)
{
    for (uint32_t i = 0; i < HPX_ARRAY_LEN(traces); i++) {
        traces[i] = trace(HPX_SERIAL_TRACE + i, 0, 0, NULL);
    }
    return setup(state);
}

static int end(void **state)
{
    for (uint32_t i = 0; i < HPX_ARRAY_LEN(traces); i++) {
        free(traces[i]);
    }
    return teardown(state);
}

/* What was written, from the section on; its TRACEs, which are before it, in another test. */
static const char *section(const char *begins)
{
    const char *all = written(), *at = strstr(all, begins);
    return at != NULL ? at : all;
}

/* ---- lines of waits ---- */

TEST(the_class_of_a_wait_forges_no_line, begin, end)
{
    hpx_ascii_wait(&w, &(struct hpx_wait_line){.signature = text(HOSTILE), .ms = 1, .thread = 200001});
    assert_string_equal(written(), "WAIT: MONITOR p.C\\nCPU SAMPLES END\\n\\u001B\"\\, timeout=1, thread 200001\n");
}

/* ---- MONITOR DUMP ---- */

static struct hpx_monitor_thread thread(uint32_t number, enum hpx_thread_status status, unsigned flags, const struct hpx_trace_rec *t)
{
    return (struct hpx_monitor_thread){.serial = HPX_SERIAL_THREAD + number, .status = status, .flags = flags, .trace = t};
}

/* ---- DEADLOCKS ---- */

static struct hpx_deadlock_thread dead(uint32_t number, const char *name, const char *waits_for, bool monitor, bool first)
{
    return (struct hpx_deadlock_thread){.serial = HPX_SERIAL_THREAD + number,
                                        .trace = number < HPX_ARRAY_LEN(traces) ? traces[number] : NULL,
                                        .name = text(name),
                                        .waits_for = text(waits_for),
                                        .monitor = monitor,
                                        .first = first};
}

/* ---- tables ---- */

static struct hpx_block_row row(uint32_t number, const char *name, uint64_t count, uint64_t ns)
{
    return (struct hpx_block_row){.trace = traces[number], .class_name = text(name), .count = count, .ns = ns};
}

static struct hpx_block_table table_of(uint32_t n, struct hpx_block_row *rows)
{
    struct hpx_block_table t = {.nrows = n, .rows = rows};
    for (uint32_t i = 0; i < n; i++) {
        t.count += rows[i].count;
        t.ns += rows[i].ns;
    }
    return t;
}

TEST(a_table_without_rows_is_absent, begin, end)
{
    struct hpx_block_table t = {0};
    for (int part = 0; part < HPX_BLOCK_PARTS; part++) {
        hpx_ascii_block_table(&w, (enum hpx_block_part)part, &t, 0, NOW);
        hpx_ascii_block_table(&w, (enum hpx_block_part)part, &t, (double)NAN, NOW);
    }
    assert_string_equal(written(), "");
}

TEST(equal_rows_are_in_the_order_of_count_traces_and_class, begin, end)
{
    struct hpx_block_row rows[] = {row(1, "b", 1, MS), row(2, "a", 1, MS), row(1, "ab", 1, MS),
                                   row(1, "a", 1, MS), row(1, "a", 1, MS), row(3, "c", 2, MS)};
    rows[0].owner = rows[1].owner = rows[2].owner = rows[3].owner = traces[4];
    rows[4].owner = traces[3]; /* the last: not known */
    struct hpx_block_table t = table_of(6, rows);
    hpx_ascii_block_table(&w, HPX_BLOCK_OWNERS, &t, 0, NOW);
    assert_string_equal(written(), "TRACE 300003:\n\t<empty>\n" EMPTY_0 "TRACE 300001:\n\t<empty>\nTRACE 300004:\n\t<empty>\n"
                                   "TRACE 300002:\n\t<empty>\n"
                                   "MONITOR OWNERS BEGIN (total = 6 ms) " NOW_TEXT "\n"
                                   "rank   self  accum   count trace owner monitor\n"
                                   "   1 16.67% 16.67%       2 300003 300000 c (Java)\n"
                                   "   2 16.67% 33.33%       1 300001 300003 a (Java)\n"
                                   "   3 16.67% 50.00%       1 300001 300004 a (Java)\n"
                                   "   4 16.67% 66.67%       1 300001 300004 ab (Java)\n"
                                   "   5 16.67% 83.33%       1 300001 300004 b (Java)\n"
                                   "   6 16.67% 100.00%       1 300002 300004 a (Java)\n"
                                   "MONITOR OWNERS END\n");
}

TEST(rows_of_no_time_are_below_no_cutoff, begin, end)
{
    struct hpx_block_row rows[] = {row(1, "p.C", 1, 0), row(2, "p.D", 2, 0)};
    struct hpx_block_table t = table_of(2, rows);
    hpx_ascii_block_table(&w, HPX_BLOCK_ENTER, &t, 0.5, NOW);
    assert_string_equal(section("MONITOR TIME BEGIN"),
                        "MONITOR TIME BEGIN (total = 0 ms) " NOW_TEXT "\n" TITLES "   1  0.00%  0.00%       2 300002 p.D (Java)\n"
                        "   2  0.00%  0.00%       1 300001 p.C (Java)\n"
                        "MONITOR TIME END\n");
}

TEST(figures_are_whole_and_names_harmless, begin, end)
{
    struct hpx_block_row rows[] = {row(1, HOSTILE, UINT64_C(1) << 40, UINT64_C(10000000000000000000)), row(2, "", 1, 1)};
    struct hpx_block_table t = table_of(2, rows);
    hpx_ascii_block_table(&w, HPX_BLOCK_WAIT, &t, 0, NOW);
    assert_string_equal(section("WAIT TIME BEGIN"), "WAIT TIME BEGIN (total = 10000000000000 ms) " NOW_TEXT "\n" TITLES
                                                    "   1 100.00% 100.00% 1099511627776 300001 p.C\\nCPU SAMPLES END\\n\\u001B\"\\ (Java)\n"
                                                    "   2  0.00% 100.00%       1 300002 <unknown class> (Java)\n"
                                                    "WAIT TIME END\n");
}

/* ---- an output that refuses ---- */

static unsigned records, refused; /* a bit each: whether the record with this number, from 0, is refused */
static size_t taken;

static bool refuse(void *ctx)
{
    (void)ctx;
    (void)hpx_out_flush(&out);
    if (records >= 32 || (refused >> records++ & 1) != 0) {
        sink.len = taken;
        return false;
    }
    taken = sink.len;
    return true;
}

/* Records are refused as the bits say, from now on. */
static void refusing(unsigned bits)
{
    (void)written();
    out.record = refuse;
    taken = records = 0;
    refused = bits;
}

static const char *taken_text(void)
{
    (void)hpx_out_record(&out);
    return written();
}

TEST(a_wait_names_only_a_thread_that_began, begin, end)
{
    const struct hpx_wait_line line = {.signature = text("LA;"), .thread = 200003};
    refusing(1); /* of the thread */
    hpx_ascii_wait(&w, &line);
    hpx_ascii_wait(&w, &line);
    assert_string_equal(taken_text(), "WAIT: MONITOR LA;, timeout=0, <unknown thread>\n"
                                      "THREAD START (obj=50000003, id = 200003, name=\"<unknown thread>\", group=\"\")\n"
                                      "WAIT: MONITOR LA;, timeout=0, thread 200003\n");
}

TEST(a_thread_keeps_its_line_without_its_trace, begin, end)
{
    struct hpx_monitor_thread threads[] = {thread(1, HPX_STATUS_RUNNABLE, 0, traces[1]), thread(2, HPX_STATUS_RUNNABLE, 0, traces[2])};
    uint32_t serials[] = {200001, 200002, 200004};
    struct hpx_monitor m = {.signature = text("LA;"), .owned = true, .owner = 200001, .entry_count = 1, .enter = {0, 3}};
    struct hpx_deadlock_thread deadlocks[] = {dead(1, "a", "LA;", true, true), dead(2, "b", "LB;", true, false)};
    deadlocks[0].trace = deadlocks[1].trace = NULL;
    struct hpx_monitor_image i = {.threads = threads,
                                  .monitors = &m,
                                  .serials = serials,
                                  .deadlocks = deadlocks,
                                  .nthreads = 2,
                                  .nmonitors = 1,
                                  .nserials = 3,
                                  .ndeadlocks = 2};
    refusing(1u << 2 | 1u << 4); /* after the record before: START of 1 and 2, START of 2 again, TRACE of 1, the empty TRACE, ... */
    hpx_ascii_monitor_dump(&w, &i);
    hpx_ascii_report(&w, "hprofx: a: b\n");
    assert_string_equal(taken_text(), "THREAD START (obj=50000001, id = 200001, name=\"<unknown thread>\", group=\"\")\n"
                                      "THREAD START (obj=50000002, id = 200002, name=\"<unknown thread>\", group=\"\")\n"
                                      "TRACE 300000:\n\t<empty>\n"
                                      "TRACE 300002:\n\t<empty>\n"
                                      "MONITOR DUMP BEGIN\n"
                                      "    THREAD 200001, trace 300000, status: R\n"
                                      "    THREAD 200002, trace 300002, status: R\n"
                                      "    MONITOR LA;\n"
                                      "\towner: thread 200001, entry count: 1\n"
                                      "\twaiting to enter: thread 200001, thread 200002, <unknown thread>\n"
                                      "\twaiting to be notified:\n"
                                      "MONITOR DUMP END\n"
                                      "DEADLOCKS BEGIN (1)\n"
                                      "    DEADLOCK 1 (2 threads)\n"
                                      "    THREAD 200001 \"a\", trace 300000, waiting for MONITOR LA; owned by thread 200002\n"
                                      "    THREAD 200002 \"b\", trace 300000, waiting for MONITOR LB; owned by thread 200001\n"
                                      "DEADLOCKS END\n"
                                      "hprofx: a: b\n");
}

TEST(sections_are_records_of_their_own, begin, end)
{
    struct hpx_deadlock_thread deadlocks[] = {dead(0, "a", "LA;", true, true), dead(0, "b", "LB;", true, false)};
    struct hpx_monitor_image i = {.deadlocks = deadlocks, .ndeadlocks = 2};
    struct hpx_block_row rows[] = {row(1, "p.C", 1, MS)};
    struct hpx_block_table t = table_of(1, rows);
    refusing(1u << 3); /* after the record before, and two TRACEs (the second is the same): MONITOR DUMP */
    (void)hpx_ascii_trace(&w, traces[1]);
    hpx_ascii_monitor_dump(&w, &i);
    hpx_ascii_block_table(&w, HPX_BLOCK_ENTER, &t, 0, NOW);
    hpx_ascii_report(&w, "hprofx: a: b\n");
    const char *got = taken_text();
    assert_null(strstr(got, "MONITOR DUMP"));
    assert_non_null(strstr(got, "DEADLOCKS BEGIN (1)\n"));
    assert_non_null(strstr(got, "DEADLOCKS END\nMONITOR TIME BEGIN (total = 1 ms) "));
    assert_non_null(strstr(got, "MONITOR TIME END\nhprofx: a: b\n"));
}

TEST(a_row_without_its_traces_is_left_out, begin, end)
{
    struct hpx_block_row rows[] = {row(1, "a", 1, 4 * MS), row(2, "b", 1, 3 * MS), row(3, "c", 1, 3 * MS)};
    rows[0].owner = traces[4];
    rows[1].owner = traces[5];
    rows[2].owner = traces[4];
    struct hpx_block_table t = table_of(3, rows);
    refusing(1u << 1 | 1u << 3); /* after the record before: 300001; 300002, 300005; 300003, 300004 */
    hpx_ascii_block_table(&w, HPX_BLOCK_OWNERS, &t, 0, NOW);
    assert_string_equal(taken_text(), "TRACE 300002:\n\t<empty>\nTRACE 300003:\n\t<empty>\nTRACE 300004:\n\t<empty>\n"
                                      "MONITOR OWNERS BEGIN (total = 10 ms) " NOW_TEXT "\n"
                                      "rank   self  accum   count trace owner monitor\n"
                                      "   1 30.00% 30.00%       1 300003 300004 c (Java)\n"
                                      "MONITOR OWNERS END\n");
}

static unsigned parts, last_parts;

static bool part(void *ctx)
{
    (void)ctx;
    parts++;
    return true;
}

/* So that a dump larger than the queue of a socket goes out. */
TEST(lines_of_large_sections_are_parts, begin, end)
{
    enum { MANY = 3000 };
    static struct hpx_monitor monitors[MANY];
    static struct hpx_block_row rows[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        monitors[i] = (struct hpx_monitor){.signature = text("Lp/C;")};
        rows[i] = row(1, "p.C", 1, i);
    }
    struct hpx_monitor_image image = {.monitors = monitors, .nmonitors = MANY};
    struct hpx_block_table t = table_of(MANY, rows);
    refusing(0);
    out.part = part;
    out.piece = 1000;
    out.piece_room = 10000;
    parts = 0;
    hpx_ascii_monitor_dump(&w, &image);
    assert_in_range(parts, MANY * 60 / 1100, MANY);
    last_parts = parts;
    hpx_ascii_block_table(&w, HPX_BLOCK_ENTER, &t, 0, NOW);
    assert_in_range(parts - last_parts, MANY * 40 / 1100, MANY);
}

/* ---- the snapshot ---- */

TEST(a_snapshot_frees_the_rows_of_every_table)
{
    struct hpx_block_snapshot *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    for (size_t i = 1; i < HPX_ARRAY_LEN(s->of); i++) { /* the first has none */
        s->of[i].rows = malloc(sizeof(*s->of[i].rows));
    }
    hpx_block_snapshot_destroy(s); /* valgrind and the sanitizers find what is left */
    hpx_block_snapshot_destroy(NULL);
}

TESTS(NULL, NULL)
