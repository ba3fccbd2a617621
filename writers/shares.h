/* SPDX-License-Identifier: BSD-2-Clause */
/* shares.h: shares of a total, and ms of ns, in the tables of times. */
#ifndef HPX_SHARES_H
#define HPX_SHARES_H

#include "compiler.h"

/* Not 0 / 0: that is a share of 0 percent, but below no cutoff. */
static inline double hpx_percent(uint64_t part, uint64_t total)
{
    return total > 0 ? (double)part * 100.0 / (double)total : 0.0;
}

static inline bool hpx_below(uint64_t part, uint64_t total, double cutoff)
{
    return (double)part / (double)total < cutoff;
}

static inline uint64_t hpx_whole_ms(uint64_t ns)
{
    return ns / 1000000 + (ns % 1000000 >= 500000);
}

#endif
