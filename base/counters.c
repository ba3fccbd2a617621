/* SPDX-License-Identifier: BSD-2-Clause */
/* counters.c: the names of the counters, and their sum. */
#include "counters.h"

const struct hpx_counter_info hpx_counter_infos[HPX_C_COUNT] = {
#define HPX_COUNTER_INFO_OF(sym, kind, key, text) [HPX_C_##sym] = {(key), (text), HPX_COUNTER_##kind},
    HPX_COUNTERS(HPX_COUNTER_INFO_OF)
#undef HPX_COUNTER_INFO_OF
};

void hpx_counters_add(struct hpx_counters *to, const struct hpx_counters *from)
{
    for (int i = 0; i < HPX_C_COUNT; i++) {
        uint64_t n = hpx_counter_get(from, (enum hpx_counter)i);
        if (n) {
            hpx_count(to, (enum hpx_counter)i, n);
        }
    }
}
