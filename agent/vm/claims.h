/* SPDX-License-Identifier: BSD-2-Clause */
/* claims.h: which of several threads was the first to deal with an object of the JVM.
 *
 * JVMTI's tag and thread-local storage of an object are read and written by two calls, and a lock held over them would hang all other
 * threads while a debugger suspends the thread in between. So every thread adds a claim to a list, and the oldest claim of an object
 * decides. There are many lists, and a number of the object chooses its one: 64,000 threads are claimed when a session begins. The lock
 * covers only the ends of the lists.
 *
 * Lifetime: a claim stays until no thread is inside. A thread is inside from add or hold to leave. */
#ifndef HPX_CLAIMS_H
#define HPX_CLAIMS_H

#include <jni.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define HPX_CLAIM_LISTS 1024u

struct hpx_claim {
    struct hpx_claim *older;          /* of its list; constant while a thread is inside, as `object` */
    struct hpx_claim **list, *before; /* the lock's; before: the one that was added before it, to any list */
    jweak object;
    _Atomic uintptr_t value; /* the user's; so is its order */
};

struct hpx_claims {
    pthread_mutex_t lock;                     /* covers the rest; never held over a call of the JVM */
    struct hpx_claim *lists[HPX_CLAIM_LISTS]; /* the newest one of each */
    struct hpx_claim *last;                   /* that was added */
    uint32_t inside;
};
#define HPX_CLAIMS_INIT                                                                                                                    \
    {                                                                                                                                      \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                                                                  \
    }

/* Enters, and adds a claim with this value. number: the same for each claim of the object, different ones for most objects. Returns the
 * oldest claim of the object, which may be the new one: the same for all threads that are inside. NULL without memory: the thread has not
 * entered. Any attached thread, not in a handler; every call needs its leave. */
struct hpx_claim *hpx_claims_add(struct hpx_claims *c, JNIEnv *env, jobject object, uint64_t number, uintptr_t value);
/* Enters, without a claim: those of others stay. */
void hpx_claims_hold(struct hpx_claims *c);
/* Leaves: the caller no longer reads claims. The last one frees them. */
void hpx_claims_leave(struct hpx_claims *c, JNIEnv *env);

#endif
