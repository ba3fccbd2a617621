/* SPDX-License-Identifier: BSD-2-Clause */
/* frame_anchor.h: reads where a thread left Java code (JavaThread._anchor), its state since then (_thread_state) and the continuation that
 * it runs (_cont_entry), what it has thrown (_exception_pc) and what deoptimization makes (_vframe_array_head), by the tables of
 * structures.h.
 *
 * Touches these fields of JavaThread, which lies at a constant distance from its JNIEnv; reads only. On JDK 8 to 28; the numbers of the
 * states come from the tables, because 28 has others.
 *
 * A call from the interpreter or from a stub of C1 into the VM stores only the stack pointer. The VM adds the pc later, when it walks the
 * stack; until then a signal handler has no pc to walk from. Source: HotSpot's javaFrameAnchor.hpp, frame_x86.cpp. */
#ifndef HPX_FRAME_ANCHOR_H
#define HPX_FRAME_ANCHOR_H

#include "compiler.h"

enum hpx_vm_state {
    HPX_VM_STATE_IN_NATIVE,
    HPX_VM_STATE_IN_VM,
    HPX_VM_STATE_IN_JAVA,
    HPX_VM_STATE_BLOCKED,
    HPX_VM_STATE_OTHER, /* the thread starts, or changes its state */
    HPX_VM_STATES
};

struct hpx_frame_anchor {
    uintptr_t sp, pc, fp; /* sp 0: the thread has no Java frames; pc 0: not stored yet */
};

/* At load: finds the fields in the tables. NULL, or the reason why anchors are not read. */
const char *hpx_frame_anchor_init(void);
/* The caller is a Java thread in native code (a JVMTI callback). env: its JNIEnv; thread: its java.lang.Thread.eetop. The first call learns
 * the distance of the two addresses, later calls compare it. NULL, or the contradiction. Not concurrently. */
const char *hpx_frame_anchor_check(const void *env, uint64_t thread);
/* After a check that returned NULL, on the same thread, whose anchor is `a`. NULL, or the contradiction. stack_low, stack_end: bounds of
 * the thread's stack; 0 if unknown. */
const char *hpx_frame_anchor_check_frames(const struct hpx_frame_anchor *a, uintptr_t stack_low, uintptr_t stack_end);

/* ---- after a check that returned NULL; async-signal-safe; env: of the thread that is read ---- */

enum hpx_vm_state hpx_frame_anchor_state_sig(const void *env);
struct hpx_frame_anchor hpx_frame_anchor_read_sig(const void *env);
/* The ContinuationEntry of the virtual thread that is mounted: it is the lowest part of the frame of Continuation.enterSpecial. 0: there is
 * none, or where the thread has it is not known: the tables of 25 and 28 have the field, those of 21 do not. */
uintptr_t hpx_frame_anchor_continuation_sig(const void *env);
/* It is this one: if the tables do not have the field, it is the word of the thread that has it, if there is one only. */
void hpx_frame_anchor_learn_continuation_sig(const void *env, uintptr_t entry);
/* The tables do not have the field, and it has not been learned. */
bool hpx_frame_anchor_lacks_continuation_sig(void);
/* The pc at which the thread threw the exception that the VM handles, or handled last; 0: none. */
uintptr_t hpx_frame_anchor_thrown_sig(const void *env);
/* The vframeArray of the frames that deoptimization is making; 0: none, or not known. */
uintptr_t hpx_frame_anchor_unpacked_sig(const void *env);
/* An anchor that the VM keeps at another address, which must be readable. */
struct hpx_frame_anchor hpx_frame_anchor_at_sig(uintptr_t at);

#endif
