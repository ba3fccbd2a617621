/* SPDX-License-Identifier: BSD-2-Clause */
/* signals.pml: the sampling handler of one thread against the end of a session and the begin of the next.
 *
 * States of ticks.h and kept_states.h: behind the close "either it sees the gate closed, or we see it inside"; a ring is freed only if no
 * handler is inside, else "everything stays"; a state is kept as long as its thread lives, and the next one is made of it; a state of
 * another session is no longer found by its handler; a handler works on complete states.
 * Abstracted: the thread is older than the session (adopted); it may end by itself; signals come whenever they like, also late ones, and
 * a handler may be stopped between any two steps until the next session.
 * Not known to SPIN: `in_handler` and `open` are seq_cst; plants swap them. tests/unit/test_ticks.c under TSan. */
/* mirrors: agent/ticks/ticks.c:on_signal 0418e8a1a1fb */
/* mirrors: agent/ticks/ticks.c:find_sig 011edd0a6ebf */
/* mirrors: agent/ticks/ticks.c:adopt_sig 1b8450a4981e */
/* mirrors: agent/ticks/ticks.c:enter_sig 7760e962be24 */
/* mirrors: agent/ticks/ticks.c:hpx_ticks_left 2a9b6e445162 */
/* mirrors: agent/ticks/ticks.c:expect_adopted 572aabf066c2 */
/* mirrors: agent/ticks/ticks.c:hpx_ticks_arm 80a9af9a0c72 */
/* mirrors: agent/ticks/ticks.c:hpx_ticks_disarm d1abae20a50c */
/* mirrors: agent/ticks/ticks.c:hpx_ticks_quiesce */
/* mirrors: agent/ticks/ticks.c:hpx_ticks_stop */
/* mirrors: agent/samples/samples.c:gone */
/* mirrors: agent/vm/kept_states.c:hpx_kept_states_give */
/* mirrors: agent/vm/kept_states.c:hpx_kept_states_take */
/* mirrors: agent/vm/kept_states.c:hpx_kept_states_make */
/* mirrors: agent/vm/kept_states.c:hpx_kept_states_sweep */

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
bool handling, looking;   /* the handler runs; it looks for its state */
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
        d_step { n++; handling = true };
        k = own;
        if
        :: k != NIL ->
            assert(!freed[k]);
#ifdef NUMBER_FIRST
            is = of_session[k] == session;
#endif
#ifdef LOOKS_FIRST
            is = open;
            in_handler[k] = true;
#else
            in_handler[k] = true;
#ifndef NUMBER_FIRST
            is = open;
#endif
#endif
            if
            :: !is -> d_step { in_handler[k] = false; k = NIL }
#ifdef NUMBER_FIRST
            :: is && !open -> d_step { in_handler[k] = false; k = NIL }
            :: is && open
#else
#ifdef ANY_SESSION
            :: is
#else
            :: is && of_session[k] != session -> d_step { in_handler[k] = false; k = NIL }
            :: is && of_session[k] == session
#endif
#endif
            fi
        :: else
        fi;
        if
        :: k == NIL && (own == NIL || is) -> /* find_sig(), adopt_sig() */
#ifndef LOOKS_UNSEEN
            looking = true;
#endif
            if
            :: open -> k = listed
            :: else
            fi;
            if
            :: k != NIL ->
                assert(!freed[k]);
                if
                :: expected ->
#ifdef ADOPTS_FIRST
                    of_session[k] = session;
                    looking = false;
                    own = k;
                    in_handler[k] = true
#else
                    in_handler[k] = true;
#ifndef NUMBER_LATE
                    of_session[k] = session
#else
                    skip
#endif
#endif
                :: else -> k = NIL
                fi
            :: else
            fi;
            looking = false;
            if
            :: k != NIL ->
#ifdef NUMBER_LATE
                of_session[k] = session;
#endif
                own = k
            :: else
            fi
        :: else
        fi;
        if
        :: k == NIL /* late */
        :: k != NIL ->
#ifdef OUT_EARLY
            in_handler[k] = false;
#endif
            work(k);
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
#ifndef LOOKS_UNSEEN
        !looking; /* hpx_ticks_left() */
#endif
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
