/* SPDX-License-Identifier: BSD-2-Clause */
/* starting.h: waits for a JVM that is starting. */
#ifndef HPX_COMMAND_STARTING_H
#define HPX_COMMAND_STARTING_H

#include "target.h"

#define HPX_STARTING_SECONDS 10 /* that a command waits for a JVM to start */

struct hpx_starting {
    uint64_t until; /* hpx_clock_mono(); 0: nobody has waited yet */
};

/* Waits before the next attempt: 20 ms. false: HPX_STARTING_SECONDS are over since the first call, a signal has come, or it has ended. */
bool hpx_starting_wait(struct hpx_starting *w, const struct hpx_target *t);
/* No JVM yet, but so young that it may become one: the launcher loads the VM, or a shell is about to run the launcher. */
bool hpx_starting_may_be(const struct hpx_target *t);
/* A JVM so young that a signal would come too early: the VM does not listen before it has a thread "Service Thread". Without names of
 * threads (JDK 8): false. The target is open. */
bool hpx_starting_is_early(const struct hpx_target *t);

#endif
