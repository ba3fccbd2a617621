/* SPDX-License-Identifier: BSD-2-Clause */
/* looker.c: see looker.h. */
#include "looker.h"
#include "clock.h"
#include "event.h"
#include "log.h"
#include "releases.h"
#include "thread_info.h"
#include "threads.h"
#include <stdlib.h>

#define LEAVE_NS (300ull * 1000 * 1000)

bool hpx_looker_asks_one(void)
{
    return hpx_vm_release() >= HPX_RELEASE_HANDSHAKES;
}

/* A late one is not asked for. */
static void ask_one(struct hpx_looker *l, JNIEnv *env, const struct hpx_held *h, jint most, hpx_looker_told *told)
{
    jint n = 0;
    uint64_t from = hpx_clock_mono();
    jvmtiError e = hpx_looker_late(l) ? JVMTI_ERROR_THREAD_NOT_ALIVE : hpx_thread_info_stack(hpx_vm.jvmti, h->ref, most, l->frames, &n);
    l->asking_ns += hpx_clock_mono() - from;
    int why = e == JVMTI_ERROR_THREAD_NOT_ALIVE ? HPX_UNKNOWN_THREAD_ENDED : HPX_UNKNOWN_OTHER;
    told(env, h, l->frames, e == JVMTI_ERROR_NONE ? n : -why);
}

void hpx_looker_ask(struct hpx_looker *l, JNIEnv *env, const struct hpx_held *held, uint32_t n, jint most, hpx_looker_told *told)
{
    jvmtiStackInfo *infos = NULL;
    jthread refs[HPX_HELD_MOST] = {NULL};
    jvmtiError e = JVMTI_ERROR_NOT_AVAILABLE;
    if (n > 1 && !hpx_looker_asks_one() && !hpx_looker_late(l)) {
        for (uint32_t i = 0; i < n; i++) {
            refs[i] = held[i].ref;
        }
        uint64_t from = hpx_clock_mono();
        e = (*hpx_vm.jvmti)->GetThreadListStackTraces(hpx_vm.jvmti, (jint)n, refs, most, &infos);
        l->asking_ns += hpx_clock_mono() - from;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (e != JVMTI_ERROR_NONE) {
            ask_one(l, env, &held[i], most, told);
        } else {
            bool alive = (infos[i].state & JVMTI_THREAD_STATE_ALIVE) != 0;
            told(env, &held[i], infos[i].frame_buffer, alive ? infos[i].frame_count : -(jint)HPX_UNKNOWN_THREAD_ENDED);
        }
    }
    if (infos != NULL) {
        (*hpx_vm.jvmti)->Deallocate(hpx_vm.jvmti, (unsigned char *)infos);
    }
}

void hpx_looker_run(struct hpx_looker *l)
{
    hpx_spawn_enter(l->work->name, &l->thread);
    l->frames = malloc(l->work->room * sizeof *l->frames);
    JNIEnv *env = l->frames != NULL ? hpx_threads_attach(l->work->java_name) : NULL;
    if (env == NULL) {
        hpx_warn("%s", l->work->refused);
    } else {
        l->work->serve(env);
        (*hpx_vm.java)->DetachCurrentThread(hpx_vm.java);
    }
    free(l->frames);
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

void hpx_looker_stop(struct hpx_looker *l)
{
    pthread_mutex_lock(&l->starting);
    l->gone = l->state != HPX_LOOKER_STARTED;
    l->state = HPX_LOOKER_REFUSED; /* for good */
    pthread_mutex_unlock(&l->starting);
    if (!l->gone) {
        uint64_t now = hpx_clock_mono();
        atomic_store_explicit(&l->until, now + LEAVE_NS / 2, memory_order_relaxed);
        atomic_store_explicit(&l->quit, true, memory_order_relaxed);
        hpx_wake_post(&l->wake);
        l->gone = hpx_spawn_wait(&l->left, now + LEAVE_NS);
    }
}

bool hpx_looker_left(struct hpx_looker *l, uint64_t until_ns)
{
    l->gone = l->gone || l->state == HPX_LOOKER_NOT_YET || hpx_spawn_wait(&l->left, until_ns);
    return l->gone;
}
