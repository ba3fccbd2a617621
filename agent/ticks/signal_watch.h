/* SPDX-License-Identifier: BSD-2-Clause */
/* signal_watch.h: detects other users of the sampling signal: code that replaces its handler or blocks it. */
#ifndef HPX_SIGNAL_WATCH_H
#define HPX_SIGNAL_WATCH_H

#include "compiler.h"
#include <signal.h>
#include <sys/types.h>

/* At load, after the handler was installed; before: the previous action. If the signal is blocked but has no handler, the parent process
 * blocked it: unblocks it on this thread, whose mask the VM's threads inherit, with a message. */
void hpx_signal_watch_expect(const struct sigaction *before, void (*handler)(int, siginfo_t *, void *));
/* true if the signal has another handler: sampling has then ended for good. Any thread; one system call until then. */
bool hpx_signal_watch_took_signal(void);
/* The same without a system call. Also for the handler. */
bool hpx_signal_watch_ended(void);
enum hpx_blocks { HPX_BLOCKS_NOT, HPX_BLOCKS, HPX_BLOCKS_UNKNOWN };
/* Whether thread tid blocks the signal; 0: the calling thread, of which it is known. UNKNOWN: its mask cannot be read now. */
enum hpx_blocks hpx_signal_watch_blocked(pid_t tid);
/* The aggregator, in every pass: checks once a second, and stops the clocks if the handler was replaced; looks for threads that block it.
 */
void hpx_signal_watch_look_own(void);
/* CPU time of the process since sampling ended, in ms, at least 1; 0 if sampling has not ended. */
uint64_t hpx_signal_watch_unsampled_ms(void);

#endif
