/* SPDX-License-Identifier: BSD-2-Clause */
/* ask_threads.c: threads, their states and stacks. */
#include "asker.h"
#include "known_threads.h"
#include "probe_frames.h"
#include "session.h"
#include "thread_info.h"
#include "waits.h"
#include <stdlib.h>

/* Neither tag nor identity hash: both would change the program's object. 0: the thread is being made. */
static uint64_t tid_of(const struct hpx_asker *a, jthread thread)
{
    return (uint64_t)(*a->env)->GetLongField(a->env, thread, hpx_vm_fields.tid);
}

uint32_t hpx_asker_thread(const struct hpx_asker *a, jthread thread)
{
    return thread != NULL ? hpx_id_map_find(&a->by_tid, tid_of(a, thread)) : HPX_ASKED_NONE; /* HPX_INTERN_NONE is the same */
}

/* NULL: it is listed already, is being made, or no memory. */
static struct hpx_asked_thread *add(struct hpx_asker *a, jthread thread, uint32_t serial)
{
    uint64_t tid = tid_of(a, thread);
    struct hpx_asked_thread *t = tid != 0 && hpx_id_map_find(&a->by_tid, tid) == HPX_INTERN_NONE ? hpx_vec_push(&a->threads) : NULL;
    if (t == NULL) {
        return NULL;
    }
    if (hpx_id_map_bind(&a->by_tid, tid) == HPX_INTERN_NONE) {
        a->threads.len--;
        a->no_memory = true;
        return NULL;
    }
    *t = (struct hpx_asked_thread){
        .ref = thread, .serial = serial, .monitor = HPX_ASKED_NONE, .notified = HPX_ASKED_NONE, .lock_owner = HPX_ASKED_NONE};
    return t;
}

static int by_serial(const void *x, const void *y)
{
    uint32_t a = ((const struct hpx_thread_ref *)x)->serial, b = ((const struct hpx_thread_ref *)y)->serial;
    return (a > b) - (a < b);
}

static void add_announced(struct hpx_asker *a)
{
    struct hpx_thread_ref *refs = NULL;
    uint32_t n = hpx_known_threads_list(a->env, &refs, false);
    a->no_memory = a->no_memory || refs == NULL;
    if (refs != NULL) {
        qsort(refs, n, sizeof *refs, by_serial);
    }
    for (uint32_t i = 0; refs != NULL && i < n; i++) {
        struct hpx_asked_thread *t = add(a, refs[i].thread, refs[i].serial);
        if (t != NULL && refs[i].ended) {
            t->state = JVMTI_THREAD_STATE_TERMINATED; /* unless the VM still lists it */
        }
    }
    a->announced = a->threads.len;
    free(refs);
}

/* All stacks and states are of one moment. */
static void take_stacks(struct hpx_asker *a)
{
    jvmtiStackInfo *all = NULL;
    jint n = 0;
    struct hpx_named_stacks named;
    uint32_t depth = atomic_load_explicit(&hpx_session.depth, memory_order_relaxed);
    depth = depth < HPX_TRACE_FRAMES ? depth : HPX_TRACE_FRAMES;
    uint64_t begun = hpx_asker_begin();
    jvmtiError e = (*a->jvmti)->GetAllStackTraces(a->jvmti, (jint)(depth + HPX_PROBE_FRAMES), &all, &n);
    hpx_asker_end(a, begun);
    if (e != JVMTI_ERROR_NONE) {
        a->take->failed = "the VM does not list its threads";
        return;
    }
    (void)(*a->env)->EnsureLocalCapacity(a->env, n + 64);
    (*a->env)->ExceptionClear(a->env);
    a->no_memory = hpx_named_stacks_init(&named, a->jvmti, a->env, &a->take->arena, false) != 0 || a->no_memory;
    for (jint i = 0; !a->no_memory && i < n; i++) {
        uint32_t known = hpx_asker_thread(a, all[i].thread);
        struct hpx_asked_thread *t = known != HPX_ASKED_NONE ? hpx_asked_thread(a, known) : add(a, all[i].thread, HPX_SERIAL_THREAD);
        if (t != NULL) {
            t->alive = true;
            t->state = all[i].state;
            if (hpx_asker_late()) {
                a->late.stacks++;
            } else {
                hpx_named_stacks_take(&named, &all[i], depth, &t->stack, NULL);
            }
        }
        if (t == NULL || known != HPX_ASKED_NONE) {
            (*a->env)->DeleteLocalRef(a->env, all[i].thread);
        }
    }
    hpx_named_stacks_fini(&named);
    hpx_asker_release(a, all);
}

/* The monitor that a thread waits for may be another one than at the moment of the stacks. */
static void add_waits(struct hpx_asker *a)
{
    struct hpx_wait_ref *refs = NULL;
    uint32_t n = hpx_waits_wanted ? hpx_waits_list(a->env, &refs) : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t thread = hpx_id_map_find(&a->by_tid, refs[i].tid);
        if (thread != HPX_INTERN_NONE && hpx_asked_thread(a, thread)->waited == NULL) {
            hpx_asked_thread(a, thread)->waited = refs[i].object;
        } else {
            (*a->env)->DeleteLocalRef(a->env, refs[i].object);
        }
    }
    free(refs);
}

void hpx_ask_threads(struct hpx_asker *a)
{
    add_announced(a);
    take_stacks(a);
    add_waits(a);
    for (uint32_t i = 0; a->take->failed == NULL && i < a->announced; i++) {
        struct hpx_asked_thread *t = hpx_asked_thread(a, i);
        if (!t->alive && t->state == 0) { /* it ended meanwhile */
            (void)hpx_thread_info_bits(a->jvmti, a->env, t->ref, &t->state);
        }
    }
}
