/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_planted.c: planted bug behind four bytes that only a fuzzer guided by coverage meets. libFuzzer must find it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 4 && data[0] == 'H' && data[1] == 'P' && data[2] == 'X' && data[3] == '!') {
        uint8_t *copy = malloc(size);
        if (copy != NULL) {
            ((volatile uint8_t *)copy)[size] = data[0];
        }
        free(copy);
    }
    return 0;
}
