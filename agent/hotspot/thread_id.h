/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_id.h: the kernel id of any platform thread of Java: java.lang.Thread.eetop is the address of the VM's thread, which leads through
 * structures.h to the kernel id that the VM noted when the thread started (_osthread, _thread_id).
 *
 * Touches these two fields, of JavaThread and OSThread, and the bounds of the thread's stack (_stack_base, _stack_size); reads only. On JDK
 * 8 to 28: 25 moved one and renamed the type of another.
 *
 * eetop is 0 before a thread has its id, and again before the VM frees what lies behind it, so an answer is right if eetop is the same
 * before and after. Reads go through the kernel (process_vm_readv), which refuses an address where the processor would fault. The answer
 * must be a thread of this process; one that is not, or a read that fails while eetop stays, ends all answers. */
#ifndef HPX_THREAD_ID_H
#define HPX_THREAD_ID_H

#include <jvmti.h>
#include <stdint.h>
#include <sys/types.h>

/* VMInit. self: the calling thread, whose id must come out. There are no answers (any more) if HPX_INTERNALS_IDS is left (internals.h): the
 * VM's structures are closed, or not as expected. */
void hpx_thread_id_init(JNIEnv *env, jthread self);
/* VMInit: finds Thread's word for the VM's thread (JavaThread). NULL, or the constant text why not. No exception stays pending. */
const char *hpx_thread_id_find_word(JNIEnv *env);
/* That word; 0: it was not found, or the thread is not alive. */
uintptr_t hpx_thread_id_word(JNIEnv *env, jthread thread);
struct hpx_stack_bounds {
    uintptr_t low, end; /* 0, 0: not known */
};

/* A thread that has started. Its kernel id; 0: it has ended meanwhile, or is virtual and has none; -1: there are no answers. *stack: known
 * only with an id, if this VM tells. Any attached thread, after init. */
pid_t hpx_thread_id_of(JNIEnv *env, jthread thread, struct hpx_stack_bounds *stack);

#endif
