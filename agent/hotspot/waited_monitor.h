/* SPDX-License-Identifier: BSD-2-Clause */
/* waited_monitor.h: the class of the monitor that another thread enters, or waits on in Object.wait. JVMTI does not tell the monitor of
 * Object.wait from JDK 22 on, and it tells an attached agent none.
 *
 * Touches java.lang.Thread.eetop and, through structures.h: JavaThread._current_pending_monitor, JavaThread._current_waiting_monitor,
 * ObjectMonitor._object (a WeakHandle), of that object the class word, Klass._name, the bytes of the Symbol, and of the heap how many
 * collections it had and whether one runs; reads only, under guard.h. On JDK 17 to 28 with a collector that moves objects only while it
 * stops the program: not with ZGC and Shenandoah.
 *
 * While a thread enters a monitor or waits on it, the monitor's object is alive, and so is its class. If a collection runs during the
 * reads, it may move the object: then there is no answer. hpx_waited_monitor_init() compares what the words say of two known objects with
 * their classes. A difference ends all answers, and so do eight faults. The end of the reading of anchors (internals.h) ends them, too:
 * their checks compare eetop with the JavaThread. */
#ifndef HPX_WAITED_MONITOR_H
#define HPX_WAITED_MONITOR_H

#include "compiler.h"
#include <jvmti.h>

#define HPX_WAITED_MONITOR_ROOM 1024u /* bytes of a signature that are needed at most; longer ones are not told */

/* An attached thread, after the checks of VMInit (checks.h). self: its java.lang.Thread, of no derived class. NULL, or why there are no
 * answers; constant. */
const char *hpx_waited_monitor_init(JNIEnv *env, jthread self);
/* The JavaThread; 0: the thread is not alive, or there are no answers. An attached thread. */
uint64_t hpx_waited_monitor_thread(JNIEnv *env, jthread thread);
/* Writes the signature of the class, with a 0 behind it. thread: from above; it must be alive during the call, and must not have run from
 * before the call until after it, else the answer says nothing. false: no answer. Not in handlers; one thread. */
bool hpx_waited_monitor_class(uint64_t thread, char to[HPX_WAITED_MONITOR_ROOM]);
/* Why there are no answers; NULL: there are, or nobody has asked. Constant text. Any thread. */
const char *hpx_waited_monitor_off(void);

#endif
