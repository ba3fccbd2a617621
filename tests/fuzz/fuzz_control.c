/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_control.c: libFuzzer over the requests of a command (base/control.h). */
#include "control.h"
#include "fuzz.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hpx_control_request r;
    static struct hpx_err err;
    char *line = malloc(size + 1);
    if (line == NULL) {
        return 0;
    }
    memcpy(line, data, size);
    line[size] = 0;
    if (hpx_control_parse(line, &r, &err) == 0 &&
        (r.ms > UINT64_C(400) * 24 * 3600 * 1000 || (r.verb != HPX_CONTROL_START && r.options[0] != 0))) {
        abort();
    }
    free(line);
    return 0;
}
