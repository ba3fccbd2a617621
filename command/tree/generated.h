/* SPDX-License-Identifier: BSD-2-Clause */
/* generated.h: names of classes that are made while the program runs, without the numbers that differ from run to run, so that their stacks
 * are one. Any thread; no state. */
#ifndef HPX_TREE_GENERATED_H
#define HPX_TREE_GENERATED_H

/* In place: p.C$$Lambda$12/0x0000000800c03000.m becomes p.C$$Lambda.m. So do hidden classes (C/0x...), reflection's accessors, proxies, and
 * those of CGLIB. */
void hpx_name_generated(char *name);

#endif
