/* SPDX-License-Identifier: BSD-2-Clause */
/* trial.c: see trial.h. */
#include "trial.h"
#include "compiler.h"
#include "log.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 3
#define STACK 16384

enum { UNKNOWN, PASSES, FREE /* there was no filter */, KILLS, UNTRIED };

/* Their first arguments fail, or ask for nothing. */
static const struct {
    const char *name;
    struct {
        long number, a, b, c, d, e, f;
    } calls[CALLS]; /* number 0: none */
} trials[HPX_TRIALS] = {
    [HPX_TRIAL_PERF_EVENT_OPEN] = {"perf_event_open", {{SYS_perf_event_open, 0, 0, -1, -1, 0, 0}}},
    [HPX_TRIAL_TIMER_CREATE] = {"timer_create",
                                {{SYS_timer_create, 1 << 20, 0, 0, 0, 0, 0},
                                 {SYS_timer_settime, -1, 0, 0, 0, 0, 0},
                                 {SYS_timer_delete, -1, 0, 0, 0, 0, 0}}},
    [HPX_TRIAL_MEMBARRIER] = {"membarrier", {{SYS_membarrier, 0, 0, 0, 0, 0, 0}}},
    [HPX_TRIAL_PROCESS_VM_READV] = {"process_vm_readv", {{SYS_process_vm_readv, 0, 0, 0, 0, 0, 0}}},
    [HPX_TRIAL_SIGQUEUE] = {"rt_tgsigqueueinfo", {{SYS_rt_tgsigqueueinfo, 0, 0, 0, 0, 0, 0}}},
    [HPX_TRIAL_EVENTFD] = {"eventfd2", {{SYS_eventfd2, 0, -1, 0, 0, 0, 0}}},
    [HPX_TRIAL_SETPRIORITY] = {"setpriority", {{SYS_setpriority, -1, 0, 0, 0, 0, 0}}},
};

static _Atomic int known[HPX_TRIALS]; /* relaxed: what two threads find at once is the same */

/* In the child. The limit of 1 forbids a core file, and a core through a pipe, too. */
static int try_calls(void *of)
{
    const enum hpx_trial what = *(const enum hpx_trial *)of;
    static const struct rlimit none = {1, 1};
    (void)syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL);
    for (size_t i = 0; i < CALLS && (i == 0 || trials[what].calls[i].number != 0); i++) {
        const long number = trials[what].calls[i].number;
        (void)syscall(number, trials[what].calls[i].a, trials[what].calls[i].b, trials[what].calls[i].c, trials[what].calls[i].d,
                      trials[what].calls[i].e, trials[what].calls[i].f);
    }
    syscall(SYS_exit_group, 0);
    return 0;
}

/* Of this thread: the first one may have another. */
static bool has_filter(void)
{
    char line[128];
    int mode = 2; /* unknown */
    FILE *f = fopen("/proc/thread-self/status", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        (void)sscanf(line, "Seccomp: %d", &mode);
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return mode != 0;
}

/* Before Linux 5.16 a core dump ends every process with that memory, even if no core file is written. */
static bool may_share_memory(void)
{
    struct utsname u;
    int major = 0, minor = 0;
    return uname(&u) == 0 && sscanf(u.release, "%d.%d", &major, &minor) == 2 && (major > 5 || (major == 5 && minor >= 16));
}

static int run_child(enum hpx_trial what)
{
    char stack[STACK] __attribute__((aligned(16)));
    sigset_t all, was;
    int status = 0, error = errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was); /* no handler of the program runs in the child */
    int child = clone(try_calls, stack + STACK, may_share_memory() ? CLONE_VM | CLONE_VFORK : 0, &what);
    int got = -1;
    while (child > 0 && (got = waitpid(child, &status, __WALL)) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    errno = error;
    return got < 0 ? UNTRIED : WIFEXITED(status) ? PASSES : KILLS;
}

bool hpx_trial_passes(enum hpx_trial what)
{
    int now = atomic_load_explicit(&known[what], memory_order_relaxed);
    if (now == UNKNOWN) {
        now = has_filter() ? run_child(what) : FREE;
        if (atomic_exchange_explicit(&known[what], now, memory_order_relaxed) == UNKNOWN && now == KILLS) {
            hpx_warn("a seccomp filter kills whoever calls %s; hprofx does without; allow the call for the complete profile",
                     trials[what].name);
        }
    }
    if (now != PASSES && now != FREE) {
        errno = EPERM;
    }
    return now == PASSES || now == FREE;
}

void hpx_trial_begin(void)
{
    for (size_t i = 0; i < HPX_TRIALS; i++) {
        int now = FREE;
        (void)atomic_compare_exchange_strong_explicit(&known[i], &now, UNKNOWN, memory_order_relaxed, memory_order_relaxed);
    }
}
