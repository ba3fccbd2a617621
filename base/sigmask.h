/* SPDX-License-Identifier: BSD-2-Clause */
/* sigmask.h: the signals that threads of hprofx block: all but faults. The masks of other threads. */
#ifndef HPX_SIGMASK_H
#define HPX_SIGMASK_H

#include "compiler.h"
#include <signal.h>
#include <sys/types.h>

/* So that such a thread takes no signal of the program or the VM, no SIGPIPE and no SIGXFSZ. Faults are not blocked: they belong to the
 * thread, the VM uses them (safe reads of memory), and a blocked fault kills the process silently. */
static inline void hpx_sigmask_ours(sigset_t *set)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigfillset(set);
    for (size_t i = 0; i < HPX_ARRAY_LEN(faults); i++) {
        sigdelset(set, faults[i]);
    }
}

/* A mask of thread tid of this process, signal N in bit N - 1. which: a line of /proc/self/task/TID/status: "SigBlk:", "SigPnd:" or
 * "ShdPnd:". 0; ESRCH: there is no such thread; another errno: it cannot be read now. */
int hpx_sigmask_read(pid_t tid, const char *which, uint64_t *mask);

#endif
