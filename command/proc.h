/* SPDX-License-Identifier: BSD-2-Clause */
/* proc.h: reads small files of /proc. Any thread. */
#ifndef HPX_COMMAND_PROC_H
#define HPX_COMMAND_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A file of process `pid`, or of its thread `tid` if that is not 0, with a 0 behind it; cut to size. root: "", or the folder of a test.
 * false: it cannot be read, or is empty; to is "". */
bool hpx_proc_read(const char *root, pid_t pid, pid_t tid, const char *file, char *to, size_t size);

#endif
