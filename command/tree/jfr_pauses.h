/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr_pauses.h: which collection of the garbage collector a pause of a JFR recording is of.
 *
 * A collection may end in a later chunk than its pauses, and each JVM numbers its collections from 0, so where a file has recordings of
 * several, they have to be told apart: chunks of one recording begin one after the other, are all of hprofx or all of the JDK, and have
 * each collection once. */
#ifndef HPX_TREE_JFR_PAUSES_H
#define HPX_TREE_JFR_PAUSES_H

#include "jfr.h"
#include "tree.h"

struct hpx_jfr_pauses {
    struct hpx_list all;               /* struct pause */
    struct hpx_seeded_map collections; /* of the recording: ids -> chunks */
    size_t first, recording, chunk;    /* of the chunk: its first pause, its recording, its number */
    uint64_t began;                    /* likewise: ns since 1970 */
    bool own, restarted;               /* likewise: hprofx wrote it; it has a collection that the recording had before */
};

void hpx_jfr_pauses_init(struct hpx_jfr_pauses *p);
/* Before the first pause of each chunk. */
void hpx_jfr_pauses_chunk(struct hpx_jfr_pauses *p, struct hpx_tree *t, const struct hpx_jfr *j);
/* A collection, or one of its pauses. Nothing, unless t->timed. */
void hpx_jfr_pauses_take(struct hpx_jfr_pauses *p, struct hpx_tree *t, uint64_t collection, bool pauses, const struct hpx_tree_pause *of);
/* Adds all to the tree, and frees them. The name of a pause is always the same; that of its collection tells them apart. Collections of a
 * recording that tells no pause are taken for theirs. */
void hpx_jfr_pauses_settle(struct hpx_jfr_pauses *p, struct hpx_tree *t);

#endif
