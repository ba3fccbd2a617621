/* SPDX-License-Identifier: BSD-2-Clause */
/* deadlock.c: see deadlock.h. Every thread is passed at most three times. */
#include "deadlock.h"
#include <string.h>

/* A cycle is found when its first thread is passed, which need not be its smallest one. */
static uint32_t smallest(const uint32_t *next, uint32_t in)
{
    uint32_t least = in;
    for (uint32_t i = next[in]; i != in; i = next[i]) {
        least = i < least ? i : least;
    }
    return least;
}

uint32_t hpx_deadlock_cycles(const uint32_t *next, uint32_t n, uint32_t *members, uint32_t *scratch)
{
    uint32_t *round = scratch; /* of the thread: the walk that passed it first, from 1 on; 0: none; n + 1: the smallest of a cycle */
    uint32_t len = 0;
    memset(round, 0, n * sizeof *round);
    for (uint32_t from = 0; from < n; from++) {
        uint32_t i = from;
        while (i != HPX_WAITS_FOR_NONE && round[i] == 0) {
            round[i] = from + 1;
            i = next[i];
        }
        if (i != HPX_WAITS_FOR_NONE && round[i] == from + 1 && next[i] != i) {
            round[smallest(next, i)] = n + 1;
        }
    }
    for (uint32_t from = 0; from < n; from++) {
        for (uint32_t i = from, end = round[from] == n + 1; end; end = i != from) {
            members[len++] = i;
            i = next[i];
        }
    }
    return len;
}
