/* SPDX-License-Identifier: BSD-2-Clause */
/* hold.pml: an aggregator that another thread holds between two passes, lets go on, and ends.
 *
 * States of aggregator.h: while it is held "the holder owns everything of the aggregator"; hpx_aggregator_leave() also ends a held one, and
 * "the next pass is the last one"; await_held "waits for the rest of a pass".
 * Abstracted: a wake is a count (lane.pml has its inside); sleeps have no limit, so a wake that is lost is an end that is none (in the code
 * it costs a pause, at most 100 ms). The loop makes as many passes as it likes; last_passes is 0, as a drainer's.
 * Not known to SPIN: that `hold` (release, acquire) covers what each side did. tests/stress/stress_drainers.c under TSan. */
/* mirrors: pipeline/aggregator.c:pause_if_asked */
/* mirrors: pipeline/aggregator.c:loop */
/* mirrors: pipeline/aggregator.c:hpx_aggregator_leave */
/* mirrors: pipeline/aggregator.c:hpx_aggregator_hold */
/* mirrors: pipeline/aggregator.c:hpx_aggregator_await_held */
/* mirrors: pipeline/aggregator.c:hpx_aggregator_go_on */
/* mirrors: pipeline/aggregator.c:hpx_aggregator_stop */
/* mirrors: tables/call_drainers.c:hpx_call_drainers_collect */
/* mirrors: tables/call_drainers.c:look */

#ifdef LONG
#define HOLDS 5
#else
#define HOLDS 3
#endif
#define MODULO 16

mtype = { RUNS, ASKED, HELD };
mtype hold = RUNS;
byte work, turn;         /* counts of control.wake and turn */
bool stop, ended, leaves;
byte owners, last;       /* last: passes since the leave */

inline post(w)
{
    w = (w + 1) % MODULO
}

inline pause_if_asked()
{
#ifdef HELD_ANYWAY
    if
    :: hold == ASKED -> hold = HELD;
#else
    if
    :: d_step { hold == ASKED -> hold = HELD };
#endif
#ifndef HELD_UNTOLD
        post(turn);
#endif
        do
        ::
#ifdef TURN_SEEN_LATE
            if
            :: hold != HELD -> break
            :: else
            fi;
            seen_turn = turn;
#else
            seen_turn = turn;
            if
            :: hold != HELD -> break
            :: else
            fi;
#endif
            turn != seen_turn
        od
    :: hold != ASKED
    fi
}

active proctype loop()
{
    byte seen, seen_turn;
    bool stops;
    do
    ::
#ifndef SEEN_LATE
        seen = work;
#endif
        pause_if_asked();
#ifdef SEEN_LATE
        seen = work;
#endif
        stops = stop;
        owners++;
        assert(owners == 1);
        owners--;
        if
        :: leaves -> last++;
            assert(last <= 2) /* one that had begun, and the last one */
        :: else
        fi;
        if
        :: stops -> break
        :: !stops -> /* it may find something to do at once, else it sleeps */
            if
            :: work != seen
            :: d_step { !stop && hold == RUNS -> skip }
            fi
        fi
    od;
    ended = true
}

inline go_on()
{
    hold = RUNS;
#ifndef GO_ON_UNTOLD
    post(turn)
#else
    skip
#endif
}

inline await_held()
{
    do
    ::
#ifdef AWAIT_SEEN_LATE
        if
        :: hold == HELD -> break
        :: else
        fi;
        seen = turn;
#else
        seen = turn;
        if
        :: hold == HELD -> break
        :: else
        fi;
#endif
        turn != seen
    od
}

active proctype holder()
{
    byte n, seen;
    do
    :: n < HOLDS ->
        n++;
        hold = ASKED;
#ifndef HOLD_UNTOLD
        post(work);
#endif
#ifndef NOT_AWAITED
        if
        :: await_held()
        :: break /* leave also takes a wish back */
        fi;
#endif
        owners++;
        assert(owners == 1);
        owners--;
        go_on()
    :: break
    od;
#ifdef GO_ON_BEFORE_STOP
    leaves = true;
    go_on();
    stop = true;
#else
    atomic { stop = true; leaves = true };
    go_on();
#endif
    post(work);
    ended;
    assert(owners == 0)
}
