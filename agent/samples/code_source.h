/* SPDX-License-Identifier: BSD-2-Clause */
/* code_source.h: the debug information of compiled code, by which cpu=samples names inlined methods.
 *
 * async, asgct: the compilers record it between safepoints, too, if the flag DebugNonSafepoints is set (vm_flags.h). walk: the event
 * CompiledMethodLoad has the same effect, and fills inlines.h; it costs the VM more than all samples. */
#ifndef HPX_CODE_SOURCE_H
#define HPX_CODE_SOURCE_H

#include "mode.h"
#include "vm.h"

/* At load: sets the flag. NULL, or why it cannot be set: a constant. */
const char *hpx_code_source_set_flag(void);
/* At load: enables the event. */
void hpx_code_source_use_event_from_load(void);
/* Undoes load. */
void hpx_code_source_disable(void);
/* VMInit, when the structures are checked: counts the code without the information, of a session in a JVM that runs. */
void hpx_code_source_live(void);
/* Enables the event and has the VM repeat it for all compiled methods. VMInit or later, an attached thread. */
void hpx_code_source_use_event(jvmtiEnv *jvmti);
/* VMDeath: disables the event. */
void hpx_code_source_close(jvmtiEnv *jvmti);
/* After that, before the guard is removed: nothing is read any more. */
void hpx_code_source_over(void);
/* For the report: where the debug information between safepoints comes from, and how much code has none. */
void hpx_code_source_lines(struct hpx_lines *to);

#endif
