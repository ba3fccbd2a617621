/* SPDX-License-Identifier: BSD-2-Clause */
/* ticks.h: a signal after every interval of a thread's CPU time (clocks.h), shared by all modes that want it: cpu=samples takes a stack,
 * times=sampled records a tick.
 *
 * A mode subscribes by hpx_ticks_use(). The first one leads: its thread state holds the ticker, and only it reports the cost of the
 * signals.
 *
 * Order: hpx_ticks_arm() after the thread's states are complete and registered; hpx_ticks_disarm() before they are retired. */
#ifndef HPX_TICKS_H
#define HPX_TICKS_H

#include "clocks.h"
#include "mode.h"
#include "mode_thread.h"

#define HPX_TICKS_USERS 2u

struct hpx_ticker;

struct hpx_ticks_user {
    const struct hpx_mode *mode;
    const char *what;                                        /* the option that needs the signals, for messages */
    struct hpx_ticker *(*ticker)(struct hpx_mode_thread *s); /* the ticker of a state of this mode, if it leads */
    /* The handler on s, a state of that mode: the thread used `weight` intervals; 0: all are counted already. Async-signal-safe. */
    void (*tick_sig)(struct hpx_mode_thread *s, void *context, uint64_t weight);
    /* The owner at its end, when no handler can run: intervals without a signal. */
    void (*due)(struct hpx_mode_thread *s, uint64_t weight);
    /* s has no clock (errno `why`). */
    void (*untimed)(struct hpx_mode_thread *s, int why);
    /* The first signal of a thread older than VMInit has found its state; env is set. Async-signal-safe. May be NULL. */
    void (*found_sig)(struct hpx_mode_thread *s);
};

struct hpx_ticker {
    struct hpx_thread_clock clock;
    struct hpx_mode_thread *of[HPX_TICKS_USERS]; /* the states that get the ticks, in the order of the users */
    uint32_t session;                            /* in which the owner has found it; the owner's and its handler's */
    _Atomic uint32_t signals;                    /* relaxed: the handler's; others ask whether there were any */
    /* ticks.c, for a thread older than VMInit: */
    struct hpx_ticker *next_adopted; /* in its list; constant once it is listed */
    atomic_bool expected;            /* relaxed: its handler may find it in the list */
    atomic_bool unlooked;            /* relaxed: nobody has looked yet whether its thread blocks the signal */
    _Atomic int in_handler;          /* seq_cst with gate.open: exit waits until no handler is inside */
};

/* ---- at load ---- */

/* Removes all users. */
void hpx_ticks_begin(void);
/* Subscribes. The user is constant. */
void hpx_ticks_use(const struct hpx_ticks_user *user);
/* Installs the handler if there is a user. 0, -HPX_E_SYS. */
int hpx_ticks_init(struct hpx_err *err);
/* `what` of the first user. */
const char *hpx_ticks_of(void);

/* ---- threads ---- */

/* true if there is more than one user. */
bool hpx_ticks_shared(void);
/* true if the mode is the first user. Its states hold the tickers. */
bool hpx_ticks_leads(const struct hpx_mode *mode);
/* Initialises the ticker of a state of the first user, before its thread is announced. */
void hpx_ticker_init(struct hpx_ticker *k, struct hpx_mode_thread *s);
/* Starts the clock. The owner, or VMInit for a thread older than it. Calls `untimed` of the users if that fails. */
void hpx_ticks_arm(struct hpx_ticker *k);
/* Stops the clock; no handler finds the ticker any more. The owner at its end. */
void hpx_ticks_disarm(struct hpx_ticker *k);
/* The owner at its end, whoever has its state: its handler finds none any more. */
void hpx_ticks_leave_own(void);
/* The owner, which has found states of this session: what its handler had in an earlier one may be freed from now on. */
void hpx_ticks_forget_own(void);
/* The same as hpx_ticks_disarm() on another thread. false: the owner's handler is still inside, and the rings of the users are the
 * handler's. */
bool hpx_ticks_abandon(struct hpx_ticker *k);
/* The owner, after that: calls `due` of the users. */
void hpx_ticks_settle(struct hpx_ticker *k);
/* The aggregator, when sampling has ended (signal_watch.h): stops all clocks. */
void hpx_ticks_disarm_all(void);
/* Waits until no handler is inside, at most until `until_ns` (hpx_clock_mono()); false: one still is. */
bool hpx_ticks_quiesce(struct hpx_ticker *k, uint64_t until_ns);
/* The aggregator, after the gate is closed: waits for the handlers of all threads, at most until `until_ns`, and stops their clocks.
 * Every user calls it. */
void hpx_ticks_stop(uint64_t until_ns);
/* After that, before the states may go: waits until no handler looks for its state, at most until `until_ns`; false: one still does. */
bool hpx_ticks_left(uint64_t until_ns);
/* The aggregator, now and then: says which older threads block the signal, and run. */
void hpx_ticks_look_blocked(void);
/* true if any clock was started. */
bool hpx_ticks_armed(void);

/* Runs test_sig in the handler, on the calling thread. false: not possible, the signal is blocked or has another handler. */
bool hpx_ticks_test(void (*test_sig)(void *context));

/* ---- the report; no effect, and 0, for a mode that does not lead ---- */

void hpx_ticks_collect(const struct hpx_mode *mode, struct hpx_counters *total);
/* CPU time of the handlers, ns. */
uint64_t hpx_ticks_cpu(const struct hpx_mode *mode, const struct hpx_counters *total);
/* signal_ms: the time that the signals stand for; < 0: unknown. */
void hpx_ticks_lines(struct hpx_lines *to, const struct hpx_report *r, double signal_ms);

#endif
