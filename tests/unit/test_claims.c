/* SPDX-License-Identifier: BSD-2-Clause */
/* test_claims.c: the oldest claim of an object decides, and finding it does not cost more where many objects are claimed. */
#include "claims.h"
#include "cmocka_all.h"

#define OBJECTS 8192u

static struct hpx_claims claims = HPX_CLAIMS_INIT;
static char objects[OBJECTS];
static unsigned refs, compared;

static jweak JNICALL new_weak(JNIEnv *env, jobject o)
{
    (void)env;
    refs++;
    return o;
}

static void JNICALL delete_weak(JNIEnv *env, jweak o)
{
    (void)env, (void)o;
    refs--;
}

static jboolean JNICALL same(JNIEnv *env, jobject a, jobject b)
{
    (void)env;
    compared++;
    return a == b;
}

static const struct JNINativeInterface_ table = {.NewWeakGlobalRef = new_weak, .DeleteWeakGlobalRef = delete_weak, .IsSameObject = same};
static JNIEnv env = &table;

static struct hpx_claim *add(unsigned i, uint64_t number, uintptr_t value)
{
    struct hpx_claim *c = hpx_claims_add(&claims, &env, (jobject)(void *)&objects[i], number, value);
    assert_non_null(c);
    return c;
}

static void the_oldest_claim_of_each_object_decides(void **unused)
{
    (void)unused;
    hpx_claims_hold(&claims);
    for (unsigned i = 0; i < OBJECTS; i++) {
        assert_int_equal(add(i, i, i + 1)->value, i + 1);
    }
    for (unsigned i = 0; i < OBJECTS; i++) {
        assert_int_equal(add(i, i, 0)->value, i + 1);
    }
    assert_int_equal(refs, 2 * OBJECTS);
    for (unsigned i = 0; i < 2 * OBJECTS; i++) {
        hpx_claims_leave(&claims, &env);
    }
    assert_int_equal(refs, 2 * OBJECTS);
    hpx_claims_leave(&claims, &env);
    assert_int_equal(refs, 0);
    assert_int_equal(add(0, 0, 77)->value, 77); /* nothing is left of those before */
    hpx_claims_leave(&claims, &env);
}

static void many_objects_are_not_compared_with_each_other(void **unused)
{
    (void)unused;
    compared = 0;
    hpx_claims_hold(&claims);
    for (unsigned i = 0; i < OBJECTS; i++) {
        (void)add(i, i, 0);
    }
    assert_true(compared <= OBJECTS * (OBJECTS / HPX_CLAIM_LISTS));
    for (unsigned i = 0; i <= OBJECTS; i++) {
        hpx_claims_leave(&claims, &env);
    }
    assert_int_equal(refs, 0);
}

static void objects_with_one_number_are_told_apart(void **unused)
{
    (void)unused;
    hpx_claims_hold(&claims);
    assert_int_equal(add(0, 5, 1)->value, 1);
    assert_int_equal(add(1, 5, 2)->value, 2);
    assert_int_equal(add(2, 5 + HPX_CLAIM_LISTS, 3)->value, 3);
    assert_int_equal(add(1, 5, 4)->value, 2);
    for (unsigned i = 0; i < 5; i++) {
        hpx_claims_leave(&claims, &env);
    }
    assert_int_equal(refs, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_claim_of_each_object_decides),
        cmocka_unit_test(many_objects_are_not_compared_with_each_other),
        cmocka_unit_test(objects_with_one_number_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
