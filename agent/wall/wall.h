/* SPDX-License-Identifier: BSD-2-Clause */
/* wall.h: wall= as a mode: where the time of all threads goes, whether they run or wait. */
#ifndef HPX_WALL_H
#define HPX_WALL_H

#include "mode.h"

extern const struct hpx_mode hpx_wall_mode;
extern const struct hpx_vm_mode hpx_wall_vm; /* its other half */

#endif
