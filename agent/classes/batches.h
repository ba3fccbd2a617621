/* SPDX-License-Identifier: BSD-2-Clause */
/* batches.h: how many classes a call of RetransformClasses gets, so that the program's stops stay short and the calls few.
 *
 * Each call stops the program: for a fixed time, because the VM walks all loaded classes and the compiled code, and for a time per class.
 * Batches grow as long as a stop is below half of HPX_BATCH_STOP_NS; where the fixed time alone is more, until a stop takes twice as long:
 * then the number of calls, and with it the whole, stays linear in the number of classes. No state but *b; no clock. */
#ifndef HPX_BATCHES_H
#define HPX_BATCHES_H

#include <stdint.h>

#define HPX_BATCH_STOP_NS UINT64_C(50000000)
#define HPX_BATCH_FIRST   64u
#define HPX_BATCH_MOST    4096u

struct hpx_batches {
    uint64_t least_ns;   /* the shortest stop so far; 0: none */
    uint64_t longest_ns; /* stop so far */
    uint64_t stops_ns;   /* all */
    uint32_t least_n;    /* its classes */
    uint32_t size;       /* of the next batch; 0: the first */
    uint32_t calls;      /* that stopped the program */
};

/* The number of classes of the next batch, at least 1. */
uint32_t hpx_batches_size(const struct hpx_batches *b);
/* A call with n classes has stopped the program for so long, at most. */
void hpx_batches_took(struct hpx_batches *b, uint32_t n, uint64_t stop_ns);

#endif
