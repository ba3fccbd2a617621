/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_objects.h: objects of the Java heap by their addresses: the class of one, what one refers to, and whether they stay where they are.
 *
 * Touches, through structures.h: the class word of an object, CompressedKlassPointers, CompressedOops, Klass._name, Symbol,
 * java.lang.Class's hidden field for the Klass, what zgc_references.h touches, and of the heap how many collections it had and whether one
 * runs; reads only. On JDK 17 to 28. Every address must be readable: under guard.h. */
#ifndef HPX_HEAP_OBJECTS_H
#define HPX_HEAP_OBJECTS_H

#include "compiler.h"
#include <stddef.h>

#define HPX_OOPS_COMPACT 42 /* the bit of an object's first word where its class begins, with compact headers */

/* VMInit or later; finds the names once. NULL, or the constant text why objects are not read. */
const char *hpx_heap_objects_init(void);
/* After init, as the rest. NULL, or the constant text why references are not followed: then there is no hpx_object_at_sig(). */
const char *hpx_heap_no_references(void);
/* ZGC and Shenandoah. */
bool hpx_heap_moves_while_running(void);

/* ---- async-signal-safe ---- */

/* The collections so far; false: one has stopped the program. If both calls around a read say true and the same number, no object has moved
 * in between, and with hpx_heap_moves_while_running() those have not that are found at the same place again. */
bool hpx_heap_still_sig(uint32_t *collections);
/* The Klass of the object at this address. */
uintptr_t hpx_object_class_sig(uintptr_t oop);
/* The Klass of the class whose mirror is at this address. */
uintptr_t hpx_object_mirrored_sig(uintptr_t oop);
/* The Symbol with the name of a Klass, "p/C"; 0: that is no Klass. n: receives its bytes, which begin at the address that is returned. */
uintptr_t hpx_object_class_name_sig(uintptr_t klass, uint32_t *n);
/* Writes the signature of a Klass as JVMTI has it, "Lp/C;", with a 0 behind it. false: that is no Klass, or it does not fit. */
bool hpx_object_class_signature_sig(uintptr_t klass, char *to, size_t size);
/* The same of the bytes of a Symbol. */
bool hpx_object_symbol_sig(uintptr_t symbol, char *to, size_t size);
/* Where Shenandoah has copied the object at this address to. */
uintptr_t hpx_heap_moved_sig(uintptr_t oop);
/* The address of the object that the field at this address refers to; 0: none; HPX_OBJECT_UNKNOWN: ZGC may have moved it, and does not tell
 * where to. Where objects move while the program runs it counts as long as the field gives the same one. */
#define HPX_OBJECT_UNKNOWN ((uintptr_t)1)
uintptr_t hpx_object_at_sig(uintptr_t at);
/* The same of a reference on a thread's stack, which is this word. runs: the thread is in Java; one that is not may be told late that an
 * object has moved. */
uintptr_t hpx_object_on_stack_sig(uintptr_t oop, bool runs);

#endif
