/* SPDX-License-Identifier: BSD-2-Clause */
/* uatomic.h: the operations of liburcu that wfcqueue's inline functions use, whose own are inline assembly: a read-modify-write is between
 * two full barriers, loads and stores of shared variables are relaxed, and what depends on a pointer is read behind it. */
#ifndef RELACY_URCU_UATOMIC_H
#define RELACY_URCU_UATOMIC_H

#define cmm_smp_mb()                   __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define before_rmw()                   cmm_smp_mb()
#define cmm_smp_rmb()                  __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define cmm_smp_read_barrier_depends() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define caa_cpu_relax()                relacy_pause()
#define CMM_LOAD_SHARED(x)             __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define CMM_STORE_SHARED(x, v)         __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define uatomic_xchg(p, v)                                                                                                                 \
    __extension__({                                                                                                                        \
        before_rmw();                                                                                                                      \
        __typeof__(*(p)) old_ = __atomic_exchange_n((p), (v), __ATOMIC_RELAXED);                                                           \
        cmm_smp_mb();                                                                                                                      \
        old_;                                                                                                                              \
    })
#define uatomic_cmpxchg(p, was, v)                                                                                                         \
    __extension__({                                                                                                                        \
        __typeof__(*(p)) old_ = (was);                                                                                                     \
        before_rmw();                                                                                                                      \
        (void)__atomic_compare_exchange_n((p), &old_, (v), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                                         \
        cmm_smp_mb();                                                                                                                      \
        old_;                                                                                                                              \
    })

void relacy_pause(void);

#endif
