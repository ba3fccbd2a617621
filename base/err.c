/* SPDX-License-Identifier: BSD-2-Clause */
/* err.c: one sentence into the caller's buffer. */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>

int hpx_err_set(struct hpx_err *err, enum hpx_errc code, const char *fmt, ...)
{
    if (err) {
        va_list args;
        va_start(args, fmt);
        if (vsnprintf(err->msg, sizeof(err->msg), fmt, args) < 0) {
            err->msg[0] = 0;
        }
        va_end(args);
    }
    return -(int)code;
}
