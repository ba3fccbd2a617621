/* SPDX-License-Identifier: BSD-2-Clause */
/* engine.h: which engine takes the stacks, and why it is not trusted any more.
 *
 * A leaf: it knows none of the engines. The engine changes at most once: from async to walk, or to poll before the first clock starts. */
#ifndef HPX_ENGINE_H
#define HPX_ENGINE_H

#include "option_set.h"

/* At load, before any handler or thread of hprofx exists. */
void hpx_engine_begin(enum hpx_engine engine);
/* The current engine. Any thread, also handlers. */
enum hpx_engine hpx_engine_now(void);
/* false with depth=0, as in HPROF. */
bool hpx_engine_takes_stacks(void);
/* The handler, inside in_handler (ticks.h): may it write the ring? */
bool hpx_engine_async_sig(void);
/* No thread has a clock: all are polled. */
void hpx_engine_poll(void);

/* Changes from async to walk. true for the one caller that does; it must start the sampling thread. Any thread, also handlers. */
bool hpx_engine_leave_async(void);
/* The same in a handler; `why` is a constant. The aggregator is woken, and takes the reason in its next pass. */
void hpx_engine_distrust_sig(const char *why);
/* The aggregator: the reason of a handler that has changed the engine, once; NULL: none has. */
const char *hpx_engine_distrusted(void);

/* A walk of async faulted; the third fault ends it. In the handler. */
void hpx_engine_fault_sig(void);
/* true after three faults: a handler that already runs must not walk either. */
bool hpx_engine_tripped_sig(void);

#endif
