/* SPDX-License-Identifier: BSD-2-Clause */
/* writers.h: the writers of formats.h, and what they share. A writer returns false without memory. One thread. */
#ifndef HPX_TREE_WRITERS_H
#define HPX_TREE_WRITERS_H

#include "json.h"
#include "tree.h"

bool hpx_write_folded(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_pprof(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_otlp(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_speedscope(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_firefox(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_hprof(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_text(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_jfr(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_page(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
/* The page that compares t with a base, both finished; c: a column of t; said: JSON of what is known of the changes (diff_page.c). */
bool hpx_write_page_diff(const struct hpx_tree *base, const struct hpx_tree *t, struct hpx_tree_column c, const char *said, size_t n,
                         FILE *to);

/* The next stack of a column that has any value, its threads added up; *i: the sample to go on with. false: there is none. */
bool hpx_tree_next(const struct hpx_tree_view *v, size_t measure, size_t *i, uint32_t *node, uint64_t *value);
/* As hpx_tree_columns(), but with that column first. */
size_t hpx_tree_columns_from(const struct hpx_tree *t, struct hpx_tree_column first,
                             struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES]);

/* The name of a column as a string of JSON: "CPU: samples", of a filtered tree with the total: "CPU: samples (12 of 50)". The name of a
 * measure may be from a file. */
void hpx_json_column(FILE *to, const struct hpx_tree *t, struct hpx_tree_column c);
/* The stack of a node in frames of the tree, outermost first, in `stack`, whose owner frees its items; false: no memory. */
bool hpx_tree_stack(const struct hpx_tree *t, uint32_t node, struct hpx_list *stack, size_t *n);

#endif
