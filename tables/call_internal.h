/* SPDX-License-Identifier: BSD-2-Clause */
/* call_internal.h: what call_table.c and call_switch.c share. */
#ifndef HPX_CALL_INTERNAL_H
#define HPX_CALL_INTERNAL_H

#include "call_table.h"

/* More room for open calls; false without memory, or if 2^31 are open. */
bool hpx_calltab_grow(struct hpx_calltab *t, struct hpx_call_stack *s);
/* stamp: th's clock. false: another thread has the stack, or earlier owners have not had it yet, so the records must wait. */
bool hpx_calltab_switch(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_ev_switch *ev, uint64_t stamp);
/* Detaches th's current stack and puts th on its own; stamp: th's clock. */
void hpx_calltab_leave_stack(struct hpx_calltab *t, struct hpx_call_thread *th, uint64_t stamp);
/* Stores the records of calls from ev on, for later. Returns as hpx_calltab_apply(). */
const struct hpx_ev_head *hpx_calltab_postpone(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_ev_head *ev,
                                               const struct hpx_ev_head *end);
/* th leaves t, or has come to it, with records that wait. takes: a mount for which there is no memory is lost. */
void hpx_calltab_gives(struct hpx_calltab *t, const struct hpx_call_thread *th);
void hpx_calltab_takes(struct hpx_calltab *t, struct hpx_call_thread *th);
/* Applies waiting records; takes stacks from other threads. */
void hpx_calltab_force(struct hpx_calltab *t, struct hpx_call_thread *th);

#endif
