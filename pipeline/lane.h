/* SPDX-License-Identifier: BSD-2-Clause */
/* lane.h: a queue of messages from any thread to one thread of hprofx: definitions and requests (control lane), work for the writer,
 * work for the service thread. Senders are wait-free; not in signal handlers and GC callbacks, only because messages are malloc'ed.
 *
 * Senders: any thread. Receiver: one thread. Order: first in, first out; hpx_lane_post() releases, hpx_lane_splice() acquires.
 * Ownership: the receiver owns a posted message and frees it with free() or posts it again. */
#ifndef HPX_LANE_H
#define HPX_LANE_H

#include "wake.h"
#include <urcu/wfcqueue.h>

struct hpx_msg {
    struct cds_wfcq_node node;
    struct hpx_msg *next; /* the receiver's, after splice */
    uint32_t kind;        /* defined by the owner of the lane */
    uint32_t size;        /* bytes of the whole message, for the memory report */
};

struct hpx_lane {
    HPX_ALIGNED(HPX_CACHE_LINE) struct cds_wfcq_tail tail;
    HPX_ALIGNED(HPX_CACHE_LINE) struct __cds_wfcq_head head; /* the form without liburcu's mutex: one receiver */
    struct hpx_wake wake;
};

void hpx_lane_init(struct hpx_lane *l);
/* Frees messages that were never received. */
void hpx_lane_fini(struct hpx_lane *l);

/* A cleared message of `size` bytes whose first member is a struct hpx_msg; NULL without memory. Not in signal handlers. */
void *hpx_msg_new(uint32_t kind, size_t size);

/* Appends m. With `now` wakes the receiver; else the receiver finds m in its next pass. */
void hpx_lane_post(struct hpx_lane *l, struct hpx_msg *m, bool now);

/* Receiver: everything posted so far, in order, linked by `next`; NULL if nothing. Waits only for a sender between its two stores. */
struct hpx_msg *hpx_lane_splice(struct hpx_lane *l);

#endif
