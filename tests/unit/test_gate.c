/* SPDX-License-Identifier: BSD-2-Clause */
/* test_gate.c: who gets in, and whom close waits for. */
#include "clock.h"
#include "cmocka_all.h"
#include "gate.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MINUTE_NS UINT64_C(60000000000)

/* Between the two looks of enter, where a close may fall: enter asks there which thread it is. */
static struct hpx_gate *close_in_enter;

pthread_t __real_pthread_self(void);
pthread_t __wrap_pthread_self(void);

pthread_t __wrap_pthread_self(void)
{
    if (close_in_enter) {
        hpx_gate_close(close_in_enter);
    }
    return __real_pthread_self();
}

/* What close asks of the kernel. */
static struct {
    struct hpx_gate_own *gate;
    bool refuse_expedited, refuse_global, was_open;
    long commands[4];
    size_t n;
} barrier;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    va_list args;
    long v[3];
    va_start(args, number);
    for (size_t i = 0; i < HPX_ARRAY_LEN(v); i++) {
        v[i] = va_arg(args, long);
    }
    va_end(args);
    if (number != SYS_membarrier) {
        return __real_syscall(number, v[0], v[1], v[2]);
    }
    barrier.was_open |= barrier.gate && hpx_gate_own_is_open(barrier.gate);
    barrier.commands[barrier.n++ % HPX_ARRAY_LEN(barrier.commands)] = (int)v[0];
    if ((int)v[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED ? barrier.refuse_expedited : barrier.refuse_global) {
        errno = EPERM;
        return -1;
    }
    return 0;
}

static pthread_t start(void *(*body)(void *arg), void *arg)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, body, arg), 0);
    return thread;
}

TEST(gate_closed_between_the_two_looks_of_enter_refuses)
{
    struct hpx_gate g = {0};
    hpx_gate_open(&g);
    close_in_enter = &g;
    bool in = hpx_gate_enter(&g);
    close_in_enter = NULL;
    assert_false(hpx_gate_is_open(&g));
    assert_false(in);
    hpx_gate_close_and_wait(&g); /* hangs if the refused one is still counted */
}

TEST(gate_is_waited_for_until_a_time)
{
    struct hpx_gate g = {0};
    hpx_gate_open(&g);
    assert_true(hpx_gate_enter(&g));
    hpx_gate_close(&g);
    assert_false(hpx_gate_wait(&g, hpx_clock_mono() + 1000000));
    assert_false(hpx_gate_waits());
    hpx_gate_leave(&g);
    assert_true(hpx_gate_wait(&g, 0));
}

static struct hpx_gate shared;

TEST(gate_in_the_child_of_a_fork_can_be_closed)
{
    struct hpx_gate g = {0};
    hpx_gate_open(&g);
    assert_true(hpx_gate_enter(&g));
    pid_t pid = fork();
    if (pid == 0) {
        hpx_gate_close(&g);
        _exit(hpx_gate_enter(&g) ? 1 : 42);
    }
    assert_true(pid > 0);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
    assert_true(hpx_gate_enter(&g));
    hpx_gate_leave(&g);
    hpx_gate_leave(&g);
    hpx_gate_close_and_wait(&g);
}

static int entered_in_handler; /* one thread's and its handler's */

static void enter_in_handler(int sig)
{
    (void)sig;
    if (hpx_gate_enter(&shared)) {
        entered_in_handler++;
        hpx_gate_leave(&shared);
    }
}

static void *signalled(void *arg)
{
    (void)arg;
    (void)raise(SIGUSR1);
    if (hpx_gate_enter(&shared)) {
        (void)raise(SIGUSR1);
        hpx_gate_leave(&shared);
    }
    hpx_gate_close(&shared);
    (void)raise(SIGUSR1);
    return NULL;
}

TEST(gate_lets_a_signal_handler_of_a_new_thread_in)
{
    struct sigaction old, action = {.sa_handler = enter_in_handler};
    assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
    hpx_gate_open(&shared);
    pthread_join(start(signalled, NULL), NULL);
    (void)sigaction(SIGUSR1, &old, NULL);
    assert_int_equal(entered_in_handler, 2);
    hpx_gate_close_and_wait(&shared);
}

#ifndef HPX_TSAN
enum { NOTHING, INSIDE, OUTSIDE, NO_SECCOMP };

/* Any system call but read, write and exit ends this thread, or the process: it allocates, registers and waits for nothing. */
static void *without_system_calls(void *reached)
{
    _Atomic int *r = reached;
    _Atomic int flag = 0;
    struct hpx_gate_own own = {true, false};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) {
        atomic_store(r, NO_SECCOMP);
        return NULL;
    }
    if (hpx_gate_enter(&shared) && hpx_gate_enter(&shared) && hpx_gate_own_enter(&own, &flag)) {
        atomic_store(r, INSIDE);
        hpx_gate_own_leave(&flag);
        hpx_gate_leave(&shared);
        hpx_gate_leave(&shared);
        hpx_gate_close(&shared);
        hpx_gate_own_close(&own);
        if (!hpx_gate_enter(&shared) && !hpx_gate_own_enter(&own, &flag)) {
            atomic_store(r, OUTSIDE);
        }
    }
    __real_syscall(SYS_exit, 0);
    return NULL;
}

TEST(gate_makes_no_system_call_on_a_new_thread)
{
    const char *preload = getenv("LD_PRELOAD");
    if (preload && strstr(preload, "vgpreload")) {
        skip(); /* valgrind's own calls are the process's */
    }
    hpx_gate_open(&shared);
    pid_t pid = fork();
    if (pid == 0) {
        static _Atomic int reached; /* seq_cst */
        pthread_t thread;
        uint64_t until = hpx_clock_mono() + 10 * UINT64_C(1000000000);
        if (pthread_create(&thread, NULL, without_system_calls, &reached) != 0) {
            _exit(1);
        }
        while (atomic_load(&reached) < OUTSIDE && hpx_clock_mono() < until) {
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        }
        _exit(40 + atomic_load(&reached));
    }
    int status = 0;
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    hpx_gate_close_and_wait(&shared);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 40 + NO_SECCOMP) {
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 40 + OUTSIDE);
}
#endif

static void expect_commands(size_t n, long first, long second)
{
    assert_int_equal(barrier.n, n);
    assert_int_equal(n > 0 ? barrier.commands[0] : first, first);
    assert_int_equal(n > 1 ? barrier.commands[1] : second, second);
    assert_false(barrier.was_open);
}

TEST(gate_own_close_takes_the_fast_barrier_if_it_is_given)
{
    struct hpx_gate_own g = {true, false};
    memset(&barrier, 0, sizeof barrier);
    barrier.gate = &g;
    hpx_gate_own_close_fenced(&g);
    expect_commands(1, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0);
    assert_false(hpx_gate_own_is_open(&g));
}

TEST(gate_own_prepare_registers_for_the_fast_barrier)
{
    memset(&barrier, 0, sizeof barrier);
    hpx_gate_own_prepare();
    expect_commands(1, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0);
}

TEST(gate_own_close_takes_the_barrier_that_needs_no_registration)
{
    struct hpx_gate_own g = {true, false};
    memset(&barrier, 0, sizeof barrier);
    barrier.gate = &g;
    barrier.refuse_expedited = true;
    hpx_gate_own_close_fenced(&g);
    expect_commands(2, MEMBARRIER_CMD_PRIVATE_EXPEDITED, MEMBARRIER_CMD_GLOBAL);
}

TEST(gate_own_closes_though_the_kernel_gives_no_barrier)
{
    struct hpx_gate_own g = {true, false};
    memset(&barrier, 0, sizeof barrier);
    barrier.gate = &g;
    barrier.refuse_expedited = barrier.refuse_global = true;
    hpx_gate_own_close_fenced(&g);
    expect_commands(2, MEMBARRIER_CMD_PRIVATE_EXPEDITED, MEMBARRIER_CMD_GLOBAL);
}

TEST(gate_own_takes_one_barrier_for_each_time_it_was_open)
{
    struct hpx_gate_own g = {false, false};
    memset(&barrier, 0, sizeof barrier);
    hpx_gate_own_open(&g);
    hpx_gate_own_close_fenced(&g);
    hpx_gate_own_close_fenced(&g);
    assert_int_equal(barrier.n, 1);
    hpx_gate_own_open(&g);
    hpx_gate_own_close(&g); /* without one */
    assert_int_equal(barrier.n, 1);
    hpx_gate_own_close_fenced(&g);
    assert_int_equal(barrier.n, 2);
}

static void *leave(void *flag)
{
    hpx_gate_own_leave(flag);
    return NULL;
}

TEST(gate_own_wait_ends_with_the_flag_or_with_its_time)
{
    _Atomic int flag = 0;
    assert_true(hpx_gate_own_wait(&flag, 0));
    atomic_store(&flag, 1);
    assert_false(hpx_gate_own_wait(&flag, hpx_clock_mono()));
    pthread_t thread = start(leave, &flag);
    bool left = hpx_gate_own_wait(&flag, hpx_clock_mono() + MINUTE_NS);
    pthread_join(thread, NULL);
    assert_true(left);
}

TESTS(NULL, NULL)
