/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.c: the looking thread of watch.h and its list of threads. */
#include "watch.h"
#include "clock.h"
#include "hash.h"
#include "log.h"
#include "probe_frames.h"
#include "run_delay.h"
#include "service.h"
#include "session.h"
#include "share.h"
#include "snapshot.h"
#include "spawn.h"
#include "threads.h"
#include "vec.h"
#include "vm.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define RING_BYTES  (1u << 20)
#define BATCH       64u /* threads that are looked at under the lock, and stacks per call where one costs a safepoint */
#define HANDSHAKES  16  /* the release from which on one stack costs a handshake with its thread alone */
#define ROUND_SHARE 20u /* a round may take 1/ROUND_SHARE of a CPU, or of the time if its stacks stop all threads */
#define READY_LEAST UINT64_C(1000000)
#define MARK        UINT64_C(0x9e3779b97f4a7c15)

struct watched {
    struct hpx_mode_thread *first; /* its states; NULL: a free place, or `held` */
    jthread ref;
    bool held;    /* the looking thread uses ref: the place must not be freed */
    bool defined; /* the last WALL_DEF of this place is of this thread */
    pid_t tid;    /* 0: not known yet */
    uint32_t serial, state;
    uint64_t delay_ns; /* run delay when it was asked for last */
    struct hpx_share share;
    struct hpx_hash128 hash; /* of the frames of that WALL_DEF */
};

struct job {
    jthread ref;
    uint32_t place;
    bool ran; /* just before the look */
};

/* What the VM said of a thread. */
struct found {
    const jvmtiFrameInfo *frames;
    jint n; /* < 0: no stack, -enum hpx_unknown */
    uint32_t state;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static HPX_OF_SESSION struct {
    /* the lock's */
    struct hpx_thread *out; /* its ring; NULL: none */
    struct hpx_vec all;     /* struct watched, by place */
    struct hpx_vec due;     /* uint64_t, by place: when to look (hpx_clock_mono()); UINT64_MAX: free */
    struct hpx_vec unused;  /* uint32_t: free places, the first `nunused` */
    uint32_t nunused;
    /* both sides */
    struct hpx_wake wake;
    _Atomic uint64_t asked; /* number of the last round that was asked for. release: hpx_watch_ask(); acquire: serve(). Covers asked_look */
    _Atomic uint64_t asked_look; /* the last of them that looks at all threads */
    _Atomic uint64_t done;       /* the last one done. release: serve(); acquire: hpx_watch_done(). Covers the records */
    atomic_bool quit, running;   /* relaxed */
    _Atomic uint64_t until;      /* relaxed: from then on the VM is asked no more; 0: no end is in sight */
    _Atomic uint64_t rounds, looks, stacks, moved, threads; /* relaxed: figures */
    uint64_t began;                                         /* constant once it runs */
    struct hpx_spawned thread;
    sem_t left;
    bool started, gone;
    /* the looking thread's */
    jvmtiFrameInfo *frames;
    bool single;
    uint64_t random;
} watch;

static uint32_t random32(void)
{
    watch.random = watch.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(watch.random >> 32);
}

static struct watched *at(uint32_t place)
{
    return hpx_vec_at(&watch.all, place);
}

static uint64_t *due_at(uint32_t place)
{
    return hpx_vec_at(&watch.due, place);
}

/* ---- records; the lock is held, and the gate entered or the caller a thread of the program inside it ---- */

static struct hpx_ev_head *reserve(size_t bytes)
{
    struct hpx_ev_head *ev = watch.out != NULL ? hpx_ring_reserve(&watch.out->ring, bytes) : NULL;
    if (ev == NULL || hpx_ring_used(&watch.out->ring) > RING_BYTES / 2) {
        hpx_aggregator_wake(&hpx_session.aggregator);
    }
    return ev;
}

/* false: the ring is full, and it is tried again at the next occasion. */
static bool put_due(uint32_t place, struct watched *w)
{
    struct hpx_ev_head *ev = w->share.due_ns > 0 && w->defined ? reserve(sizeof *ev) : NULL;
    if (ev == NULL) {
        return w->share.due_ns == 0;
    }
    ev->kind = HPX_EV_WALL;
    ev->id = place;
    ev->stamp = w->share.due_ns;
    hpx_ring_commit(&watch.out->ring, ev, sizeof *ev);
    w->share.due_ns = 0;
    return true;
}

static void put_ready(struct watched *w, uint64_t least)
{
    size_t bytes = sizeof(struct hpx_ev_head) + sizeof(struct hpx_ev_thread);
    struct hpx_ev_head *ev = w->share.ready_ns > least ? reserve(bytes) : NULL;
    if (ev != NULL) {
        ev->kind = HPX_EV_WALL_READY;
        ev->id = 0;
        ev->stamp = w->share.ready_ns;
        *(struct hpx_ev_thread *)(ev + 1) = (struct hpx_ev_thread){.serial = w->serial};
        hpx_ring_commit(&watch.out->ring, ev, bytes);
        w->share.ready_ns = 0;
    }
}

static uint32_t depth(void)
{
    return atomic_load_explicit(&hpx_session.depth, memory_order_relaxed);
}

/* The thread is there from now on. false: the ring is full. */
static bool put_place(uint32_t place, struct watched *w, const struct found *f)
{
    uint32_t probe = f->n > 0 ? hpx_probe_frames_vm(f->frames, f->n) : 0, n = f->n > 0 ? (uint32_t)f->n - probe : 0;
    n = n < depth() ? n : depth();
    struct hpx_ev_head *ev = put_due(place, w) ? reserve(HPX_EV_WALL_BYTES(n)) : NULL;
    if (ev == NULL) {
        return false;
    }
    struct hpx_ev_hash *hash = (struct hpx_ev_hash *)(ev + 1);
    struct hpx_ev_wall *wall = (struct hpx_ev_wall *)(hash + 1);
    struct hpx_ev_frame *to = (struct hpx_ev_frame *)(wall + 1);
    for (uint32_t i = 0; i < n; i++) {
        const jvmtiFrameInfo *from = &f->frames[probe + i];
        to[i] = (struct hpx_ev_frame){(int32_t)from->location, 0, (uint64_t)(uintptr_t)from->method};
    }
    struct hpx_hash128 h = hpx_hash128(to, n * sizeof *to);
    if (w->defined && n > 0 && w->state == f->state && w->hash.lo == h.lo && w->hash.hi == h.hi) {
        return true; /* the next reserve discards this one */
    }
    *hash = (struct hpx_ev_hash){h.lo, h.hi};
    *wall = (struct hpx_ev_wall){w->serial, f->state, f->n < 0 ? (uint32_t)-f->n : HPX_UNKNOWN_NO_JAVA, 0};
    ev->kind = HPX_EV_WALL_DEF;
    ev->id = place;
    ev->stamp = 0;
    hpx_ring_commit(&watch.out->ring, ev, HPX_EV_WALL_BYTES(n));
    w->defined = true;
    w->state = f->state;
    w->hash = n > 0 ? h : (struct hpx_hash128){0, 0};
    return true;
}

/* What is known of a thread that will not be looked at again. */
static void settle(uint32_t place, struct watched *w)
{
    static const struct found nowhere = {NULL, -(jint)HPX_UNKNOWN_THREAD_ENDED, HPX_WALL_NATIVE};
    if (w->share.carry_ns > 0 && put_place(place, w, &nowhere)) {
        hpx_share_place(&w->share);
    }
    put_ready(w, 0);
    if (!put_due(place, w) || w->share.carry_ns > 0) {
        hpx_count(&hpx_session.counters, HPX_C_LOST_RING_FULL, 1);
    }
}

/* ---- the list; the lock is held ---- */

static uint32_t take_place(void)
{
    if (watch.nunused > 0) {
        return *(const uint32_t *)hpx_vec_at(&watch.unused, --watch.nunused);
    }
    uint64_t *due = watch.due.len > watch.all.len ? due_at(watch.all.len) : hpx_vec_push(&watch.due);
    return due != NULL && hpx_vec_push(&watch.all) != NULL ? watch.all.len - 1 : UINT32_MAX;
}

/* Returns the reference, which the caller must delete. A place that cannot be noted stays empty. */
static jthread free_place(uint32_t place)
{
    struct watched *w = at(place);
    jthread ref = w->ref;
    uint32_t *entry = watch.unused.len > watch.nunused ? hpx_vec_at(&watch.unused, watch.nunused) : hpx_vec_push(&watch.unused);
    *w = (struct watched){.first = NULL};
    *due_at(place) = UINT64_MAX;
    if (entry != NULL) {
        *entry = place;
        watch.nunused++;
    }
    return ref;
}

static void begin(uint32_t place, struct watched *w, pid_t tid)
{
    uint64_t now = hpx_clock_mono();
    w->tid = tid;
    hpx_share_begin(&w->share, now, hpx_clock_tid_cpu(tid));
    w->delay_ns = hpx_run_delay(tid);
    *due_at(place) = now;
}

void hpx_watch_add(struct hpx_mode_thread *first, JNIEnv *env, jthread thread)
{
    jthread ref = thread != NULL ? (*env)->NewGlobalRef(env, thread) : NULL;
    if (ref == NULL) {
        (*env)->ExceptionClear(env); /* no memory: the program's thread must not find our exception */
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNSAMPLED, 1);
        return;
    }
    pthread_mutex_lock(&lock);
    uint32_t place = take_place();
    if (place != UINT32_MAX) {
        struct watched *w = at(place);
        *w = (struct watched){.first = first, .ref = ref, .serial = first->serial};
        *due_at(place) = 0;
        if (first->tid > 0) {
            begin(place, w, first->tid);
        }
        first->watched = place + 1;
        atomic_fetch_add_explicit(&watch.threads, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
    if (place == UINT32_MAX) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNSAMPLED, 1);
        (*env)->DeleteGlobalRef(env, ref);
    }
}

static uint64_t delay_of(struct watched *w)
{
    uint64_t delay = hpx_run_delay(w->tid), before = w->delay_ns;
    w->delay_ns = delay;
    return delay > before ? delay - before : 0;
}

/* Returns whether the thread's place has to be found out. *ran: since the last look. */
static bool look(struct watched *w, bool *ran)
{
    uint64_t cpu = hpx_clock_tid_cpu(w->tid), now = hpx_clock_mono();
    *ran = hpx_share_has_run(&w->share, cpu);
    return hpx_share_look(&w->share, now, cpu, *ran ? delay_of(w) : 0, *ran ? random32() : 0);
}

void hpx_watch_remove(struct hpx_mode_thread *first, JNIEnv *env)
{
    bool ran;
    if (first->watched == 0) {
        return;
    }
    uint32_t place = first->watched - 1;
    pthread_mutex_lock(&lock);
    struct watched *w = at(place);
    if (w->tid > 0) {
        (void)look(w, &ran);
        settle(place, w);
    }
    w->first = NULL;
    *due_at(place) = UINT64_MAX;
    jthread ref = w->held ? NULL : free_place(place);
    pthread_mutex_unlock(&lock);
    first->watched = 0;
    atomic_fetch_sub_explicit(&watch.threads, 1, memory_order_relaxed);
    if (ref != NULL) {
        (*env)->DeleteGlobalRef(env, ref);
    }
}

/* ---- the looking thread ---- */

static void deliver(JNIEnv *env, const struct job *j, const struct found *f)
{
    jthread ref = NULL;
    bool inside = hpx_gate_enter(&hpx_session.gate);
    pthread_mutex_lock(&lock);
    struct watched *w = at(j->place);
    w->held = false;
    if (w->first == NULL) {
        ref = free_place(j->place);
    } else if (inside && f != NULL) {
        bool same = !hpx_share_has_run(&w->share, hpx_clock_tid_cpu(w->tid));
        if (same && put_place(j->place, w, f)) {
            hpx_share_place(&w->share);
        }
        atomic_fetch_add_explicit(&watch.stacks, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&watch.moved, !same, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
    if (inside) {
        hpx_gate_leave(&hpx_session.gate);
    }
    if (ref != NULL) {
        (*env)->DeleteGlobalRef(env, ref);
    }
}

static uint32_t state_of(jint bits)
{
    return (bits & JVMTI_THREAD_STATE_SLEEPING) != 0                   ? HPX_WALL_SLEEPING
           : (bits & JVMTI_THREAD_STATE_PARKED) != 0                   ? HPX_WALL_PARKED
           : (bits & JVMTI_THREAD_STATE_IN_OBJECT_WAIT) != 0           ? HPX_WALL_WAITING
           : (bits & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0 ? HPX_WALL_BLOCKED
                                                                       : HPX_WALL_NATIVE;
}

/* It runs Java code, or is in the VM: to take its stack now would stop it. If it has not run until the next look, it waits in the VM. */
static bool is_running(jint bits, bool ran)
{
    return ran && (bits & JVMTI_THREAD_STATE_RUNNABLE) != 0 && (bits & JVMTI_THREAD_STATE_IN_NATIVE) == 0;
}

static jint most_frames(void)
{
    return (jint)(depth() + hpx_probe_frames_most());
}

static bool late(void)
{
    uint64_t until = atomic_load_explicit(&watch.until, memory_order_relaxed);
    return until != 0 && hpx_clock_mono() > until;
}

static void take_one(JNIEnv *env, const struct job *j, uint32_t state)
{
    struct found f = {watch.frames, 0, state};
    jvmtiError e = (*hpx_vm.jvmti)->GetStackTrace(hpx_vm.jvmti, j->ref, 0, most_frames(), watch.frames, &f.n);
    deliver(env, j, e == JVMTI_ERROR_NONE ? &f : NULL);
}

static void take_together(JNIEnv *env, const struct job *jobs, const uint32_t *states, uint32_t n)
{
    jvmtiStackInfo *infos = NULL;
    jthread refs[BATCH] = {NULL};
    for (uint32_t i = 0; i < n; i++) {
        refs[i] = jobs[i].ref;
    }
    jvmtiError e = (*hpx_vm.jvmti)->GetThreadListStackTraces(hpx_vm.jvmti, (jint)n, refs, most_frames(), &infos);
    for (uint32_t i = 0; i < n; i++) {
        struct found f = {e == JVMTI_ERROR_NONE ? infos[i].frame_buffer : NULL, e == JVMTI_ERROR_NONE ? infos[i].frame_count : 0,
                          states[i]};
        deliver(env, &jobs[i], e == JVMTI_ERROR_NONE && (infos[i].state & JVMTI_THREAD_STATE_ALIVE) != 0 ? &f : NULL);
    }
    if (e == JVMTI_ERROR_NONE) {
        (*hpx_vm.jvmti)->Deallocate(hpx_vm.jvmti, (unsigned char *)infos);
    }
}

static void take(JNIEnv *env, struct job *jobs, uint32_t n)
{
    uint32_t states[BATCH], kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        jint bits = 0;
        bool asks = !late() && (*hpx_vm.jvmti)->GetThreadState(hpx_vm.jvmti, jobs[i].ref, &bits) == JVMTI_ERROR_NONE &&
                    (bits & JVMTI_THREAD_STATE_ALIVE) != 0 && !is_running(bits, jobs[i].ran);
        if (!asks) {
            deliver(env, &jobs[i], NULL);
        } else if (watch.single) {
            take_one(env, &jobs[i], state_of(bits));
        } else {
            states[kept] = state_of(bits);
            jobs[kept++] = jobs[i];
        }
    }
    if (kept > 0) {
        take_together(env, jobs, states, kept);
    }
}

struct round {
    bool look, sums; /* looks at all threads; writes what is due of all */
    uint64_t now;
};

/* One thread of a round. The lock is held. */
static void pass(uint32_t place, const struct round *r, struct job *jobs, uint32_t *n)
{
    struct watched *w = at(place);
    if (w->first == NULL || w->held) {
        return;
    }
    if (w->tid == 0) { /* an older thread: it finds its states, and then its id is known */
        pid_t tid = __atomic_load_n(&w->first->tid, __ATOMIC_RELAXED);
        if (tid == 0) {
            return;
        }
        begin(place, w, tid);
    }
    struct job j = {w->ref, place, false};
    w->held = look(w, &j.ran);
    if (w->held) {
        jobs[(*n)++] = j;
    }
    put_ready(w, r->sums ? 0 : READY_LEAST);
    *due_at(place) = hpx_share_next(&w->share, hpx_session.opt->wall_ns);
    atomic_fetch_add_explicit(&watch.looks, 1, memory_order_relaxed);
}

/* false: the places are over. */
static bool pass_batch(JNIEnv *env, uint32_t from, const struct round *r)
{
    struct job jobs[BATCH];
    uint32_t n = 0;
    bool inside = hpx_gate_enter(&hpx_session.gate);
    pthread_mutex_lock(&lock);
    uint32_t end = from + BATCH < watch.all.len ? from + BATCH : watch.all.len;
    bool more = end < watch.all.len;
    for (uint32_t i = from; inside && i < end; i++) {
        if (*due_at(i) <= r->now || (r->look && *due_at(i) != UINT64_MAX)) {
            pass(i, r, jobs, &n);
        }
    }
    pthread_mutex_unlock(&lock);
    if (inside) {
        hpx_gate_leave(&hpx_session.gate);
    }
    take(env, jobs, n);
    return more;
}

static bool sum_batch(uint32_t from, bool last)
{
    bool inside = hpx_gate_enter(&hpx_session.gate);
    pthread_mutex_lock(&lock);
    uint32_t end = from + BATCH < watch.all.len ? from + BATCH : watch.all.len;
    bool more = end < watch.all.len;
    for (uint32_t i = from; inside && i < end; i++) {
        struct watched *w = at(i);
        if (w->first != NULL && w->tid > 0 && last) {
            settle(i, w);
        } else if (w->first != NULL) {
            (void)put_due(i, w);
        }
    }
    pthread_mutex_unlock(&lock);
    if (inside) {
        hpx_gate_leave(&hpx_session.gate);
    }
    return more;
}

/* Due times are rounded up: a thread that would be due before the next round is looked at in this one. */
static void go_round(JNIEnv *env, bool look_at_all, bool sums, bool last)
{
    struct round r = {look_at_all, sums, hpx_clock_mono() + hpx_session.opt->wall_ns / 2};
    for (uint32_t from = 0; pass_batch(env, from, &r); from += BATCH) {
    }
    for (uint32_t from = 0; sums && sum_batch(from, last); from += BATCH) {
    }
    atomic_fetch_add_explicit(&watch.rounds, 1, memory_order_relaxed);
}

/* Between half an interval and one and a half, so that no program is in step; what a round costs is kept to a share. */
static uint64_t pause_after(uint64_t cost_ns)
{
    uint64_t interval = hpx_session.opt->wall_ns;
    uint64_t pause = interval / 2 + (uint64_t)((double)interval * (double)random32() / 4294967296.0);
    return pause > cost_ns * ROUND_SHARE ? pause : cost_ns * ROUND_SHARE;
}

static void serve(JNIEnv *env)
{
    uint64_t next = 0;
    for (bool quit = false; !quit;) {
        uint32_t seen = hpx_wake_value(&watch.wake);
        quit = atomic_load_explicit(&watch.quit, memory_order_relaxed);
        uint64_t done = atomic_load_explicit(&watch.done, memory_order_relaxed);
        uint64_t asked = atomic_load_explicit(&watch.asked, memory_order_acquire); /* partner: hpx_watch_ask() */
        bool sums = asked > done || quit, all = atomic_load_explicit(&watch.asked_look, memory_order_relaxed) > done || quit;
        uint64_t now = hpx_clock_mono();
        if (now >= next || sums) {
            uint64_t cpu = hpx_clock_thread_cpu();
            go_round(env, all, sums, quit);
            uint64_t end = hpx_clock_mono();
            next = end + pause_after(watch.single ? hpx_clock_thread_cpu() - cpu : end - now);
            if (sums) {
                atomic_store_explicit(&watch.done, asked, memory_order_release); /* partner: hpx_watch_done() */
                hpx_aggregator_wake(&hpx_session.aggregator);
            }
        } else {
            hpx_wake_wait(&watch.wake, seen, next - now);
        }
    }
}

static void *run(void *unused)
{
    (void)unused;
    hpx_spawn_enter("hprofx-wall", &watch.thread);
    watch.single = hpx_vm_release() >= HANDSHAKES;
    watch.frames = malloc((HPX_MAX_DEPTH + HPX_PROBE_FRAMES) * sizeof *watch.frames);
    JNIEnv *env = watch.frames != NULL ? hpx_threads_attach(HPX_OURS "wall") : NULL;
    if (env == NULL) {
        hpx_warn("wall=: cannot attach the looking thread; WALL CLOCK will have only the threads that run");
    } else {
        serve(env);
        (*hpx_vm.java)->DetachCurrentThread(hpx_vm.java);
    }
    atomic_store_explicit(&watch.running, false, memory_order_relaxed);
    hpx_spawn_leave(&watch.thread);
    sem_post(&watch.left);
    return NULL;
}

/* ---- life ---- */

int hpx_watch_begin(const void *mode)
{
    struct hpx_thread *t = aligned_alloc(HPX_CACHE_LINE, sizeof *t);
    if (t != NULL) {
        memset(t, 0, sizeof *t);
        t->mode = mode;
    }
    if (t == NULL || hpx_ring_init(&t->ring, RING_BYTES) != 0) {
        free(t);
        return -HPX_E_NOMEM;
    }
    hpx_vec_init(&watch.all, sizeof(struct watched));
    hpx_vec_init(&watch.due, sizeof(uint64_t));
    hpx_vec_init(&watch.unused, sizeof(uint32_t));
    hpx_wake_init(&watch.wake);
    watch.out = t;
    hpx_registry_push(&hpx_session.aggregator.registry, t);
    return 0;
}

void hpx_watch_gone(struct hpx_thread *t)
{
    pthread_mutex_lock(&lock);
    watch.out = NULL;
    pthread_mutex_unlock(&lock);
    hpx_ring_fini(&t->ring);
    free(t);
}

int hpx_watch_start(struct hpx_err *err)
{
    if (watch.out == NULL) {
        hpx_err_set(err, HPX_E_NOMEM, "no memory");
        return -HPX_E_NOMEM;
    }
    watch.random = hpx_clock_mono() * MARK;
    watch.began = hpx_clock_mono();
    sem_init(&watch.left, 0, 0);
    atomic_store_explicit(&watch.running, true, memory_order_relaxed);
    watch.started = hpx_spawn(run, "hprofx-wall", err) == 0;
    atomic_store_explicit(&watch.running, watch.started, memory_order_relaxed);
    return watch.started ? 0 : -HPX_E_SYS;
}

void hpx_watch_stop(uint64_t ns)
{
    watch.gone = !watch.started;
    if (!watch.started) {
        return;
    }
    uint64_t now = hpx_clock_mono();
    atomic_store_explicit(&watch.until, now + ns / 2, memory_order_relaxed);
    atomic_store_explicit(&watch.quit, true, memory_order_relaxed);
    hpx_wake_post(&watch.wake);
    watch.gone = hpx_spawn_wait(&watch.left, now + ns);
}

bool hpx_watch_left(uint64_t until_ns)
{
    watch.gone = watch.gone || hpx_spawn_wait(&watch.left, until_ns);
    return watch.gone;
}

void hpx_watch_unload(JNIEnv *env)
{
    for (uint32_t i = 0; i < watch.all.len; i++) {
        if (at(i)->ref != NULL) {
            (*env)->DeleteGlobalRef(env, at(i)->ref);
        }
    }
}

void hpx_watch_fini(void)
{
    hpx_vec_fini(&watch.all);
    hpx_vec_fini(&watch.due);
    hpx_vec_fini(&watch.unused);
    free(watch.frames);
    watch.frames = NULL;
}

/* ---- rounds on request, figures ---- */

uint64_t hpx_watch_ask(bool look_at_all)
{
    uint64_t number = atomic_load_explicit(&watch.asked, memory_order_relaxed) + 1;
    if (look_at_all) {
        atomic_store_explicit(&watch.asked_look, number, memory_order_relaxed);
    }
    atomic_store_explicit(&watch.asked, number, memory_order_release); /* partner: serve() */
    hpx_wake_post(&watch.wake);
    return number;
}

uint64_t hpx_watch_done(void)
{
    return atomic_load_explicit(&watch.running, memory_order_relaxed)
               ? atomic_load_explicit(&watch.done, memory_order_acquire) /* partner: serve() */
               : UINT64_MAX;
}

struct hpx_watch_figures hpx_watch_figures(void)
{
    struct hpx_watch_figures f = {.threads = atomic_load_explicit(&watch.threads, memory_order_relaxed),
                                  .rounds = atomic_load_explicit(&watch.rounds, memory_order_relaxed),
                                  .looks = atomic_load_explicit(&watch.looks, memory_order_relaxed),
                                  .stacks = atomic_load_explicit(&watch.stacks, memory_order_relaxed),
                                  .moved = atomic_load_explicit(&watch.moved, memory_order_relaxed),
                                  .cpu_ns = hpx_spawn_cpu(&watch.thread)};
    f.mean_ns = f.rounds > 0 ? (hpx_clock_mono() - watch.began) / f.rounds : 0;
    pthread_mutex_lock(&lock);
    f.bytes = watch.all.bytes + watch.due.bytes + watch.unused.bytes;
    pthread_mutex_unlock(&lock);
    return f;
}
