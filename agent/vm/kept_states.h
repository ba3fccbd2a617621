/* SPDX-License-Identifier: BSD-2-Clause */
/* kept_states.h: states of threads that outlive their session.
 *
 * A thread-local pointer leads to a state as long as its thread lives, and a probe or a handler may be about to look at it at any time. So
 * only the ring and the like of a state go with the session; the state itself is kept, and the thread's next state in that mode is made of
 * it. A state of an earlier session is recognised by its number (hpx_mode_thread.session). Threads are told apart by kernel ids. */
#ifndef HPX_KEPT_STATES_H
#define HPX_KEPT_STATES_H

#include "mode.h"
#include "mode_thread.h"

/* For hpx_mode.gone: frees the ring, and the state if its thread has ended; keeps another one. All else that the state holds is freed. The
 * aggregator, or whoever ends the session. */
void hpx_kept_states_give(struct hpx_mode_thread *s);
/* The kept state of this thread and mode, no longer kept; NULL: none. One that has ended in this session is none: its clock's list of
 * adopted states may lead to it until the session ends. Any thread; one atomic load where none is kept. */
struct hpx_mode_thread *hpx_kept_states_take(const struct hpx_mode *mode, pid_t tid);
/* A state of this mode with its ring (vm_mode.h), of the memory of `from`, which is a kept one, or of new memory. NULL: no memory; `from`
 * is kept again. Any thread. */
struct hpx_mode_thread *hpx_kept_states_make(const struct hpx_mode *mode, struct hpx_mode_thread *from);
/* Undoes that for a state that was not announced. Any thread. */
void hpx_kept_states_drop(struct hpx_mode_thread *s);
/* The thread has found a state that was made while its kernel id was unknown: kept ones of it in that mode are no longer looked at, and go
 * with the next sweep. The thread itself, when its thread-local pointer leads to the other. */
void hpx_kept_states_replaced(const struct hpx_mode *mode, pid_t tid);
/* Frees those of threads that have ended. Returns how many are left. Between sessions: at the begin and the end of one. */
uint32_t hpx_kept_states_sweep(void);
/* Those that are kept, which cannot go meanwhile: `each` calls nothing of this file and nothing of the JVM. Any thread. */
void hpx_kept_states_each(void (*each)(void *ctx, const struct hpx_mode_thread *s), void *ctx);

#endif
