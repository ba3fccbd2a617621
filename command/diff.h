/* SPDX-License-Identifier: BSD-2-Clause */
/* diff.h: hprofx diff: what changed between two sides of profiles, and whether it is more than was asked for. One thread. */
#ifndef HPX_COMMAND_DIFF_H
#define HPX_COMMAND_DIFF_H

#include "condition.h"
#include <stdio.h>

struct hpx_diff {
    struct hpx_compare compare;
    char **files; /* of the runs, in their order */
    struct hpx_condition *conditions;
    size_t nconditions;
    bool broken; /* a file; what could be read was compared */
};

/* What the command ends with: the conditions, then broken files. */
int hpx_diff_status(const struct hpx_diff *d);
/* For people, and as one JSON object, whose keys hprofx(1) explains. false: no memory. */
bool hpx_diff_text(FILE *to, const struct hpx_diff *d);
bool hpx_diff_json(FILE *to, const struct hpx_diff *d);
/* A page for browsers, which says the same of every measure that a side has. false: no memory. */
bool hpx_diff_page(FILE *to, const struct hpx_diff *d);

/* The filters of the profiles; NULL: there are none. *part, *all: what the runs of a side have of the measure with and without them; all 0:
 * not known. */
const char *hpx_diff_filtered(const struct hpx_diff *d, int side, uint64_t *part, uint64_t *all);
/* Parts of hpx_diff_text(), for the page. */
void hpx_diff_say_sides(FILE *to, const struct hpx_diff *d);
void hpx_diff_say_changes(FILE *to, const struct hpx_compare *c);
void hpx_diff_say_condition(FILE *to, const struct hpx_compare *c, const struct hpx_condition *k);
struct hpx_diff_cells {
    char before[64], after[64], change[64], interval[64]; /* interval: "" where nothing is left to chance */
};
void hpx_diff_cells(const struct hpx_compare *c, const struct hpx_compare_method *m, int figure, struct hpx_diff_cells *to);
/* Changes have no interval. */
bool hpx_diff_counted(const struct hpx_compare *c);

#endif
