/* SPDX-License-Identifier: BSD-2-Clause */
/* service.h: the service thread: attached, answers the model's requests about methods and calls the JVM for the modes.
 *
 * The aggregator never waits for it without a bound: a dump gives up on requests that are not answered in time. It may stop at
 * safepoints like any Java thread. Other attached threads of hprofx: the sampling thread (agent/samples) and that of hpx_service_exit(). */
#ifndef HPX_SERVICE_H
#define HPX_SERVICE_H

#include "vm.h"

#define HPX_OURS "hprofx " /* prefix of the names of hprofx's threads, which the program can see */

/* Prepares its lane; before the aggregator starts. 0, -HPX_E_NOMEM. */
int hpx_service_init(void);
/* VMInit. 0, -HPX_E_SYS. */
int hpx_service_start(struct hpx_err *err);
/* Posts a request of the model (HPX_MSG_RESOLVE, _SWEEP, _DROP, _LOOK); requests of one thread are served in order. Any thread. */
void hpx_service_post(struct hpx_msg *r);
/* JVM work that a mode needs before a dump; may take long. */
struct hpx_service_task {
    jvmtiError (*fn)(jvmtiEnv *jvmti, JNIEnv *env); /* on the service thread, outside the gate */
    const char *failed;                             /* prefix of the message if it fails */
};
#define HPX_SERVICE_TASK(fn, failed)                                                                                                       \
    {                                                                                                                                      \
        (fn), (failed)                                                                                                                     \
    }
/* How far it is; zero at first. */
struct hpx_service_work {
    bool asked;            /* the aggregator's: somebody waits for it */
    uint32_t begun;        /* the aggregator's */
    _Atomic uint32_t done; /* release: the service thread; acquire: hpx_service_prepare() */
};
/* For hpx_mode.prepare: asks for the work at the first call, and returns true when it is over, or if there is no memory to ask. Never true
 * after the service thread has left the JVM. The aggregator. */
bool hpx_service_prepare(struct hpx_service_work *w, const struct hpx_service_task *task);
/* Whoever waited for the work waits no longer; the next call of prepare asks anew. The aggregator. */
void hpx_service_forget(struct hpx_service_work *w);
/* Has the service thread do it, then call `done`, in the order of the requests. false: no memory; `done` is not called. Any thread. */
bool hpx_service_ask(const struct hpx_service_task *task, void (*done)(uint64_t arg), uint64_t arg);
/* Collects garbage, then calls `done`, on the service thread. false: no memory. Any thread. Has no effect after the service thread has
 * left the JVM. */
bool hpx_service_collect(void (*done)(uint64_t unused));
/* Asks the service thread to leave the JVM. Any thread; only the first call counts. */
void hpx_service_quit(void);
/* Asks it to leave and waits at most `ns` until it has left. false: it has not. Who ends the session. */
bool hpx_service_stop(uint64_t ns);
/* Calls System.exit(0) on a new thread, because shutdown hooks run there and the service thread must find names for the last dump. 0,
 * -HPX_E_SYS; calls `failed` if the program continues. Any thread. */
int hpx_service_exit(void (*failed)(const char *why), struct hpx_err *err);
/* Frees what was asked for too late. The thread has left. */
void hpx_service_fini(void);
/* Its CPU time so far. */
uint64_t hpx_service_cpu(void);

#endif
