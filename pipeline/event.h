/* SPDX-License-Identifier: BSD-2-Clause */
/* event.h: the format of the records in a ring, between a profiled thread and the aggregator.
 *
 * A record is a 16-byte head and a body of a multiple of 16 bytes. It never leaves the process: native byte order, no versions. Stacks
 * are not copied: a frame has the layout that AsyncGetCallTrace writes.
 *
 * A thread sends a stack once. It keeps a small direct-mapped table of stack hashes; the slot number names the stack to the aggregator
 * until the thread redefines the slot. The ring keeps the order, so a slot always means its last definition. Threads share no numbers,
 * and numbers do not run out. */
#ifndef HPX_EVENT_H
#define HPX_EVENT_H

#include "class_ids.h"

#define HPX_EV_UNIT      16u
#define HPX_SLOTS        256u                          /* slots of SAMPLE_DEF and SAMPLE per thread */
#define HPX_EV_MAX_BYTES ((size_t)65535 * HPX_EV_UNIT) /* `units` is 16 bits */

enum hpx_ev_kind {
    HPX_EV_PAD = 1,        /* skip it; the ring writes it at its wrap */
    HPX_EV_SAMPLE_DEF,     /* id = slot, stamp = weight; body: 16 bytes of hash (struct hpx_ev_hash), then the frames, leaf first */
    HPX_EV_SAMPLE,         /* id = slot defined before by this thread, stamp = weight; no body */
    HPX_EV_SAMPLE_UNKNOWN, /* id = enum hpx_unknown, stamp = weight; no body: a sample without a stack */
    HPX_EV_SAMPLE_STALLED, /* stamp = weight; no body: what one signal stands for beyond the weight of a sample (a stall) */
    HPX_EV_TEST,           /* unit and stress tests: body is theirs */
    /* Exact calls (pipeline/calls.h). id = number of the method, from 1; stamp = CPU ns of the thread. From ENTER on: all kinds of calls.
     */
    HPX_EV_ENTER,  /* no body */
    HPX_EV_EXIT,   /* no body */
    HPX_EV_THROWN, /* no body: exit by an exception */
    HPX_EV_LEAF,   /* no body: consecutive calls that called nothing; stamp = HPX_EV_LEAF_STAMP */
    HPX_EV_FLOOR,  /* no body; id = a number: calls after it are above the floor (pipeline/stack_limit.h) */
    HPX_EV_FALL,   /* no body; id = that of a FLOOR, stamp = most calls above it that can still be open: the others have returned, even
                      without an EXIT */
    HPX_EV_SWITCH, /* struct hpx_ev_switch */
    HPX_EV_GAP,    /* struct hpx_ev_gap */
    HPX_EV_TICK,   /* no body: a tick of times=sampled; stamp = ns that it stands for; id = the method whose ENTER is pending and follows
                    * the tick, 0: none */
    HPX_EV_PLACE,  /* no body: as COUNT, but counted under the open call */
    HPX_EV_PLACE_MULTI, /* no body: as COUNT_MULTI, but counted under the open call */
    HPX_EV_PLACE_MADE,  /* no body: as COUNT_MADE, but counted under the open call */
    /* Allocations. id = id of the site (pipeline/site_ids.h), stamp = size of the object in bytes. SITE_DEF to COUNT_MADE: kinds of
     * allocations. */
    HPX_EV_SITE_DEF, /* definition and first object of a site; body: struct hpx_ev_hash, struct hpx_ev_site, frames, leaf first */
    HPX_EV_ALLOC,    /* no body */
    /* sites=counts: id = id of a place in the code (HPX_MSG_SITES). */
    HPX_EV_COUNT,       /* no body: an object (stamp = 0) or an array (stamp = its bytes) */
    HPX_EV_COUNT_MULTI, /* no body: all arrays of one dimension of a multianewarray; stamp = HPX_EV_MULTI_STAMP */
    HPX_EV_COUNT_MADE,  /* no body: what a maker (bci/makers.c) returned; stamp = HPX_EV_MADE_STAMP */
    /* monitor=y. A place: what blocked (class), where (stacks). BLOCK_DEF to WAITED: all of them. */
    HPX_EV_BLOCK_DEF,     /* id = a new place; body: hash of the frames, hash of the owner's frames, struct hpx_ev_block, frames, leaf
                           * first, then the owner's */
    HPX_EV_BLOCKED,       /* no body; id = place, stamp = ns: blocked once */
    HPX_EV_BLOCKED_CLASS, /* no body: the same without a stack; id = HPX_EV_BLOCK_ID */
    HPX_EV_BLOCK_SAMPLE,  /* no body; id = place, stamp = ns: a stack of a BLOCKED_CLASS, taken with a probability that grows with ns */
    HPX_EV_WAIT,          /* Object.wait; id = number of the class, stamp = timeout in ms; body: empty, or struct hpx_ev_thread */
    HPX_EV_WAITED,        /* the same, over; stamp = ns */
    /* wall=, WALL_DEF to WALL_READY: what a thread of hprofx saw of the others, and what virtual threads tell when they go on. */
    HPX_EV_WALL_DEF,     /* id = a watched thread, which is from now on there; body: struct hpx_ev_hash, struct hpx_ev_wall, frames, leaf
                          * first; no frames: no stack, because of `why` */
    HPX_EV_WALL,         /* no body; id = a watched thread, stamp = ns that it was where its last WALL_DEF says */
    HPX_EV_WALL_VIRTUAL, /* a wait of a virtual thread; stamp = ns; body: as of WALL_DEF */
    HPX_EV_WALL_READY,   /* struct hpx_ev_thread; stamp = ns that the thread was ready to run, but not on a CPU */
    HPX_EV_TIME,         /* no body; stamp = hpx_clock_mono(): the time of the records of this ring from here on (hpx_time_put()) */
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

/* Consecutive calls of one method, none of which called another: their number and the sum of their times. */
#define HPX_EV_LEAF_NS_BITS          40
#define HPX_EV_LEAF_STAMP(calls, ns) ((uint64_t)(calls) << HPX_EV_LEAF_NS_BITS | (ns))
#define HPX_EV_LEAF_CALLS(stamp)     ((stamp) >> HPX_EV_LEAF_NS_BITS)
#define HPX_EV_LEAF_NS(stamp)        ((stamp) & ((UINT64_C(1) << HPX_EV_LEAF_NS_BITS) - 1))

/* From here on, calls of this thread belong to another call stack (a virtual thread was mounted or unmounted). head.stamp = now. */
struct hpx_ev_switch {
    struct hpx_ev_head head;
    uint64_t key;  /* of the stack; 0: the thread's own */
    uint64_t turn; /* how many threads have had it before: the next one's records wait for those of the last */
};

/* Events were lost here. head.id = their number (at most UINT32_MAX), head.stamp = now. The fields keep the depth of the stack right. */
struct hpx_ev_gap {
    struct hpx_ev_head head;
    uint32_t returned; /* calls open before the gap that have returned */
    uint32_t entered;  /* calls begun in the gap that are still open */
    uint64_t calls;    /* calls begun in the gap, open ones included */
};

/* n arrays of `bytes` bytes each in dimension `level`, 0 the outermost. Sizes are multiples of 8. A value that does not fit is clamped. */
#define HPX_EV_MULTI_STAMP(level, n, bytes)                                                                                                \
    ((uint64_t)((level) < 15 ? (level) : 15) << 60 | (uint64_t)((n) < 0x7fffffff ? (n) : 0x7fffffff) << 29 |                               \
     (uint64_t)((bytes) / 8 < 0x1fffffff ? (bytes) / 8 : 0x1fffffff))
#define HPX_EV_MULTI_LEVEL(stamp) ((uint32_t)((stamp) >> 60))
#define HPX_EV_MULTI_N(stamp)     ((stamp) >> 29 & 0x7fffffff)
#define HPX_EV_MULTI_BYTES(stamp) (((stamp)&0x1fffffff) * 8)

/* n objects (below 2^12) of the class with this number (below 2^20), each of `bytes` bytes, a multiple of 8. */
#define HPX_EV_MADE_MOST_N 4095u
#define HPX_EV_MADE_STAMP(klass, n, bytes)                                                                                                 \
    ((uint64_t)(klass).v << 44 | (uint64_t)(n) << 32 | (uint64_t)((bytes) / 8 < UINT32_MAX ? (bytes) / 8 : UINT32_MAX))
#define HPX_EV_MADE_CLASS(stamp) ((struct hpx_class_number){(uint32_t)((stamp) >> 44)})
#define HPX_EV_MADE_N(stamp)     ((stamp) >> 32 & HPX_EV_MADE_MOST_N)
#define HPX_EV_MADE_BYTES(stamp) (((stamp)&UINT32_MAX) * 8)

/* Objects and bytes that a record of PLACE to PLACE_MADE or COUNT to COUNT_MADE tells of. */
static inline uint64_t hpx_ev_objects(const struct hpx_ev_head *ev)
{
    bool multi = ev->kind == HPX_EV_PLACE_MULTI || ev->kind == HPX_EV_COUNT_MULTI;
    bool made = ev->kind == HPX_EV_PLACE_MADE || ev->kind == HPX_EV_COUNT_MADE;
    return multi ? HPX_EV_MULTI_N(ev->stamp) : made ? HPX_EV_MADE_N(ev->stamp) : 1;
}
static inline uint64_t hpx_ev_bytes(const struct hpx_ev_head *ev)
{
    bool multi = ev->kind == HPX_EV_PLACE_MULTI || ev->kind == HPX_EV_COUNT_MULTI;
    bool made = ev->kind == HPX_EV_PLACE_MADE || ev->kind == HPX_EV_COUNT_MADE;
    uint64_t n = hpx_ev_objects(ev);
    return multi ? n * HPX_EV_MULTI_BYTES(ev->stamp) : made ? n * HPX_EV_MADE_BYTES(ev->stamp) : ev->stamp;
}

struct hpx_ev_site {
    struct hpx_class_number klass; /* of the object (HPX_MSG_SITE_CLASS); 0: unknown */
    uint32_t pad;
    uint64_t bytes; /* sites=sampled: size in bytes of every object with this id; else 0 */
};

#define HPX_EV_BLOCK_ID(part, klass) ((uint32_t)(part) << 24 | (klass)) /* class numbers are below 2^20 */
#define HPX_EV_BLOCK_PART(id)        ((id) >> 24)
#define HPX_EV_BLOCK_CLASS(id)       ((id)&0xffffffu)

struct hpx_ev_block {
    uint32_t klass;  /* number of the class of the monitor or blocker (HPX_MSG_BLOCK_CLASS); 0: unknown */
    uint32_t thread; /* serial of a virtual thread, with thread=y; 0: the ring's */
    uint32_t part;   /* enum hpx_block_part */
    uint32_t frames; /* of the blocked thread; all others are the owner's */
};

/* Whom a record is about, if it is not the thread of the ring. */
struct hpx_ev_thread {
    uint32_t serial, pad[3];
};

struct hpx_ev_wall {
    uint32_t serial; /* of the watched thread */
    uint32_t state;  /* enum hpx_wall_state: NATIVE where the method on top decides between io and native */
    uint32_t why;    /* without frames: enum hpx_unknown */
    uint32_t klass;  /* number of the class of the monitor or blocker (HPX_MSG_WALL_CLASS); 0: none, or unknown */
};

/* One frame: bci as AsyncGetCallTrace gives it (< 0: native or unknown), method = the jmethodID as a number, never followed. Clear `pad`
 * before hashing the frames: AsyncGetCallTrace does not write it. */
struct hpx_ev_frame {
    int32_t bci;
    uint32_t pad;
    uint64_t method;
};

/* The method of a frame that stands for an enum hpx_unknown; above any address and any id. */
#define HPX_EV_METHOD_OF(why) (UINT64_MAX - (uint64_t)(why))

/* The method of a frame of C: where the function begins, 16 bits of the number of its library and 32 of the distance from the library's
 * base; of a library that is not known yet the address, of which the first byte, which is 0 or no address of code, is left out. No id of a
 * method has such a first byte. `bci` is -1. */
#define HPX_EV_C_MOST               128u /* such frames of a stack */
#define HPX_EV_METHOD_OF_C(place)   (UINT64_C(0x80) << 56 | (place))
#define HPX_EV_C_PLACE(method)      ((method) & ((UINT64_C(1) << 56) - 1))
#define HPX_EV_METHOD_OF_ADDRESS(a) (UINT64_C(0x81) << 56 | HPX_EV_C_PLACE(a))
static inline bool hpx_ev_is_c(uint64_t method)
{
    return method >> 57 == 0x40;
}
static inline bool hpx_ev_is_c_address(uint64_t method)
{
    return method >> 56 == 0x81;
}

/* Most frames of a stack: a definition then has 2 + 2049 units. */
#define HPX_MAX_DEPTH              2048
#define HPX_EV_SITE_BYTES(frames)  (HPX_EV_SAMPLE_BYTES(frames) + sizeof(struct hpx_ev_site))
#define HPX_EV_WALL_BYTES(frames)  HPX_EV_SITE_BYTES(frames)
#define HPX_EV_BLOCK_BYTES(frames) (HPX_EV_SITE_BYTES(frames) + sizeof(struct hpx_ev_hash))
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
    X(THREAD_ENDED, "thread_ended") /* due at the end of the thread, without a stack */                                                    \
    X(OTHER, "other")               /* an unknown code of AsyncGetCallTrace, or an engine that is just left */                             \
    X(FAULT, "fault")               /* the walk faulted */                                                                                 \
    X(DRIFTED, "drifted")           /* only as a frame: the callers of the frame above it are unknown */                                   \
    X(NOT_FOUND, "not_found")       /* waiting time of a thread that lives on, at no place that a look found */                            \
    X(TRUNCATED, "truncated")       /* only as a frame: its place has frames that could not be read */

enum hpx_unknown {
#define HPX_UNKNOWN_ENUM(sym, name) HPX_UNKNOWN_##sym,
    HPX_UNKNOWNS(HPX_UNKNOWN_ENUM)
#undef HPX_UNKNOWN_ENUM
        HPX_UNKNOWN_COUNT
};

static_assert(sizeof(struct hpx_ev_head) == HPX_EV_UNIT && sizeof(struct hpx_ev_frame) == HPX_EV_UNIT &&
                  sizeof(struct hpx_ev_hash) == HPX_EV_UNIT && sizeof(struct hpx_ev_site) == HPX_EV_UNIT &&
                  sizeof(struct hpx_ev_block) == HPX_EV_UNIT && sizeof(struct hpx_ev_thread) == HPX_EV_UNIT &&
                  sizeof(struct hpx_ev_wall) == HPX_EV_UNIT,
              "records are made of 16-byte units");
static_assert(sizeof(struct hpx_ev_switch) == (size_t)2 * HPX_EV_UNIT && sizeof(struct hpx_ev_gap) == (size_t)2 * HPX_EV_UNIT,
              "whole units");
static_assert(HPX_EV_BLOCK_BYTES(2 * HPX_MAX_DEPTH) <= HPX_EV_MAX_BYTES, "two of the longest stacks are a record");
static_assert(HPX_EV_SITE_BYTES(HPX_MAX_DEPTH + 1) <= HPX_EV_MAX_BYTES, "the longest stack is a record");
static_assert(offsetof(struct hpx_ev_frame, method) == 8, "the layout of AsyncGetCallTrace's frame");

#endif
