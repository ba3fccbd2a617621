/* SPDX-License-Identifier: BSD-2-Clause */
/* top_files.h: `hprofx top` of a folder or pattern: what the newest profiles say, anew when files come. One thread. */
#ifndef HPX_COMMAND_TOP_FILES_H
#define HPX_COMMAND_TOP_FILES_H

#include <stdbool.h>

/* Whether the words behind the verb stand for files: a folder, a pattern, or a file with the name of a profile. Else they are a JVM. */
bool hpx_top_is_files(int argc, char **argv);
/* Until q, SIGINT, SIGTERM, SIGHUP, or the time of -d. argv[0] is the verb. The command's status. */
int hpx_top_files(int argc, char **argv);

#endif
