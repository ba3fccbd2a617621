/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_show.h: facts of an HPROF file, and its tables as hprofx view has them, on standard output; or the result of a check. */
#ifndef HPX_COMMAND_HPROF_SHOW_H
#define HPX_COMMAND_HPROF_SHOW_H

#include "status.h"
#include <stdbool.h>

struct hpx_view {
    bool check, strict, json, part;
    bool notes; /* of a check: in words, not only their number */
};

/* Reads fd to its end; `file` is its name. HPX_OK: it is sound; HPX_PARTIAL: broken; HPX_FAILED: it cannot be read, or shown, which is
 * said. Once in a process at a time. */
enum hpx_status hpx_view(const struct hpx_view *a, const char *file, int fd);

#endif
