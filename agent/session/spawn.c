/* SPDX-License-Identifier: BSD-2-Clause */
/* spawn.c: starts threads of hprofx. */
#include "spawn.h"
#include "clock.h"
#include "later.h"
#include "sigmask.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An attached thread runs VM code: HotSpot wants room for its guard zones and its own frames. */
#define STACK (512u << 10)

int hpx_spawn(void *(*run)(void *), const char *name, struct hpx_err *err)
{
    pthread_attr_t attr;
    pthread_t id;
    sigset_t all, was;
    hpx_sigmask_ours(&all);
    int rc = pthread_attr_init(&attr);
    if (rc == 0) {
        pthread_attr_setstacksize(&attr, STACK);
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
        pthread_sigmask(SIG_SETMASK, &all, &was); /* inherited */
        rc = pthread_create(&id, &attr, run, NULL);
        pthread_sigmask(SIG_SETMASK, &was, NULL);
        pthread_attr_destroy(&attr);
    }
    return rc == 0 ? 0
                   : hpx_err_set(err, HPX_E_SYS, "cannot start thread %s: %s%s", name, strerror(rc),
                                 rc == EAGAIN ? "; raise the thread limit (ulimit -u, or pids of the container)" : "");
}

static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER; /* a thread must not be counted twice, nor missed, while it leaves */
static __thread bool ours;

bool hpx_spawn_is_ours(void)
{
    return ours;
}

void hpx_spawn_enter(const char *name, struct hpx_spawned *of)
{
    ours = true;
    pthread_setname_np(pthread_self(), name);
    if (of != NULL) {
        pthread_mutex_lock(&reading);
        of->tid = (pid_t)syscall(SYS_gettid);
        pthread_mutex_unlock(&reading);
    }
}

void hpx_spawn_leave(struct hpx_spawned *of)
{
    pthread_mutex_lock(&reading);
    of->left_ns += hpx_clock_thread_cpu();
    of->tid = 0;
    pthread_mutex_unlock(&reading);
}

uint64_t hpx_spawn_cpu(struct hpx_spawned *of)
{
    pthread_mutex_lock(&reading);
    uint64_t ns = of->left_ns + (of->tid != 0 ? hpx_clock_tid_cpu(of->tid) : 0);
    pthread_mutex_unlock(&reading);
    return ns;
}

bool hpx_spawn_wait(sem_t *done, uint64_t until)
{
    struct timespec ts = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    int rc;
    while ((rc = hpx_sem_wait_until(done, &ts)) != 0 && errno == EINTR) {
    }
    return rc == 0;
}
