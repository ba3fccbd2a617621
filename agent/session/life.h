/* SPDX-License-Identifier: BSD-2-Clause */
/* life.h: the life of a session: one state, and one table of what may happen in it. It knows no JVM.
 *
 * A thread tells what it is about to do, or has done. If the table allows it, the state changes, and what the state covers is that
 * thread's: nobody else prepares, begins or ends the session until it tells the next event. If not, the answer has the state and the
 * reason.
 *
 *     NONE         PREPARE: PREPARING
 *     PREPARING    PREPARED: READY       UNDONE: NONE             DIE: DYING
 *     READY        START: STARTING
 *     STARTING     STARTED: BEGINNING    NOT_STARTED: UNSTARTED   DIE_ANYWAY: DYING
 *     UNSTARTED    UNDO: UNDOING                                  DIE: DYING
 *     UNDOING      UNDONE: NONE          STALL: STUCK
 *     STUCK        END: UNDOING                                   DIE: DYING
 *     BEGINNING    BEGUN: RUNNING                                 DIE: DYING
 *     RUNNING      END: ENDING                                    DIE: DYING
 *     ENDING       ENDED: NONE           STALL: STALLED
 *     STALLED      END: ENDING                                    DIE: DYING
 *     DYING        nothing
 */
#ifndef HPX_LIFE_H
#define HPX_LIFE_H

#include "err.h"
#include <stdbool.h>

enum hpx_life {
    HPX_LIFE_NONE,      /* one can be prepared */
    HPX_LIFE_PREPARING, /* options, capabilities, tables, output */
    HPX_LIFE_READY,     /* VMInit begins it, the command that has prepared it, or VMDeath, which gives the output its end */
    HPX_LIFE_STARTING,  /* its threads, then the gate */
    HPX_LIFE_UNSTARTED, /* one of its threads could not be started; the next begin undoes it */
    HPX_LIFE_UNDOING,
    HPX_LIFE_STUCK,     /* it cannot be undone: its output or a thread does not move; what goes on with an end goes on with this */
    HPX_LIFE_BEGINNING, /* the gate is open; modes begin, threads of the program are found */
    HPX_LIFE_RUNNING,
    HPX_LIFE_ENDING,
    HPX_LIFE_STALLED, /* its output or a thread does not move: the next command, or VMDeath, goes on with the end */
    HPX_LIFE_DYING,   /* VMDeath has it. Nothing comes behind */
    HPX_LIFE_STATES
};

enum hpx_life_event {
    HPX_LIFE_PREPARE,
    HPX_LIFE_PREPARED, /* refused, as STARTED and BEGUN: VMDeath has it */
    HPX_LIFE_UNDO,
    HPX_LIFE_UNDONE, /* all that was prepared or started is given back */
    HPX_LIFE_START,
    HPX_LIFE_STARTED,
    HPX_LIFE_NOT_STARTED,
    HPX_LIFE_BEGUN,
    HPX_LIFE_END, /* the program goes on */
    HPX_LIFE_STALL,
    HPX_LIFE_ENDED,
    HPX_LIFE_DIE,        /* VMDeath: who tells it ends the session, and nobody else */
    HPX_LIFE_DIE_ANYWAY, /* the same, of a VMDeath that has waited long enough for a thread in STARTING */
    HPX_LIFE_EVENTS
};

/* true: it happens. *was: the state before it. Any thread; async-signal-safe. acq_rel: who tells the next event sees what the state covers.
 */
bool hpx_life_tell(enum hpx_life_event e, enum hpx_life *was);
/* Of this moment. acquire. Any thread. */
enum hpx_life hpx_life_now(void);
/* A session of which commands say that it is there: from READY until it has ended, and STUCK. */
bool hpx_life_has_session(void);
/* Whether it can happen in that state. */
bool hpx_life_may(enum hpx_life in, enum hpx_life_event e);
/* What commands call the state. */
const char *hpx_life_text(enum hpx_life in);
/* ENDING or UNDOING: tells STALL. why: what does not move, which the state says from then on; a constant. */
void hpx_life_stall(const char *why);
/* Of STALLED and STUCK; else NULL. Any thread. */
const char *hpx_life_why(enum hpx_life in);
/* The program goes on behind the end of the session: from END or UNDO on, until VMDeath goes on with it. Any thread. */
bool hpx_life_goes_on(void);
/* Why a command can do nothing in that state, the same for each: -HPX_E_BUSY, or -HPX_E_SYS where the session cannot go on by itself. */
int hpx_life_refuse(enum hpx_life in, struct hpx_err *err);
/* In the child of a fork: DYING, whatever was. Async-signal-safe. */
void hpx_life_forget(void);

#endif
