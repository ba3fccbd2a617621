/* SPDX-License-Identifier: BSD-2-Clause */
/* subcommands.h: what the small subcommands are called with. Each returns the command's status, and has said what failed. One thread. */
#ifndef HPX_COMMAND_SUBCOMMANDS_H
#define HPX_COMMAND_SUBCOMMANDS_H

#include "asked.h"

/* `hprofx list`: the JVMs that run here and may be looked at, on standard output. */
int hpx_list(void);
/* `hprofx jmh`: the words with which JMH has the profiler, on standard output. */
int hpx_jmh(const struct hpx_asked *a);

#endif
