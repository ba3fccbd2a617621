/* SPDX-License-Identifier: BSD-2-Clause */
/* cpuclock_check.h: checks that this system clears rseq_cs whenever a thread was switched out. Only for cpuclock.c. Not in signal
 * handlers. */
#ifndef HPX_CPUCLOCK_CHECK_H
#define HPX_CPUCLOCK_CHECK_H

#include "cpuclock.h"

struct hpx_cpuclock_found {
    uint64_t scale;  /* nanoseconds per tick * 2^32; 0: do not use it */
    intptr_t offset; /* of rseq_cs from the thread pointer */
    const char *why; /* static; "" if scale is set */
};

/* The self-test of setup: sets all of *found. */
void hpx_cpuclock_check(struct hpx_cpuclock_found *found, const struct hpx_cpuclock_ops *ops);
/* The self-test of recheck, against *found; false: why is set. */
bool hpx_cpuclock_check_again(struct hpx_cpuclock_found *found);

/* The rate of the counter, from that measured and that told by the processor (0: none), which is more exact, but wrong on some machines: it
 * is taken if it is within 1/64 of the measured one. Nanoseconds per tick * 2^32; 0, as measured: none. */
uint64_t hpx_cpuclock_rate(uint64_t measured, uint64_t told_hz);

/* The calling thread's rseq_cs; NULL: its registration failed. offset: of a check that passed. */
_Atomic uint64_t *hpx_cpuclock_word(intptr_t offset);

#endif
