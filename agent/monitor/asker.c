/* SPDX-License-Identifier: BSD-2-Clause */
/* asker.c: what questions cost, and when they end. */
#include "asker.h"
#include "clock.h"
#include <stdatomic.h>

static HPX_OF_SESSION _Atomic uint64_t until; /* relaxed: hpx_asker_until() */

void hpx_asker_until(uint64_t ns)
{
    atomic_store_explicit(&until, ns, memory_order_relaxed);
}

uint64_t hpx_asker_begin(void)
{
    return hpx_clock_mono();
}

void hpx_asker_end(struct hpx_asker *a, uint64_t begun)
{
    hpx_asker_count(a, hpx_clock_mono() - begun);
}

void hpx_asker_count(struct hpx_asker *a, uint64_t ns)
{
    a->take->questions++;
    a->take->asked_ns += ns;
    a->take->longest_ns = ns > a->take->longest_ns ? ns : a->take->longest_ns;
}

bool hpx_asker_late(void)
{
    uint64_t end = atomic_load_explicit(&until, memory_order_relaxed);
    return end != 0 && hpx_clock_mono() >= end;
}

void hpx_asker_release(const struct hpx_asker *a, void *jvmtis)
{
    if (jvmtis != NULL) {
        (*a->jvmti)->Deallocate(a->jvmti, jvmtis);
    }
}
