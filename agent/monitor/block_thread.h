/* SPDX-License-Identifier: BSD-2-Clause */
/* block_thread.h: state of a thread in monitor=y. Its ring holds what blocked the thread, and the virtual threads that it carried. */
#ifndef HPX_BLOCK_THREAD_H
#define HPX_BLOCK_THREAD_H

#include "event_stacks.h"

#define HPX_PLACE_CACHE 256u /* entries of a thread's cache of places */

/* A block that is not over. */
struct hpx_pending {
    uint32_t id;    /* of its place; 0: none was taken */
    uint32_t klass; /* of a wait: the class that the VM must name at its end, too; 0: not known */
    uint64_t since; /* hpx_clock_mono(); 0: nothing is pending */
};

/* All but `s`: the owner's. */
struct hpx_block_thread {
    struct hpx_mode_thread s; /* first */
    uint32_t number;          /* thread=y makes it part of the key of a place, so threads do not share traces */
    struct hpx_pending enter, wait;
    uint64_t random; /* stacks=sampled */
    double left;     /* stacks=sampled: blocked ns until the next stack */
    struct {
        uint64_t key;
        uint32_t id;
    } cache[HPX_PLACE_CACHE];
    struct hpx_event_stacks stacks; /* ids of places */
};

/* State of the agent's own threads and of threads that have ended: nothing is recorded. */
extern struct hpx_block_thread hpx_block_nobody;
/* State of the calling thread. NULL: it has none, or it started before the agent and was not blocked yet. */
extern __thread struct hpx_block_thread *hpx_block_self;

/* The same, found if need be; NULL: nothing is recorded. Inside the gate. */
struct hpx_block_thread *hpx_block_find_self(JNIEnv *env);

#endif
