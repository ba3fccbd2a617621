/* SPDX-License-Identifier: BSD-2-Clause */
/* writers.h: the writers of formats.h, and what they share. A writer returns false without memory. One thread. */
#ifndef HPX_TREE_WRITERS_H
#define HPX_TREE_WRITERS_H

#include "tree.h"
#include <stdio.h>

bool hpx_write_folded(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_pprof(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_otlp(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_speedscope(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_firefox(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_cpuprofile(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_hprof(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_text(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
bool hpx_write_page(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);
/* The page that compares t with a base, both finished; c: a column of t. */
bool hpx_write_page_diff(const struct hpx_tree *base, const struct hpx_tree *t, struct hpx_tree_column c, FILE *to);

/* A string of JSON, with its quotes; safe inside <script>, too: < is \u003c. */
void hpx_json_string(FILE *to, const char *text);
/* The stack of a node in frames of the tree, outermost first, in `stack`, whose owner frees its items; false: no memory. */
bool hpx_tree_stack(const struct hpx_tree *t, uint32_t node, struct hpx_list *stack, size_t *n);

#endif
