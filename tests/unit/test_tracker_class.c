/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tracker_class.c: the classes of the probes, read by the rewriter. */
#include "cmocka_all.h"
#include "hprofx_bci.h"
#include "tracker_class.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A compiler takes them into their callers whatever their callers' heat: up to 35 bytes. */
static void each_probe(void *ctx, const struct hprofx_bci_method *m)
{
    unsigned *longest = ctx;
    if (m->desc.len <= strlen("(II)V") && strncmp(m->name.at, HPX_TRACKER_CALIBRATE, m->name.len) != 0 && m->code_length > *longest) {
        *longest = m->code_length;
    }
}

TEST(probes_are_short_enough_to_be_inlined)
{
    const struct hpx_tracker_targets to = {1, 2, 3, 4, 5, 6};
    uint8_t bytes[HPX_TRACKER_CLASS_MAX], *out;
    unsigned longest = 0;
    size_t n = hpx_tracker_class_downcalls(bytes, &to), m;
    const char *why;
    struct hprofx_bci_opts opts = {.tracker = "p/T", .first = 1, .method = each_probe, .ctx = &longest};
    assert_int_equal(hprofx_bci_rewrite(&opts, bytes, n, &out, &m, &why), 0);
    free(out);
    assert_in_range(longest, 1, 35);
}

TEST(the_probe_of_waits_is_short_enough_to_be_inlined)
{
    uint8_t bytes[HPX_TRACKER_CLASS_MAX], *out;
    unsigned longest = 0;
    size_t n = hpx_tracker_class_waits(bytes), m;
    const char *why;
    struct hprofx_bci_opts opts = {.tracker = "p/T", .first = 1, .method = each_probe, .ctx = &longest};
    assert_int_equal(hprofx_bci_rewrite(&opts, bytes, n, &out, &m, &why), 0);
    free(out);
    assert_int_equal(longest, 16);
}

/* The interpreter of bytecode is the JVM's; here the constants and what the compilers are told. */
TEST(the_probe_that_counts_goes_into_every_caller)
{
    static const char *const unsafes[] = {"sun/misc/Unsafe", "jdk/internal/misc/Unsafe"};
    for (size_t i = 0; i < 2; i++) {
        uint8_t natives[HPX_TRACKER_CLASS_MAX], counts[HPX_TRACKER_CLASS_MAX];
        const struct hpx_tracker_counts c = {
            .unsafe = unsafes[i], .carriers = i > 0, .eetop = 0x123456789a, .table = UINT64_C(0x7fabcdef12345678)};
        size_t n = hpx_tracker_class_natives(natives, unsafes[i]), m = hpx_tracker_class_counts(counts, &c);
        char type[HPX_TRACKER_NAME + 8];
        hpx_tracker_class_counts_type(type, unsafes[i]);
        assert_non_null(memmem(natives, n, type, strlen(type)));
        assert_non_null(memmem(counts, m, type, strlen(type)));
        assert_non_null(memmem(counts, m, "\5\177\253\315\357\22\64\126\170", 9));
        assert_non_null(memmem(counts, m, "\5\0\0\0\22\64\126\170\232", 9));
        assert_int_equal(memmem(counts, m, "currentCarrierThread", 20) != NULL, i > 0);
        assert_non_null(memmem(natives, n, "/ForceInline;", 13));
        assert_non_null(memmem(counts, m, "/ForceInline;", 13));
        uint8_t *out;
        size_t len;
        const char *why;
        const struct hprofx_bci_opts opts = {.tracker = "p/T"};
        assert_int_equal(hprofx_bci_rewrite(&opts, natives, n, &out, &len, &why), 0); /* it reads all of it */
        free(out);
        assert_int_equal(hprofx_bci_rewrite(&opts, counts, m, &out, &len, &why), 0);
        free(out);
    }
}

TESTS(NULL, NULL)
