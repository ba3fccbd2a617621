/* SPDX-License-Identifier: BSD-2-Clause */
/* virtuals.h: virtual threads in monitor=y, and the separate JVMTI environment whose thread-local storage they use.
 *
 * A blocked virtual thread may leave its carrier, and its block may end on another one (JDK 24 on). So what is pending is kept with the
 * Java thread: in one word of JVMTI's thread-local storage, without memory of ours. */
#ifndef HPX_VIRTUALS_H
#define HPX_VIRTUALS_H

#include "block_thread.h"

/* The environment of this mode; NULL: none could be had. Constant from load on. */
extern jvmtiEnv *hpx_monitor_env;

/* At load. */
void hpx_virtuals_load(void);

/* The release has virtual threads that keep their carrier when a monitor blocks them. */
bool hpx_virtuals_pinned_by_monitors(void);

/* Keeps what blocks the calling virtual thread. */
void hpx_virtuals_keep(jthread self, struct hpx_pending p);
/* Takes it back. */
struct hpx_pending hpx_virtuals_take(jthread self, uint64_t now);

/* The serial of a virtual thread, which is announced at the first call: the calling one, or one that owns a monitor, asked for by the
 * thread that takes an image. HPX_SERIAL_THREAD: too many are announced, or another thread announces it at this moment. */
uint32_t hpx_virtuals_serial(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);

#endif
