/* SPDX-License-Identifier: BSD-2-Clause */
/* virtual_waits.h: waits of virtual threads that leave their carrier (JDK 21 and later): parked, asleep, for a socket; from JDK 24 on also
 * for a monitor and in Object.wait.
 *
 * VirtualThread.yieldContinuation() leaves the carrier, and returns on one when the thread goes on. It gets a probe, once the program has
 * carriers: a local variable keeps the tick that the method was entered at, and at the return it is compared with that of now. A tick is
 * the time of the last round of the looking thread (watch.h). So a wait between two ticks costs no clock and no call into C.
 *
 * From tick to tick, times of a thread add up to its life, and ticks come independently of what the program does: the difference of its
 * ticks is on average what a wait lasted. If it is not 0, the thread records it with the probability min(1, difference / interval), as
 * max(difference, interval), with its own stack. The interval is that of wall=, or longer, if there would be more than a few thousand
 * records per second. Nothing is done for a thread while it waits; a wait that is not over is in no row.
 *
 * For monitors the VM unmounts a thread without that method, and tells of it by JVMTI's events, of pinned threads, too. The thread itself
 * keeps the tick of the beginning, by JVMTI. A probe in VirtualThread.runContinuation(), which only threads run through that unmounted for
 * a monitor, tells the two apart. */
#ifndef HPX_VIRTUAL_WAITS_H
#define HPX_VIRTUAL_WAITS_H

#include "vm.h"

/* At load: the environment in which the class is rewritten. */
void hpx_virtual_waits_load(void);
/* VMInit, or a session begins. */
void hpx_virtual_waits_live(JNIEnv *env);
/* A carrier begins: has the service thread rewrite the class, once, because that calls other agents. Waits for it, 0.5 s at most, so that
 * virtual threads have the probe from their first wait on. The carrier, or who begins the session; inside the gate. */
void hpx_virtual_waits_carrier(void);
/* The looking thread, attached: a round begins. */
void hpx_virtual_waits_tick(JNIEnv *env, uint64_t now);
/* The class gets its old code back. Waits that have begun with the other end in it. Who ends the session. */
void hpx_virtual_waits_restore(JNIEnv *env);
/* The session was not begun, or is over. */
void hpx_virtual_waits_unload(void);

struct hpx_virtual_waits_figures {
    uint64_t waits, longer;  /* records, and of them, of waits that were longer than the interval */
    uint64_t interval_ns;    /* now */
    const char *why_not;     /* waits are not seen: a constant text. NULL: they are */
    const char *no_monitors; /* why those for monitors, which unmount threads, are not seen, likewise */
};
/* Any thread; each value for itself. */
struct hpx_virtual_waits_figures hpx_virtual_waits_figures(void);

#endif
