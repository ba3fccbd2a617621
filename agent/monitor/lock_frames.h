/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_frames.h: which frames of a parked thread belong to the lock, not to its user. Any attached thread. */
#ifndef HPX_LOCK_FRAMES_H
#define HPX_LOCK_FRAMES_H

#include "event.h"

#define HPX_LOCK_FRAMES 16u /* looked at */

/* The number of frames, leaf first, that only park the thread: Unsafe.park and those of java.util.concurrent.locks but the last of them,
 * which is the method that the user called. */
uint32_t hpx_lock_frames(const struct hpx_ev_frame *frames, uint32_t n);

#endif
