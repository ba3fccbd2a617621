/* SPDX-License-Identifier: BSD-2-Clause */
/* attach.pml: the attach barrier: no question GetObjectMonitorUsage is asked while a thread attaches (JDK 23 on: the VM would crash).
 *
 * States of attach_barrier.h: "nobody asks while a thread attaches"; "a thread that attaches waits for a question that has begun [...] at most 2 s;
 * who asks never waits". Claim `attaches`: a thread that wants to attach does, even if who asks is suspended behind the question.
 * Abstracted: the wait's end by time may come unless somebody has looked and not yet been answered: that takes less than 2 s. It is an
 * assumption: a debugger may suspend who asks between its look and the question, too, and then the model finds the crash
 * (SUSPENDED_BEFORE). Another agent that replaces
 * the functions of the JavaVM between the look at them and the question is not modelled: nothing here could exclude it.
 * Not known to SPIN: weak memory; both counters are seq_cst, and each side adds before it looks. No stress test; test_attach_barrier.c has the
 * sequences. */
/* mirrors: agent/monitor/attach_barrier.c:begin */
/* mirrors: agent/monitor/attach_barrier.c:end */
/* mirrors: agent/monitor/attach_barrier.c:attach_apart */
/* mirrors: agent/monitor/attach_barrier.c:hpx_attach_barrier_ask */

#ifdef LONG
#define ATTACHERS 3
#define ASKERS    3
#else
#define ATTACHERS 2
#define ASKERS    2
#endif

byte attaching, asking;    /* usage.attaching, usage.asking */
byte in_attach, questions; /* the VM's */
byte undecided;            /* askers that have looked and will ask, or do */
bool wants;                /* the first of the attachers */

#ifdef FLAGS
#define ADD(what) what = 1
#define SUB(what) what = 0
#else
#define ADD(what) what++
#define SUB(what) what--
#endif

active [ATTACHERS] proctype attacher()
{
end:
    do
    :: if
        :: _pid == 0 -> wants = true
        :: else
        fi;
#ifndef ADD_BEHIND_WAIT
        ADD(attaching);
#endif
        if
        :: asking == 0
#ifdef NO_WAIT
        :: true
#endif
#ifdef SUSPENDED_BEFORE
        :: questions == 0
#endif
#ifndef NO_LIMIT
        :: undecided == 0
#endif
        fi;
#ifdef ADD_BEHIND_WAIT
        ADD(attaching);
#endif
#ifdef END_EARLY
        SUB(attaching);
#endif
        in_attach++;
        assert(questions == 0);
        in_attach--;
#ifndef END_EARLY
        SUB(attaching);
#endif
        if
        :: _pid == 0 -> wants = false
        :: else
        fi
    od
}

active [ASKERS] proctype asker()
{
end:
    do
#ifdef LOOK_FIRST
    :: if
        :: attaching > 0
        :: attaching == 0 ->
            ADD(asking);
            undecided++;
#else
    :: ADD(asking);
        if
        :: attaching > 0
        :: d_step { attaching == 0 -> undecided++ }
#endif
            questions++;
            assert(in_attach == 0);
            d_step { questions--; undecided-- };
            if
            :: true
            :: _pid == ATTACHERS -> false /* suspended by a debugger, for ever */
            fi
        fi;
        SUB(asking)
    od
}

ltl attaches { [](wants -> <>!wants) }
