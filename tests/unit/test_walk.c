/* SPDX-License-Identifier: BSD-2-Clause */
/* test_walk.c: what a walk makes of everything that a VM may tell: records, facts, roots and totals. */
#include "walk_fixture.h"
#include <string.h>

static bool two_late_classes; /* by tags also */
static const uint8_t text_bytes[5] = {'a', 'b', 0xFF, 0, 'c'};
static const int32_t ints[2] = {-2, 0x01020304};
static const uint16_t chars[3] = {0x4142, 0, 0xFFFE};
static const int64_t longs[2] = {1, 2};

/* ---- what the VM tells ---- */

static void tell_roots(void)
{
    fx_root(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, FX_A);
    fx_root(JVMTI_HEAP_REFERENCE_SYSTEM_CLASS, FX_BASE);
    fx_root(JVMTI_HEAP_REFERENCE_MONITOR, FX_BARE);
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_ARRAY);
    fx_root(JVMTI_HEAP_REFERENCE_THREAD, FX_MAIN);
    fx_frame(JVMTI_HEAP_REFERENCE_STACK_LOCAL, FX_TEXT, FX_MAIN_TID, 0x77, 1);
    fx_frame(JVMTI_HEAP_REFERENCE_JNI_LOCAL, FX_A, FX_MAIN_TID, 0x78, 0);
    fx_root(JVMTI_HEAP_REFERENCE_THREAD, FX_OTHER);
    fx_frame(JVMTI_HEAP_REFERENCE_STACK_LOCAL, FX_LATE_ONE, FX_OTHER_TID, 0x79, 2);
    fx_frame(JVMTI_HEAP_REFERENCE_STACK_LOCAL, FX_BARE, 99, 0x7a, 3); /* of a virtual thread that it carries */
    fx_root(JVMTI_HEAP_REFERENCE_THREAD, FX_UNSTARTED);
    fx_frame(JVMTI_HEAP_REFERENCE_JNI_LOCAL, FX_BARE, 0, 0, -1); /* the VM knows no id of it */
    fx_root(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, FX_LATE);
}

static void tell_class(void)
{
    fx_ref(JVMTI_HEAP_REFERENCE_SUPERCLASS, FX_BASE, FX_OBJECT, 0);
    fx_ref(JVMTI_HEAP_REFERENCE_CLASS_LOADER, FX_BASE, FX_BARE, 0);
    fx_ref(JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN, FX_BASE, FX_BARE, 0);
    fx_ref(JVMTI_HEAP_REFERENCE_SIGNERS, FX_BASE, FX_ARRAY, 0);
    fx_ref(JVMTI_HEAP_REFERENCE_CONSTANT_POOL, FX_BASE, FX_TEXT, 9);
    fx_ref(JVMTI_HEAP_REFERENCE_CONSTANT_POOL, FX_BASE, FX_INT, 12);
    fx_ref(JVMTI_HEAP_REFERENCE_INTERFACE, FX_BASE, FX_LATES, 0);
    fx_static(FX_BASE, 4, JVMTI_PRIMITIVE_TYPE_LONG, 0x8122334455667788);
    fx_ref(JVMTI_HEAP_REFERENCE_STATIC_FIELD, FX_BASE, FX_MAIN, 5);
    fx_static(FX_BASE, 6, JVMTI_PRIMITIVE_TYPE_LONG, 1); /* a class that was redefined meanwhile */
    fx_ref(JVMTI_HEAP_REFERENCE_STATIC_FIELD, FX_LATE, FX_BARE, 0);
    fx_static(FX_LATE, 1, JVMTI_PRIMITIVE_TYPE_INT, 1);
    fx_ref(JVMTI_HEAP_REFERENCE_CLASS_LOADER, FX_LATE, FX_BARE, 0);
    fx_static(FX_DERIVED, 7, JVMTI_PRIMITIVE_TYPE_INT, 6);
}

static void tell_kinds(void)
{
    fx_class_of(FX_KIND);
    fx_value(FX_KIND, 0, JVMTI_PRIMITIVE_TYPE_BOOLEAN, 1);
    fx_value(FX_KIND, 1, JVMTI_PRIMITIVE_TYPE_CHAR, 0xFEDC);
    fx_value(FX_KIND, 2, JVMTI_PRIMITIVE_TYPE_FLOAT, 0xC0490FDB);
    fx_value(FX_KIND, 3, JVMTI_PRIMITIVE_TYPE_DOUBLE, 0xC00921FB54442D18);
    fx_value(FX_KIND, 4, JVMTI_PRIMITIVE_TYPE_BYTE, 0xFE);
    fx_value(FX_KIND, 5, JVMTI_PRIMITIVE_TYPE_SHORT, 0x8123);
    fx_value(FX_KIND, 6, JVMTI_PRIMITIVE_TYPE_INT, 0xFFFFFFFC);
    fx_value(FX_KIND, 7, JVMTI_PRIMITIVE_TYPE_LONG, 0xFEDCBA9876543210);
}

/* Of classes that the layout does not have, or has without fields. */
static void tell_unknown(void)
{
    fx_class_of(FX_LATE_ONE);
    fx_value(FX_LATE_ONE, 0, JVMTI_PRIMITIVE_TYPE_INT, 5);
    fx_field(FX_LATE_ONE, FX_LATE_ARRAY, 1);
    fx_field(FX_LATE_ONE, FX_LATE_PRIMITIVES, 2);
    fx_field(FX_LATE_ONE, FX_NOT_LINKED, 3);
    fx_field(FX_LATE_ONE, FX_LATE_LONGS, 4);
    fx_class_of(FX_LATE_ARRAY);
    fx_element(FX_LATE_ARRAY, FX_LATE_ARRAY, 0);
    fx_element(FX_LATE_ARRAY, FX_A, 1);
    fx_class_of(FX_LATE_PRIMITIVES);
    fx_elements(FX_LATE_PRIMITIVES, JVMTI_PRIMITIVE_TYPE_LONG, longs);
    fx_class_of(FX_NOT_LINKED);
    fx_field(FX_NOT_LINKED, FX_BARE, 0);
}

static void tell_objects(void)
{
    fx_class_of(FX_A);
    fx_field(FX_A, FX_B, 2);
    fx_value(FX_A, 3, JVMTI_PRIMITIVE_TYPE_INT, 7);
    tell_class();
    fx_class_of(FX_BARE);
    fx_class_of(FX_ARRAY);
    fx_element(FX_ARRAY, FX_B, 1);
    fx_class_of(FX_MAIN);
    fx_value(FX_MAIN, 0, JVMTI_PRIMITIVE_TYPE_LONG, 0x0102030405060708);
    fx_field(FX_MAIN, FX_TEXT, 1);
    fx_class_of(FX_OTHER);
    fx_field(FX_OTHER, FX_OTHER, 1); /* refers to itself */
    fx_class_of(FX_UNSTARTED);
    fx_frame(JVMTI_HEAP_REFERENCE_STACK_LOCAL, FX_TEXT_BYTES, 98, 0x80, 0); /* of a virtual thread that waits */
    fx_class_of(FX_TEXT);
    fx_field(FX_TEXT, FX_TEXT_BYTES, 0);
    fx_class_of(FX_TEXT_BYTES);
    fx_elements(FX_TEXT_BYTES, JVMTI_PRIMITIVE_TYPE_BYTE, text_bytes);
    tell_unknown();
    fx_class_of(FX_B);
    fx_field(FX_B, FX_SOME_INTS, 2);
    fx_value(FX_B, 3, JVMTI_PRIMITIVE_TYPE_INT, 8);
    fx_value(FX_B, 6, JVMTI_PRIMITIVE_TYPE_BOOLEAN, 1);
    fx_class_of(FX_SOME_INTS);
    fx_elements(FX_SOME_INTS, JVMTI_PRIMITIVE_TYPE_INT, ints);
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_SOME_CHARS);
    fx_class_of(FX_SOME_CHARS);
    fx_elements(FX_SOME_CHARS, JVMTI_PRIMITIVE_TYPE_CHAR, chars);
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_SOME_BYTES);
    fx_class_of(FX_SOME_BYTES); /* whose contents the VM does not tell */
    fx_root(JVMTI_HEAP_REFERENCE_OTHER, FX_KIND);
    tell_kinds();
}

/* ---- what is wanted ---- */

static void want_unknown(int object)
{
    want_instance(object, FX_OBJECT, 0);
}

static void want_kinds(void)
{
    want_instance(FX_KIND, FX_KINDS, 30);
    want(1, 1);
    want(2, 0xFEDC);
    want(4, 0xC0490FDB);
    want(8, 0xC00921FB54442D18);
    want(1, 0xFE);
    want(2, 0x8123);
    want(4, 0xFFFFFFFC);
    want(8, 0xFEDCBA9876543210);
}

static void want_threads(void)
{
    want_instance(FX_MAIN, FX_THREAD, 8 + fx.ids);
    want(8, 0x0102030405060708);
    want(fx.ids, fx_id(FX_TEXT));
    want_instance(FX_OTHER, FX_WORKER, 8 + fx.ids);
    want(8, 0);
    want(fx.ids, fx_id(FX_OTHER));
    want_instance(FX_UNSTARTED, FX_THREAD, 8 + fx.ids);
    want(8, 0);
    want(fx.ids, 0);
}

static void want_arrays(void)
{
    want_primitives(FX_SOME_INTS, 10, 2);
    want(4, 0xFFFFFFFE);
    want(4, 0x01020304);
    want_primitives(FX_SOME_CHARS, 5, 3);
    want(2, 0x4142);
    want(2, 0);
    want(2, 0xFFFE);
    want_primitives(FX_SOME_BYTES, 8, 0);
}

/* At the end, in any order. */
static uint32_t want_mirrors(void)
{
    static const int mirrors[] = {FX_INT, FX_LATE, FX_LATES, FX_LATE_LONGS};
    for (size_t i = 0; i < HPX_ARRAY_LEN(mirrors); i++) {
        want_instance(mirrors[i], FX_CLASS, fx.ids);
        want(fx.ids, 0);
    }
    return HPX_ARRAY_LEN(mirrors);
}

static void check_records(void)
{
    want_instance(FX_A, FX_BASE, fx.ids + 4);
    want(fx.ids, fx_id(FX_B));
    want(4, 7);
    want_instance(FX_BARE, FX_OBJECT, 0);
    want_objects(FX_ARRAY, FX_BASES, 3);
    want(fx.ids, 0);
    want(fx.ids, fx_id(FX_B));
    want(fx.ids, 0);
    want_threads();
    want_instance(FX_TEXT, FX_STRING, fx.ids + 4);
    want(fx.ids, fx_id(FX_TEXT_BYTES));
    want(4, 0);
    want_primitives(FX_TEXT_BYTES, 8, 5);
    for (int i = 0; i < 5; i++) {
        want(1, text_bytes[i]);
    }
    want_unknown(FX_LATE_ONE);
    want_unknown(FX_LATE_ARRAY);
    want_unknown(FX_LATE_PRIMITIVES);
    want_unknown(FX_NOT_LINKED);
    want_instance(FX_B, FX_DERIVED, fx.ids + 5);
    want(1, 1);
    want(fx.ids, fx_id(FX_SOME_INTS));
    want(4, 8);
    want_arrays();
    want_kinds();
    uint32_t mirrors = want_mirrors();
    fx_check_records(mirrors, 1 + fx.ids + 4 + fx.ids + 4 + fx.ids);
}

static void check_sizes(const struct hpx_heap_fact *f, uint64_t n)
{
    static const uint32_t sizes[FX_CLASSES] = {[FX_OBJECT] = 16, [FX_CLASS] = 112,  [FX_STRING] = 24, [FX_THREAD] = 40,  [FX_WORKER] = 48,
                                               [FX_BASE] = 24,   [FX_DERIVED] = 32, [FX_KINDS] = 48,  [FX_UNLINKED] = 56};
    bool seen[FX_CLASSES] = {false};
    uint32_t instances = 0;
    for (int i = 0; i < FX_CLASSES; i++) {
        instances += sizes[i] != 0;
    }
    assert_int_equal(n, instances);
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(f[i].kind, HPX_HEAP_VM_SIZE);
        assert_in_range(f[i].klass.v, 1, FX_CLASSES - 1);
        assert_false(seen[f[i].klass.v]);
        seen[f[i].klass.v] = true;
        assert_int_equal(f[i].value, sizes[f[i].klass.v]);
        assert_int_equal(f[i].index + f[i].type, 0);
    }
}

static void check_facts(void)
{
    const struct hpx_heap_fact want_first[] = {
        {.klass = {FX_BASE}, .kind = HPX_HEAP_LOADER, .value = fx_id(FX_BARE)},
        {.klass = {FX_BASE}, .kind = HPX_HEAP_DOMAIN, .value = fx_id(FX_BARE)},
        {.klass = {FX_BASE}, .kind = HPX_HEAP_SIGNERS, .value = fx_id(FX_ARRAY)},
        {.klass = {FX_BASE}, .kind = HPX_HEAP_CONSTANT, .type = HPX_TYPE_OBJECT, .index = 9, .value = fx_id(FX_TEXT)},
        {.klass = {FX_BASE}, .kind = HPX_HEAP_CONSTANT, .type = HPX_TYPE_OBJECT, .index = 12, .value = fx_id(FX_INT)},
        {.klass = {FX_BASE}, .kind = HPX_HEAP_STATIC, .type = HPX_TYPE_LONG, .index = 2, .value = 0x8122334455667788},
        {.klass = {FX_BASE}, .kind = HPX_HEAP_STATIC, .type = HPX_TYPE_OBJECT, .index = 3, .value = FX_MAIN_ID},
        {.klass = {FX_DERIVED}, .kind = HPX_HEAP_STATIC, .type = HPX_TYPE_INT, .index = 1, .value = 6}};
    const struct hpx_heap_fact *f = fx_facts();
    assert_true(fx.walk.facts.len > HPX_ARRAY_LEN(want_first));
    for (size_t i = 0; i < HPX_ARRAY_LEN(want_first); i++) {
        assert_memory_equal(&f[i], &want_first[i], sizeof *f);
    }
    check_sizes(f + HPX_ARRAY_LEN(want_first), fx.walk.facts.len - HPX_ARRAY_LEN(want_first));
}

static void check_roots(void)
{
    const struct hpx_heap_root_fact want_roots[] = {
        {.object = fx_id(FX_A), .depth = -1, .kind = HPX_ROOT_JNI_GLOBAL},
        {.object = fx_id(FX_BASE), .depth = -1, .kind = HPX_ROOT_STICKY_CLASS},
        {.object = fx_id(FX_BARE), .depth = -1, .kind = HPX_ROOT_MONITOR_USED},
        {.object = fx_id(FX_ARRAY), .depth = -1, .kind = HPX_ROOT_UNKNOWN},
        {.object = FX_MAIN_ID, .depth = -1, .kind = HPX_ROOT_THREAD_OBJECT},
        {.object = fx_id(FX_TEXT), .thread = FX_MAIN_ID, .method = 0x77, .depth = 1, .kind = HPX_ROOT_JAVA_FRAME},
        {.object = fx_id(FX_A), .thread = FX_MAIN_ID, .method = 0x78, .depth = 0, .kind = HPX_ROOT_JNI_LOCAL},
        {.object = FX_OTHER_ID, .depth = -1, .kind = HPX_ROOT_THREAD_OBJECT},
        {.object = fx_id(FX_LATE_ONE), .thread = FX_OTHER_ID, .method = 0x79, .depth = 2, .kind = HPX_ROOT_JAVA_FRAME},
        {.object = fx_id(FX_BARE), .method = 0x7a, .depth = 3, .kind = HPX_ROOT_JAVA_FRAME},
        {.object = fx_id(FX_UNSTARTED), .depth = -1, .kind = HPX_ROOT_THREAD_OBJECT},
        {.object = fx_id(FX_BARE), .depth = -1, .kind = HPX_ROOT_JNI_LOCAL},
        {.object = fx_id(FX_LATE), .depth = -1, .kind = HPX_ROOT_JNI_GLOBAL},
        {.object = fx_id(FX_TEXT_BYTES), .method = 0x80, .depth = 0, .kind = HPX_ROOT_JAVA_FRAME},
        {.object = fx_id(FX_SOME_CHARS), .depth = -1, .kind = HPX_ROOT_UNKNOWN},
        {.object = fx_id(FX_SOME_BYTES), .depth = -1, .kind = HPX_ROOT_UNKNOWN},
        {.object = fx_id(FX_KIND), .depth = -1, .kind = HPX_ROOT_UNKNOWN}};
    const struct hpx_heap_root_fact *r = fx_roots();
    assert_int_equal(fx.walk.roots.len, HPX_ARRAY_LEN(want_roots));
    for (size_t i = 0; i < HPX_ARRAY_LEN(want_roots); i++) {
        assert_memory_equal(&r[i], &want_roots[i], sizeof *r);
    }
}

static void check_totals(void)
{
    /* A, BARE, ARRAY, MAIN, OTHER, UNSTARTED, TEXT, TEXT_BYTES; four of unknown classes; B, INTS, CHARS, KIND; class objects. What the
     * VM does not tell of SOME_BYTES is not counted. */
    assert_int_equal(fx.walk.bytes, 24 + 16 + 32 + 40 + 48 + 40 + 24 + 24 + 4 * 16 + 32 + 24 + 24 + 48 + 4 * 112);
    assert_int_equal(fx.walk.objects, 8 + 4 + 5 + 4);
    assert_int_equal(fx.walk.heads, 24 - 5 + 24 - 8 + 24 - 6);
    assert_int_equal(fx.walk.unknown, 4);
    assert_int_equal(fx.walk.cut, 0);
    assert_int_equal(fx.walk.facts_at, fx.walk.objects_end);
    assert_int_equal(fx.walk.roots_at, fx.walk.facts_at + fx.walk.facts.len * sizeof(struct hpx_heap_fact));
    assert_int_equal(fx.spool_len, fx.walk.roots_at + fx.walk.roots.len * sizeof(struct hpx_heap_root_fact));
}

/* All objects of unknown classes have one class. */
static void share_late_class(void)
{
    fx.objects[FX_LATE_ARRAY].klass = fx.objects[FX_LATE_PRIMITIVES].klass = FX_LATE;
}

static void check_all(void)
{
    if (fx.mode == FX_BY_TAGS && !two_late_classes) {
        share_late_class();
    }
    two_late_classes = false;
    tell_roots();
    tell_objects();
    assert_int_equal(fx_walk(), HPX_WALK_WHOLE);
    assert_int_equal(fx.aborted, 0);
    check_records();
    check_facts();
    check_roots();
    check_totals();
}

TEST(a_walk_by_addresses_writes_every_object_fact_and_root, NULL, fx_end)
{
    fx_begin(FX_DIRECT, 8);
    check_all();
}

TEST(addresses_in_variables_give_the_same, NULL, fx_end)
{
    fx_begin(FX_INDIRECT, 8);
    check_all();
}

TEST(a_walk_by_tags_gives_the_same_but_for_ids_and_sites, NULL, fx_end)
{
    fx_begin(FX_BY_TAGS, 8);
    check_all();
    assert_int_equal(fx.walk.known.room + fx.walk.rooted.room, 0);
}

TEST(by_tags_several_classes_may_be_loaded_meanwhile, NULL, fx_end)
{
    fx_begin(FX_BY_TAGS, 8);
    two_late_classes = true;
    check_all();
}

/* Its class got no number, for want of memory. */
TEST(a_thread_whose_class_is_unknown_has_the_id_of_the_thread, NULL, fx_end)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        fx_begin(mode, 4);
        struct hpx_heap_klass *c = (struct hpx_heap_klass *)(uintptr_t)fx.layout.classes[FX_WORKER];
        fx.layout.classes[FX_WORKER] = NULL;
        fx.layout.class_numbers[FX_WORKER].v = 0;
        fx.objects[FX_WORKER].tag = 0;
        fx_root(JVMTI_HEAP_REFERENCE_THREAD, FX_OTHER);
        fx_class_of(FX_OTHER);
        enum hpx_walk_end end = fx_walk();
        fx.layout.classes[FX_WORKER] = c;
        assert_int_equal(end, HPX_WALK_WHOLE);
        assert_int_equal(fx_roots()[0].object, FX_OTHER_ID);
        fx_end(state);
    }
    fx_begin(FX_DIRECT, 4);
}

TEST(ids_of_four_bytes_are_small, NULL, fx_end)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        fx_begin(mode, 4);
        check_all();
        fx_end(state);
    }
    fx_begin(FX_DIRECT, 4);
}

TEST(ids_of_text_are_small_numbers_of_eight_bytes, NULL, fx_end)
{
    fx_begin(FX_DIRECT, 8);
    fx.walk.wide = false;
    check_all();
}

/* An environment without tags: no site, and the VM tells no class tag either. */
TEST(without_tags_there_are_no_sites, NULL, fx_end)
{
    fx_begin(FX_DIRECT, 8);
    for (int i = 0; i < FX_OBJECTS; i++) {
        fx.objects[i].tag = 0;
        fx.objects[i].site = 0;
    }
    check_all();
    for (int i = 0; i < FX_OBJECTS; i++) {
        assert_int_equal(fx.objects[i].tag, 0); /* and none is made */
    }
}

TEST(a_walk_by_addresses_leaves_all_tags_alone, NULL, fx_end)
{
    jlong before[FX_OBJECTS];
    fx_begin(FX_DIRECT, 8);
    for (int i = 0; i < FX_OBJECTS; i++) {
        before[i] = fx.objects[i].tag;
    }
    check_all();
    for (int i = 0; i < FX_OBJECTS; i++) {
        assert_int_equal(fx.objects[i].tag, before[i]);
    }
}

/* Class words in the upper bits of the mark, the length behind it. */
TEST(compact_headers_give_the_same, NULL, fx_end)
{
    fx_begin(FX_DIRECT, 8);
    for (int i = 0; i < FX_OBJECTS; i++) {
        uint32_t words[4];
        memcpy(words, fx.objects[i].at, sizeof words);
        words[1] = words[2] << 10 | ((uint32_t)i * 37 & 0x3ff);
        words[2] = words[3];
        words[3] = 0xffffffff;
        memcpy(fx.objects[i].at, words, sizeof words);
    }
    fx.walk.oops.class_at = 4;
    fx.walk.oops.class_shift = 10;
    fx.walk.oops.length_at = 8;
    check_all();
}

TEST(lower_halves_of_addresses_of_classes_may_be_zero, NULL, fx_end)
{
    fx_begin(FX_DIRECT, 8);
    fx.walk.oops.class_half = true;
    for (int i = 0; i < FX_OBJECTS; i++) {
        if (fx.objects[i].klass == FX_BASE) {
            fx_set_class_word(i, 0);
        }
    }
    check_all();
}

/* Its number is known, but not its fields: no memory for them. */
TEST(a_class_with_a_number_alone_is_not_in_the_dump, NULL, fx_end)
{
    fx_begin(FX_DIRECT, 8);
    fx_no_threads();
    struct hpx_heap_klass *c = (struct hpx_heap_klass *)(uintptr_t)fx.layout.classes[FX_UNLINKED];
    fx.layout.classes[FX_UNLINKED] = NULL;
    fx_root(JVMTI_HEAP_REFERENCE_JNI_GLOBAL, FX_NOT_LINKED);
    fx_ref(JVMTI_HEAP_REFERENCE_CLASS_LOADER, FX_UNLINKED, FX_NOT_LINKED, 0);
    fx_class_of(FX_NOT_LINKED);
    assert_int_equal(fx_walk(), HPX_WALK_WHOLE);
    assert_int_equal(fx.walk.unknown, 1);
    want_unknown(FX_NOT_LINKED);
    uint64_t id = 0x60000000 + fx_address(FX_UNLINKED);
    want(1, 0x21);
    want(8, id);
    want(4, HPX_SERIAL_TRACE);
    want(8, fx_id(FX_CLASS));
    want(4, 8);
    want(8, 0);
    fx_check_records(0, 0);
    assert_int_equal(fx.walk.facts.len, 1); /* the size of class objects */
    fx.layout.classes[FX_UNLINKED] = c;
}

/* Without ids of threads, roots of frames belong to the thread whose root came before. */
TEST(frames_follow_their_thread_where_the_vm_tells_no_ids, NULL, fx_end)
{
    for (enum fx_mode mode = 0; mode < FX_MODES; mode++) {
        fx_begin(mode, 8);
        hpx_address_map_fini(&fx.layout.tids);
        if (mode == FX_BY_TAGS) {
            share_late_class();
        }
        tell_roots();
        tell_objects();
        assert_int_equal(fx_walk(), HPX_WALK_WHOLE);
        const struct hpx_heap_root_fact *r = fx_roots();
        assert_int_equal(r[5].thread, FX_MAIN_ID);
        assert_int_equal(r[6].thread, FX_MAIN_ID);
        assert_int_equal(r[8].thread, FX_OTHER_ID);
        assert_int_equal(r[9].thread, FX_OTHER_ID);
        assert_int_equal(r[11].thread, 0); /* behind a thread that is not in the layout */
        fx_end(state);
    }
    fx_begin(FX_DIRECT, 8);
}

TESTS(NULL, NULL)
