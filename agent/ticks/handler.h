/* SPDX-License-Identifier: BSD-2-Clause */
/* handler.h: installs the handler of the sampling signal, calls the previous one, and gives the signal back when a session has ended.
 *
 * A signal of ours that comes when the signal has its default action would kill the program. So the previous action comes back only when
 * every clock is deleted (clocks.h), and pending signals are discarded (there was no handler) or gone (there was one). If another handler
 * was installed since, ours stays, because that one may call it. The variables are the process's. */
#ifndef HPX_HANDLER_H
#define HPX_HANDLER_H

#include "compiler.h"
#include <signal.h>

typedef void hpx_handler(int, siginfo_t *, void *);

/* Installs it; *was: the previous action, which handles the signals of others. No effect if it is still installed since an earlier session
 * (*again), when another handler may be before it; installs it anew if the signal has no handler by now. The thread that begins the
 * session. 0, or errno. */
int hpx_handler_install(int signal, hpx_handler *handler, const struct sigaction **was, bool *again);
/* The session does not use the signals any more: gives back those whose current handler is ours. A signal that had no handler loses
 * the pending ones. For one that had it waits at most 50 ms until none is pending; if some still are, if /proc does not tell, or if threads
 * begin and end all the time, ours stays until the next session has ended. After the gate is closed and all clocks are deleted; the thread
 * that ends the session. */
void hpx_handlers_give_back(void);
/* Whether pc is where the current handler of a signal begins. Async-signal-safe; one system call. */
bool hpx_handler_begins_sig(int signal, uintptr_t pc);
/* In the handler, for a signal that no clock of ours has sent: calls the previous handler. If there was none, the signal has no effect
 * while a session uses it; later it has the effect that it would have without ours: the default action ends the program. */
void hpx_handler_pass_on_sig(int signal, siginfo_t *si, void *context);

#endif
