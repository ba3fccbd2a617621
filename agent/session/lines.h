/* SPDX-License-Identifier: BSD-2-Clause */
/* lines.h: a text of whole lines, such as a report, in a buffer of fixed size: reporting a loss needs no memory. */
#ifndef HPX_LINES_H
#define HPX_LINES_H

#include "compiler.h"
#include <stddef.h>

#define HPX_REPORT_TEXT 16384u /* bytes of the buffer */

struct hpx_lines {
    char *text;
    size_t len;
};

/* Appends to the text; omits all of it if it does not fit. */
void hpx_lines_add(struct hpx_lines *to, const char *fmt, ...) HPX_PRINTF(2, 3);
/* 0 if `all` is 0. */
double hpx_lines_percent(uint64_t part, uint64_t all);
double hpx_lines_ms(uint64_t ns);

#endif
