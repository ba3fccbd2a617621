/* SPDX-License-Identifier: BSD-2-Clause */
/* drainers.pml: threads on their way between the main aggregator and a drainer, and a stack that goes from thread 0 to thread 1.
 *
 * States of call_drainers.h: "a thread belongs to one aggregator at a time", and moves with its open calls (its call stack is in one table);
 * every record is applied once, in order; thread_gone() is the main one's; after a gather "all threads and all counts are the main one's".
 * call_balance.c, hold(): a SWITCH with a turn above 0 of an unknown stack is admitted only when the records before it are read.
 * Abstracted: a ring is a count; record 1 of thread 0 is the stack's first SWITCH, record 1 of thread 1 its second, made after the first;
 * a registry is a set (registry.pml); one drainer; any thread may be given or given back at any pass_end; hold.pml has the collect.
 * Not known to SPIN: that the registry and `passes` (release, acquire) cover what moves. tests/stress/stress_drainers.c and
 * stress_switch.c, under TSan too. */
/* mirrors: pipeline/aggregator.c:hpx_aggregator_give */
/* mirrors: pipeline/aggregator.c:part_one */
/* mirrors: pipeline/aggregator.c:hpx_aggregator_part */
/* mirrors: tables/call_drainers.c:came */
/* mirrors: tables/call_drainers.c:home */
/* mirrors: tables/call_drainers.c:gone */
/* mirrors: tables/call_drainers.c:back_or_not */
/* mirrors: tables/call_drainers.c:pass_end */
/* mirrors: tables/call_drainers.c:hpx_call_drainers_came */
/* mirrors: tables/call_drainers.c:given_to */
/* mirrors: tables/call_drainers.c:all_home */
/* mirrors: tables/call_drainers.c:hpx_call_drainers_gather */
/* mirrors: tables/call_balance.c:hold */
/* mirrors: tables/call_switch.c:is_next */
/* mirrors: tables/call_switch.c:settle */
/* mirrors: tables/call_switch.c:hpx_calltab_pass_end */

#ifdef LONG
#define RECORDS 2
#define MOVES   3
#else
#define RECORDS 1
#define MOVES   2
#endif
#if defined(ONE_PASS) || defined(PASSED_FIRST)
#define RARE false /* what such a fault does not need, so that it is found sooner */
#else
#define RARE true
#endif
#define NONE 0
#define MAIN 1
#define DRAINER 2

bool in_main[2], in_drainer[2];     /* their arrays */
bool fresh_main[2], fresh_drainer[2]; /* their registries */
byte table[2];                      /* which has the call stack */
byte tail[2], drained[2];
bool retired[2], gone[2];
bool running, stop, joined;
byte passes;                        /* of the drainer, since its start, modulo 4: more count as fewer */

#define SWITCHED(t) (drained[t] >= 1) /* its SWITCH is read */

active proctype program()
{
    atomic { fresh_main[0] = true; fresh_main[1] = true };
    do
    :: tail[0] < RECORDS -> tail[0]++
    :: tail[0] >= 1 && tail[1] < RECORDS -> tail[1]++ /* the stack has left thread 0 */
    :: RARE && tail[0] == RECORDS && !retired[0] -> retired[0] = true
    :: RARE && tail[1] == RECORDS && !retired[1] -> retired[1] = true
    :: !RARE && tail[1] == RECORDS -> break
    :: retired[0] && retired[1] -> break
    od
}

inline adopt(t, by)
{
    assert(table[t] == NONE && !gone[t]);
    table[t] = by
}

inline move(t, registry)
{
#ifdef DETACHED_LATE
    registry = true;
    assert(table[t] != NONE);
    table[t] = NONE
#else
    d_step { table[t] = NONE; registry = true }
#endif
}

inline drain(t, by)
{
    d_step {
        if
        :: to[t] > drained[t] ->
            assert(table[t] == by && !gone[t]);
            drained[t] = to[t]
        :: else /* drained past it before */
        fi
    }
}

proctype drainer()
{
    byte to[2], i;
    bool was[2], stops;
    do
    ::
        stops = stop;
        atomic {
            i = 0;
            do
            :: i < 2 && fresh_drainer[i] -> fresh_drainer[i] = false; adopt(i, DRAINER); in_drainer[i] = true
            :: i < 2 && !fresh_drainer[i] -> i++
            :: i < 2 && fresh_drainer[i] && stop -> i++ /* no memory: it stays there */
            :: i == 2 -> break
            od
        }
        atomic {
            i = 0;
            do
            :: i < 2 -> was[i] = retired[i]; to[i] = (in_drainer[i] -> tail[i] : 0); i++
            :: else -> break
            od
        }
#ifdef PASSED_FIRST
        passes = (passes + 1) % 4;
#endif
        i = 0;
        do
        :: i < 2 ->
            if
            :: in_drainer[i] ->
                drain(i, DRAINER);
                if
                :: was[i] -> in_drainer[i] = false; move(i, fresh_main[i])
                :: !was[i] && SWITCHED(i) -> /* has_switched(), at pass_end */
#ifndef GIVER_KEEPS
                    in_drainer[i] = false;
#endif
                    move(i, fresh_main[i])
                :: !was[i] && !SWITCHED(i)
                :: RARE && !was[i] && !SWITCHED(i) -> in_drainer[i] = false; move(i, fresh_main[i]) /* wanted */
                fi
            :: else
            fi;
            d_step { was[i] = false; to[i] = 0; i++ }
        :: else -> break
        od;
#ifndef PASSED_FIRST
        passes = (passes + 1) % 4;
#endif
        if
        :: stops -> break
        :: else
        fi
    od;
    joined = true
}

active proctype aggregator()
{
    byte to[2], i, seen, n;
    bool was[2], hold, passed, old, waits, admitted;
    do
    :: gone[0] && gone[1] -> break
    :: else ->
        atomic {
            i = 0;
            do
            :: i < 2 && fresh_main[i] -> assert(!in_main[i]); fresh_main[i] = false; adopt(i, MAIN); in_main[i] = true
            :: i < 2 && !fresh_main[i] -> i++
            :: i == 2 -> break
            od
        }
        d_step { was[0] = retired[0]; to[0] = (in_main[0] -> tail[0] : 0) };
        d_step { was[1] = retired[1]; to[1] = (in_main[1] -> tail[1] : 0) };
        atomic {
            i = 0;
            do
            :: i < 2 ->
                if
                :: in_main[i] ->
                    drain(i, MAIN);
                    if
                    :: was[i] ->
                        assert(drained[i] == tail[i] && !gone[i] && !in_drainer[i] && !fresh_drainer[i]);
                        gone[i] = true;
                        in_main[i] = false;
                        table[i] = NONE
                    :: else
                    fi
                :: else
                fi;
                was[i] = false;
                to[i] = 0;
                i++
            :: else -> break
            od;
            i = 0
        }
        /* pass_end: first the table's (call_switch.c) */
        if
        :: !hold && !admitted && SWITCHED(1) && !in_drainer[1] && !fresh_main[1] && !fresh_drainer[1] ->
            if
#ifdef NOT_OLD
            :: true ->
#else
            :: old ->
#endif
                admitted = true;
                assert(SWITCHED(0)) /* the record before it is read, by the main one or in a backlog that has come to it */
            :: !old -> old = true
            fi
        :: else
        fi;
        /* then the balance */
        if
        :: true
        :: n < MOVES && running && in_main[0] && !SWITCHED(0) -> n++; in_main[0] = false; move(0, fresh_drainer[0])
        :: RARE && n < MOVES && running && in_main[1] && !SWITCHED(1) -> n++; in_main[1] = false; move(1, fresh_drainer[1])
        :: n < MOVES && !running -> atomic { n++; passes = 0; seen = 0; stop = false; joined = false; running = true };
            run drainer()
        :: RARE && running ->
            stop = true;
#ifndef NOT_JOINED
            joined;
#endif
            i = 0;
            do
            :: i < 2 ->
                d_step {
                    if
                    :: in_drainer[i] -> in_drainer[i] = false; table[i] = NONE; assert(!fresh_main[i]); fresh_main[i] = true
#ifndef FRESH_FORGOTTEN
                    :: fresh_drainer[i] -> fresh_drainer[i] = false; fresh_main[i] = true
#endif
                    :: else
                    fi
                };
                i++
            :: else -> break
            od;
            assert(!in_drainer[0] && !in_drainer[1] && !fresh_drainer[0] && !fresh_drainer[1]);
            atomic { running = false; hold = false }
        fi;
        /* hold() */
#ifndef NO_HOLD
        i = passes;
#ifdef ONE_PASS
        passed = hold && ((i + 4 - seen) % 4 >= 1);
#else
        passed = hold && ((i + 4 - seen) % 4 >= 2);
#endif
        if
        :: !hold -> seen = i
        :: else
        fi;
        hold = running && !passed;
#endif
        d_step { i = 0; passed = false }
    od
}
