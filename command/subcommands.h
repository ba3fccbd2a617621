/* SPDX-License-Identifier: BSD-2-Clause */
/* subcommands.h: what the subcommands are called with: those of files with the rest of their command line. Each returns the command's
 * status, and has said what failed. One thread, once in a process. */
#ifndef HPX_COMMAND_SUBCOMMANDS_H
#define HPX_COMMAND_SUBCOMMANDS_H

#include "arguments.h"
#include "asked.h"

/* `hprofx list`: the JVMs that run here and may be looked at, on standard output. */
int hpx_list(void);
/* `hprofx jmh`: the words with which JMH has the profiler, on standard output. */
int hpx_jmh(const struct hpx_asked *a);

/* Of a JVM that runs; `word` names it (hpx_target_find()). A session that the command waits for; then its profile. */
int hpx_live_profile(const struct hpx_asked *a, const char *word);
/* start: a session that goes on, for a->seconds if they were given; the JVM writes a->out. */
int hpx_live_start(const struct hpx_asked *a, const char *word);
/* stop, dump, status. */
int hpx_live_ask(const struct hpx_asked *a, const char *request, const char *word);

/* info, check: what an HPROF file holds (docs/formats.md). HPX_PARTIAL: the file is broken. */
int hpx_info(struct hpx_arguments *a);
int hpx_check_file(struct hpx_arguments *a);
/* Both. */
int hpx_examine(struct hpx_arguments *a, bool checks);
/* recover. HPX_PARTIAL: nothing of it can be recovered. */
int hpx_recover_file(struct hpx_arguments *a);
/* convert, merge. */
int hpx_convert(struct hpx_arguments *a);
/* view. */
int hpx_look(struct hpx_arguments *a);
/* diff. */
int hpx_diff(struct hpx_arguments *a);

#endif
