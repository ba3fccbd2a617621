/* SPDX-License-Identifier: BSD-2-Clause */
/* event.h: the wire format between a profiled thread and the aggregator: what lies in a ring.
 *
 * A record is a 16-byte head and a body of a multiple of 16 bytes. It lives in one process on one machine: native byte order,
 * no versions. A stack needs no copy: a frame has the layout that AsyncGetCallTrace writes.
 *
 * Stacks are sent once. A thread keeps a small direct-mapped table of stack hashes; the slot number is the stack's name between
 * this thread and the aggregator until the same thread defines the slot anew. The ring keeps the order, so a slot always means its
 * last definition; no number is shared between threads, and none is ever used up. */
#ifndef HPX_EVENT_H
#define HPX_EVENT_H

#include "compiler.h"

#define HPX_EV_UNIT      16u
#define HPX_EV_MAX_BYTES ((size_t)65535 * HPX_EV_UNIT) /* `units` is 16 bits */

enum hpx_ev_kind {
    HPX_EV_PAD = 1,        /* skip; made by the ring at its wrap */
    HPX_EV_SAMPLE_DEF,     /* id = slot, stamp = weight; body: 16 bytes of hash (struct hpx_ev_hash), then the frames, leaf first */
    HPX_EV_SAMPLE,         /* id = slot defined before by this thread, stamp = weight; no body */
    HPX_EV_SAMPLE_UNKNOWN, /* id = enum hpx_unknown, stamp = weight; no body: a sample without a stack */
    HPX_EV_TEST,           /* unit and stress tests: body is theirs */
    /* Exact calls (pipeline/calls.h). id = number of the method, from 1; stamp = CPU ns of the thread. From ENTER on: all kinds of calls.
     */
    HPX_EV_ENTER,  /* no body */
    HPX_EV_EXIT,   /* no body */
    HPX_EV_THROWN, /* no body: left by an exception */
    HPX_EV_LEAF,   /* no body: calls in a row that called nothing; stamp = HPX_EV_LEAF_STAMP */
    HPX_EV_FLOOR,  /* no body; id = a number: the calls behind it are above the floor (pipeline/deep.h) */
    HPX_EV_FALL,   /* no body; id = that of a FLOOR, stamp = calls above it that can be open still: others have returned, said or not */
    HPX_EV_SWITCH, /* struct hpx_ev_switch */
    HPX_EV_GAP,    /* struct hpx_ev_gap */
    HPX_EV_TICK, /* no body: a signal of the CPU clock, of times=sampled; stamp = ns that it stands for; id = the method whose enter is kept
                  * back and comes behind it, 0: none is */
};

struct hpx_ev_head {
    uint16_t kind;  /* enum hpx_ev_kind */
    uint16_t units; /* length of the whole record in HPX_EV_UNIT, head included; set by commit */
    uint32_t id;
    uint64_t stamp;
};

struct hpx_ev_hash {
    uint64_t lo, hi;
};

/* Calls of one method in a row, none of which called another: their number and the sum of their times. */
#define HPX_EV_LEAF_NS_BITS          40
#define HPX_EV_LEAF_STAMP(calls, ns) ((uint64_t)(calls) << HPX_EV_LEAF_NS_BITS | (ns))
#define HPX_EV_LEAF_CALLS(stamp)     ((stamp) >> HPX_EV_LEAF_NS_BITS)
#define HPX_EV_LEAF_NS(stamp)        ((stamp) & ((UINT64_C(1) << HPX_EV_LEAF_NS_BITS) - 1))

/* From here on the calls of this thread are those of another call stack (a virtual thread was mounted or left). head.stamp = now. */
struct hpx_ev_switch {
    struct hpx_ev_head head;
    uint64_t key;  /* of the stack; 0: the thread's own */
    uint64_t turn; /* how many threads have had it before: the next one's records wait for those of the last; HPX_EV_NO_TURN: not known */
};
#define HPX_EV_NO_TURN UINT64_MAX

/* Events were lost here. head.id = their number (at most UINT32_MAX), head.stamp = now. What is known keeps the depth of the stack right.
 */
struct hpx_ev_gap {
    struct hpx_ev_head head;
    uint32_t returned; /* calls open before that have returned */
    uint32_t entered;  /* calls begun since that are still open */
    uint64_t calls;    /* calls begun in it, the open ones included */
};

/* One frame: bci as AsyncGetCallTrace gives it (< 0: native or unknown), method = the jmethodID as a number, never followed.
 * `pad` must be 0 before the frames are hashed: AsyncGetCallTrace leaves what was there. */
struct hpx_ev_frame {
    int32_t bci;
    uint32_t pad;
    uint64_t method;
};

/* The method of a frame that stands for an enum hpx_unknown: no address, and no count of ids, is so high. */
#define HPX_EV_METHOD_OF(why) (UINT64_MAX - (uint64_t)(why))

/* Most frames of a stack: a definition then has 2 + 2049 units. */
#define HPX_MAX_DEPTH 2048
#define HPX_EV_SAMPLE_BYTES(frames)                                                                                                        \
    (sizeof(struct hpx_ev_head) + sizeof(struct hpx_ev_hash) + (size_t)(frames) * sizeof(struct hpx_ev_frame))

/* Why a sample has no stack; X(SYMBOL, name of the pseudo method). The first eleven are AsyncGetCallTrace's codes 0 to -10, in order. */
#define HPX_UNKNOWNS(X)                                                                                                                    \
    X(NO_JAVA, "no_Java_frame")                                                                                                            \
    X(NO_CLASS_LOAD, "no_class_load")                                                                                                      \
    X(GC_ACTIVE, "GC_active")                                                                                                              \
    X(NOT_JAVA, "unknown_not_Java")                                                                                                        \
    X(NOT_WALKABLE_NOT_JAVA, "not_walkable_not_Java")                                                                                      \
    X(JAVA, "unknown_Java")                                                                                                                \
    X(NOT_WALKABLE_JAVA, "not_walkable_Java")                                                                                              \
    X(STATE, "unknown_state")                                                                                                              \
    X(THREAD_EXIT, "thread_exit")                                                                                                          \
    X(DEOPT, "deoptimization")                                                                                                             \
    X(SAFEPOINT, "safepoint")                                                                                                              \
    X(THREAD_ENDED, "thread_ended") /* due when the thread ended, and never sampled */                                                     \
    X(OTHER, "other")               /* a code that no version known to us gives */                                                         \
    X(FAULT, "fault")               /* the walk faulted */                                                                                 \
    X(DRIFTED, "drifted")           /* a frame alone: the callers of the frame above it are not known */

enum hpx_unknown {
#define HPX_UNKNOWN_ENUM(sym, name) HPX_UNKNOWN_##sym,
    HPX_UNKNOWNS(HPX_UNKNOWN_ENUM)
#undef HPX_UNKNOWN_ENUM
        HPX_UNKNOWN_COUNT
};

static_assert(sizeof(struct hpx_ev_head) == HPX_EV_UNIT && sizeof(struct hpx_ev_frame) == HPX_EV_UNIT &&
                  sizeof(struct hpx_ev_hash) == HPX_EV_UNIT,
              "records are made of 16-byte units");
static_assert(sizeof(struct hpx_ev_switch) == (size_t)2 * HPX_EV_UNIT && sizeof(struct hpx_ev_gap) == (size_t)2 * HPX_EV_UNIT,
              "whole units");
static_assert(HPX_EV_SAMPLE_BYTES(HPX_MAX_DEPTH + 1) <= HPX_EV_MAX_BYTES, "the longest stack is a record");
static_assert(offsetof(struct hpx_ev_frame, method) == 8, "the layout of AsyncGetCallTrace's frame");

#endif
