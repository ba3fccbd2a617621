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

/* A name of the program as UTF-8 without controls, at most `columns` characters of it (0: all). quoted: also \" and \\, as JSON wants them.
 */
void hpx_report_name(FILE *to, const char *name, size_t columns, bool quoted);

#endif
