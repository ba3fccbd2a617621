/* SPDX-License-Identifier: BSD-2-Clause */
/* rotate.h: keep-files= and keep-bytes= with split=y: the oldest complete files of this session go when there are more than may stay, and
 * when the disk is full.
 *
 * A file is removed only if it is still the one that this session wrote: a regular file with the same inode, size and time of change of
 * its contents. What others have moved, changed or replaced is forgotten. At most HPX_OPT_MAX_KEEP files are remembered. A file that
 * cannot be removed stays, with a line, once. The newest file stays, however large it is.
 *
 * The writer's thread calls all. */
#ifndef HPX_ROTATE_H
#define HPX_ROTATE_H

#include "counters.h"
#include "lines.h"

/* A file is complete under its final name: remembers it, and removes the oldest. Without the options: no effect. */
void hpx_rotate_add(const char *name);
/* The disk is full: removes the oldest file, which is counted and said once. false: there is none. */
bool hpx_rotate_make_room(void);
/* Sets the counter of files removed because of a full disk; the report and the summary at the end were collected before. */
void hpx_rotate_count(struct hpx_counters *to);
/* The report: what the options removed so far; without them no line. */
void hpx_rotate_lines(struct hpx_lines *to);
/* Frees the list; the files stay. */
void hpx_rotate_fini(void);

#endif
