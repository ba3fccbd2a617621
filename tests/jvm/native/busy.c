/* SPDX-License-Identifier: BSD-2-Clause */
/* busy.c: preloaded into a JVM, shows to the agent's own library, and to nobody else, a machine of 64 processors on which its aggregators
 * never rest: the CPU clock of such a thread goes on
 * while it sleeps.
 *
 * HPX_BUSY_ALONE=1  they cannot start a thread. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static int of_agent(const void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) != 0 && info.dli_fname != NULL && strstr(info.dli_fname, "libhprofx") != NULL;
}

static int aggregator(void)
{
    char name[16] = "";
    return prctl(PR_GET_NAME, name) == 0 && (strcmp(name, "hprofx-aggr") == 0 || strncmp(name, "hprofx-drain", 12) == 0);
}

int clock_gettime(clockid_t clock, struct timespec *to)
{
    static int (*real)(clockid_t, struct timespec *);
    static __thread time_t began; /* whole seconds are enough */
    if (real == NULL) {
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    }
    if (clock != CLOCK_THREAD_CPUTIME_ID || !aggregator()) {
        return real(clock, to);
    }
    int rc = real(CLOCK_MONOTONIC, to);
    began = began == 0 ? to->tv_sec : began;
    to->tv_sec -= began;
    return rc;
}

int sched_getaffinity(pid_t tid, size_t n, cpu_set_t *set)
{
    static int (*real)(pid_t, size_t, cpu_set_t *);
    if (real == NULL) {
        real = (int (*)(pid_t, size_t, cpu_set_t *))dlsym(RTLD_NEXT, "sched_getaffinity");
    }
    if (!of_agent(__builtin_return_address(0))) {
        return real(tid, n, set);
    }
    memset(set, 0, n);
    memset(set, 0xff, n < 8 ? n : 8);
    return 0;
}

int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (real == NULL) {
        real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    }
    return getenv("HPX_BUSY_ALONE") != NULL && aggregator() ? EAGAIN : real(id, attr, run, arg);
}
