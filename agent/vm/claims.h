/* SPDX-License-Identifier: BSD-2-Clause */
/* claims.h: which of several threads was the first to number a class.
 *
 * JVMTI reads and writes the tag of an object by two calls, and a lock held over them would hang all other threads while a debugger
 * suspends the thread in between. So every thread adds a claim to a list, and the oldest claim of an object decides. The lock covers only
 * the end of the list, which is as long as there are threads that number classes at this moment.
 *
 * Lifetime: a claim stays until no thread is inside. A thread is inside from add to leave. */
#ifndef HPX_CLAIMS_H
#define HPX_CLAIMS_H

#include <jni.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct hpx_claim {
    struct hpx_claim *older; /* constant while a thread is inside, as `object` */
    jweak object;
    _Atomic uint32_t value; /* the user's, from 0 on; so is its order */
};

struct hpx_claims {
    pthread_mutex_t lock;     /* covers the rest; never held over a call of the JVM */
    struct hpx_claim *newest; /* that was added */
    uint32_t inside;
};
#define HPX_CLAIMS_INIT                                                                                                                    \
    {                                                                                                                                      \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                                                                  \
    }

/* Enters, and adds a claim. Returns the oldest claim of the object, which may be the new one: the same for all threads that are inside.
 * NULL without memory: the thread has not entered. Any attached thread, not in a handler; every call needs its leave. */
struct hpx_claim *hpx_claims_add(struct hpx_claims *c, JNIEnv *env, jobject object);
/* Leaves: the caller no longer reads claims. The last one frees them. */
void hpx_claims_leave(struct hpx_claims *c, JNIEnv *env);

#endif
