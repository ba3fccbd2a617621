/* SPDX-License-Identifier: BSD-2-Clause */
/* claims.c: see claims.h. */
#include "claims.h"
#include <stdlib.h>

struct hpx_claim *hpx_claims_add(struct hpx_claims *c, JNIEnv *env, jobject object, uint64_t number, uintptr_t value)
{
    struct hpx_claim *mine = malloc(sizeof *mine);
    jweak ref = mine != NULL && object != NULL ? (*env)->NewWeakGlobalRef(env, object) : NULL;
    if (ref == NULL) {
        if (mine != NULL) {
            (*env)->ExceptionClear(env); /* no memory: the program's thread must not find our exception */
        }
        free(mine);
        return NULL;
    }
    mine->object = ref;
    mine->list = &c->lists[number % HPX_CLAIM_LISTS];
    atomic_init(&mine->value, value);
    pthread_mutex_lock(&c->lock);
    mine->older = *mine->list;
    mine->before = c->last;
    *mine->list = c->last = mine;
    c->inside++;
    pthread_mutex_unlock(&c->lock);
    struct hpx_claim *oldest = mine;
    for (struct hpx_claim *at = mine->older; at != NULL; at = at->older) {
        oldest = (*env)->IsSameObject(env, at->object, object) ? at : oldest;
    }
    return oldest;
}

void hpx_claims_hold(struct hpx_claims *c)
{
    pthread_mutex_lock(&c->lock);
    c->inside++;
    pthread_mutex_unlock(&c->lock);
}

void hpx_claims_leave(struct hpx_claims *c, JNIEnv *env)
{
    struct hpx_claim *all = NULL;
    pthread_mutex_lock(&c->lock);
    if (--c->inside == 0) {
        all = c->last;
        c->last = NULL;
        for (struct hpx_claim *at = all; at != NULL; at = at->before) {
            *at->list = NULL;
        }
    }
    pthread_mutex_unlock(&c->lock);
    for (struct hpx_claim *before; all != NULL; all = before) {
        before = all->before;
        (*env)->DeleteWeakGlobalRef(env, all->object);
        free(all);
    }
}
