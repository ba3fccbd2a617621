/* SPDX-License-Identifier: BSD-2-Clause */
/* units.h: times and sizes as people give them to options. No state; any thread. */
#ifndef HPX_COMMAND_UNITS_H
#define HPX_COMMAND_UNITS_H

#include <stdint.h>

/* 30s, 2m, 1h, 500ms; without a unit seconds. Negative: no time, or one of more than a hundred days. */
double hpx_seconds_of(const char *text);
/* 4096, 64k, 256m, 2g. 0: no size. */
uint64_t hpx_bytes_of(const char *text);

#endif
