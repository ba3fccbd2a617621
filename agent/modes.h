/* SPDX-License-Identifier: BSD-2-Clause */
/* modes.h: all modes of the profiler, in the order in which their sections and lines come. To add one: docs/architecture.md. */
#ifndef HPX_MODES_H
#define HPX_MODES_H

#include "mode.h"

extern const struct hpx_mode *const hpx_modes[]; /* ends with NULL */

#endif
