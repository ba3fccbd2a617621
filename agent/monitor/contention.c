/* SPDX-License-Identifier: BSD-2-Clause */
/* contention.c: see contention.h. */
#include "contention.h"
#include "attach_barrier.h"
#include "clock.h"
#include "monitor.h"
#include "places.h"
#include "threads.h"
#include "virtuals.h"
#include "waits.h"

#define HPX_OWNER_EVERY_NS (UINT64_C(10) * 1000000)
#define HPX_OWNER_REST     50u                        /* times as long as a question */
#define LONGEST_REST_NS    (UINT64_C(1000) * 1000000) /* what else stopped the program meanwhile is no reason to rest for minutes */

__thread struct hpx_block_thread *hpx_block_self;
struct hpx_block_thread hpx_block_nobody;

struct hpx_block_thread *hpx_block_find_self(JNIEnv *env)
{
    const struct hpx_block_thread *t = hpx_block_self;
    if (t == &hpx_block_nobody && hpx_threads_left()) {
        return NULL;
    }
    if (hpx_likely(t != NULL && hpx_session_is(t->s.session))) {
        return hpx_block_self;
    }
    (void)hpx_threads_find_self_inside(env);
    t = hpx_block_self;
    return t != NULL && hpx_session_is(t->s.session) ? hpx_block_self : NULL;
}

/* One event of a thread. */
struct event {
    struct hpx_block_thread *t; /* of the carrier, for a virtual thread */
    bool virtual;
    struct hpx_place_of of;
};

/* false: it is not recorded. */
static bool begin(struct event *e, jvmtiEnv *jvmti, JNIEnv *env, jthread thread, enum hpx_block_part part)
{
    if (!hpx_vm_enter(&hpx_session.gate, jvmti)) {
        return false;
    }
    e->t = hpx_block_find_self(env);
    if (e->t == NULL) {
        hpx_gate_leave(&hpx_session.gate);
        return false;
    }
    e->virtual = hpx_vm_is_virtual(env, thread);
    e->of = (struct hpx_place_of){.thread = thread, .part = part};
    return true;
}

/* Looks for what makes the place: not needed at the end of a block that has one. */
static void look(struct event *e, jvmtiEnv *jvmti, JNIEnv *env, jobject object)
{
    e->of.klass = hpx_places_class(jvmti, env, object);
    if (e->virtual && hpx_session.opt->thread) {
        e->of.serial = hpx_virtuals_serial(jvmti, env, e->of.thread);
    }
}

static void end(void)
{
    hpx_gate_leave(&hpx_session.gate);
}

static void keep(const struct event *e, struct hpx_pending *mine, struct hpx_pending p)
{
    if (e->virtual) {
        hpx_virtuals_keep(e->of.thread, p);
    } else {
        *mine = p;
    }
}

static struct hpx_pending take(const struct event *e, struct hpx_pending *mine, uint64_t now)
{
    struct hpx_pending p = *mine;
    if (e->virtual) {
        return hpx_virtuals_take(e->of.thread, now);
    }
    *mine = (struct hpx_pending){0, 0, 0};
    return p;
}

static bool exact(void)
{
    return hpx_session.opt->stacks == HPX_STACKS_EXACT;
}

/* owner=sampled: before this moment nobody asks, because a question stops all threads. Relaxed: who sets it first, asks. */
static HPX_OF_SESSION _Atomic uint64_t next_question;

/* *since: when, for asked(); 0: nobody rests. */
static bool may_ask(uint64_t *since)
{
    enum hpx_owner how = hpx_session.in_effect.owner;
    *since = 0;
    if (how != HPX_OWNER_SAMPLED) {
        return how == HPX_OWNER_ALL;
    }
    uint64_t next = atomic_load_explicit(&next_question, memory_order_relaxed);
    *since = hpx_clock_mono();
    return *since >= next && atomic_compare_exchange_strong_explicit(&next_question, &next, *since + HPX_OWNER_EVERY_NS,
                                                                     memory_order_relaxed, memory_order_relaxed);
}

static void asked(uint64_t since)
{
    uint64_t now = hpx_clock_mono(), rest = (now - since) * HPX_OWNER_REST;
    rest = rest < LONGEST_REST_NS ? rest : LONGEST_REST_NS;
    if (rest > HPX_OWNER_EVERY_NS) {
        atomic_store_explicit(&next_question, now + rest, memory_order_relaxed);
    }
}

/* owner=y: the thread that owns the monitor now; NULL: none any more, or it could not be asked for, or not now. */
static jthread owner_of(jvmtiEnv *jvmti, jobject object)
{
    jvmtiMonitorUsage usage;
    uint64_t since;
    if (!may_ask(&since)) {
        return NULL;
    }
    enum hpx_usage_answer told = hpx_attach_barrier_ask(jvmti, object, &usage);
    if (since != 0) {
        asked(since);
    }
    if (told != HPX_USAGE_TOLD) {
        return NULL;
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)usage.waiters);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)usage.notify_waiters);
    return usage.owner;
}

/* The stack is taken here, where the thread has nothing else to do. */
void JNICALL hpx_contention_enter(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
    struct event e;
    struct hpx_pending p = {.since = hpx_clock_mono()};
    if (!begin(&e, jvmti, env, thread, HPX_BLOCK_ENTER)) {
        return;
    }
    if (exact()) {
        look(&e, jvmti, env, object);
        e.of.owner = owner_of(jvmti, object);
        p.id = hpx_places_take(e.t, jvmti, &e.of, false);
    }
    keep(&e, &e.t->enter, p);
    end();
}

/* A virtual thread keeps its carrier while a monitor blocks it. */
static bool pins(const struct event *e)
{
    return hpx_session.opt->pinned && e->virtual && hpx_virtuals_pinned_by_monitors();
}

static void pinned(const struct event *e, jvmtiEnv *jvmti, uint64_t ns)
{
    struct hpx_place_of of = e->of;
    of.part = HPX_BLOCK_PINNED;
    hpx_places_blocked(e->t, jvmti, &of, exact() ? hpx_places_take(e->t, jvmti, &of, false) : 0, ns, false);
}

void JNICALL hpx_contention_entered(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
    struct event e;
    uint64_t now = hpx_clock_mono();
    if (!begin(&e, jvmti, env, thread, HPX_BLOCK_ENTER)) {
        return;
    }
    struct hpx_pending p = take(&e, &e.t->enter, now);
    if (p.since != 0) { /* else it began before the agent did */
        if (p.id == 0 || pins(&e)) {
            look(&e, jvmti, env, object);
        }
        hpx_places_blocked(e.t, jvmti, &e.of, p.id, now - p.since, false);
        if (pins(&e)) {
            pinned(&e, jvmti, now - p.since);
        }
    }
    end();
}

static bool logs(void)
{
    return atomic_load_explicit(&hpx_monitor_shared.logs, memory_order_relaxed);
}

/* For a WAIT line; 0: the ring's thread. */
static uint32_t serial_of(const struct event *e, jvmtiEnv *jvmti, JNIEnv *env)
{
    return e->virtual && logs() ? hpx_virtuals_serial(jvmti, env, e->of.thread) : 0;
}

void JNICALL hpx_contention_wait(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jlong timeout)
{
    struct event e;
    struct hpx_pending p = {.since = hpx_clock_mono()};
    bool place = hpx_session.opt->waits && exact();
    if (!begin(&e, jvmti, env, thread, HPX_BLOCK_WAIT)) {
        return;
    }
    look(&e, jvmti, env, object);
    p.klass = e.of.klass;
    if (logs()) {
        hpx_places_put(e.t, HPX_EV_WAIT, e.of.klass, (uint64_t)timeout, serial_of(&e, jvmti, env));
    }
    if (!e.virtual) {
        hpx_waits_begin(env, thread, object);
    }
    p.id = place ? hpx_places_take(e.t, jvmti, &e.of, false) : 0;
    keep(&e, &e.t->wait, p);
    end();
}

void JNICALL hpx_contention_waited(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jboolean timed_out)
{
    struct event e;
    uint64_t now = hpx_clock_mono();
    (void)timed_out;
    if (!begin(&e, jvmti, env, thread, HPX_BLOCK_WAIT)) {
        return;
    }
    struct hpx_pending p = take(&e, &e.t->wait, now);
    if (!e.virtual) {
        hpx_waits_end(env);
    }
    look(&e, jvmti, env, object);
    /* The VM also tells of waits of its own, as for a static initialiser, but not of their beginning; and before JDK 22 of the beginning of
     * one that fails because the thread does not own the monitor. */
    if (p.since != 0 && (p.klass == 0 || p.klass == e.of.klass)) {
        hpx_places_put(e.t, HPX_EV_WAITED, e.of.klass, now - p.since, serial_of(&e, jvmti, env));
        if (hpx_session.opt->waits) {
            hpx_places_blocked(e.t, jvmti, &e.of, p.id, now - p.since, false);
        }
        if (pins(&e)) {
            pinned(&e, jvmti, now - p.since);
        }
    }
    end();
}
