/* SPDX-License-Identifier: BSD-2-Clause */
/* owners.h: which compiled method owns a pc.
 *
 * By the VM's own structures (code_cache.h) as long as they agree with what JVMTI says. Otherwise by the code map (codemap.h), which the
 * event CompiledMethodLoad fills; the event costs the VM more than all samples, so it is enabled only then, and for sampler=walk. Either
 * way the compilers record debug information between safepoints: the flag DebugNonSafepoints and the event have the same effect. */
#ifndef HPX_OWNERS_H
#define HPX_OWNERS_H

#include "code_cache.h"
#include "sample_thread.h"
#include "vm.h"

/* At load, after the engine is chosen: sets the flag or enables the event. */
void hpx_owners_load(void);
/* Undoes load. */
void hpx_owners_disable(void);
/* VMInit, before the first clock: compares the structures with the code that the VM announced. t: of the caller;
 * NULL: it has no state. guard: faults are caught; without it nothing is read. */
void hpx_owners_live(JNIEnv *env, struct hpx_sample_thread *t, bool guard);
/* A thread starts, on the thread: the second one is compared with the first. */
void hpx_owners_thread(JNIEnv *env, jthread thread, struct hpx_sample_thread *t);
/* A class is being loaded, on the loading thread: anchors are on from the first one below Java code whose anchor is right. t: of the
 * caller, or NULL. */
void hpx_owners_class(JNIEnv *env, struct hpx_sample_thread *t);
/* Enables the event and has the VM repeat it for all compiled methods. VMInit or later, an attached thread. */
jvmtiError hpx_owners_use_event(jvmtiEnv *jvmti);
/* VMDeath: disables the event. */
void hpx_owners_close(jvmtiEnv *jvmti);
/* At the end of every pass: turns to the event if a handler asked for it. The aggregator. */
void hpx_owners_look(void);

/* ---- events that announce code; any JVM thread ---- */

void hpx_owners_add_method(jmethodID method, const void *code, size_t size);
void hpx_owners_remove_method(jmethodID method, const void *code);
void hpx_owners_add_stub(const char *name, const void *code, size_t size);

/* ---- the handler, under its guard; async-signal-safe ---- */

/* The method that owns pc, a jmethodID as a number; 0: unknown. */
uint64_t hpx_owners_find_sig(uintptr_t pc);
/* true if code at pc may be running: a method, a stub or the interpreter. */
bool hpx_owners_known_sig(uintptr_t pc);
/* The same of a pc that may be a dead word: the code stays at least until this thread reaches a safepoint. Of a method that is so in state
 * "in use": on its way to the dead the VM waits for all threads. Any other state may end meanwhile (until JDK 19). */
bool hpx_owners_stays_sig(uintptr_t pc);
/* What the code cache has at pc; NONE also if it is not read. */
enum hpx_blob_kind hpx_owners_kind_sig(uintptr_t pc);
/* Words of the frame of the stub at pc, with the return address; 0: no stub, or not known. */
int32_t hpx_owners_stub_frame_sig(uintptr_t pc);
/* true if anchors may be read (frame_anchor.h). */
bool hpx_owners_anchors_sig(void);
/* AsyncGetCallTrace answered at pc; n: number of frames, 0 or less if there are none; whole: these are all. The first of these answers must
 * agree with the structures; if one does not, they are left for good. */
void hpx_owners_confirm_sig(uintptr_t pc, const struct hpx_ev_frame *frames, int n, bool whole);

/* The guard caught a fault in a read of the structures: they are left for good. */
void hpx_owners_misread_sig(void);

/* Why the structures are not read; NULL: they are. Any thread. */
const char *hpx_owners_off(void);
/* Why anchors are not read, though the structures are; NULL: they are, or none with Java frames was compared yet. Any thread. */
const char *hpx_owners_without_anchors(void);
/* For the report: where the debug information between safepoints comes from. */
const char *hpx_owners_debug_information(void);

#endif
