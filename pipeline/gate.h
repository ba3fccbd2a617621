/* SPDX-License-Identifier: BSD-2-Clause */
/* gate.h: every JVMTI callback runs inside the gate; closing it waits until none is inside. The only includer of liburcu-bp.
 *
 * hpx_gate_enter()/leave(): an RCU read section and one flag; any thread, nested too; registers the thread on first use (a lock and an
 * allocation of liburcu): therefore NOT in signal handlers and GC callbacks. hpx_gate_is_open() alone is async-signal-safe.
 *
 * Order: hpx_gate_close() stores `open` = false (seq_cst), then a grace period: whoever entered before has left when it returns, whoever
 * enters later sees the gate closed. */
#ifndef HPX_GATE_H
#define HPX_GATE_H

#include "compiler.h"
#include <stdatomic.h>

struct hpx_gate {
    atomic_bool open; /* seq_cst store: open, close; acquire load: enter; seq_cst load: the sampler's handler */
};

void hpx_gate_open(struct hpx_gate *g);
/* true: inside, the caller must leave. false: closed, the caller must do nothing. */
bool hpx_gate_enter(struct hpx_gate *g);
void hpx_gate_leave(struct hpx_gate *g);
static inline bool hpx_gate_is_open(struct hpx_gate *g)
{
    return atomic_load_explicit(&g->open, memory_order_acquire);
}
/* Closes without waiting: what hpx_gate_close() does first. Async-signal-safe. For the child of a fork and the beginning of the end. */
void hpx_gate_shut(struct hpx_gate *g);
/* Shuts and waits for those inside. Not from inside a section. Unbounded: call it on a thread of ours. */
void hpx_gate_close(struct hpx_gate *g);
/* A grace period alone (before memory that a callback may still read is freed). */
void hpx_gate_synchronize(void);

/* pthread_atfork bodies: liburcu-bp must hold its locks over a fork. */
void hpx_gate_before_fork(void);
void hpx_gate_after_fork_parent(void);
void hpx_gate_after_fork_child(void);

#endif
