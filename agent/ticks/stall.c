/* SPDX-License-Identifier: BSD-2-Clause */
/* stall.c: the arithmetic of stall.h. */
#include "stall.h"

uint64_t hpx_stall_limit(uint64_t interval_ns, uint64_t tick_ns)
{
    uint64_t ticks = (HPX_STALL_TICKS * tick_ns + interval_ns - 1) / interval_ns;
    return ticks > HPX_STALL_INTERVALS ? ticks : HPX_STALL_INTERVALS;
}

uint64_t hpx_stall_of(uint64_t weight, uint64_t limit, uint64_t kernel)
{
    uint64_t beyond = weight > limit ? weight - limit : 0;
    return beyond / 2 < kernel ? 0 : beyond;
}
