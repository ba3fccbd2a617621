/* SPDX-License-Identifier: BSD-2-Clause */
/* failing_memory.h: malloc, calloc, realloc and mmap that fail when a test says so, on every thread. Its tests stand in `failing_memory` of
 * meson.build, which links them with --wrap. */
#ifndef HPX_FAILING_MEMORY_H
#define HPX_FAILING_MEMORY_H

#include <stdint.h>

#define MEMORY_NEVER UINT64_MAX

/* Calls are counted anew, from 1; those in [first, last] fail. */
void memory_fail(uint64_t first, uint64_t last);
/* Every call fails from now on. */
void memory_refuse(void);
/* No call fails from now on. The count goes on. */
void memory_allow(void);
uint64_t memory_calls(void);
/* So many of the next mappings fail beside; how many have yet to. */
void memory_fail_maps(uint32_t n);
uint32_t memory_maps_left(void);
/* For a test that makes each call fail, one after the other: the first one, and the step to the next. 1 and 1, or as HPX_FAULTS=N:TURN
 * says, one in N. */
uint64_t memory_first_fault(void);
uint64_t memory_fault_step(void);

#endif
