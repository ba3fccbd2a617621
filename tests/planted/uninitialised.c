/* SPDX-License-Identifier: BSD-2-Clause */
/* uninitialised.c: planted bug, decides by a byte that nothing wrote. Valgrind must report it; no other job's tool looks for that. */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char *volatile bytes = malloc(16);
    if (bytes == NULL) {
        return 0;
    }
    puts(bytes[7] == 'x' ? "x" : "another");
    free(bytes);
    return 0;
}
