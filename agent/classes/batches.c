/* SPDX-License-Identifier: BSD-2-Clause */
/* batches.c: see batches.h. */
#include "batches.h"

#define GROWTH 4u /* a batch is at most this many times as big as the one before */

uint32_t hpx_batches_size(const struct hpx_batches *b)
{
    return b->size != 0 ? b->size : HPX_BATCH_FIRST;
}

void hpx_batches_took(struct hpx_batches *b, uint32_t n, uint64_t stop_ns)
{
    b->calls++;
    b->stops_ns += stop_ns;
    b->longest_ns = stop_ns > b->longest_ns ? stop_ns : b->longest_ns;
    if (b->least_ns == 0 || stop_ns < b->least_ns) {
        b->least_ns = stop_ns > 0 ? stop_ns : 1;
        b->least_n = n;
    }
    uint64_t more = n > b->least_n ? n - b->least_n : n,
             theirs = stop_ns > b->least_ns ? stop_ns - b->least_ns : 0; /* what `more` classes took */
    uint64_t of_least = theirs * b->least_n / more, fixed = b->least_ns > of_least ? b->least_ns - of_least : 0;
    const uint64_t goal = HPX_BATCH_STOP_NS / 2;
    uint64_t room = goal > 2 * fixed ? goal - fixed : fixed; /* for what the classes take */
    uint64_t most = (uint64_t)n * GROWTH, all_theirs = stop_ns > 0 ? HPX_BATCH_STOP_NS * n / stop_ns : most;
    all_theirs = all_theirs > n + n / 4 ? all_theirs : n + n / 4; /* a bigger batch tells */
    uint64_t size = theirs > 0 ? room * more / theirs : all_theirs;
    size = size > most ? most : size;
    size = size > HPX_BATCH_MOST ? HPX_BATCH_MOST : size;
    b->size = size < HPX_BATCH_FIRST ? HPX_BATCH_FIRST : (uint32_t)size;
}
