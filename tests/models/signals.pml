/* SPDX-License-Identifier: BSD-2-Clause */
/* signals.pml: the sampling handler of one thread against the end of a session and the begin of the next.
 *
 * States of ticks.h and kept_states.h: behind the close "either it sees the gate closed, or we see it inside"; a ring is freed only if no
 * handler is inside, else "everything stays"; a state is kept as long as its thread lives, and the next one is made of it; a state of
 * another session is no longer found by its handler; a handler works on complete states.
 * Abstracted: the thread is older than the session (adopted); it may end by itself; signals come whenever they like, also late ones. A
 * handler is taken to have looked at the gate before the next session, whose number it does not know, opens it, and before a sweep frees
 * states: the code does not wait for that (STALE_HANDLER).
 * Not known to SPIN: `in_handler` and `open` are seq_cst; plants swap them. tests/unit/test_ticks.c under TSan. */
/* mirrors: agent/ticks/ticks.c:on_signal 33b0b142d2fe */
/* mirrors: agent/ticks/ticks.c:adopt_sig 5a7229f873f3 */
/* mirrors: agent/ticks/ticks.c:expect_adopted 572aabf066c2 */
/* mirrors: agent/ticks/ticks.c:hpx_ticks_arm 3b67680789d0 */
/* mirrors: agent/ticks/ticks.c:hpx_ticks_disarm b59b95bbac77 */
/* mirrors: agent/ticks/ticks.c:hpx_ticks_quiesce 521ee238f16f */
/* mirrors: agent/ticks/ticks.c:hpx_ticks_stop f1276a57713b */
/* mirrors: agent/samples/samples.c:gone 599465b8b81e */
/* mirrors: agent/vm/kept_states.c:hpx_kept_states_give 9dd14241cfa9 */
/* mirrors: agent/vm/kept_states.c:hpx_kept_states_take 15f52428d43e */
/* mirrors: agent/vm/kept_states.c:hpx_kept_states_make 0fd967a4aa46 */
/* mirrors: agent/vm/kept_states.c:hpx_kept_states_sweep 0e7506c94b71 */

#ifdef LONG
#define SESSIONS 4
#define SIGNALS_ 4
#else
#define SESSIONS 3
#define SIGNALS_ 3
#endif
#define STATES SESSIONS
#define NIL    255

byte session;             /* hpx_session_number */
bool open;                /* the session's gate */
byte own = NIL;           /* the thread's pointer */
byte listed = NIL;        /* ticks.adopted */
bool expected;
byte of_session[STATES];  /* hpx_ticker.session */
bool in_handler[STATES], complete[STATES], ring[STATES], freed[STATES];
bool handling, looking;   /* the handler runs; it has not looked at the gate yet */
bool retired;
byte in_callback;         /* the gate's counter */

inline work(k)
{
    assert(!freed[k] && complete[k] && ring[k]);
    skip;
    assert(!freed[k] && ring[k])
}

active proctype handler()
{
    byte n, k;
    bool is;
end:
    do
    :: n < SIGNALS_ && session > 0 ->
        d_step { n++; handling = true; looking = true };
        k = own;
        if
        :: k != NIL ->
            assert(!freed[k]);
            if
#ifndef ANY_SESSION
            :: of_session[k] != session -> k = NIL
#endif
            :: else
            fi
        :: else
        fi;
        if
        :: d_step { k == NIL && listed != NIL -> k = listed };
            assert(!freed[k]);
            if
            :: expected -> d_step { own = k; of_session[k] = session }
            :: else -> k = NIL
            fi
        :: k != NIL || listed == NIL
        fi;
        if
        :: k == NIL -> looking = false /* SIGNALS_LATE */
        :: k != NIL ->
#ifdef LOOKS_FIRST
            d_step { is = open; looking = false };
            in_handler[k] = true;
#else
            in_handler[k] = true;
            d_step { is = open; looking = false };
#endif
#ifdef OUT_EARLY
            in_handler[k] = false;
#endif
            if
            :: is -> work(k)
            :: !is
            fi;
#ifndef OUT_EARLY
            in_handler[k] = false
#else
            skip
#endif
        fi;
        d_step { handling = false; is = false; k = 0 }
    od
}

/* hpx_threads_end(): a callback. */
active proctype thread() provided (!handling)
{
    byte k;
end:
    do
    :: d_step { open && !retired && own != NIL && of_session[own] == session -> in_callback++; k = own };
        expected = false;
#ifndef STAYS_FOUND
        own = NIL;
#endif
        d_step { retired = true; in_callback-- }
    od
}

active proctype agent()
{
    byte k = NIL, kept = NIL, i;
    bool left;
    do
    :: session == SESSIONS -> break
    :: session < SESSIONS ->
        /* begin: the gate opens before VMInit adopts */
        session++;
#ifndef STALE_HANDLER
        !looking;
#endif
        open = true;
        if
        :: !retired ->
            if
            :: kept != NIL -> d_step { k = kept; kept = NIL }
            :: kept == NIL -> k = session - 1
            fi;
            d_step { complete[k] = false; of_session[k] = 0; in_handler[k] = false };
            ring[k] = true;
#ifdef LISTED_EARLY
            expected = true;
            listed = k;
#endif
            complete[k] = true;
#ifndef LISTED_EARLY
            expected = true;
            listed = k
#else
            skip
#endif
        :: retired -> k = NIL
        fi;
        /* end */
#ifndef CLOSED_LATE
        open = false;
#endif
        in_callback == 0;
        if
        :: k == NIL
        :: k != NIL ->
            if
            :: !in_handler[k] -> left = true
            :: in_handler[k] -> left = false /* the time is over */
            fi;
            expected = false;
            if
#ifdef FREED_INSIDE
            :: true ->
#else
            :: in_handler[k] -> k = NIL /* everything stays */
            :: !in_handler[k] ->
#endif
                ring[k] = false;
                d_step { kept = k; complete[k] = false; k = NIL }
            fi
        fi;
#ifdef CLOSED_LATE
        open = false;
#endif
#ifdef STAYS_LISTED
        skip;
#else
        listed = NIL;
#endif
#ifndef STALE_HANDLER
        !looking;
#endif
        if /* the sweep */
#ifdef FREED_WHILE_IT_LIVES
        :: kept != NIL ->
#else
        :: kept != NIL && retired ->
#endif
            d_step { freed[kept] = true; kept = NIL }
        :: else
        fi
    od
}
