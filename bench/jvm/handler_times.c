/* SPDX-License-Identifier: BSD-2-Clause */
/* handler_times.c: measures how long the SIGPROF handler takes, whichever library installs it. Loaded by LD_PRELOAD: its sigaction() wraps
 * the handler that the process gives for SIGPROF in one that reads the clock before and after it. Test code of tools/bench.
 *
 * At the end of the process it writes `key value` lines to the file that $HANDLER_TIMES names: the number of signals, and quartiles of the
 * time in the handler over the second half of them. By then the stacks of a program with few paths of calls are known. */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_TIMES (1u << 16)

static int (*next)(int, const struct sigaction *, struct sigaction *);
static struct sigaction given; /* written before the handler is installed, by one thread at a time */
static _Atomic bool wrapped;   /* relaxed: a flag alone */
static _Atomic unsigned times_n;
static uint32_t times[MAX_TIMES];

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void around(int signo, siginfo_t *info, void *context)
{
    uint64_t begin = now_ns();
    given.sa_sigaction(signo, info, context);
    uint64_t took = now_ns() - begin;
    unsigned i = atomic_fetch_add_explicit(&times_n, 1, memory_order_relaxed);
    if (i < MAX_TIMES) {
        times[i] = (uint32_t)took;
    }
}

__attribute__((constructor)) static void find_next(void)
{
    void *symbol = dlsym(RTLD_NEXT, "sigaction");
    memcpy(&next, &symbol, sizeof next);
}

__attribute__((visibility("default"))) int sigaction(int signo, const struct sigaction *act, struct sigaction *old)
{
    if (next == NULL) {
        find_next();
    }
    bool wraps = signo == SIGPROF && act != NULL && (act->sa_flags & SA_SIGINFO) != 0;
    bool was = signo == SIGPROF && atomic_load_explicit(&wrapped, memory_order_relaxed);
    struct sigaction before = given, mine;
    if (wraps) {
        mine = given = *act;
        mine.sa_sigaction = around;
        act = &mine;
    }
    int rc = next(signo, act, old);
    if (rc != 0 && wraps) {
        given = before;
    }
    if (rc == 0 && was && old != NULL) {
        *old = before;
    }
    if (rc == 0 && signo == SIGPROF && act != NULL) {
        atomic_store_explicit(&wrapped, wraps, memory_order_relaxed);
    }
    return rc;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

__attribute__((destructor)) static void write_times(void)
{
    const char *path = getenv("HANDLER_TIMES");
    unsigned n = atomic_load_explicit(&times_n, memory_order_relaxed); /* once: other threads may still count */
    n = n < MAX_TIMES ? n : MAX_TIMES;
    FILE *f = path != NULL && n > 1 ? fopen(path, "we") : NULL;
    if (f == NULL) {
        return;
    }
    uint32_t *half = times + n / 2;
    unsigned m = n - n / 2;
    qsort(half, m, sizeof *half, compare);
    fprintf(f, "signals %u\ninside_p25_ns %u\ninside_p50_ns %u\ninside_p75_ns %u\n", n, half[m / 4], half[m / 2], half[m - 1 - m / 4]);
    fclose(f);
}
