/* SPDX-License-Identifier: BSD-2-Clause */
/* misaligned.c: planted bug, reads a word at an odd address. UndefinedBehaviorSanitizer must report it and end the program. */
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    static uint64_t words[2];
    volatile uintptr_t address = (uintptr_t)words + (uintptr_t)argc;
    const uint64_t *odd = (const uint64_t *)address; /* not to volatile: UBSan leaves those out */
    return printf("ran on after the read: %d\n", (int)*odd) < 0;
}
