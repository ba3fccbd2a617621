/* SPDX-License-Identifier: BSD-2-Clause */
/* change.h: how sure a change of one figure between two sides of runs is. Pure arithmetic; any thread.
 *
 * Two things make figures of two runs differ although the program is the same: samples are drawn, and runs are not alike. What is drawn is
 * binomial (a share) or Poisson (an amount), by effective samples as in certainty.h. How much runs differ shows if a side has several: then
 * a change must also be beyond a t-test on the figures of the runs, so that the wider of both intervals counts. With one run on each side
 * nothing is known of it, and only the drawing is judged. */
#ifndef HPX_TREE_CHANGE_H
#define HPX_TREE_CHANGE_H

#include "compiler.h"

#define HPX_CHANGE_CHANCE 0.05 /* of a false alarm */

enum hpx_change_kind {
    HPX_CHANGE_COUNTED, /* nothing is left to chance */
    HPX_CHANGE_DRAWN,
    HPX_CHANGE_MEASURED, /* nothing is drawn, but runs differ; one run on each side: as counted */
    HPX_CHANGE_UNKNOWN,  /* drawn, the profile does not say from how many samples: only several runs can tell */
};

/* A figure on one side. */
struct hpx_change_side {
    size_t runs;
    double mean;    /* of the runs, each of which counts the same: a share (0 to 1), or an amount */
    double events;  /* effective samples that are in it, in all runs */
    double of;      /* effective samples that it is a share of; INFINITY: an amount, which is a part of nothing */
    double unit;    /* amount: what an event stands for in the mean */
    double squares; /* the sum of (run / mean - 1)^2 over the runs */
};

struct hpx_change {
    double ratio, low, high;                /* after / before, with the interval; 0 to INFINITY. NAN: 0 on both sides */
    double points, points_low, points_high; /* after - before */
    double p;                               /* so large a change, or a larger one, by chance alone */
    double drawn, between;                  /* half the interval of the ratio's logarithm: by drawing, by the spread of the runs */
    double points_drawn, points_between;    /* the same of `points` */
    double degrees;                         /* of freedom of the spread; 0: it is not known */
};

/* The interval holds the true change with the probability 1 - chance. */
struct hpx_change hpx_change_between(enum hpx_change_kind kind, const struct hpx_change_side *before, const struct hpx_change_side *after,
                                     double chance);

/* Of the p-values of n tests the largest that is no false alarm: among what it lets pass, the part of false alarms is at most `chance`
 * (Benjamini and Hochberg), so with no change at all it lets anything pass with that probability. Sorts them. -1: none. */
double hpx_change_limit(double *p, size_t n, double chance);

/* |z| that the normal distribution exceeds with the probability p, and |t| with some degrees of freedom. */
double hpx_change_z(double p);
double hpx_change_t(double p, double degrees);
/* How far off a change of a share is, at 95 %, by drawing alone: 0.1 is 10 % of the share. before, after: effective samples. */
double hpx_change_within(double share, double before, double after);

#endif
