/* SPDX-License-Identifier: BSD-2-Clause */
/* stress.h: what the stress tests share. cmocka's asserts belong to the main thread: workers count what is wrong. */
#ifndef HPX_STRESS_H
#define HPX_STRESS_H

#include "../unit/cmocka_all.h"

#include <stdlib.h>

/* HPX_STRESS=N in the environment multiplies the length of a test. */
static inline uint64_t stress_times(uint64_t n)
{
    const char *s = getenv("HPX_STRESS");
    unsigned long factor = s ? strtoul(s, NULL, 10) : 1;
    return n * (factor ? factor : 1);
}

/* xorshift; the seed is not 0. */
static inline uint64_t stress_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

#endif
