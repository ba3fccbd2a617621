/* SPDX-License-Identifier: BSD-2-Clause */
/* looker.c: see looker.h. */
#include "looker.h"
#include "clock.h"
#include "log.h"
#include "releases.h"
#include "threads.h"

bool hpx_looker_asks_one(void)
{
    return hpx_vm_release() >= HPX_RELEASE_HANDSHAKES;
}

void hpx_looker_run(struct hpx_looker *l)
{
    hpx_spawn_enter(l->work->name, &l->thread);
    JNIEnv *env = hpx_threads_attach(l->work->java_name);
    if (env == NULL) {
        hpx_warn("%s", l->work->refused);
    } else {
        l->work->serve(env);
        (*hpx_vm.java)->DetachCurrentThread(hpx_vm.java);
    }
    atomic_store_explicit(&l->running, false, memory_order_relaxed);
    hpx_spawn_leave(&l->thread);
    sem_post(&l->left);
}

int hpx_looker_start(struct hpx_looker *l, const struct hpx_looker_work *work, struct hpx_err *err)
{
    pthread_mutex_lock(&l->starting);
    if (l->state == HPX_LOOKER_NOT_YET) {
        l->work = work;
        sem_init(&l->left, 0, 0);
        atomic_store_explicit(&l->running, true, memory_order_relaxed); /* first: the thread says when it ends */
        l->state = hpx_spawn(l->work->run, l->work->name, err) == 0 ? HPX_LOOKER_STARTED : HPX_LOOKER_REFUSED;
    } else if (l->state == HPX_LOOKER_REFUSED) {
        hpx_err_set(err, HPX_E_SYS, "thread %s could not be started earlier", work->name);
    }
    if (l->state == HPX_LOOKER_REFUSED) {
        atomic_store_explicit(&l->running, false, memory_order_relaxed);
    }
    int rc = l->state == HPX_LOOKER_STARTED ? 0 : -HPX_E_SYS;
    pthread_mutex_unlock(&l->starting);
    return rc;
}

bool hpx_looker_late(const struct hpx_looker *l)
{
    uint64_t until = atomic_load_explicit(&l->until, memory_order_relaxed);
    return until != 0 && hpx_clock_mono() > until;
}

void hpx_looker_stop(struct hpx_looker *l, uint64_t ns)
{
    pthread_mutex_lock(&l->starting);
    l->gone = l->state != HPX_LOOKER_STARTED;
    l->state = HPX_LOOKER_REFUSED; /* for good */
    pthread_mutex_unlock(&l->starting);
    if (!l->gone) {
        uint64_t now = hpx_clock_mono();
        atomic_store_explicit(&l->until, now + ns / 2, memory_order_relaxed);
        atomic_store_explicit(&l->quit, true, memory_order_relaxed);
        hpx_wake_post(&l->wake);
        l->gone = hpx_spawn_wait(&l->left, now + ns);
    }
}

bool hpx_looker_left(struct hpx_looker *l, uint64_t until_ns)
{
    l->gone = l->gone || l->state == HPX_LOOKER_NOT_YET || hpx_spawn_wait(&l->left, until_ns);
    return l->gone;
}
