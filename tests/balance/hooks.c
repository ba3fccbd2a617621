/* SPDX-License-Identifier: BSD-2-Clause */
/* hooks.c: where the counting library looks into the agent: the environment before it is used, the end after everything of ours has
 * stopped. The agent's objects are those that ship; a few of its calls from one file to another come here first (--wrap). */
#include "aggregator.h"
#include "balance.h"
#include "c_frames.h"
#include "callbacks.h"
#include "clock.h"
#include "kept_states.h"
#include "known_threads.h"
#include "mode_thread.h"
#include "samples.h"
#include "session_life.h"
#include "site_thread.h"
#include "sites.h"
#include "thread_list.h"
#include "vm.h"
#include <stdlib.h>

/* Of the types that they have in the agent, so that a change there does not compile here. */
__typeof__(hpx_callbacks_init) __real_hpx_callbacks_init, __wrap_hpx_callbacks_init;
__typeof__(hpx_aggregator_stop) __real_hpx_aggregator_stop, __wrap_hpx_aggregator_stop;
__typeof__(hpx_msg_thread_start_new) __real_hpx_msg_thread_start_new, __wrap_hpx_msg_thread_start_new;

static void *volatile planted;

int __wrap_hpx_callbacks_init(struct hpx_err *err)
{
    hpx_balance_open();
    hpx_balance_jvmti();
    if (hpx_balance_planted("heap")) {
        planted = malloc(1234);
    }
    if (hpx_balance_planted("jvmti")) {
        char *property = NULL;
        (void)(*hpx_vm.jvmti)->GetSystemProperty(hpx_vm.jvmti, "java.vm.name", &property);
        planted = property;
    }
    return __real_hpx_callbacks_init(err);
}

struct hpx_msg_thread_start *__wrap_hpx_msg_thread_start_new(uint32_t text_len)
{
    if (hpx_balance_planted("thread")) {
        planted = malloc(24);
    }
    return __real_hpx_msg_thread_start_new(text_len);
}

/* A handler or probe may still find the state of a thread that lives: it stays, as in the library that ships. */
static void keep(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    hpx_model_thread_gone(hpx_session.model, t);
    hpx_balance_keep(t->ring.bytes);
    void *counts = t->mode == &hpx_sites_mode ? HPX_CONTAINER_OF(t, struct hpx_site_thread, s.base)->counts : NULL;
    if (counts != NULL) {
        hpx_balance_keep(counts);
    }
    hpx_balance_keep(HPX_CONTAINER_OF(t, struct hpx_mode_thread, base));
}

/* Of threads that were there before the agent, and have ended: handlers of others may look at them. */
static void keep_state(void *ctx, const struct hpx_mode_thread *s)
{
    (void)ctx;
    hpx_balance_keep(s);
}

/* For the main aggregator called from Agent_OnUnload alone, when all is written, once for each time the library was named on the command
 * line. The library that ships leaves its tables to the end of the process. Drainers are stopped while the program runs. */
void __wrap_hpx_aggregator_stop(struct hpx_aggregator *a)
{
    static bool done;
    __real_hpx_aggregator_stop(a);
    if (done || a != &hpx_session.aggregator) {
        return;
    }
    done = true;
    hpx_balance_report("before");
    hpx_aggregator_each(a, keep, NULL);
    a->nthreads = 0;
    hpx_known_threads_fini();
    hpx_thread_list_fini();
    while (!hpx_c_frames_left(hpx_clock_mono() + 1000000000u)) {
    }
    hpx_c_frames_end(hpx_samples_inside());
    hpx_session_end();
    hpx_kept_states_each(keep_state, NULL);
    hpx_balance_report("after");
    hpx_balance_close();
}
