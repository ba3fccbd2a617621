/* SPDX-License-Identifier: BSD-2-Clause */
/* inlines.h: maps a program counter of compiled code to its methods, inlined ones included, from the VM's compilation events.
 *
 * Recorded from hpx_inlines_enable() on, only for sampler=walk. Any thread, not in handlers; one lock, a leaf. */
#ifndef HPX_INLINES_H
#define HPX_INLINES_H

#include "event.h"
#include <jvmti.h>

#define HPX_INLINES_DEPTH 256 /* most frames kept per chain, the outermost first */

void hpx_inlines_enable(void);
bool hpx_inlines_enabled(void);
/* The events CompiledMethodLoad and CompiledMethodUnload; no effect before enable. false: no memory, not recorded. Replayed events and
 * those of the compilers arrive on two threads, so a record replaces those that it overlaps, and only its own method removes it. */
bool hpx_inlines_add(jmethodID method, const void *code, size_t size, const void *compile_info);
void hpx_inlines_remove(jmethodID method, const void *code);
/* The frames of pc, leaf first, at most HPX_INLINES_DEPTH; 0: pc lies in no method's compiled code. */
uint32_t hpx_inlines_find(uintptr_t pc, struct hpx_ev_frame *chain);
/* Bytes in use. */
size_t hpx_inlines_bytes(void);
/* Records no more, and frees what is recorded. No sample is taken any more. */
void hpx_inlines_fini(void);

#endif
