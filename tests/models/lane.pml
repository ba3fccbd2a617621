/* SPDX-License-Identifier: BSD-2-Clause */
/* lane.pml: the lane, a queue of liburcu, and the wake of its receiver, an event count of Concurrency Kit.
 *
 * States of lane.h: "first in, first out", none lost, none twice; a message may be posted again by its receiver; hpx_lane_splice() "waits
 * only for a sender between its two stores". wake.h: "a post between hpx_wake_value() and hpx_wake_wait() is never lost".
 * Abstracted: the receiver sleeps without a limit, so a lost wake is an end that is none (in the code it costs one pause, at most 100 ms).
 * cds_wfcq_enqueue() is an exchange of the tail and a store; the futex compares and sleeps in one step.
 * Not known to SPIN: that a splice sees the bytes of messages (release of the exchange, acquire). tests/stress/stress_lane.c under TSan,
 * with the marks in lane.c; the libraries have tests of their own. */
/* mirrors: pipeline/lane.c:hpx_lane_post 310dcf1d3c6d */
/* mirrors: pipeline/lane.c:hpx_lane_splice b6b90506bd84 */
/* mirrors: pipeline/wake.c:hpx_wake_value 95bf1ce6b74c */
/* mirrors: pipeline/wake.c:hpx_wake_wait 91c339526a4c */
/* mirrors: pipeline/wake.c:hpx_wake_post c1981ffbba6f */

#ifdef LONG
#define SENDERS 3
#else
#define SENDERS 2
#endif
#define EACH     2
#define MESSAGES (SENDERS * EACH)
#define HEAD     MESSAGES /* the node of the queue itself */
#define NIL      255

byte next[MESSAGES + 1] = NIL; /* cds_wfcq_node.next */
byte last = HEAD;              /* cds_wfcq_tail.p */
byte count;                    /* ck_ec32: the value modulo 16 */
bool flagged, asleep;          /* its flag: somebody sleeps */
byte times[MESSAGES];          /* how often a message was received */

inline post(m)
{
#ifndef NOT_RENEWED
    next[m] = NIL;
#endif
#ifdef LINKED_FIRST
    old = last;
    next[old] = m;
    last = m
#else
    d_step { old = last; last = m };
    next[old] = m
#endif
}

inline wake()
{
    d_step { old = flagged; count = (count + 1) % 16 };
    if
    :: old == 1 -> d_step { flagged = false; asleep = false }
    :: else
    fi;
    old = 0
}

proctype sender(byte s)
{
    byte n, m, old;
    do
    :: n < EACH ->
        m = s * EACH + n;
#ifdef WAKE_FIRST
        wake();
        post(m);
#else
        post(m);
        wake();
#endif
        n++
    :: else -> break
    od
}

inline splice()
{
    first = NIL;
    end_ = NIL;
    if
    :: next[HEAD] == NIL && last == HEAD
    :: else ->
        do
        :: d_step { first = next[HEAD]; next[HEAD] = NIL };
            if
            :: first != NIL -> d_step { end_ = last; last = HEAD }; break
            :: first == NIL && last == HEAD -> break
            :: first == NIL && last != HEAD /* a sender is between its two stores */
            fi
        od
    fi
}

active proctype receiver()
{
    byte first, end_, m, seen, got, i, old;
    byte expected[SENDERS];
    bool again;
    do
    :: got == MESSAGES + 1 -> break /* each once, and one of them twice */
    :: got < MESSAGES + 1 ->
#ifndef SEEN_LATE
        seen = count;
#endif
        splice();
#ifdef SEEN_LATE
        seen = count;
#endif
        if
        :: first == NIL -> /* the sleep */
            if
            :: count != seen
            :: else ->
                flagged = true;
                if
                :: d_step { count == seen && flagged -> asleep = true };
                    !asleep
                :: count != seen || !flagged
                fi
            fi
        :: else ->
            do
            :: m = first;
                if
                :: m == end_ -> first = NIL
                :: m != end_ ->
#ifndef NO_WAIT_FOR_LINK
                    next[m] != NIL;
#endif
                    first = next[m]
                fi;
                assert(m < MESSAGES);
                times[m]++;
                got++;
                if
                :: m == 0 && !again -> again = true; /* sent back */
                    assert(expected[0] == 0);
                    expected[0]++;
                    post(m);
                    old = 0
                :: m == 0 && times[0] == 2
                :: else ->
                    assert(m % EACH == expected[m / EACH]);
                    expected[m / EACH]++
                fi;
                if
                :: first == NIL -> break
                :: else
                fi
            od
        fi
    od;
    assert(times[0] == 2);
    i = 1;
    do
    :: i < MESSAGES -> assert(times[i] == 1); i++
    :: else -> break
    od
}

init
{
    byte i;
    atomic {
        do
        :: i < SENDERS -> run sender(i); i++
        :: else -> break
        od
    }
}
