/* SPDX-License-Identifier: BSD-2-Clause */
/* deadlock.h: cycles among threads that wait for each other. Pure. */
#ifndef HPX_DEADLOCK_H
#define HPX_DEADLOCK_H

#include <stdint.h>

#define HPX_WAITS_FOR_NONE UINT32_MAX

/* next[i]: the thread that thread i waits for; HPX_WAITS_FOR_NONE: it waits for none. Writes the threads of every cycle to `members`, one
 * cycle after the other, by their smallest threads; each begins with that one and goes on with the one that it waits for. A thread that
 * waits for itself is no cycle. `members` and `scratch` have room for n. Returns the number of members. */
uint32_t hpx_deadlock_cycles(const uint32_t *next, uint32_t n, uint32_t *members, uint32_t *scratch);

#endif
