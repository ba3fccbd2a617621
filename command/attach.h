/* SPDX-License-Identifier: BSD-2-Clause */
/* attach.h: has a HotSpot JVM that runs load a library, by its attach protocol; no JDK is needed. Source: attachListener_linux.cpp and
 * VirtualMachineImpl.java of OpenJDK, version 1 of the protocol, which every release from 8 on takes. */
#ifndef HPX_COMMAND_ATTACH_H
#define HPX_COMMAND_ATTACH_H

#include "target.h"

/* Loads `library`, a name as the target sees it, and has its Agent_OnAttach called with `options`. The target is open. seconds: the longest
 * wait; a JVM in a stop answers after it. HPX_OK; HPX_FAILED, HPX_NO_JVM: it has ended; HPX_NOT_PERMITTED; HPX_REFUSED: the JVM or
 * Agent_OnAttach refused; HPX_NOT_LIVE. */
enum hpx_status hpx_attach_load(const struct hpx_target *t, const char *library, const char *options, unsigned seconds,
                                struct hpx_err *err);
/* Whether the JVM listens, or would take the signal that has it listen; only looks. HPX_OK; HPX_NOT_LIVE; HPX_REFUSED; HPX_NO_JVM: it has
 * ended. */
enum hpx_status hpx_attach_may_ask(const struct hpx_target *t, struct hpx_err *err);
/* What the JVM's whole answer means: the end of hpx_attach_load(). No system calls; the bytes are hostile. */
enum hpx_status hpx_attach_judge(const struct hpx_target *t, const char *answer, const char *library, struct hpx_err *err);
/* Says on stderr that the target does not answer yet, once in a command. */
void hpx_attach_say_slow(const struct hpx_target *t, unsigned seconds);
/* Waits for bytes, or the end, of a connection to the target, and says so after a second. false: none in time. */
bool hpx_attach_await(const struct hpx_target *t, int fd, unsigned seconds);
/* Connects to a socket in the target's /tmp, as its user; whoever listens there must be the target. A descriptor whose connecting, sending
 * and receiving take `seconds` at most; -1, errno; EPROTO: somebody else listens. */
int hpx_attach_connect(const struct hpx_target *t, const char *name, unsigned seconds);

#endif
