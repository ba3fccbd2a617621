/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.pml: the pending call: pushes and folds by the owner, ticks by its handler, and the reader's peek.
 *
 * States of calls.h: hpx_calls_peek(): the ring up to `at` and what is pending are "the calls of one moment", which lies within the peek; a
 * drained position lies behind `at` by ticks alone; hpx_calls_tick_sig(): a tick that names a method stands before the record of that
 * method; a dump that takes a pending call has read the ticks in it; after a gap the reader learns that calls are missing.
 * Abstracted: the ring is a list of records that never wraps (ring.pml), full when it likes to be; one thread makes EVENTS enters and exits
 * of two methods; stamps are the numbers of events; a LEAF is never too long; THROWN is EXIT; switches and notes push as a flush does.
 * Not known to SPIN: that the reader's loads and the owner's stores are acquire and release. A plant swaps two of them.
 * tests/stress/stress_calls.c covers the orders, under TSan too. */
/* mirrors: pipeline/calls.h:hpx_calls_begin_push 503b2fca018b */
/* mirrors: pipeline/calls.h:hpx_calls_push 897c0727a8b9 */
/* mirrors: pipeline/calls.h:hpx_calls_fill 47d399c78ab2 */
/* mirrors: pipeline/calls.h:hpx_calls_set_pending 908a05684ca5 */
/* mirrors: pipeline/calls.h:hpx_calls_try_enter e74256ed3953 */
/* mirrors: pipeline/calls.h:hpx_calls_try_leave 9569ba0cd0f2 */
/* mirrors: pipeline/calls.h:hpx_calls_in_push ef8c61701849 */
/* mirrors: pipeline/calls.c:begin_gap 84a6d5af4c9b */
/* mirrors: pipeline/calls.c:end_gap 7c737a246b8e */
/* mirrors: pipeline/calls.c:wait_busy 22cf9cb8e61b */
/* mirrors: pipeline/calls.c:push_waiting 7b78d5070b3e */
/* mirrors: pipeline/calls.c:hpx_calls_slow e21f2ce9cd14 */
/* mirrors: pipeline/calls.c:hpx_calls_tick_sig 22baca4ab6f3 */
/* mirrors: pipeline/calls.c:take a24dca51e7d9 */
/* mirrors: agent/calls/calls_mode.c:tail */

#ifdef LONG
#define EVENTS 5
#else
#define EVENTS 4
#endif
#define PLACES 12 /* two records an event, and ticks */

mtype = { NONE, OPEN, LEAF, BUSY, GAP }; /* state of fold */
mtype = { NOTHING, R_ENTER, R_LEAF, R_EXIT, R_GAP, R_TICK };

/* What threads share. */
mtype state = NONE;
byte calls; /* with `state`: fold */
byte method, entered, at, tail;
bool busy, handling;
bool peeked, over; /* the reader has begun its look, is done: one is enough */
/* The ring: of every record what it is, its method, and how many events are in the ring behind it. */
mtype kind[PLACES];
byte about[PLACES], covers[PLACES];
/* What has happened: an event is an enter of `made[n]` or an exit (0). */
byte made[EVENTS], begun, done;
byte covered;        /* events in the ring, or lost in a gap that it tells */
byte lost;           /* events lost in the gap that is */
byte ticked_to;      /* the position behind the last tick whose handler has returned */

/* Records for what is pending, and an exit, from place `p` on. */
inline put(k, m, events)
{
    kind[p] = k;
    about[p] = m;
    covered = covered + events;
    covers[p] = covered;
    p++
}

inline fill(exit)
{
    d_step {
        if
        :: n > 0 -> put(R_LEAF, method, 2 * n)
        :: else
        fi;
        if
        :: s == OPEN -> put(R_ENTER, method, 1)
        :: else
        fi;
        if
        :: exit -> put(R_EXIT, 0, 1)
        :: else
        fi
    }
}

inline store_fold(s_, n_)
{
    d_step { state = s_; calls = n_ }
}

/* false: no room, nothing has changed. */
inline push(exit)
{
#ifdef TAIL_BEFORE_BUSY
    p = tail;
#endif
#ifndef NO_BUSY_STATE
    store_fold(BUSY, 0);
#endif
#ifndef TAIL_BEFORE_BUSY
    p = tail;
#endif
    if
    :: store_fold(s, n); pushed = false
    :: fill(exit);
        tail = p;
#ifndef AT_BEHIND_FOLD
        at = p;
#endif
        pushed = true
    fi
}

/* wait_busy() and what its callers do: `busy` keeps the handler out while the state does not. */
inline push_waiting(exit)
{
    if
    :: s != OPEN && n == 0 && !exit -> pushed = true
    :: else ->
#ifndef NO_BUSY
        busy = true;
#endif
        p = tail; /* reserved */
        if
        :: busy = false; /* no room */
            pushed = false
        :: store_fold(BUSY, 0);
            busy = false;
            fill(exit);
            tail = p;
            at = p;
            pushed = true
        fi
    fi
}

inline set_pending(m, from)
{
#ifdef FOLD_FIRST
    store_fold(OPEN, from);
#endif
    if
    :: from == 0 -> method = m
    :: else
    fi;
    entered = begun - 1;
#ifndef FOLD_FIRST
    store_fold(OPEN, from)
#endif
#ifdef AT_BEHIND_FOLD
    ;
    at = tail
#endif
}

inline begin_gap()
{
    d_step {
        lost = 2 * n + (s == OPEN -> 1 : 0);
        state = GAP;
        calls = 0
    }
}

inline end_gap()
{
    store_fold(BUSY, 0);
    p = tail;
    if
    :: store_fold(GAP, 0)
    :: d_step { put(R_GAP, 0, lost); lost = 0 };
        tail = p;
        at = p;
        store_fold(NONE, 0)
    fi
}

inline event(m) /* 0: an exit of the method that is open */
{
    s = state;
    n = calls;
    pushed = false;
    if
    :: s == GAP -> end_gap();
        s = state;
        n = 0
    :: else
    fi;
    if
    :: s == GAP -> lost++
    :: s == LEAF && m > 0 && method == m -> set_pending(m, n)
    :: s == NONE && m > 0 -> set_pending(m, 0)
    :: s == OPEN && m == 0 -> store_fold(LEAF, n + 1)
    :: else ->
        push(m == 0);
        if
        :: pushed
        :: !pushed -> push_waiting(m == 0)
        fi;
        if
        :: !pushed -> begin_gap();
            lost++
        :: pushed && m > 0 -> set_pending(m, 0)
        :: pushed && m == 0 -> store_fold(NONE, 0)
        fi
    fi
}

active proctype owner() provided (!handling)
{
    byte n, p, depth;
    mtype s;
    bool pushed;
end:
    do
    :: begun < EVENTS && !over && depth < 2 ->
        if
        :: d_step { made[begun] = 1; begun++ };
            event(1)
        :: d_step { made[begun] = 2; begun++ };
            event(2)
        fi;
        d_step { depth++; done++; n = 0; p = 0; s = 0; pushed = false }
    :: begun < EVENTS && !over && depth > 0 ->
        begun++;
        event(0);
        d_step { depth--; done++; n = 0; p = 0; s = 0; pushed = false }
    od
}

/* On the owner's thread. */
active proctype handler()
{
    byte ticks, p, m;
end:
    do
    :: begun > 0 && ticks == 0 ->
        atomic { handling = true; ticks++ };
        if
#ifdef TICK_IN_PUSH
        :: state == GAP
        :: state != GAP ->
#else
        :: state == BUSY || busy || state == GAP
        :: state != BUSY && !busy && state != GAP ->
#endif
            d_step {
                p = tail;
                m = (state == OPEN -> method : 0);
                put(R_TICK, m, 0)
            };
#ifdef TICK_AT_FIRST
            at = p;
            tail = p;
#else
            tail = p;
#ifndef TICK_LEAVES_AT
            at = p;
#endif
#endif
            ticked_to = p
        fi;
        atomic { handling = false; p = 0; m = 0 }
    od
}

/* The event `k` is an enter of method m. */
#define IS_ENTER(k, m) ((k) < begun && made[k] == (m))

active proctype reader()
{
    byte position, to, i, from, ticks_then, a, c, m, e, moment;
    mtype f;
end:
    do
    :: !peeked ->
        d_step { /* position: at most so far an earlier pass has drained */
            peeked = true;
            to = tail;
            position = tail;
            from = done;
            ticks_then = ticked_to;
            a = at
        }
        d_step { f = state; c = calls };
        m = method;
        e = entered;
        if
        :: f == BUSY -> goto failed
#ifndef FOLD_NOT_REREAD
        :: f != BUSY && (state != f || calls != c) -> goto failed
#endif
        :: else
        fi;
        if
#ifndef AT_NOT_REREAD
        :: at != a -> goto failed
#endif
        :: else
        fi;
        d_step {
            moment = (a == 0 -> 0 : covers[(a == 0 -> 0 : a - 1)]) + 2 * c + (f == OPEN -> 1 : 0);
            assert(a <= tail && a >= ticks_then);
            if
            :: f == GAP
            :: else -> /* of one moment within the peek */
                assert(moment >= from && moment <= begun)
            fi;
            if
            :: f == OPEN -> assert(IS_ENTER(moment - 1, m) && e == moment - 1)
            :: else
            fi;
            i = 0;
            do
            :: i < c ->
                assert(IS_ENTER((a == 0 -> 0 : covers[(a == 0 -> 0 : a - 1)]) + 2 * i, m));
                i++
            :: else -> break
            od;
            to = a;
            i = to;
            do /* drained past it before: by ticks alone */
            :: i < position -> assert(kind[i] == R_TICK); i++
            :: else -> break
            od
        }
failed:
        true;
        d_step {
            i = 0;
            do
            :: i < to ->
                assert(kind[i] != NOTHING && kind[i] != 0);
                if /* the next record of calls is that of the method that the tick names, once it is there */
                :: kind[i] == R_TICK && about[i] != 0 && i + 1 < to && kind[i + 1] != R_TICK ->
                    assert((kind[i + 1] == R_ENTER || kind[i + 1] == R_LEAF) && about[i + 1] == about[i] || kind[i + 1] == R_GAP)
                :: else
                fi;
                i++
            :: else -> break
            od;
            assert(to <= tail);
            position = 0;
            over = true; to = 0; i = 0; from = 0; ticks_then = 0; a = 0; c = 0; m = 0; e = 0; moment = 0; f = 0
        }
    od
}
