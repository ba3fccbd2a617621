/* SPDX-License-Identifier: BSD-2-Clause */
/* core.h: an agent of JVMPI whose program (tests/jvm/programs/JvmpiCore.java) has it check, one subject after the other, what the functions
 * and the events of VM, threads and monitors do. A check that fails prints a line "BAD ...". */
#ifndef HPX_TESTS_CORE_H
#define HPX_TESTS_CORE_H

#include <jvmpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

extern JVMPI_Interface *jvmpi;
extern JavaVM *ours;                                    /* the JavaVM that JVM_OnLoad got */
extern atomic_int counts[JVMPI_MAX_EVENT_TYPE_VAL + 1]; /* by event; 0: THREAD_START of threads named one or two */

#define CHECK(cond) check((cond), #cond, __FILE__, __LINE__)
void check(bool holds, const char *text, const char *file, int line);

/* Of the last THREAD_START. */
struct started {
    char name[64], group[64], parent[64];
    jobjectID id;
    JNIEnv *env;
    jint type;
};
extern struct started started;
/* Of the last event of a monitor, Java's or raw, on the thread that looks. */
struct met {
    jint type;
    jobjectID object;
    jlong timeout;
};
extern _Thread_local struct met met[8];
extern _Thread_local int meetings;

/* What a scenario does in every event, behind the counting; NULL: nothing. */
extern void (*_Atomic in_event)(JVMPI_Event *event);
#define NO_HANDLER ((void (*)(JVMPI_Event *))0) /* clang takes no void * for one that is atomic */

#endif
