/* SPDX-License-Identifier: BSD-2-Clause */
/* code_source.h: how cpu=samples learns about compiled code: by the VM's own structures or by events.
 *
 * By the structures (code_owner.h) as long as they agree with what JVMTI says (checks.h). Otherwise by the code map (codemap.h), which the
 * event CompiledMethodLoad fills; the event costs the VM more than all samples, so it is enabled only then, and for sampler=walk. Either
 * way the compilers record debug information between safepoints: the flag DebugNonSafepoints and the event have the same effect. */
#ifndef HPX_CODE_SOURCE_H
#define HPX_CODE_SOURCE_H

#include "mode.h"
#include "sample_thread.h"
#include "vm.h"

/* At load, after the engine is chosen: sets the flag or enables the event. */
void hpx_code_source_load(void);
/* Undoes load. */
void hpx_code_source_disable(void);
/* VMInit, before the first clock: checks the structures. t: of the caller; NULL: it has no state. guard: faults are caught; without it
 * nothing is read. */
void hpx_code_source_live(JNIEnv *env, struct hpx_sample_thread *t, bool guard);
/* Enables the event and has the VM repeat it for all compiled methods. VMInit or later, an attached thread. */
jvmtiError hpx_code_source_use_event(jvmtiEnv *jvmti);
/* VMDeath: disables the event. */
void hpx_code_source_close(jvmtiEnv *jvmti);
/* At the end of every pass: turns to the event if a handler asked for it. The aggregator. */
void hpx_code_source_look(void);
/* For the report: where the debug information between safepoints comes from, and how much code has none. */
void hpx_code_source_lines(struct hpx_lines *to);

#endif
