/* SPDX-License-Identifier: BSD-2-Clause */
/* engine.c: the state of engine.h. */
#include "engine.h"
#include "session.h"
#include <stdatomic.h>

static HPX_OF_SESSION struct {
    _Atomic int engine;                /* enum hpx_engine; seq_cst: leave; seq_cst: engine_sig, inside in_handler. Who may write a ring */
    _Atomic(const char *) why;         /* relaxed: of the change, or of the beginning */
    _Atomic(const char *) left_to_say; /* release: distrust_sig; acquire: distrusted */
} state;

void hpx_engine_begin(enum hpx_engine engine, const char *why)
{
    atomic_store_explicit(&state.engine, (int)engine, memory_order_relaxed);
    atomic_store_explicit(&state.why, why, memory_order_relaxed);
}

enum hpx_engine hpx_engine_now(void)
{
    return (enum hpx_engine)atomic_load_explicit(&state.engine, memory_order_relaxed);
}

bool hpx_engine_takes_stacks(void)
{
    return hpx_session.opt->depth > 0;
}

enum hpx_engine hpx_engine_sig(void)
{
    return (enum hpx_engine)atomic_load_explicit(&state.engine, memory_order_seq_cst); /* partner: hpx_engine_leave() */
}

void hpx_engine_poll(void)
{
    atomic_store_explicit(&state.why, "no timer can be created", memory_order_relaxed);
    atomic_store_explicit(&state.engine, HPX_ENGINE_POLL, memory_order_seq_cst); /* no handler has anything to do: no partner */
}

bool hpx_engine_leave(const char *why)
{
    int engine = atomic_load_explicit(&state.engine, memory_order_relaxed); /* seq_cst, partner: hpx_engine_sig(), hpx_ticks_quiesce() */
    bool left =
        hpx_engine_in_handler((enum hpx_engine)engine) &&
        atomic_compare_exchange_strong_explicit(&state.engine, &engine, HPX_ENGINE_WALK, memory_order_seq_cst, memory_order_relaxed);
    if (left) {
        atomic_store_explicit(&state.why, why, memory_order_relaxed);
    }
    return left;
}

const char *hpx_engine_why(void)
{
    return atomic_load_explicit(&state.why, memory_order_relaxed);
}

void hpx_engine_distrust_sig(const char *why)
{
    if (hpx_engine_leave(why)) {
        atomic_store_explicit(&state.left_to_say, why, memory_order_release); /* partner: hpx_engine_distrusted() */
        hpx_aggregator_wake(&hpx_session.aggregator);
    }
}

const char *hpx_engine_distrusted(void)
{
    return atomic_load_explicit(&state.left_to_say, memory_order_relaxed) != NULL
               ? atomic_exchange_explicit(&state.left_to_say, NULL, memory_order_acquire) /* partner: hpx_engine_distrust_sig() */
               : NULL;
}
