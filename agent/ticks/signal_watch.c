/* SPDX-License-Identifier: BSD-2-Clause */
/* signal_watch.c: signal_watch.h by sigaction() and signal masks. */
#include "signal_watch.h"
#include "clock.h"
#include "log.h"
#include "session.h"
#include "sigmask.h"
#include "ticks.h"
#include "vm.h"
#include <pthread.h>
#include <stdio.h>

#define LOOK_NS (1000ull * 1000 * 1000)

static HPX_OF_SESSION struct {
    void (*handler)(int, siginfo_t *, void *); /* constant after load */
    atomic_bool ended;                         /* release: end_sampling(); acquire: hpx_signal_watch_ended(). Covers ended_cpu */
    atomic_bool saying;                        /* relaxed: decides who is first */
    uint64_t ended_cpu;                        /* CPU time of the process then */
    uint64_t next_look, next_masks;            /* the aggregator's */
} watch;

static void signal_name(char *s, size_t n)
{
    int sig = hpx_session.opt->signal;
    if (sig >= SIGRTMIN) {
        snprintf(s, n, "SIGRTMIN+%d", sig - SIGRTMIN);
    } else {
        snprintf(s, n, "%s", sig == SIGPROF ? "SIGPROF" : sig == SIGVTALRM ? "SIGVTALRM" : "SIGUSR1"); /* what the option takes */
    }
}

/* An option for a signal other than the current one. */
static const char *other_signal(void)
{
    return hpx_session.opt->signal == SIGRTMIN + 1 ? "signal=RTMIN+2" : "signal=RTMIN+1";
}

void hpx_signal_watch_expect(const struct sigaction *before, void (*handler)(int, siginfo_t *, void *))
{
    watch.handler = handler;
    bool unused = before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN;
    if (unused && hpx_signal_watch_blocked(0) == HPX_BLOCKS) {
        char name[32];
        sigset_t set;
        signal_name(name, sizeof name);
        if (hpx_vm.late) { /* its threads have the mask that they were started with */
            hpx_warn("%s: the JVM started with %s blocked, and its threads are not sampled while they block it; use %s or sampler=poll",
                     hpx_ticks_of(), name, other_signal());
            return;
        }
        sigemptyset(&set);
        sigaddset(&set, hpx_session.opt->signal);
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        hpx_warn(
            "%s: the JVM started with %s blocked; hprofx unblocks it to sample; if the program needs it blocked, choose another signal=",
            hpx_ticks_of(), name);
    }
}

static void end_sampling(void)
{
    if (atomic_exchange_explicit(&watch.saying, true, memory_order_relaxed)) {
        return;
    }
    char name[32];
    signal_name(name, sizeof name);
    watch.ended_cpu = hpx_clock_process_cpu();
    atomic_store_explicit(&watch.ended, true, memory_order_release); /* partner: hpx_signal_watch_ended() */
    hpx_warn("%s: the program replaced the handler of %s; sampling stops here; use %s or sampler=poll", hpx_ticks_of(), name,
             other_signal());
}

bool hpx_signal_watch_ended(void)
{
    return atomic_load_explicit(&watch.ended, memory_order_acquire); /* partner: end_sampling() */
}

bool hpx_signal_watch_took_signal(void)
{
    struct sigaction now;
    if (hpx_signal_watch_ended()) {
        return true;
    }
    if (sigaction(hpx_session.opt->signal, NULL, &now) != 0 || ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == watch.handler)) {
        return false;
    }
    end_sampling();
    return true;
}

static enum hpx_blocks blocked_in(pid_t tid)
{
    uint64_t mask;
    return hpx_sigmask_read(tid, "SigBlk:", &mask) != 0       ? HPX_BLOCKS_UNKNOWN
           : (mask >> (hpx_session.opt->signal - 1) & 1) != 0 ? HPX_BLOCKS
                                                              : HPX_BLOCKS_NOT;
}

enum hpx_blocks hpx_signal_watch_blocked(pid_t tid)
{
    sigset_t set;
    if (tid != 0) {
        return blocked_in(tid);
    }
    return pthread_sigmask(SIG_SETMASK, NULL, &set) == 0 && sigismember(&set, hpx_session.opt->signal) == 1 ? HPX_BLOCKS : HPX_BLOCKS_NOT;
}

/* At most one thousandth of the time. */
static void look_at_masks(uint64_t now)
{
    if (now >= watch.next_masks && watch.handler != NULL) {
        hpx_ticks_look_blocked();
        watch.next_masks = now + 1000 * (hpx_clock_mono() - now);
    }
}

/* Repeated after the signal was taken, because a thread may have started its clock meanwhile. */
void hpx_signal_watch_look_own(void)
{
    uint64_t now = hpx_clock_mono();
    if (now < watch.next_look) {
        return;
    }
    watch.next_look = now + LOOK_NS;
    if (watch.handler != NULL && hpx_signal_watch_took_signal()) {
        hpx_ticks_disarm_all();
    }
    look_at_masks(now);
}

uint64_t hpx_signal_watch_unsampled_ms(void)
{
    return hpx_signal_watch_ended() ? (hpx_clock_process_cpu() - watch.ended_cpu) / 1000000u + 1 : 0;
}
