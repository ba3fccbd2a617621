/* SPDX-License-Identifier: BSD-2-Clause */
/* timed.h: a column of a finished tree event by event, for formats with times. One thread.
 *
 * Memory: 32 bytes for each event, and 8 for each sample while the list is made. */
#ifndef HPX_TREE_TIMED_H
#define HPX_TREE_TIMED_H

#include "tree.h"

struct hpx_timed {
    uint64_t at_ns; /* since hpx_timed_zero(): when it was, or when it began if it lasted */
    uint64_t value;
    uint32_t node, thread;
    bool known; /* its time. Else it is all that a sample has beyond its moments */
};

/* Time 0, in ms since 1970. */
static inline uint64_t hpx_timed_zero(const struct hpx_tree *t)
{
    return t->times_to_ms != 0 ? t->times_from_ms : t->start_ms;
}

/* When began what ended at that time, in ms since 1970, and lasted so long, in ns since time 0; 0: before it. */
uint64_t hpx_timed_begin(const struct hpx_tree *t, uint64_t at_ms, uint64_t lasted_ns);

/* struct hpx_timed, of which values add up to the column's total: those whose time is known by thread, then time; behind them the others by
 * thread, in the order of samples. The caller frees the items in any case. false: no memory. */
bool hpx_timed_make(struct hpx_list *to, const struct hpx_tree *t, struct hpx_tree_column c);
/* The sample of a stack in a finished tree; samples.len: there is none. thread 0 where hpx_tree_has_threads() says so. */
size_t hpx_timed_sample(const struct hpx_tree_view *v, uint32_t node, uint32_t thread);
/* Behind those that are, from `at` on, of one thread, and whose times are all known or all not. */
size_t hpx_timed_end(const struct hpx_list *of, size_t at);

static inline const struct hpx_timed *hpx_timed_at(const struct hpx_list *of, size_t i)
{
    return (const struct hpx_timed *)of->items + i;
}

#endif
