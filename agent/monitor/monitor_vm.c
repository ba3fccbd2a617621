/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor_vm.c: monitor=y in the JVM: capabilities, events, the states of threads. */
#include "block_thread.h"
#include "contention.h"
#include "lock_frames.h"
#include "log.h"
#include "monitor.h"
#include "monitor_take.h"
#include "park.h"
#include "thread_refs.h"
#include "threads.h"
#include "virtuals.h"
#include "vm_mode.h"
#include "waits.h"
#include <stdlib.h>
#include <string.h>

#define RING_LEAST (16u << 10) /* bytes: a block costs its thread microseconds at least */

static _Atomic uint32_t threads; /* relaxed: numbers given out */

static struct hpx_block_thread *state(struct hpx_mode_thread *s)
{
    return (struct hpx_block_thread *)(void *)s;
}

/* ---- what it needs ---- */

static void capabilities(jvmtiCapabilities *want)
{
    want->can_generate_monitor_events = 1;
    want->can_tag_objects = 1; /* numbers of classes */
}

static void optional(jvmtiEnv *jvmti)
{
    struct hpx_options *o = &hpx_session.opt;
    jvmtiCapabilities usage = {.can_get_monitor_info = 1};
    hpx_monitor_take_capabilities(jvmti);
    jvmtiError e = o->owner ? (*jvmti)->AddCapabilities(jvmti, &usage) : JVMTI_ERROR_NONE;
    if (e != JVMTI_ERROR_NONE) {
        hpx_warn("owner=y: the VM does not name the owners of monitors (%s); MONITOR OWNERS stays empty; load hprofx alone",
                 hpx_jvmti_error(e));
        o->owner = false;
    }
}

static void callbacks(union hpx_event_callbacks *all)
{
    all->known.MonitorContendedEnter = hpx_contention_enter;
    all->known.MonitorContendedEntered = hpx_contention_entered;
    all->known.MonitorWait = hpx_contention_wait;
    all->known.MonitorWaited = hpx_contention_waited;
}

/* ---- life ---- */

static int load(struct hpx_err *err)
{
    struct hpx_options *o = &hpx_session.opt;
    (void)err;
    hpx_thread_refs_use(true);
    hpx_virtuals_load();
    if (o->locks || o->pinned) {
        hpx_park_load();
    }
    return 0;
}

static jint release_of(jvmtiEnv *jvmti)
{
    jint version = 0;
    (void)(*jvmti)->GetVersionNumber(jvmti, &version);
    jint release = (version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR;
    return release > 1 ? release : 8; /* JVMTI 1.2 */
}

static void live(jvmtiEnv *jvmti, JNIEnv *env)
{
    hpx_virtuals_live(env, release_of(jvmti));
    hpx_monitor_take_live(env);
    if (hpx_session.opt.locks || hpx_session.opt.pinned) {
        hpx_park_live(env);
    }
}

static void close_monitors(jvmtiEnv *jvmti)
{
    JNIEnv *env = NULL;
    if (hpx_session.opt.doe && (*hpx_vm.java)->GetEnv(hpx_vm.java, (void **)&env, JNI_VERSION_1_6) == JNI_OK) {
        hpx_monitor_take_now(jvmti, env, true);
    }
}

/* ---- threads ---- */

static uint32_t ring_size(void)
{
    size_t depth = atomic_load_explicit(&hpx_session.depth, memory_order_relaxed);
    size_t least = 4 * HPX_EV_BLOCK_BYTES(HPX_LOCK_FRAMES + depth * (hpx_session.opt.owner ? 2 : 1)), size = RING_LEAST;
    while (size < least) {
        size *= 2;
    }
    return (uint32_t)size;
}

static struct hpx_mode_thread *make(void)
{
    struct hpx_block_thread *t = NULL;
    if (posix_memalign((void **)&t, HPX_CACHE_LINE, sizeof *t) != 0) {
        return NULL;
    }
    memset(t, 0, sizeof *t);
    if (hpx_mode_thread_init(&t->s, &hpx_monitor_mode, ring_size()) != 0) {
        free(t);
        return NULL;
    }
    t->number = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
    t->random = UINT64_C(0x9e3779b97f4a7c15) * t->number;
    return &t->s;
}

static void destroy(struct hpx_mode_thread *s)
{
    hpx_ring_fini(&s->base.ring);
    free(state(s));
}

static void begin(struct hpx_mode_thread *s, JNIEnv *env, jthread self)
{
    (void)env, (void)self;
    hpx_block_self = state(s);
}

static void adopted(struct hpx_mode_thread *s)
{
    hpx_block_self = state(s);
}

static void disarm(struct hpx_mode_thread *s)
{
    (void)s;
    hpx_block_self = &hpx_block_nobody; /* the state may be freed after this; the thread still notifies those that join it */
}

static void end(struct hpx_mode_thread *s, JNIEnv *env)
{
    (void)s;
    hpx_waits_gone(env);
}

static void ours(void)
{
    hpx_block_self = &hpx_block_nobody;
}

const struct hpx_vm_mode hpx_monitor_vm = {
    .names = true,
    .finds_itself = true,
    .on_live = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, JVMTI_EVENT_MONITOR_WAIT,
                JVMTI_EVENT_MONITOR_WAITED},
    .capabilities = capabilities,
    .optional = optional,
    .callbacks = callbacks,
    .load = load,
    .live = live,
    .close = close_monitors,
    .make = make,
    .destroy = destroy,
    .begin = begin,
    .adopted = adopted,
    .disarm = disarm,
    .end = end,
    .ours = ours,
};
