/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_info.h: info, check and recover: what an HPROF file holds (docs/formats.md). One thread, once in a process. */
#ifndef HPX_COMMAND_HPROFX_INFO_H
#define HPX_COMMAND_HPROFX_INFO_H

#include <stdbool.h>

/* The word is a subcommand of these. */
bool hpx_examine_is(const char *verb);
/* argv[0]: the subcommand; behind it its options and its file. Returns the status of the command, and has said what failed: HPX_OK,
 * HPX_FAILED (the file cannot be read or written), HPX_USAGE, HPX_PARTIAL (the file is broken, or nothing of it can be recovered). */
int hpx_examine(int argc, char **argv);

#endif
