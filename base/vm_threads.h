/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_threads.h: what the threads of HotSpot are for, by the names that they have in the kernel.
 *
 * The kernel has 15 bytes of a name. JDK 22 and later keep its last six and put two dots before them, so a name is known by its first
 * seven. On JDK 8 these threads have no names. */
#ifndef HPX_VM_THREADS_H
#define HPX_VM_THREADS_H

/* X(SYMBOL, its frame in a stack, what it is in messages). */
#define HPX_VM_THREADS(X)                                                                                                                  \
    X(NONE, "", "threads without Java") /* none of the VM: of an agent, a library, or unknown */                                           \
    X(COLLECTOR, "garbage_collector", "garbage collector")                                                                                 \
    X(C1, "C1_compiler", "C1 compiler")                                                                                                    \
    X(C2, "C2_compiler", "C2 compiler") /* or what takes its place */                                                                      \
    X(VM, "VM_thread", "VM thread")     /* collections of some collectors, and all else that stops the program */                          \
    X(OTHER, "other_threads", "other VM threads")

enum hpx_vm_thread {
#define HPX_VM_THREAD_ENUM(sym, frame, name) HPX_VM_THREAD_##sym,
    HPX_VM_THREADS(HPX_VM_THREAD_ENUM)
#undef HPX_VM_THREAD_ENUM
        HPX_VM_THREAD_N
};

enum hpx_vm_thread hpx_vm_thread_of(const char *name);

#endif
