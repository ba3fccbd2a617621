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
static _Atomic(jvmtiEnv *) tags; /* release: hpx_class_numbers_remember(); acquire: users. A tag points to a struct known, never freed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* what the tags point to: two threads may redefine one class */

struct known {
    struct hpx_class_numbers numbers; /* the lock's */
    struct hpx_class_state state;
};

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

jvmtiEnv *hpx_class_numbers_environment(void)
{
    return atomic_load_explicit(&tags, memory_order_acquire); /* partner: hpx_class_numbers_remember() */
}

static struct known *find(jvmtiEnv *jvmti, jclass klass)
{
    jlong tag = 0;
    if (jvmti != NULL && klass != NULL && (*jvmti)->GetTag(jvmti, klass, &tag) != JVMTI_ERROR_NONE) {
        tag = 0;
    }
    return (struct known *)(uintptr_t)tag;
}

/* NULL: no memory. */
static struct known *find_or_make(jvmtiEnv *jvmti, jclass klass)
{
    struct known *k = find(jvmti, klass);
    if (k != NULL || jvmti == NULL || klass == NULL || (k = calloc(1, sizeof *k)) == NULL) {
        return k;
    }
    if ((*jvmti)->SetTag(jvmti, klass, (jlong)(uintptr_t)k) != JVMTI_ERROR_NONE) {
        free(k);
        k = NULL;
    }
    return k;
}

struct hpx_class_state *hpx_class_numbers_state(jclass klass, bool make)
{
    jvmtiEnv *jvmti = hpx_class_numbers_environment();
    struct known *k = make ? find_or_make(jvmti, klass) : find(jvmti, klass);
    return k != NULL ? &k->state : NULL;
}

struct hpx_class_numbers hpx_class_numbers_of(jclass klass)
{
    const struct known *known = find(hpx_class_numbers_environment(), klass);
    struct hpx_class_numbers n = {0};
    if (known != NULL) {
        pthread_mutex_lock(&lock);
        n = known->numbers;
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
    } else if (n > 0) {
        of->old_places = true;
    }
    of->used += n;
    return place;
}

bool hpx_class_numbers_mean(struct hpx_class_numbers *of, uint64_t method_hash, uint64_t place_hash)
{
    bool other_methods = method_hash != 0 && of->old_methods && of->of_methods.hash != method_hash;
    bool other_places = place_hash != 0 && of->old_places && of->of_places.hash != place_hash;
    if (other_methods || other_places) { /* both anew: else the one that was new seems old the next time, and they take turns for ever */
        of->methods = of->places = 0;
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
    struct known *k = find_or_make(hpx_class_numbers_environment(), klass);
    if (k == NULL) {
        return;
    }
    pthread_mutex_lock(&lock);
    k->numbers = *n;
    if (n->used > 0) { /* else a session without their probes */
        k->numbers.places = n->scattered ? 0 : n->used;
    }
    pthread_mutex_unlock(&lock);
    atomic_store_explicit(&k->state.without, 0, memory_order_relaxed);
}
