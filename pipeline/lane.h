/* SPDX-License-Identifier: BSD-2-Clause */
/* lane.h: a queue of messages from any thread to one thread of ours: definitions and requests (control lane), work for the writer,
 * work for the service thread. Wait-free for the senders; not in signal handlers and GC callbacks only because messages are malloc'ed.
 *
 * Senders: any thread. Receiver: one thread. Order: first in, first out; hpx_lane_post() releases, hpx_lane_splice() acquires.
 * Ownership: a posted message is the receiver's; it frees it with free(). */
#ifndef HPX_LANE_H
#define HPX_LANE_H

#include "wake.h"
#include <urcu/wfcqueue.h>

struct hpx_msg {
    struct cds_wfcq_node node;
    struct hpx_msg *next; /* the receiver's, after splice */
    uint32_t kind;        /* the meaning is the lane's owner's */
    uint32_t size;        /* bytes of the whole message, for the memory report */
};

struct hpx_lane {
    HPX_ALIGNED(HPX_CACHE_LINE) struct cds_wfcq_tail tail;
    HPX_ALIGNED(HPX_CACHE_LINE) struct __cds_wfcq_head head; /* the form without liburcu's mutex: one receiver */
    struct hpx_wake wake;
};

int hpx_lane_init(struct hpx_lane *l); /* 0 */
/* Frees what was never received. */
void hpx_lane_fini(struct hpx_lane *l);

/* A cleared message of `size` bytes whose first member is a struct hpx_msg; NULL without memory. Not in signal handlers. */
void *hpx_msg_new(uint32_t kind, size_t size);

/* Puts m last. With `now` the receiver is woken, else it finds it at its next pass. */
void hpx_lane_post(struct hpx_lane *l, struct hpx_msg *m, bool now);

/* Receiver: everything posted so far, in order, linked by `next`; NULL if nothing. Waits at most for a sender that is between its two
 * stores. */
struct hpx_msg *hpx_lane_splice(struct hpx_lane *l);

#endif
