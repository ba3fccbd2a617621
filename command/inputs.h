/* SPDX-License-Identifier: BSD-2-Clause */
/* inputs.h: the profiles that words of a command line stand for, and their sum. A word is a file; "-"; a folder: all profiles in it, in the
 * order of their names; a pattern, where no file has that name; or a URL of an engine. One thread.
 *
 * Of a folder or pattern only regular files count, no links, hidden files, .part files, and formats that cannot be read back. Memory: the
 * names, one profile, and the sum; also every profile with allocations that came through a pipe, which cannot be read twice. */
#ifndef HPX_COMMAND_INPUTS_H
#define HPX_COMMAND_INPUTS_H

#include "engine.h"
#include "filter.h"

struct hpx_inputs {
    struct hpx_engine_how how;
    struct hpx_filter filter;                                           /* of the sum */
    struct hpx_list files;                                              /* struct hpx_input */
    void (*told)(void *to, const char *file, const struct hpx_tree *t); /* of several files each that is read; NULL: nobody */
    void *told_to;
    /* Of hpx_inputs_read(): */
    size_t unread; /* files that could not be read, or not to the end */
    size_t read;   /* profiles in the sum */
    size_t runs;   /* of how many JVMs, as far as the files tell: every other one counts as one more */
};

struct hpx_input {
    char *name; /* owned */
    bool found; /* in a folder, or by a pattern */
};

/* Adds what a word stands for. HPX_FAILED: there is nothing like that (err). */
enum hpx_status hpx_inputs_add(struct hpx_inputs *in, const char *word, struct hpx_err *err);
void hpx_inputs_fini(struct hpx_inputs *in);
/* Adds the sum of all to a tree, which hpx_tree_init() made, finishes it, and applies the filter. HPX_PARTIAL: what could not be read is
 * said on stderr. A file that was named and cannot be read is HPX_FAILED (err), as is no file at all; of those that were found the others
 * are the sum.
 *
 * Allocations count from the start of a run in each of its profiles, and heap dumps have what lived at their time: of several profiles of a
 * run the last counts in both. A profile that comes twice, which its
 * run and number tell, counts once. The time is from the first profile to the last; of several files there is no verdict, and
 * the origin is what all of them say. */
enum hpx_status hpx_inputs_read(struct hpx_inputs *in, struct hpx_tree *t, struct hpx_err *err);

#endif
