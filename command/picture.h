/* SPDX-License-Identifier: BSD-2-Clause */
/* picture.h: profiles of any format as trees, and trees as files of the format that their name asks for. One thread. */
#ifndef HPX_COMMAND_PICTURE_H
#define HPX_COMMAND_PICTURE_H

#include "formats.h"
#include "outfile.h"
#include "verdict.h"

/* Adds the profile in `file` ("-": standard input) to a tree. HPX_OK; HPX_PARTIAL: what it could read is in the tree; HPX_FAILED. */
enum hpx_status hpx_picture_read(struct hpx_tree *t, const char *file, struct hpx_err *err);
/* The same of an open file, with what is known of the JVM's use of CPU (NULL: nothing). */
enum hpx_status hpx_picture_read_fd(struct hpx_tree *t, int fd, const char *name, const struct hpx_verdict *v, struct hpx_err *err);
/* The column that `view` asks for, as hpx_tree_column(). HPX_FAILED: a tree that is finished has none like that, or is not whole. */
enum hpx_status hpx_picture_column(const struct hpx_tree *t, const char *view, struct hpx_tree_column *c, struct hpx_err *err);
/* Puts the locks of java.util.concurrent to the monitors of a finished tree, in one view: who looks for contention means both. */
void hpx_picture_join_locks(struct hpx_tree *t);
/* A finished tree has no stack in any view. */
bool hpx_picture_is_empty(const struct hpx_tree *t);
/* Writes a finished tree to an open file, which stays open; view: as hpx_tree_column(). `name` is the file's, for messages. Of a tree
 * without any stack it writes a page that says so, or a file of the format without stacks, and a line on stderr. HPX_FAILED: the profile
 * has no such view; or writing failed. */
enum hpx_status hpx_picture_write(struct hpx_tree *t, const struct hpx_format *f, const char *view, int fd, const char *name,
                                  struct hpx_err *err);
/* Opens the file of a picture, as hpx_out_open(), or standard output for "-"; writes it, and removes what it made if that fails. */
enum hpx_status hpx_picture_save(struct hpx_tree *t, const struct hpx_format *f, const char *view, const char *file, struct hpx_err *err);

#endif
