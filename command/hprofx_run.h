/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_run.h: a program that the command starts under the profiler. */
#ifndef HPX_COMMAND_HPROFX_RUN_H
#define HPX_COMMAND_HPROFX_RUN_H

#include "asked.h"

/* Runs argv, a java command or what starts one, to its end; then its profile. The program's own status, or that of the profile if it is 0.
 */
int hpx_launch(const struct hpx_asked *a, char **argv);

#endif
