/* SPDX-License-Identifier: BSD-2-Clause */
/* test_walk_tags.c: ordinals of a walk, the tags that they stand for, frees that come in between, and no memory. */
#include "cmocka_all.h"
#include "failing_memory.h"
#include "site_ids.h"

static struct hpx_site_ids s;

static int teardown(void **state)
{
    (void)state;
    memory_allow();
    memory_fail_maps(0);
    hpx_site_ids_fini(&s);
    return 0;
}

static void a_tag_of_the_walk_stands_for_the_one_before(void **state)
{
    bool fresh;
    uint32_t id = hpx_site_ids_get(&s, 77, &fresh);
    uint64_t site = hpx_site_tag(id, 48), klass = hpx_site_class_tag(5) | HPX_SITE_ANNOUNCED;
    (void)state;
    assert_int_equal(hpx_walk_new(&s.walk, 0), 0);
    assert_int_equal(hpx_walk_new(&s.walk, site), 1);
    assert_int_equal(hpx_walk_plain(&s.walk, HPX_WALK_TAG | 0), 0);
    assert_int_equal(hpx_walk_plain(&s.walk, HPX_WALK_TAG | 1), site);
    assert_int_equal(hpx_walk_plain(&s.walk, HPX_WALK_TAG | HPX_WALK_KEEP | 1), site);
    assert_int_equal(hpx_walk_plain(&s.walk, site), site);
    assert_int_equal(hpx_walk_plain(&s.walk, klass), klass); /* the bit of a class wins */
    assert_int_equal(hpx_walk_plain(&s.walk, HPX_WALK_TAG | UINT64_C(99999999999)), 0);
    assert_int_equal(hpx_site_class_of(klass), 5);
    hpx_site_ids_freed(&s, HPX_WALK_TAG | 1); /* dies before its tag is restored */
    assert_int_equal(atomic_load(&hpx_site_ids_freed_of(&s, id)->objects), 1);
    assert_int_equal(atomic_load(&hpx_site_ids_freed_of(&s, id)->bytes), 48);
    hpx_site_ids_freed(&s, HPX_WALK_TAG | 0);
    assert_int_equal(atomic_load(&hpx_site_ids_freed_of(&s, id)->objects), 1);
}

static void a_walk_begins_with_nothing(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < (1u << HPX_WALK_BITS) + 1; i++) {
        assert_int_equal(hpx_walk_new(&s.walk, i), i);
    }
    assert_int_equal(hpx_walk_bytes(&s.walk), 2 * sizeof(struct hpx_walk_page));
    assert_int_equal(hpx_walk_plain(&s.walk, HPX_WALK_TAG | 1u << HPX_WALK_BITS), 1u << HPX_WALK_BITS);
    hpx_walk_begin(&s.walk);
    for (uint32_t i = 0; i <= 1u << HPX_WALK_BITS; i++) { /* a late free may still read every page */
        assert_int_equal(hpx_walk_plain(&s.walk, HPX_WALK_TAG | i), 0);
    }
    assert_int_equal(hpx_walk_new(&s.walk, 7), 0);
    assert_int_equal(hpx_walk_plain(&s.walk, HPX_WALK_TAG), 7);
    hpx_walk_tags_fini(&s.walk);
    assert_int_equal(hpx_walk_bytes(&s.walk), 0);
}

static void without_memory_there_is_no_ordinal(void **state)
{
    (void)state;
    memory_fail_maps(1);
    assert_int_equal(hpx_walk_new(&s.walk, 7), UINT64_MAX);
    assert_int_equal(hpx_walk_new(&s.walk, 7), 0);
    assert_int_equal(hpx_walk_plain(&s.walk, HPX_WALK_TAG), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_tag_of_the_walk_stands_for_the_one_before, teardown),
        cmocka_unit_test_teardown(a_walk_begins_with_nothing, teardown),
        cmocka_unit_test_teardown(without_memory_there_is_no_ordinal, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
