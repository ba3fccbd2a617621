/* SPDX-License-Identifier: BSD-2-Clause */
/* pool.pml: the pieces of work that workers of a trace pass on (agent/heap/trace_pool.h).
 *
 * States of trace_pool.h: what is given is taken, by one worker, whole; and when the last worker has ended nothing is left. That a worker
 * may end while another one has work left is no fault: the work is done by who has it.
 * Abstracted: words are units of work that make no more units. Failure (hpx_trace_pool_end()) is left out.
 * Not known to SPIN: that the words of a piece are seen by who takes it. tests/unit/test_trace_pool.c under TSan. */
/* mirrors: agent/heap/trace_pool.c:grasp c92585ab7b01 */
/* mirrors: agent/heap/trace_pool.c:hpx_trace_pool_give c424d78d2bf4 */
/* mirrors: agent/heap/trace_pool.c:hpx_trace_pool_take 2fb96a46aa54 */
/* mirrors: agent/heap/trace_pool.c:hpx_trace_pool_idle 43111197c784 */

#ifdef LONG
#define WORKERS 3
#define UNITS   6
#else
#define WORKERS 2
#define UNITS   5
#endif
#define PIECES  2
#define EMPTY   0
#define IN_HAND 1
#define FULL    2

byte state[PIECES], words[PIECES];
byte at_work = 1;
byte done, ended;

/* i == PIECES: none */
inline grasp(what)
{
    i = 0;
    do
    :: i == PIECES -> break
    :: i < PIECES ->
        if
        :: state[i] == what ->
#ifdef GRASPS_LATE
            state[i] = IN_HAND;
            break
#else
            if
            :: d_step { state[i] == what -> state[i] = IN_HAND }; break
            :: state[i] != what -> i++
            fi
#endif
        :: else -> i++
        fi
    od
}

proctype worker(byte units)
{
    byte i;
    bool nobody, any, working = units > 0;
    do
    :: working && units > 0 -> d_step { units--; done++ }
    :: working && units > 1 && at_work < WORKERS ->
        grasp(EMPTY);
        if
        :: i < PIECES -> words[i] = units / 2; units = units - units / 2; state[i] = FULL
        :: else
        fi
    :: working && units == 0 ->
        at_work--;
        working = false
#ifdef ENDS_IDLE
        ;
        break
#endif
    :: !working ->
        nobody = at_work == 0;
        any = false;
        i = 0;
        do
        :: i < PIECES -> any = any || state[i] == FULL; i++
        :: else -> break
        od;
        if
        :: !any && nobody && at_work == 0 -> break
        :: !any && !(nobody && at_work == 0)
        :: any ->
            at_work++;
            grasp(FULL);
            if
            :: i < PIECES ->
#ifdef EMPTY_FIRST
                state[i] = EMPTY;
                units = words[i];
#else
                units = words[i];
                state[i] = EMPTY;
#endif
                working = true
            :: else -> at_work--
            fi
        fi
    od;
    ended++
}

init
{
    byte k = 1;
    atomic {
        run worker(UNITS);
        do
        :: k < WORKERS -> run worker(0); k++
        :: else -> break
        od
    };
    ended == WORKERS;
    assert(done == UNITS && at_work == 0 && state[0] == EMPTY && state[1] == EMPTY)
}
