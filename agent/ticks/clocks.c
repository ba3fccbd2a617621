/* SPDX-License-Identifier: BSD-2-Clause */
/* clocks.c: POSIX timers on a thread's CPU clock, and perf events below a tick. */
#include "clocks.h"
#include "clock.h"
#include "counters.h"
#include "hash.h"
#include "session.h"
#include "trial.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_LOOKS  8u       /* one light signal in this number looks at the time in the kernel, so that a heavy one knows what is new */
#define PERF_FDS      65536u   /* descriptors that can be remembered; events above are not used */
#define TICK_GUESS_NS 4000000u /* HZ=250 */
/* Part of a signal's weight is a stall: CPU time that went by while the thread's clock could not signal, because a hypervisor took the CPU
 * away for seconds, or the thread blocked the signal. One stack must not get all of it. A long system call does the same; that is work. */
#define STALL_INTERVALS 20u /* most that a stack gets */
#define STALL_TICKS     5u  /* but no fewer than these scheduler ticks: with an interval below a tick every signal stands for some */

static HPX_OF_SESSION struct {
    uint64_t tick_ns, stall_limit;            /* constant after init */
    _Atomic uint64_t perf_fds[PERF_FDS / 64]; /* relaxed: open events, for the child of a fork */
    _Atomic uint32_t perf_open, perf_most;    /* relaxed: our share of the program's descriptors */
    atomic_bool perf;                         /* relaxed: a hint that turns off for good when the system refuses */
} clocks;
/* Timers and events that exist. release: a deletion; acquire: hpx_clocks_running() */
static _Atomic uint32_t running;
static atomic_bool perf_used; /* relaxed: never false again, because signals of closed events may still come */

bool hpx_clocks_own_sig(const siginfo_t *si)
{
    if (si->si_code == SI_TIMER) {
        return si->si_value.sival_ptr == (void *)&clocks;
    }
    /* also of an event that was closed meanwhile: only hprofx makes descriptors send this signal */
    return si->si_code >= POLL_IN && si->si_code <= POLL_HUP && atomic_load_explicit(&perf_used, memory_order_relaxed);
}

/* Intervals of CPU time that went by without a sample. */
static uint64_t take_due(struct hpx_thread_clock *t)
{
    return hpx_phase_take(&t->phase, hpx_clock_thread_cpu(), hpx_session.opt->interval_ns);
}

uint64_t hpx_clocks_weight_sig(struct hpx_thread_clock *t, const siginfo_t *si)
{
    uint64_t interval = hpx_session.opt->interval_ns;
    int clock = atomic_load_explicit(&t->clock, memory_order_relaxed);
    if (clock == HPX_CLOCK_NONE) {
        return 0; /* on its way when the clock was stopped */
    }
    if (clock == HPX_CLOCK_PERF) {
        if (!t->first_done) {
            t->first_done = true;
            ioctl(t->perf_fd, PERF_EVENT_IOC_PERIOD, &interval); /* the first one has its own: hpx_phase_period() */
        }
        /* the event stops between its overflow and our re-arming, and in the kernel: the clock tells how many intervals went by */
        return take_due(t);
    }
    uint64_t weight = 1 + (si->si_overrun > 0 ? (uint64_t)si->si_overrun : 0);
    if (!t->first_done) {
        t->first_done = true;
        /* The first tick of a thread comes, on average, after half a tick; in a run of many short threads each tick must stand for a whole
         * one. */
        uint64_t now = hpx_clock_thread_cpu();
        if (interval < clocks.tick_ns && now < clocks.tick_ns) {
            weight += (clocks.tick_ns - now + t->phase.origin) / interval;
        }
    }
    hpx_count(t->counters, HPX_C_OVERRUNS, weight - 1);
    return weight;
}

/* The thread's time in the kernel since the last call, in intervals. */
static uint64_t kernel_intervals_sig(struct hpx_thread_clock *t)
{
    struct rusage use;
    if (getrusage(RUSAGE_THREAD, &use) != 0) {
        return 0;
    }
    uint64_t ns = (uint64_t)use.ru_stime.tv_sec * 1000000000u + (uint64_t)use.ru_stime.tv_usec * 1000u, before = t->kernel_ns;
    t->kernel_ns = ns;
    return (ns - before) / hpx_session.opt->interval_ns + 1;
}

/* If time in the kernel explains half of what is beyond the limit, a system call or a page fault took it. */
uint64_t hpx_clocks_stalled_sig(struct hpx_thread_clock *t, uint64_t weight)
{
    uint64_t beyond = weight > clocks.stall_limit ? weight - clocks.stall_limit : 0, kernel = 0;
    if (beyond > 0 || ++t->light % KERNEL_LOOKS == 0) {
        kernel = kernel_intervals_sig(t);
    }
    return beyond / 2 < kernel ? 0 : beyond;
}

uint64_t hpx_clocks_stall_ns(uint64_t stalled)
{
    return stalled > 0 ? (stalled + clocks.stall_limit) * hpx_session.opt->interval_ns : 0;
}

/* Uniform in [0, n): no state shared between threads, no quality needed beyond "different for each thread". */
static uint64_t draw(const struct hpx_thread_clock *t, uint64_t n)
{
    struct {
        uint64_t address, mono;
        pid_t tid;
        uint32_t zero;
    } seed = {(uint64_t)(uintptr_t)t, hpx_clock_mono(), t->tid, 0};
    return hpx_hash128(&seed, sizeof seed).hi % n;
}

static void describe(struct sigevent *ev, pid_t tid)
{
    memset(ev, 0, sizeof *ev);
    ev->sigev_notify = SIGEV_THREAD_ID;
    ev->sigev_signo = hpx_session.opt->signal;
    ev->sigev_value.sival_ptr = &clocks;
    ev->_sigev_un._tid = tid;
}

static void count_clock(void)
{
    atomic_fetch_add_explicit(&running, 1, memory_order_relaxed);
}

static void uncount_clock(void)
{
    atomic_fetch_sub_explicit(&running, 1, memory_order_release); /* partner: hpx_clocks_running() */
}

uint32_t hpx_clocks_running(void)
{
    return atomic_load_explicit(&running, memory_order_acquire); /* partner: uncount_clock() */
}

static bool arm_timer(struct hpx_thread_clock *t)
{
    struct sigevent ev;
    describe(&ev, t->tid);
    if (!hpx_trial_passes(HPX_TRIAL_TIMER_CREATE)) {
        return false;
    }
    count_clock();
    if (timer_create(hpx_clock_of_tid(t->tid), &ev, &t->timer) != 0) {
        uncount_clock();
        return false;
    }
    uint64_t interval = hpx_session.opt->interval_ns, phase = draw(t, interval);
    /* Expiries are seen at the next tick, half a tick late on average. Rounding the first one down to a tick makes up for it, so that
     * threads shorter than an interval are counted right on the whole. Below a tick the first signal's weight makes up for it
     * (hpx_clocks_weight_sig).
     */
    uint64_t now = hpx_clock_tid_cpu(t->tid), drawn = interval < clocks.tick_ns ? phase : phase / clocks.tick_ns * clocks.tick_ns;
    uint64_t at = hpx_phase_begin(now, drawn).origin, first = at > now ? at - now : 1;
    t->phase.origin = phase;
    t->began = now;
    struct itimerspec spec = {{(time_t)(interval / 1000000000u), (long)(interval % 1000000000u)},
                              {(time_t)(first / 1000000000u), (long)(first % 1000000000u)}};
    atomic_store_explicit(&t->clock, HPX_CLOCK_TIMER, memory_order_release); /* before the first signal; partner: hpx_clocks_detach() */
    if (timer_settime(t->timer, 0, &spec, NULL) != 0) {
        int why = errno;
        hpx_clocks_stop(t);
        errno = why;
        return false;
    }
    return true;
}

static int open_perf(pid_t tid, uint64_t period)
{
    struct perf_event_attr a;
    memset(&a, 0, sizeof a);
    a.size = sizeof a;
    a.type = PERF_TYPE_SOFTWARE;
    a.config = PERF_COUNT_SW_CPU_CLOCK;
    a.sample_period = period;
    a.disabled = 1;
    a.wakeup_events = 1;
    a.exclude_hv = 1;
    /* A signal that is raised while the thread is on its way to sleep in the kernel would end its poll or nanosleep with EINTR. The time in
     * the kernel is in the weight of the next sample. */
    a.exclude_kernel = 1;
    return (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void remember_fd(int fd, bool open)
{
    uint64_t bit = (uint64_t)1 << (fd % 64);
    if (open) {
        atomic_fetch_or_explicit(&clocks.perf_fds[fd / 64], bit, memory_order_relaxed);
        atomic_fetch_add_explicit(&clocks.perf_open, 1, memory_order_relaxed);
    } else {
        atomic_fetch_and_explicit(&clocks.perf_fds[fd / 64], ~bit, memory_order_relaxed);
        atomic_fetch_sub_explicit(&clocks.perf_open, 1, memory_order_relaxed);
    }
}

static void close_event(int fd)
{
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    remember_fd(fd, false);
    close(fd);
    uncount_clock();
}

/* The clock is HPX_CLOCK_NONE already. */
static void close_perf(struct hpx_thread_clock *t)
{
    int fd = t->perf_fd;
    t->perf_fd = -1;
    atomic_signal_fence(memory_order_seq_cst); /* a handler that comes now on this thread must not touch the descriptor */
    close_event(fd);
}

/* Starts the event, and publishes it last: from then on another thread may close the descriptor, and the program may get its number. The
 * signal is blocked meanwhile, because the first one needs the clock. */
static bool run_perf(struct hpx_thread_clock *t, int fd, const struct hpx_phase *phase)
{
    struct f_owner_ex owner = {F_OWNER_TID, t->tid};
    sigset_t ours, was;
    sigemptyset(&ours);
    sigaddset(&ours, hpx_session.opt->signal);
    pthread_sigmask(SIG_BLOCK, &ours, &was);
    bool runs = fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0 && fcntl(fd, F_SETSIG, hpx_session.opt->signal) == 0 &&
                fcntl(fd, F_SETOWN_EX, &owner) == 0 && ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) == 0;
    if (runs) {
        t->perf_fd = fd;
        t->phase = *phase;
        t->settle = true;
        atomic_store_explicit(&t->clock, HPX_CLOCK_PERF, memory_order_release); /* partner: hpx_clocks_detach() */
    }
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return runs;
}

/* The calling thread's. */
static bool arm_perf(struct hpx_thread_clock *t)
{
    if (atomic_load_explicit(&clocks.perf_open, memory_order_relaxed) >= atomic_load_explicit(&clocks.perf_most, memory_order_relaxed)) {
        return false; /* the program's descriptors are its own */
    }
    uint64_t interval = hpx_session.opt->interval_ns, now = hpx_clock_tid_cpu(t->tid);
    struct hpx_phase phase = hpx_phase_begin(now, 1 + draw(t, interval));
    t->began = now;
    int fd = open_perf(t->tid, hpx_phase_period(&phase, now, interval));
    if (fd < 0) {
        if (errno != EMFILE && errno != ENFILE && errno != ESRCH && errno != ENOMEM) {
            atomic_store_explicit(&clocks.perf, false, memory_order_relaxed); /* not permitted here: ask no more */
        }
        return false;
    }
    if (fd >= (int)PERF_FDS) {
        close(fd);
        return false;
    }
    remember_fd(fd, true);
    count_clock();
    atomic_store_explicit(&perf_used, true, memory_order_relaxed);
    bool runs = run_perf(t, fd, &phase);
    if (!runs) {
        close_event(fd);
    }
    return runs;
}

int hpx_clocks_try(void)
{
    struct sigevent ev;
    timer_t timer;
    describe(&ev, gettid());
    if (!hpx_trial_passes(HPX_TRIAL_TIMER_CREATE) || timer_create(CLOCK_THREAD_CPUTIME_ID, &ev, &timer) != 0) {
        return errno;
    }
    timer_delete(timer);
    return 0;
}

int hpx_clocks_start(struct hpx_thread_clock *t)
{
    /* an adopted thread keeps to the timer: its event could come before its handler knows it */
    if (!t->adopted && atomic_load_explicit(&clocks.perf, memory_order_relaxed) && arm_perf(t)) {
        return 0;
    }
    return arm_timer(t) ? 0 : errno;
}

void hpx_clocks_stop(struct hpx_thread_clock *t)
{
    hpx_clocks_close(t, hpx_clocks_detach(t));
}

int hpx_clocks_detach(struct hpx_thread_clock *t)
{
    /* partner: hpx_clocks_start(); seq_cst: a handler that is not seen inside sees this */
    return atomic_exchange_explicit(&t->clock, HPX_CLOCK_NONE, memory_order_seq_cst);
}

void hpx_clocks_close(struct hpx_thread_clock *t, int clock)
{
    if (clock == HPX_CLOCK_TIMER) {
        timer_delete(t->timer);
        uncount_clock();
    } else if (clock == HPX_CLOCK_PERF) {
        close_perf(t);
    }
}

bool hpx_clocks_overdue(const struct hpx_thread_clock *t)
{
    bool runs = atomic_load_explicit(&t->clock, memory_order_acquire) == HPX_CLOCK_TIMER; /* partner: arm_timer() */
    uint64_t now = runs ? hpx_clock_tid_cpu(t->tid) : 0, due = t->began + 2 * (hpx_session.opt->interval_ns + clocks.tick_ns);
    return now > due; /* 0: the thread has ended */
}

uint64_t hpx_clocks_due(struct hpx_thread_clock *t)
{
    return t->settle ? take_due(t) : 0;
}

uint64_t hpx_clocks_before_start(const struct hpx_thread_clock *t, uint64_t weight)
{
    return t->settle ? hpx_phase_before(&t->phase, weight, t->began, hpx_session.opt->interval_ns) : 0;
}

void hpx_clocks_poll(struct hpx_thread_clock *t)
{
    t->phase = hpx_phase_begin(hpx_clock_tid_cpu(t->tid), 1 + draw(t, hpx_session.opt->interval_ns));
}

uint64_t hpx_clocks_poll_left(const struct hpx_thread_clock *t)
{
    return hpx_phase_left(&t->phase, hpx_clock_tid_cpu(t->tid), hpx_session.opt->interval_ns);
}

uint64_t hpx_clocks_poll_take(struct hpx_thread_clock *t)
{
    return hpx_phase_take(&t->phase, hpx_clock_tid_cpu(t->tid), hpx_session.opt->interval_ns);
}

void hpx_clocks_go_on_sig(struct hpx_thread_clock *t)
{
    if (atomic_load_explicit(&t->clock, memory_order_relaxed) == HPX_CLOCK_PERF) {
        ioctl(t->perf_fd, PERF_EVENT_IOC_REFRESH, 1);
    }
}

void hpx_clocks_forget(void)
{
    for (unsigned i = 0; i < PERF_FDS / 64; i++) {
        uint64_t bits = atomic_exchange_explicit(&clocks.perf_fds[i], 0, memory_order_relaxed); /* a child of the child closes none again */
        for (; bits != 0; bits &= bits - 1) {
            close((int)(i * 64) + __builtin_ctzll(bits));
        }
    }
}

const char *hpx_clocks_name(void)
{
    return atomic_load_explicit(&clocks.perf, memory_order_relaxed) ? "perf cpu-clock" : "thread CPU timer";
}

void hpx_clocks_init(void)
{
    clocks.tick_ns = hpx_clock_tick();
    clocks.tick_ns = clocks.tick_ns ? clocks.tick_ns : TICK_GUESS_NS;
    uint64_t ticks = (STALL_TICKS * clocks.tick_ns + hpx_session.opt->interval_ns - 1) / hpx_session.opt->interval_ns;
    clocks.stall_limit = ticks > STALL_INTERVALS ? ticks : STALL_INTERVALS;
    struct rlimit fds = {1024, 1024};
    getrlimit(RLIMIT_NOFILE, &fds);
    atomic_store_explicit(&clocks.perf_most, fds.rlim_cur / 4 < PERF_FDS ? (uint32_t)(fds.rlim_cur / 4) : PERF_FDS, memory_order_relaxed);
    bool perf = hpx_session.opt->interval_ns < clocks.tick_ns && hpx_trial_passes(HPX_TRIAL_PERF_EVENT_OPEN);
    atomic_store_explicit(&clocks.perf, perf, memory_order_relaxed);
}
