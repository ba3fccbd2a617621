/* SPDX-License-Identifier: BSD-2-Clause */
/* idle.h: which wall-clock time is of threads that have nothing to do: threads of the VM, and threads of pools, event loops and servers
 * that wait for work. A thread that waits for an answer, a lock or a child is not idle. */
#ifndef HPX_TREE_IDLE_H
#define HPX_TREE_IDLE_H

#include "tree.h"

/* Of a node with samples of HPX_VIEW_WALL, whose innermost frame is the state of the thread. */
bool hpx_idle(const struct hpx_tree *t, uint32_t node);

#define HPX_IDLE "[idle]"
/* Puts HPX_IDLE, with the state below it, in the place of the stacks that are idle; the threads stay. The tree is finished, and stays so.
 * Whether there are any. */
bool hpx_idle_fold(struct hpx_tree *t);

#endif
