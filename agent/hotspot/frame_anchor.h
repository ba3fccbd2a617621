/* SPDX-License-Identifier: BSD-2-Clause */
/* frame_anchor.h: where the calling thread left Java code (JavaThread._anchor) and what it does since (_thread_state), through
 * structures.h.
 *
 * Touches these two fields of JavaThread, which lies at a constant distance from its JNIEnv; reads only. On JDK 8 to 28; the numbers of the
 * states come from the tables, because 28 has others.
 *
 * A call from the interpreter or from a stub of C1 into the VM stores only the stack pointer: the VM adds the pc when it needs it, but a
 * stack cannot be walked from a signal before. Source: HotSpot's javaFrameAnchor.hpp, frame_x86.cpp. */
#ifndef HPX_FRAME_ANCHOR_H
#define HPX_FRAME_ANCHOR_H

#include "compiler.h"

enum hpx_vm_state {
    HPX_VM_STATE_IN_NATIVE,
    HPX_VM_STATE_IN_VM,
    HPX_VM_STATE_IN_JAVA,
    HPX_VM_STATE_BLOCKED,
    HPX_VM_STATE_OTHER, /* starting, or between two others */
    HPX_VM_STATES
};

struct hpx_frame_anchor {
    uintptr_t sp, pc, fp; /* sp 0: the thread has no Java frames; pc 0: not stored yet */
};

/* At load: finds the names. NULL, or why anchors are not read. */
const char *hpx_frame_anchor_init(void);
/* A Java thread in native code (a JVMTI callback). env: its JNIEnv; thread: java.lang.Thread.eetop. The first call learns the distance of
 * the two, later ones compare. NULL, or what contradicts. Not concurrently. */
const char *hpx_frame_anchor_check(const void *env, uint64_t thread);
/* After a check that returned NULL. The same thread, whose anchor is `a`: NULL, or what contradicts. stack_low, stack_end: of the thread;
 * 0 if unknown. */
const char *hpx_frame_anchor_check_frames(const struct hpx_frame_anchor *a, uintptr_t stack_low, uintptr_t stack_end);

/* ---- the thread that env belongs to; async-signal-safe; after a check that returned NULL ---- */

enum hpx_vm_state hpx_frame_anchor_state_sig(const void *env);
struct hpx_frame_anchor hpx_frame_anchor_read_sig(const void *env);
/* An anchor that the VM keeps elsewhere: `at` must be readable. */
struct hpx_frame_anchor hpx_frame_anchor_at_sig(uintptr_t at);

#endif
