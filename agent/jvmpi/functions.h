/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.h: the parts of which functions.c makes the agent's table. Each is a function of the interface, as the manual says; none fails
 * but by its return code. */
#ifndef HPX_JVMPI_FUNCTIONS_H
#define HPX_JVMPI_FUNCTIONS_H

#include "shim.h"

/* raw_monitors.c */
JVMPI_RawMonitor hpx_jvmpi_raw_create(char *name);
void hpx_jvmpi_raw_enter(JVMPI_RawMonitor m);
void hpx_jvmpi_raw_exit(JVMPI_RawMonitor m);
void hpx_jvmpi_raw_wait(JVMPI_RawMonitor m, jlong ms);
void hpx_jvmpi_raw_notify_all(JVMPI_RawMonitor m);
void hpx_jvmpi_raw_destroy(JVMPI_RawMonitor m);

/* Around whatever a function of the agent's does in the VM: see raw_monitors.c. Nests. */
void hpx_jvmpi_vm_begin(void);
void hpx_jvmpi_vm_end(void);
/* Around a call of the agent between begin and end: there the thread is the agent's again. The value goes from pause to resume. */
int hpx_jvmpi_vm_pause(void);
void hpx_jvmpi_vm_resume(int depth);

/* suspend.c */
void hpx_jvmpi_suspend(JNIEnv *env);
void hpx_jvmpi_resume(JNIEnv *env);
void hpx_jvmpi_suspend_list(jint n, JNIEnv **list, jint *results);
void hpx_jvmpi_resume_list(jint n, JNIEnv **list, jint *results);
jboolean hpx_jvmpi_has_run(JNIEnv *env);
jint hpx_jvmpi_status(JNIEnv *env);

#endif
