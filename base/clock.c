/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.c: clock_gettime as one number. */
#include "clock.h"

#include <time.h>

static uint64_t ns_of(const struct timespec *ts)
{
    return (uint64_t)ts->tv_sec * 1000000000u + (uint64_t)ts->tv_nsec;
}

static uint64_t now(clockid_t clock)
{
    struct timespec ts;
    return clock_gettime(clock, &ts) == 0 ? ns_of(&ts) : 0;
}

uint64_t hpx_clock_mono(void)
{
    return now(CLOCK_MONOTONIC);
}

uint64_t hpx_clock_thread_cpu(void)
{
    return now(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t hpx_clock_process_cpu(void)
{
    return now(CLOCK_PROCESS_CPUTIME_ID);
}

clockid_t hpx_clock_of_tid(pid_t tid)
{
    /* The kernel's encoding (include/linux/posix-timers.h): ~tid above three bits, which are 4 = of one thread + 2 = scheduler time. */
    return (clockid_t)((~(unsigned)tid << 3) | 6u);
}

uint64_t hpx_clock_tid_cpu(pid_t tid)
{
    return now(hpx_clock_of_tid(tid));
}

uint64_t hpx_clock_tick(void)
{
    struct timespec ts;
    return clock_getres(CLOCK_MONOTONIC_COARSE, &ts) == 0 ? ns_of(&ts) : 0;
}
