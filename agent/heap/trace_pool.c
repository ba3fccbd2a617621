/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_pool.c: see trace_pool.h. */
#include "trace_pool.h"
#include <string.h>

enum { EMPTY, IN_HAND, FULL };

/* A piece in this state, which is the caller's from then on; NULL: there is none. */
static struct hpx_trace_piece *grasp(struct hpx_trace_pool *p, int state)
{
    for (uint32_t i = 0; i < HPX_TRACE_PIECES; i++) {
        int now = state;
        /* partner: release() */
        if (atomic_load_explicit(&p->pieces[i].state, memory_order_relaxed) == state &&
            atomic_compare_exchange_strong_explicit(&p->pieces[i].state, &now, IN_HAND, memory_order_acquire, memory_order_relaxed)) {
            return &p->pieces[i];
        }
    }
    return NULL;
}

static void release(struct hpx_trace_piece *piece, int state)
{
    atomic_store_explicit(&piece->state, state, memory_order_release); /* partner: grasp() */
}

bool hpx_trace_pool_give(struct hpx_trace_pool *p, const uint64_t *words, uint32_t n)
{
    struct hpx_trace_piece *piece = grasp(p, EMPTY);
    if (piece == NULL) {
        return false;
    }
    memcpy(piece->words, words, n * sizeof *words);
    piece->n = n;
    release(piece, FULL);
    return true;
}

/* Who takes a piece is at work before the piece is gone, and who gave it was at work until it lay there. So if nobody is at work, every
 * piece lies there to be seen, unless somebody has begun to work since. */
enum hpx_trace_turn hpx_trace_pool_take(struct hpx_trace_pool *p, uint64_t words[static HPX_TRACE_PIECE], uint32_t *n)
{
    /* partner: hpx_trace_pool_idle() */
    const bool nobody = atomic_load_explicit(&p->at_work, memory_order_acquire) == 0;
    if (hpx_trace_pool_ended(p)) {
        return HPX_TRACE_OVER;
    }
    bool any = false;
    for (uint32_t i = 0; i < HPX_TRACE_PIECES; i++) {
        any |= atomic_load_explicit(&p->pieces[i].state, memory_order_relaxed) == FULL;
    }
    if (!any) {
        return nobody && atomic_load_explicit(&p->at_work, memory_order_relaxed) == 0 ? HPX_TRACE_OVER : HPX_TRACE_WAIT;
    }
    atomic_fetch_add_explicit(&p->at_work, 1, memory_order_relaxed);
    struct hpx_trace_piece *piece = grasp(p, FULL);
    if (piece == NULL) {
        hpx_trace_pool_idle(p);
        return HPX_TRACE_WAIT;
    }
    *n = piece->n;
    memcpy(words, piece->words, piece->n * sizeof *words);
    release(piece, EMPTY);
    return HPX_TRACE_WORK;
}

void hpx_trace_pool_idle(struct hpx_trace_pool *p)
{
    atomic_fetch_sub_explicit(&p->at_work, 1, memory_order_release); /* partner: hpx_trace_pool_take() */
}

void hpx_trace_pool_end(struct hpx_trace_pool *p)
{
    atomic_store_explicit(&p->ended, true, memory_order_relaxed);
}
