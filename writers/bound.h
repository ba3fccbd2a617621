/* SPDX-License-Identifier: BSD-2-Clause */
/* bound.h: how large the tables of an output may become (maxfile=). Rows beyond that are summed in one, so that a table keeps its total.
 * The writer's thread only. */
#ifndef HPX_BOUND_H
#define HPX_BOUND_H

#include "out.h"

struct hpx_bound {
    uint64_t most;    /* bytes of the tables of the output; 0: no limit */
    uint64_t spent;   /* by tables that are complete; what stands between tables does not count */
    uint64_t start;   /* offset from which on the current section counts */
    uint64_t end;     /* it may reach this offset */
    uint64_t allowed; /* its current table may */
    uint64_t summed;  /* rows of the current dump that were summed */
    double below;     /* all of them have a smaller share of their table than this, or this */
};

/* Bytes passed to the output so far. */
static inline uint64_t hpx_bound_at(const struct hpx_out *o)
{
    return o->written + o->used + o->lost;
}

/* The section ends about there if `cost` bytes of rows follow. NULL: no bound. */
static inline bool hpx_bound_reached(const struct hpx_bound *b, const struct hpx_out *o, uint64_t cost)
{
    return b != NULL && b->most > 0 && hpx_bound_at(o) + cost >= b->allowed;
}

/* Before a section, the first of `sections`. The last dump of an output may fill it, every other one takes half of what is left: so the
 * share below which rows are summed rises from dump to dump. */
static inline void hpx_bound_allow(struct hpx_bound *b, const struct hpx_out *o, uint32_t sections, bool last)
{
    uint64_t left = b->most > b->spent ? b->most - b->spent : 0;
    b->start = hpx_bound_at(o);
    b->end = b->allowed = b->start + (last ? left : left / 2) / (sections > 0 ? sections : 1);
}

/* What the section has written so far does not count: it has no bound, as a heap dump. */
static inline void hpx_bound_skip(struct hpx_bound *b, const struct hpx_out *o)
{
    uint64_t at = hpx_bound_at(o);
    b->end += at - b->start;
    b->allowed = b->end;
    b->start = at;
}

/* Before a table of the section, the first of `tables`, which take equal parts of what is left. */
static inline void hpx_bound_part(struct hpx_bound *b, const struct hpx_out *o, uint32_t tables)
{
    uint64_t at = hpx_bound_at(o);
    b->allowed = at + (b->end > at ? b->end - at : 0) / tables;
}

/* Behind a section. */
static inline void hpx_bound_leave(struct hpx_bound *b, const struct hpx_out *o)
{
    b->spent += hpx_bound_at(o) - b->start;
}

#endif
