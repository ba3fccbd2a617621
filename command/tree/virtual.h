/* SPDX-License-Identifier: BSD-2-Clause */
/* virtual.h: what virtual threads are called that have no name of their own. A program has a million of them; what it knows is the method
 * that each was started with. */
#ifndef HPX_TREE_VIRTUAL_H
#define HPX_TREE_VIRTUAL_H

#include "tree.h"

/* "METHOD (virtual)": the outermost method of the virtual thread that is not the JDK's, for all threads that it starts; where all are the
 * JDK's, the outermost one. `otherwise`: the stack is of no virtual thread, or its outermost frames are missing. */
uint32_t hpx_virtual_thread(struct hpx_tree *t, uint32_t node, uint32_t otherwise);

#endif
