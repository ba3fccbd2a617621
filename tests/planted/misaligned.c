/* SPDX-License-Identifier: BSD-2-Clause */
/* misaligned.c: planted bug, reads a word at an odd address. UndefinedBehaviorSanitizer must report it and end the program. */
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    static uint64_t words[2];
    const volatile uint64_t *odd = (const uint64_t *)((uintptr_t)words + (uintptr_t)argc);
    return printf("ran on after the read: %d\n", (int)*odd) < 0;
}
