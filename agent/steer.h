/* SPDX-License-Identifier: BSD-2-Clause */
/* steer.h: listens for the commands of base/control.h in a JVM that runs, and carries them out: one thread, as long as a command is
 * connected or a session runs that one began; with start=n as long as the JVM. It never enters the JVM; what must is done by a thread that
 * lives as long. */
#ifndef HPX_STEER_H
#define HPX_STEER_H

#include "err.h"
#include <jvmti.h>

/* Listens, or goes on to: the VM calls it on its attach thread for every command, and at load (stays: to the end of the JVM). 0; -HPX_E_IO:
 * the socket cannot be made; -HPX_E_SYS: no thread;
 * -HPX_E_NOMEM. */
int hpx_steer_listen(JavaVM *vm, bool stays, struct hpx_err *err);
/* A session has begun or ended by another way. Any thread. */
void hpx_steer_look(void);
/* In the child of a fork: closes the sockets. Async-signal-safe. */
void hpx_steer_forget(void);

#endif
