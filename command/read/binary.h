/* SPDX-License-Identifier: BSD-2-Clause */
/* binary.h: what binary.c and heap.c share: a record being read. Fields after a break are zeros and tell nothing to anybody: callers look
 * at status where a loop or an event depends on them. */
#ifndef HPX_READ_BINARY_H
#define HPX_READ_BINARY_H

#include "reader.h"

#define HPX_BIN_STATE 8192 /* bytes of a state with a class; hprofx writes shorter ones */

struct hpx_bin {
    struct hpx_reader *r;
    uint32_t id_size;
    int minor, tag;
    int status;                     /* the first that was not HPX_RD_SOUND */
    const char *what;               /* name of the record, or of the one inside a heap dump */
    uint64_t at;                    /* where that begins */
    uint64_t record_at;             /* where the record begins */
    uint64_t length, left;          /* of the record's body */
    uint64_t us;                    /* unwrapped TIME */
    uint64_t wall_ms;               /* of a count in the next CPU SAMPLES, which is one of WALL CLOCK; 0: it is none */
    uint64_t wall_total;            /* its ms */
    char wall_state[HPX_BIN_STATE]; /* its state, and the class of what threads wait for */
    bool timeline;                  /* its lines go on */
    bool wall_open;                 /* the states of a WALL CLOCK may go on */
};

/* The next n <= 16 bytes of the record; zeros if there are none: b->status says why. */
const char *hpx_bin_take(struct hpx_bin *b, size_t n);
/* Does the record have n more bytes? If not, it is broken. */
bool hpx_bin_holds(struct hpx_bin *b, uint64_t n);
void hpx_bin_skip(struct hpx_bin *b, uint64_t n);
/* Tells an event of b->at, unless something broke. */
void hpx_bin_emit(struct hpx_bin *b, struct hpx_rd_event *ev);

static inline uint32_t hpx_bin_u1(struct hpx_bin *b)
{
    return (unsigned char)*hpx_bin_take(b, 1);
}

static inline uint32_t hpx_bin_u2(struct hpx_bin *b)
{
    return hpx_get_be2(hpx_bin_take(b, 2));
}

static inline uint32_t hpx_bin_u4(struct hpx_bin *b)
{
    return hpx_get_be4(hpx_bin_take(b, 4));
}

static inline uint64_t hpx_bin_u8(struct hpx_bin *b)
{
    return hpx_get_be8(hpx_bin_take(b, 8));
}

static inline uint64_t hpx_bin_id(struct hpx_bin *b)
{
    return b->id_size == 4 ? hpx_bin_u4(b) : hpx_bin_u8(b);
}

/* Body of HEAP DUMP, HEAP DUMP SEGMENT, HEAP DUMP END. */
void hpx_bin_heap(struct hpx_bin *b);

#endif
