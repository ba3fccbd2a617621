/* SPDX-License-Identifier: BSD-2-Clause */
/* stale.h: sockets of hprofx (base/control.h) that JVMs left in /tmp when they were killed. */
#ifndef HPX_COMMAND_STALE_H
#define HPX_COMMAND_STALE_H

#include "target.h"

/* Removes those in the target's /tmp that belong to its user, that nobody listens at, and that are no younger than a few seconds. The one
 * of a process that exists stays: the agent in it sees to that. The target is open. What cannot be removed stays, silently. */
void hpx_stale_remove(const struct hpx_target *t);

#endif
