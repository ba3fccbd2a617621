/* SPDX-License-Identifier: BSD-2-Clause */
/* trend.h: what share methods had in each of the last seconds, as a line of marks (hprofx top). One thread.
 *
 * Memory: 128 bytes and an index entry for each method that had any share in these seconds, and for as many that had earlier. */
#ifndef HPX_COMMAND_TREND_H
#define HPX_COMMAND_TREND_H

#include "list.h"

#define HPX_TREND_SECONDS 30
#define HPX_TREND_LINE    (3 * HPX_TREND_SECONDS + 1)

/* {0} after hpx_trend_init(). */
struct hpx_trend {
    struct hpx_list methods; /* struct method, of trend.c */
    struct hpx_seeded_map method_of;
    size_t now; /* the place of this second */
};

void hpx_trend_init(struct hpx_trend *t);
void hpx_trend_fini(struct hpx_trend *t);
/* A second begins, in which no method has a share yet. */
void hpx_trend_next(struct hpx_trend *t);
/* Adds to the share (0 to 1) of a method in this second. Without memory it is left out. */
void hpx_trend_add(struct hpx_trend *t, const char *method, double share);
/* The last `seconds`, at most HPX_TREND_SECONDS, this one at the right end: one column each, blank for no share. The highest mark is the
 * largest share that the line has, but 10 % at least, so that what is small looks small. utf8: blocks; else ASCII. */
void hpx_trend_line(const struct hpx_trend *t, const char *method, size_t seconds, bool utf8, char line[HPX_TREND_LINE]);

#endif
