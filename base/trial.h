/* SPDX-License-Identifier: BSD-2-Clause */
/* trial.h: whether a seccomp filter kills whoever makes a system call.
 *
 * A filter of the program or its container may answer a call that it does not expect by a kill, of the thread or of the whole process. So
 * the first of each call that neither the VM nor the C library makes is tried in a child process, with arguments that do nothing. Where the
 * thread that asks has no filter, nothing is tried, and a filter that the program sets later in the same session is not noticed. Calls that
 * are made anyway, as clone for threads, are not tried. */
#ifndef HPX_TRIAL_H
#define HPX_TRIAL_H

#include <stdbool.h>

enum hpx_trial {
    HPX_TRIAL_PERF_EVENT_OPEN,
    HPX_TRIAL_TIMER_CREATE, /* with timer_settime and timer_delete */
    HPX_TRIAL_MEMBARRIER,
    HPX_TRIAL_PROCESS_VM_READV,
    HPX_TRIAL_SIGQUEUE,
    HPX_TRIAL_EVENTFD,
    HPX_TRIAL_SETPRIORITY,
    HPX_TRIALS
};

/* false: the call kills, or no child could be made to try it; the caller takes it as refused (errno is EPERM). Once in a process for each
 * call; later ones cost one load. The child has its own process id, shares the memory (copies it before Linux 5.16, where its core
 * dump would end all who share), sends no SIGCHLD and leaves no core file. Any thread but in handlers. */
bool hpx_trial_passes(enum hpx_trial what);
/* A session begins: what passed only because there was no filter is looked at again. Any thread but in handlers. */
void hpx_trial_begin(void);

#endif
