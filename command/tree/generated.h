/* SPDX-License-Identifier: BSD-2-Clause */
/* generated.h: names of classes that are made while the program runs, without the numbers that differ from run to run, so that their stacks
 * are one: of lambdas, hidden classes, proxies, reflection, CGLIB, ByteBuddy, Mockito, Clojure and others. The rule is the table in
 * generated.c; every reader of profiles applies it to the names of frames. Any thread; no state. */
#ifndef HPX_TREE_GENERATED_H
#define HPX_TREE_GENERATED_H

#include "tree.h"

/* In place: p.C$$Lambda$12/0x0000000800c03000.m becomes p.C$$Lambda.m. */
void hpx_name_generated(char *name);
/* The name of a frame, as hpx_tree_name(). */
uint32_t hpx_name_of_frame(struct hpx_tree *t, const char *text, size_t n);

#endif
