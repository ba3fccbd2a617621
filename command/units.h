/* SPDX-License-Identifier: BSD-2-Clause */
/* units.h: times, sizes and numbers of rows as people give them to options. No state; any thread. */
#ifndef HPX_COMMAND_UNITS_H
#define HPX_COMMAND_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 30s, 1.5m, 1h, 500ms; without a unit seconds. 0 or negative: no time, or one of more than a hundred days. */
double hpx_seconds_of(const char *text);
/* 4096, 64k, 256m, 2g. 0: no size, or one of more than 2^60 bytes. */
uint64_t hpx_bytes_of(const char *text);
/* 1 to 999999999. */
bool hpx_rows_of(const char *text, size_t *rows);

#endif
