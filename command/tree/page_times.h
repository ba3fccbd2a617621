/* SPDX-License-Identifier: BSD-2-Clause */
/* page_times.h: the stacks of a view as the page has them, and the moments of each, in bins. One thread.
 *
 * A place is a node with a thread that has a sample or a moment. Moments of a place that fall into the same bin are one; a wait that is
 * longer than a bin has one of its own, because of a sum nobody could tell whether many waited at once or one for long. A bin is a step
 * long, or as long as the file is sure of (struct hpx_tree_moment); the step is the shortest of 10, 20, 50, 100 ms ... with which the
 * moments of all views take at most so many bytes before they are deflated. */
#ifndef HPX_TREE_PAGE_TIMES_H
#define HPX_TREE_PAGE_TIMES_H

#include "pack.h"
#include "tree.h"

#define HPX_PAGE_TIMES  (UINT64_C(16) << 20) /* bytes: about 10 MiB of the page. */
#define HPX_PAGE_STEP   10                   /* ms: what a file of hprofx is sure of */
#define HPX_PAGE_GRAINS 12                   /* the step, also of long waits, and longer powers of ten that fit an uint32_t */

struct hpx_page_place {
    uint32_t at; /* the number of its node in preorder */
    uint32_t thread;
    uint32_t sample; /* HPX_PAGE_NONE: it has moments alone */
};
#define HPX_PAGE_NONE UINT32_MAX

struct hpx_page_grain {
    uint64_t ms; /* of a bin */
    bool waits;  /* each bin is a wait that is longer than it, and that ended in it */
    uint64_t bins;
};

struct hpx_page_view {
    const struct hpx_tree_view *view;
    struct hpx_page_place *places; /* by node, then thread */
    size_t n;
    uint64_t *values;          /* `values` of the view for each place, where its samples have no threads and its moments do. Else NULL */
    uint32_t *moments, *first; /* by place, then time; of a place: where its own begin, one more at the end. NULL: there is none */
    unsigned timed, own;       /* bit MEASURE: moments have values; they are no multiple of the main measure */
    size_t ngrains;
    struct hpx_page_grain grains[HPX_PAGE_GRAINS];
};

/* number: of each node in preorder. times: with moments. own: see there. false: no memory. hpx_page_view_fini() in any case. */
bool hpx_page_view_init(struct hpx_page_view *p, const struct hpx_tree_view *v, const uint32_t *number, bool times, unsigned own);
void hpx_page_view_fini(struct hpx_page_view *p);

/* What a place has of a measure. */
uint64_t hpx_page_value(const struct hpx_page_view *p, size_t place, size_t measure);

/* The begin of the times, in ms since 1970: whole steps behind t->times_zero_ms. */
uint64_t hpx_page_begin(const struct hpx_tree *t, uint64_t step);

/* Chooses the step of n views of a tree, and their grains. */
uint64_t hpx_page_step(struct hpx_page_view *p, size_t n, const struct hpx_tree *t, uint64_t most_bytes);
/* The bins of a view, grain by grain: how many each place has; how many steps each is behind the one before, of a place's first one behind
 * the begin of the times; the values of each measure that is timed and own. */
void hpx_page_put_moments(const struct hpx_page_view *p, const struct hpx_tree *t, uint64_t step, struct hpx_pack *to);

#endif
