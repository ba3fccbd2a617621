/* SPDX-License-Identifier: BSD-2-Clause */
/* trace.h: a walk that reads the heap itself, in a copy of the process (walk.h, `traces`).
 *
 * The VM visits through its own structures, 120 ns an object, and writes to the header of each. So it is asked for what only it knows: the
 * roots, and what classes refer to; of each further class it visits one object. What it tells of those teaches, and checks, how an object
 * is read: where its fields are, how a reference and a class word are encoded, how large it is. Then a trace from the roots reads all
 * objects and writes their records.
 *
 * The VM visits an array of ours last, the helper, and in the callback about its class the trace runs. Only the VM can read the stack of an
 * unmounted virtual thread, and the trace may be the first to meet that thread: what it meets it writes to the elements of the helper, in
 * the copy of the process only, and the VM goes on to visit those. Their stacks are further roots.
 *
 * A large heap is read by several workers, threads of the copy: one more copy would cost its page tables once more. Each has a stack, plans
 * and records of its own; the marks are common, and who sets one reads the object.
 *
 * Nothing here is an interface of the VM, and nothing is taken on trust: one contradiction fails the walk (HPX_WALK_STRANGE), and the next
 * attempt is the VM's. Restrictions as for callbacks (walk.h). */
#ifndef HPX_TRACE_H
#define HPX_TRACE_H

#include "address_map.h"
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#define HPX_TRACE_HELPER 8192 /* elements of the helper */

/* Words of the stack: the key of an object; or elements of an array: its key | ARRAY, above what HPX_TRACE_RANGE() makes of the first one
 * and of the one behind the last. */
#define HPX_TRACE_ARRAY           UINT64_C(1)
#define HPX_TRACE_IS_RANGE(word)  (((word)&3) == 2)
#define HPX_TRACE_RANGE(from, to) ((uint64_t)(from) << 33 | (uint64_t)(to) << 2 | 2)
#define HPX_TRACE_RANGE_FROM(r)   ((uint32_t)((r) >> 33))
#define HPX_TRACE_RANGE_TO(r)     ((uint32_t)(r) >> 2 | (uint32_t)((r) >> 32 & 1) << 30)
#define HPX_TRACE_CHUNK           64u /* elements that go onto the stack at once */

/* A list in mapped memory. */
struct hpx_walk_list {
    void *at;
    uint64_t len, room; /* elements */
};

/* How a reference, or a class word, stands for an address: base + (word << shift). */
struct hpx_trace_code {
    bool known;
    uint32_t first;   /* the first one that was told, until another one makes it known */
    uint64_t address; /* of it */
    uint64_t base;
    unsigned shift;
};

/* A field of the instances of a class: references first, then values. */
struct hpx_trace_step {
    uint32_t at;   /* in the object */
    uint32_t slot; /* in the record, and the type: HPX_HEAP_SLOT */
};

/* What a class object refers to. */
struct hpx_trace_edge {
    uint64_t of, to; /* keys */
};

struct hpx_trace_team; /* trace_team.c */

struct hpx_trace {
    struct hpx_trace_code reference; /* unless references are whole addresses */
    struct hpx_trace_code klass;     /* unless class words are lower halves of addresses */
    uint32_t klass_at, size_at;      /* offset of the address of a class in its class object; of the size of its instances in the class */
    uint32_t refined_at;             /* offset in the class of an array of objects: that of its objects; 0: the same */
    uint32_t array_base[12];         /* by type: offset of the elements; 0: not known */
    uint64_t told;                   /* references of the object that the VM tells of */
    uint64_t objects;                /* that the VM has visited, without class objects */
    uint64_t object;                 /* that one; 0: none */
    struct hpx_walk_list roots;      /* keys */
    uint64_t traced;                 /* of these */
    jobject helper;                  /* the taker's local reference, set by the caller; NULL: there is no such array */
    uint64_t next, array;            /* keys: of the array of the helper that the VM will visit last, and that it visits; 0: none */
    uint64_t mark;                   /* the first word of the helper, as it was before the walk */
    bool pushed;                     /* the VM was told to visit the helper: what it is told later it visits before */
    struct hpx_walk_list later;      /* keys of what it shall visit by the helper */
    uint64_t asked;                  /* of these */
    struct hpx_address_map visited;  /* key of a class object -> 1 + its first edge, 0: none; of a virtual thread -> 0 */
    struct hpx_walk_list edges;      /* struct hpx_trace_edge: what class objects refer to, one class after the other */
    struct hpx_walk_list steps;      /* struct hpx_trace_step */
    struct hpx_walk_list stack;      /* above `bottom`; what lay below was passed on to other workers */
    uint64_t bottom;
    struct hpx_trace_team *team; /* the workers; NULL: alone */
    uint64_t share_at;           /* objects: when the walk begins a team, or looks who is idle */
    unsigned filter_bits;        /* the filter has 2^filter_bits bits */
    uint64_t *marks;             /* bit: key - low, by 8 bytes */
    uint64_t *special;           /* a filter of the keys that have ids of their own */
    uint64_t *reached;           /* bit, by number: of the classes */
};

#endif
