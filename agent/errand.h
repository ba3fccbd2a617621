/* SPDX-License-Identifier: BSD-2-Clause */
/* errand.h: what the thread for commands has another one do, because it enters the JVM: to begin and to end a session. One thread for each
 * errand, so that none is left attached. */
#ifndef HPX_ERRAND_H
#define HPX_ERRAND_H

#include "err.h"
#include <jvmti.h>

struct hpx_errand {
    const char *options; /* of the session that begins; NULL: it ends */
    int (*work)(JNIEnv *env, const char *options, struct hpx_err *err);
    void (*each_second)(int number, unsigned seconds); /* while the caller waits; seconds: since it began */
    int number;
};

/* Has a thread do it that is attached to the VM, and waits for that. One at a time. What `work` returns; -HPX_E_VM: the VM attaches no
 * thread; -HPX_E_NOMEM: there is none. */
int hpx_errand_do(JavaVM *vm, const struct hpx_errand *what, struct hpx_err *err);

#endif
