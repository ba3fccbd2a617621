/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_top.h: `hprofx top`. */
#ifndef HPX_COMMAND_HPROFX_TOP_H
#define HPX_COMMAND_HPROFX_TOP_H

#include "asked.h"

/* Shows what the JVM of the word did in the last second, until q, a signal, its end, or a->seconds if they were given. Returns the status
 * of the command and has said what failed. */
int hpx_top(const struct hpx_asked *a, const char *word);

#endif
