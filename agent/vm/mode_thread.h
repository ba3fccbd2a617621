/* SPDX-License-Identifier: BSD-2-Clause */
/* mode_thread.h: the common head of every per-mode state of a profiled thread.
 *
 * A thread has one state per active mode, each with its own ring, because producers and readers of the rings differ. The states are
 * chained in the order of session.modes; they begin, end and retire together; the aggregator frees them one by one (hpx_mode.gone). A
 * mode's fast path finds its state by its own thread-local pointer. */
#ifndef HPX_MODE_THREAD_H
#define HPX_MODE_THREAD_H

#include "thread.h"
#include <jvmti.h>
#include <sys/types.h>

struct hpx_mode_thread {
    struct hpx_thread base;               /* must be first: the pipeline's view */
    struct hpx_mode_thread *next, *first; /* of the chain; next is NULL in the last. Constant; used by the owner and its handler */
    JNIEnv *env;                          /* set by the owner, or by its handler if adopted; loaded by hpx_mode_thread_env() */
    pid_t tid;                            /* 0: not known yet */
    uint32_t serial;                      /* in the first of the chain: of the thread; before `came` of a mode */
    uint32_t place;                       /* in the first of the chain: in thread_list.h, + 1; 0: none. Constant while it is in the list */
    uint32_t session;                     /* of which it is complete: hpx_session_is(). The owner's and its handler's */
    uintptr_t stack_low;                  /* lowest word of the stack; 0: not known */
    uintptr_t stack_end;                  /* above the highest word of the stack; 0: not known */
    bool renewed;                         /* made of the thread's state of an earlier session: a pointer of the thread may lead to it */
    bool adopted; /* the thread started before the session; its state outlives it, because other threads' handlers read it */
};

/* NULL: an adopted thread that has not found itself. relaxed: the environment is the thread's own, for as long as it lives. */
static inline JNIEnv *hpx_mode_thread_env(const struct hpx_mode_thread *s)
{
    return __atomic_load_n(&s->env, __ATOMIC_RELAXED);
}

/* For hpx_vm_mode.ring_bytes: the power of two times `least` that holds `bytes`. */
static inline uint32_t hpx_ring_bytes(uint32_t least, size_t bytes)
{
    while (least < bytes) {
        least *= 2;
    }
    return least;
}

#endif
