/* SPDX-License-Identifier: BSD-2-Clause */
/* heap.h: the mode heap=dump: every object that the program can reach, with its references, contents and allocation trace.
 *
 * A dump is taken by an attached thread (take.h): it lists classes and threads, then one walk writes the objects to a spool, a file without
 * a name beside the output. The aggregator names the traces, and the writer's thread writes what stands before the objects; then the spool
 * becomes the output, or is copied into it. */
#ifndef HPX_HEAP_H
#define HPX_HEAP_H

#include "mode.h"

extern const struct hpx_mode hpx_heap_mode;
extern const struct hpx_vm_mode hpx_heap_vm;

#endif
