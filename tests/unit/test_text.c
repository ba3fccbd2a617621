/* SPDX-License-Identifier: BSD-2-Clause */
/* test_text.c: what becomes of names, kind by kind, and what holds for any bytes. */
#include "cmocka_all.h"
#include "sink.h"
#include "text.h"
#include "text_check.h"
#include <stdlib.h>
#include <string.h>

static struct sink sink;

static void check(const char *bytes, size_t n, bool quoted, const char *expect)
{
    char to[256];
    size_t k = hpx_text_escape(to, (struct hpx_text){bytes, (uint32_t)n}, quoted);
    to[k] = '\0';
    assert_string_equal(to, expect);
}
#define CHECK(in, expect)        check(in, sizeof(in) - 1, false, expect)
#define CHECK_QUOTED(in, expect) check(in, sizeof(in) - 1, true, expect)

TEST(quotes_and_backslashes_are_escaped_in_quoted_fields_only)
{
    CHECK("a\"b\\c", "a\"b\\c");
    CHECK_QUOTED("a\"b\\c", "a\\\"b\\\\c");
    CHECK_QUOTED("worker \"one\", group", "worker \\\"one\\\", group");
}

TEST(controls_are_escaped)
{
    CHECK("a\nb\rc\td", "a\\nb\\rc\\td");
    CHECK("\x1B[31m", "\\u001B[31m");
    CHECK("\x7F", "\\u007F");
    CHECK("\0", "\\u0000");
    CHECK("\xC0\x80", "\\u0000");
    CHECK("\xC2\x80\xC2\x85\xC2\x9F\xC2\xA0", "\\u0080\\u0085\\u009F\xC2\xA0");
}

TEST(surrogates_become_one_character_or_an_escape)
{
    CHECK("\xED\xA0\xBD\xED\xB8\x80", "\xF0\x9F\x98\x80");
    CHECK("\xED\xAF\xBF\xED\xBF\xBF", "\xF4\x8F\xBF\xBF");
    CHECK("\xED\xA0\x80\xED\xB0\x80", "\xF0\x90\x80\x80");
    CHECK("\xED\xA0\xBDx", "\\uD83Dx");
    CHECK("\xED\xA0\xBD\xEF\xBF\xBD", "\\uD83D\xEF\xBF\xBD");
    CHECK("\xED\xB8\x80", "\\uDE00");
    CHECK("\xED\xB8\x80\xED\xA0\xBD", "\\uDE00\\uD83D");
    CHECK("\xED\xA0\xBD\xED\xA0\xBD\xED\xB8\x80", "\\uD83D\xF0\x9F\x98\x80");
    CHECK("\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80");
}

TEST(what_is_no_utf8_is_shown_byte_by_byte)
{
    CHECK("\x80", "\\u0080");
    CHECK("\xFF"
          "a",
          "\\u00FFa");
    CHECK("\xC3", "\\u00C3");
    CHECK("\xC3\"", "\\u00C3\"");
    CHECK("\xC0\x81", "\\u00C0\\u0081");
    CHECK("\xC1\xBF", "\\u00C1\\u00BF");
    CHECK("\xE0\x80\x80", "\\u00E0\\u0080\\u0080");
    CHECK("\xE2\x82", "\\u00E2\\u0082");
    CHECK("\xED\xA0\xBD\xED\xB8", "\\uD83D\\u00ED\\u00B8");
    CHECK("\xF0\x80\x80\x80", "\\u00F0\\u0080\\u0080\\u0080");
    CHECK("\xF4\x90\x80\x80", "\\u00F4\\u0090\\u0080\\u0080");
    CHECK("\xF0\x9F\x98", "\\u00F0\\u009F\\u0098");
}

/* Both forms give the same bytes, and these are harmless text within the bound. */
static void check_property(const char *in, uint32_t n, bool quoted)
{
    char *escaped = malloc((size_t)n * 6 + 1);
    assert_non_null(escaped);
    sink.len = 0;
    struct hpx_out out;
    assert_int_equal(sink_open(&out, &sink), 0);
    struct hpx_text text = {in, n};
    size_t k = hpx_text_escape(escaped, text, quoted);
    hpx_text_put(&out, text, quoted);
    assert_int_equal(hpx_out_close(&out), 0);
    assert_true(k <= (size_t)n * 6);
    assert_int_equal(sink.len, k);
    assert_memory_equal(escaped, sink.bytes, k);
    assert_null(text_fault(escaped, k, quoted));
    free(escaped);
}

TEST(any_bytes_become_utf8_without_controls)
{
    static const unsigned char likely[] = {0xC0, 0x80, 0xED, 0xA0, 0xB0, 0xBD, 0xC2, 0x85, 0xE2,
                                           0xF0, 0x9F, 0xF4, 0x8F, '"',  '\\', '\n', 0x7F, 'a'};
    unsigned short seed[3] = {1, 2, 3};
    char in[64];
    for (int i = 0; i < 20000; i++) { /* fuzz_text takes more */
        uint32_t n = (uint32_t)(nrand48(seed) % 24);
        for (uint32_t j = 0; j < n; j++) {
            long r = nrand48(seed);
            in[j] = (char)(r % 4 == 0 ? r >> 8 : likely[(size_t)(r >> 8) % sizeof(likely)]);
        }
        check_property(in, n, i % 2 == 0);
    }
}

TEST(a_name_of_60000_bytes_is_not_cut)
{
    char *in = malloc(180000);
    assert_non_null(in);
    for (int i = 0; i < 60000; i++) {
        in[i] = (char)(i % 7 == 0 ? '\n' : 'a' + i % 26);
    }
    check_property(in, 60000, true);
    memset(in, 0xFF, 180000);
    check_property(in, 180000, false);
    free(in);
}

/* For formats with lengths: UTF-8, and everything that is a character stays one. */
TEST(utf8_has_controls_as_they_are_and_its_length_is_known)
{
    static const struct {
        const char *in;
        size_t n;
        const char *want;
        size_t len;
    } cases[] = {{"a\n\t\"\\\x1B\x7F", 7, "a\n\t\"\\\x1B\x7F", 7}, {"x\xC0\x80y", 4, "x\0y", 3},
                 {"\xC2\x85\xC2\xA0", 4, "\xC2\x85\xC2\xA0", 4},   {"\xED\xA0\xBD\xED\xB8\x80", 6, "\xF0\x9F\x98\x80", 4},
                 {"\xED\xB8\x80\xFF", 4, "\\uDE00\\u00FF", 12},    {"", 0, "", 0}};
    struct hpx_out o;
    char direct[6 * 64];
    unsigned short seed[3] = {1, 1, 1};
    assert_int_equal(sink_open(&o, &sink), 0);
    for (size_t i = 0; i < HPX_ARRAY_LEN(cases); i++) {
        struct hpx_text t = {cases[i].in, (uint32_t)cases[i].n};
        sink.len = 0;
        assert_int_equal(hpx_text_utf8(NULL, t), cases[i].len);
        assert_int_equal(hpx_text_utf8(&o, t), cases[i].len);
        assert_int_equal(hpx_out_flush(&o), 0);
        assert_int_equal(sink.len, cases[i].len);
        assert_memory_equal(sink.bytes, cases[i].want, sink.len);
        assert_int_equal(hpx_text_to_utf8(direct, t), sink.len);
        assert_memory_equal(sink.bytes, direct, sink.len);
    }
    for (int i = 0; i < 5000; i++) {
        char in[64];
        for (size_t k = 0; k < sizeof(in); k++) {
            in[k] = (char)(nrand48(seed) >> 7);
        }
        struct hpx_text t = {in, (uint32_t)nrand48(seed) % 64};
        sink.len = 0;
        size_t n = hpx_text_utf8(&o, t);
        assert_int_equal(hpx_out_flush(&o), 0);
        assert_int_equal(n, sink.len);
        assert_int_equal(hpx_text_utf8(NULL, t), n);
        assert_int_equal(hpx_text_to_utf8(direct, t), n);
        assert_memory_equal(sink.bytes, direct, n);
        const char *fault = text_fault((const char *)sink.bytes, sink.len, false);
        assert_true(fault == NULL || strcmp(fault, "a control") == 0);
    }
    assert_int_equal(hpx_out_close(&o), 0);
}

int main(void)
{
    int failed = run_the_tests(NULL, NULL);
    free(sink.bytes);
    return failed;
}
