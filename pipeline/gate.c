/* SPDX-License-Identifier: BSD-2-Clause */
/* gate.c: liburcu-bp and one flag. Without _LGPL_SOURCE: the read section is a call into the library, as its licence asks of us. */
#include "gate.h"

#include <urcu/urcu-bp.h>

/* What ThreadSanitizer is told of the grace period: all that ran inside a section happens before the end of synchronize. */
static char grace;

void hpx_gate_open(struct hpx_gate *g)
{
    atomic_store_explicit(&g->open, true, memory_order_seq_cst); /* partner: enter */
}

bool hpx_gate_enter(struct hpx_gate *g)
{
    /* A closed gate is seen without registering the thread: after the end and in the child of a fork liburcu is left alone. */
    if (!hpx_gate_is_open(g)) {
        return false;
    }
    urcu_bp_read_lock();
    HPX_TESTPOINT(gate_between_lock_and_look);
    if (!hpx_gate_is_open(g)) {
        urcu_bp_read_unlock();
        return false;
    }
    return true;
}

void hpx_gate_leave(struct hpx_gate *g)
{
    (void)g;
    hpx_tsan_release(&grace);
    urcu_bp_read_unlock();
}

void hpx_gate_shut(struct hpx_gate *g)
{
    atomic_store_explicit(&g->open, false, memory_order_seq_cst); /* partner: enter, the sampler's handler */
}

void hpx_gate_close(struct hpx_gate *g)
{
    hpx_gate_shut(g);
    HPX_TESTPOINT(gate_shut);
    hpx_gate_synchronize();
}

void hpx_gate_synchronize(void)
{
    urcu_bp_synchronize_rcu();
    hpx_tsan_acquire(&grace);
}

void hpx_gate_before_fork(void)
{
    urcu_bp_before_fork();
}

void hpx_gate_after_fork_parent(void)
{
    urcu_bp_after_fork_parent();
}

void hpx_gate_after_fork_child(void)
{
    urcu_bp_after_fork_child();
}
