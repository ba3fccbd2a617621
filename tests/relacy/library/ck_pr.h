/* SPDX-License-Identifier: BSD-2-Clause */
/* ck_pr.h: the operations of ck that ck_stack's inline functions use, whose own are inline assembly, as weak as on aarch64: only fences
 * order. */
#ifndef RELACY_CK_PR_H
#define RELACY_CK_PR_H

#include <ck_cc.h>
#include <ck_stdbool.h>

#define ck_pr_load_ptr(p)          ((void *)__atomic_load_n((p), __ATOMIC_RELAXED))
#define ck_pr_store_ptr(p, v)      __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define ck_pr_fas_ptr(p, v)        ((void *)__atomic_exchange_n((p), (v), __ATOMIC_RELAXED))
#define ck_pr_fence_store()        __atomic_thread_fence(__ATOMIC_RELEASE)
#define ck_pr_fence_store_atomic() __atomic_thread_fence(__ATOMIC_RELEASE)
#define ck_pr_fence_load()         __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define ck_pr_cas_ptr(p, was, v)   ck_pr_cas_ptr_value((p), (was), (v), &(void *){NULL})
#define ck_pr_stall()              ((void)0)

static inline bool ck_pr_cas_ptr_value(void *p, void *was, void *v, void *is)
{
    bool done = __atomic_compare_exchange_n((void **)p, &was, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    *(void **)is = was;
    return done;
}

#endif
