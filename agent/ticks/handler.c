/* SPDX-License-Identifier: BSD-2-Clause */
/* handler.c: see handler.h. */
#include "handler.h"
#include "clock.h"
#include "clocks.h"
#include "sigmask.h"
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIGNALS    65
#define PENDING_NS (50ull * 1000 * 1000)
#define LOOK_NS    1000000L

/* By signal. */
static struct {
    struct sigaction before; /* constant while installed */
    hpx_handler *handler;
    bool installed;
    atomic_bool used; /* relaxed: by a session */
} handlers[SIGNALS];

/* The kernel's. libc's call is none for handlers: libjsig's takes a lock. */
struct kernel_action {
    uintptr_t handler;
    unsigned long flags;
    uintptr_t restorer;
    uint64_t mask;
};

/* A walk that faults would abandon a handler of the program that interrupted it. The VM needs its own signals. */
static void describe(struct sigaction *sa, hpx_handler *handler)
{
    memset(sa, 0, sizeof *sa);
    sa->sa_sigaction = handler;
    sa->sa_flags = SA_SIGINFO | SA_RESTART;
    hpx_sigmask_ours(&sa->sa_mask);
}

static bool has_function(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

int hpx_handler_install(int signal, hpx_handler *handler, const struct sigaction **was, bool *again)
{
    struct sigaction sa, now;
    *was = &handlers[signal].before;
    *again = handlers[signal].installed && sigaction(signal, NULL, &now) == 0 && has_function(&now); /* else nobody calls ours */
    describe(&sa, handler);
    handlers[signal].handler = handler;
    atomic_store_explicit(&handlers[signal].used, true, memory_order_relaxed);
    if (!*again && sigaction(signal, &sa, &handlers[signal].before) != 0) {
        atomic_store_explicit(&handlers[signal].used, false, memory_order_relaxed);
        return errno;
    }
    handlers[signal].installed = true;
    return 0;
}

static bool is_ours(int signal, const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == handlers[signal].handler;
}

bool hpx_handler_begins_sig(int signal, uintptr_t pc)
{
    struct kernel_action now = {0};
    return syscall(SYS_rt_sigaction, signal, NULL, &now, sizeof now.mask) == 0 && now.handler == pc;
}

static bool is_on_top_sig(int signal)
{
    return hpx_handler_begins_sig(signal, (uintptr_t)handlers[signal].handler);
}

/* ---- the signal goes back ---- */

enum look { NOT_PENDING, PENDING, UNKNOWN };

/* A thread that has ended has nothing pending. */
static enum look look_at_thread(pid_t tid, int signal)
{
    uint64_t own, all = 0;
    int why = hpx_sigmask_read(tid, "SigPnd:", &own);
    why = why != 0 ? why : hpx_sigmask_read(tid, "ShdPnd:", &all);
    if (why != 0) {
        return why == ESRCH ? NOT_PENDING : UNKNOWN;
    }
    return ((own | all) >> (signal - 1) & 1) != 0 ? PENDING : NOT_PENDING;
}

/* *threads: a hash of those that were seen. */
static enum look look_at_threads(int signal, uint64_t *threads)
{
    DIR *tasks = opendir("/proc/self/task");
    enum look found = tasks != NULL ? NOT_PENDING : UNKNOWN;
    *threads = 0;
    for (const struct dirent *e; found == NOT_PENDING && (errno = 0, e = readdir(tasks)) != NULL;) {
        found = e->d_name[0] != '.' ? look_at_thread((pid_t)strtol(e->d_name, NULL, 10), signal) : NOT_PENDING;
        *threads = *threads * UINT64_C(0x100000001b3) + strtoull(e->d_name, NULL, 10);
    }
    if (tasks != NULL) {
        found = found == NOT_PENDING && errno != 0 ? UNKNOWN : found;
        (void)closedir(tasks);
    }
    return found;
}

/* A signal that a thread does not block reaches it when it runs next. A look may miss a thread while others end, so two must have seen
 * the same threads. What cannot be read may be pending. */
static bool may_stay_pending(int signal)
{
    uint64_t until = hpx_clock_mono() + PENDING_NS, threads, before = 0;
    while (look_at_threads(signal, &threads) != NOT_PENDING || threads != before) {
        if (hpx_clock_mono() > until) {
            return true;
        }
        before = threads;
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
    return false;
}

/* Only where ours still is: the program may install its own at any time. */
static bool replace_ours(int signal, const struct sigaction *by)
{
    struct sigaction was;
    if (!is_on_top_sig(signal) || sigaction(signal, by, &was) != 0) {
        return false;
    }
    if (is_ours(signal, &was)) {
        return true;
    }
    (void)sigaction(signal, &was, NULL);
    return false;
}

/* By way of SIG_IGN, which discards the pending ones of all threads at once: not one may meet the default action. */
static bool give_back_plain(int signal, const struct sigaction *before)
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    struct sigaction was;
    if (!replace_ours(signal, &ignored)) {
        return false;
    }
    if (sigaction(signal, before, &was) == 0 && has_function(&was)) { /* the program has installed its own just now */
        (void)sigaction(signal, &was, NULL);
    }
    return true;
}

static void give_back(int signal)
{
    const struct sigaction *before = &handlers[signal].before;
    if (hpx_clocks_running() > 0 || !is_on_top_sig(signal)) {
        return;
    }
    if (!has_function(before)) {
        handlers[signal].installed = !give_back_plain(signal, before);
    } else if (!may_stay_pending(signal)) {
        handlers[signal].installed = !replace_ours(signal, before);
    }
}

void hpx_handlers_give_back(void)
{
    for (int signal = 1; signal < SIGNALS; signal++) {
        atomic_store_explicit(&handlers[signal].used, false, memory_order_relaxed);
        if (handlers[signal].installed) {
            give_back(signal);
        }
    }
}

/* ---- signals of others ---- */

/* The default action, once the handler has returned. Not for a handler of the program that calls ours, and handles the signal itself. */
static void act_by_default_sig(int signal)
{
    const struct kernel_action by_default = {0};
    if (is_on_top_sig(signal) && syscall(SYS_rt_sigaction, signal, &by_default, NULL, sizeof by_default.mask) == 0) {
        (void)syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), signal);
    }
}

void hpx_handler_pass_on_sig(int signal, siginfo_t *si, void *context)
{
    const struct sigaction *before = &handlers[signal].before;
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(signal, si, context);
    } else if (has_function(before)) {
        before->sa_handler(signal);
    } else if (before->sa_handler == SIG_DFL && !atomic_load_explicit(&handlers[signal].used, memory_order_relaxed)) {
        act_by_default_sig(signal);
    }
}
