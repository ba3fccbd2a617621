/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr_out.h: a recording that is written for the JDK's Flight Recorder: chunks, each with its metadata, its events in the order in which
 * they come, and behind them the constants that these name. A caller makes one event at a time: hpx_jfr_begin(), its fields as
 * jfr_metadata.c has them, hpx_jfr_end(). Numbers of constants hold in one chunk.
 *
 * One thread. Memory: a chunk, about 8 MiB of events and as much of constants, and four bytes for each node and sixteen for each name of
 * the tree. What does not fit is remembered until hpx_jfr_out_end_chunk(). */
#ifndef HPX_TREE_JFR_OUT_H
#define HPX_TREE_JFR_OUT_H

#include "jfr_metadata.h"
#include "numbering.h"
#include <stdio.h>

struct hpx_jfr_out {
    const struct hpx_tree *tree;
    FILE *to;
    struct hpx_pb event;                            /* the one that is made */
    uint64_t begin_ns;                              /* since 1970 */
    uint64_t zero_ns;                               /* ticks are ns since then: what lasts may have begun before the recording */
    uint64_t last_ns;                               /* the end of all events so far */
    struct hpx_numbering methods, classes, threads; /* of names, as hpx_jfr_number() takes them */
    struct hpx_numbering collectors;                /* of names, too */
    /* private */
    struct hpx_numbering stacks; /* of nodes */
    struct hpx_pb events;        /* of the chunk */
    size_t constants;            /* about how many bytes they have */
    uint64_t chunk_ns;           /* when the chunk begins */
};

/* false: no memory; hpx_jfr_out_fini() in any case. */
bool hpx_jfr_out_init(struct hpx_jfr_out *j, const struct hpx_tree *t, FILE *to, uint64_t begin_ns, uint64_t zero_ns);
void hpx_jfr_out_fini(struct hpx_jfr_out *j);

/* An event that begins at at_ns and lasts ns. */
void hpx_jfr_begin(struct hpx_jfr_out *j, enum hpx_jfr_t type, uint64_t at_ns, uint64_t ns);
/* An event of 256 MiB or more counts as no memory; only names of megabytes make one. */
void hpx_jfr_end(struct hpx_jfr_out *j);
/* The numbers of a node's stack, and of a name: of `of`, one of those above; 0: none. */
uint32_t hpx_jfr_stack(struct hpx_jfr_out *j, uint32_t node);
uint32_t hpx_jfr_number(struct hpx_jfr_out *j, struct hpx_numbering *of, uint32_t name);

/* Whether the chunk should end before the next event. */
bool hpx_jfr_out_is_full(const struct hpx_jfr_out *j);
/* Writes the chunk. false: no memory. */
bool hpx_jfr_out_end_chunk(struct hpx_jfr_out *j);

#endif
