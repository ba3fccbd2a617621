/* SPDX-License-Identifier: BSD-2-Clause */
/* attach.h: has a HotSpot JVM that runs load a library, by its attach protocol; no JDK is needed. Source: attachListener_linux.cpp and
 * VirtualMachineImpl.java of OpenJDK, version 1 of the protocol, which every release from 8 on takes. */
#ifndef HPX_COMMAND_ATTACH_H
#define HPX_COMMAND_ATTACH_H

#include "target.h"

/* Loads `library`, a name as the target sees it, and has its Agent_OnAttach called with `options`. seconds: the longest wait; a JVM in a
 * stop answers after it. HPX_OK; HPX_FAILED, HPX_NO_JVM: it has ended; HPX_NOT_PERMITTED; HPX_REFUSED: the JVM or Agent_OnAttach refused.
 */
enum hpx_status hpx_attach_load(const struct hpx_target *t, const char *library, const char *options, unsigned seconds,
                                struct hpx_err *err);
/* The rest of the process has the target's user and group, if it is root's: what it makes belongs to the target. Ended by the second. */
enum hpx_status hpx_become(const struct hpx_target *t, struct hpx_err *err);
void hpx_become_self(void);

#endif
