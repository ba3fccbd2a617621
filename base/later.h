/* SPDX-License-Identifier: BSD-2-Clause */
/* later.h: what the C library of the process may lack, or may have under another name: glibc from 2.17 on, and musl. What another file of
 * the library calls under its own name is in libc/missing.c. */
#ifndef HPX_LATER_H
#define HPX_LATER_H

#include <semaphore.h>
#include <time.h>

/* Waits until CLOCK_MONOTONIC is at `until`. 0; -1: errno is ETIMEDOUT or EINTR. Without sem_clockwait() (glibc before 2.30, musl) it looks
 * again and again, since the deadlines of sem_timedwait() move when somebody sets the clock: up to 2 ms late. Not in signal handlers. */
int hpx_sem_wait_until(sem_t *s, const struct timespec *until);

/* pthread_atfork() of a library that is never unloaded, which glibc has only as a part of each program. */
int hpx_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

/* A signal of sigqueue() to the calling thread; -1: errno. Async-signal-safe. */
int hpx_sigqueue_self(int sig, void *value);

#endif
