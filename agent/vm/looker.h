/* SPDX-License-Identifier: BSD-2-Clause */
/* looker.h: a thread of hprofx that looks at the threads of the program (thread_list.h): attached to the JVM, one for a session.
 */
#ifndef HPX_LOOKER_H
#define HPX_LOOKER_H

#include "spawn.h"
#include "thread_list.h"
#include "vm.h"
#include "wake.h"
#include <pthread.h>
#include <stdatomic.h>

struct hpx_looker_work {
    const char *name;           /* for the kernel */
    const char *java_name;      /* begins with HPX_OURS */
    void *(*run)(void *unused); /* calls hpx_looker_run() */
    void (*serve)(JNIEnv *env); /* until it finds `quit` set, and then a last round */
    const char *refused;        /* message if the VM does not attach it, or there is no memory */
    uint32_t room;              /* of `frames` */
};

/* Zero is its beginning. */
struct hpx_looker {
    const struct hpx_looker_work *work;
    struct hpx_wake wake;   /* serve() waits for it; posted for `quit`, and by who has something to do for it */
    atomic_bool quit;       /* relaxed: ordered by the wake */
    atomic_bool running;    /* relaxed */
    _Atomic uint64_t until; /* relaxed: hpx_looker_late() */
    /* the thread's */
    jvmtiFrameInfo *frames; /* those of hpx_looker_ask() come first */
    uint64_t asking_ns;     /* time in which the VM was asked for stacks */
    /* who begins and ends the session */
    struct hpx_spawned thread;
    sem_t left;               /* posted when the thread has left the JVM */
    pthread_mutex_t starting; /* guards `state` */
    enum { HPX_LOOKER_NOT_YET, HPX_LOOKER_STARTED, HPX_LOOKER_REFUSED } state;
    bool gone; /* it has left or never started; of the thread that ends the session */
};

/* Starts the thread, once. VMInit or later, any thread, not in handlers. 0, -HPX_E_SYS: also in every call after a first failure, and after
 * stop. */
int hpx_looker_start(struct hpx_looker *l, const struct hpx_looker_work *work, struct hpx_err *err);
/* The whole of the thread. */
void hpx_looker_run(struct hpx_looker *l);
/* true: the session ends, and the VM must be asked no more. */
bool hpx_looker_late(const struct hpx_looker *l);
/* JVMTI takes one stack by a handshake with that thread alone; false: it stops all threads, so one call should take many. An attached
 * thread. */
bool hpx_looker_asks_one(void);
typedef void hpx_looker_told(JNIEnv *env, const struct hpx_held *h, const jvmtiFrameInfo *frames, jint n);
/* The thread asks the VM for the innermost frames of threads, at most `most` frames of HPX_HELD_MOST threads, and calls `told` for each.
 * Its n < 0: -enum hpx_unknown, no stack. */
void hpx_looker_ask(struct hpx_looker *l, JNIEnv *env, const struct hpx_held *held, uint32_t n, jint most, hpx_looker_told *told);
/* Has the thread do its last round and leave the JVM; waits for that, at most 0.3 s, in the second half of which it is late. VMDeath,
 * before the gate is closed. */
void hpx_looker_stop(struct hpx_looker *l);
/* The end of a session in a JVM that runs on, after stop: waits for the thread until `until_ns` (hpx_clock_mono()). false: it has not left,
 * and uses the environment. */
bool hpx_looker_left(struct hpx_looker *l, uint64_t until_ns);

#endif
