/* SPDX-License-Identifier: BSD-2-Clause */
/* gate_own.pml: the gate of probes, hpx_gate_own. Every thread has a flag; the closer has a barrier executed in all threads.
 *
 * States: hpx_gate_own_close_fenced() "after the return no thread can enter, and the flag of every thread inside is visible";
 * hpx_gate_own_wait() "true: the caller sees what the thread did inside", false: the thread keeps its state. hpx_gate_own_enter(): a refused
 * caller leaves, too. The gate is opened again, as for the next session.
 * Abstracted: membarrier is one step that writes out all store buffers; the sleep where the kernel refuses it is taken for one.
 * Store buffers are modelled (first in, first out, as on x86), because without them no barrier is needed. What aarch64 adds (a load before
 * a load, a store before a store) is release and acquire of `open` and of the flag: tests/stress/stress_gate.c under TSan. */
/* mirrors: pipeline/gate.h:hpx_gate_own_enter c1f66dbe1e42 */
/* mirrors: pipeline/gate.h:hpx_gate_own_leave 90a825b4bf38 */
/* mirrors: pipeline/gate.c:hpx_gate_own_open 1f0250422fa4 */
/* mirrors: pipeline/gate.c:hpx_gate_own_close 9992f685ed8f */
/* mirrors: pipeline/gate.c:barrier_in_all_threads 5d62d10f523a */
/* mirrors: pipeline/gate.c:hpx_gate_own_close_fenced 31e002f5c7c5 */
/* mirrors: pipeline/gate.c:hpx_gate_own_wait a5a3e7cdeafc */

#ifdef LONG
#define THREADS 3
#define ENTRIES 3
#else
#define THREADS 2
#define ENTRIES 2
#endif
#define ROUNDS  2
#define FLAG    0 /* addresses of a thread's stores */
#define DATA    1

bool open, fenced;
bool flag[THREADS];
byte data[THREADS], wrote[THREADS]; /* as memory has it, and as the thread knows it */
bool working[THREADS], owned[THREADS];
chan buffer[THREADS] = [4] of { byte, byte };

inline write_out(t)
{
    if
    :: buffer[t]?[FLAG, 0] -> buffer[t]?FLAG, 0; flag[t] = false
    :: buffer[t]?[FLAG, 1] -> buffer[t]?FLAG, 1; flag[t] = true
    :: buffer[t]?[DATA, _] -> buffer[t]?DATA, data[t]
    fi
}

/* The processor of a thread writes out when it likes. */
proctype processor(byte t)
{
end:
    do
    :: d_step { nempty(buffer[t]) -> write_out(t) }
    od
}

inline barrier()
{
    d_step {
        i = 0;
        do
        :: i < THREADS && nempty(buffer[i]) -> write_out(i)
        :: i < THREADS && empty(buffer[i]) -> i++
        :: i == THREADS -> break
        od;
        i = 0
    }
}

proctype thread(byte t)
{
    byte n;
    bool in;
    do
    :: n == ENTRIES -> break
    :: n < ENTRIES ->
        n++;
#ifdef FLAG_BEHIND_LOOK
        in = open;
        buffer[t]!FLAG, 1;
#else
        buffer[t]!FLAG, 1;
        in = open;
#endif
#ifdef LEAVE_EARLY
        buffer[t]!FLAG, 0;
#endif
        if
        :: !in
        :: in ->
            working[t] = true;
            assert(!owned[t]);
            wrote[t]++;
            buffer[t]!DATA, wrote[t];
            assert(!owned[t]);
            working[t] = false
        fi;
#ifndef LEAVE_EARLY
#ifdef REFUSED_STAYS
        if
        :: in -> buffer[t]!FLAG, 0
        :: !in
        fi;
#else
        buffer[t]!FLAG, 0;
#endif
#endif
        in = false
    od;
    empty(buffer[t]);
    assert(!flag[t]) /* else the next close waits for it in vain */
}

inline close()
{
#ifdef BARRIER_FIRST
    barrier();
#endif
    open = false;
#ifndef BARRIER_FIRST
    if
    :: fenced
    :: !fenced ->
        fenced = true;
#ifndef NO_BARRIER
        barrier()
#else
        skip
#endif
    fi
#endif
}

inline wait(t)
{
    if
#ifdef NO_WAIT
    :: true -> left = true
#else
    :: !flag[t] -> left = true
#ifdef LATE_IS_LEFT
    :: flag[t] -> left = true
#else
    :: flag[t] -> left = false
#endif
#endif
    fi
}

init
{
    byte i, round;
    bool left;
    atomic {
        do
        :: i < THREADS -> run thread(i); run processor(i); i++
        :: i == THREADS -> i = 0; break
        od
    }
    do
    :: round == ROUNDS -> break
    :: round < ROUNDS ->
        round++;
#ifndef STAYS_FENCED
        fenced = false;
#endif
        open = true;
        if
        :: true
        :: open = false; /* hpx_gate_own_close(), first without a barrier */
        fi;
        close();
        i = 0;
        do
        :: i == THREADS -> break
        :: i < THREADS ->
            wait(i);
            if
            :: left ->
                owned[i] = true;
                assert(!working[i] && data[i] == wrote[i]);
                owned[i] = false
            :: !left
            fi;
            i++
        od;
        i = 0;
        left = false
    od
}
