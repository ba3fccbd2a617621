/* SPDX-License-Identifier: BSD-2-Clause */
/* class_numbers.c: see class_numbers.h. */
#include "class_numbers.h"
#include "vm.h"

#define GROWN          2u
#define MOST_CONSTANTS 8000u

static _Atomic uint32_t methods, places; /* relaxed: numbers that were given; they only have to be unique */
static HPX_OF_SESSION uint32_t before;   /* constant from load on */
static _Atomic(jvmtiEnv *) tags;         /* release: remember(); acquire: users. A tag is a struct hpx_class_numbers, packed */

void hpx_class_numbers_remember(void)
{
    const jvmtiCapabilities want = {.can_tag_objects = 1};
    void *env = NULL;
    if (atomic_load_explicit(&tags, memory_order_relaxed) == NULL &&
        (*hpx_vm.java)->GetEnv(hpx_vm.java, &env, JVMTI_VERSION_1_2) == JNI_OK) {
        jvmtiEnv *jvmti = env;
        if ((*jvmti)->AddCapabilities(jvmti, &want) == JVMTI_ERROR_NONE) {
            atomic_store_explicit(&tags, jvmti, memory_order_release); /* partner: remembered() */
        } else {
            (void)(*jvmti)->DisposeEnvironment(jvmti);
        }
    }
}

/* 32 bits, 16 and 16, which is as many as a class file can have. 0 is no tag: methods count from 1, and a file has constants. */
static jlong pack(const struct hpx_class_numbers *n)
{
    uint32_t constants = n->grown ? UINT16_MAX : n->constants;
    return (jlong)((uint64_t)n->method << 32 | (uint64_t)(n->methods & UINT16_MAX) << 16 | (constants & UINT16_MAX));
}

struct hpx_class_numbers hpx_class_numbers_of(jclass klass)
{
    jvmtiEnv *jvmti = atomic_load_explicit(&tags, memory_order_acquire); /* partner: hpx_class_numbers_remember() */
    jlong tag = 0;
    if (jvmti != NULL && klass != NULL && (*jvmti)->GetTag(jvmti, klass, &tag) != JVMTI_ERROR_NONE) {
        tag = 0;
    }
    uint64_t bits = (uint64_t)tag;
    return (struct hpx_class_numbers){.method = (uint32_t)(bits >> 32),
                                      .methods = (uint16_t)(bits >> 16),
                                      .constants = (uint16_t)bits,
                                      .grown = (uint16_t)bits == UINT16_MAX};
}

/* Behind magic and version: the number of constants. The session's begin and its end may each double them before the next look. */
bool hpx_class_numbers_fits(struct hpx_class_numbers *of, const unsigned char *file, jint n)
{
    uint32_t constants = n >= 10 ? (uint32_t)file[8] << 8 | file[9] : 0;
    of->constants = of->constants != 0 ? of->constants : constants;
    of->grown = of->grown || constants > MOST_CONSTANTS || constants > GROWN * of->constants;
    return !of->grown;
}

uint32_t hpx_class_numbers_methods(struct hpx_class_numbers *of, uint32_t n)
{
    if (of->methods != n) {
        of->method = 1 + atomic_fetch_add_explicit(&methods, n, memory_order_relaxed);
        of->methods = n;
    }
    return of->method;
}

void hpx_class_numbers_begin(void)
{
    before = atomic_load_explicit(&places, memory_order_relaxed);
}

uint32_t hpx_class_numbers_places_before(void)
{
    return before;
}

uint32_t hpx_class_numbers_places(uint32_t n)
{
    return 1 + atomic_fetch_add_explicit(&places, n, memory_order_relaxed);
}

/* A class is rewritten by one thread at a time. */
void hpx_class_numbers_keep(jclass klass, const struct hpx_class_numbers *n)
{
    jvmtiEnv *jvmti = atomic_load_explicit(&tags, memory_order_acquire); /* partner: hpx_class_numbers_remember() */
    if (jvmti != NULL && klass != NULL) {
        (void)(*jvmti)->SetTag(jvmti, klass, pack(n));
    }
}
