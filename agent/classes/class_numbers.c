/* SPDX-License-Identifier: BSD-2-Clause */
/* class_numbers.c: see class_numbers.h. */
#include "class_numbers.h"
#include "session.h"
#include "vm.h"
#include <pthread.h>
#include <stdlib.h>

#define GROWN          2u
#define OF_PROBES      1000u
#define MOST_CONSTANTS 8000u

static _Atomic uint32_t methods, places; /* relaxed: numbers that were given; they only have to be unique */
static _Atomic(jvmtiEnv *)
    tags; /* release: hpx_class_numbers_remember(); acquire: users. A tag points to a struct hpx_class_numbers, never freed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* what the tags point to: two threads may redefine one class */

void hpx_class_numbers_remember(void)
{
    const jvmtiCapabilities want = {.can_tag_objects = 1};
    jvmtiEnv *none = NULL, *made;
    if (atomic_load_explicit(&tags, memory_order_relaxed) != NULL || (made = hpx_vm_environment(&want)) == NULL) {
        return;
    }
    if (!atomic_compare_exchange_strong_explicit(&tags, &none, made, memory_order_release, memory_order_relaxed)) { /* partner: users */
        (void)(*made)->DisposeEnvironment(made); /* another thread was faster */
    }
}

static struct hpx_class_numbers *find(jvmtiEnv *jvmti, jclass klass)
{
    jlong tag = 0;
    if (jvmti != NULL && klass != NULL && (*jvmti)->GetTag(jvmti, klass, &tag) != JVMTI_ERROR_NONE) {
        tag = 0;
    }
    return (struct hpx_class_numbers *)(uintptr_t)tag;
}

struct hpx_class_numbers hpx_class_numbers_of(jclass klass)
{
    const struct hpx_class_numbers *known = find(atomic_load_explicit(&tags, memory_order_acquire), klass); /* partner: ..._remember() */
    struct hpx_class_numbers n = {0};
    if (known != NULL) {
        pthread_mutex_lock(&lock);
        n = *known;
        pthread_mutex_unlock(&lock);
    }
    n.used = 0;
    n.old_methods = n.old_places = n.scattered = false;
    return n;
}

/* Behind magic and version: the number of constants. The session's begin and its end may each double them before the next look. */
bool hpx_class_numbers_fits(struct hpx_class_numbers *of, const unsigned char *file, jint n)
{
    uint32_t constants = n >= 10 ? (uint32_t)file[8] << 8 | file[9] : 0;
    of->constants = of->constants != 0 ? of->constants : constants;
    of->grown = of->grown || constants > MOST_CONSTANTS || constants > GROWN * of->constants + OF_PROBES;
    return !of->grown;
}

uint32_t hpx_class_numbers_methods(struct hpx_class_numbers *of, uint32_t n)
{
    of->old_methods = of->methods == n;
    if (!of->old_methods) {
        of->method = 1 + atomic_fetch_add_explicit(&methods, n, memory_order_relaxed);
        of->methods = n;
    }
    return of->method;
}

uint32_t hpx_class_numbers_places(struct hpx_class_numbers *of, uint32_t n)
{
    uint32_t place = of->place + of->used;
    if (n > of->places - of->used) {
        place = 1 + atomic_fetch_add_explicit(&places, n, memory_order_relaxed);
        of->place = of->used == 0 ? place : of->place;
        of->scattered = of->scattered || place != of->place + of->used;
        of->places = of->used + n;
    } else {
        of->old_places = true;
    }
    of->used += n;
    return place;
}

bool hpx_class_numbers_mean(struct hpx_class_numbers *of, uint64_t method_hash, uint64_t place_hash)
{
    bool other_methods = method_hash != 0 && of->old_methods && of->of_methods.hash != method_hash;
    bool other_places = place_hash != 0 && of->old_places && of->of_places.hash != place_hash;
    if (other_methods) {
        of->methods = 0;
    }
    if (other_places) {
        of->places = 0;
    }
    if (other_methods || other_places) {
        of->used = 0;
        of->old_places = of->scattered = false;
        return false;
    }
    if (method_hash != 0 && of->of_methods.hash != method_hash) {
        of->of_methods = (struct hpx_class_meaning){method_hash, 0};
    }
    if (place_hash != 0 && of->of_places.hash != place_hash) {
        of->of_places = (struct hpx_class_meaning){place_hash, 0};
    }
    return true;
}

uint32_t hpx_class_numbers_places_given(void)
{
    return atomic_load_explicit(&places, memory_order_relaxed);
}

void hpx_class_numbers_keep(jclass klass, const struct hpx_class_numbers *n)
{
    jvmtiEnv *jvmti = atomic_load_explicit(&tags, memory_order_acquire); /* partner: hpx_class_numbers_remember() */
    struct hpx_class_numbers *to = find(jvmti, klass), *made = NULL;
    if (to == NULL && jvmti != NULL && klass != NULL) {
        to = made = malloc(sizeof *made);
    }
    if (to != NULL) {
        pthread_mutex_lock(&lock);
        *to = *n;
        if (n->used > 0) { /* else a session without their probes */
            to->places = n->scattered ? 0 : n->used;
        }
        pthread_mutex_unlock(&lock);
    }
    if (made != NULL && (*jvmti)->SetTag(jvmti, klass, (jlong)(uintptr_t)made) != JVMTI_ERROR_NONE) {
        free(made);
    }
}
