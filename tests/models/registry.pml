/* SPDX-License-Identifier: BSD-2-Clause */
/* registry.pml: a thread's life between its creation and its last record, and the passes of the aggregator: registry, lane, tails, stop.
 *
 * States of data-path.md, aggregator.h, thread.h: a definition "is applied before every event that its owner committed after posting it", the
 * START of a thread before its first one; every event is applied once; thread_gone() comes once, after the last event, and no one touches
 * the state after it; a thread for which there is no memory is taken by a later pass; a stop applies what was committed before it.
 * hpx_registry_collect(): "fn may push it again or free it".
 * Abstracted: a ring is a count of events, event n uses definition n; the lane is a list that the receiver takes whole (lane.pml); the
 * pushes on the stack are compare and exchange, as ck_stack's.
 * Not known to SPIN: that state and tail (release, acquire) cover what stands before them. Plants swap the accesses.
 * tests/stress/stress_aggregator.c under TSan covers the orders; marks in thread.c name those of ck_stack. */
/* mirrors: pipeline/thread.c:hpx_registry_push 1377a6692496 */
/* mirrors: pipeline/thread.c:pop_all_oldest_first e0dc9485420a */
/* mirrors: pipeline/thread.c:hpx_registry_collect 83ae9ff313de */
/* mirrors: pipeline/thread.h:hpx_registry_retire e01b9fc9c57c */
/* mirrors: pipeline/aggregator.c:add_thread */
/* mirrors: pipeline/aggregator.c:read_tails */
/* mirrors: pipeline/aggregator.c:apply_messages */
/* mirrors: pipeline/aggregator.c:drain_all */
/* mirrors: pipeline/aggregator.c:one_pass */
/* mirrors: pipeline/aggregator.c:loop */
/* mirrors: pipeline/aggregator.c:hpx_aggregator_leave */
/* mirrors: agent/vm/threads.c:announce */
/* mirrors: agent/vm/threads.c:post_end */

#define THREADS 2
#ifdef LONG
#define EVENTS 2
#else
#define EVENTS 1
#endif
#define NIL    THREADS

byte stack = NIL;                        /* of new threads */
byte link[THREADS];                      /* ck_stack_entry_t.next */
byte posted[THREADS], known[THREADS];    /* definitions, START first: on the lane, and applied */
byte tail[THREADS], drained[THREADS];
bool retired[THREADS], gone[THREADS], stop;

inline push(t)
{
#ifdef NO_EXCHANGE
    old = stack;
    link[t] = old;
    stack = t;
    old = 0
#else
    do
    :: old = stack;
        link[t] = old;
        if
        :: d_step { stack == old -> stack = t } ; break
        :: else
        fi
    od;
    old = 0
#endif
}

proctype thread(byte t)
{
    byte old, n;
    posted[t]++; /* START */
    push(t);
    do
    :: n < EVENTS ->
        assert(!gone[t]);
        n++;
#ifdef RETIRES_EARLY
        if
        :: n == EVENTS -> retired[t] = true
        :: else
        fi;
#endif
#ifdef POSTED_BEHIND
        tail[t] = n;
        posted[t]++
#else
        posted[t]++;
        assert(!gone[t]);
        tail[t] = n
#endif
    :: break
    od;
    assert(!gone[t]);
    retired[t] = true
}

active proctype aggregator()
{
    byte mine[THREADS], to[THREADS]; /* mine: 1: it is drained here */
    bool was[THREADS];
    byte e, first, following, i, old, bytes, untaken;
    bool ends, refused;
    do
    :: atomic {
            bytes = 0;
            untaken = 0;
#ifndef STOP_READ_LATE
            ends = stop;
#endif
        }
        /* (1) new threads, oldest first */
        atomic {
            e = stack;
            stack = NIL;
            first = NIL;
            do
            :: e != NIL -> following = link[e]; link[e] = first; first = e; e = following
            :: else -> break
            od;
            following = 0
        }
        do
        :: first != NIL ->
            e = first;
#ifndef NEXT_BEHIND
            first = link[e];
#endif
            if
            :: !refused -> refused = true; /* no memory, once */
                untaken++;
#ifndef FORGOTTEN
                push(e)
#endif
            :: assert(!mine[e] && !gone[e]); mine[e] = 1
            fi;
#ifdef NEXT_BEHIND
            first = link[e];
#endif
        :: else -> break
        od;
        i = 0;
        do /* state before tail */
        :: i < THREADS ->
            if
            :: mine[i] ->
#ifdef TAIL_FIRST
                to[i] = tail[i];
                was[i] = retired[i]
#else
                was[i] = retired[i];
                to[i] = tail[i]
#endif
            :: else
            fi;
            i++
        :: else -> break
        od;
        /* (2) the lane */
        atomic {
            i = 0;
            do
            :: i < THREADS -> bytes = bytes + (posted[i] - known[i]); known[i] = posted[i]; i++
            :: else -> break
            od;
            i = 0
        }
#ifdef TAILS_BEHIND_LANE
        i = 0;
        do
        :: i < THREADS ->
            if
            :: mine[i] -> to[i] = tail[i]
            :: else
            fi;
            i++
        :: else -> break
        od;
#endif
        /* (3) the rings */
        atomic {
            i = 0;
            do
            :: i < THREADS && mine[i] ->
                bytes = bytes + (to[i] - drained[i]);
                assert(to[i] >= drained[i] && (to[i] == drained[i] || known[i] > to[i]));
                drained[i] = to[i];
#ifdef RETIRED_LATE
                was[i] = retired[i];
#endif
                if
                :: was[i] ->
                    assert(drained[i] == tail[i] && !gone[i]);
                    gone[i] = true;
                    mine[i] = 0
                :: else
                fi;
                was[i] = false;
                i++
            :: i < THREADS && !mine[i] -> i++
            :: else -> break
            od;
            i = 0
        }
        if
#ifdef STOP_READ_LATE
        :: stop && bytes == 0 -> break
#else
        :: ends && bytes == 0 -> break
#endif
        :: else
        fi
    od;
    /* hpx_aggregator_fini(); a thread that the last pass had no memory for is in the report */
    i = 0;
    do
    :: i < THREADS -> assert(untaken > 0 || (drained[i] == tail[i] && gone[i])); i++
    :: else -> break
    od
}

/* The program's threads have ended, as behind a closed gate. */
init
{
    byte i;
    atomic {
        do
        :: i < THREADS -> run thread(i); i++
        :: else -> break
        od
    }
    _nr_pr == 2;
    stop = true
}
