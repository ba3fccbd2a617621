/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz.h: what the fuzz targets share. */
#ifndef HPX_FUZZ_H
#define HPX_FUZZ_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
        abort();
    }
}

#endif
