/* SPDX-License-Identifier: BSD-2-Clause */
/* twin.h: a second copy of this library in the process. */
#ifndef HPX_TWIN_H
#define HPX_TWIN_H

#include <stdbool.h>

/* false if another copy of this library (another file) was loaded before it. One that was first stays first: a later copy, which the VM
 * does not unload, has no effect. At every load, by Agent_OnLoad or Agent_OnAttach. */
bool hpx_twin_is_first(void);

#endif
