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

TESTS(NULL, NULL)
