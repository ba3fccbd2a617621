/* SPDX-License-Identifier: BSD-2-Clause */
/* show.h: what came of a file, on a stream: for a person, as JSON, and as the result of a check. */
#ifndef HPX_READ_SHOW_H
#define HPX_READ_SHOW_H

#include "profile.h"
#include <stdio.h>

struct hpx_report {
    FILE *to;
    const char *file;
    const struct hpx_reader *reader;
    const struct hpx_check *check;
    struct hpx_profile *profile; /* not for the check */
    bool bold;                   /* titles, where the stream is a terminal */
};

void hpx_report_check(const struct hpx_report *r);
void hpx_report_view(const struct hpx_report *r);
void hpx_report_json(const struct hpx_report *r);
/* The tables alone: of CPU SAMPLES by method (profile->defined.whole, sorted), of others as hpx_report_view(); then what was lost, and what
 * the agent cost. */
void hpx_report_tables(const struct hpx_report *r);

#endif
