/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fleet_batch.c: the head of a batch; bodies for ClickHouse, which the test takes apart itself; full disks, no memory.
 * OpenTelemetry's: test_fleet_otlp.c; Pyroscope's: test_fleet_push.c. */
#include "batch.h"
#include "failing_memory.h"
#include "fleet_batches.h"
#include <errno.h>
#include <inttypes.h>

/* ---- the head ---- */

TEST(a_line_that_is_none_is_refused)
{
    static const char *const bad[] = {"",
                                      "x",
                                      "hprofx-spool 1",
                                      "hprofx-spool 1 profiles=1",
                                      "hprofx-spool 2 profiles=1 oldest_ms=1",
                                      "hprofx-spool 1 profiles=-1 oldest_ms=1",
                                      "hprofx-spool 1 profiles= 1 oldest_ms=1",
                                      "hprofx-spool 1 profiles=18446744073709551616 oldest_ms=1",
                                      "hprofx-spool 1 profiles=1 oldest_ms=",
                                      "hprofx-spool 1 profiles=1 oldest_ms=1x",
                                      "hprofx-spool 1 profiles=1 oldest_ms=1 cpu",
                                      "hprofx-spool 1 profiles=1 oldest_ms=1 cpu=",
                                      "hprofx-spool 1 profiles=1 oldest_ms=1 cpu=x",
                                      "hprofx-spool 1 profiles=1 oldest_ms=1 cpu=-1",
                                      "hprofx-spool 1 profiles=1 oldest_ms=1 =1",
                                      "hprofx-spool 1 profiles=1 oldest_ms=1 cpu=1 x",
                                      "hprofx-spool 1 profiles=1 oldest_ms=1  cpu=1",
                                      "hprofx-spool 1 profiles=1 oldest_ms=1 cpu=1\nx=1",
                                      "hprofx-spool 1 profiles=1 oldest_ms=1 aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd=1"};
    char line[HPX_BATCH_LINE];
    struct hpx_batch_head h;
    for (size_t i = 0; i < HPX_ARRAY_LEN(bad); i++) {
        memset(line, ' ', sizeof line);
        memcpy(line, bad[i], strlen(bad[i]));
        line[HPX_BATCH_LINE - 1] = '\n';
        if (hpx_batch_head_read(&h, line)) {
            fail_msg("%s", bad[i]);
        }
    }
    hpx_batch_head_write(&(struct hpx_batch_head){.profiles = 1}, line);
    line[100] = '\0';
    assert_false(hpx_batch_head_read(&h, line));
    hpx_batch_head_write(&(struct hpx_batch_head){.profiles = 1}, line);
    line[HPX_BATCH_LINE - 1] = ' ';
    assert_false(hpx_batch_head_read(&h, line));
    memset(line, '1', sizeof line);
    memcpy(line, "hprofx-spool 1 profiles=", 24);
    line[HPX_BATCH_LINE - 1] = '\n';
    assert_false(hpx_batch_head_read(&h, line));
    for (int n = HPX_BATCH_KINDS; n <= HPX_BATCH_KINDS + 1; n++) { /* one kind too many */
        int at = 0;
        memset(line, ' ', sizeof line);
        at += sprintf(line, "hprofx-spool 1 profiles=1 oldest_ms=2"); /* NOLINT(cert-err33-c) */
        for (int i = 0; i < n; i++) {
            at += sprintf(line + at, " k%d=1", i);
        }
        line[at] = ' ';
        line[HPX_BATCH_LINE - 1] = '\n';
        assert_int_equal(hpx_batch_head_read(&h, line), n == HPX_BATCH_KINDS);
    }
}

TEST(sums_are_counted_by_kind_and_the_rest_as_other)
{
    static const char *const odd[] = {
        "cycles", "a b", "a=b", "other", "aaaaaaaaaabbbbbbbbbbccccccccccddddddddd", "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd"};
    struct hpx_tree t;
    struct hpx_batch_head h = {0}, again;
    with_other(&t, odd, HPX_ARRAY_LEN(odd), 100);
    hpx_batch_count(&h, &t);
    hpx_batch_count(&h, &t);
    hpx_tree_fini(&t);
    assert_int_equal(h.profiles, 2);
    assert_int_equal(sum_of(&h, "cycles"), 200);
    assert_int_equal(sum_of(&h, odd[4]), 208);
    assert_int_equal(sum_of(&h, "other"), 2 * (101 + 102 + 103 + 105));
    for (unsigned i = 0; i < 60; i++) { /* and more than there is room for */
        char name[16];
        (void)snprintf(name, sizeof name, "k%u", i);
        with_other(&t, &(const char *const){name}, 1, 1);
        hpx_batch_count(&h, &t);
        hpx_tree_fini(&t);
    }
    assert_int_equal(h.nkinds, HPX_BATCH_KINDS);
    assert_int_equal(sum_of(&h, "k0"), 1);
    uint64_t all = 0;
    for (size_t i = 0; i < h.nkinds; i++) {
        all += h.kinds[i].sum;
    }
    assert_int_equal(all, 200 + 208 + 2 * (101 + 102 + 103 + 105) + 60);
    char line[HPX_BATCH_LINE];
    hpx_batch_head_write(&h, line);
    assert_true(hpx_batch_head_read(&again, line));
    assert_int_equal(sum_of(&again, "other"), sum_of(&h, "other"));
    with_other(&t, &(const char *const){"k0"}, 1, UINT64_MAX);
    hpx_batch_count(&h, &t);
    hpx_tree_fini(&t);
    assert_int_equal(sum_of(&h, "k0"), UINT64_MAX); /* not 0 */
}

/* ---- ClickHouse ---- */

struct row_reader {
    const unsigned char *at, *end;
};

static uint64_t number(struct row_reader *r, size_t n)
{
    uint64_t v = 0;
    assert_true((size_t)(r->end - r->at) >= n);
    for (size_t i = 0; i < n; i++) {
        v |= (uint64_t)r->at[i] << 8 * i;
    }
    r->at += n;
    return v;
}

static uint64_t varint(struct row_reader *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = number(r, 1);
        v |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            return v;
        }
    }
}

static void text_to(struct row_reader *r, FILE *to)
{
    uint64_t n = varint(r);
    assert_true((uint64_t)(r->end - r->at) >= n);
    (void)fprintf(to, "%.*s", (int)n, (const char *)r->at);
    r->at += n;
}

/* The rows as text, in the order of HPX_BATCH_COLUMNS; numbers of rows without those of their columns if `plain`. */
static char *rows_of(const char *bytes, size_t n)
{
    struct row_reader r = {(const unsigned char *)bytes, (const unsigned char *)bytes + n};
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    while (r.at < r.end) {
        (void)fprintf(to, "%" PRIu64, number(&r, 4));
        (void)fprintf(to, " %" PRIu64, number(&r, 4));
        for (int i = 0; i < 4; i++) {
            (void)putc(' ', to);
            text_to(&r, to);
        }
        (void)fprintf(to, " %" PRIu64 " ", number(&r, 4));
        text_to(&r, to);
        (void)putc(' ', to);
        text_to(&r, to);
        (void)fprintf(to, " #%" PRIu64 " [", number(&r, 4));
        for (uint64_t i = 0, depth = varint(&r); i < depth; i++) {
            (void)fputs(i > 0 ? "|" : "", to);
            text_to(&r, to);
        }
        (void)fprintf(to, "] %" PRIu64 "\n", number(&r, 8));
    }
    assert_int_equal(fclose(to), 0);
    return text;
}

#define COLUMN 48806446u /* rows that a column may have */

TEST(what_does_not_fit_a_column_stays_at_its_end)
{
    struct hpx_tree t;
    struct hpx_batch b;
    char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_true(hpx_tree_init(&t));
    origin_in(&t, "", UINT64_MAX, longest, 1);
    t.start_ms = UINT64_MAX;
    t.duration_ms = UINT64_MAX;
    hpx_tree_add(&t, &t.views[HPX_VIEW_WAIT], stack_in(&t, longest), 0, (uint64_t[]){1, UINT64_MAX});
    hpx_tree_finish(&t);
    begin_body(&b, HPX_CLICKHOUSE);
    hpx_batch_add(&b, &t, ids[1]);
    hpx_tree_fini(&t);
    char *text = body_with(&b, rows_of);
    assert_memory_equal(text, "4294967295 4294967295 xxxx", 26);
    assert_non_null(strstr(text, "   4294967295 ff"));
    assert_non_null(strstr(text, "xxxx] 18446744073709551615\n"));
    free(text);
    assert_true(b.bytes > 2 * 4096 && b.bytes < 4 * 4096 + 1000);
}

/* ---- all engines ---- */

static const enum hpx_engine engines[] = {HPX_OTLP, HPX_CLICKHOUSE, HPX_PYROSCOPE};

TEST(a_full_disk_is_told)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(engines); i++) {
        for (unsigned profiles = 0; profiles <= 60; profiles += 30) {
            struct hpx_batch b;
            int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
            assert_true(fd >= 0);
            assert_true(hpx_batch_begin(&b, engines[i], fd));
            for (unsigned k = 0; k < profiles; k++) {
                struct hpx_tree t;
                large_tree(&t, k);
                hpx_batch_add(&b, &t, ids[0]);
                errno = EPERM; /* of whatever comes between */
                hpx_tree_fini(&t);
            }
            bool whole = hpx_batch_end(&b);
            int error = errno;
            assert_true(!whole || (profiles == 0 && engines[i] == HPX_PYROSCOPE)); /* which has nothing to write */
            assert_true(whole || error == ENOSPC);
            (void)close(fd);
        }
    }
}

TEST(without_memory_a_body_is_whole_or_refused)
{
    uint64_t step = memory_fault_step();
    for (size_t i = 0; i < HPX_ARRAY_LEN(engines); i++) {
        char *right = NULL;
        size_t right_n = 0;
        for (uint64_t first = 0;; first = first == 0 ? memory_first_fault() : first + step) { /* 0: none fails */
            struct hpx_tree t;
            struct hpx_batch b;
            sample_tree(&t);
            int fd = memfd_create("body", MFD_CLOEXEC);
            memory_fail(first == 0 ? MEMORY_NEVER : first, first);
            bool begun = hpx_batch_begin(&b, engines[i], fd), whole = false;
            if (begun) {
                hpx_batch_add(&b, &t, ids[0]);
                hpx_batch_add(&b, &t, ids[1]);
                whole = hpx_batch_end(&b);
            }
            bool reached = memory_calls() >= first;
            int error = errno;
            memory_allow();
            assert_true(whole || (reached && first > 0));
            assert_true(whole || !begun || error == ENOMEM);
            hpx_tree_fini(&t);
            if (whole) {
                size_t n;
                char *bytes = bytes_of(fd, engines[i] != HPX_PYROSCOPE, &n);
                assert_true(right == NULL || (n == right_n && memcmp(bytes, right, n) == 0));
                free(right);
                right = bytes;
                right_n = n;
            }
            (void)close(fd);
            if (first > 0 && !reached) {
                break;
            }
        }
        free(right);
    }
}

TESTS(NULL, NULL)
