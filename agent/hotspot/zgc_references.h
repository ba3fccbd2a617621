/* SPDX-License-Identifier: BSD-2-Clause */
/* zgc_references.h: what a reference of ZGC refers to. It moves objects while the program runs: a reference has a colour, which tells
 * whether somebody has followed it since, and a table of what was moved leads on from those that nobody has.
 *
 * Touches ZGlobalsForVMStructs, the heap's forwarding tables and what they consist of; reads only. On JDK 21 to 28.
 *
 * With generations the tables are not named: they are behind the only words of the heap that lead to its pages.
 * Source: HotSpot's zAddress.hpp, zBarrier.inline.hpp, zForwarding.hpp. */
#ifndef HPX_ZGC_REFERENCES_H
#define HPX_ZGC_REFERENCES_H

#include "compiler.h"

/* VMInit or later, once. generations: as it was started. NULL, or the constant text why references are not followed. */
const char *hpx_zgc_references_init(bool generations);

/* NULL, or the constant text that the tables were not found. Any thread. */
const char *hpx_zgc_references_unfollowed(void);

/* ---- after init returned NULL; async-signal-safe ---- */

/* The address of the object that this word of a field refers to; HPX_OBJECT_UNKNOWN (heap_objects.h): that cannot be told. An address that
 * was told from a table counts as long as the same field gives the same one. */
uintptr_t hpx_zgc_followed_sig(uintptr_t word);
/* The same of a word on a thread's stack, which has no colour with generations. runs: the thread is in Java, where none is old. */
uintptr_t hpx_zgc_on_stack_sig(uintptr_t word, bool runs);
/* It is another one as soon as objects begin to move. */
uint32_t hpx_zgc_colour_sig(void);

#endif
