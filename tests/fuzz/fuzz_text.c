/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_text.c: any bytes as a name: what comes out is UTF-8 without controls, within its bound, the same in both forms. */
#include "../unit/text_check.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ssize_t to_memory(void *ctx, const void *p, size_t n)
{
    char **at = ctx;
    memcpy(*at, p, n);
    *at += n;
    return (ssize_t)n;
}

static int no_close(void *ctx)
{
    (void)ctx;
    return 0;
}

static void require(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "fuzz_text: %s\n", what);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct hpx_out_ops ops = {to_memory, NULL, NULL, no_close};
    if (size == 0) {
        return 0;
    }
    bool quoted = data[0] & 1;
    struct hpx_text text = {(const char *)data + 1, (uint32_t)(size - 1)};
    size_t bound = (size_t)text.len * 6;
    char *escaped = malloc(bound + 1);
    char *put = malloc(bound + 1);
    require(escaped != NULL && put != NULL, "no memory");
    size_t n = hpx_text_escape(escaped, text, quoted);
    require(n <= bound, "longer than six bytes a byte");
    const char *fault = text_fault(escaped, n, quoted);
    require(fault == NULL, fault);

    char *at = put;
    struct hpx_out out;
    require(hpx_out_init(&out, &ops, &at, "memory") == 0, "no memory");
    hpx_text_put(&out, text, quoted);
    require(hpx_out_close(&out) == 0, "close");
    require((size_t)(at - put) == n && memcmp(put, escaped, n) == 0, "put and escape differ");
    free(escaped);
    free(put);
    return 0;
}
