/* SPDX-License-Identifier: BSD-2-Clause */
/* control.c: requests of control.h. */
#include "control.h"
#include <string.h>

#define LONGEST_MS (UINT64_C(366) * 24 * 3600 * 1000)

/* The digits at `from`; NULL: none, or too much. */
static const char *number(const char *from, uint64_t *n)
{
    const char *at = from;
    for (*n = 0; *at >= '0' && *at <= '9' && *n <= LONGEST_MS; at++) {
        *n = *n * 10 + (uint64_t)(*at - '0');
    }
    return at == from || *n > LONGEST_MS ? NULL : at;
}

static int no_such(struct hpx_err *err)
{
    return hpx_err_set(err, HPX_E_OPT, "no such request: start or hold MS OPTIONS, stop, dump, status");
}

int hpx_control_parse(const char *line, struct hpx_control_request *r, struct hpx_err *err)
{
    static const char *const plain[] = {[HPX_CONTROL_STOP] = "stop", [HPX_CONTROL_DUMP] = "dump", [HPX_CONTROL_STATUS] = "status"};
    static const char start[] = "start ", hold[] = "hold ", stop[] = "stop ", dump[] = "dump ";
    bool starts = strncmp(line, start, sizeof start - 1) == 0;
    *r = (struct hpx_control_request){.options = ""};
    if (starts || strncmp(line, hold, sizeof hold - 1) == 0) {
        const char *at = number(line + (starts ? sizeof start : sizeof hold) - 1, &r->ms);
        if (at == NULL || *at != ' ') {
            return no_such(err);
        }
        r->verb = starts ? HPX_CONTROL_START : HPX_CONTROL_HOLD;
        r->options = at + 1;
        return 0;
    }
    bool stops = strncmp(line, stop, sizeof stop - 1) == 0;
    if (stops || strncmp(line, dump, sizeof dump - 1) == 0) {
        const char *at = number(line + (stops ? sizeof stop : sizeof dump) - 1, &r->session);
        r->verb = stops ? HPX_CONTROL_STOP : HPX_CONTROL_DUMP;
        return at != NULL && *at == 0 && r->session > 0 ? 0 : no_such(err);
    }
    for (size_t i = HPX_CONTROL_STOP; i < HPX_ARRAY_LEN(plain); i++) {
        if (strcmp(line, plain[i]) == 0) {
            r->verb = (enum hpx_control_verb)i;
            return 0;
        }
    }
    return no_such(err);
}
