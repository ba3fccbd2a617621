/* SPDX-License-Identifier: BSD-2-Clause */
/* claims.c: see claims.h. */
#include "claims.h"
#include <stdlib.h>

struct hpx_claim *hpx_claims_add(struct hpx_claims *c, JNIEnv *env, jobject object)
{
    struct hpx_claim *mine = calloc(1, sizeof *mine);
    jweak ref = mine != NULL && object != NULL ? (*env)->NewWeakGlobalRef(env, object) : NULL;
    if (ref == NULL) {
        if (mine != NULL) {
            (*env)->ExceptionClear(env); /* no memory: the program's thread must not find our exception */
        }
        free(mine);
        return NULL;
    }
    mine->object = ref;
    pthread_mutex_lock(&c->lock);
    mine->older = c->newest;
    c->newest = mine;
    c->inside++;
    pthread_mutex_unlock(&c->lock);
    struct hpx_claim *oldest = mine;
    for (struct hpx_claim *at = mine->older; at != NULL; at = at->older) {
        oldest = (*env)->IsSameObject(env, at->object, object) ? at : oldest;
    }
    return oldest;
}

void hpx_claims_leave(struct hpx_claims *c, JNIEnv *env)
{
    struct hpx_claim *all = NULL;
    pthread_mutex_lock(&c->lock);
    if (--c->inside == 0) {
        all = c->newest;
        c->newest = NULL;
    }
    pthread_mutex_unlock(&c->lock);
    for (struct hpx_claim *older; all != NULL; all = older) {
        older = all->older;
        (*env)->DeleteWeakGlobalRef(env, all->object);
        free(all);
    }
}
