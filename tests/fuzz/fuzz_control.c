/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_control.c: libFuzzer over the requests of a command (base/control.h). */
#include "control.h"
#include "fuzz.h"
#include <string.h>

/* What may come of a line of `size` bytes. */
static bool is_possible(const struct hpx_control_request *r, const char *line, size_t size)
{
    if (r->verb == HPX_CONTROL_START || r->verb == HPX_CONTROL_HOLD) {
        return r->ms <= UINT64_C(400) * 24 * 3600 * 1000 && r->session == 0 && r->options > line && r->options <= line + size;
    }
    return r->ms == 0 && r->options[0] == 0 && (r->session == 0 || r->verb == HPX_CONTROL_STOP || r->verb == HPX_CONTROL_DUMP);
}

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
    if (hpx_control_parse(line, &r, &err) == 0 && !is_possible(&r, line, size)) {
        abort();
    }
    free(line);
    return 0;
}
