/* SPDX-License-Identifier: BSD-2-Clause */
/* engine.h: which engine takes the stacks, and why it is not trusted any more.
 *
 * A leaf: it knows none of the engines. The engine changes at most once: from async or asgct to walk, or to poll before the first clock
 * starts. */
#ifndef HPX_ENGINE_H
#define HPX_ENGINE_H

#include "option_set.h"

/* At load, before any handler or thread of hprofx exists. why: it is not the one that was asked for; NULL: it is. */
void hpx_engine_begin(enum hpx_engine engine, const char *why);
/* The current engine. Any thread, also handlers. */
enum hpx_engine hpx_engine_now(void);
/* Why it is not the one that was asked for; NULL: it is, or nobody says. Any thread. */
const char *hpx_engine_why(void);
/* false with depth=0, as in HPROF. */
bool hpx_engine_takes_stacks(void);
/* The same for the handler, inside in_handler (ticks.h), once: it may write the ring while the answer is async or asgct. */
enum hpx_engine hpx_engine_sig(void);
/* async, asgct: the handler writes the ring. */
static inline bool hpx_engine_in_handler(enum hpx_engine engine)
{
    return engine == HPX_ENGINE_ASYNC || engine == HPX_ENGINE_ASGCT;
}
/* No thread has a clock: all are polled. */
void hpx_engine_poll(void);

/* Changes from async or asgct to walk. true for the one caller that does; it must start the sampling thread. `why` is a constant. Any
 * thread, also handlers. */
bool hpx_engine_leave(const char *why);
/* The same in a handler. The aggregator is woken, and takes the reason in its next pass. */
void hpx_engine_distrust_sig(const char *why);
/* The aggregator: the reason of a handler that has changed the engine, once; NULL: none has. */
const char *hpx_engine_distrusted(void);

#endif
