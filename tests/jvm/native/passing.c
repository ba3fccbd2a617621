// SPDX-License-Identifier: BSD-2-Clause
/* passing.c: a library that is loaded and unloaded again and again (shares.c). */
#include <stdint.h>

uint64_t passing_run(uint64_t n);

__attribute__((noinline)) static uint64_t passing_inner(uint64_t n)
{
    volatile uint64_t x = 7;
    for (uint64_t i = 0; i < n; i++) {
        x = x * 31 + i;
    }
    return x;
}

uint64_t passing_run(uint64_t n)
{
    return passing_inner(n) + 1;
}
