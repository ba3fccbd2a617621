/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_text.c: any bytes as a name: what comes out is UTF-8 without controls, within its bound, the same in both forms. */
#include "../unit/sink.h"
#include "../unit/text_check.h"
#include "fuzz.h"
#include "text.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sink sink; /* libFuzzer calls from one thread */
    if (size == 0) {
        return 0;
    }
    bool quoted = data[0] & 1;
    struct hpx_text text = {(const char *)data + 1, (uint32_t)(size - 1)};
    size_t bound = (size_t)text.len * 6;
    char *escaped = malloc(bound + 1);
    require(escaped != NULL, "no memory");
    size_t n = hpx_text_escape(escaped, text, quoted);
    require(n <= bound, "longer than six bytes a byte");
    const char *fault = text_fault(escaped, n, quoted);
    require(fault == NULL, fault);

    sink.len = 0;
    struct hpx_out out;
    require(sink_open(&out, &sink) == 0, "no memory");
    hpx_text_put(&out, text, quoted);
    require(hpx_out_close(&out) == 0, "close");
    require(sink.len == n && memcmp(sink.bytes, escaped, n) == 0, "put and escape differ");
    free(escaped);
    return 0;
}
