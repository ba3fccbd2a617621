/* SPDX-License-Identifier: BSD-2-Clause */
/* life.c: see life.h. */
#include "life.h"
#include "compiler.h"
#include <stdatomic.h>

#define TO(state) (HPX_LIFE_##state + 1) /* 0: refused */

static const unsigned char next[HPX_LIFE_STATES][HPX_LIFE_EVENTS] = {
    [HPX_LIFE_NONE] = {[HPX_LIFE_PREPARE] = TO(PREPARING)},
    [HPX_LIFE_PREPARING] = {[HPX_LIFE_PREPARED] = TO(READY), [HPX_LIFE_UNDONE] = TO(NONE), [HPX_LIFE_DIE] = TO(DYING)},
    [HPX_LIFE_READY] = {[HPX_LIFE_START] = TO(STARTING)},
    [HPX_LIFE_STARTING] = {[HPX_LIFE_STARTED] = TO(BEGINNING), [HPX_LIFE_NOT_STARTED] = TO(UNSTARTED), [HPX_LIFE_DIE_ANYWAY] = TO(DYING)},
    [HPX_LIFE_UNSTARTED] = {[HPX_LIFE_UNDO] = TO(UNDOING), [HPX_LIFE_DIE] = TO(DYING)},
    [HPX_LIFE_UNDOING] = {[HPX_LIFE_UNDONE] = TO(NONE), [HPX_LIFE_STALL] = TO(STUCK)},
    [HPX_LIFE_STUCK] = {[HPX_LIFE_END] = TO(UNDOING), [HPX_LIFE_DIE] = TO(DYING)},
    [HPX_LIFE_BEGINNING] = {[HPX_LIFE_BEGUN] = TO(RUNNING), [HPX_LIFE_DIE] = TO(DYING)},
    [HPX_LIFE_RUNNING] = {[HPX_LIFE_END] = TO(ENDING), [HPX_LIFE_DIE] = TO(DYING)},
    [HPX_LIFE_ENDING] = {[HPX_LIFE_STALL] = TO(STALLED), [HPX_LIFE_ENDED] = TO(NONE)},
    [HPX_LIFE_STALLED] = {[HPX_LIFE_END] = TO(ENDING), [HPX_LIFE_DIE] = TO(DYING)},
};

/* acq_rel, acquire: see hpx_life_tell() */
static _Atomic int state;
static const char *_Atomic stands = ""; /* relaxed: who tells STALL stores it before; a constant */

bool hpx_life_tell(enum hpx_life_event e, enum hpx_life *was)
{
    int now = atomic_load_explicit(&state, memory_order_acquire);
    while (next[now][e] != 0) {
        if (atomic_compare_exchange_weak_explicit(&state, &now, next[now][e] - 1, memory_order_acq_rel, memory_order_acquire)) {
            *was = (enum hpx_life)now;
            return true;
        }
    }
    *was = (enum hpx_life)now;
    return false;
}

enum hpx_life hpx_life_now(void)
{
    return (enum hpx_life)atomic_load_explicit(&state, memory_order_acquire);
}

bool hpx_life_may(enum hpx_life in, enum hpx_life_event e)
{
    return next[in][e] != 0;
}

bool hpx_life_has_session(void)
{
    enum hpx_life now = hpx_life_now();
    return now == HPX_LIFE_READY || now == HPX_LIFE_STARTING || now == HPX_LIFE_BEGINNING || now == HPX_LIFE_RUNNING ||
           now == HPX_LIFE_ENDING || now == HPX_LIFE_STALLED || now == HPX_LIFE_STUCK;
}

bool hpx_life_goes_on(void)
{
    enum hpx_life now = hpx_life_now();
    return now == HPX_LIFE_ENDING || now == HPX_LIFE_STALLED || now == HPX_LIFE_UNDOING || now == HPX_LIFE_STUCK;
}

const char *hpx_life_text(enum hpx_life in)
{
    static const char *const texts[HPX_LIFE_STATES] = {
        [HPX_LIFE_NONE] = "none",
        [HPX_LIFE_PREPARING] = "is beginning",
        [HPX_LIFE_READY] = "is beginning",
        [HPX_LIFE_STARTING] = "is beginning",
        [HPX_LIFE_UNSTARTED] = "none",
        [HPX_LIFE_UNDOING] = "could not begin, and is ending",
        [HPX_LIFE_STUCK] = "could not begin, and has not ended",
        [HPX_LIFE_BEGINNING] = "is beginning",
        [HPX_LIFE_RUNNING] = "running",
        [HPX_LIFE_ENDING] = "is ending",
        [HPX_LIFE_STALLED] = "has not ended",
        [HPX_LIFE_DYING] = "is ending",
    };
    return texts[in];
}

void hpx_life_stall(const char *why)
{
    enum hpx_life was;
    atomic_store_explicit(&stands, why, memory_order_relaxed);
    (void)hpx_life_tell(HPX_LIFE_STALL, &was);
}

const char *hpx_life_why(enum hpx_life in)
{
    return in == HPX_LIFE_STALLED || in == HPX_LIFE_STUCK ? atomic_load_explicit(&stands, memory_order_relaxed) : NULL;
}

int hpx_life_refuse(enum hpx_life in, struct hpx_err *err)
{
    switch (in) {
    case HPX_LIFE_NONE:
    case HPX_LIFE_UNSTARTED: /* a begin undoes it first */
        return hpx_err_set(err, HPX_E_BUSY, "no session is running");
    case HPX_LIFE_PREPARING:
    case HPX_LIFE_READY:
    case HPX_LIFE_STARTING:
    case HPX_LIFE_BEGINNING:
        return hpx_err_set(err, HPX_E_BUSY, "a session is being begun; try again");
    case HPX_LIFE_RUNNING:
        return hpx_err_set(err, HPX_E_BUSY, "a session is running");
    case HPX_LIFE_ENDING:
        return hpx_err_set(err, HPX_E_BUSY, "the session is being ended; try again");
    case HPX_LIFE_STALLED:
        return hpx_err_set(err, HPX_E_SYS, "the session has not ended: %s; try again later", hpx_life_why(in));
    case HPX_LIFE_UNDOING:
        return hpx_err_set(err, HPX_E_BUSY, "a session that could not begin is being ended; try again");
    case HPX_LIFE_STUCK:
        return hpx_err_set(err, HPX_E_SYS, "a session that could not begin has not ended: %s; try again later", hpx_life_why(in));
    case HPX_LIFE_DYING:
    case HPX_LIFE_STATES:
        break;
    }
    return hpx_err_set(err, HPX_E_BUSY, "the JVM is ending");
}

void hpx_life_forget(void)
{
    atomic_store_explicit(&state, HPX_LIFE_DYING, memory_order_relaxed);
}
