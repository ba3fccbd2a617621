/* SPDX-License-Identifier: BSD-2-Clause */
/* errand.h: what the thread for commands has another one do, because it enters the JVM: to begin and to end a session. One thread for each
 * errand, so that none is left attached. */
#ifndef HPX_ERRAND_H
#define HPX_ERRAND_H

#include "err.h"
#include <jvmti.h>

#define HPX_ERRAND_TICK_MS 200

struct hpx_errand {
    const char *options; /* of the session that begins; NULL: it ends */
    int (*work)(JNIEnv *env, const char *options, struct hpx_err *err);
    void (*each_tick)(int number, unsigned ticks); /* while the caller waits; ticks of HPX_ERRAND_TICK_MS since it began */
    int number;
};

/* Has a thread do it that is attached to the VM, and waits for that. One at a time. What `work` returns; -HPX_E_VM: the VM attaches no
 * thread; -HPX_E_NOMEM: there is none. */
int hpx_errand_do(JavaVM *vm, const struct hpx_errand *what, struct hpx_err *err);

#endif
