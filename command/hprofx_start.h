/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_start.h: subcommands for a JVM that runs. `word` names it (hpx_target_find()). Each returns the status of the command and has said
 * what failed. */
#ifndef HPX_COMMAND_HPROFX_START_H
#define HPX_COMMAND_HPROFX_START_H

#include "asked.h"

/* A session that the command waits for; then its profile. */
int hpx_live_profile(const struct hpx_asked *a, const char *word);
/* A session that goes on, for a->seconds if they were given; the JVM writes a->out. */
int hpx_live_start(const struct hpx_asked *a, const char *word);
/* "stop", "dump" or "status". */
int hpx_live_ask(const struct hpx_asked *a, const char *request, const char *word);

#endif
