/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_by_name.h: the kernel id of a thread by its name, where the VM's structures do not tell it (thread_id.h). */
#ifndef HPX_THREAD_BY_NAME_H
#define HPX_THREAD_BY_NAME_H

#include <stdbool.h>
#include <sys/types.h>

/* 0: unknown, or more than one has the name. Waits for names, some milliseconds in a session, because a thread sets its name a
 * moment after its start. The thread that begins the session. */
pid_t hpx_thread_by_name(const char *name);
/* A thread has this name now. Reads the names of all threads. Any thread. */
bool hpx_thread_named(const char *name);

#endif
