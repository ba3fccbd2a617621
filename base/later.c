/* SPDX-License-Identifier: BSD-2-Clause */
/* later.c: weak references are NULL where the C library has no such function. */
#include "later.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until) __attribute__((weak));
extern int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) __attribute__((weak));
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso) __attribute__((weak));

static int look_until(sem_t *s, const struct timespec *until)
{
    struct timespec now, pause = {0, 50000};
    while (sem_trywait(s) != 0) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec)) {
            errno = ETIMEDOUT;
            return -1;
        }
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec < 1600000 ? 2 * pause.tv_nsec : 2000000;
    }
    return 0;
}

int hpx_sem_wait_until(sem_t *s, const struct timespec *until)
{
    return sem_clockwait != NULL ? sem_clockwait(s, CLOCK_MONOTONIC, until) : look_until(s, until);
}

int hpx_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    return __register_atfork != NULL ? __register_atfork(prepare, parent, child, NULL)
           : pthread_atfork != NULL  ? pthread_atfork(prepare, parent, child)
                                     : ENOSYS;
}

int hpx_sigqueue_self(int sig, void *value)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_signo = sig;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = value;
    return (int)syscall(SYS_rt_tgsigqueueinfo, info.si_pid, syscall(SYS_gettid), sig, &info);
}
