/* SPDX-License-Identifier: BSD-2-Clause */
/* inlines.h: which methods, inlined ones too, a program counter of compiled code stands for: what the VM says when it has compiled.
 *
 * Kept from hpx_inlines_enable() on, in sampler=walk alone. Any thread, not in handlers; one lock, under which nothing is called. */
#ifndef HPX_INLINES_H
#define HPX_INLINES_H

#include "event.h"
#include <jvmti.h>

#define HPX_INLINES_DEPTH 256 /* frames of a chain that are kept, the outermost first */

void hpx_inlines_enable(void);
bool hpx_inlines_enabled(void);
/* The events CompiledMethodLoad and CompiledMethodUnload; without effect before enable. false: no memory, not recorded. Events that
 * were asked for again and those of the compilers come on two threads: a record takes the place of those that it overlaps, and is removed
 * by its own method alone. */
bool hpx_inlines_add(jmethodID method, const void *code, size_t size, const void *compile_info);
void hpx_inlines_remove(jmethodID method, const void *code);
/* The frames of pc, leaf first, at most HPX_INLINES_DEPTH; 0: pc lies in no method's compiled code. */
uint32_t hpx_inlines_find(uintptr_t pc, struct hpx_ev_frame *chain);
/* Memory held. */
size_t hpx_inlines_bytes(void);

#endif
