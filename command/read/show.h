/* SPDX-License-Identifier: BSD-2-Clause */
/* show.h: facts of a file, on a stream: for a person, as JSON, and as the result of a check. What its tables say is a tree's matter. */
#ifndef HPX_READ_SHOW_H
#define HPX_READ_SHOW_H

#include "check.h"
#include "json.h"
#include "profile.h"

struct hpx_report {
    FILE *to;
    const char *file;
    const struct hpx_reader *reader;
    const struct hpx_check *check;
    const struct hpx_profile *profile; /* not for the check */
    bool bold;                         /* titles, where the stream is a terminal */
    bool notes;                        /* of the check: in words; else their number is told */
};

void hpx_report_check(const struct hpx_report *r);
/* What it is, from when to when, its records and threads. */
void hpx_report_facts(const struct hpx_report *r);
/* Notes, and where it is broken; nothing of a sound file. */
void hpx_report_faults(const struct hpx_report *r);
/* All of that as members of the object that is open. */
void hpx_report_json(struct hpx_json *j, const struct hpx_report *r);
/* Threads by state, and monitors that are held: of the last MONITOR DUMP. */
void hpx_report_monitors(FILE *to, const struct hpx_profile *p);

#endif
