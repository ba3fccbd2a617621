/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_frames.h: tells the frames of a probe from those of the program.
 *
 * A method with a probe calls a method of one of the classes that hprofx defines (classes.h). These frames are no part of the program, so
 * whoever takes a stack leaves them out, and asks for HPX_PROBE_FRAMES more to have as many of the program's. */
#ifndef HPX_PROBE_FRAMES_H
#define HPX_PROBE_FRAMES_H

#include "event.h"
#include <jvmti.h>
#include <stdbool.h>

/* Most frames of a probe: a method of HprofxTracker, and above it the native that it calls or MethodHandle.linkToNative. That of counts: a
 * method of the class of the downcalls, one of HprofxTracker, two of HprofxCounts, and the native. */
#define HPX_PROBE_FRAMES 5u

/* Adds the methods of a class that probes call; it is linked, and no thread runs its probes yet. false: the VM failed or no memory. The
 * thread of VMStart or VMInit, or the one that begins the session. */
bool hpx_probe_frames_add(jvmtiEnv *jvmti, jclass tracker);
/* HPX_PROBE_FRAMES if some class was added, else 0. From VMInit on constant. Async-signal-safe. */
uint32_t hpx_probe_frames_most(void);
/* The number of frames, leaf first, that are a probe's: 0 to HPX_PROBE_FRAMES, or one more where the method that owns the program counter
 * was put on top of a stack that has it already. Async-signal-safe. */
uint32_t hpx_probe_frames(const struct hpx_ev_frame *frames, int n);
/* Whether a probe's frame lies deeper than a probe can be: no probe calls code of the program, so a stack is not walked right if it says
 * so. Async-signal-safe. */
bool hpx_probe_frames_astray(const struct hpx_ev_frame *frames, int n);
/* As hpx_probe_frames(), of frames as JVMTI gives them. */
uint32_t hpx_probe_frames_vm(const jvmtiFrameInfo *frames, jint n);

#endif
