/* SPDX-License-Identifier: BSD-2-Clause */
/* outfile.h: the file that the user names for a result, and what the user is told when a command fails. One thread. */
#ifndef HPX_COMMAND_OUTFILE_H
#define HPX_COMMAND_OUTFILE_H

#include "status.h"
#include <stdbool.h>
#include <stdio.h>

/* The name is that of standard output: -, or a link of the system to it, such as /dev/stdout. */
bool hpx_out_is_stdout(const char *file);
/* Empties what hpx_out_open() has opened, but not standard output: what is in it was not the command's. A pipe has no length. */
void hpx_out_empty(int fd, const char *file);
/* Opens the file, or a copy of standard output, for writing, never through a link; made with mode 0600 if it is missing (*fresh). What is
 * in it stays until the caller empties it. -1: it cannot be, or it is another user's, who is not root (err). */
int hpx_out_open(const char *file, bool *fresh, struct hpx_err *err);
/* Writes all of it. false: errno. */
bool hpx_out_all(int fd, const void *bytes, size_t n);
/* A stream to an open file, which stays open; gzip: what is written is packed, and whole when the stream is closed. NULL: no memory, or no
 * descriptor. */
FILE *hpx_out_stream(int fd, bool gzip);
/* Standard output is a pipe whose reader has seen enough, as head has: that it cannot be written is no fault. */
bool hpx_out_nobody_reads(void);
/* Says on stderr what is wrong with the command line. verb: of the help that shows how; "": that of all. */
void hpx_misuse(const char *verb, const char *why);
/* Says on stderr what failed; returns the status. */
int hpx_complain(enum hpx_status s, struct hpx_err *err);

#endif
