/* SPDX-License-Identifier: BSD-2-Clause */
/* child_calls.h: what child.c and child_calls.c share. */
#ifndef HPX_CHILD_CALLS_H
#define HPX_CHILD_CALLS_H

#include "child.h"

/* Exit statuses of the child itself, above HPX_CHILD_STATUS. */
enum { HPX_CHILD_EXIT_FAULT = 120, HPX_CHILD_EXIT_GAVE_UP, HPX_CHILD_EXIT_WAITED, HPX_CHILD_EXIT_UNREADY, HPX_CHILD_EXIT_ORPHAN };

/* In the child, once: libjvm calls our functions from now on. A wait of a frame above `frame` is the end of the walk. false: the slots
 * cannot be written. */
bool hpx_child_redirect(const struct hpx_child *child, uintptr_t frame);
/* Ends the process without the C library. Async-signal-safe. */
_Noreturn void hpx_child_leave(int status);

#endif
