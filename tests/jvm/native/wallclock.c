/* SPDX-License-Identifier: BSD-2-Clause */
/* wallclock.c: preloaded, shifts the wall clock that this process sees, and no other clock: the machine's is not touched.
 *
 * HPX_JUMP=AFTER_MS:SECONDS  so long after the first look CLOCK_REALTIME, time() and gettimeofday() are off by so much (negative: back). */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static int (*real_gettime)(clockid_t, struct timespec *);
static struct timespec began;
static long after_ms = -1, seconds;

__attribute__((constructor)) static void prepare(void)
{
    const char *text = getenv("HPX_JUMP"), *colon = text != NULL ? strchr(text, ':') : NULL;
    real_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    real_gettime(CLOCK_MONOTONIC, &began);
    if (colon != NULL) {
        seconds = atol(colon + 1);
        after_ms = atol(text);
    }
}

static time_t shift(void)
{
    struct timespec now;
    if (after_ms < 0 || real_gettime(CLOCK_MONOTONIC, &now) != 0) {
        return 0;
    }
    long ms = (now.tv_sec - began.tv_sec) * 1000 + (now.tv_nsec - began.tv_nsec) / 1000000;
    return ms >= after_ms ? seconds : 0;
}

int clock_gettime(clockid_t clock, struct timespec *to)
{
    if (real_gettime == NULL) {
        prepare(); /* somebody's constructor came before ours */
    }
    int rc = real_gettime(clock, to);
    if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        to->tv_sec += shift();
    }
    return rc;
}

time_t time(time_t *to)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to != NULL) {
        *to = now.tv_sec;
    }
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict to, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    to->tv_sec = now.tv_sec;
    to->tv_usec = now.tv_nsec / 1000;
    return 0;
}
