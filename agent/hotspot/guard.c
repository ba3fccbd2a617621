/* SPDX-License-Identifier: BSD-2-Clause */
/* guard.c: the fault handlers of guard.h. */
#include "guard.h"
#include "processor.h"
#include "sigmask.h"
#include "vm_flags.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <ucontext.h>

/* State of the calling thread. Only the thread and its signal handlers use it. */
static __thread struct {
    _Atomic(sigjmp_buf *) back; /* relaxed: where to continue after a fault; NULL: no body runs */
    bool reading;               /* the body only reads */
} own;

const char *hpx_guard_forbidden(void)
{
    return hpx_vm_flag("CheckJNICalls", false) ? "-Xcheck:jni reports handlers of faults" : NULL;
}

static const int signals[] = {SIGSEGV, SIGBUS};

static struct {
    struct sigaction before[HPX_ARRAY_LEN(signals)]; /* the VM's; constant once `on` was seen */
    bool on[HPX_ARRAY_LEN(signals)];
    uint32_t users; /* installs without a remove; of the threads of VMInit and VMDeath */
} guard;

/* Start and end of the library's code, as the linker names them. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/* A jump through a bad pointer faults at a pc that cannot be read. */
static bool pc_readable(uintptr_t pc, uintptr_t address)
{
    return pc != address && pc >= 4096 && pc < (UINT64_C(1) << HPX_ADDRESS_BITS);
}

static bool ours(const siginfo_t *si, const ucontext_t *u)
{
    if (atomic_load_explicit(&own.back, memory_order_relaxed) == NULL || si->si_code <= 0) {
        return false; /* no body, or a signal sent by kill or raise */
    }
    uintptr_t pc = hpx_registers_pc(u);
    if (own.reading) {
        /* a handler of the program may interrupt the body, and handles its faults; code of hprofx may look like SafeFetch */
        return pc >= (uintptr_t)__ehdr_start && pc < (uintptr_t)etext;
    }
    return !(pc_readable(pc, (uintptr_t)si->si_addr) && hpx_is_safefetch((const uint8_t *)pc));
}

static void pass_to_vm(int i, siginfo_t *si, void *context)
{
    const struct sigaction *vm = &guard.before[i];
    if (vm->sa_flags & SA_SIGINFO) {
        vm->sa_sigaction(signals[i], si, context);
    } else {
        vm->sa_handler(signals[i]);
    }
}

static void on_fault(int sig, siginfo_t *si, void *context)
{
    const ucontext_t *u = context;
    if (!ours(si, u)) {
        pass_to_vm(sig == signals[0] ? 0 : 1, si, context);
        return;
    }
    sigjmp_buf *back = atomic_load_explicit(&own.back, memory_order_relaxed);
    atomic_store_explicit(&own.back, NULL, memory_order_relaxed);
    pthread_sigmask(SIG_SETMASK, &u->uc_sigmask, NULL); /* the kernel set the VM's mask, which is full, for this handler */
    siglongjmp(*back, 1);
}

bool hpx_guard_install(void)
{
    bool all = HPX_PROCESSOR_KNOWN && hpx_guard_forbidden() == NULL;
    guard.users++;
    if (!all) {
        return false;
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(signals); i++) {
        struct sigaction sa;
        if (guard.on[i]) {
            continue; /* since an earlier session: another handler was installed over this one, and calls it */
        }
        if (sigaction(signals[i], NULL, &guard.before[i]) != 0 || guard.before[i].sa_handler == SIG_DFL ||
            guard.before[i].sa_handler == SIG_IGN) {
            all = false;
            continue;
        }
        sa = guard.before[i];
        sa.sa_sigaction = on_fault;
        sa.sa_flags |= SA_SIGINFO;
        guard.on[i] = sigaction(signals[i], &sa, NULL) == 0;
        all = all && guard.on[i];
    }
    return all;
}

void hpx_guard_remove(void)
{
    if (guard.users == 0 || --guard.users > 0) {
        return;
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(signals); i++) {
        struct sigaction now;
        if (guard.on[i] && sigaction(signals[i], NULL, &now) == 0 && now.sa_sigaction == on_fault) {
            guard.on[i] = sigaction(signals[i], &guard.before[i], NULL) != 0;
        }
    }
}

static bool run(int (*body)(void *arg), void *arg, int *answer, bool reads)
{
    sigjmp_buf back; /* without the signal mask, which would cost a system call per sample */
    sigjmp_buf *const outer = atomic_load_explicit(&own.back, memory_order_relaxed); /* of a body that our signal handler interrupts */
    const bool outer_reads = own.reading;
    own.reading = reads;
    if (sigsetjmp(back, 0) != 0) {
        own.reading = outer_reads;
        atomic_store_explicit(&own.back, outer, memory_order_relaxed);
        return false;
    }
    atomic_store_explicit(&own.back, &back, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    *answer = body(arg);
    atomic_signal_fence(memory_order_seq_cst);
    own.reading = outer_reads;
    atomic_store_explicit(&own.back, outer, memory_order_relaxed);
    return true;
}

bool hpx_guard_run_sig(int (*body)(void *arg), void *arg, int *answer)
{
    return run(body, arg, answer, false);
}

bool hpx_guard_read_sig(int (*body)(void *arg), void *arg, int *answer)
{
    return run(body, arg, answer, true);
}

bool hpx_guard_read(int (*body)(void *arg), void *arg)
{
    sigset_t all, was;
    int unused;
    hpx_sigmask_ours(&all);
    pthread_sigmask(SIG_BLOCK, &all, &was);
    bool passed = run(body, arg, &unused, true);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return passed;
}
