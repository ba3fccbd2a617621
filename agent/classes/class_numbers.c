/* SPDX-License-Identifier: BSD-2-Clause */
/* class_numbers.c: see class_numbers.h. */
#include "class_numbers.h"
#include "vm.h"
#include <stdlib.h>

#define GROWN          2u
#define MOST_CONSTANTS 8000u

static _Atomic uint32_t methods, places; /* relaxed: numbers that were given; they only have to be unique */
static _Atomic uint32_t remembering;     /* relaxed: classes */
static HPX_OF_SESSION uint32_t before;   /* constant from load on */
static _Atomic(jvmtiEnv *) tags;         /* release: remember(); acquire: users. A tag is the address of struct hpx_class_numbers */

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

static struct hpx_class_numbers *remembered(jvmtiEnv *jvmti, jclass klass)
{
    jlong tag = 0;
    return jvmti != NULL && klass != NULL && (*jvmti)->GetTag(jvmti, klass, &tag) == JVMTI_ERROR_NONE
               ? (struct hpx_class_numbers *)(uintptr_t)tag
               : NULL;
}

struct hpx_class_numbers hpx_class_numbers_of(jclass klass)
{
    /* partner: hpx_class_numbers_remember() */
    const struct hpx_class_numbers *n = remembered(atomic_load_explicit(&tags, memory_order_acquire), klass);
    return n != NULL ? *n : (struct hpx_class_numbers){.method = 0};
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
    struct hpx_class_numbers *known = remembered(jvmti, klass);
    if (known != NULL) {
        *known = *n;
    } else if (jvmti != NULL && klass != NULL && (known = malloc(sizeof *known)) != NULL) {
        *known = *n;
        if ((*jvmti)->SetTag(jvmti, klass, (jlong)(uintptr_t)known) == JVMTI_ERROR_NONE) {
            atomic_fetch_add_explicit(&remembering, 1, memory_order_relaxed);
        } else {
            free(known);
        }
    }
}

uint32_t hpx_class_numbers_held(size_t *bytes)
{
    uint32_t n = atomic_load_explicit(&remembering, memory_order_relaxed);
    *bytes = n * sizeof(struct hpx_class_numbers);
    return n;
}
