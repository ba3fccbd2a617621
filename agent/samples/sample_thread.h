/* SPDX-License-Identifier: BSD-2-Clause */
/* sample_thread.h: a thread's state in cpu=samples; its ring holds stacks. */
#ifndef HPX_SAMPLE_THREAD_H
#define HPX_SAMPLE_THREAD_H

#include "event.h"
#include "mode.h"
#include "ticks.h"

#define HPX_ASKS 16u /* most signals of a thread that wait for a stack */

#define HPX_KNOWN 128u /* a power of two: a stack has several hashes, one for each place of its innermost method. The rest is shared */

#define HPX_KNOWN_PROBE 1u /* frames of a probe were taken off */
#define HPX_KNOWN_HEAP  2u /* frames in the heap are left out */

/* A stack, and the rest of the hash of its raw walk. */
struct hpx_known {
    uint64_t check;
    uint32_t stack;       /* of the hash that its slot had */
    uint16_t slot, flags; /* slot + 1 */
};

struct hpx_sample_thread {
    struct hpx_mode_thread s; /* first */
    struct hpx_ticker tick;   /* also holds the clock of a polled thread */
    /* stack_thread.c */
    bool handed_over;       /* under the lock of thread_list.h: the handler no longer writes the ring */
    atomic_bool polled;     /* release: hpx_stack_thread_poll(); acquire: poll_due(), hpx_stack_thread_flush(). Covers the clock's phase */
    _Atomic uint32_t asked; /* release: the handler; acquire: whoever may write the ring. Counts the signals noted in `asks` */
    _Atomic uint32_t taken; /* release: whoever may write the ring; acquire: the handler. Counts those of them that became samples */
    struct hpx_ask {
        uintptr_t pc;
        uint64_t weight, stalled; /* stalled: the part of the weight that the stack does not get */
    } asks[HPX_ASKS];
    _Atomic uint64_t pending; /* relaxed: intervals whose signals found `asks` full */
    /* stacks.c: the ring's producer's */
    uint32_t last_slot;                  /* slot of the last stack + 1; 0: none yet */
    struct hpx_ev_hash slots[HPX_SLOTS]; /* the stack that each slot names (event.h) */
    /* known_stacks.c: the handler's */
    uint32_t known_all;                /* samples whose stack was recognised */
    struct hpx_known known[HPX_KNOWN]; /* by the hash of a raw walk; slot 0: none */
    /* sampler.c: the handler's */
    uint32_t walks, ended; /* walks that judge.h does not know of yet, and those of them that could not go on */
    /* samples_vm.c: the thread's */
    uint32_t prepared; /* classes that it has prepared */
};

static_assert(sizeof(struct hpx_sample_thread) < 8192, "of memory that is in the cache of a short thread (kept_states.c)");

extern const struct hpx_mode hpx_samples; /* whose states these are */
/* State of the calling thread; NULL: none, or the thread is older than VMInit and had no signal yet. */
extern __thread struct hpx_sample_thread *hpx_sample_self;

#endif
