/* SPDX-License-Identifier: BSD-2-Clause */
/* status.h: what the command ends with; functions that can fail return one of these, with a sentence. */
#ifndef HPX_COMMAND_STATUS_H
#define HPX_COMMAND_STATUS_H

#include "err.h"

enum hpx_status {
    HPX_OK = 0,
    HPX_FAILED = 1,
    HPX_USAGE = 2,
    HPX_NO_JVM = 3,
    HPX_NOT_PERMITTED = 4,
    HPX_REFUSED = 5, /* by the JVM, or by a session that is there */
    HPX_PARTIAL = 6,
    HPX_NOT_LIVE = 64, /* no command ends with it: the JVM is starting, or is ending; try again (starting.h) */
};

/* Writes the sentence and returns the status. */
#define hpx_fail(err, status, ...) ((void)hpx_err_set((err), HPX_E_SYS, __VA_ARGS__), (status))

#endif
