/* SPDX-License-Identifier: BSD-2-Clause */
/* pauses.h: pauses of the garbage collector, from the thread that collects to the aggregator: a queue of fixed size without lock and
 * memory, because nothing may be called in a collection. One thread collects at a time; the collections order its calls. */
#ifndef HPX_PAUSES_H
#define HPX_PAUSES_H

#include <stdbool.h>
#include <stdint.h>

/* hpx_clock_mono(). A begin without an end is forgotten; an end without a begin is none. */
void hpx_pauses_begin(uint64_t at_ns);
void hpx_pauses_end(uint64_t at_ns);
/* The aggregator: the oldest one; false: there is none. */
bool hpx_pauses_take(uint64_t *end_ns, uint64_t *ns);
/* Pauses that found the queue full. Any thread. */
uint64_t hpx_pauses_lost(void);

#endif
