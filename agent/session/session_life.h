/* SPDX-License-Identifier: BSD-2-Clause */
/* session_life.h: begins and ends the session of session.h.
 *
 * Lifetime: hpx_session_begin() when the session begins, by one thread; constant from then on unless stated otherwise. A session that ends
 * with its JVM is never freed, because a signal may arrive on any thread until the process ends (the library is linked with -z nodelete).
 * hpx_session_end() is for one that ends while the program runs on, whose handlers and probes are over, and for hosts without signals. */
#ifndef HPX_SESSION_LIFE_H
#define HPX_SESSION_LIFE_H

#include "session.h"

/* Creates the model, the aggregator and the messages that must never lack memory. At load, after choose. 0, -HPX_E_NOMEM. */
int hpx_session_begin(const struct hpx_host *host);
/* Frees everything, so that another session can begin. The caller has stopped the aggregator, waited for the output, and has no threads
 * left. */
void hpx_session_end(void);

#endif
