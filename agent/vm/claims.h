/* SPDX-License-Identifier: BSD-2-Clause */
/* claims.h: which of several threads was the first to deal with an object of the JVM.
 *
 * JVMTI's tag and thread-local storage of an object are read and written by two calls, and a lock held over them would hang all other
 * threads while a debugger suspends the thread in between. So every thread adds a claim to a list, and the oldest claim of an object
 * decides. The lock covers only the ends of the list.
 *
 * Lifetime: a claim stays until no thread is inside. A thread is inside from add or hold to leave. */
#ifndef HPX_CLAIMS_H
#define HPX_CLAIMS_H

#include <jni.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct hpx_claim {
    struct hpx_claim *older; /* constant while a thread is inside, as `object` */
    jweak object;
    _Atomic uintptr_t value; /* the user's; so is its order */
};

struct hpx_claims {
    pthread_mutex_t lock; /* covers the rest; never held over a call of the JVM */
    struct hpx_claim *newest;
    uint32_t inside;
};
#define HPX_CLAIMS_INIT                                                                                                                    \
    {                                                                                                                                      \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                                                                  \
    }

/* Enters, and adds a claim with this value. Returns the oldest claim of the object, which may be the new one: the same for all threads
 * that are inside. NULL without memory: the thread has not entered. Any attached thread, not in a handler; every call needs its leave. */
struct hpx_claim *hpx_claims_add(struct hpx_claims *c, JNIEnv *env, jobject object, uintptr_t value);
/* Enters, without a claim: those of others stay. */
void hpx_claims_hold(struct hpx_claims *c);
/* Leaves: the caller no longer reads claims. The last one frees them. */
void hpx_claims_leave(struct hpx_claims *c, JNIEnv *env);

#endif
