/* SPDX-License-Identifier: BSD-2-Clause */
/* storm.c: preloaded, has the sampling signal come far more often than the kernel's clock ticks: the soak's samples by the hundred million.
 *
 * Only the kernel may send a signal of a timer, which is what the agent's handler takes. So each thread for which the agent makes a timer
 * gets a second one: of the clock on the wall, one shot, with the same signal and value. The agent's handler is called through ours, which
 * then sets that timer again, so a thread that runs gets one signal after the other without help. One that has not run between two signals
 * sets it no more: the program's sleeps and waits are not ended again and again. A thread of this library looks which threads run, every
 * millisecond, and begins with them anew.
 *
 * HPX_STORM=US[:SIGNAL]  from the end of a handler to the next signal: this many microseconds, up to twice as many; the agent's signal
 *                        (SIGPROF). Without it nothing is done.
 *
 * The handler of a thread may be inside while that thread, or another, holds the lock; it takes none. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MOST    4096 /* threads at a time; others get no storm */
#define LOOK_NS 1000000
#define RAN_NS  100000 /* in so much of its CPU time between two looks a thread counts as one that runs */

struct target {
    timer_t agents, ours;
    clockid_t cpu;
    int64_t used; /* of its CPU clock, ns, at the last look */
};

/* Protected by lock. */
static struct target targets[MOST];
static size_t ntargets;
static bool looks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Of the calling thread and its handler. */
static __thread struct {
    timer_t ours;
    int64_t used;
    uint32_t random;
    bool set;
} self __attribute__((tls_model("initial-exec")));

/* Constant once the program runs. */
static int (*real_create)(clockid_t, struct sigevent *, timer_t *);
static int (*real_delete)(timer_t);
static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static int32_t pause_ns; /* 0: no storm */
static int signal_number = SIGPROF;
static void (*_Atomic agents_handler)(int, siginfo_t *, void *); /* set before the first signal */

__attribute__((constructor)) static void begin(void)
{
    *(void **)&real_create = dlsym(RTLD_NEXT, "timer_create");
    *(void **)&real_delete = dlsym(RTLD_NEXT, "timer_delete");
    *(void **)&real_sigaction = dlsym(RTLD_NEXT, "sigaction");
    const char *text = getenv("HPX_STORM");
    if (text != NULL) {
        char *end;
        pause_ns = 1000 * (int32_t)strtol(text, &end, 10);
        signal_number = *end == ':' ? atoi(end + 1) : signal_number;
    }
}

static int64_t used(clockid_t cpu)
{
    struct timespec t;
    return clock_gettime(cpu, &t) == 0 ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : -1;
}

/* ---- the handler ---- */

static void on_signal(int sig, siginfo_t *si, void *context)
{
    int saved = errno;
    bool ran = self.set && used(CLOCK_THREAD_CPUTIME_ID) - self.used > pause_ns / 4;
    errno = saved;
    agents_handler(sig, si, context);
    saved = errno;
    if (self.set) {
        self.random = self.random * 1664525 + 1013904223;
        struct itimerspec soon = {.it_value = {.tv_nsec = pause_ns + (int32_t)(self.random >> 8) % pause_ns}};
        if (ran) {
            timer_settime(self.ours, 0, &soon, NULL);
        }
        self.used = used(CLOCK_THREAD_CPUTIME_ID);
    }
    errno = saved;
}

/* The agent finds its own handler wherever it looks for it. */
int sigaction(int sig, const struct sigaction *to, struct sigaction *was)
{
    struct sigaction ours;
    if (sig != signal_number || pause_ns == 0) {
        return real_sigaction(sig, to, was);
    }
    void (*before)(int, siginfo_t *, void *) = agents_handler;
    if (to != NULL && (to->sa_flags & SA_SIGINFO)) {
        ours = *to;
        agents_handler = to->sa_sigaction;
        ours.sa_sigaction = on_signal;
        to = &ours;
    }
    int r = real_sigaction(sig, to, was);
    if (r == 0 && was != NULL && was->sa_sigaction == on_signal) {
        was->sa_sigaction = before;
    }
    return r;
}

/* ---- threads ---- */

static void look(void)
{
    static const struct itimerspec at_once = {.it_value = {.tv_nsec = 1}};
    for (size_t i = 0; i < ntargets; i++) {
        int64_t now = used(targets[i].cpu);
        if (now - targets[i].used > RAN_NS) {
            timer_settime(targets[i].ours, 0, &at_once, NULL);
        }
        targets[i].used = now;
    }
}

static void *look_on(void *unused)
{
    prctl(PR_SET_NAME, "storm");
    for (;;) {
        pthread_mutex_lock(&lock);
        look();
        pthread_mutex_unlock(&lock);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    return unused;
}

/* Its thread has no signal but faults. */
static bool begin_looks(void)
{
    pthread_t thread;
    sigset_t all, was;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    bool begun = pthread_create(&thread, NULL, look_on, NULL) == 0 && pthread_detach(thread) == 0;
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return begun;
}

/* The clock of a thread's CPU time by its kernel id, as the kernel numbers such clocks. */
static clockid_t clock_of(pid_t tid)
{
    return (clockid_t)(~(unsigned)tid << 3 | 6);
}

static void add(struct sigevent *of, timer_t agents)
{
    pid_t tid = of->_sigev_un._tid;
    struct target t = {.agents = agents, .cpu = clock_of(tid)};
    if (ntargets == MOST || real_create(CLOCK_MONOTONIC, of, &t.ours) != 0) {
        return;
    }
    t.used = used(t.cpu);
    targets[ntargets++] = t;
    looks = looks || begin_looks();
    if (tid == gettid()) {
        self.ours = t.ours;
        self.random = (uint32_t)tid;
        self.used = t.used;
        self.set = true;
    }
}

int timer_create(clockid_t clock, struct sigevent *of, timer_t *to)
{
    int r = real_create(clock, of, to);
    if (r == 0 && pause_ns > 0 && of != NULL && of->sigev_notify == SIGEV_THREAD_ID && of->sigev_signo == signal_number) {
        pthread_mutex_lock(&lock);
        add(of, *to);
        pthread_mutex_unlock(&lock);
    }
    return r;
}

int timer_delete(timer_t agents)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ntargets; i++) {
        if (targets[i].agents == agents) {
            if (self.set && self.ours == targets[i].ours) {
                self.set = false;
            }
            real_delete(targets[i].ours);
            targets[i] = targets[--ntargets];
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return real_delete(agents);
}
