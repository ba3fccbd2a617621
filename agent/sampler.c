/* SPDX-License-Identifier: BSD-2-Clause */
/* sampler.c: clocks and the signal handler of sampler.h. */
#include "sampler.h"
#include "clock.h"
#include "hash.h"
#include "log.h"
#include "walk.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIGNAL        SIGPROF
#define ADOPTED       16
#define PERF_FDS      65536u   /* descriptors that can be remembered; events above are not used */
#define TICK_GUESS_NS 4000000u /* HZ=250 */

#define JUST_BEGUN_NS (2ull * 1000 * 1000) /* a thread that has used less at ThreadStart was started by the VM just now */

/* A ring holds the whole stacks of so much CPU time, within these bounds: the aggregator may be kept from its CPU for a while. */
#define RING_HOLDS_NS (100ull * 1000 * 1000)
#define RING_LEAST    16384u
#define RING_MOST     (256u << 10)

__thread struct hpx_agent_thread *hpx_self __attribute__((tls_model("initial-exec")));
struct hpx_agent_thread hpx_ours;

static struct {
    uint64_t tick_ns;
    _Atomic uint64_t perf_fds[PERF_FDS / 64]; /* relaxed: open events, for the child of a fork */
    _Atomic uint32_t perf_open, perf_most;    /* relaxed: our share of the program's descriptors */
    atomic_bool perf_used;                    /* relaxed: never false again */
    atomic_bool perf;                         /* relaxed: a hint that turns off for good when the system refuses */
    struct sigaction before;                  /* whose signals are not ours; constant after init */
    /* threads that were there before us: their handler finds the state by kernel id, once */
    _Atomic(struct hpx_agent_thread *) adopted[ADOPTED]; /* release: arm; acquire: adopt_sig */
    atomic_bool said_timer;
} sampler;

/* ---- the handler ---- */

static bool is_ours(const siginfo_t *si)
{
    if (si->si_code == SI_TIMER) {
        return si->si_value.sival_ptr == (void *)&sampler;
    }
    /* of an event that was closed in the meantime, too: nobody else makes descriptors send this signal */
    return si->si_code >= POLL_IN && si->si_code <= POLL_HUP && atomic_load_explicit(&sampler.perf_used, memory_order_relaxed);
}

static void pass_on(int sig, siginfo_t *si, void *context)
{
    hpx_count(&hpx_agent.counters, HPX_C_SIGNALS_FOREIGN, 1);
    if (sampler.before.sa_handler == SIG_DFL || sampler.before.sa_handler == SIG_IGN) {
        return;
    }
    if (sampler.before.sa_flags & SA_SIGINFO) {
        sampler.before.sa_sigaction(sig, si, context);
    } else {
        sampler.before.sa_handler(sig);
    }
}

static struct hpx_agent_thread *adopt_sig(void)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);
    for (int i = 0; i < ADOPTED; i++) {
        struct hpx_agent_thread *t = atomic_load_explicit(&sampler.adopted[i], memory_order_acquire);
        if (t != NULL && t->tid == tid) {
            void *env = NULL;
            if ((*hpx_agent.vm)->GetEnv(hpx_agent.vm, &env, JNI_VERSION_1_6) != JNI_OK) {
                return NULL;
            }
            t->env = env;
            hpx_self = t;
            return t;
        }
    }
    return NULL;
}

/* Intervals of CPU time that went by without a sample. */
static uint64_t take_due(struct hpx_agent_thread *t)
{
    uint64_t now = hpx_clock_thread_cpu();
    uint64_t due = now >= t->origin_ns ? (now - t->origin_ns) / hpx_agent.opt.interval_ns + 1 : 0;
    uint64_t weight = due > t->accounted ? due - t->accounted : 0;
    t->accounted += weight;
    return weight;
}

/* How many intervals the sample stands for. */
static uint64_t weight_of(struct hpx_agent_thread *t, const siginfo_t *si)
{
    uint64_t interval = hpx_agent.opt.interval_ns;
    if (t->clock == HPX_CLOCK_NONE) {
        return 0; /* on its way when the clock was stopped */
    }
    if (t->clock == HPX_CLOCK_PERF) {
        if (!t->first_done) {
            t->first_done = true;
            ioctl(t->perf_fd, PERF_EVENT_IOC_PERIOD, &interval); /* the first one was drawn */
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
        if (interval < sampler.tick_ns && now < sampler.tick_ns) {
            weight += (sampler.tick_ns - now + t->origin_ns) / interval;
        }
    }
    hpx_count(&t->base.counters, HPX_C_OVERRUNS, weight - 1);
    return weight;
}

static void push_unknown(struct hpx_agent_thread *t, struct hpx_ev_head *ev, int why, uint64_t weight)
{
    ev->kind = HPX_EV_SAMPLE_UNKNOWN;
    ev->id = (uint32_t)-why;
    ev->stamp = weight;
    hpx_ring_commit(&t->base.ring, ev, sizeof *ev);
}

static void push_stack(struct hpx_agent_thread *t, struct hpx_ev_head *ev, const struct hpx_ev_frame *frames, int n, uint64_t weight)
{
    struct hpx_hash128 h = hpx_hash128(frames, (size_t)n * sizeof *frames);
    uint32_t slot = (uint32_t)h.lo % HPX_SLOTS;
    struct hpx_ev_hash *known = &t->slots[slot];
    ev->id = slot;
    ev->stamp = weight;
    t->last_slot = slot + 1;
    if (known->lo == h.lo && known->hi == h.hi) {
        ev->kind = HPX_EV_SAMPLE;
        hpx_ring_commit(&t->base.ring, ev, sizeof *ev);
        return;
    }
    *known = (struct hpx_ev_hash){h.lo, h.hi};
    *(struct hpx_ev_hash *)(ev + 1) = *known;
    ev->kind = HPX_EV_SAMPLE_DEF;
    hpx_ring_commit(&t->base.ring, ev, HPX_EV_SAMPLE_BYTES(n));
    hpx_count(&t->base.counters, HPX_C_DEFINITIONS, 1);
}

static void sample(struct hpx_agent_thread *t, void *context, uint64_t weight)
{
    uint32_t depth = hpx_agent.opt.depth;
    struct hpx_ev_head *ev = hpx_reserve_or_drop(&hpx_agent.aggregator, &t->base, HPX_EV_SAMPLE_BYTES(depth + 1), weight);
    if (ev == NULL) {
        return;
    }
    struct hpx_ev_frame *frames = (struct hpx_ev_frame *)(ev + 2);
    struct hpx_walk w = {t->env, t->stack_low, t->stack_end, depth};
    bool retried;
    int n = hpx_walk_sig(&w, frames, context, &retried);
    if (retried) {
        hpx_count(&t->base.counters, HPX_C_RETRIED, 1);
    }
    if (n <= 0) {
        push_unknown(t, ev, n, weight);
    } else {
        push_stack(t, ev, frames, n, weight);
    }
}

/* Async-signal-safe: no lock, no allocation; reads its own clock, walks its own stack, writes its own ring. errno is kept. */
static void on_signal(int sig, siginfo_t *si, void *context)
{
    int saved = errno;
    struct hpx_agent_thread *t = hpx_self;
    if (!is_ours(si)) {
        pass_on(sig, si, context);
        errno = saved;
        return;
    }
    t = t != NULL ? t : adopt_sig();
    if (t == NULL || t == &hpx_ours) {
        hpx_count(&hpx_agent.counters, HPX_C_SIGNALS_LATE, 1);
        errno = saved;
        return;
    }
    bool measured = ++t->signals % 8 == 0; /* the clock costs a tenth of a walk */
    uint64_t begin = measured ? hpx_clock_thread_cpu() : 0;
    atomic_store_explicit(&t->in_handler, 1, memory_order_seq_cst); /* partner: hpx_sampler_quiesce() */
    if (atomic_load_explicit(&hpx_agent.gate.open, memory_order_seq_cst)) {
        uint64_t weight = weight_of(t, si);
        hpx_count(&t->base.counters, HPX_C_SIGNALS, 1);
        if (atomic_load_explicit(&t->base.busy, memory_order_relaxed)) {
            hpx_count(&t->base.counters, HPX_C_LOST_NESTED, weight);
        } else if (weight > 0) {
            atomic_store_explicit(&t->base.busy, 1, memory_order_relaxed);
            atomic_signal_fence(memory_order_seq_cst);
            sample(t, context, weight);
            atomic_signal_fence(memory_order_seq_cst);
            atomic_store_explicit(&t->base.busy, 0, memory_order_relaxed);
        }
        if (t->clock == HPX_CLOCK_PERF) {
            ioctl(t->perf_fd, PERF_EVENT_IOC_REFRESH, 1);
        }
    }
    atomic_store_explicit(&t->in_handler, 0, memory_order_release); /* partner: hpx_sampler_quiesce() */
    if (measured) {
        hpx_count(&t->base.counters, HPX_C_HANDLER_NS, hpx_clock_thread_cpu() - begin);
        hpx_count(&t->base.counters, HPX_C_HANDLER_MEASURED, 1);
    }
    errno = saved;
}

/* ---- clocks ---- */

/* Uniform in [0, n): no state shared between threads, no quality needed beyond "different for each thread". */
static uint64_t draw(const struct hpx_agent_thread *t, uint64_t n)
{
    struct {
        uint64_t address, mono;
        pid_t tid;
        uint32_t zero;
    } seed = {(uint64_t)(uintptr_t)t, hpx_clock_mono(), t->tid, 0};
    return hpx_hash128(&seed, sizeof seed).hi % n;
}

/* CPU time from now to the expiry at `phase` of the thread's life; > 0. A thread that has just begun is counted from its first nanosecond,
 * another one from now. */
static uint64_t delay_until(const struct hpx_agent_thread *t, uint64_t phase, uint64_t *expiry)
{
    uint64_t now = hpx_clock_tid_cpu(t->tid), at = (now < JUST_BEGUN_NS ? 0 : now) + phase;
    if (expiry != NULL) {
        *expiry = at;
    }
    return at > now ? at - now : 1;
}

static bool arm_timer(struct hpx_agent_thread *t)
{
    struct sigevent ev;
    memset(&ev, 0, sizeof ev);
    ev.sigev_notify = SIGEV_THREAD_ID;
    ev.sigev_signo = SIGNAL;
    ev.sigev_value.sival_ptr = &sampler;
    ev._sigev_un._tid = t->tid;
    if (timer_create(hpx_clock_of_tid(t->tid), &ev, &t->timer) != 0) {
        return false;
    }
    uint64_t interval = hpx_agent.opt.interval_ns, phase = draw(t, interval);
    /* Expiries are seen at the next tick, half a tick late on average. Rounding the first one down to a tick makes up for it, so that
     * threads shorter than an interval are counted right on the whole. Below a tick the first signal's weight makes up for it (weight_of).
     */
    uint64_t first = delay_until(t, interval < sampler.tick_ns ? phase : phase / sampler.tick_ns * sampler.tick_ns, NULL);
    t->origin_ns = phase;
    struct itimerspec spec = {{(time_t)(interval / 1000000000u), (long)(interval % 1000000000u)},
                              {(time_t)(first / 1000000000u), (long)(first % 1000000000u)}};
    t->clock = HPX_CLOCK_TIMER;
    if (timer_settime(t->timer, 0, &spec, NULL) != 0) {
        timer_delete(t->timer);
        t->clock = HPX_CLOCK_NONE;
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
        atomic_fetch_or_explicit(&sampler.perf_fds[fd / 64], bit, memory_order_relaxed);
        atomic_fetch_add_explicit(&sampler.perf_open, 1, memory_order_relaxed);
    } else {
        atomic_fetch_and_explicit(&sampler.perf_fds[fd / 64], ~bit, memory_order_relaxed);
        atomic_fetch_sub_explicit(&sampler.perf_open, 1, memory_order_relaxed);
    }
}

static void close_perf(struct hpx_agent_thread *t)
{
    int fd = t->perf_fd;
    t->clock = HPX_CLOCK_NONE;
    t->perf_fd = -1;
    atomic_signal_fence(memory_order_seq_cst); /* a handler that comes now must not touch the descriptor */
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    remember_fd(fd, false);
    close(fd);
}

static bool arm_perf(struct hpx_agent_thread *t)
{
    if (atomic_load_explicit(&sampler.perf_open, memory_order_relaxed) >= atomic_load_explicit(&sampler.perf_most, memory_order_relaxed)) {
        return false; /* the program's descriptors are its own */
    }
    uint64_t origin, first = delay_until(t, 1 + draw(t, hpx_agent.opt.interval_ns), &origin);
    int fd = open_perf(t->tid, first);
    if (fd < 0) {
        if (errno != EMFILE && errno != ENFILE && errno != ESRCH && errno != ENOMEM) {
            atomic_store_explicit(&sampler.perf, false, memory_order_relaxed); /* not permitted here: ask no more */
        }
        return false;
    }
    if (fd >= (int)PERF_FDS) {
        close(fd);
        return false;
    }
    struct f_owner_ex owner = {F_OWNER_TID, t->tid};
    remember_fd(fd, true);
    atomic_store_explicit(&sampler.perf_used, true, memory_order_relaxed);
    t->perf_fd = fd;
    t->origin_ns = origin;
    t->clock = HPX_CLOCK_PERF; /* before the first signal */
    if (fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) != 0 || fcntl(fd, F_SETSIG, SIGNAL) != 0 || fcntl(fd, F_SETOWN_EX, &owner) != 0 ||
        ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) != 0) {
        close_perf(t);
        return false;
    }
    t->settle = true;
    return true;
}

void hpx_sampler_arm(struct hpx_agent_thread *t, bool adopt)
{
    if (hpx_agent.opt.depth == 0) {
        return; /* the original takes no samples then */
    }
    if (adopt) {
        int i = 0;
        while (i < ADOPTED && atomic_load_explicit(&sampler.adopted[i], memory_order_relaxed) != NULL) {
            i++;
        }
        if (i == ADOPTED) {
            hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNSAMPLED, 1);
            return;
        }
        atomic_store_explicit(&sampler.adopted[i], t, memory_order_release); /* partner: adopt_sig() */
    }
    /* an adopted thread keeps to the timer: its event could come before its handler knows it */
    if (!adopt && atomic_load_explicit(&sampler.perf, memory_order_relaxed) && arm_perf(t)) {
        return;
    }
    if (!arm_timer(t)) {
        int why = errno;
        hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNSAMPLED, 1);
        hpx_warn_once(&sampler.said_timer, "cpu=samples: no timer for a thread (%s): its CPU time is missing%s", strerror(why),
                      why == EAGAIN ? "; raise the limit of pending signals (ulimit -i)" : "");
    }
}

void hpx_sampler_disarm(struct hpx_agent_thread *t)
{
    if (t->clock == HPX_CLOCK_TIMER) {
        t->clock = HPX_CLOCK_NONE;
        timer_delete(t->timer);
    } else if (t->clock == HPX_CLOCK_PERF) {
        close_perf(t);
    }
    for (int i = 0; i < ADOPTED; i++) {
        struct hpx_agent_thread *mine = t;
        atomic_compare_exchange_strong_explicit(&sampler.adopted[i], &mine, NULL, memory_order_relaxed, memory_order_relaxed);
    }
}

void hpx_sampler_settle(struct hpx_agent_thread *t)
{
    uint64_t weight = t->settle ? take_due(t) : 0;
    struct hpx_ev_head *ev = weight ? hpx_reserve_or_drop(&hpx_agent.aggregator, &t->base, sizeof *ev, weight) : NULL;
    if (ev == NULL) {
        return;
    }
    if (t->last_slot == 0) {
        push_unknown(t, ev, -(int)HPX_UNKNOWN_THREAD_ENDED, weight);
        return;
    }
    ev->kind = HPX_EV_SAMPLE;
    ev->id = t->last_slot - 1;
    ev->stamp = weight;
    hpx_ring_commit(&t->base.ring, ev, sizeof *ev);
}

bool hpx_sampler_quiesce(struct hpx_agent_thread *t, uint64_t until_ns)
{
    /* seq_cst: partner of the handler's store: either it sees the gate closed, or we see it inside; acquire: what it wrote */
    while (atomic_load_explicit(&t->in_handler, memory_order_seq_cst)) {
        if (hpx_clock_mono() > until_ns) {
            return false;
        }
        nanosleep(&(struct timespec){0, 50000}, NULL);
    }
    return true;
}

uint32_t hpx_sampler_ring_size(void)
{
    size_t one = HPX_EV_SAMPLE_BYTES(hpx_agent.opt.depth + 1);
    size_t want = one * (size_t)(RING_HOLDS_NS / hpx_agent.opt.interval_ns), least = 4 * one, size = RING_LEAST;
    want = want < RING_MOST ? want : RING_MOST;
    while (size < want || size < least) {
        size *= 2;
    }
    return (uint32_t)size;
}

void hpx_sampler_forget(void)
{
    for (unsigned i = 0; i < PERF_FDS; i++) {
        if (atomic_load_explicit(&sampler.perf_fds[i / 64], memory_order_relaxed) >> (i % 64) & 1) {
            close((int)i);
        }
    }
}

const char *hpx_sampler_clock_name(void)
{
    return atomic_load_explicit(&sampler.perf, memory_order_relaxed) ? "perf cpu-clock" : "thread CPU timer";
}

int hpx_sampler_init(struct hpx_err *err)
{
    int rc = hpx_walk_init(err);
    if (rc != 0) {
        return rc;
    }
    sampler.tick_ns = hpx_clock_tick();
    sampler.tick_ns = sampler.tick_ns ? sampler.tick_ns : TICK_GUESS_NS;
    struct rlimit fds = {1024, 1024};
    getrlimit(RLIMIT_NOFILE, &fds);
    atomic_store_explicit(&sampler.perf_most, fds.rlim_cur / 4 < PERF_FDS ? (uint32_t)(fds.rlim_cur / 4) : PERF_FDS, memory_order_relaxed);
    atomic_store_explicit(&sampler.perf, hpx_agent.opt.interval_ns < sampler.tick_ns, memory_order_relaxed);
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = on_signal;
    sa.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&sa.sa_mask);
    if (sigaction(SIGNAL, &sa, &sampler.before) != 0) {
        return hpx_err_set(err, HPX_E_SYS, "cpu=samples: cannot install a handler for SIGPROF: %s", strerror(errno));
    }
    return 0;
}
