/* SPDX-License-Identifier: BSD-2-Clause */
/* spawn.c: threads of ours. */
#include "spawn.h"
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
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &was); /* inherited */
    int rc = pthread_create(&id, &attr, run, NULL);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    pthread_attr_destroy(&attr);
    return rc == 0 ? 0
                   : hpx_err_set(err, HPX_E_SYS, "cannot start the thread %s: %s%s", name, strerror(rc),
                                 rc == EAGAIN ? "; raise the limit of threads (ulimit -u, or pids of the container)" : "");
}

pid_t hpx_spawn_enter(const char *name)
{
    pthread_setname_np(pthread_self(), name);
    return (pid_t)syscall(SYS_gettid);
}
