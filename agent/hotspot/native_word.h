/* SPDX-License-Identifier: BSD-2-Clause */
/* native_word.h: the C function that a native method calls now, which JNI can set, but not tell.
 *
 * Touches Method, ConstMethod, ConstantPool, InstanceKlass and its array of methods, through structures.h, and the words of the calling
 * thread's own stack; reads only, through the kernel (process_vm_readv), which refuses an address where the processor would fault. On JDK 8
 * to 28: the word follows the Method. Whoever uses it compares it with a function that it has set. */
#ifndef HPX_NATIVE_WORD_H
#define HPX_NATIVE_WORD_H

#include "compiler.h"

/* In a native method that runs: `running` is its jmethodID, `wanted` that of another native method of
 * its class. up_to: an address in a frame of the caller's that called Java; between that and here the stack has the running Method*.
 * Returns the address of the word of the wanted one; 0: not found. One thread at a time, not in handlers. */
uintptr_t hpx_native_word_find(uint64_t running, uint64_t wanted, uintptr_t up_to);
/* What the method calls; 0: the word cannot be read (any more). Any thread, not in handlers. */
uintptr_t hpx_native_word_read(uintptr_t word);

#endif
