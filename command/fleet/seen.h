/* SPDX-License-Identifier: BSD-2-Clause */
/* seen.h: which files have been handed on, in memory and in the file `seen` of a folder: a line "DEVICE INODE BORN RUN NAME" for each, in
 * hexadecimal but for the name, which is escaped. It is written anew as a whole. The file `reading` has such a line of the file that is
 * read just now, and behind it whether the process before ended while it read the same: who was killed once may have been killed by
 * anything, twice by this file. One thread.
 *
 * Files that are gone are forgotten when none of the last scans has met them: hpx_seen_has() marks what is there. */
#ifndef HPX_FLEET_SEEN_H
#define HPX_FLEET_SEEN_H

#include "err.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hpx_seen_file {
    dev_t dev;
    ino_t ino;
    uint64_t born_ns; /* when the inode was made, because numbers of inodes come again; 0: the file system does not say */
    const char *name;
    uint64_t run; /* 0: of none */
    bool broken;
};

struct hpx_seen;

/* Reads the file; lines that are none are left out. NULL: err. folder: stays the caller's, and open. */
struct hpx_seen *hpx_seen_open(int folder, struct hpx_err *err);
/* NULL: nothing to do. */
void hpx_seen_close(struct hpx_seen *s);
/* Also notes that the file is there. */
bool hpx_seen_has(struct hpx_seen *s, const struct hpx_seen_file *f);
/* The name is copied. false: no memory. */
bool hpx_seen_add(struct hpx_seen *s, const struct hpx_seen_file *f);
/* Forgets a file that was added: it was not handed on after all. */
void hpx_seen_drop(struct hpx_seen *s, const struct hpx_seen_file *f);
/* What is remembered counts as there: a folder could not be looked at. */
void hpx_seen_keep(struct hpx_seen *s);
/* Notes the run of a file that was added. */
void hpx_seen_run(struct hpx_seen *s, const struct hpx_seen_file *f);
/* The file of a run that was added last; NULL: none. Good until the next call of another function. */
const struct hpx_seen_file *hpx_seen_last(const struct hpx_seen *s, uint64_t run);
/* The file is being read, as the next start will know; where that cannot be written, it will not. */
void hpx_seen_begin(struct hpx_seen *s, const struct hpx_seen_file *f);
/* It was read. */
void hpx_seen_end(struct hpx_seen *s);
/* The file that was being read when the last two processes ended; NULL: none. Good until hpx_seen_begin(). */
const struct hpx_seen_file *hpx_seen_fatal(const struct hpx_seen *s);
/* How many files are remembered. */
size_t hpx_seen_count(const struct hpx_seen *s);
/* Writes the file, without what was not there since the last call. false: errno; what is in memory stays good. */
bool hpx_seen_save(struct hpx_seen *s);

#endif
