/* SPDX-License-Identifier: BSD-2-Clause */
/* census_ask.h: a census without a copy of the process: asks the threads of the JDK's sets one by one, as its own thread dump does,
 * while the program goes on. Each stack is of another moment, so nothing is said of who waits for whom in a ring. */
#ifndef HPX_CENSUS_ASK_H
#define HPX_CENSUS_ASK_H

#include "census_read.h"

/* Fills *to, of whose memory it takes the rest behind it; of the plan it wants the states, the sets, the threads of the platform and
 * the depth. Calls methods of the JDK alone. NULL, or why there is no census; constant text. An attached thread that may wait; the time is
 * limited, what it did not suffice for is counted, and what the JDK did not tell. */
const char *hpx_census_ask(JNIEnv *env, jvmtiEnv *jvmti, const struct hpx_census_plan *plan, struct hpx_census *to, hpx_census_late *late);

#endif
