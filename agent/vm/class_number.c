/* SPDX-License-Identifier: BSD-2-Clause */
/* class_number.c: see class_number.h. */
#include "class_number.h"
#include "claims.h"

HPX_OF_SESSION struct hpx_site_ids hpx_ids;

/* Classes that are being numbered: two numbers of one class would be two classes in a heap dump. */
static struct hpx_claims numbering = HPX_CLAIMS_INIT;

/* The class is claimed: whoever read its tag before it had a number gives it the number of this claim. */
static struct hpx_class_number give_number(jvmtiEnv *jvmti, jclass klass, struct hpx_claim *claim)
{
    jlong tag = 0;
    if ((*jvmti)->GetTag(jvmti, klass, &tag) != JVMTI_ERROR_NONE || hpx_site_class_of((uint64_t)tag).v != 0) {
        return hpx_site_class_of((uint64_t)tag);
    }
    uint32_t number = atomic_load_explicit(&claim->value, memory_order_relaxed); /* relaxed: the number is all there is */
    if (number == 0) {
        uint32_t mine = hpx_site_ids_class(&hpx_ids, (uint64_t)tag).v; /* wasted if another thread is faster */
        bool given =
            mine != 0 && atomic_compare_exchange_strong_explicit(&claim->value, &number, mine, memory_order_relaxed, memory_order_relaxed);
        number = given ? mine : number;
    }
    const struct hpx_class_number none = {0}, agreed = {number};
    bool tagged = agreed.v != 0 && (*jvmti)->SetTag(jvmti, klass, (jlong)hpx_site_class_tag(agreed)) == JVMTI_ERROR_NONE;
    return tagged ? agreed : none;
}

struct hpx_class_number hpx_class_number(jvmtiEnv *jvmti, jclass klass)
{
    jlong tag = 0;
    if ((*jvmti)->GetTag(jvmti, klass, &tag) != JVMTI_ERROR_NONE || hpx_site_class_of((uint64_t)tag).v != 0) {
        return hpx_site_class_of((uint64_t)tag);
    }
    JNIEnv *env = hpx_vm_env();
    struct hpx_claim *claim = env != NULL ? hpx_claims_add(&numbering, env, klass) : NULL;
    if (claim == NULL) {
        return (struct hpx_class_number){0};
    }
    struct hpx_class_number number = give_number(jvmti, klass, claim);
    hpx_claims_leave(&numbering, env);
    return number;
}

/* 0: not yet. */
static struct hpx_class_number announced(jvmtiEnv *jvmti, jclass klass, uint64_t table)
{
    const uint64_t both = HPX_SITE_CLASS_TAG | table;
    jlong tag = 0;
    bool known = (*jvmti)->GetTag(jvmti, klass, &tag) == JVMTI_ERROR_NONE && ((uint64_t)tag & both) == both;
    return known ? hpx_site_class_of((uint64_t)tag) : (struct hpx_class_number){0};
}

static void set_announced(jvmtiEnv *jvmti, jclass klass, struct hpx_class_number number, uint64_t table)
{
    jlong tag = 0;
    if ((*jvmti)->GetTag(jvmti, klass, &tag) == JVMTI_ERROR_NONE && hpx_site_class_of((uint64_t)tag).v == number.v) {
        (void)(*jvmti)->SetTag(jvmti, klass, (jlong)((uint64_t)tag | table));
    }
}

struct hpx_class_number hpx_class_announce(jvmtiEnv *jvmti, jclass klass, uint64_t table, hpx_class_message *message)
{
    const struct hpx_class_number none = {0};
    struct hpx_class_number number = announced(jvmti, klass, table);
    char *signature = NULL;
    if (hpx_likely(number.v != 0)) {
        return number;
    }
    number = hpx_class_number(jvmti, klass);
    if (number.v == 0 || (*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) != JVMTI_ERROR_NONE) {
        return none;
    }
    struct hpx_msg *m = message(jvmti, klass, number, signature);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    if (m == NULL) {
        return none;
    }
    hpx_lane_post(&hpx_session.aggregator.control, m, false);
    set_announced(jvmti, klass, number, table); /* afterwards: no event has a number that the model cannot resolve */
    return number;
}
