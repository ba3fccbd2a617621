/* SPDX-License-Identifier: BSD-2-Clause */
/* test_clocks.c: perf events of a thread's clock, from their start to their end. The kernel's part of the event is made up. */
#include "clocks.h"
#include "cmocka_all.h"
#include "counters.h"
#include "session.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct hpx_counters counters;
static struct hpx_thread_clock t;

static struct {
    int fd;                                  /* the event's; -1: none */
    unsigned set, refreshed, strays, closed; /* strays: calls with its number after it was closed */
    unsigned signals, unknown;               /* unknown: signals that found no clock */
    bool raise, fail, stop;                  /* REFRESH raises the signal; the last fcntl fails; somebody stops the clock meanwhile */
} event;

static void meddle(void)
{
    if (event.stop) {
        hpx_clocks_stop(&t); /* as the aggregator does on its own thread */
    }
}

long __real_syscall(long number, long a, long b, long c, long d, long e);
long __wrap_syscall(long number, long a, long b, long c, long d, long e);
long __wrap_syscall(long number, long a, long b, long c, long d, long e)
{
    if (number == SYS_perf_event_open) {
        event.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        return event.fd;
    }
    return __real_syscall(number, a, b, c, d, e);
}

int __wrap_fcntl(int fd, int command, long arg);
int __wrap_fcntl(int fd, int command, long arg)
{
    (void)arg;
    event.strays += fd != event.fd;
    event.set++;
    meddle();
    errno = EINVAL;
    return event.fail && command == F_SETOWN_EX ? -1 : 0;
}

int __wrap_ioctl(int fd, unsigned long request, long arg);
int __wrap_ioctl(int fd, unsigned long request, long arg)
{
    (void)arg;
    event.strays += fd != event.fd;
    if (request == PERF_EVENT_IOC_REFRESH) {
        event.refreshed++;
        meddle();
        if (event.raise) {
            event.raise = false;
            raise(hpx_session.opt->signal);
        }
    }
    return 0;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    if (fd == event.fd) {
        event.fd = -1;
        event.closed++;
    }
    return __real_close(fd);
}

static void on_signal(int sig, siginfo_t *si, void *context)
{
    (void)sig, (void)context;
    event.signals++;
    event.unknown += atomic_load_explicit(&t.clock, memory_order_relaxed) != HPX_CLOCK_PERF;
    (void)hpx_clocks_weight_sig(&t, si);
    hpx_clocks_go_on_sig(&t);
}

static int setup(void **state)
{
    (void)state;
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = on_signal;
    sa.sa_flags = SA_SIGINFO;
    memset(&event, 0, sizeof event);
    memset(&t, 0, sizeof t);
    event.fd = -1;
    t.perf_fd = -1;
    t.tid = gettid();
    t.counters = &counters;
    static const struct hpx_options options = {.signal = SIGPROF, .interval_ns = 100000}; /* below a tick: by an event */
    hpx_session.opt = &options;
    hpx_clocks_init();
    return sigaction(SIGPROF, &sa, NULL);
}

static int kind(void)
{
    return atomic_load_explicit(&t.clock, memory_order_relaxed);
}

static bool blocked(void)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, SIGPROF) == 1;
}

TEST(an_event_that_another_thread_stops_is_complete_or_not_known, setup)
{
    event.stop = true;
    assert_int_equal(hpx_clocks_start(&t), 0);
    hpx_clocks_stop(&t);
    assert_int_equal(event.strays, 0);
    assert_int_equal(event.set, 3);
    assert_int_equal(event.closed, 1);
    assert_int_equal(kind(), HPX_CLOCK_NONE);
}

TEST(the_first_signal_finds_the_clock, setup)
{
    event.raise = true;
    assert_int_equal(hpx_clocks_start(&t), 0);
    assert_int_equal(event.signals, 1);
    assert_int_equal(event.unknown, 0);
    assert_int_equal(event.refreshed, 2); /* it has allowed the next one */
    assert_false(blocked());
    hpx_clocks_stop(&t);
}

TEST(an_event_that_cannot_be_set_up_is_closed_and_a_timer_runs, setup)
{
    event.fail = true;
    assert_int_equal(hpx_clocks_start(&t), 0);
    assert_int_equal(kind(), HPX_CLOCK_TIMER);
    assert_int_equal(event.closed, 1);
    assert_int_equal(event.strays, 0);
    assert_int_equal(hpx_clocks_due(&t), 0);
    assert_false(blocked());
    hpx_clocks_stop(&t);
}

TESTS(NULL, NULL)
