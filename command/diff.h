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

#endif
