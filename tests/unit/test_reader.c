/* SPDX-License-Identifier: BSD-2-Clause */
/* test_reader.c: the parts of the reader: ids, UTF-8, the buffer, the scanner; and that it does not matter in which pieces a file arrives.
 */
#include "ascii.h"
#include "check.h"
#include "cmocka_all.h"
#include "err.h"
#include "seeded_map.h"
#include "utf8.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(seeded_map_holds_what_was_added_and_nothing_else)
{
    struct hpx_seeded_map m;
    uint32_t *value;
    hpx_seeded_map_init(&m, true);
    assert_false(hpx_seeded_map_has(&m, 0));
    assert_null(hpx_seeded_map_find(&m, 1));
    for (uint64_t i = 0; i < 100000; i++) {
        assert_int_equal(hpx_seeded_map_add(&m, i * 4096, &value), 1);
        assert_int_equal(*value, 0);
        *value = (uint32_t)i;
        assert_true(m.cap == 64 || m.cap * 3 <= (m.len + 1) * 8);
    }
    for (uint64_t i = 0; i < 100000; i++) {
        assert_int_equal(*hpx_seeded_map_find(&m, i * 4096), i);
        assert_false(hpx_seeded_map_has(&m, i * 4096 + 1));
    }
    assert_int_equal(hpx_seeded_map_add(&m, 4096, &value), 0);
    assert_int_equal(*value, 1);
    hpx_seeded_map_clear(&m);
    assert_false(hpx_seeded_map_has(&m, 0));
    assert_false(hpx_seeded_map_has(&m, 4096));
    hpx_seeded_map_fini(&m);
}

static struct hpx_utf8 judge(const char *p, size_t n, size_t piece)
{
    struct hpx_utf8 u = {0};
    for (size_t at = 0; at < n; at += piece) {
        hpx_utf8_feed(&u, p + at, n - at < piece ? n - at : piece);
    }
    hpx_utf8_end(&u);
    return u;
}

TEST(utf8_tells_real_modified_and_broken)
{
    static const struct {
        const char *text;
        bool modified, controls, broken;
    } cases[] = {
        {"plain ascii, longer than eight bytes", false, false, false},
        {"\xc3\xa9\xe7\xa8\x8b\xf0\x9f\x98\x80", false, false, false},
        {"\xf4\x8f\xbf\xbf", false, false, false},
        {"\xf4\x90\x80\x80", false, false, true},
        {"\xf0\x8f\xbf\xbf", false, false, true},
        {"\xe0\x9f\xbf", false, false, true},
        {"\xc0\x80", true, false, false},
        {"\xc0\x81", true, false, true},
        {"\xc1\x80", false, false, true},
        {"\xed\xa0\x80", true, false, false},
        {"\xed\xa0\xbd\xed\xb8\x80", true, false, false},
        {"\xed\x9f\xbf", false, false, false},
        {"\x80", false, false, true},
        {"\xf5\x80\x80\x80", false, false, true},
        {"12345678\xc3", false, false, true},
        {"\xc3(", false, false, true},
        {"tab\tis none", false, false, false},
        {"1234567\x01", false, true, false},
        {"12345678\x7f", false, true, false},
        {"123\x7f"
         "5678",
         false, true, false},
    };
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        for (size_t piece = 1; piece <= 9; piece++) {
            struct hpx_utf8 u = judge(cases[i].text, strlen(cases[i].text), piece);
            assert_int_equal(u.broken, cases[i].broken);
            assert_int_equal(u.modified, cases[i].modified);
            assert_int_equal(u.controls, cases[i].controls);
        }
    }
}

struct drip {
    const char *p;
    size_t n, piece;
    int error;  /* of the read behind the last byte */
    bool eintr; /* each other read is interrupted */
    unsigned reads;
};

static ssize_t drip(void *ctx, void *to, size_t n)
{
    struct drip *d = ctx;
    if (d->eintr && d->reads++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    size_t k = d->piece < d->n ? d->piece : d->n;
    k = k < n ? k : n;
    memcpy(to, d->p, k);
    d->p += k;
    d->n -= k;
    if (k == 0 && d->error != 0) {
        errno = d->error;
        return -1;
    }
    return (ssize_t)k;
}

TEST(source_gives_any_piece_up_to_its_limit)
{
    size_t n = 1000000;
    char *data = malloc(n);
    struct hpx_source s;
    assert_non_null(data);
    for (size_t i = 0; i < n; i++) {
        data[i] = (char)(i * 31 + i / 256);
    }
    struct drip d = {.p = data, .n = n, .piece = 777, .eintr = true};
    assert_int_equal(hpx_source_init(&s, drip, &d), 0);
    size_t at = 0;
    for (size_t want = 1; at < n; want = want * 3 % 400009 + 1) {
        size_t have = hpx_source_ahead(&s, want);
        size_t k = want < n - at ? want : n - at;
        assert_true(have >= k);
        assert_memory_equal(hpx_source_bytes(&s), data + at, k);
        assert_int_equal(hpx_source_offset(&s), at);
        hpx_source_take(&s, k);
        at += k;
    }
    assert_int_equal(hpx_source_ahead(&s, 1), 0);
    assert_int_equal(s.error, 0);
    hpx_source_fini(&s);
    free(data);
}

static struct hpx_scan scan(const char *text, bool cut)
{
    struct hpx_txt t = {.cut = cut};
    return hpx_scan_line(&t, (struct hpx_rd_text){text, strlen(text)});
}

TEST(scanner_takes_numbers_as_printf_writes_them)
{
    static const struct {
        const char *text;
        bool ok;
        uint64_t value;
    } cases[] = {{"0", true, 0},
                 {"18446744073709551615", true, UINT64_MAX},
                 {"18446744073709551616", false, 0},
                 {"007", false, 0},
                 {"", false, 0},
                 {"-1", false, 0},
                 {"+1", false, 0},
                 {" 1", false, 0}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        struct hpx_scan s = scan(cases[i].text, false);
        assert_int_equal(hpx_scan_number(&s), cases[i].value);
        assert_int_equal(hpx_scan_done(&s), cases[i].ok);
    }
    struct hpx_scan s = scan("ffffffffffffffff", false);
    assert_true(hpx_scan_hex(&s) == UINT64_MAX && hpx_scan_done(&s));
    s = scan("1ffffffffffffffff", false);
    (void)hpx_scan_hex(&s);
    assert_false(hpx_scan_done(&s));
    s = scan("4294967296", false);
    (void)hpx_scan_serial(&s);
    assert_false(hpx_scan_done(&s));
}

TEST(scanner_looks_at_no_byte_behind_a_date)
{
    static const char date[] = "Sat Nov 21 01:52:23 2026";
    struct hpx_txt t = {.cut = false};
    for (size_t n = 1; n < sizeof(date); n++) {
        char *text = malloc(n); /* of its own, so that a sanitizer sees the byte behind it */
        assert_non_null(text);
        memcpy(text, date, n);
        struct hpx_scan s = hpx_scan_line(&t, (struct hpx_rd_text){text, n});
        (void)hpx_scan_date(&s);
        assert_int_equal(hpx_scan_done(&s), n == sizeof(date) - 1);
        free(text);
    }
}

TEST(scanner_takes_a_cut_record_up_to_its_end)
{
    static const char whole[] = "THREAD END (id = 200001)";
    char text[sizeof(whole)];
    for (size_t n = 0; n < sizeof(whole); n++) {
        memcpy(text, whole, n);
        text[n] = '\0';
        for (int cut = 0; cut < 2; cut++) {
            struct hpx_scan s = scan(text, cut);
            hpx_scan_word(&s, "THREAD END (id = ");
            (void)hpx_scan_serial(&s);
            hpx_scan_word(&s, ")");
            assert_int_equal(hpx_scan_done(&s), cut || n == sizeof(whole) - 1);
        }
    }
    struct hpx_scan s = scan("THREAD ENQ", true);
    hpx_scan_word(&s, "THREAD END (id = ");
    assert_false(hpx_scan_done(&s));
}

TEST(scanner_splits_at_the_first_or_the_last)
{
    struct hpx_scan s = scan("a(b(c:1", false);
    struct hpx_rd_text found = hpx_scan_before_last(&s, "(");
    assert_true(found.n == 3 && memcmp(found.p, "a(b", 3) == 0);
    found = hpx_scan_before(&s, ":");
    assert_true(found.n == 1 && *found.p == 'c' && hpx_scan_number(&s) == 1 && hpx_scan_done(&s));
    s = scan("x", false);
    (void)hpx_scan_before_last(&s, "longer");
    assert_false(hpx_scan_done(&s));
}

/* What a run over the file found, as one line. */
static void outcome(char *to, size_t room, const char *p, size_t n, size_t piece, bool unfinished)
{
    struct hpx_source s;
    struct hpx_check c;
    struct drip d = {.p = p, .n = n, .piece = piece};
    assert_int_equal(hpx_source_init(&s, drip, &d), 0);
    hpx_check_init(&c);
    struct hpx_reader r = {.source = &s, .sinks = {hpx_check_event}, .ctx = {&c}, .unfinished = unfinished};
    hpx_reader_run(&r);
    int k = snprintf(to, room, "%d %s at %llu line %llu whole %llu dumps %llu:", r.result, r.why, (unsigned long long)r.at,
                     (unsigned long long)r.line, (unsigned long long)r.whole, (unsigned long long)c.dumps);
    for (size_t i = 0; i < HPX_NOTE_COUNT; i++) {
        k += snprintf(to + k, room - (size_t)k, " %llu@%llu", (unsigned long long)r.notes[i].count, (unsigned long long)r.notes[i].at);
    }
    hpx_check_fini(&c);
    hpx_source_fini(&s);
}

static const char text_file[] =
    "JAVA PROFILE 1.0.1, created Sat Nov 21 01:52:23 2026\n\nwords\n\n--------\n\n"
    "THREAD START (obj=50000181, id = 200001, name=\"raw\nnewline\", group=\"main\")\n"
    "TRACE 300001:\n\tA.main(A.java:12)\n\tB.x(<Unknown Source>:Unknown line)\n"
    "CPU SAMPLES BEGIN (total = 10) Sat Nov 21 01:52:23 2026\nrank   self  accum   count trace method\n"
    "   1 60.00% 60.00%       6 300001 A.main\nCPU SAMPLES END\nhprofx: engine: timers\nTHREAD END (id = 200001)\n";

static size_t put(char *to, size_t at, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        to[at + i] = (char)(v >> (8 * (bytes - 1 - i)));
    }
    return at + bytes;
}

/* Header, a name, an empty trace, a class, a heap dump, a table. */
static size_t binary_file(char *to)
{
    size_t n = put(to, 0, 0, 0);
    memcpy(to, "JAVA PROFILE 1.0.2", 19);
    n = put(to, n + 19, 8, 4);
    n = put(to, n, 1795232082000u, 8);
    static const uint64_t fields[][2] = {
        {0x01, 1}, {0, 4},      {11, 4},     {1, 8},      {0x616263, 3},                      /* UTF8 1: abc */
        {0x05, 1}, {0, 4},      {12, 4},     {300000, 4}, {0, 4},        {0, 4},              /* STACK TRACE 300000 */
        {0x02, 1}, {0, 4},      {24, 4},     {1, 4},      {0x51, 8},     {300000, 4}, {1, 8}, /* LOAD CLASS 1 */
        {0x1c, 1}, {0, 4},      {154, 4}, /* HEAP DUMP SEGMENT: a class with one field, an instance, an array */
        {0x20, 1}, {0x51, 8},   {300000, 4}, {0, 8},      {0, 8},        {0, 8},      {0, 8},      {0, 8},    {0, 8}, {8, 4},    {0, 2},
        {0, 2},    {1, 2},      {1, 8},      {2, 1},      {0x21, 1},     {0x61, 8},   {300000, 4}, {0x51, 8}, {8, 4}, {0x62, 8}, {0x22, 1},
        {0x62, 8}, {300000, 4}, {2, 4},      {0x51, 8},   {0x61, 8},     {0x69, 8},   {0x2c, 1},   {0, 4},    {0, 4}, /* HEAP DUMP END */
        {0x0d, 1}, {0, 4},      {16, 4},     {7, 4},      {1, 4},        {7, 4},      {300000, 4},                    /* CPU SAMPLES */
    };
    for (size_t i = 0; i < HPX_ARRAY_LEN(fields); i++) {
        n = put(to, n, fields[i][0], fields[i][1]);
    }
    return n;
}

TEST(reader_finds_the_same_in_whatever_pieces_a_file_arrives)
{
    static const size_t pieces[] = {1, 2, 3, 7, 64, 1 << 20};
    char binary[512];
    size_t n = binary_file(binary);
    const struct {
        const char *p;
        size_t n;
    } files[] = {{text_file, sizeof(text_file) - 1}, {binary, n}};
    for (size_t f = 0; f < HPX_ARRAY_LEN(files); f++) {
        for (size_t end = 0; end <= files[f].n; end++) {
            char first[2048];
            char other[2048];
            outcome(first, sizeof(first), files[f].p, end, pieces[0], false);
            for (size_t i = 1; i < HPX_ARRAY_LEN(pieces); i++) {
                outcome(other, sizeof(other), files[f].p, end, pieces[i], false);
                assert_string_equal(first, other);
            }
            assert_true(end < files[f].n || first[0] == '0');
        }
    }
}

TEST(reader_says_when_a_file_cannot_be_read)
{
    for (size_t n = 0; n < sizeof(text_file) - 1; n += 13) {
        struct hpx_source s;
        struct hpx_check c;
        struct drip d = {.p = text_file, .n = n, .piece = 5, .error = EIO};
        assert_int_equal(hpx_source_init(&s, drip, &d), 0);
        hpx_check_init(&c);
        struct hpx_reader r = {.source = &s, .sinks = {hpx_check_event}, .ctx = {&c}, .unfinished = true};
        assert_int_equal(hpx_reader_run(&r), HPX_RD_FAILED);
        assert_non_null(strstr(r.why, "cannot be read"));
        hpx_check_fini(&c);
        hpx_source_fini(&s);
    }
}

TESTS(NULL, NULL)
