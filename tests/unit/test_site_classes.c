/* SPDX-License-Identifier: BSD-2-Clause */
/* test_site_classes.c: the classes of allocated objects: names, arrays, two numbers for one, serials of the binary format. */
#include "site_fixture.h"

static const struct hpx_model_config no_lines = {.lines = false};

static struct {
    uint32_t serial;
    bool unloaded;
} announced[16];
static uint32_t nannounced;

static bool class_event(void *ctx, const struct hpx_class_rec *rec, bool unloaded)
{
    (void)ctx;
    assert_true(nannounced < HPX_ARRAY_LEN(announced));
    announced[nannounced].serial = rec->serial.v;
    announced[nannounced++].unloaded = unloaded;
    return true;
}

static const struct hpx_model_config binary = {.signatures = true, .class_event = class_event};

static void begin_text(void)
{
    begin(&no_lines, 0, true);
    give_class();
}

/* Classes 100001 p.C with the methods 8 and on, 100002 p.D with 80 and on, references 1 and 2. */
static void begin_binary(void)
{
    nannounced = 0;
    begin(&binary, 0, true);
    give_class();
    fx_class(&f, 2, 80, 1, FX_TEXT("Lp/D;\0D.java\0d\0()V"));
    assert_int_equal(nannounced, 2);
}

TEST(numbers_may_come_in_any_order_and_with_gaps, NULL, end)
{
    begin_text();
    object_class(900, 0, "[I");
    object_class(3, 0, "[J");
    define(&f.t, id_of(0), 900, 16, 0, FX_STACK({8, 1}));
    define(&f.t, id_of(1), 3, 24, 0, FX_STACK({8, 1}));
    struct hpx_site_snapshot *s = take(2);
    assert_int_equal(row(s, "int[]", NULL)->bytes, 16);
    assert_int_equal(row(s, "long[]", NULL)->bytes, 24);
    hpx_site_snapshot_destroy(s);
}

/* Its rows are in later dumps, too. */
TEST(the_unloading_of_a_class_with_a_row_is_not_announced, NULL, end)
{
    begin_binary();
    object_class(1, 8, "Lp/C;");
    hpx_symbols_look_for_unloaded(f.symbols);
    fx_sweep(&f, 1, 3); /* both are gone */
    assert_int_equal(nannounced, 3);
    assert_true(announced[2].unloaded);
    assert_int_equal(announced[2].serial, 100002);
    define(&f.t, id_of(0), 1, 16, 0, NULL, 0);
    struct hpx_site_snapshot *s = take(1);
    assert_int_equal(row(s, "p.C", NULL)->klass.v, 100001);
    hpx_site_snapshot_destroy(s);
}

TEST(a_class_that_was_not_announced_gets_a_serial, NULL, end)
{
    begin_binary();
    object_class(1, 4000, "Lp/Lost;");
    define(&f.t, id_of(0), 1, 16, 0, FX_STACK({8, 1}));
    struct hpx_site_snapshot *s = take(1);
    assert_int_equal(row(s, "p.Lost", NULL)->klass.v, 100003);
    hpx_site_snapshot_destroy(s);
}

TESTS(NULL, NULL)
