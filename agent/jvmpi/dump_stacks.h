/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_stacks.h: the platform threads with their traces and states, all of one moment, for dumps. The thread that asks. */
#ifndef HPX_JVMPI_DUMP_STACKS_H
#define HPX_JVMPI_DUMP_STACKS_H

#include "shim.h"

struct hpx_jvmpi_stacks {
    jint n;
    jthread *threads;        /* references of the caller's local frame */
    jobjectID *ids;          /* of the threads; NULL: the VM refused */
    JVMPI_CallTrace *traces; /* at most HPX_JVMPI_STACK_FRAMES of each */
    jint *status;            /* JVMPI_THREAD_* */
    jint *probe_frames;      /* the VM's depth of a frame is its place in the trace plus this */
};

#define HPX_JVMPI_STACK_FRAMES 4096 /* HotSpot allocates memory for this many per thread */

/* Threads that the agent knows; in a local frame of the caller. false: the VM refused or no memory. fini() also then. */
bool hpx_jvmpi_stacks_take(struct hpx_jvmpi_stacks *s, JNIEnv *env);
/* The references stay. */
void hpx_jvmpi_stacks_fini(struct hpx_jvmpi_stacks *s);

#endif
