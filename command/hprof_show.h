/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_show.h: what an HPROF file holds, on standard output: for a person, as JSON, or as the result of a check. */
#ifndef HPX_COMMAND_HPROF_SHOW_H
#define HPX_COMMAND_HPROF_SHOW_H

#include "verdict.h"

struct hpx_view {
    const char *program; /* its name, before messages */
    bool check, strict, json, part;
    FILE *to;                          /* NULL: standard output */
    const struct hpx_verdict *verdict; /* NULL: the file as it is; else what it means, and its tables alone */
};

enum { HPX_VIEW_SOUND = 0, HPX_VIEW_BROKEN = 1, HPX_VIEW_UNUSABLE = 2 };

/* Reads fd to its end; `file` is its name for messages, which go to standard error. One of the above. Once in a process at a time. */
int hpx_view(const struct hpx_view *a, const char *file, int fd);

#endif
