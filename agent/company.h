/* SPDX-License-Identifier: BSD-2-Clause */
/* company.h: who else is in the process: a second copy of this library, somebody who takes or blocks the signal of cpu=samples. */
#ifndef HPX_COMPANY_H
#define HPX_COMPANY_H

#include "agent.h"

/* Another copy of this library (another file) is loaded. At load. */
bool hpx_company_twin(void);

/* At load, after the handler was installed; before: who had the signal until then. A signal that is blocked where nobody has a handler for
 * it was blocked by who started the process: it is unblocked on this thread, from which the VM's threads inherit, and said. */
void hpx_company_expect(const struct sigaction *before, void (*handler)(int, siginfo_t *, void *));
/* The signal has a handler of somebody else: sampling has ended, for good. Any thread; one system call until it is so. */
bool hpx_company_took_signal(void);
/* As above, without a look. For the handler, too. */
bool hpx_company_ended(void);
/* Thread tid blocks the signal; 0: the calling one. */
bool hpx_company_blocked(pid_t tid);
/* The aggregator, each pass: looks once a second; when the signal is taken, stops the clocks. */
void hpx_company_look_own(void);
/* CPU time of the process since sampling ended, in ms; at least 1 then; 0: it goes on. */
uint64_t hpx_company_unsampled_ms(void);

#endif
