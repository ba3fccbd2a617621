/* SPDX-License-Identifier: BSD-2-Clause */
/* child_memory.h: malloc() for the child of child.h: one thread, no lock, memory from mmap() alone.
 *
 * Touches nothing of the VM: its calls of malloc() end here (child_calls.h).
 *
 * Blocks that the C library gave out before the fork are foreign: they can be read and resized, and freeing one does nothing. Only in the
 * child: in the parent these functions would race. */
#ifndef HPX_CHILD_MEMORY_H
#define HPX_CHILD_MEMORY_H

#include "compiler.h"

void *hpx_child_malloc(size_t n); /* aligned to 16; NULL: out of memory, also below */
void *hpx_child_calloc(size_t n, size_t size);
void *hpx_child_realloc(void *p, size_t n);
void hpx_child_free(void *p);
size_t hpx_child_usable(void *p);
char *hpx_child_strdup(const char *s);
/* Alignments up to 64 KiB. */
void *hpx_child_memalign(size_t align, size_t n);
int hpx_child_posix_memalign(void **p, size_t align, size_t n);

#endif
