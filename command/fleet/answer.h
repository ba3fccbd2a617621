/* SPDX-License-Identifier: BSD-2-Clause */
/* answer.h: rows of ClickHouse, (kind String, stack Array(String), value, from, to UInt64) in its format RowBinary, as they come from the
 * network, into a tree. from, to: ms since 1970 between which all of it was; if from >= to, the row has no time. The bytes are hostile:
 * lengths are bounded, and of an answer only a text that is not yet whole is kept. One thread. */
#ifndef HPX_FLEET_ANSWER_H
#define HPX_FLEET_ANSWER_H

#include "err.h"
#include "tree.h"

#define HPX_ANSWER_TEXT   ((size_t)1 << 20) /* bytes of a kind or frame */
#define HPX_ANSWER_FRAMES 65536             /* of a stack */

struct hpx_answer {
    struct hpx_tree *tree;
    struct hpx_list held; /* char: of the next item, which is not whole */
    struct hpx_tree_path path;
    enum { HPX_ANSWER_AT_KIND, HPX_ANSWER_AT_STACK, HPX_ANSWER_AT_FRAME, HPX_ANSWER_AT_VALUE } at; /* what comes next */
    uint64_t left;                                                                                 /* frames of the stack that is read */
    struct hpx_tree_view *view; /* of the row; NULL: no room for its kind */
    size_t measure;
    uint64_t rows;
    bool crowded;       /* rows of kinds beyond those that a tree has room for were left out */
    const char *broken; /* NULL, or why the rest is not read */
};

/* Adds to a tree, which must outlive it. */
void hpx_answer_init(struct hpx_answer *r, struct hpx_tree *t);
void hpx_answer_fini(struct hpx_answer *r);
/* The next bytes of the answer. */
void hpx_answer_take(struct hpx_answer *r, const char *bytes, size_t n);
/* Behind the last ones. 0; -HPX_E_NOMEM; -HPX_E_RANGE: the answer was not made of such rows, or is cut off. */
int hpx_answer_end(const struct hpx_answer *r, struct hpx_err *err);

#endif
