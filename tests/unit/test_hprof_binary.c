/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hprof_binary.c: the binary format byte for byte, from records made by hand; and its rules, checked by a reader written here from the
 * manual alone, over random sequences. */
#include "binary_check.h"
#include "binary_fixture.h"
#include "failing_memory.h"
#include "hprof_ascii.h"
#include "hprof_wall.h"
#include <inttypes.h>
#include <math.h>

static const struct hpx_method_rec hot_a = {{"p.Hot", 5}, {"a", 1}, {"()V", 3}, {"Hot.java", 8}, {100007}, 1};
static const struct hpx_method_rec hot_b = {{"p.Hot", 5}, {"b", 1}, {"()V", 3}, {"Hot.java", 8}, {100007}, 2};

static void samples(uint32_t n, struct hpx_row *rows, double cutoff)
{
    struct hpx_snapshot s = samples_of(n, rows);
    hpx_binary_cpu_samples(&w, &s, cutoff);
}

static void drop(uint32_t n, struct hpx_row *rows)
{
    for (uint32_t i = 0; i < n; i++) {
        free((void *)(uintptr_t)rows[i].trace);
    }
}

TEST(the_file_begins_with_the_time_that_is_zero)
{
    begin(8);
    /* 1795250000.1239999 s: the header has 123 ms, so 999900 us of the record are past it */
    hpx_binary_header(&w, (struct timespec){1795250000, 123999900}, 5000000000, HPX_SETTING_CPU, 4);
    assert_written("\"JAVA PROFILE 1.0.2\" 00 00000008 000001A1 FD3D10FB"
                   "0E 000003E7 00000006 00000006 0004"
                   "05 000003E7 0000000C 000493E0 00000000 00000000");
    end();
    begin(4);
    hpx_binary_header(&w, (struct timespec){1795250000, 123000000}, 5000000000, HPX_SETTING_ALLOC | HPX_SETTING_CPU, 70000);
    assert_written("\"JAVA PROFILE 1.0.2\" 00 00000004 000001A1 FD3D10FB"
                   "0E 00000000 00000006 00000007 FFFF"
                   "05 00000000 0000000C 000493E0 00000000 00000000");
    end();
}

TEST(time_does_not_go_back_and_wraps)
{
    struct hpx_thread_rec t = {.serial = 200001, .object = 0x50000001};
    begin(4);
    w.zero_ns = 1000;
    hpx_binary_at(&w, 7001999);
    hpx_binary_thread_start(&w, &t);
    hpx_binary_at(&w, 6000000);
    hpx_binary_thread_end(&w, &t);
    assert_written("01 00001B58 00000004 A0000001"
                   "0A 00001B58 00000018 00030D41 50000001 000493E0 A0000001 A0000001 00000000"
                   "0B 00001B58 00000004 00030D41");
    hpx_binary_at(&w, 1000 + (UINT64_C(0x100000000) + 5) * 1000);
    struct hpx_class_rec c = {.serial = {100001}};
    hpx_binary_class_load(&w, &c);
    assert_written("02 00000005 00000010 000186A1 10000001 000493E0 A0000001");
    end();
}

TEST(a_class_that_a_dump_may_name_is_unloaded_behind_it)
{
    struct hpx_class_rec c = {.serial = {100007}, .name = text("p.Hot")}, gone = {.serial = {100007}, .in_traces = true};
    struct hpx_row row = {trace(300001, 0, 1, &(struct hpx_frame_rec){&hot_a, 5, 1}), 1};
    begin(4);
    hpx_binary_class_load(&w, &c);
    hpx_binary_class_unload(&w, &gone);
    (void)hpx_out_flush(&out);
    sink.len = 0;
    samples(1, &row, 0);
    hpx_binary_dump_end(&w, "hprofx: a: 1\n");
    assert_written("01 00000000 00000005 A0000002 \"a\""
                   "01 00000000 00000007 A0000003 \"()V\""
                   "01 00000000 0000000C A0000004 \"Hot.java\""
                   "04 00000000 00000018 70000001 A0000002 A0000003 A0000004 000186A7 00000005"
                   "05 00000000 00000010 000493E1 00000000 00000001 70000001"
                   "0D 00000000 00000010 00000001 00000001 00000001 000493E1"
                   "01 00000000 00000011 A0000005 \"hprofx: a: 1\" 0A"
                   "03 00000000 00000004 000186A7");
    hpx_binary_class_unload(&w, &gone); /* no dump comes */
    hpx_binary_release(&w);
    assert_written("03 00000000 00000004 000186A7");
    drop(1, &row);
    end();
}

TEST(figures_that_do_not_fit_are_the_largest_that_do)
{
    struct hpx_row rows[] = {{trace(300000, 0, 0, NULL), 5}, {trace(300000, 0, 0, NULL), UINT64_C(0x100000005)}};
    begin(4);
    samples(2, rows, 0);
    assert_written("0D 00000000 00000018 FFFFFFFF 00000002 FFFFFFFF 000493E0 00000005 000493E0");
    drop(2, rows);
    end();
    assert_int_equal(hpx_binary_fit(10, 8, 8), 10);
    assert_int_equal(hpx_binary_fit(UINT32_MAX, 8, 8), 536870910);
    assert_int_equal(hpx_binary_fit(536870911, 8, 8), 536870910); /* 8 + 8 n <= 2^32 - 1 */
    assert_int_equal(hpx_binary_fit(UINT32_MAX, 32, 25), 171798690);
}

TEST(strings_end_where_their_numbers_do)
{
    struct hpx_thread_rec t = {200001, 0x50000001, text("one"), text("two"), text(""), {NULL, 0}};
    begin(4);
    w.nstrings = UINT32_MAX - 0xA0000000u - 1;
    hpx_binary_thread_start(&w, &t);
    assert_written("01 00000000 00000007 FFFFFFFF \"one\""
                   "0A 00000000 00000018 00030D41 50000001 000493E0 FFFFFFFF 00000000 00000000");
    assert_false(hpx_binary_note(&w, text("more")));
    end();
}

/* Without memory for what it must remember the file is sound all the same, and what is missing is said. */
TEST(without_memory_rows_stand_for_the_empty_trace)
{
    struct hpx_frame_rec frame = {&hot_a, 5, 1}, far = {&hot_b, 5, 9000};
    struct hpx_row rows[] = {{trace(300001, 0, 1, &frame), 2}, {trace(300002 + 8192, 200000, 1, &far), 1}};
    struct hpx_thread_rec t = {.serial = 200001, .object = 0x50000001};
    struct bin_figures f;
    for (int late = 0; late < 2; late++) {
        begin(8);
        hpx_binary_header(&w, (struct timespec){1, 0}, 0, HPX_SETTING_CPU, 4);
        if (late) {
            samples(1, rows, 0);
        }
        memory_refuse();
        hpx_binary_thread_start(&w, &t);
        hpx_binary_class_load(&w, &(struct hpx_class_rec){.serial = {100001}, .name = text("C")});
        samples(2, rows, 0);
        assert_int_equal(w.unplaced, late ? 1 : 3);
        hpx_binary_thread_end(&w, &t);
        hpx_binary_dump_end(&w, "");
        assert_int_equal(w.unplaced, 0);
        memory_allow();
        assert_int_equal(hpx_out_flush(&out), 0);
        assert_null(bin_check(sink.bytes, sink.len, &f));
        assert_int_equal(f.rows, late ? 3 : 2);
        samples(2, rows, 0);
        assert_int_equal(hpx_out_flush(&out), 0);
        assert_null(bin_check(sink.bytes, sink.len, &f));
        assert_int_equal(f.traces, 3);
        end();
    }
    drop(2, rows);
}

/* Readers need not keep long names, so these are left out. */
TEST(waits_for_classes_of_long_names_are_one_table_or_counted)
{
    static char long_names[2][2000];
    struct hpx_frame_rec frame = {&hot_a, 5, 1};
    struct hpx_trace_rec *t = trace(300001, 0, 1, &frame);
    struct hpx_wall_row rows[] = {{t, HPX_WALL_BLOCKED, 3000000, {long_names[0], 2000}},
                                  {t, HPX_WALL_BLOCKED, 4000000, {long_names[1], 2000}}};
    struct hpx_wall_snapshot s = {7000000, 2, rows};
    struct bin_figures f;
    memset(long_names[0], 'a', 2000);
    memset(long_names[1], 'b', 2000);
    begin(8);
    hpx_binary_header(&w, (struct timespec){1, 0}, 0, HPX_SETTING_CPU, 4);
    hpx_binary_wall_clock(&w, &s, 0);
    assert_int_equal(hpx_out_flush(&out), 0);
    assert_null(bin_check(sink.bytes, sink.len, &f));
    assert_int_equal(f.rows, 1);
    assert_int_equal(w.unwritten, 0);
    w.nstrings = UINT32_MAX - 0xA0000000u; /* none is left for the head of the table */
    hpx_binary_wall_clock(&w, &s, 0);
    assert_int_equal(w.unwritten, 7);
    end();
    free(t);
}

/* ---- the same snapshot in both formats ---- */

#define METHODS 40u
#define TRACES  300u

struct pair {
    uint64_t count;
    uint32_t serial;
};

static struct hpx_method_rec methods[METHODS];
static char method_names[METHODS][3][24];

static void make_methods(void)
{
    for (uint32_t i = 0; i < METHODS; i++) {
        (void)snprintf(method_names[i][0], 24, "p.C%u", i / 5);
        (void)snprintf(method_names[i][1], 24, "m%u", i);
        (void)snprintf(method_names[i][2], 24, "C%u.java", i / 5);
        methods[i] = (struct hpx_method_rec){text(method_names[i][0]), text(method_names[i][1]), text("()V"),
                                             text(method_names[i][2]), {100001 + i / 5},         i % 7 ? 10 + i : 0};
    }
}

static struct hpx_trace_rec *random_trace(uint32_t serial, uint32_t thread, unsigned short seed[3])
{
    struct hpx_frame_rec frames[8];
    uint32_t n = (uint32_t)nrand48(seed) % 8 + 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m = (uint32_t)nrand48(seed) % METHODS, line = (uint32_t)nrand48(seed) % 5;
        frames[i] = (struct hpx_frame_rec){&methods[m], line ? (int32_t)line : -1, 1 + m * 5 + line};
    }
    return trace(serial, thread, n, frames);
}

/* A frame whose class could not be marked is not in the file, and must not be taken for one that is. */
TEST(a_frame_without_its_class_is_written_when_there_is_memory)
{
    static const struct hpx_method_rec far = {{"p.Far", 5}, {"a", 1}, {"()V", 3}, {"", 0}, {HPX_SERIAL_CLASS + 9000}, 5};
    struct hpx_frame_rec near = {&hot_a, 5, 1}, frame = {&far, 5, 2};
    struct hpx_row first = {trace(300001, 0, 1, &near), 2}, row = {trace(300002, 0, 1, &frame), 1};
    struct bin_figures f;
    begin(8);
    hpx_binary_header(&w, (struct timespec){1, 0}, 0, HPX_SETTING_CPU, 4);
    samples(1, &first, 0);
    memory_refuse();
    samples(1, &row, 0);
    assert_int_equal(w.unplaced, 1);
    w.unplaced = 0;
    memory_allow();
    samples(1, &row, 0);
    assert_int_equal(hpx_out_flush(&out), 0);
    assert_null(bin_check(sink.bytes, sink.len, &f));
    assert_int_equal(f.frames, 2);
    assert_int_equal(f.traces, 3);
    drop(1, &first);
    drop(1, &row);
    end();
}

/* What is looked up once a method is what is looked up for each frame. */
TEST(a_file_is_the_same_without_numbers_of_methods)
{
    static struct hpx_row rows[TRACES], copy[TRACES];
    unsigned short seed[3] = {1, 2, 3};
    uint8_t *first = NULL;
    size_t length = 0;
    make_methods();
    for (uint32_t i = 0; i < TRACES; i++) {
        rows[i] = (struct hpx_row){random_trace(300001 + i, 0, seed), 1 + (uint64_t)nrand48(seed) % 60};
    }
    for (unsigned numbered = 0; numbered < 2; numbered++) {
        for (uint32_t i = 0; i < METHODS; i++) {
            methods[i].number = numbered ? 1 + i : 0;
        }
        begin(8);
        memcpy(copy, rows, sizeof(rows));
        samples(TRACES, copy, 0);
        assert_int_equal(hpx_out_flush(&out), 0);
        if (numbered == 0) {
            first = malloc(length = sink.len);
            assert_non_null(first);
            memcpy(first, sink.bytes, length);
        }
        assert_int_equal(sink.len, length);
        assert_memory_equal(sink.bytes, first, length);
        end();
    }
    free(first);
    drop(TRACES, rows);
}

/* ---- random sequences ---- */

static void random_step(unsigned short seed[3], struct hpx_row *all)
{
    static const char *const names[] = {"main", "worker", "", "x\xC0\x80", "p.C1"};
    uint32_t n = (uint32_t)nrand48(seed) % 400;
    struct hpx_thread_rec t = {200001 + n, 0x50000001 + n, text(names[n % 5]), text(names[n / 5 % 5]), text(names[n / 25 % 5]), {NULL, 0}};
    struct hpx_class_rec c = {.serial = {100001 + METHODS / 5 + n}, .name = text(names[n % 5])};
    struct hpx_row rows[32];
    hpx_binary_at(&w, (uint64_t)nrand48(seed));
    switch ((unsigned)nrand48(seed) % 6) {
    case 0:
        if (!hpx_bitset_has(&w.begun, t.serial - HPX_SERIAL_THREAD)) {
            hpx_binary_thread_start(&w, &t);
        }
        break;
    case 1:
        if (all[n].count == 0) { /* each class ends once; its number does not come back */
            all[n].count = 1;
            hpx_binary_class_load(&w, &c);
        } else if (all[n].count == 1) {
            all[n].count = 2;
            c.in_traces = n % 2;
            hpx_binary_class_unload(&w, &c);
        }
        break;
    case 2:
        (nrand48(seed) % 4 == 0 ? memory_refuse : memory_allow)();
        break;
    case 3:
        w.unplaced = 0; /* said once by the test for it */
        hpx_binary_dump_end(&w, "hprofx: end: 1\n");
        break;
    default:
        for (uint32_t i = 0; i < 32; i++) {
            rows[i] = (struct hpx_row){all[(uint32_t)nrand48(seed) % TRACES].trace, (uint64_t)nrand48(seed) % 9};
        }
        samples(n % 32, rows, n % 3 ? 0 : 0.1);
        break;
    }
}

TEST(any_sequence_is_a_sound_file)
{
    static struct hpx_row all[400];
    unsigned short seed[3] = {7, 8, 9};
    struct bin_figures f;
    uint64_t tables = 0, unloads = 0, unnumbered = 0;
    make_methods();
    for (int round = 0; round < 300; round++) {
        for (uint32_t i = 0; i < TRACES; i++) {
            all[i].trace = random_trace(300001 + i, i % 5 ? 0 : 200000 + i, seed);
            if (i % 7 == 0) { /* as the model gives it without memory */
                ((struct hpx_trace_rec *)(uintptr_t)all[i].trace)->frames[0].number = 0;
            }
        }
        begin(round % 2 ? 4 : 8);
        hpx_binary_header(&w, (struct timespec){1, 0}, 0, HPX_SETTING_CPU, 4);
        for (int step = 0; step < 200; step++) {
            random_step(seed, all);
        }
        hpx_binary_release(&w);
        unnumbered += w.spare_frames;
        (void)hpx_out_flush(&out);
        const char *fault = bin_check(sink.bytes, sink.len, &f);
        if (fault) {
            fail_msg("round %d: %s", round, fault);
        }
        tables += f.tables;
        unloads += f.unloads;
        memory_allow();
        end();
        for (uint32_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
            free((void *)(uintptr_t)all[i].trace);
            all[i] = (struct hpx_row){NULL, 0};
        }
    }
    assert_true(tables > 1000 && unloads > 100 && unnumbered > 100);
}

TESTS(NULL, NULL)
