/* SPDX-License-Identifier: BSD-2-Clause */
/* test_claims.c: the oldest claim of an object decides. */
#include "claims.h"
#include "cmocka_all.h"

#define OBJECTS 64u

static struct hpx_claims claims = HPX_CLAIMS_INIT;
static char objects[OBJECTS];
static unsigned refs;

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
    return a == b;
}

static const struct JNINativeInterface_ table = {.NewWeakGlobalRef = new_weak, .DeleteWeakGlobalRef = delete_weak, .IsSameObject = same};
static JNIEnv env = &table;

static struct hpx_claim *add(unsigned i)
{
    struct hpx_claim *c = hpx_claims_add(&claims, &env, (jobject)(void *)&objects[i]);
    assert_non_null(c);
    return c;
}

static void the_oldest_claim_of_each_object_decides(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < OBJECTS; i++) {
        struct hpx_claim *c = add(i);
        assert_int_equal(c->value, 0);
        c->value = i + 1;
    }
    for (unsigned i = 0; i < OBJECTS; i++) {
        assert_int_equal(add(i)->value, i + 1);
    }
    for (unsigned i = 0; i < 2 * OBJECTS; i++) {
        assert_int_equal(refs, 2 * OBJECTS);
        hpx_claims_leave(&claims, &env);
    }
    assert_int_equal(refs, 0);
    assert_int_equal(add(0)->value, 0); /* nothing is left of those before */
    hpx_claims_leave(&claims, &env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_claim_of_each_object_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
