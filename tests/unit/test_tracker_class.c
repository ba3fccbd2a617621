/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tracker_class.c: the classes of the probes, read by the rewriter. */
#include "cmocka_all.h"
#include "hprofx_bci.h"
#include "tracker_class.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seen {
    char names[256];
};

static void note(void *ctx, const struct hprofx_bci_method *m)
{
    struct seen *s = ctx;
    size_t n = strlen(s->names);
    snprintf(s->names + n, sizeof s->names - n, "%.*s%.*s ", m->name.len, m->name.at, m->desc.len, m->desc.at);
}

static struct hprofx_bci_result read_class(struct seen *s, const uint8_t *bytes, size_t n)
{
    struct hprofx_bci_result r;
    struct hprofx_bci_opts opts = {.tracker = "p/T", .first = 1, .method = note, .ctx = s, .result = &r};
    uint8_t *out;
    size_t m;
    const char *why = "";
    assert_int_equal(hprofx_bci_rewrite(&opts, bytes, n, &out, &m, &why), 0);
    free(out);
    return r;
}

static void assert_class(const struct hprofx_bci_result *r, const char *name, unsigned methods, unsigned with_code)
{
    assert_int_equal(r->major, 49);
    assert_int_equal(r->access, 0x1031);
    assert_int_equal(r->class_name.len, strlen(name));
    assert_memory_equal(r->class_name.at, name, strlen(name));
    assert_int_equal(r->methods, methods);
    assert_int_equal(r->with_code, with_code);
    assert_int_equal(r->rewritten, with_code);
}

TEST(natives_are_seven_and_a_loop)
{
    uint8_t bytes[HPX_TRACKER_CLASS_MAX];
    struct seen s = {""};
    struct hprofx_bci_result r = read_class(&s, bytes, hpx_tracker_class_natives(bytes));
    assert_class(&r, HPROFX_BCI_TRACKER, 8, 1);
    assert_string_equal(s.names, "calibrate(I)V ");
}

TEST(the_class_of_jvmpi_has_one_native_more)
{
    uint8_t bytes[HPX_TRACKER_CLASS_MAX];
    struct seen s = {""};
    struct hprofx_bci_result r = read_class(&s, bytes, hpx_tracker_class_jvmpi(bytes));
    assert_class(&r, HPX_TRACKER_JVMPI, 9, 1);
}

TEST(the_registrar_calls_a_native)
{
    uint8_t bytes[HPX_TRACKER_CLASS_MAX];
    struct seen s = {""};
    struct hprofx_bci_result r = read_class(&s, bytes, hpx_tracker_class_registrar(bytes, HPX_TRACKER_REGISTRAR));
    assert_class(&r, HPX_TRACKER_REGISTRAR, 2, 1);
    assert_string_equal(s.names, "run()V ");
}

static bool holds(const uint8_t *bytes, size_t n, uint64_t address)
{
    uint8_t constant[9] = {5}; /* CONSTANT_Long */
    for (int i = 0; i < 8; i++) {
        constant[1 + i] = (uint8_t)(address >> (56 - 8 * i));
    }
    return memmem(bytes, n, constant, sizeof constant) != NULL;
}

TEST(downcalls_know_their_targets)
{
    const struct hpx_tracker_targets to = {0x7f01020304050607, 0x8000000000000001, UINT64_MAX, 0x1234, 0x5678, 3};
    uint8_t bytes[HPX_TRACKER_CLASS_MAX];
    struct seen s = {""};
    size_t n = hpx_tracker_class_downcalls(bytes, &to);
    struct hprofx_bci_result r = read_class(&s, bytes, n);
    assert_class(&r, HPX_TRACKER_DOWN, 9, 9);
    assert_string_equal(s.names,
                        "enter(I)V exit(I)V thrown(I)V alloc(I)V array(II)V multi(Ljava/lang/Object;I)V object(Ljava/lang/Object;)V "
                        "test(ILjava/lang/Object;)I calibrate(I)V ");
    assert_true(holds(bytes, n, to.enter) && holds(bytes, n, to.exit) && holds(bytes, n, to.thrown) && holds(bytes, n, to.alloc) &&
                holds(bytes, n, to.array) && holds(bytes, n, to.test));
}

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

TESTS(NULL, NULL)
