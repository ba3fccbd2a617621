/* SPDX-License-Identifier: BSD-2-Clause */
/* nested.h: events that a handler causes itself if it calls Java or JNI: calls, allocations, references. Such a handler would be called
 * from itself without end, so while it runs its thread has none of these events. */
#ifndef HPX_JVMPI_NESTED_H
#define HPX_JVMPI_NESTED_H

#include "shim.h"

/* Is the event on, the phase LIVE, and the calling thread neither in a handler of these events nor at work for us? Any thread. */
bool hpx_jvmpi_nested_may(jint event);
/* hpx_jvmpi_notify() for these events; afterwards no exception of the handler is pending. env: of the calling thread, and env_id. */
void hpx_jvmpi_nested_notify(JNIEnv *env, JVMPI_Event *event);

#endif
