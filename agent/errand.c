/* SPDX-License-Identifier: BSD-2-Clause */
/* errand.c: see errand.h. */
#include "errand.h"
#include "clock.h"
#include "service.h"
#include "sigmask.h"
#include "spawn.h"
#include "threads.h"
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define TICK_NS (UINT64_C(1000000) * HPX_ERRAND_TICK_MS)

/* Of a thread that waits for the other. */
struct errand {
    JavaVM *vm;
    const struct hpx_errand *what;
    int rc;
    struct hpx_err err;
    sem_t done;
};
static struct errand *sent; /* one at a time; pthread_create() orders it */

/* Not by hpx_threads_attach(): the session gives it states for a time. */
static JNIEnv *attach_to_begin(JavaVM *vm)
{
    JNIEnv *env = NULL;
    JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)(uintptr_t)HPX_OURS "begin", NULL};
    hpx_threads_begins();
    return (*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, &args) == JNI_OK ? env : NULL;
}

/* The signals that the first thread of the process blocks: how the JVM was started, which a session looks at. Threads of hprofx block all.
 */
static void block_as_first_thread(void)
{
    uint64_t blocked;
    sigset_t set;
    if (hpx_sigmask_read(getpid(), "SigBlk:", &blocked) == 0) {
        sigemptyset(&set);
        for (int i = 1; i <= 64; i++) {
            if ((blocked >> (i - 1) & 1) != 0) {
                sigaddset(&set, i);
            }
        }
        (void)pthread_sigmask(SIG_SETMASK, &set, NULL);
    }
}

static void *run_errand(void *unused)
{
    struct errand *e = sent;
    hpx_spawn_enter(e->what->options != NULL ? "hprofx-begin" : "hprofx-end", NULL);
    if (e->what->options != NULL) {
        block_as_first_thread();
    }
    JNIEnv *env = e->what->options != NULL ? attach_to_begin(e->vm) : hpx_threads_attach(HPX_OURS "end");
    if (env == NULL) {
        e->rc = hpx_err_set(&e->err, HPX_E_VM, "the VM refuses to attach a thread of the profiler");
    } else {
        e->rc = e->what->work(env, e->what->options, &e->err);
        (void)(*e->vm)->DetachCurrentThread(e->vm);
    }
    sem_post(&e->done);
    return unused;
}

static void await_errand(struct errand *e)
{
    uint64_t until = hpx_clock_mono() + TICK_NS;
    for (unsigned ticks = 1; !hpx_spawn_wait(&e->done, until); ticks++) {
        e->what->each_tick(e->what->number, ticks);
        until += TICK_NS;
    }
}

int hpx_errand_do(JavaVM *vm, const struct hpx_errand *what, struct hpx_err *err)
{
    static struct errand e;
    e.vm = vm;
    e.what = what;
    sem_init(&e.done, 0, 0);
    sent = &e;
    int rc = hpx_spawn(run_errand, what->options != NULL ? "hprofx-begin" : "hprofx-end", &e.err);
    if (rc == 0) {
        await_errand(&e);
        rc = e.rc;
    } else {
        rc = -HPX_E_NOMEM;
    }
    *err = e.err;
    return rc;
}
