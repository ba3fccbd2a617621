/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_table.h: raw traces: every stack once; also the nodes of exact calls (call_table.h). Owner: the aggregator, or a drainer for its
 * own table. */
#ifndef HPX_TRACE_TABLE_H
#define HPX_TRACE_TABLE_H

#include "arena.h"
#include "intern.h"
#include "vec.h"

struct hpx_raw_frame {
    uint32_t method; /* number of the sampled record (method_table.h) */
    int32_t bci;
};

struct hpx_raw {
    const struct hpx_raw_frame *frames;
    uint32_t nframes;
    uint32_t thread;     /* serial with thread=y, else 0 */
    uint32_t symbolized; /* number of its symbolized trace; HPX_INTERN_NONE: none yet */
    bool settled;        /* `symbolized` is final */
    uint8_t nameless;    /* enum hpx_nameless + 1 of `symbolized`; 0: all its methods have names */
};

struct hpx_traces {
    struct hpx_intern index;
    struct hpx_vec raws; /* struct hpx_raw */
    struct hpx_arena arena;
};

int hpx_traces_init(struct hpx_traces *t); /* 0, -HPX_E_NOMEM */
void hpx_traces_fini(struct hpx_traces *t);
static inline uint32_t hpx_traces_find(const struct hpx_traces *t, struct hpx_hash128 h)
{
    return hpx_intern_find(&t->index, h);
}
/* A new raw trace under h, which was not found. HPX_INTERN_NONE without memory (nothing changed). */
uint32_t hpx_traces_add(struct hpx_traces *t, struct hpx_hash128 h, const struct hpx_raw_frame *frames, uint32_t nframes, uint32_t thread);
static inline struct hpx_raw *hpx_traces_at(const struct hpx_traces *t, uint32_t raw)
{
    return hpx_vec_at(&t->raws, raw);
}
size_t hpx_traces_bytes(const struct hpx_traces *t);

#endif
