/* SPDX-License-Identifier: BSD-2-Clause */
/* phase.c: the arithmetic of phase.h. */
#include "phase.h"

struct hpx_phase hpx_phase_begin(uint64_t now, uint64_t drawn)
{
    return (struct hpx_phase){.origin = (now < HPX_PHASE_JUST_BEGUN_NS ? 0 : now) + drawn};
}

uint64_t hpx_phase_left(const struct hpx_phase *p, uint64_t now, uint64_t interval)
{
    uint64_t at = p->origin + p->accounted * interval;
    return at > now ? at - now : 0;
}

uint64_t hpx_phase_take(struct hpx_phase *p, uint64_t now, uint64_t interval)
{
    uint64_t at = p->origin + p->accounted * interval, due = now >= at ? (now - at) / interval + 1 : 0;
    p->accounted += due;
    return due;
}

uint64_t hpx_phase_before(const struct hpx_phase *p, uint64_t weight, uint64_t at, uint64_t interval)
{
    uint64_t until = at >= p->origin ? (at - p->origin) / interval + 1 : 0, before = p->accounted - weight;
    uint64_t n = until > before ? until - before : 0;
    return n < weight ? n : weight;
}

uint64_t hpx_phase_period(const struct hpx_phase *p, uint64_t now, uint64_t interval)
{
    uint64_t half = (interval + 1) / 2; /* never 0: that would be an event without signals */
    uint64_t left = hpx_phase_left(p, now, interval), least = half < HPX_PHASE_LEAST_NS ? half : HPX_PHASE_LEAST_NS;
    return left > least ? left : least;
}
