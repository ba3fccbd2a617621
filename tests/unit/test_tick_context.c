/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tick_context.c: signals of several handlers that come together. The kernel makes the frame of the lowest first, so the handler of
 * the highest interrupts the first instruction of the others. */
#include "clocks.h"
#include "cmocka_all.h"
#include "counters.h"
#include "processor.h"
#include "tick_context.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>

#define OURS (SIGRTMIN + 5)

uint32_t hpx_clocks_running(void) /* of handler.c */
{
    return 0;
}

static struct hpx_mode_thread self;
static void *given[65], *found; /* the context of each handler; that which ours has found */

static void other(int sig, siginfo_t *info, void *context)
{
    (void)info;
    given[sig] = context;
}

static void ours(int sig, siginfo_t *info, void *context)
{
    other(sig, info, context);
    found = hpx_tick_context_sig(&self, context);
}

static void install(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = handler;
    sa.sa_flags = SA_SIGINFO | flags;
    assert_int_equal(sigaction(sig, &sa, NULL), 0);
}

/* Sends the signals to this thread, which takes them all at once. */
static void take(const int *signals, int n)
{
    sigset_t all, was;
    sigfillset(&all);
    memset(given, 0, sizeof given);
    found = NULL;
    pthread_sigmask(SIG_SETMASK, &all, &was);
    for (int i = 0; i < n; i++) {
        assert_int_equal(pthread_kill(pthread_self(), signals[i]), 0);
    }
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    assert_non_null(given[OURS]);
}

static uint64_t counted(void)
{
    return hpx_counter_get(&self.base.counters, HPX_C_SIGNALS_NESTED);
}

static int set_up(void **state)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    (void)state;
    memset(&self, 0, sizeof self);
    assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
    assert_int_equal(pthread_attr_getstack(&attr, &low, &size), 0);
    (void)pthread_attr_destroy(&attr);
    self.stack_low = (uintptr_t)low;
    self.stack_end = self.stack_low + size;
    install(SIGUSR1, other, 0);
    install(SIGUSR2, other, 0);
    install(SIGSTKFLT, other, 0);
    install(SIGURG, other, 0);
    install(OURS, ours, 0);
    return 0;
}

TEST(a_signal_of_its_own_has_its_context)
{
    const int sent[] = {OURS};
    take(sent, 1);
    assert_ptr_equal(found, given[OURS]);
    assert_int_equal(counted(), 0);
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST(on_top_of_another_handler_the_context_is_that_of_the_program)
{
    const int sent[] = {SIGUSR1, OURS};
    uint64_t before = counted();
    take(sent, 2);
    assert_ptr_equal(found, given[SIGUSR1]);
    assert_ptr_not_equal(found, given[OURS]);
    assert_int_equal(counted(), before + 1);
}

TEST(three_handlers_below_are_passed_and_no_more)
{
    const int three[] = {SIGUSR1, SIGUSR2, SIGSTKFLT, OURS}, four[] = {SIGUSR1, SIGUSR2, SIGSTKFLT, SIGURG, OURS};
    take(three, 4);
    assert_ptr_equal(found, given[SIGUSR1]);
    take(four, 5); /* in the order of their numbers: 10, 12, 16, 23 */
    assert_ptr_equal(found, given[SIGUSR2]);
}

TEST(a_handler_with_a_stack_of_its_own_is_passed)
{
    static char stack[64 << 10];
    const int sent[] = {SIGUSR1, OURS};
    const stack_t on = {.ss_sp = stack, .ss_size = sizeof stack}, off = {.ss_flags = SS_DISABLE};
    install(SIGUSR1, other, SA_ONSTACK);
    assert_int_equal(sigaltstack(&on, NULL), 0);
    take(sent, 2);
    assert_int_equal(sigaltstack(&off, NULL), 0);
    assert_in_range((uintptr_t)given[SIGUSR1], (uintptr_t)stack, (uintptr_t)stack + sizeof stack);
    assert_ptr_equal(found, given[SIGUSR1]);
}

TEST(outside_of_the_stacks_nothing_is_read)
{
    const int sent[] = {SIGUSR1, OURS};
    self.stack_end = self.stack_low;
    take(sent, 2);
    assert_ptr_equal(found, given[OURS]);
}

TEST(registers_that_look_so_elsewhere_are_no_handler)
{
    const int sent[] = {SIGUSR1, OURS};
    take(sent, 2);
    ucontext_t copy = *(ucontext_t *)given[OURS];
    int sig = 0;
#ifdef __x86_64__
    copy.uc_mcontext.gregs[REG_RIP]++;
#else
    copy.uc_mcontext.pc++;
#endif
    assert_ptr_equal(hpx_tick_context_sig(&self, &copy), &copy);
    assert_int_equal(hpx_registers_handler_begins(given[OURS], &sig) != NULL, 1);
    assert_int_equal(sig, SIGUSR1);
}
#endif

TESTS(set_up, NULL)
