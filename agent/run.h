/* SPDX-License-Identifier: BSD-2-Clause */
/* run.h: sessions of the agent in the JVM: one at a time, from load to VMDeath, or begun and ended while the program runs.
 *
 * What lives as long as the process: handlers that are installed, numbers of methods, the classes of the probes, facts of the VM, states of
 * threads that live (vm/kept_states.h). All else belongs to the session, and its end gives it back. */
#ifndef HPX_RUN_H
#define HPX_RUN_H

#include "err.h"
#include <jvmti.h>
#include <stdbool.h>

/* Everything up to the output. At load, or before hpx_run_begin() goes live. The options are parsed. 0, -HPX_E_OPT, _IO, _VM, _NOMEM,
 * _SYS: see hpx_run_disable(). */
int hpx_run_prepare(struct hpx_err *err);
/* The child of a fork closes the descriptors of a session and of the commands from now on. Any thread. 0, -HPX_E_NOMEM. */
int hpx_run_watch_forks(struct hpx_err *err);
/* Says on stderr why a session cannot begin or end, as HPROF did. */
void hpx_run_say(const struct hpx_err *err);
/* At load: gives everything back and says so. The program continues without profiling; a command may begin a session. */
void hpx_run_disable(const struct hpx_err *err);

/* At load, once everything is prepared: VMInit may begin the session. */
void hpx_run_loaded(void);

/* A session can begin: the JVM is in its live phase. The calling thread is attached. 0; -HPX_E_NOT_LIVE; -HPX_E_VM: no JVMTI. */
int hpx_run_is_live(JavaVM *vm, struct hpx_err *err);
/* Begins a session in a JVM that runs. The calling thread is attached and in no callback of ours. 0; -HPX_E_BUSY: there is one, or the VM
 * ends; -HPX_E_SYS: the last one has not ended, or a thread cannot be started; or as prepare. Unless 0 nothing has begun. */
int hpx_run_begin(JavaVM *vm, JNIEnv *env, const char *options, struct hpx_err *err);
/* Ends it: writes the profile as at exit and gives everything back. As begin. 0; -HPX_E_BUSY: there is none, or the VM ends; -HPX_E_SYS:
 * the output or a thread does not move. Then nothing is freed, and the next call, a begin, or VMDeath goes on with the end. */
int hpx_run_end(JNIEnv *env, struct hpx_err *err);
#endif
