/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr_watch.h: says that JFR's CPU-time sampling records nothing while SIGPROF is ours.
 *
 * From JDK 25 on JFR takes SIGPROF for jdk.CPUTimeSample. It refuses to where somebody has a handler, says so once in the log of the VM
 * without a name, and records no such event. */
#ifndef HPX_JFR_WATCH_H
#define HPX_JFR_WATCH_H

/* Now and then, until it has been said once in a session: a recording runs that wants the event, and no signal of JFR was passed on. One
 * look at the names of all threads, and one call of jdk.jfr.FlightRecorder if JFR runs. The service thread. */
void hpx_jfr_watch_recheck(void);

#endif
