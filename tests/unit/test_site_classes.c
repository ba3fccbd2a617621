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

TEST(a_row_has_the_name_and_the_kind_of_its_class, NULL, end)
{
    static const struct {
        const char *signature, *name;
        uint8_t array;
    } classes[] = {{"Lp/C$D;", "p.C$D", 0},     {"[Z", "boolean[]", 4}, {"[C", "char[]", 5},
                   {"[F", "float[]", 6},        {"[D", "double[]", 7},  {"[B", "byte[]", 8},
                   {"[S", "short[]", 9},        {"[I", "int[]", 10},    {"[J", "long[]", 11},
                   {"[Lp/C$D;", "p.C$D[]", 2},  {"[[I", "int[][]", 2},  {"[[Lp/C$D;", "p.C$D[][]", 2},
                   {"LDefault;", "Default", 0}, {"LZ;", "Z", 0},        {"[LI;", "I[]", 2}};
    begin_text();
    for (uint32_t i = 0; i < HPX_ARRAY_LEN(classes); i++) {
        object_class(i + 1, 0, classes[i].signature);
        define(&f.t, id_of(i), i + 1, 8 * (i + 1), 0, FX_STACK({8, 1}));
    }
    struct hpx_site_snapshot *s = take(HPX_ARRAY_LEN(classes));
    for (uint32_t i = 0; i < HPX_ARRAY_LEN(classes); i++) {
        assert_int_equal(row(s, classes[i].name, "a")->array, classes[i].array);
        assert_int_equal(row(s, classes[i].name, "a")->bytes, 8 * (i + 1));
        assert_int_equal(row(s, classes[i].name, "a")->klass.v, 0); /* the text tells of no classes */
    }
    hpx_site_snapshot_destroy(s);
}

TEST(a_class_that_two_threads_numbered_is_one, NULL, end)
{
    begin_text();
    object_class(1, 8, "Lp/C;");
    object_class(2, 8, "Lp/C;");
    object_class(3, 0, "[I");
    object_class(4, 0, "[I");
    define(&f.t, id_of(0), 2, 16, 0, FX_STACK({8, 1}));
    define(&f.u, id_of(1), 1, 16, 0, FX_STACK({8, 1}));
    define(&f.t, id_of(2), 3, 24, 0, FX_STACK({8, 1}));
    define(&f.u, id_of(3), 4, 24, 0, FX_STACK({8, 1}));
    struct hpx_site_snapshot *s = take(2);
    assert_row(row(s, "p.C", NULL), 2, 32, 2, 32);
    assert_row(row(s, "int[]", NULL), 2, 48, 2, 48);
    hpx_site_snapshot_destroy(s);
}

/* Of different loaders: their methods differ. */
TEST(two_classes_of_one_name_are_two_rows_in_binary_and_one_in_text, NULL, end)
{
    for (uint32_t rows = 1; rows < 3; rows++) {
        begin(rows == 1 ? &no_lines : &binary, 0, true);
        nannounced = 0;
        give_class();
        object_class(1, 8, "Lp/C;");
        object_class(2, 800, "Lp/C;");
        define(&f.t, id_of(0), 1, 16, 0, FX_STACK({8, 1}));
        define(&f.t, id_of(1), 2, 16, 0, FX_STACK({8, 1}));
        hpx_site_snapshot_destroy(take(rows));
        (void)end(NULL);
    }
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

TEST(objects_of_no_known_class_have_a_row, NULL, end)
{
    begin_text();
    object_class(5, 8, "Lp/C;");
    define(&f.t, id_of(0), 0, 16, 0, FX_STACK({8, 1}));  /* no number could be had */
    define(&f.t, id_of(1), 3, 16, 0, FX_STACK({8, 1}));  /* its message got lost */
    define(&f.t, id_of(2), 70, 16, 0, FX_STACK({8, 1})); /* likewise */
    define(&f.t, id_of(3), 5, 16, 0, FX_STACK({8, 1}));
    struct hpx_site_snapshot *s = take(2);
    assert_row(row(s, "hprofx.unknown", "a"), 3, 48, 3, 48);
    assert_int_equal(row(s, "hprofx.unknown", "a")->array, 0);
    assert_row(row(s, "p.C", "a"), 1, 16, 1, 16);
    hpx_site_snapshot_destroy(s);
}

TEST(a_class_has_the_serial_of_its_announcement, NULL, end)
{
    begin_binary();
    object_class(1, 80, "Lp/D;");
    object_class(2, 24, "Lp/C;"); /* any of its methods */
    define(&f.t, id_of(0), 1, 16, 0, FX_STACK({8, 1}));
    define(&f.t, id_of(1), 2, 16, 0, FX_STACK({8, 1}));
    define(&f.t, id_of(2), 0, 16, 0, FX_STACK({8, 1}));
    struct hpx_site_snapshot *s = take(3);
    assert_int_equal(row(s, "p.C", NULL)->klass.v, 100001);
    assert_int_equal(row(s, "p.D", NULL)->klass.v, 100002);
    assert_int_equal(row(s, "hprofx.unknown", NULL)->klass.v, HPX_SERIAL_CLASS); /* as that of frames without a method */
    assert_int_equal(nannounced, 2);
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

TEST(an_array_has_a_serial_of_its_own, NULL, end)
{
    begin_binary();
    object_class(1, 0, "[I");
    object_class(2, 0, "[Lp/C;");
    object_class(3, 0, "[I"); /* numbered by another thread, too */
    object_class(4, 8, "Lp/C;");
    fx_class(&f, 3, 160, 1, FX_TEXT("Lp/E;\0E.java\0e\0()V")); /* a class that comes later */
    object_class(5, 160, "Lp/E;");
    for (uint32_t i = 0; i < 5; i++) {
        define(&f.t, id_of(i), i + 1, 16, 0, FX_STACK({8, 1}));
    }
    struct hpx_site_snapshot *s = take(4);
    assert_int_equal(row(s, "int[]", NULL)->objects, 2);
    assert_int_equal(row(s, "int[]", NULL)->klass.v, 100003);
    assert_int_equal(row(s, "p.C[]", NULL)->klass.v, 100004);
    assert_int_equal(row(s, "p.C", NULL)->klass.v, 100001);
    assert_int_equal(row(s, "p.E", NULL)->klass.v, 100005);
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
