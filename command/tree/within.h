/* SPDX-License-Identifier: BSD-2-Clause */
/* within.h: whether a part of a run differs from the rest of it beyond chance, by the times of its CPU samples. No output. One thread.
 *
 * The time is cut into at most 60 bins. Every part from one bin to another is held against all others, for every method, by its share of
 * the samples: samples are drawn, and bins differ by more than that if a program does one thing for a while, then another, so the error is
 * that of the bins about their means, and larger still if bins are like those before them; and because what is rare and long is lopsided,
 * samples count as stays, as long as those of all methods. All parts and methods together give a false
 * alarm in less than 1 of 100 runs that do not change (Bonferroni; tests/unit/test_within.c draws such runs). */
#ifndef HPX_TREE_WITHIN_H
#define HPX_TREE_WITHIN_H

#include "tree.h"

#define HPX_WITHIN_BINS 60
#define HPX_WITHIN_TOP  3

struct hpx_within_change {
    size_t method;
    double inside, outside; /* shares */
};

/* The part: bins [begin, end). */
struct hpx_within_part {
    size_t begin, end;
    struct hpx_within_change top[HPX_WITHIN_TOP]; /* the methods that differ there, the largest difference first */
    size_t n;                                     /* 0: nothing differs */
};

/* counts: of each method in each bin, a row a method. weight: what part of a sample each of them stands for, at most 1. */
void hpx_within_judge(const uint64_t *counts, size_t methods, size_t bins, double weight, struct hpx_within_part *part);

struct hpx_within {
    uint64_t from_ms, to_ms; /* since the begin of the times */
    bool first, last;        /* the part begins, or ends, with the run */
    uint32_t names[HPX_WITHIN_TOP];
    struct hpx_within_part part;
};

/* Of a tree with moments: each sample counts for the innermost method on its stack that is the program's own (own.h), else for the
 * innermost one. w->part.n 0: it has too few times, or does not change. false: no memory. */
bool hpx_within_find(const struct hpx_tree *t, struct hpx_within *w);

#endif
