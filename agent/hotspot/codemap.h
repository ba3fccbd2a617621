/* SPDX-License-Identifier: BSD-2-Clause */
/* codemap.h: which compiled method owns a program counter.
 *
 * Touches nothing: events of JVMTI fill it, and it knows of HotSpot's code cache only what is said here.
 *
 * A table over the code cache in granules of 64 bytes (the smallest unit in which HotSpot gives out code), in chunks of 1 MiB of code that
 * are mapped when first used. Writers: JVMTI callbacks on any thread, lock-free (a chunk is published by compare-and-swap, an entry is one
 * atomic store). Reader: the sampler's signal handler. Everything here is async-signal-safe but hpx_codemap_add(), which may map memory. */
#ifndef HPX_CODEMAP_H
#define HPX_CODEMAP_H

#include "compiler.h"

/* Code of `size` bytes at `code` belongs to `method` (a jmethodID as a number; 0: a stub or the interpreter). Code outside a window of 4
 * GiB around the first code ever seen is not recorded; its samples are walked without the map. */
void hpx_codemap_add(const void *code, size_t size, uint64_t method);
/* The code of `method` at `code` is gone. The event has no size: clears entries as long as they name the method. */
void hpx_codemap_remove(const void *code, uint64_t method);
/* Forgets all code, because no event tells of what goes from now on. No handler looks. */
void hpx_codemap_clear(void);
/* The method that owns pc, 0 if unknown. */
uint64_t hpx_codemap_owner(uintptr_t pc);
/* true if pc lies in announced code (method, stub or interpreter) that was not removed. */
bool hpx_codemap_known(uintptr_t pc);

#endif
