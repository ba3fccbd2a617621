/* SPDX-License-Identifier: BSD-2-Clause */
/* test_cpuclock.c: the clock made of counter and rseq tells what the thread clock tells. Bounds are the clock's own (one span), never a
 * speed.
 *
 * Where the system has no such clock, what needs it is skipped. */
static void step(int n);
#define HPX_CPUCLOCK_STEP(n) step(n)

#include "clock.h"
#include "cmocka_all.h"
#include "cpuclock_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Thread_local struct hpx_cpuclock *handlers_clock; /* what the handler reads */
static _Thread_local uint64_t handlers_highest, handlers_errors, mains_last;
static _Thread_local int step_to_raise = -1;
static _Thread_local bool handler_sleeps, raise_in_kernel_call, sleep_after_kernel_call;
static _Thread_local bool handler_sets_pointer; /* as on a kernel that leaves it alone at signals; reads are exact then */
static _Thread_local unsigned handled;

uint64_t __real_hpx_clock_thread_cpu(void);
uint64_t __wrap_hpx_clock_thread_cpu(void);

static void on_signal(int sig)
{
    (void)sig;
    if (!handlers_clock) {
        return;
    }
    if (handler_sleeps) {
        (void)nanosleep(&(struct timespec){0, 200000}, NULL);
    }
    for (int i = 0; i < 2; i++) {
        uint64_t before = __real_hpx_clock_thread_cpu();
        if (handler_sets_pointer) {
            atomic_store(handlers_clock->word, HPX_CPUCLOCK_OURS);
        }
        uint64_t ns = hpx_cpuclock_now(handlers_clock);
        handlers_errors += handler_sets_pointer && (ns < before || ns > __real_hpx_clock_thread_cpu());
        handlers_errors += ns < handlers_highest || ns < mains_last;
        handlers_highest = ns;
    }
    handled++;
}

static void step(int n)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (n == step_to_raise) {
        step_to_raise = -1;
        (void)raise(SIGUSR1);
    }
}

/* The kernel's answer in a resync, with a signal behind it. */
uint64_t __wrap_hpx_clock_thread_cpu(void)
{
    uint64_t ns = __real_hpx_clock_thread_cpu();
    if (raise_in_kernel_call) {
        raise_in_kernel_call = false;
        (void)raise(SIGUSR1);
    }
    if (sleep_after_kernel_call) {
        (void)nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    return ns;
}

static void burn(uint64_t ns)
{
    for (uint64_t end = __real_hpx_clock_thread_cpu() + ns; __real_hpx_clock_thread_cpu() < end;) {
    }
}

/* Rounds of work of each kind; the number of reads beyond what the thread clock around them and one span allow. */
static uint64_t mixed_work(struct hpx_cpuclock *c, unsigned rounds)
{
    uint64_t errors = 0, last = 0;
    for (unsigned i = 0; i < rounds; i++) {
        switch (i % 4) {
        case 0:
            rest(300000);
            break;
        case 1:
            (void)sched_yield();
            break;
        case 2:
            burn(400000);
            break;
        default:
            for (int n = 0; n < 1000; n++) {
                uint64_t ns = hpx_cpuclock_now(c);
                errors += ns < last;
                last = ns;
            }
        }
        uint64_t ns = hpx_cpuclock_now(c);
        errors += ns < last || ns > __real_hpx_clock_thread_cpu() + AHEAD_NS;
        last = ns;
    }
    for (long start = switches(); switches() == start;) {
        rest(100000); /* the read behind it is a resync */
    }
    uint64_t before = __real_hpx_clock_thread_cpu(), ns = hpx_cpuclock_now(c);
    return errors + (ns < before) + (ns > __real_hpx_clock_thread_cpu() + AHEAD_NS);
}

TEST(cpuclock_asks_again_after_a_span, choose)
{
    need_fast();
    struct hpx_cpuclock c;
    hpx_cpuclock_enter(&c);
    (void)hpx_cpuclock_now(&c);
    uint64_t before = c.resyncs;
    atomic_store(&c.base_count, c.base_count - HPX_CPUCLOCK_SPAN);
    (void)hpx_cpuclock_now(&c);
    assert_true(c.resyncs > before);
    hpx_cpuclock_leave(&c);
}

TEST(cpuclock_stands_still_until_the_thread_clock_caught_up, choose)
{
    need_fast();
    struct hpx_cpuclock c;
    hpx_cpuclock_enter(&c);
    uint64_t resyncs, ahead;
    do { /* again, if the read itself found no short way */
        (void)hpx_cpuclock_resync(&c);
        resyncs = c.resyncs;
        atomic_store(&c.base_ns, c.base_ns + 1000000000000u);
        ahead = hpx_cpuclock_now(&c);
    } while (c.resyncs != resyncs);
    assert_int_equal(hpx_cpuclock_resync(&c), ahead);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(hpx_cpuclock_now(&c), ahead);
    }
    assert_true(c.base_ns < ahead);
    hpx_cpuclock_leave(&c);
}

struct worker {
    int cpu;
    pthread_barrier_t *both;
    uint64_t errors, missed, seen;
};

TEST(cpuclock_takes_a_foreign_pointer_for_a_cleared_one, choose)
{
    need_fast();
    static struct hpx_cpuclock_section foreign;
    foreign = hpx_cpuclock_section; /* the kernel checks it: one that is valid */
    struct hpx_cpuclock c;
    hpx_cpuclock_enter(&c);
    for (int i = 0; i < 2; i++) {
        (void)hpx_cpuclock_now(&c);
        uint64_t resyncs = c.resyncs, before = __real_hpx_clock_thread_cpu();
        atomic_store(c.word, i ? (uint64_t)(uintptr_t)&foreign : 0);
        assert_true(hpx_cpuclock_now(&c) >= before);
        assert_true(c.resyncs > resyncs);
    }
    _Atomic uint64_t *word = c.word;
    atomic_store(word, (uint64_t)(uintptr_t)&foreign);
    hpx_cpuclock_leave(&c);
    assert_int_not_equal(atomic_load(word), HPX_CPUCLOCK_OURS);
    atomic_store(word, 0);
}

TEST(cpuclock_leave_takes_the_pointer_back, choose)
{
    need_fast();
    struct hpx_cpuclock c;
    hpx_cpuclock_enter(&c);
    _Atomic uint64_t *word = c.word;
    atomic_store(word, HPX_CPUCLOCK_OURS);
    hpx_cpuclock_leave(&c);
    assert_int_equal(atomic_load(word), 0);
    atomic_store(word, HPX_CPUCLOCK_OURS); /* left by a thread that ended, or by the parent */
    hpx_cpuclock_enter(&c);
    assert_int_equal(atomic_load(word), 0);
    hpx_cpuclock_leave(&c);
}

TEST(cpuclock_read_asks_again_if_a_handler_did_between_its_steps, choose)
{
    need_fast();
    struct hpx_cpuclock c;
    hpx_cpuclock_enter(&c);
    handlers_clock = &c;
    handler_sleeps = true;
    handlers_errors = 0;
    for (int n = 0; n <= 5; n++) {
        uint64_t resyncs, in_handler, before, ns;
        do { /* again, if the read itself found no short way */
            handled = 0;
            step_to_raise = -1;
            mains_last = hpx_cpuclock_now(&c);
            handlers_highest = 0;
            burn(100000);
            before = __real_hpx_clock_thread_cpu();
            resyncs = c.resyncs;
            step_to_raise = n;
            ns = hpx_cpuclock_now(&c);
            in_handler = handled;
        } while (!in_handler);
        assert_int_equal(handlers_errors, 0);
        assert_true(ns <= __real_hpx_clock_thread_cpu() + AHEAD_NS);
        assert_true(ns >= mains_last);
        if (n < 5) {
            assert_true(ns >= before);
            assert_true(ns >= handlers_highest);
            assert_true(c.resyncs - resyncs >= 2); /* the handler's and its own */
        }
        assert_true(hpx_cpuclock_now(&c) >= handlers_highest);
    }
    handlers_clock = NULL;
    handler_sleeps = false;
    hpx_cpuclock_leave(&c);
}

TEST(cpuclock_handler_inside_a_resync_leaves_it_alone, choose)
{
    struct hpx_cpuclock c;
    hpx_cpuclock_enter(&c);
    handlers_clock = &c;
    handlers_errors = handled = 0;
    handlers_highest = mains_last = 0;
    for (int i = 0; i < 100; i++) {
        handlers_highest = 0;
        mains_last = hpx_cpuclock_now(&c);
        uint64_t resyncs = c.resyncs;
        raise_in_kernel_call = true;
        (void)hpx_cpuclock_resync(&c);
        assert_int_equal(c.resyncs, resyncs + 1);
        assert_false(atomic_load(&c.busy));
        assert_true(hpx_cpuclock_now(&c) >= handlers_highest);
    }
    assert_int_equal(handled, 100);
    assert_int_equal(handlers_errors, 0);
    handlers_clock = NULL;
    hpx_cpuclock_leave(&c);
}

TEST(cpuclock_handler_inside_a_resync_takes_no_old_base, choose)
{
    need_fast();
    struct hpx_cpuclock c;
    hpx_cpuclock_enter(&c);
    handlers_clock = &c;
    handlers_errors = handled = 0;
    handler_sleeps = handler_sets_pointer = true;
    for (unsigned i = 0; i < 50; i++) {
        handlers_highest = mains_last = 0;
        atomic_store(&c.last, 0); /* what it ran ahead before is not what is looked at */
        (void)hpx_cpuclock_now(&c);
        raise_in_kernel_call = true;
        (void)hpx_cpuclock_resync(&c);
    }
    handler_sleeps = handler_sets_pointer = false;
    handlers_clock = NULL;
    assert_int_equal(handled, 50);
    assert_int_equal(handlers_errors, 0);
    hpx_cpuclock_leave(&c);
}

TEST(cpuclock_sees_a_switch_inside_a_resync, choose)
{
    need_fast();
    struct hpx_cpuclock c;
    hpx_cpuclock_enter(&c);
    for (int i = 0; i < 20; i++) {
        long before = switches();
        sleep_after_kernel_call = true;
        (void)hpx_cpuclock_resync(&c);
        sleep_after_kernel_call = false;
        uint64_t resyncs = c.resyncs;
        bool switched = switches() != before;
        (void)hpx_cpuclock_now(&c);
        assert_true(!switched || c.resyncs > resyncs);
    }
    hpx_cpuclock_leave(&c);
}

struct shooter {
    pthread_t target;
    atomic_bool stop; /* relaxed: joined after */
};

TEST(cpuclock_begins_anew_in_a_child, choose)
{
    struct hpx_cpuclock c;
    hpx_cpuclock_enter(&c);
    burn(20000000);
    (void)hpx_cpuclock_now(&c);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        hpx_cpuclock_enter(&c);
        uint64_t before = __real_hpx_clock_thread_cpu(), ns = hpx_cpuclock_now(&c);
        bool right = ns >= before && ns <= __real_hpx_clock_thread_cpu() && mixed_work(&c, 20) == 0;
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    hpx_cpuclock_leave(&c);
}

int main(void)
{
    (void)sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART}, NULL);
    return run_the_tests(NULL, NULL);
}
