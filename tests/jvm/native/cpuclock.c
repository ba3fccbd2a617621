/* SPDX-License-Identifier: BSD-2-Clause */
/* cpuclock.c: preloaded, the CPU clock of every thread with the name CPUCLOCK_OF is 1000 s ahead, seen from itself and from others. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define AHEAD         1000
#define OF_THREAD     6 /* the low bits of a clock of a thread; the others are its kernel id, inverted */
#define KIND_OF_CLOCK 7

static int (*real_gettime)(clockid_t, struct timespec *);
static const char *of;

__attribute__((constructor)) static void prepare(void)
{
    of = getenv("CPUCLOCK_OF");
    real_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

static void name_of(clockid_t clock, char name[32])
{
    char path[64];
    if (clock == CLOCK_THREAD_CPUTIME_ID) {
        prctl(PR_GET_NAME, name);
        return;
    }
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", ~(clock >> 3));
    FILE *f = fopen(path, "re");
    if (f != NULL && fgets(name, 32, f) != NULL) {
        name[strcspn(name, "\n")] = 0;
    }
    if (f != NULL) {
        fclose(f);
    }
}

int clock_gettime(clockid_t clock, struct timespec *to)
{
    char name[32] = "";
    if (real_gettime == NULL) {
        prepare(); /* somebody's constructor came before ours */
    }
    int rc = real_gettime(clock, to);
    if (rc == 0 && of != NULL && (clock == CLOCK_THREAD_CPUTIME_ID || (clock < 0 && (clock & KIND_OF_CLOCK) == OF_THREAD))) {
        name_of(clock, name);
        to->tv_sec += strcmp(name, of) == 0 ? AHEAD : 0;
    }
    return rc;
}
