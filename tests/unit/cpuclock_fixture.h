/* SPDX-License-Identifier: BSD-2-Clause */
/* cpuclock_fixture.h: what the tests of cpuclock share. */
#ifndef HPX_CPUCLOCK_FIXTURE_H
#define HPX_CPUCLOCK_FIXTURE_H

#include "cpuclock.h"

/* A span of the slowest counter: the most that the clock may run ahead, and more than it may on faster ones. */
#define AHEAD_NS (HPX_CPUCLOCK_SPAN * HPX_COUNTER_NS + 100000)

/* For setup: the clock of CPU time. */
int choose(void **state);
/* Skips the test where the system has no clock by counter and rseq. */
void need_fast(void);
/* How often the calling thread was switched out. */
long switches(void);
void rest(long ns);

#endif
