/* SPDX-License-Identifier: BSD-2-Clause */
/* signed_overflow.c: planted bug, adds past INT_MAX. UndefinedBehaviorSanitizer must report it and end the program. */
#include <limits.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    volatile int most = INT_MAX;
    int sum = most + argc;
    return printf("ran on after the overflow: %d\n", sum) < 0;
}
