/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_status.h: what a thread does, as MONITOR DUMP says it. */
#ifndef HPX_THREAD_STATUS_H
#define HPX_THREAD_STATUS_H

#include "compiler.h"

enum hpx_thread_status {
    HPX_STATUS_UNKNOWN,
    HPX_STATUS_NOT_STARTED,
    HPX_STATUS_RUNNABLE,
    HPX_STATUS_SLEEPING,
    HPX_STATUS_ENTERING, /* blocked by a monitor that it enters */
    HPX_STATUS_WAITING,  /* Object.wait, LockSupport.park */
    HPX_STATUS_ENDED
};

#endif
