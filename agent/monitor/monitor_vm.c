/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor_vm.c: monitor=y in the JVM: capabilities, events, the states of threads. */
#include "attach_barrier.h"
#include "block_thread.h"
#include "census.h"
#include "contention.h"
#include "dump_request.h"
#include "known_threads.h"
#include "lock_frames.h"
#include "log.h"
#include "monitor.h"
#include "monitor_take.h"
#include "park.h"
#include "probe_frames.h"
#include "quiet_stack.h"
#include "threads.h"
#include "virtuals.h"
#include "vm_mode.h"
#include "waits.h"

#define RING_LEAST (16u << 10) /* bytes: a block costs its thread microseconds at least */

static HPX_OF_SESSION _Atomic uint32_t threads; /* relaxed: numbers given out */

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
    if (!hpx_monitor_take_capabilities(jvmti) && hpx_session.in_effect.owner) {
        hpx_warn("owner=: the VM does not name the owners of monitors; MONITOR OWNERS stays empty; load hprofx alone");
        hpx_session.in_effect.owner = HPX_OWNER_NONE;
    }
}

static void callbacks(union hpx_event_callbacks *all)
{
    all->known.MonitorContendedEnter = hpx_contention_enter;
    all->known.MonitorContendedEntered = hpx_contention_entered;
    all->known.MonitorWait = hpx_contention_wait;
    all->known.MonitorWaited = hpx_contention_waited;
    hpx_quiet_stack_callbacks(&all->known);
}

/* ---- life ---- */

static int load(struct hpx_err *err)
{
    (void)err;
    hpx_known_threads_keep(true);
    hpx_virtuals_load();
    hpx_census_load();
    hpx_quiet_stack_load(&hpx_monitor_mode);
    hpx_attach_barrier_load(hpx_vm.java, hpx_vm_release());
    return 0;
}

static void disable(void)
{
    hpx_attach_barrier_unload();
    if (hpx_monitor_env != NULL) {
        (void)(*hpx_monitor_env)->DisposeEnvironment(hpx_monitor_env);
        hpx_monitor_env = NULL;
    }
}

static void ready(JNIEnv *env)
{
    struct hpx_block_thread *t = hpx_block_self;
    bool has = t != NULL && t != &hpx_block_nobody;
    hpx_quiet_stack_ready(hpx_vm.jvmti, env, has ? &t->s.base.counters : NULL);
}

static void live(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti;
    hpx_monitor_take_live(env);
    if (hpx_session.opt->locks || hpx_session.opt->pinned) {
        const char *why = hpx_park_live(env);
        if (why != NULL) {
            hpx_warn("locks=y, pinned=y: parked time is not counted (%s); load hprofx alone, and record no archive of classes", why);
        }
    }
}

/* Events begin here, when what their callbacks read is set. */
static void set_events(jvmtiEnv *jvmti, jvmtiEventMode mode)
{
    static const jvmtiEvent events[] = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
                                        JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED};
    for (size_t i = 0; i < HPX_ARRAY_LEN(events); i++) {
        jvmtiError e = (*jvmti)->SetEventNotificationMode(jvmti, mode, events[i], NULL);
        if (e != JVMTI_ERROR_NONE && mode == JVMTI_ENABLE) {
            hpx_warn("monitor=y: the VM refuses an event (%s); the profile is incomplete; load hprofx alone", hpx_jvmti_error(e));
        }
    }
}

static void open_events(jvmtiEnv *jvmti)
{
    set_events(jvmti, JVMTI_ENABLE);
}

static void close_monitors(jvmtiEnv *jvmti)
{
    JNIEnv *env = hpx_vm_env();
    set_events(jvmti, JVMTI_DISABLE);
    bool lacks = hpx_dump_request_pending(&hpx_monitor_mode) > hpx_monitor_take_waiting();
    if ((hpx_session.opt->doe || lacks) && env != NULL) {
        hpx_monitor_take_now(jvmti, env, true);
    }
}

static void unload(JNIEnv *env)
{
    hpx_park_close(env);
    hpx_waits_forget(env);
    disable();
}

/* ---- threads ---- */

static uint32_t ring_bytes(void)
{
    size_t depth = atomic_load_explicit(&hpx_session.depth, memory_order_relaxed), stacks = hpx_session.in_effect.owner ? 2 : 1;
    return hpx_ring_bytes(RING_LEAST, 4 * HPX_EV_BLOCK_BYTES(HPX_LOCK_FRAMES + HPX_PROBE_FRAMES + depth * stacks));
}

static void made(struct hpx_mode_thread *s)
{
    struct hpx_block_thread *t = state(s);
    t->number = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);
    t->random = UINT64_C(0x9e3779b97f4a7c15) * t->number;
}

static void begin(struct hpx_mode_thread *s, JNIEnv *env, jthread self)
{
    hpx_block_self = state(s);
    hpx_quiet_stack_thread(env, self, &s->base.counters);
}

static void adopted(struct hpx_mode_thread *s)
{
    hpx_block_self = state(s);
}

static void end(struct hpx_mode_thread *s, JNIEnv *env)
{
    (void)s;
    hpx_waits_gone(env);
}

/* The state may be freed after this; the thread still notifies those that join it. */
static void ended(void)
{
    hpx_block_self = &hpx_block_nobody;
}

const struct hpx_vm_mode hpx_monitor_vm = {
    .names = true,
    .finds_itself = true,
    .capabilities = capabilities,
    .optional = optional,
    .callbacks = callbacks,
    .load = load,
    .disable = disable,
    .ready = ready,
    .live = live,
    .open = open_events,
    .close = close_monitors,
    .over = hpx_quiet_stack_over,
    .unload = unload,
    .state_bytes = sizeof(struct hpx_block_thread),
    .ring_bytes = ring_bytes,
    .made = made,
    .begin = begin,
    .adopted = adopted,
    .ended = ended,
    .end = end,
};
