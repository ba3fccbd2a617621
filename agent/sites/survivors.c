/* SPDX-License-Identifier: BSD-2-Clause */
/* survivors.c: see survivors.h. */
#include "survivors.h"
#include "class_number.h"
#include "clock.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define DUE     65536u /* objects */
#define WAIT_NS UINT64_C(5000000000)

struct survivor {
    jweak ref; /* NULL: of a value object */
    uint64_t tag;
    struct survivor *next;
};

/* A stack; taken only as a whole, so that it has no A-B-A. release: who pushes; acquire: who takes it */
static HPX_OF_SESSION _Atomic(struct survivor *) fresh;
static HPX_OF_SESSION _Atomic uint32_t nfresh; /* relaxed */
static HPX_OF_SESSION atomic_bool looks;       /* acquire, release: a thread owns `known` */
static HPX_OF_SESSION struct survivor *known;

jweak hpx_survivors_reference(JNIEnv *env, jobject object)
{
    bool pending = (*env)->ExceptionCheck(env);
    jweak ref = (*env)->NewWeakGlobalRef(env, object);
    if (ref == NULL && !pending) {
        (*env)->ExceptionClear(env); /* an OutOfMemoryError of ours is none of the program's */
    }
    return ref;
}

bool hpx_survivors_add(JNIEnv *env, jobject object, uint64_t tag)
{
    struct survivor *s = malloc(sizeof *s);
    jweak ref = s != NULL && object != NULL ? hpx_survivors_reference(env, object) : NULL;
    if (s == NULL || (ref == NULL && object != NULL)) {
        free(s);
        return false;
    }
    *s = (struct survivor){ref, tag, atomic_load_explicit(&fresh, memory_order_relaxed)};
    while (!atomic_compare_exchange_weak_explicit(&fresh, &s->next, s, memory_order_release, memory_order_relaxed)) {
        /* partner: adopt() */
    }
    atomic_fetch_add_explicit(&nfresh, 1, memory_order_relaxed);
    return true;
}

bool hpx_survivors_due(void)
{
    return atomic_load_explicit(&nfresh, memory_order_relaxed) >= DUE;
}

/* false: another thread looks, and does not come to its end. */
static bool begin(void)
{
    uint64_t until = hpx_clock_mono() + WAIT_NS;
    while (atomic_exchange_explicit(&looks, true, memory_order_acquire)) { /* partner: end() */
        if (hpx_clock_mono() > until) {
            return false;
        }
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return true;
}

static void end(void)
{
    atomic_store_explicit(&looks, false, memory_order_release); /* partner: begin() */
}

/* Moves what has come to the beginning of `known`. */
static void adopt(void)
{
    struct survivor *come = atomic_exchange_explicit(&fresh, NULL, memory_order_acquire), /* partner: hpx_survivors_add() */
        **last = &come;
    atomic_store_explicit(&nfresh, 0, memory_order_relaxed);
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = known;
    known = come;
}

void hpx_survivors_look(JNIEnv *env)
{
    if (!begin()) {
        return; /* its figures are those of this moment, too */
    }
    adopt();
    for (struct survivor **at = &known; *at != NULL;) {
        struct survivor *s = *at;
        if ((*env)->IsSameObject(env, s->ref, NULL)) {
            hpx_site_ids_freed(&hpx_ids, s->tag);
            if (s->ref != NULL) {
                (*env)->DeleteWeakGlobalRef(env, s->ref);
            }
            *at = s->next;
            free(s);
        } else {
            at = &s->next;
        }
    }
    end();
}

void hpx_survivors_forget(JNIEnv *env)
{
    if (!begin()) {
        return;
    }
    adopt();
    for (const struct survivor *s = known; s != NULL; s = s->next) {
        if (s->ref != NULL) {
            (*env)->DeleteWeakGlobalRef(env, s->ref);
        }
    }
    end();
    hpx_survivors_fini();
}

void hpx_survivors_fini(void)
{
    adopt();
    for (struct survivor *s = known, *next; s != NULL; s = next) {
        next = s->next;
        free(s);
    }
    known = NULL;
}
