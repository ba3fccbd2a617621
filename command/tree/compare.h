/* SPDX-License-Identifier: BSD-2-Clause */
/* compare.h: two sides of profiles, one or several runs each, method by method. No output. One thread.
 *
 * A method is a name: its lines do not matter. Its self figure is that of the stacks in which it is
 * the innermost method, its total that of the stacks that have it. A class that objects or monitors are of has a total alone. */
#ifndef HPX_TREE_COMPARE_H
#define HPX_TREE_COMPARE_H

#include "change.h"
#include "tree.h"

enum { HPX_BEFORE, HPX_AFTER, HPX_SIDES };
enum { HPX_SELF, HPX_TOTAL, HPX_FIGURES };

/* Of some stacks of a run: the sum of their values, and the squared error of this sum. */
struct hpx_compare_sum {
    double value, error;
};

struct hpx_compare_run {
    const struct hpx_tree *tree;
    const struct hpx_tree_view *view; /* NULL: the run has no such figures */
    size_t measure;
    struct hpx_compare_sum all;
    double samples;  /* effective ones; 0: not known, or there is none */
    double recorded; /* of CPU time: the samples that the file has; 0: as many */
    /* How the error of a value comes: see compare.c. */
    int how;
    double unit;
    size_t other;
};

struct hpx_compare_method {
    char *name; /* owned */
    bool is_class;
    uint32_t stamp[HPX_FIGURES]; /* sample + 1 that it was found in last */
    bool tested[HPX_FIGURES], changed[HPX_FIGURES];
    struct hpx_change change[HPX_FIGURES];
    struct hpx_change_side side[HPX_FIGURES][HPX_SIDES];
    struct hpx_compare_sum sums[]; /* of a run: HPX_FIGURES */
};

struct hpx_compare {
    bool absolute; /* amounts, not shares of the run's total */
    size_t runs[HPX_SIDES], all_runs;
    struct hpx_compare_run *run; /* those before, then those after */
    enum hpx_change_kind kind;
    const char *key, *title; /* of the view */
    struct hpx_tree_measure measure;
    struct hpx_list methods;
    struct hpx_seeded_map method_of;
    size_t tested, changed; /* figures */
    double unit;            /* amounts: what an event of any run stands for, on the average */
    double limit;           /* the largest p-value that is taken for a change; below 0: none */
    bool no_memory;
};

/* false: no memory. hpx_compare_fini() in any case. */
bool hpx_compare_init(struct hpx_compare *c, size_t before, size_t after, bool absolute);
/* The tree of run i, which is finished; it stays the caller's and must outlive the comparison. Every run has one before the next calls. */
static inline void hpx_compare_run(struct hpx_compare *c, size_t i, const struct hpx_tree *t)
{
    c->run[i].tree = t;
}
void hpx_compare_fini(struct hpx_compare *c);
/* Which figures: as hpx_tree_column(); NULL: the first that every run has, else the first that a run has. false: no run has them. */
bool hpx_compare_choose(struct hpx_compare *c, const char *view);
/* Sums, changes and marks. false: no memory. */
bool hpx_compare_methods(struct hpx_compare *c);
/* The methods whose name `fits`, as if they were one; sums: c->all_runs of them. Returns how many there are. */
typedef bool hpx_compare_fits(void *ctx, const char *name);
size_t hpx_compare_union(struct hpx_compare *c, hpx_compare_fits *fits, void *ctx, int figure, struct hpx_compare_sum *sums);
/* A figure on one side, from the sums of all runs, `stride` apart. */
struct hpx_change_side hpx_compare_side(const struct hpx_compare *c, int side, const struct hpx_compare_sum *sums, size_t stride);
/* All samples of a side, by their effective number. */
double hpx_compare_samples(const struct hpx_compare *c, int side);
/* The same by the number that the files have, of which some may stand for several intervals. */
double hpx_compare_recorded(const struct hpx_compare *c, int side);
/* The mean of the totals of a side's runs. */
double hpx_compare_total(const struct hpx_compare *c, int side);

static inline struct hpx_compare_method *hpx_compare_method(const struct hpx_compare *c, size_t i)
{
    size_t size = sizeof(struct hpx_compare_method) + c->all_runs * HPX_FIGURES * sizeof(struct hpx_compare_sum);
    return (struct hpx_compare_method *)(void *)((char *)c->methods.items + i * size);
}

/* Where the names and nodes of a tree are in another. */
struct hpx_tree_map {
    uint32_t *names, *nodes;
};
/* Adds the names, frames and nodes of `from`, without samples; all: also names that no frame has, which else are 0 in the map. false: no
 * memory. hpx_tree_map_fini() in any case. */
bool hpx_tree_map(struct hpx_tree_map *m, struct hpx_tree *to, const struct hpx_tree *from, bool all);
void hpx_tree_map_fini(struct hpx_tree_map *m);
/* Adds to `to` what a finished tree has, with its facts. Without memory to->no_memory is set. */
void hpx_tree_join(struct hpx_tree *to, const struct hpx_tree *from);
/* The same of some views: bit `enum hpx_view_kind`; moments: of these the times, if to->timed. The facts that are of no view come with CPU,
 * and pauses with the moments of CPU. */
void hpx_tree_join_views(struct hpx_tree *to, const struct hpx_tree *from, unsigned views, unsigned moments);

#endif
