/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tree_formats.c: the readers of collapsed stacks and of pprof, what is broken there and what is hostile. Round trips:
 * test_tree_trips.c; files of HPROF, value by value: test_convert.py. */
#include "compare.h"
#include "memory.h"
#include "protobuf.h"
#include "tree_files.h"
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

/* ---- collapsed stacks ---- */

TEST(lines_become_stacks, setup, teardown)
{
    assert_int_equal(read_text("# words\n\nmain;a b;c 3\r\nmain 2\nmain;a b;c 4\n;;main;; 1\n 9\nmain;0 0"), HPX_TREE_PART);
    assert_string_equal(err.msg, "line 7 is not a stack and a count; such lines are left out");
    assert_folded("samples", "main 3\nmain;a b;c 7\n");
}

TEST(a_line_that_is_no_stack_is_told, setup, teardown)
{
    static const char *const bad[] = {"x", "x -1", "x 1.5", "x ", "x 18446744073709551616", "x 1a", " 1"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        char text[64];
        assert_int_equal(read_text(bad[i]), HPX_TREE_FAILED);
        assert_string_equal(err.msg, "neither HPROF, nor pprof, nor collapsed stacks");
        (void)snprintf(text, sizeof text, "main 1\n%s\n", bad[i]);
        assert_int_equal(read_text(text), HPX_TREE_PART);
        assert_string_equal(err.msg, "line 2 is not a stack and a count; such lines are left out");
    }
    assert_int_equal(read_text(""), HPX_TREE_FAILED);
    assert_int_equal(read_text("main 18446744073709551615\nmain 5\n"), HPX_TREE_WHOLE);
    assert_folded(NULL, "main 18446744073709551615\n");
}

TEST(a_line_beyond_all_measure_is_one_line, setup, teardown)
{
    size_t n = (size_t)40 << 20, at = 0;
    char *text = malloc(n + 64);
    assert_non_null(text);
    memcpy(text, "main;a 1\n", 9);
    memset(text + 9, ';', n);
    memcpy(text + 9 + n / 2, "b 7", 3); /* where a part of it would be a stack */
    memcpy(text + 9 + n - 4, " 99\n", 4);
    at = 9 + n;
    memcpy(text + at, "main;c 2\n", 9);
    assert_int_equal(read_bytes(&tree, text, at + 9), HPX_TREE_PART);
    assert_string_equal(err.msg, "line 2 is not a stack and a count; such lines are left out");
    free(text);
    assert_folded(NULL, "main;a 1\nmain;c 2\n");
}

TEST(a_stack_as_deep_as_a_line_is_read, setup, teardown)
{
    size_t n = (size_t)2 << 20;
    char *text = malloc(n);
    assert_non_null(text);
    for (size_t i = 0; i < n; i += 2) {
        memcpy(text + i, "a;", 2);
    }
    memcpy(text + n - 3, " 5\n", 3);
    assert_int_equal(read_bytes(&tree, text, n), HPX_TREE_WHOLE);
    free(text);
    hpx_tree_finish(&tree);
    assert_int_equal(tree.views[HPX_VIEW_CPU].totals[0], 5);
    assert_int_equal(tree.names.len, 2);
}

TEST(a_name_makes_neither_another_frame_nor_a_count, setup, teardown)
{
    uint32_t f = hpx_tree_frame(&tree, hpx_tree_name(&tree, "a;b\n 9", 6), 0, 0, HPX_FRAME_METHOD);
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_CPU], hpx_tree_node(&tree, 0, f), 0, (uint64_t[]){1, 0});
    hpx_tree_add(&tree, &tree.views[HPX_VIEW_CPU], 0, 0, (uint64_t[]){2, 0});
    assert_folded(NULL, "[no stack] 2\na,b\\n_9 1\n");
}

/* ---- pprof ---- */

static struct hpx_pb file, part, inner;

static void string(const char *text)
{
    hpx_pb_element(&file, 6, text, strlen(text));
}

static void type(uint64_t name, uint64_t unit)
{
    hpx_pb_number(&part, 1, name);
    hpx_pb_number(&part, 2, unit);
    hpx_pb_message(&file, 1, &part);
}

static void function(uint64_t id, uint64_t name)
{
    hpx_pb_number(&part, 1, id);
    hpx_pb_number(&part, 2, name);
    hpx_pb_message(&file, 5, &part);
}

/* Innermost first; a function of 0 has no line. */
static void location(uint64_t id, uint64_t address, const uint64_t *functions, size_t n)
{
    hpx_pb_number(&part, 1, id);
    hpx_pb_number(&part, 3, address);
    for (size_t i = 0; i < n; i++) {
        hpx_pb_number(&inner, 1, functions[i]);
        hpx_pb_number(&inner, 2, 10 + i);
        hpx_pb_message(&part, 4, &inner);
    }
    hpx_pb_message(&file, 4, &part);
}

static void numbers(unsigned field, const uint64_t *v, size_t n, bool packed)
{
    for (size_t i = 0; i < n && packed; i++) {
        hpx_pb_raw(&inner, v[i]);
    }
    if (packed) {
        hpx_pb_message(&part, field, &inner);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        hpx_pb_raw(&part, (uint64_t)field << 3); /* also a 0 */
        hpx_pb_raw(&part, v[i]);
    }
}

static void stack(const uint64_t *locations, size_t n, const uint64_t *values, size_t nvalues, uint64_t thread, bool packed)
{
    numbers(1, locations, n, packed);
    numbers(2, values, nvalues, packed);
    if (thread != 0) {
        hpx_pb_number(&inner, 1, 9); /* "thread" */
        hpx_pb_number(&inner, 2, thread);
        hpx_pb_message(&part, 3, &inner);
    }
    hpx_pb_message(&file, 2, &part);
}

#define STACK(locations, values, thread, packed)                                                                                           \
    stack((const uint64_t[])locations, sizeof((uint64_t[])locations) / 8, (const uint64_t[])values, sizeof((uint64_t[])values) / 8,        \
          thread, packed)
#define LIST(...)                                                                                                                          \
    {                                                                                                                                      \
        __VA_ARGS__                                                                                                                        \
    }

/* Strings 0 to 9, types samples and cpu, functions 1 (main), 2 (a), 3 (inlined into a), locations 1, 2 and 4 (without lines). */
static void begin_pprof(void)
{
    static const char *const strings[] = {"", "samples", "count", "cpu", "nanoseconds", "main", "a", "in", "worker", "thread"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(strings); i++) {
        string(strings[i]);
    }
    type(1, 2);
    type(3, 4);
    function(1, 5);
    function(2, 6);
    function(3, 7);
    location(1, 0, (const uint64_t[]){1}, 1);
    location(2, 0, (const uint64_t[]){3, 2}, 2);
    location(4, 0xabc, NULL, 0);
}

static enum hpx_tree_read read_pprof(void)
{
    assert_false(file.no_memory || part.no_memory || inner.no_memory);
    enum hpx_tree_read done = read_bytes(&tree, file.bytes, file.len);
    hpx_pb_free(&file);
    hpx_pb_free(&part);
    hpx_pb_free(&inner);
    return done;
}

TEST(numbers_are_read_packed_or_not, setup, teardown)
{
    begin_pprof();
    STACK(LIST(2, 1), LIST(3, 30), 8, true);
    STACK(LIST(2, 1), LIST(4, 40), 0, false);
    STACK(LIST(4, 1), LIST(0, 5), 0, false);
    stack(NULL, 0, (const uint64_t[]){1, 10}, 2, 0, true);
    assert_int_equal(read_pprof(), HPX_TREE_WHOLE);
    assert_folded("samples", "[no stack] 1\nmain;a;in 7\n");
    assert_folded("cpu", "[no stack] 10\nmain;a;in 70\nmain;0xabc 5\n");
    const struct hpx_tree_view *v = &tree.views[HPX_VIEW_CPU];
    assert_int_equal(v->samples.len, 4); /* one of a thread */
    assert_string_equal(hpx_tree_text(&tree, hpx_tree_sample_at(v, 2)->thread), "worker");
}

TEST(what_is_not_defined_is_a_question_mark_or_nothing, setup, teardown)
{
    begin_pprof();
    location(5, 0, (const uint64_t[]){77}, 1);
    function(6, 1000);
    location(6, 0, (const uint64_t[]){6}, 1);
    STACK(LIST(5, 1), LIST(1, 1), 0, true);
    STACK(LIST(6, 1), LIST(2, 2), 0, true);
    STACK(LIST(99, 1), LIST(4, 4), 1000, true); /* no such location, no such thread */
    STACK(LIST(1), LIST(8), 0, true);           /* one value too few */
    STACK(LIST(1), LIST(16, 16, 16, 16), 0, true);
    assert_int_equal(read_pprof(), HPX_TREE_WHOLE);
    assert_folded("samples", "main 28\nmain;? 3\n");
    assert_int_equal(tree.views[HPX_VIEW_CPU].totals[1], 23);
}

TEST(negative_values_are_left_out_and_told, setup, teardown)
{
    begin_pprof();
    STACK(LIST(1), LIST((uint64_t)-5, 7), 0, true);
    assert_int_equal(read_pprof(), HPX_TREE_PART);
    assert_string_equal(err.msg, "negative values are left out; a difference (pprof -base) is not a profile");
    hpx_tree_finish(&tree);
    assert_int_equal(tree.views[HPX_VIEW_CPU].totals[0], 0);
    assert_int_equal(tree.views[HPX_VIEW_CPU].totals[1], 7);
}

TEST(measures_beyond_the_room_are_left_out_and_told, setup, teardown)
{
    static const uint64_t ones[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    begin_pprof();
    for (uint64_t i = 0; i < 10; i++) {
        char text[8];
        (void)snprintf(text, sizeof text, "t%u", (unsigned)i);
        string(text);
        type(10 + i, 2);
    }
    stack((const uint64_t[]){1}, 1, ones, 12, 0, true);
    assert_int_equal(read_pprof(), HPX_TREE_PART);
    assert_string_equal(err.msg, "more than 8 measures that hprofx does not know; the others are left out");
    hpx_tree_finish(&tree);
    assert_int_equal(tree.views[HPX_VIEW_OTHER].totals[7], 1);
    assert_int_equal(tree.views[HPX_VIEW_CPU].totals[0], 1);
}

TEST(bytes_that_are_broken_are_told, setup, teardown)
{
    begin_pprof();
    hpx_pb_element(&file, 2, "\x0a\x01\x01\x12\x03\x01\x80\x80", 8); /* a number without its end in a sample */
    STACK(LIST(1), LIST(2, 2), 0, true);
    assert_int_equal(read_pprof(), HPX_TREE_PART);
    assert_string_equal(err.msg, "parts of the pprof profile are broken; they are left out");
    hpx_tree_finish(&tree);
    begin_pprof();
    hpx_pb_raw(&file, 7); /* a wire type that there is not */
    assert_int_equal(read_pprof(), HPX_TREE_FAILED);
    assert_string_equal(err.msg, "not a pprof profile, or a broken one");
    begin_pprof();
    file.len--; /* cut off */
    assert_int_equal(read_pprof(), HPX_TREE_FAILED);
    string("");
    assert_int_equal(read_pprof(), HPX_TREE_FAILED); /* no type */
}

/* A location of 2^16 lines 2^16 times in a sample would be 2^32 frames. */
TEST(a_flood_of_lines_is_refused, setup, teardown)
{
    static uint64_t many[65536];
    begin_pprof();
    STACK(LIST(1), LIST(3, 3), 0, true);
    location(7, 0, many, HPX_ARRAY_LEN(many));
    for (size_t i = 0; i < HPX_ARRAY_LEN(many); i++) {
        many[i] = 7;
    }
    stack(many, HPX_ARRAY_LEN(many), (const uint64_t[]){1, 1}, 2, 0, true);
    STACK(LIST(1), LIST(4, 4), 0, true);
    assert_int_equal(read_pprof(), HPX_TREE_PART);
    assert_string_equal(err.msg, "the stacks are too long for a file of this size; the samples from there on are left out");
    assert_folded("samples", "main 3\n");
    assert_true(tree.nodes.len < (size_t)16 << 20);
}

TEST(a_packed_flood_is_read_once, setup, teardown)
{
    size_t n = (size_t)1 << 20;
    uint64_t *ones = malloc(n * sizeof *ones);
    assert_non_null(ones);
    for (size_t i = 0; i < n; i++) {
        ones[i] = 1;
    }
    begin_pprof();
    stack(ones, n, (const uint64_t[]){1, 1}, 2, 0, true);
    stack((const uint64_t[]){1}, 1, ones, n, 0, false);
    free(ones);
    assert_int_equal(read_pprof(), HPX_TREE_WHOLE);
    hpx_tree_finish(&tree);
    assert_int_equal(tree.views[HPX_VIEW_CPU].totals[0], 2);
    assert_int_equal(tree.nodes.len, n + 1);
}

TEST(a_known_name_with_another_unit_is_another_measure, setup, teardown)
{
    begin_pprof();
    string("microseconds");
    type(3, 10); /* cpu */
    STACK(LIST(1), LIST(0, 0, 7), 0, true);
    assert_int_equal(read_pprof(), HPX_TREE_WHOLE);
    hpx_tree_finish(&tree);
    assert_int_equal(tree.views[HPX_VIEW_CPU].totals[1], 0);
    assert_int_equal(tree.views[HPX_VIEW_OTHER].totals[0], 7);
    assert_int_equal(tree.views[HPX_VIEW_OTHER].measures[0].unit, HPX_UNIT_OTHER);
}

/* As `hprofx merge` reads them. */
TEST(measures_of_the_next_file_stand_beside_those_of_the_first, setup, teardown)
{
    for (uint64_t i = 0; i < 2; i++) {
        begin_pprof();
        string(i == 0 ? "cycles" : "misses");
        type(10, 2);
        STACK(LIST(1), LIST(0, 0, 5 + i), 0, true);
        assert_int_equal(read_pprof(), HPX_TREE_WHOLE);
    }
    assert_folded("cycles", "main 5\n");
    assert_folded("misses", "main 6\n");
}

TEST(the_name_of_a_measure_is_data_in_every_format, setup, teardown)
{
    static const char *const suffixes[] = {"x.speedscope.json", "x.firefox.json"};
    begin_pprof();
    string("a\",\"pid\":\"<");
    type(10, 2);
    STACK(LIST(1), LIST(0, 0, 7), 0, true);
    assert_int_equal(read_pprof(), HPX_TREE_WHOLE);
    hpx_tree_finish(&tree);
    for (size_t i = 0; i < HPX_ARRAY_LEN(suffixes); i++) {
        size_t n;
        char *text = written(&tree, suffixes[i], NULL, &n);
        assert_non_null(strstr(text, "\"Profile: a\\\",\\\"pid\\\":\\\"\\u003c\""));
        free(text);
    }
}

TEST(gzip_is_unpacked_and_its_end_is_missed, setup, teardown)
{
    unsigned char packed[256];
    static const char text[] = "main;a 3\nmain;b 4\nmain;c 5\n";
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)text, .avail_in = sizeof text - 1, .next_out = packed, .avail_out = sizeof packed};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t n = sizeof packed - z.avail_out;
    (void)deflateEnd(&z);
    assert_int_equal(read_bytes(&tree, packed, n - 4), HPX_TREE_PART);
    assert_string_equal(err.msg, "the compressed data end too early");
    assert_int_equal(read_bytes(&tree, packed, n), HPX_TREE_WHOLE);
    packed[n - 6] ^= 0xff; /* of the checksum */
    assert_int_equal(read_bytes(&tree, packed, n), HPX_TREE_FAILED);
}

/* ---- memory ---- */

#define NAMES 2000
#define WIDE  4000 /* bytes of a name */
#define MIB   ((size_t)1 << 20)

static char *text;
static size_t text_len;

static void put(const void *bytes, size_t n)
{
    memcpy(text + text_len, bytes, n);
    text_len += n;
}

/* A name and what is before and behind it. */
static void put_name(const char *before, size_t i, const char *behind)
{
    char number[16];
    put(before, strlen(before));
    put(number, (size_t)snprintf(number, sizeof number, "m%07zu", i));
    memset(text + text_len, 'x', WIDE - 8);
    text_len += WIDE - 8;
    put(behind, strlen(behind));
}

static void many_folded(void)
{
    for (size_t i = 0; i < NAMES; i++) {
        put_name("", i, " 1\n");
    }
}

static void many_text(void)
{
    static const char head[] = "JAVA PROFILE 1.0.1, created Wed Nov 25 15:35:21 2026\n\nx\n--------\n\n", end[] = "\t<empty>\n";
    char line[64];
    put(head, sizeof head - 1);
    for (size_t i = 0; i < NAMES; i++) {
        put(line, (size_t)snprintf(line, sizeof line, "TRACE %zu:\n", 300001 + i));
        put_name("\tp.C.", i, "(C.java:1)\n");
    }
    put(line, (size_t)snprintf(line, sizeof line, "TRACE %d:\n", 300001 + NAMES));
    put(end, sizeof end - 1);
}

static void many_binary(void)
{
    static const unsigned char head[] = "JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\1\x8b\xcf\xe5\x68";
    put(head, sizeof head - 1 + 1);
    for (size_t i = 0; i < NAMES; i++) {
        const uint32_t n = 8 + WIDE;
        const unsigned char record[] = {1, 0, 0, 0, 0, 0, 0, n >> 8, n & 255, 0, 0, 0, 0, 0, 0, (unsigned char)(i >> 8), (unsigned char)i};
        put(record, sizeof record);
        put_name("", i, "");
    }
}

static void many_pprof(void)
{
    begin_pprof();
    for (size_t i = 0; i < NAMES; i++) {
        size_t at = text_len;
        put_name("", i, "");
        hpx_pb_element(&file, 6, text + at, WIDE);
        hpx_pb_number(&part, 1, 1000 + i);
        hpx_pb_number(&part, 2, 9 + i); /* some of the names, whatever stands before them */
        hpx_pb_message(&file, 5, &part);
    }
    memcpy(text, file.bytes, file.len);
    text_len = file.len;
}

static size_t allocated(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* Packed they are a hundredth; they would fill the memory of any machine. */
TEST(names_beyond_the_budget_are_refused_in_every_format, setup, teardown)
{
    static void (*const make[])(void) = {many_folded, many_text, many_binary, many_pprof};
    for (size_t i = 0; i < HPX_ARRAY_LEN(make); i++) {
        struct hpx_tree t;
        text = malloc((size_t)NAMES * (WIDE + 100));
        assert_non_null(text);
        text_len = 0;
        make[i]();
        size_t before = allocated();
        (void)setenv("HPROFX_MEMORY", "3m", 1);
        assert_true(hpx_tree_init(&t));
        assert_int_equal(read_bytes(&t, text, text_len), HPX_TREE_FAILED);
        assert_string_equal(err.msg,
                            "it needs more than 3 MiB of memory, which is the limit here; HPROFX_MEMORY=SIZE (such as 4g) sets another");
        assert_true(allocated() - before < 4 * MIB);
        hpx_tree_fini(&t);
        (void)setenv("HPROFX_MEMORY", "200m", 1);
        assert_true(hpx_tree_init(&t));
        if (read_bytes(&t, text, text_len) == HPX_TREE_FAILED) {
            fail_msg("format %zu: %s", i, err.msg);
        }
        hpx_tree_finish(&t);
        assert_false(t.no_memory);
        hpx_tree_fini(&t);
        free(text);
        (void)unsetenv("HPROFX_MEMORY");
    }
}

TEST(a_sum_beyond_the_budget_is_no_tree, setup, teardown)
{
    struct hpx_tree sum;
    assert_true(hpx_tree_init(&sum));
    (void)setenv("HPROFX_MEMORY", "3m", 1);
    for (size_t nth = 0; nth < 4; nth++) {
        struct hpx_tree t;
        assert_true(hpx_tree_init(&t));
        for (size_t i = 0; i < 300; i++) {
            char name[WIDE + 1];
            memset(name, 'x', WIDE);
            (void)snprintf(name, 16, "%zu-%zu", nth, i);
            uint32_t f = hpx_tree_frame(&t, hpx_tree_name(&t, name, WIDE), 0, 0, HPX_FRAME_METHOD);
            hpx_tree_add(&t, &t.views[HPX_VIEW_CPU], hpx_tree_node(&t, 0, f), 0, (uint64_t[]){1, 0});
        }
        hpx_tree_finish(&t);
        hpx_tree_join(&sum, &t);
        hpx_tree_fini(&t);
        assert_true(sum.no_memory == (nth >= 2)); /* of a megabyte and some each */
        assert_true(hpx_tree_bytes(&sum) < 3 * MIB);
    }
    (void)unsetenv("HPROFX_MEMORY");
    hpx_tree_fini(&sum);
}

/* A small file cannot ask for more than a gigabyte, a large one for more than half of what the process may use. */
TEST(what_a_file_may_take_goes_with_its_size_and_with_the_process, setup, teardown)
{
    struct rlimit was;
    char folder[] = "/tmp/hpx_group_XXXXXX", path[64];
    int fd = file_of("x", 1);
    assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
    assert_true(hpx_memory_for_file(fd) <= 1024 * MIB);
    assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){600 * MIB, was.rlim_max}), 0);
    uint64_t half = hpx_memory_for_file(fd), quarter = hpx_memory_of_server();
    assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
    assert_int_equal(half, 300 * MIB);
    assert_int_equal(quarter, 150 * MIB);
    assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0); /* has no pages */
    assert_int_equal(hpx_memory_for_file(fd), hpx_memory_limit() / 2);
    static const char *const none[] = {"", "0", "x", "5x", "1mm", "-1", "99999999999999999999g"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(none); i++) {
        (void)setenv("HPROFX_MEMORY", none[i], 1);
        assert_int_equal(hpx_memory_for_file(fd), hpx_memory_limit() / 2);
    }
    (void)setenv("HPROFX_MEMORY", "5M", 1);
    assert_int_equal(hpx_memory_for_file(fd), 5 * MIB);
    assert_int_equal(hpx_memory_of_server(), 5 * MIB);
    (void)unsetenv("HPROFX_MEMORY");
    (void)close(fd);
    assert_non_null(mkdtemp(folder));
    static const char *const files[][2] = {{"", "max\n"}, {"/a", "7000\n"}, {"/a/b", "9000\n"}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(files); i++) {
        (void)snprintf(path, sizeof path, "%s%s", folder, files[i][0]);
        (void)mkdir(path, 0700);
        (void)snprintf(path, sizeof path, "%s%s/limit", folder, files[i][0]);
        FILE *f = fopen(path, "w");
        assert_true(f != NULL && fputs(files[i][1], f) >= 0 && fclose(f) == 0);
    }
    assert_int_equal(hpx_memory_of_group(folder, "/a/b", "limit"), 7000);
    assert_int_equal(hpx_memory_of_group(folder, "/a/b/c/d", "limit"), 7000);
    assert_true(hpx_memory_of_group(folder, "/", "limit") == UINT64_MAX && hpx_memory_of_group(folder, "", "other") == UINT64_MAX);
    for (size_t i = HPX_ARRAY_LEN(files); i-- > 0;) {
        (void)snprintf(path, sizeof path, "%s%s/limit", folder, files[i][0]);
        (void)unlink(path);
        *strrchr(path, '/') = '\0';
        (void)rmdir(path);
    }
}

TESTS(NULL, NULL)
