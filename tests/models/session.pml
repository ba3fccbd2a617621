/* SPDX-License-Identifier: BSD-2-Clause */
/* session.pml: the begin and the end of sessions by commands, VMInit and VMDeath: `taken`, `prepared`, the phase, the gate.
 *
 * States of run.h, callbacks.h: one session at a time; who makes the phase LEAVING or ENDING ends it, "and nobody else"; the end is posted to
 * the writer once; a session is freed only when nobody uses it, and never behind -HPX_E_SYS; a begin that failed frees what it has made.
 * Abstracted: commands come from one thread, as steer.c's; waits of VMDeath end when they like; an output moves or stalls; a callback is a
 * thread that enters the gate and leaves it (gate.pml).
 * Not known to SPIN: that `phase` (release, acquire) covers what VMInit has created, and that `prepared` is plain. No stress test:
 * tests/unit/test_session_end.c and tests/jvm/test_sessions.py have the sequences. */
/* mirrors: agent/run.c:hpx_run_begin */
/* mirrors: agent/run.c:hpx_run_end */
/* mirrors: agent/run.c:undo */
/* mirrors: agent/session/session_life.c:hpx_session_end */
/* mirrors: agent/vm/callbacks.c:start_threads */
/* mirrors: agent/vm/callbacks.c:go_live */
/* mirrors: agent/vm/callbacks.c:live */
/* mirrors: agent/vm/callbacks.c:settled_phase */
/* mirrors: agent/vm/callbacks.c:await_written */
/* mirrors: agent/vm/callbacks.c:wind_up */
/* mirrors: agent/vm/callbacks.c:on_vm_death */
/* mirrors: agent/vm/callbacks.c:hpx_callbacks_undo */
/* mirrors: agent/vm/callbacks.c:has_left */
/* mirrors: agent/vm/callbacks.c:take_apart */
/* mirrors: agent/vm/callbacks.c:hpx_callbacks_end */

#ifdef LONG
#define COMMANDS 4
#else
#define COMMANDS 3
#endif

mtype = { LOADED, STARTING, LIVE, ENDED_EARLY, LEAVING, STALLED, ENDING };
mtype phase = LOADED;
bool taken, prepared, broken, gate_open;
bool writes, went_live, written;  /* of the session */
bool alive;                       /* its memory */
byte users, inside;               /* threads that use it; those inside the gate */
byte finals;                      /* ends that were posted */
bool heard;                       /* the VM calls VMDeath of this environment */
bool vm_dead;

inline use()
{
    d_step { assert(alive); users++ };
    d_step { assert(alive); users-- }
}

inline free_session()
{
    d_step {
        assert(alive && users == 0 && inside == 0);
        alive = false;
        writes = false;
        went_live = false;
        written = false;
        finals = 0
    }
}

inline final()
{
    d_step { assert(alive); finals++; assert(finals == 1) }
}

/* result: 1: it is live; 0: not; lost: another thread has the begin. */
inline go_live()
{
    is = false;
    lost = false;
    if
#ifdef LOOKS_AT_PREPARED
    :: !prepared -> lost = true
    :: prepared ->
        if
        :: d_step { phase == LOADED -> phase = STARTING }
        :: phase != LOADED -> lost = true
        fi
#else
    :: d_step { phase == LOADED -> phase = STARTING };
        if
        :: prepared
        :: d_step { !prepared -> phase = LOADED; lost = true }
        fi
    :: phase != LOADED -> lost = true
#endif
    fi;
    if
    :: lost
    :: !lost ->
        use();
        if
        :: phase = ENDING /* the writer does not start */
        :: writes = true;
            use();
            if
            :: final();
                phase = ENDED_EARLY
            :: gate_open = true;
                if
                :: d_step { phase == STARTING -> phase = LIVE };
                    is = true
                :: d_step { phase != STARTING -> gate_open = false };
                    final()
                fi
            fi
        fi
    fi
}

inline live()
{
    if
    :: !gate_open
    :: d_step { gate_open -> inside++ };
        use();
        inside--;
        d_step { assert(alive); went_live = true }
    fi
}

/* ok: everything is written. */
inline await_written()
{
    if
    :: written
    :: !written && finals > 0 && inside == 0 -> written = true
    :: !written /* no progress */
    fi;
    ok = written
}

inline wind_up()
{
    use();
    gate_open = false;
    final();
    await_written()
}

inline end_session()
{
    ok = false;
    ended = false;
    if
    :: broken || !prepared
    :: else ->
        if
#ifdef END_BEFORE_LIVE
        :: d_step { phase == LIVE -> phase = LEAVING };
#else
        :: d_step { went_live && phase == LIVE -> phase = LEAVING };
#endif
            wind_up();
            ended = true
        :: d_step { phase == STALLED -> phase = LEAVING };
            await_written();
            ended = true
        :: else /* busy */
        fi;
        if
        :: ended && ok ->
            heard = false; /* DisposeEnvironment */
#ifndef STAYS_PREPARED
            prepared = false;
#endif
            phase = LOADED;
            free_session();
#ifdef STAYS_PREPARED
            prepared = false;
#endif
            taken = false
        :: ended && !ok -> phase = STALLED
#ifdef FREED_STALLED
            ;
            free_session()
#endif
        :: !ended
        fi
    fi
}

inline begin_session()
{
    if
    :: !broken && phase == STALLED -> end_session()
    :: else
    fi;
    if
    :: broken || phase == STALLED || prepared
    :: !broken && phase != STALLED && !prepared && taken
    :: d_step { !broken && phase != STALLED && !prepared && !taken -> taken = true };
        d_step { assert(!alive); alive = true };
        heard = true;
        prepared = true;
        go_live();
        if
        :: is -> live()
        :: !is ->
            prepared = false;
#ifdef LOOKS_AT_WRITES
            if
            :: !writes -> phase = LOADED; heard = false; free_session(); taken = false
#else
            if
            :: !lost && !writes -> phase = LOADED; heard = false; free_session(); taken = false
#endif
            :: else ->
                ok = false;
                if
                :: phase == ENDED_EARLY -> await_written()
                :: else
                fi;
                if
                :: ok -> phase = LOADED; heard = false; free_session(); taken = false
                :: !ok -> broken = true
                fi
            fi
        fi
    fi
}

/* Of a session of the command line. */
proctype vm_init()
{
    bool is, lost;
    go_live();
    if
    :: is -> live()
    :: !is
    fi
}

proctype commander()
{
    byte n;
    bool is, lost, ok, ended;
    do
    :: n < COMMANDS ->
        n++;
        if
        :: begin_session()
        :: end_session()
        fi
    :: n == COMMANDS || vm_dead -> break
    od
}

proctype vm_death()
{
    bool is, lost, ok;
    mtype now;
    if
    :: !heard
    :: heard ->
        go_live();
        now = phase;
        do
        :: now == LIVE || now == STALLED ->
            if
            :: d_step { phase == now -> phase = ENDING }; break
            :: d_step { phase != now -> now = phase }
            fi
        :: (now == STARTING || now == LEAVING) -> now = phase
        :: now == LEAVING -> break /* waited long enough */
        :: now == STARTING ->
            if
            :: d_step { phase == STARTING -> phase = ENDING; now = ENDING }; break
            :: d_step { phase != STARTING -> now = phase };
#ifdef LIVE_UNCLAIMED
                break
#else
                skip
#endif
            fi
        :: else -> break
        od;
        if
        :: now == ENDED_EARLY
        :: now == LIVE -> wind_up()
        :: now == STALLED -> use(); await_written()
        :: else
        fi
    fi;
    vm_dead = true
}

init
{
    atomic {
        if
        :: d_step { taken = true; prepared = true; alive = true; heard = true };
            run vm_init()
        :: true
        fi;
        run commander();
        run vm_death()
    }
}
