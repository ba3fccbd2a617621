/* SPDX-License-Identifier: BSD-2-Clause */
/* sigmask.h: the signals that a thread of ours blocks: all but faults. */
#ifndef HPX_SIGMASK_H
#define HPX_SIGMASK_H

#include "compiler.h"
#include <signal.h>

/* So that neither the program's and the VM's signals nor SIGPIPE and SIGXFSZ are taken on such a thread. A fault stays open: it is the
 * thread's own, the VM uses faults (its safe reads of memory), and a blocked one kills the process without a word. */
static inline void hpx_sigmask_ours(sigset_t *set)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigfillset(set);
    for (size_t i = 0; i < HPX_ARRAY_LEN(faults); i++) {
        sigdelset(set, faults[i]);
    }
}

#endif
