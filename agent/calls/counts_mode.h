/* SPDX-License-Identifier: BSD-2-Clause */
/* counts_mode.h: cpu=times with times=counts: how often every method was called (tally.h), and nothing else. */
#ifndef HPX_COUNTS_MODE_H
#define HPX_COUNTS_MODE_H

#include "mode.h"

extern const struct hpx_mode hpx_counts_mode;

#endif
