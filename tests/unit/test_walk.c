/* SPDX-License-Identifier: BSD-2-Clause */
/* test_walk.c: what a walk makes of classes for which there was no memory. All others: tests/jvm/test_heap.py. */
#include "walk_fixture.h"

static void want_unknown(int object)
{
    want_instance(object, FX_OBJECT, 0);
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
    assert_int_equal(fx.walk.found.unknown, 1);
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

TESTS(NULL, NULL)
