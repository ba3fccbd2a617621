/* SPDX-License-Identifier: BSD-2-Clause */
/* spawn.h: threads of ours: small stack, every signal but faults blocked (so neither the program's nor the VM's signals, nor SIGPIPE and
 * SIGXFSZ, are taken here), detached. */
#ifndef HPX_SPAWN_H
#define HPX_SPAWN_H

#include "err.h"
#include <sys/types.h>

/* 0, -HPX_E_SYS. Any thread. `name` is for the message; the thread gives itself its name by hpx_spawn_enter(). */
int hpx_spawn(void *(*run)(void *), const char *name, struct hpx_err *err);
/* First call of such a thread: names it (at most 15 characters), returns its kernel id. */
pid_t hpx_spawn_enter(const char *name);

#endif
