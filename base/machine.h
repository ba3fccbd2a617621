/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.h: what differs between processors outside of the VM (for that: agent/hotspot/processor.h): the counter of time, the stack
 * pointer, what the kernel checks of a section of rseq, relocations. On a processor that is not here there is no counter.
 *
 * All but hpx_counter_is_steady() are an instruction or two: async-signal-safe, any thread. */
#ifndef HPX_MACHINE_H
#define HPX_MACHINE_H

#include "compiler.h"
#include <elf.h>
#include <sys/prctl.h>

/* HPX_COUNTER: there is a counter that a program can read.
 * HPX_COUNTER_NS: of the slowest one, nanoseconds a tick.
 * HPX_COUNTER_SPAN: ticks for which it may stand for the clock: some ms. 1.7 ms at 5 GHz, 8.4 ms at 1 GHz; on Arm 0.3 ms at 1 GHz, which
 * it has from version 8.6 on, 10 ms at 25 MHz.
 *
 * hpx_counter(): also a barrier to the compiler. hpx_counter_fence(): what comes behind it reads the counter later than what comes before.
 * hpx_counter_hz(): what the processor tells; 0: nothing.
 * hpx_counter_is_steady(): it neither stops nor changes its rate, and was not denied to this process, where reading it would be a SIGSEGV.
 * HPX_RSEQ_TRAP: four bytes that nothing runs; HPX_RSEQ_SIGNATURE: what glibc registered with the kernel to precede an abort address. */

#if defined(__x86_64__) && defined(__LP64__)

#include <cpuid.h>

#define HPX_COUNTER        1
#define HPX_COUNTER_NAME   "TSC"
#define HPX_COUNTER_NS     1
#define HPX_COUNTER_SPAN   (UINT64_C(1) << 23)
#define HPX_RSEQ_TRAP      "ud2\n ud2\n"
#define HPX_RSEQ_SIGNATURE ".long 0x53053053\n"
#define HPX_JUMP_SLOT      R_X86_64_JUMP_SLOT
#define HPX_GLOB_DAT       R_X86_64_GLOB_DAT

static inline uint64_t hpx_counter(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

static inline void hpx_counter_fence(void)
{
}

static inline uint64_t hpx_counter_hz(void)
{
    return 0;
}

static inline bool hpx_counter_is_steady(void)
{
    unsigned a, b, c, d;
    int mode = PR_TSC_ENABLE;
    /* 0x80000007 EDX bit 8: same rate in all states */
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8) && prctl(PR_GET_TSC, &mode) == 0 && mode == PR_TSC_ENABLE;
}

static inline uintptr_t hpx_stack_pointer(void)
{
    uintptr_t sp;
    __asm__("mov %%rsp, %0" : "=r"(sp)); /* the address of a frame would need a frame */
    return sp;
}

#elif defined(__aarch64__) && defined(__LP64__)

#define HPX_COUNTER        1
#define HPX_COUNTER_NAME   "virtual counter"
#define HPX_COUNTER_NS     52 /* 19.2 MHz */
#define HPX_COUNTER_SPAN   (UINT64_C(1) << 18)
#define HPX_RSEQ_TRAP      ".inst 0\n"
#define HPX_RSEQ_SIGNATURE ".inst 0xd428bc00\n"
#define HPX_JUMP_SLOT      R_AARCH64_JUMP_SLOT
#define HPX_GLOB_DAT       R_AARCH64_GLOB_DAT

static inline uint64_t hpx_counter(void)
{
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count)::"memory");
    return count;
}

static inline void hpx_counter_fence(void)
{
    __asm__ volatile("isb" ::: "memory");
}

static inline uint64_t hpx_counter_hz(void)
{
    uint64_t hz;
    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}

static inline bool hpx_counter_is_steady(void)
{
    int mode = PR_TSC_ENABLE;
    /* By the architecture; firmware may have forgotten to tell the rate. Kernels before 6.12 cannot deny it, and do not know the call. */
    return hpx_counter_hz() != 0 && (prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE);
}

static inline uintptr_t hpx_stack_pointer(void)
{
    uintptr_t sp;
    __asm__("mov %0, sp" : "=r"(sp));
    return sp;
}

#else

#define HPX_COUNTER        0
#define HPX_COUNTER_NAME   "counter"
#define HPX_COUNTER_NS     1
#define HPX_COUNTER_SPAN   1
#define HPX_RSEQ_TRAP      ".long 0\n"
#define HPX_RSEQ_SIGNATURE ".long 0\n"
#define HPX_JUMP_SLOT      0 /* of no function: a relocation without effect */
#define HPX_GLOB_DAT       0

static inline uint64_t hpx_counter(void)
{
    return 0;
}

static inline void hpx_counter_fence(void)
{
}

static inline uint64_t hpx_counter_hz(void)
{
    return 0;
}

static inline bool hpx_counter_is_steady(void)
{
    return false;
}

static inline uintptr_t hpx_stack_pointer(void)
{
    return (uintptr_t)__builtin_frame_address(0);
}

#endif

#endif
