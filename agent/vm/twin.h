/* SPDX-License-Identifier: BSD-2-Clause */
/* twin.h: a second copy of this library in the process. */
#ifndef HPX_TWIN_H
#define HPX_TWIN_H

#include <stdbool.h>

/* true if another copy of this library (another file) is loaded. At load. */
bool hpx_twin_is_loaded(void);

#endif
