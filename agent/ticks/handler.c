/* SPDX-License-Identifier: BSD-2-Clause */
/* handler.c: see handler.h. */
#include "handler.h"
#include "clock.h"
#include "clocks.h"
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIGNALS    65
#define PENDING_NS (50ull * 1000 * 1000)
#define LOOK_NS    (1000 * 1000)

/* By signal. */
static struct {
    struct sigaction before; /* constant while installed */
    hpx_handler *handler;
    bool installed;
    atomic_bool used; /* relaxed: by a session */
} handlers[SIGNALS];

/* A walk that faults would abandon a handler of the program that interrupted it. The VM needs its own signals. */
static void describe(struct sigaction *sa, hpx_handler *handler)
{
    static const int vms[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    memset(sa, 0, sizeof *sa);
    sa->sa_sigaction = handler;
    sa->sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&sa->sa_mask);
    for (size_t i = 0; i < HPX_ARRAY_LEN(vms); i++) {
        sigdelset(&sa->sa_mask, vms[i]);
    }
}

int hpx_handler_install(int signal, hpx_handler *handler, const struct sigaction **was, bool *again)
{
    struct sigaction sa;
    *was = &handlers[signal].before;
    *again = handlers[signal].installed;
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

static bool has_function(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

static bool is_ours(int signal, const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == handlers[signal].handler;
}

static bool is_on_top(int signal)
{
    struct sigaction now;
    return sigaction(signal, NULL, &now) == 0 && is_ours(signal, &now);
}

/* ---- the signal goes back ---- */

/* true if it cannot be told. */
static bool is_pending_in(const char *tid, int signal)
{
    char path[64], line[256];
    unsigned long long pending = 0;
    (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/status", tid);
    FILE *f = fopen(path, "re");
    if (f == NULL) {
        return errno != ENOENT && errno != ESRCH; /* the thread has ended */
    }
    while (fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, "SigPnd:", 7) == 0 || strncmp(line, "ShdPnd:", 7) == 0) {
            pending |= strtoull(line + 7, NULL, 16);
        }
    }
    (void)fclose(f);
    return pending >> (signal - 1) & 1;
}

static bool is_pending(int signal)
{
    DIR *tasks = opendir("/proc/self/task");
    bool found = tasks == NULL;
    for (const struct dirent *e; !found && (e = readdir(tasks)) != NULL;) {
        found = e->d_name[0] != '.' && is_pending_in(e->d_name, signal);
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
    return found;
}

/* A signal that a thread does not block reaches it when it runs next. */
static bool stays_pending(int signal)
{
    uint64_t until = hpx_clock_mono() + PENDING_NS;
    while (is_pending(signal)) {
        if (hpx_clock_mono() > until) {
            return true;
        }
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
    return false;
}

/* Only where ours still is: the program may install its own at any time. */
static bool replace_ours(int signal, const struct sigaction *by)
{
    struct sigaction was;
    if (!is_on_top(signal) || sigaction(signal, by, &was) != 0) {
        return false;
    }
    if (is_ours(signal, &was)) {
        return true;
    }
    (void)sigaction(signal, &was, NULL);
    return false;
}

static void give_back(int signal)
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN}, *before = &handlers[signal].before;
    if (hpx_clocks_running() > 0 || !is_on_top(signal)) {
        return;
    }
    bool pending = stays_pending(signal);
    if (!pending) {
        handlers[signal].installed = !replace_ours(signal, before);
    } else if (!has_function(before) && replace_ours(signal, &ignored)) { /* which discards the pending ones of all threads */
        handlers[signal].installed = before->sa_handler == SIG_DFL && sigaction(signal, before, NULL) != 0;
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
static void act_by_default(int signal)
{
    if (is_on_top(signal) && sigaction(signal, &handlers[signal].before, NULL) == 0) {
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
        act_by_default(signal);
    }
}
