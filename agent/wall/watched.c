/* SPDX-License-Identifier: BSD-2-Clause */
/* watched.c: see watched.h. */
#include "watched.h"
#include "clock.h"
#include "hash.h"
#include "probe_frames.h"
#include "quiet_stack.h"
#include "run_delay.h"
#include "session.h"
#include "share.h"
#include "vec.h"
#include "waited_monitor.h"
#include <stdlib.h>
#include <string.h>

#define RING_BYTES  (1u << 20)
#define READY_LEAST UINT64_C(1000000) /* shorter times without a CPU are recorded at the next dump */
#define IDLE_LOOKS  3000u             /* looks per second: this many at all idle threads together, and one more at every idle thread */
#define SECOND      UINT64_C(1000000000)

struct watched {
    uint32_t serial; /* of the thread; 0: none, or it ends and all is written */
    bool defined;    /* the last WALL_DEF of this place is of this thread */
    bool queued;     /* the last answer was that it wanted a CPU, and no look has found that it has run since */
    pid_t tid;       /* 0: not known yet */
    uint32_t state, klass;
    uint64_t delay_ns; /* run delay when it was asked for last */
    struct hpx_share share;
    struct hpx_hash128 hash; /* of the frames of that WALL_DEF */
};

static HPX_OF_SESSION struct { /* guarded by the lock of thread_list.h, except the figures */
    struct hpx_thread *out;    /* its ring; NULL: none */
    struct hpx_vec all;        /* struct watched, by place of thread_list.h */
    struct hpx_vec due;        /* uint64_t, by place: when to look (hpx_clock_mono()); UINT64_MAX: never. At least as long as `all` */
    uint64_t soonest;          /* none of them is due before */
    uint64_t random;           /* state of draw() */
    _Atomic uint64_t interval; /* relaxed: hpx_watched_pace() */
    uint64_t debt_ns;          /* hpx_share_settle() */
    /* relaxed: looks at threads that had run and that had not, and their periods */
    _Atomic uint64_t moved_looks, moved_ns, idle_looks, idle_ns;
    _Atomic uint64_t looks, stacks, moved, walked; /* relaxed */
    _Atomic uint64_t carriers;                     /* seq_cst: virtual_waits.c */
} list;

static struct watched *at(uint32_t place)
{
    return hpx_vec_at(&list.all, place);
}

static uint64_t *due_at(uint32_t place)
{
    return hpx_vec_at(&list.due, place);
}

static void set_due(uint32_t place, uint64_t at)
{
    *due_at(place) = at;
    list.soonest = at < list.soonest ? at : list.soonest;
}

/* SplitMix64. */
static uint64_t draw(void)
{
    uint64_t x = list.random += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A few idle threads are looked at as often as others. Many share IDLE_LOOKS. */
static struct hpx_share_pace pace(void)
{
    uint64_t threads = hpx_thread_list_count();
    return (struct hpx_share_pace){atomic_load_explicit(&list.interval, memory_order_relaxed), threads * SECOND / (IDLE_LOOKS + threads),
                                   draw()};
}

/* ---- records; the lock is held, and the gate entered or the caller a thread of the program inside it ---- */

static struct hpx_ev_head *reserve(size_t bytes)
{
    if (list.out == NULL) {
        return NULL;
    }
    hpx_session_time(list.out);
    return hpx_reserve_or_drop(&hpx_session.aggregator, list.out, bytes, 0); /* 0: the time stays here */
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
    hpx_ring_commit(&list.out->ring, ev, sizeof *ev);
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
        hpx_ring_commit(&list.out->ring, ev, bytes);
        w->share.ready_ns = 0;
    }
}

/* The thread is there from now on. false: the ring is full. */
static bool put_place(uint32_t place, struct watched *w, const struct hpx_watch_found *f)
{
    uint32_t probe = f->n > 0 ? hpx_probe_frames_vm(f->frames, f->n) : 0, n = f->n > 0 ? (uint32_t)f->n - probe : 0;
    uint32_t depth = hpx_watch_depth(); /* once: a peer may change it, and n must not grow */
    n = n < depth ? n : depth;
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
    if (w->defined && n > 0 && w->state == f->state && w->klass == f->klass && w->hash.lo == h.lo && w->hash.hi == h.hi) {
        return true; /* the next reserve discards this one */
    }
    *hash = (struct hpx_ev_hash){h.lo, h.hi};
    *wall = (struct hpx_ev_wall){w->serial, f->state, f->n < 0 ? (uint32_t)-f->n : HPX_UNKNOWN_NO_JAVA, f->klass};
    ev->kind = HPX_EV_WALL_DEF;
    ev->id = place;
    ev->stamp = 0;
    hpx_ring_commit(&list.out->ring, ev, HPX_EV_WALL_BYTES(n));
    w->defined = true;
    w->state = f->state;
    w->klass = f->klass;
    w->hash = n > 0 ? h : (struct hpx_hash128){0, 0};
    return true;
}

/* Writes what is known of a thread that will not be looked at again. why: the reason for time without a place. */
static void settle(uint32_t place, struct watched *w, enum hpx_unknown why)
{
    const struct hpx_watch_found nowhere = {NULL, -(jint)why, HPX_WALL_NATIVE, 0};
    uint64_t ns = hpx_share_settle(&w->share, w->defined, &list.debt_ns);
    if (ns > 0 && put_place(place, w, &nowhere)) {
        w->share.due_ns += ns;
        ns = 0;
    }
    put_ready(w, 0);
    if (!put_due(place, w) || ns > 0 || w->share.ready_ns > 0) {
        hpx_count(&hpx_session.counters, HPX_C_WALL_UNWRITTEN, 1);
    }
}

/* ---- threads; the lock is held ---- */

/* delay: hpx_run_delay(). */
static void begin(uint32_t place, struct watched *w, pid_t tid, uint64_t delay)
{
    struct hpx_share_pace p = pace();
    w->tid = tid;
    hpx_share_begin(&w->share, hpx_clock_mono(), hpx_clock_tid_cpu(tid), &p);
    w->delay_ns = delay;
    set_due(place, w->share.next_ns);
}

void hpx_watched_add(struct hpx_mode_thread *first)
{
    uint32_t place = first->place - 1;
    uint64_t delay = first->tid > 0 ? hpx_run_delay(first->tid) : 0; /* reads a file: before the lock, for which other threads wait */
    hpx_thread_list_lock();
    bool room = first->place != 0 && hpx_vec_reach(&list.due, place) != NULL && hpx_vec_reach(&list.all, place) != NULL;
    if (room) {
        struct watched *w = at(place);
        *w = (struct watched){.serial = first->serial};
        set_due(place, 0);
        if (first->tid > 0) {
            begin(place, w, first->tid, delay);
        }
    }
    hpx_thread_list_unlock();
    hpx_count(&hpx_session.counters, HPX_C_THREADS_UNSAMPLED, !room);
}

/* What has come to it. delay: hpx_run_delay(). */
static uint64_t delay_of(struct watched *w, uint64_t delay)
{
    uint64_t before = w->delay_ns;
    w->delay_ns = delay > before ? delay : before; /* 0: the kernel did not tell, as without a free descriptor */
    return w->delay_ns - before;
}

/* Returns whether the thread's place has to be found out. is_due: else only its clocks are read. */
static bool look(struct watched *w, bool is_due)
{
    uint64_t cpu = hpx_clock_tid_cpu(w->tid), now = hpx_clock_mono(), end = w->share.end_ns;
    bool ran = hpx_share_has_run(&w->share, cpu);
    uint64_t delay = ran ? delay_of(w, hpx_run_delay(w->tid)) : 0;
    w->queued = w->queued && !ran;
    if (!is_due) {
        hpx_share_read(&w->share, now, cpu, delay);
        return false;
    }
    struct hpx_share_pace p = pace();
    bool moved = hpx_share_look(&w->share, now, cpu, delay, &p);
    atomic_fetch_add_explicit(moved ? &list.moved_looks : &list.idle_looks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(moved ? &list.moved_ns : &list.idle_ns, w->share.end_ns - end, memory_order_relaxed);
    return moved;
}

void hpx_watched_carrier(void)
{
    atomic_fetch_add(&list.carriers, 1);
}

void hpx_watched_remove(struct hpx_mode_thread *first)
{
    uint32_t place = first->place - 1;
    uint64_t delay = first->tid > 0 ? hpx_run_delay(first->tid) : 0;
    hpx_thread_list_lock();
    struct watched *w = hpx_vec_find(&list.all, place);
    if (w != NULL && w->tid > 0) {
        hpx_share_end(&w->share, hpx_clock_mono(), hpx_clock_tid_cpu(w->tid), delay_of(w, delay));
        settle(place, w, HPX_UNKNOWN_THREAD_ENDED);
    }
    if (w != NULL) {
        *w = (struct watched){.serial = 0};
        *due_at(place) = UINT64_MAX;
    }
    hpx_thread_list_unlock();
}

/* The thread's own words; the lock is held. */
static int walk(uint32_t place, const struct watched *w, struct hpx_ev_frame *frames, uint32_t most)
{
    const struct hpx_mode_thread *first = hpx_thread_list_at(place)->first;
    struct hpx_quiet_thread t = {.env = hpx_mode_thread_env(first),
                                 .stack_low = __atomic_load_n(&first->stack_low, __ATOMIC_RELAXED),
                                 .stack_end = __atomic_load_n(&first->stack_end, __ATOMIC_RELAXED),
                                 .depth = most,
                                 .counters = &hpx_session.counters,
                                 .other = true};
    /* a thread that ends while attached may leave without ThreadEnd; a clock that stands excludes that, too */
    bool stands = t.env != NULL && !hpx_share_has_run(&w->share, hpx_clock_tid_cpu(w->tid));
    return stands ? hpx_quiet_stack_frames(&t, frames) : 0;
}

uint32_t hpx_watched_walk(const struct hpx_held *h, jvmtiFrameInfo *frames, uint32_t most)
{
    static_assert(sizeof(jvmtiFrameInfo) == sizeof(struct hpx_ev_frame), "frames are turned in place");
    int n = 0;
    bool inside = hpx_thread_list_enter();
    const struct watched *w = at(h->place);
    if (inside && w->serial != 0) {
        n = walk(h->place, w, (struct hpx_ev_frame *)(void *)frames, most);
        atomic_fetch_add_explicit(&list.walked, n > 0, memory_order_relaxed);
    }
    hpx_thread_list_leave(inside);
    for (int i = 0; i < n; i++) {
        struct hpx_ev_frame f;
        memcpy(&f, &frames[i], sizeof f);
        frames[i] = (jvmtiFrameInfo){.method = (jmethodID)(uintptr_t)f.method, .location = f.bci};
    }
    return (uint32_t)n;
}

bool hpx_watched_monitor(const struct hpx_held *h, uint64_t thread, char *to)
{
    bool told = false, inside = hpx_thread_list_enter();
    const struct watched *w = at(h->place);
    if (inside && w->serial != 0) {
        told = !hpx_share_has_run(&w->share, hpx_clock_tid_cpu(w->tid)) && hpx_waited_monitor_class(thread, to);
    }
    hpx_thread_list_leave(inside);
    return told;
}

bool hpx_watched_deliver(JNIEnv *env, const struct hpx_held *h, const struct hpx_watch_found *f)
{
    bool same = false;
    bool inside = hpx_thread_list_enter();
    struct watched *w = at(h->place);
    bool told = inside && f != NULL && w->serial != 0;
    if (told && f->state == HPX_WALL_RUNNABLE) {
        w->queued = !hpx_share_has_run(&w->share, hpx_clock_tid_cpu(w->tid));
    } else if (told) {
        same = !hpx_share_has_run(&w->share, hpx_clock_tid_cpu(w->tid));
        w->queued = false;
        if (same && put_place(h->place, w, f)) {
            hpx_share_place(&w->share);
        }
        atomic_fetch_add_explicit(&list.stacks, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&list.moved, !same, memory_order_relaxed);
    }
    hpx_thread_list_leave(inside);
    hpx_thread_list_drop(env, h);
    return same;
}

/* One thread of a round. The lock is held. */
static void pass(uint32_t place, const struct hpx_watch_round *r, struct hpx_held *held, uint32_t *n)
{
    bool is_due = r->last || *due_at(place) <= r->now;
    struct watched *w = at(place);
    if (w->serial == 0) { /* hpx_watched_add() had no memory for it */
        *due_at(place) = UINT64_MAX;
        return;
    }
    if (w->tid == 0) { /* an older thread: its id is known when it has found its states */
        pid_t tid = __atomic_load_n(&hpx_thread_list_at(place)->first->tid, __ATOMIC_RELAXED);
        if (tid == 0) {
            *due_at(place) = r->now + atomic_load_explicit(&list.interval, memory_order_relaxed); /* later: due now would end every pause */
            return;
        }
        begin(place, w, tid, hpx_run_delay(tid));
    }
    if (look(w, is_due)) {
        held[*n] = hpx_thread_list_hold(place);
        held[(*n)++].tid = w->tid;
    }
    put_ready(w, r->sums ? 0 : READY_LEAST);
    *due_at(place) = w->share.next_ns;
    atomic_fetch_add_explicit(&list.looks, 1, memory_order_relaxed);
}

bool hpx_watched_look(uint32_t *from, const struct hpx_watch_round *r, struct hpx_held held[HPX_HELD_MOST], uint32_t *n)
{
    uint32_t i = *from, passed = 0;
    *n = 0;
    bool inside = hpx_thread_list_enter();
    list.soonest = i == 0 ? UINT64_MAX : list.soonest;
    for (; inside && i < list.all.len && passed < HPX_HELD_MOST; i++) {
        uint64_t due = *due_at(i);
        if (due <= r->now || (r->all && due != UINT64_MAX)) {
            pass(i, r, held, n);
            passed++;
        }
        set_due(i, *due_at(i));
    }
    *from = i;
    bool more = inside && i < list.all.len;
    hpx_thread_list_leave(inside);
    return more;
}

void hpx_watched_pace(uint64_t interval)
{
    atomic_store_explicit(&list.interval, interval, memory_order_relaxed);
}

uint64_t hpx_watched_soonest(void)
{
    hpx_thread_list_lock();
    uint64_t soonest = list.soonest;
    hpx_thread_list_unlock();
    return soonest;
}

bool hpx_watched_sums(uint32_t from, bool last)
{
    bool inside = hpx_thread_list_enter();
    uint32_t end = from + HPX_HELD_MOST < list.all.len ? from + HPX_HELD_MOST : list.all.len;
    bool more = end < list.all.len;
    for (uint32_t i = from; inside && i < end; i++) {
        struct watched *w = at(i);
        if (w->tid > 0 && last) {
            if (w->queued) {
                hpx_share_queued(&w->share);
            }
            settle(i, w, HPX_UNKNOWN_NOT_FOUND);
        } else if (w->serial != 0) {
            (void)put_due(i, w);
        }
    }
    hpx_thread_list_leave(inside);
    return more;
}

/* ---- life ---- */

int hpx_watched_begin(const void *mode)
{
    /* before the ring: threads are listed without one, too */
    hpx_vec_init(&list.all, sizeof(struct watched));
    hpx_vec_init(&list.due, sizeof(uint64_t));
    list.soonest = UINT64_MAX;
    list.random = hpx_clock_mono();
    hpx_watched_pace(hpx_session.opt->wall_ns);
    void *at = NULL;
    struct hpx_thread *t = posix_memalign(&at, HPX_CACHE_LINE, sizeof *t) == 0 ? at : NULL;
    if (t != NULL) {
        memset(t, 0, sizeof *t);
        t->mode = mode;
    }
    if (t == NULL || hpx_ring_init(&t->ring, RING_BYTES) != 0) {
        free(t);
        return -HPX_E_NOMEM;
    }
    list.out = t;
    hpx_registry_push(&hpx_session.aggregator.registry, t);
    return 0;
}

void hpx_watched_gone(struct hpx_thread *t)
{
    hpx_thread_list_lock();
    list.out = t != list.out ? list.out : NULL;
    hpx_thread_list_unlock();
    hpx_ring_fini(&t->ring);
    free(t);
}

void hpx_watched_fini(void)
{
    hpx_vec_fini(&list.all);
    hpx_vec_fini(&list.due);
}

struct hpx_watched_figures hpx_watched_figures(void)
{
    struct hpx_watched_figures f = {.looks = atomic_load_explicit(&list.looks, memory_order_relaxed),
                                    .stacks = atomic_load_explicit(&list.stacks, memory_order_relaxed),
                                    .moved = atomic_load_explicit(&list.moved, memory_order_relaxed),
                                    .walked = atomic_load_explicit(&list.walked, memory_order_relaxed),
                                    .carriers = atomic_load(&list.carriers)};
    uint64_t moved = atomic_load_explicit(&list.moved_looks, memory_order_relaxed);
    uint64_t idle = atomic_load_explicit(&list.idle_looks, memory_order_relaxed);
    f.moved_ns = moved > 0 ? atomic_load_explicit(&list.moved_ns, memory_order_relaxed) / moved : 0;
    f.idle_ns = idle > 0 ? atomic_load_explicit(&list.idle_ns, memory_order_relaxed) / idle : 0;
    hpx_thread_list_lock();
    f.threads = hpx_thread_list_count();
    f.bytes = list.all.bytes + list.due.bytes;
    for (uint32_t i = 0; i < list.all.len; i++) {
        f.unseen += at(i)->serial != 0 && at(i)->tid == 0;
    }
    hpx_thread_list_unlock();
    return f;
}
