/* SPDX-License-Identifier: BSD-2-Clause */
/* gate.pml: the gate of callbacks, hpx_gate. Threads enter (also inside a callback, as a handler does) while it is closed and opened.
 *
 * States: hpx_gate_close_and_wait() "waits for all threads inside and sees what they did there"; hpx_gate_enter(): refused, "the caller
 * must return at once". Claim `closes`: the close ends although threads keep coming, if those inside leave.
 * Abstracted: 64 stripes are 2; waiting is looking again; hpx_gate_waits(), a hint, is left out.
 * Not known to SPIN: that the closer sees plain writes of those inside (release of the leaves, continued by the refusals' subtraction).
 * That is tests/stress/stress_gate.c under TSan. */
/* mirrors: pipeline/gate.c:hpx_gate_open 80c8da395d72 */
/* mirrors: pipeline/gate.c:hpx_gate_enter 6a31ee7ff119 */
/* mirrors: pipeline/gate.c:hpx_gate_leave 477424cdef80 */
/* mirrors: pipeline/gate.c:hpx_gate_close e39445a1dff8 */
/* mirrors: pipeline/gate.c:hpx_gate_close_and_wait b311a2218bdf */
/* mirrors: pipeline/gate.c:hpx_gate_wait d51b9c4158c2 */
/* mirrors: pipeline/gate.h:hpx_gate_is_open 943fd1fdf95d */

#define STRIPES 2
#ifdef LONG
#define THREADS 4
#else
#define THREADS 3
#endif

bool open;
byte inside[STRIPES];
byte working;  /* threads that do what they entered for */
bool owned;    /* the closer has what they work with for itself */
bool closing;

inline work()
{
    working++;
    assert(!owned);
    working--
}

inline subtract()
{
    inside[stripe]--
}

/* Twice in a thread that is inside: `nested`. */
inline enter(in)
{
    in = false;
    if
#ifdef NO_FIRST_LOOK
    :: true ->
#else
    :: !open
    :: open ->
#endif
#ifdef ADD_BEHIND_LOOK
        in = open;
        inside[stripe]++;
#else
        inside[stripe]++;
#ifdef NO_SECOND_LOOK
        in = true;
#else
        in = open;
#endif
#endif
        if
        :: in
        :: !in ->
#ifndef REFUSED_STAYS
            subtract()
#else
            skip
#endif
        fi
    fi
}

active [THREADS] proctype thread()
{
    byte stripe = _pid % STRIPES;
    bool in, nested;
end:
    do
    :: enter(in);
        if
        :: !in
        :: in ->
#ifdef LEAVE_EARLY
            subtract();
            work()
#else
            work();
            if
            :: true
            :: enter(nested);
                work();
                if
                :: !nested
                :: nested -> subtract()
                fi
            fi;
            work();
            subtract()
#endif
        fi;
        in = false;
        nested = false
    od
}

active proctype closer()
{
    byte i;
end:
    do
    :: open = true;
        closing = true;
#ifndef CLOSE_BEHIND_LOOK
        open = false;
#endif
#ifdef ONE_STRIPE
        i = STRIPES - 1;
#else
        i = 0;
#endif
        do
        :: i == STRIPES -> break
        :: i < STRIPES ->
            if
            :: inside[i] == 0 -> i++
            :: else
            fi
        od;
#ifdef CLOSE_BEHIND_LOOK
        open = false;
#endif
        i = 0;
        assert(working == 0);
        owned = true;
        closing = false;
        owned = false
    od
}

ltl closes { [](closing -> <>!closing) }
