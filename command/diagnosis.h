/* SPDX-License-Identifier: BSD-2-Clause */
/* diagnosis.h: the lines of `hprofx doctor` that this machine and a JVM share. Each is one fact and, if something does not work, its
 * remedy. One thread. */
#ifndef HPX_COMMAND_DIAGNOSIS_H
#define HPX_COMMAND_DIAGNOSIS_H

#include "facts.h"
#include <stdio.h>

#define HPX_DIAGNOSIS_OK   "ok"
#define HPX_DIAGNOSIS_NOTE "note" /* a profile is possible, but something in it is not as it could be */
#define HPX_DIAGNOSIS_NO   "no"   /* no profile */

/* A line on stdout, without controls. */
void hpx_diagnosis_line(const char *mark, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Timers of cpu=samples: one for every thread. threads: 0: of a JVM that is yet to start. */
void hpx_diagnosis_timers(const struct hpx_facts *f, uint64_t threads);
/* Perf events, as the caller, with the open files of process pid. filtered: that process has a filter that the caller has not. */
void hpx_diagnosis_perf(pid_t pid, bool filtered);
/* Nothing if the quota of process pid is all the CPUs that it may run on. */
void hpx_diagnosis_quota(pid_t pid);

#endif
