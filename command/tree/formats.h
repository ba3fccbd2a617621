/* SPDX-License-Identifier: BSD-2-Clause */
/* formats.h: the formats that a tree is read from and written to; docs/formats.md has the facts about each. One thread. */
#ifndef HPX_TREE_FORMATS_H
#define HPX_TREE_FORMATS_H

#include "err.h"
#include "profile.h"
#include "reader.h"
#include "source.h"
#include "tree.h"
#include <stdio.h>

/* ---- readers: add what a file holds to a tree ---- */

enum hpx_tree_read {
    HPX_TREE_WHOLE = 0,
    HPX_TREE_PART,   /* the file is broken or cut off: what stood before was read; err says where */
    HPX_TREE_FAILED, /* nothing of use; err says why */
};

/* Told of an HPROF file that was read: for the verdict. */
typedef void hpx_tree_profile(void *ctx, struct hpx_tree *t, struct hpx_profile *p);

/* Reads fd to its end. The format shows in the first bytes: HPROF (text or binary), pprof, JFR, or collapsed stacks. Gzip is unpacked.
 * tell: may be NULL. Without another budget of the caller, hpx_memory_for_file() is what it may allocate. */
enum hpx_tree_read hpx_tree_read(struct hpx_tree *t, int fd, hpx_tree_profile *tell, void *ctx, struct hpx_err *err);

/* Told of each profile of a stream when its report has come: a tree that is not finished, and is now the callee's. false: the rest is not
 * read. */
typedef bool hpx_tree_each(void *ctx, struct hpx_tree *t);
/* Reads what an agent sends (net=), text or binary, to its end. Memory: the definitions of the stream, and one profile. */
enum hpx_tree_read hpx_tree_stream_hprof(struct hpx_source *s, hpx_tree_each *each, void *ctx, struct hpx_err *err);

/* The same for one format each. */
enum hpx_tree_read hpx_tree_read_hprof(struct hpx_tree *t, struct hpx_source *s, hpx_tree_profile *tell, void *ctx, struct hpx_err *err);
/* HPROF with a reader of the caller, who may have set how it reads and one sink, which comes first. */
enum hpx_tree_read hpx_tree_run_hprof(struct hpx_tree *t, struct hpx_reader *r, hpx_tree_profile *tell, void *ctx, struct hpx_err *err);
enum hpx_tree_read hpx_tree_read_folded(struct hpx_tree *t, struct hpx_source *s, struct hpx_err *err);
/* Whether a line of text is a collapsed stack, rather than a sentence that ends with a number. */
bool hpx_folded_is_stack(struct hpx_rd_text line);
enum hpx_tree_read hpx_tree_read_jfr(struct hpx_tree *t, struct hpx_source *s, struct hpx_err *err);
enum hpx_tree_read hpx_tree_read_pprof(struct hpx_tree *t, struct hpx_source *s, struct hpx_err *err);

/* A comment of pprof files, where it holds; pprof does not tell classes from methods. */
#define HPX_PPROF_CLASSES "innermost frames of objects and monitors are their classes"

/* ---- writers: a finished tree with at least one column, to a stream whose errors the caller looks for ---- */

struct hpx_format {
    const char *suffix;                                                          /* ".pb.gz" */
    const char *what;                                                            /* for people */
    bool gzip;                                                                   /* the caller packs the stream */
    bool roots;                                                                  /* knows no threads: they are roots of stacks */
    bool hprof, binary;                                                          /* as the agent writes it; with format=b */
    unsigned leaves_out;                                                         /* views that it cannot hold: bit `enum hpx_view_kind` */
    bool times;                                                                  /* has times: the caller reads with hpx_tree.timed */
    bool apart;                                                                  /* monitors and locks are different things in it */
    bool no_live;                                                                /* of allocations it has no objects that are live */
    bool one_column;                                                             /* writes column c alone; others write all, c first */
    bool (*write)(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to); /* false: no memory */
};

/* All of them; *n: how many. */
const struct hpx_format *hpx_formats(size_t *n);
/* By the suffix of a file's name; NULL: none. */
const struct hpx_format *hpx_format_of(const char *file);
/* Whether the name has a suffix that no format has, letters behind its last dot, or is a word for a format that other profilers have. err:
 * it, and the nearest that there is. */
bool hpx_format_is_unknown(const char *file, struct hpx_err *err);

#endif
