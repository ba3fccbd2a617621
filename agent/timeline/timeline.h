/* SPDX-License-Identifier: BSD-2-Clause */
/* timeline.h: timeline=y as a mode: when everything was that the other modes count, and when the garbage collector paused the program. */
#ifndef HPX_TIMELINE_H
#define HPX_TIMELINE_H

#include "mode.h"

extern const struct hpx_mode hpx_timeline_mode;
extern const struct hpx_vm_mode hpx_timeline_vm; /* its other half */

#endif
