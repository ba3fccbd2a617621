/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_overflow.c: planted bug, writes one byte behind an allocation. AddressSanitizer must report it. */
#include <stdlib.h>

int main(int argc, char **argv)
{
    (void)argv;
    volatile char *bytes = malloc(16);
    if (bytes == NULL) {
        return 0;
    }
    bytes[15 + argc] = 1;
    free((void *)(size_t)bytes);
    return 0;
}
