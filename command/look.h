/* SPDX-License-Identifier: BSD-2-Clause */
/* look.h: hprofx view: a profile of any format on the terminal. One thread. */
#ifndef HPX_COMMAND_LOOK_H
#define HPX_COMMAND_LOOK_H

#include "by.h"
#include "graph.h"
#include "inputs.h"
#include "trend.h"
#include "view.h"

/* What is shown, and how. */
struct hpx_look {
    FILE *to;
    struct hpx_tree *tree;
    struct hpx_graph_of of;
    const char *thread; /* one of which only a part is shown; NULL: all */
    size_t rows;        /* of a table */
    double least;       /* percent: smaller parts of a call tree, and rows of --by, are left out; 0: none */
    bool apart;         /* something stands above */
    bool folded;        /* idle threads are one row */
    bool bold;
    bool boxes;              /* lines of box characters, not of ASCII */
    size_t columns;          /* of the terminal; 0: there is none */
    struct hpx_trend *trend; /* of CPU time; hears of this profile, and is a column of its table; NULL: none */
};

/* ---- look_text.c, look_tree.c, look_by.c, look_json.c: false without memory ---- */

/* The name of the view, and its totals. */
void hpx_look_head(struct hpx_look *l);
/* Self and total by method; by class, where the view has classes. */
bool hpx_look_table(const struct hpx_look *l);
bool hpx_look_threads(const struct hpx_look *l);
/* Samples that count for the certainty of the column; 0: nothing is left to chance, or it is not known. Allocations are sampled by bytes.
 */
uint64_t hpx_look_effective(const struct hpx_look *l);
/* A name in `columns`, at least 16; good until the next call. */
const char *hpx_look_name(const struct hpx_look *l, uint32_t name, size_t columns);
/* The columns of a line that are left after these. */
size_t hpx_look_room(const struct hpx_look *l, size_t columns);

/* What a column of numbers is called: "samples", "time", "bytes". */
const char *hpx_look_word(const struct hpx_tree_view *v, size_t measure);
/* A row for each method of --by; patterns: const char *. As JSON: members of the object that is open. */
void hpx_look_by(struct hpx_look *l, const struct hpx_by *b, const struct hpx_list *patterns);
void hpx_look_by_json(const struct hpx_look *l, struct hpx_json *j, const struct hpx_by *b, const struct hpx_list *patterns);

/* The call tree. */
bool hpx_look_tree(const struct hpx_look *l);
/* Callers and callees of a method; whole: all calls of the view. */
bool hpx_look_method(const struct hpx_look *l, const struct hpx_graph *whole, const struct hpx_graph_method *of);

/* Views whose tables have no rows, and why; what else the file says. */
void hpx_look_empty(struct hpx_look *l);
/* The tables of these columns as members of the object that is open. */
bool hpx_look_json(const struct hpx_look *l, struct hpx_json *j, const struct hpx_tree_column *columns, size_t n);
/* The measure that belongs to a column: counts to bytes or time. */
size_t hpx_look_beside(const struct hpx_tree *t, struct hpx_tree_column c);

#endif
