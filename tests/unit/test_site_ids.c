/* SPDX-License-Identifier: BSD-2-Clause */
/* test_site_ids.c: numbers of sites, tags of objects, numbers of classes, and no memory for any of them. */
#include "cmocka_all.h"
#include "failing_memory.h"
#include "site_ids.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST  HPX_SITE_FIRST        /* places of the first table */
#define SECOND (4u * HPX_SITE_FIRST) /* of the second one */
#define GIB    (UINT64_C(1) << 30)

static struct hpx_site_ids s;

static int teardown(void **state)
{
    (void)state;
    memory_allow();
    memory_fail_maps(0);
    hpx_site_ids_fini(&s);
    return 0;
}

static uint64_t objects(const struct hpx_site_objects *f)
{
    return atomic_load_explicit(&f->objects, memory_order_relaxed);
}

static uint64_t bytes(const struct hpx_site_objects *f)
{
    return atomic_load_explicit(&f->bytes, memory_order_relaxed);
}

static uint32_t fresh_id(uint64_t key)
{
    bool fresh = false;
    uint32_t id = hpx_site_ids_get(&s, key, &fresh);
    assert_int_not_equal(id, HPX_SITE_NONE);
    assert_true(fresh);
    return id;
}

static void assert_known(uint64_t key, uint32_t id)
{
    bool fresh = true;
    assert_int_equal(hpx_site_ids_get(&s, key, &fresh), id);
    assert_false(fresh);
}

static void assert_freed(uint32_t id, uint64_t n, uint64_t size)
{
    assert_int_equal(objects(hpx_site_ids_objects_of(&s, id)), n);
    assert_int_equal(bytes(hpx_site_ids_objects_of(&s, id)), size);
}

/* All have the last place of each table, so what finds it taken goes on at the first ones. */
TEST(keys_that_fit_nowhere_have_no_id, NULL, teardown)
{
    uint32_t highest = 0, n = 0;
    bool fresh;
    for (uint64_t high = 1; high < 1000; high++) {
        uint32_t id = hpx_site_ids_get(&s, high << 32 | UINT32_MAX, &fresh);
        if (id == HPX_SITE_NONE) {
            assert_false(fresh);
            break;
        }
        assert_true(fresh && id < HPX_SITE_IDS_MOST);
        highest = id > highest ? id : highest;
        n++;
    }
    assert_int_equal(n, 16 * HPX_SITE_TABLES);
    assert_int_equal(highest, HPX_SITE_IDS_MOST - 1); /* the last place of the last table */
    assert_freed(highest, 0, 0);
    hpx_site_ids_freed(&s, hpx_site_tag(highest, 64));
    assert_freed(highest, 1, 64);
    fresh_id(12345); /* one that has another place still has one */
}

TEST(a_freed_class_frees_its_mirrors_site, NULL, teardown)
{
    uint32_t a = fresh_id(1), b = fresh_id(2);
    struct hpx_class_number first = hpx_site_ids_class(&s, hpx_site_tag(a, 112)), none = hpx_site_ids_class(&s, 0), last = {0};
    for (int i = 0; i < 2000; i++) { /* in another page */
        last = hpx_site_ids_class(&s, hpx_site_tag(b, 96));
    }
    hpx_site_ids_freed(&s, hpx_site_class_tag(none));
    assert_freed(a, 0, 0);
    assert_freed(b, 0, 0);
    hpx_site_ids_freed(&s, hpx_site_class_tag(first));
    assert_freed(a, 1, 112);
    assert_freed(b, 0, 0);
    hpx_site_ids_freed(&s, hpx_site_class_tag(last));
    assert_freed(a, 1, 112);
    assert_freed(b, 1, 96);
}

TEST(a_class_number_that_was_never_given_frees_nothing, NULL, teardown)
{
    static const struct hpx_class_number numbers[] = {{5}, {1500}, {HPX_SITE_MOST - 1}, {HPX_SITE_MOST}, {UINT32_MAX}};
    uint32_t a = fresh_id(1);
    assert_int_equal(hpx_site_ids_class(&s, hpx_site_tag(a, 8)).v, 1);
    for (size_t i = 0; i < HPX_ARRAY_LEN(numbers); i++) {
        hpx_site_ids_freed(&s, hpx_site_class_tag(numbers[i]));
    }
    assert_freed(a, 0, 0);
    assert_freed(HPX_SITE_NONE, 0, 0);
}

TEST(when_all_class_numbers_are_given_there_is_none, NULL, teardown)
{
    uint32_t a = fresh_id(1);
    atomic_store_explicit(&s.classes, HPX_SITE_MOST - 2, memory_order_relaxed);
    struct hpx_class_number last = hpx_site_ids_class(&s, hpx_site_tag(a, 8));
    assert_int_equal(last.v, HPX_SITE_MOST - 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hpx_site_ids_class(&s, hpx_site_tag(a, 8)).v, 0);
        assert_int_equal(hpx_site_ids_class(&s, 0).v, 0);
        assert_true(atomic_load_explicit(&s.classes, memory_order_relaxed) <= HPX_SITE_MOST); /* it never wraps */
    }
    hpx_site_ids_freed(&s, hpx_site_class_tag(last));
    assert_freed(a, 1, 8);
}

TEST(without_memory_a_key_has_no_id_and_gets_one_later, NULL, teardown)
{
    bool fresh = true;
    memory_fail_maps(1);
    assert_int_equal(hpx_site_ids_get(&s, 1, &fresh), HPX_SITE_NONE);
    assert_false(fresh);
    assert_int_equal(memory_maps_left(), 0);
    for (uint32_t key = 1; key <= FIRST; key++) {
        fresh_id(key);
    }
    memory_fail_maps(1); /* of the second table */
    fresh = true;
    assert_int_equal(hpx_site_ids_get(&s, FIRST + 1, &fresh), HPX_SITE_NONE);
    assert_false(fresh);
    assert_int_equal(memory_maps_left(), 0);
    assert_known(7, 8); /* what is there needs no memory */
    fresh_id(FIRST + 1);
}

TEST(without_memory_for_its_mirrors_tag_a_class_has_no_number, NULL, teardown)
{
    uint32_t a = fresh_id(1);
    memory_fail_maps(1);
    assert_int_equal(hpx_site_ids_class(&s, hpx_site_tag(a, 8)).v, 0);
    assert_int_equal(memory_maps_left(), 0);
    memory_fail_maps(1);
    assert_int_not_equal(hpx_site_ids_class(&s, 0).v, 0); /* one without needs none */
    assert_int_equal(memory_maps_left(), 1);
    memory_fail_maps(0);
    struct hpx_class_number number = hpx_site_ids_class(&s, hpx_site_tag(a, 8));
    assert_int_not_equal(number.v, 0);
    hpx_site_ids_freed(&s, hpx_site_class_tag(number));
    assert_freed(a, 1, 8);
}

TEST(its_memory_is_told_and_given_back, NULL, teardown)
{
    assert_int_equal(hpx_site_ids_bytes(&s), 0);
    uint32_t a = fresh_id(1);
    size_t table = hpx_site_ids_bytes(&s);
    assert_true(table >= FIRST * (sizeof(uint64_t) + sizeof(struct hpx_site_objects)));
    (void)hpx_site_ids_class(&s, hpx_site_tag(a, 8));
    assert_int_equal(hpx_site_ids_bytes(&s), table + 1024 * sizeof(uint64_t));
    hpx_site_ids_fini(&s);
    assert_int_equal(hpx_site_ids_bytes(&s), 0);
    assert_int_equal(fresh_id(1), a); /* an empty one */
    assert_freed(a, 0, 0);
    assert_int_equal(hpx_site_ids_class(&s, 0).v, 1);
}

/* ---- a look at what lives ---- */

static struct hpx_site_look look;

static int end_look(void **state)
{
    hpx_site_look_fini(&look);
    return teardown(state);
}

TEST(a_look_counts_what_lives_by_site, NULL, end_look)
{
    uint32_t a = fresh_id(1), b = fresh_id(2), c = fresh_id(3);
    struct hpx_class_number mirror = hpx_site_ids_class(&s, hpx_site_tag(b, 112)), none = hpx_site_ids_class(&s, 0);
    assert_false(hpx_site_ids_looked(&s));
    assert_true(hpx_site_look_begin(&look, &s));
    hpx_site_look_add(&look, &s, hpx_site_tag(a, 24));
    hpx_site_look_add(&look, &s, hpx_site_tag(a, 40));
    hpx_site_look_add(&look, &s, hpx_site_class_tag(mirror) | HPX_SITE_ANNOUNCED);
    hpx_site_look_add(&look, &s, hpx_site_class_tag(none)); /* a class whose mirror was allocated before */
    hpx_site_look_add(&look, &s, 0);
    assert_freed(a, 0, 0); /* until it is taken */
    assert_int_equal(hpx_site_look_take(&look, &s), 3);
    assert_true(hpx_site_ids_looked(&s));
    assert_freed(a, 2, 64);
    assert_freed(b, 1, 112);
    assert_freed(c, 0, 0);
    hpx_site_look_fini(&look);

    hpx_site_ids_forget_look(&s);
    assert_false(hpx_site_ids_looked(&s));
    assert_true(hpx_site_look_begin(&look, &s));
    hpx_site_look_add(&look, &s, hpx_site_tag(c, 16));
    assert_int_equal(hpx_site_look_take(&look, &s), 1);
    assert_freed(a, 0, 0); /* what has died since */
    assert_freed(c, 1, 16);
}

TEST(a_copy_of_the_process_counts_for_the_process, NULL, end_look)
{
    uint32_t a = fresh_id(1);
    int status = -1;
    assert_true(hpx_site_look_begin(&look, &s));
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        hpx_site_look_add(&look, &s, hpx_site_tag(a, 32));
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(hpx_site_look_take(&look, &s), 1);
    assert_freed(a, 1, 32);
}

TEST(without_memory_there_is_no_look, NULL, end_look)
{
    (void)fresh_id(1);
    memory_fail_maps(1);
    assert_false(hpx_site_look_begin(&look, &s));
    memory_fail_maps(0);
    assert_false(hpx_site_ids_looked(&s));
}

TESTS(NULL, NULL)
