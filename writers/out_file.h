/* SPDX-License-Identifier: BSD-2-Clause */
/* out_file.h: opens an output by name, safely.
 *
 * - /dev/stdout, /dev/stderr: descriptors 1 and 2 (duplicated).
 * - an existing FIFO or device of this user or of root (owner.h): written in place, never created, truncated, renamed or removed. A FIFO
 * without a reader is opened by the first write, on the writer's thread, which waits for one; the program does not.
 * - else a regular file, new, 0600, O_EXCL | O_NOFOLLOW | O_CLOEXEC: NAME.part until published, then renamed to NAME, replacing a regular
 * file. The files of a killed run are first renamed to NAME.killed.part (leftover.h). A NAME.part that a living run holds (flock), or that
 * is no regular file, stays: the run then writes NAME.PID.part (or NAME.PID.N.part) and one line says so. If the name is too long for the
 * suffix, the name of the part is cut.
 * - a symbolic link as the last component, a directory, a FIFO or device of another user, another kind of file, or a place where nothing
 * can be made: refused.
 * hpx_out_adopt() gives such an output that is not compressed another file, under the same NAME.part, with its own lock.
 * With gzip the content is compressed (out_gzip.h), in every kind of file.
 * With force=n and a regular file of that name: text: PREFIX.PID.txt where NAME ends in ".txt" (any case, its spelling kept), else
 * NAME.PID.txt; binary: NAME.PID. With gzip a suffix .gz stays at the end. */
#ifndef HPX_OUT_FILE_H
#define HPX_OUT_FILE_H

#include "out.h"

struct hpx_out_file_opts {
    const char *name; /* expanded already (out_name.h) */
    bool force;       /* force=y */
    bool gzip;        /* gz=y */
    bool text;        /* format=a: chooses the suffix rule: text with any other suffix gets NAME.PID.txt */
};

/* Opens and initialises *o. 0; -HPX_E_IO: nothing was created, err->msg begins with "can't create profile file: NAME" (HPROF's text), errno
 * is why; -HPX_E_SYS: gzip without zlib, nothing was created; -HPX_E_NOMEM. */
int hpx_out_file_open(struct hpx_out *o, const struct hpx_out_file_opts *opts, struct hpx_err *err);
/* Gives an output that has not been published another final name. No effect on others, or if the name is not possible. */
void hpx_out_file_rename(struct hpx_out *o, const struct hpx_out_file_opts *opts);
/* The final name of the output, for messages; after hpx_out_close() the name that it has. */
const char *hpx_out_file_name(const struct hpx_out *o);
/* In the child of a fork: closes the descriptor, touches nothing else; the parent's lock stays. Async-signal-safe. */
void hpx_out_file_forget(struct hpx_out *o);

#endif
