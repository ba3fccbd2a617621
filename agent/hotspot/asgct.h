/* SPDX-License-Identifier: BSD-2-Clause */
/* asgct.h: AsyncGetCallTrace: the Java stack of an interrupted thread (sampler=asgct), and what raw walks are compared with on demand.
 *
 * Touches this function of libjvm, which has no header: its arguments are those of HotSpot's forte.cpp, the same on JDK 8 to 28. It gives
 * back nothing unless an agent enables ClassLoad. A call runs under guard.h where that is installed; whatever it held at a fault stays
 * held. */
#ifndef HPX_ASGCT_H
#define HPX_ASGCT_H

#include "event.h"
#include "guard.h"
#include <jvmti.h>

/* At load: finds AsyncGetCallTrace. NULL, or why it is not called: a constant. */
const char *hpx_asgct_init(jvmtiEnv *jvmti);
/* VMInit, before the first call: whether the guard may be installed. Not on the Zero VM: faults in its SafeFetch cannot be told. */
bool hpx_asgct_guardable(void);

/* After init, in the signal handler of the thread itself: as async-signal-safe as AsyncGetCallTrace; takes no lock, allocates nothing,
 * makes no system call. env: JNIEnv of the thread; frames: room for depth, 1..HPX_MAX_DEPTH. Returns the number of frames, leaf first,
 * `pad` cleared, or -enum hpx_unknown: FAULT after a fault alone, OTHER for an answer that AsyncGetCallTrace does not give. */
int hpx_asgct_take_sig(void *env, struct hpx_ev_frame *frames, uint32_t depth, void *context);

#endif
