/* SPDX-License-Identifier: BSD-2-Clause */
/* session.pml: the life of a session (agent/session/life.h) and its threads: VMInit, commands, VMDeath; and the gate.
 *
 * Every change of `life` is one exchange, as hpx_life_tell() makes it. What must hold: who has made the state ENDING, UNDOING or DYING ends
 * the session, and nobody else; the end is posted to the writer once; a session is freed when nobody uses it, and never while it is STALLED,
 * STUCK or UNSTARTED; after any failure the next begin finds NONE, or a state that says why not.
 * Abstracted: waits of VMDeath end when they like; an output moves or stalls; a callback is a thread that enters the gate and leaves it
 * (gate.pml). tests/unit/test_life.c has the table, tests/jvm/test_sessions.py the sequences. */
/* mirrors: agent/session/life.c:hpx_life_tell */
/* mirrors: agent/run.c:hpx_run_begin */
/* mirrors: agent/run.c:hpx_run_end */
/* mirrors: agent/run.c:undo */
/* mirrors: agent/run.c:undo_begun */
/* mirrors: agent/run.c:finish_last */
/* mirrors: agent/session/session_life.c:hpx_session_end */
/* mirrors: agent/vm/callbacks.c:start_threads */
/* mirrors: agent/vm/callbacks.c:go_live */
/* mirrors: agent/vm/callbacks.c:live */
/* mirrors: agent/vm/callbacks.c:take_over */
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
#define COMMANDS 2
#endif

mtype = { NONE, PREPARING, READY, STARTING, UNSTARTED, UNDOING, STUCK, BEGINNING, RUNNING, ENDING, STALLED, DYING };
mtype life = NONE;
bool gate_open;
bool writes, written;  /* of the session */
bool alive;            /* its memory */
byte users, inside;    /* threads that use it; those inside the gate */
byte finals;           /* ends that were posted */
bool heard;            /* the VM calls VMDeath of this environment */
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
        written = false;
        finals = 0
    }
}

inline final()
{
    d_step { assert(alive); finals++; assert(finals == 1) }
}

/* is: the modes may begin. */
inline go_live()
{
    is = false;
    if
    :: d_step { life == READY -> life = STARTING };
        use();
        if
        :: gate_open = true;
            writes = true;
            if
            :: d_step { life == STARTING -> life = BEGINNING };
                is = true
            :: d_step { life != STARTING -> gate_open = false };
                final()
            fi
        :: /* a thread does not start */
            if
            :: true
            :: writes = true; final()
            fi;
#ifdef TOLD_EARLY
            if
            :: d_step { life == STARTING -> life = UNSTARTED }
            :: d_step { life != STARTING -> skip }
            fi;
            use()
#else
            use();
            if
            :: d_step { life == STARTING -> life = UNSTARTED }
            :: d_step { life != STARTING -> skip }
            fi
#endif
        fi
    :: d_step { life != READY -> skip }
    fi
}

inline live()
{
    if
    :: d_step { !gate_open -> skip }
    :: d_step { gate_open -> inside++ };
        use();
        inside--;
        if
        :: d_step { life == BEGINNING -> life = RUNNING }
        :: d_step { life != BEGINNING -> skip }
        fi
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

/* UNDOING */
inline undo_begun()
{
    if
    :: !writes -> ok = true
    :: writes -> await_written()
    fi;
    if
    :: ok -> heard = false; free_session(); d_step { assert(life == UNDOING); life = NONE }
    :: !ok ->
#ifdef FREED_STUCK
        free_session();
#endif
        d_step { assert(life == UNDOING); life = STUCK }
    fi
}

inline undo_unstarted()
{
    if
    :: d_step { life == UNSTARTED -> life = UNDOING };
        undo_begun()
#ifdef UNDOES_WHAT_STARTS
    :: d_step { life == STARTING -> life = UNDOING };
        heard = false;
        free_session();
        life = NONE
#endif
    :: else
    fi
}

inline end_session()
{
    ok = false;
    mine = false;
    if
    :: d_step { life == RUNNING -> life = ENDING };
        wind_up();
        mine = true
    :: d_step { life == STALLED -> life = ENDING };
        await_written();
        mine = true
    :: d_step { life == STUCK -> life = UNDOING };
        undo_begun()
    :: else
    fi;
    if
    :: mine && ok ->
        heard = false; /* DisposeEnvironment */
#ifdef ENDED_FIRST
        d_step { assert(life == ENDING); life = NONE };
        free_session()
#else
        free_session();
        d_step { assert(life == ENDING); life = NONE }
#endif
    :: mine && !ok ->
#ifdef FREED_STALLED
        free_session();
#endif
        d_step { assert(life == ENDING); life = STALLED }
    :: !mine
    fi
}

inline begin_session()
{
    do
    :: life == STALLED || life == STUCK -> end_session(); break
    :: life == UNSTARTED -> undo_unstarted() /* and again: another may have failed meanwhile */
    :: else -> break
    od;
    if
    :: d_step { life == NONE -> life = PREPARING };
        d_step { assert(!alive); alive = true };
        heard = true;
        use();
        if
        :: true -> /* something cannot be had */
            heard = false;
            free_session();
            if
            :: d_step { life == PREPARING -> life = NONE }
            :: d_step { life != PREPARING -> skip }
            fi
        :: d_step { life == PREPARING -> life = READY };
            go_live();
            if
            :: is -> live()
            :: !is -> undo_unstarted()
            fi
        :: d_step { life == DYING -> heard = false };
            free_session()
        fi
    :: else /* refused, with the reason of the state */
    fi
}

/* Of a session of the command line. */
proctype vm_init()
{
    bool is;
    go_live();
    if
    :: is -> live()
    :: !is
    fi
}

proctype commander(byte most)
{
    byte n;
    bool is, ok, mine;
    do
    :: n < most ->
        n++;
        if
        :: begin_session()
        :: end_session()
        fi
    :: n == most || vm_dead -> break
    od
}

proctype vm_death()
{
    bool is, ok;
    mtype was = NONE;
    if
    :: !heard
    :: heard ->
        do
        :: go_live();
            if
            :: d_step { life == PREPARING || life == UNSTARTED || life == STUCK || life == BEGINNING || life == RUNNING || life == STALLED -> was = life; life = DYING }; break
            :: d_step { life == STARTING -> life = DYING }; break /* waited long enough */
            :: life == STARTING || life == READY /* waits */
            :: life == ENDING || life == UNDOING /* waits */
            :: life == ENDING || life == UNDOING ->
#ifdef DIES_UNTOLD
                was = RUNNING;
#endif
                break
            :: life == NONE || life == DYING -> break
            fi
        od;
        if
        :: was == UNSTARTED || was == STUCK ->
            if
            :: writes -> use(); await_written()
            :: !writes
            fi
        :: was == BEGINNING || was == RUNNING -> wind_up()
        :: was == STALLED -> use(); await_written()
        :: else
        fi
    fi;
    vm_dead = true
}

init
{
    atomic {
        if
        :: d_step { life = READY; alive = true; heard = true };
            run vm_init()
        :: true
        fi;
        run commander(COMMANDS);
        run commander(1);
        run vm_death()
    }
}
