/* SPDX-License-Identifier: BSD-2-Clause */
/* filter.h: which stacks of a profile count, and which part of them. Works on a finished tree, between every reader and every view or
 * writer, so that each of them has it. One thread.
 *
 * A PATTERN is as in include= of the agent (patterns.h): a method (p.C.m), a class (p.C) with its methods and nested classes, or a package
 * (p) with everything below it; "*" stands for any characters, and with one the pattern is the whole name of a method, with or without its
 * arguments, or of its class. The class of objects or of a monitor, the innermost frame, is such a name too.
 *
 * Memory: the part of the tree that stays, which is made beside it; a byte for each name and frame, and eight more. Time: the frames of all
 * samples, and names times patterns. */
#ifndef HPX_TREE_FILTER_H
#define HPX_TREE_FILTER_H

#include "tree.h"

/* Several of a kind: any of them; all kinds must agree. Stacks are chosen first, then cut. */
enum hpx_filter_kind {
    HPX_FILTER_INCLUDE, /* stacks with such a frame, or of a thread with that name */
    HPX_FILTER_EXCLUDE, /* only the others */
    HPX_FILTER_THREAD,  /* threads with that name; without "*" and such a name: with this in their name */
    HPX_FILTER_STATE,   /* wall clock in that state: "blocked", or with what it waits for, "parked p.C"; nothing else has a state */
    HPX_FILTER_ROOT,    /* stacks with such a method, without what called its outermost one */
    HPX_FILTER_LEAF,    /* stacks with such a method, without what its outermost one (below the root) called */
    HPX_FILTERS
};

struct hpx_filter_pattern {
    enum hpx_filter_kind kind;
    const char *text; /* not owned */
};

/* {0} has no pattern, and changes nothing. */
struct hpx_filter {
    struct hpx_list patterns; /* struct hpx_filter_pattern */
};

/* The text must outlive the filter. false: no memory. */
bool hpx_filter_add(struct hpx_filter *f, enum hpx_filter_kind kind, const char *pattern);
void hpx_filter_fini(struct hpx_filter *f);
/* Takes from a finished tree what does not fit; the tree stays finished. Its totals before, and the filters, stay in it, without the
 * verdict and the dump of monitors, which are about all of it. The numbers of samples that count shrink as their totals: whether samples of
 * a method weigh differently is not in files. Without memory t->no_memory is set. f: NULL: no filter. */
void hpx_filter_apply(struct hpx_tree *t, const struct hpx_filter *f);

/* Whether the name of a method, with or without arguments, or of a class fits. */
bool hpx_filter_fits(const char *pattern, const char *name);
/* The name of the option, without dashes. */
const char *hpx_filter_name(enum hpx_filter_kind kind);

#endif
