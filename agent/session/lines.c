/* SPDX-License-Identifier: BSD-2-Clause */
/* lines.c: see lines.h. */
#include "lines.h"
#include <stdarg.h>
#include <stdio.h>

void hpx_lines_add(struct hpx_lines *to, const char *fmt, ...)
{
    size_t room = HPX_REPORT_TEXT - to->len;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(to->text + to->len, room, fmt, ap);
    va_end(ap);
    to->len += n > 0 && (size_t)n < room ? (size_t)n : 0;
    to->text[to->len] = 0; /* no half line */
}

double hpx_lines_percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

double hpx_lines_ms(uint64_t ns)
{
    return (double)ns / 1e6;
}
