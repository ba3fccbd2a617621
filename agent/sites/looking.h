/* SPDX-License-Identifier: BSD-2-Clause */
/* looking.h: counts live objects by looking at the heap, for exact sites from JDK 16 on.
 *
 * ObjectFree is no alternative there: from JDK 17 on the VM waits for the thread that posts these events, in a state in which no safepoint
 * comes, while that thread waits for a safepoint. So the end of a program with this event could hang for ever.
 *
 * A look is a walk over all tagged objects (IterateThroughHeap), in a copy of the process or, where that is not possible or stops the
 * program for longer, in the JVM. One look at a time. */
#ifndef HPX_LOOKING_H
#define HPX_LOOKING_H

#include "vm.h"

/* At load. */
void hpx_looking_load(void);
/* The aggregator, before hpx_looking_step(): how many objects were recorded. No more can be alive, which tells how long a look takes. */
void hpx_looking_expect(uint64_t objects);
/* Begins a look, or completes the one whose copy of the process is over. The service thread, inside the gate. */
void hpx_looking_step(jvmtiEnv *jvmti, JNIEnv *env);
/* A copy of the process has ended, and hpx_looking_step() completes the look. Any thread; acquire. */
bool hpx_looking_is_over(void);
/* A copy of the process looks. Any thread; acquire. */
bool hpx_looking_walks(void);
/* No look is being made. Any thread; acquire. */
bool hpx_looking_idle(void);
/* The end, after the gate was closed: ends a copy that looks, then looks once more. No other look begins any more. */
void hpx_looking_last(jvmtiEnv *jvmti, JNIEnv *env);
/* Waits until nobody looks, nor waits for a copy; false: somebody does still at until_ns (CLOCK_MONOTONIC). After hpx_looking_last(). */
bool hpx_looking_left(uint64_t until_ns);

/* The last look. */
struct hpx_look_facts {
    bool looked, forked;
    uint64_t stopped_ns, ns; /* the program stood still; in all */
    char why[200];           /* why not by a copy, or why there is none; "": nothing to tell */
};
/* The aggregator, when no look is being made. */
struct hpx_look_facts hpx_looking_facts(void);
/* CPU time of the threads that wait for copies, ns. Any thread. */
uint64_t hpx_looking_cpu(void);

#endif
