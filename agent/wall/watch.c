/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.c: the looking thread of watch.h. */
#include "watch.h"
#include "clock.h"
#include "looker.h"
#include "probe_frames.h"
#include "quiet_stack.h"
#include "releases.h"
#include "run_delay.h"
#include "service.h"
#include "thread_info.h"
#include "virtual_waits.h"
#include "wait_class.h"
#include "watched.h"
#include <stdlib.h>
#include <string.h>

#define ROOM        (HPX_MAX_DEPTH + HPX_PROBE_FRAMES)
#define GRAINS      8u
#define LEAST_NS    UINT64_C(1000000)
#define MOST_NS     UINT64_C(1000000000)
#define CREDIT_NS   50000000
#define ROUND_SHARE 20u /* rounds may take 1/ROUND_SHARE of a CPU, or of the time if its stacks stop all threads */

HPX_OF_SESSION struct hpx_looker hpx_looking_thread;

static HPX_OF_SESSION struct {
    _Atomic uint64_t asked; /* number of the last round that was asked for. release: hpx_watch_ask(); acquire: serve(). Covers asked_look */
    _Atomic uint64_t asked_look; /* relaxed: the last of them that looks at all threads */
    _Atomic uint64_t done;       /* the last one done. release: serve(); acquire: hpx_watch_done(). Covers the records */
    _Atomic uint64_t rounds;     /* relaxed */
    uint64_t began;              /* constant once it runs */
    /* the looking thread's */
    jvmtiFrameInfo *frames; /* ROOM: of a walk */
    jint told;              /* the VM's answer to compare it with */
    uint32_t walked;
    uint64_t paid_ns;   /* when next_round() added to credit_ns last */
    int64_t credit_ns;  /* what rounds may cost, saved up to CREDIT_NS */
    uint64_t interval;  /* of threads that run: longer than wall= if rounds cost too much */
    bool single, whole; /* whole: only a whole stack shows whether it is a carrier's, of which the VM leaves out the virtual thread */
    unsigned short random[3];
} watch;

static uint32_t state_of(jint bits)
{
    return (bits & JVMTI_THREAD_STATE_SLEEPING) != 0                   ? HPX_WALL_SLEEPING
           : (bits & JVMTI_THREAD_STATE_PARKED) != 0                   ? HPX_WALL_PARKED
           : (bits & JVMTI_THREAD_STATE_IN_OBJECT_WAIT) != 0           ? HPX_WALL_WAITING
           : (bits & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0 ? HPX_WALL_BLOCKED
                                                                       : HPX_WALL_NATIVE;
}

/* The thread runs or is ready to run: the VM would have to wait for it before it takes its stack. The JVMTI state does not tell: a thread
 * that waits in the VM is runnable, and a carrier counts as waiting while it runs a virtual thread. */
static bool is_running(jint bits, const struct hpx_held *h)
{
    return state_of(bits) == HPX_WALL_NATIVE && hpx_run_wants_cpu(h->tid);
}

static jint most_frames(void)
{
    return (jint)(hpx_watch_depth() + hpx_probe_frames_most());
}

/* Finds the class for which the thread waits, and delivers both. */
static bool deliver(JNIEnv *env, const struct hpx_held *h, struct hpx_watch_found *f)
{
    size_t n = f->n > 0 ? (size_t)f->n : 0;
    f->klass = hpx_looker_late(&hpx_looking_thread)
                   ? 0
                   : hpx_wait_class(env, h, f->state, hpx_hash128(f->frames, n * sizeof *f->frames), &hpx_looking_thread.asking_ns);
    bool holds = hpx_watched_deliver(env, h, f);
    hpx_wait_class_delivered(holds);
    return holds;
}

static void found(JNIEnv *env, const struct hpx_held *h, const jvmtiFrameInfo *frames, jint n)
{
    struct hpx_watch_found f = {frames, n, h->state, 0};
    (void)(n >= 0 ? deliver(env, h, &f) : hpx_watched_deliver(env, h, NULL));
}

static void note_answer(JNIEnv *env, const struct hpx_held *h, const jvmtiFrameInfo *frames, jint n)
{
    (void)env, (void)h, (void)frames;
    watch.told = n;
}

/* Compares the walk with the VM's answer. An answer without frames is one, too. */
static enum hpx_judged_as compare(const struct hpx_held *h, jint n)
{
    jint most = most_frames();
    const struct hpx_judged_walk walked = hpx_judge_walked_sig(watch.frames, n < most ? n : most, HPX_END_WHOLE, UINT32_MAX);
    hpx_looker_ask(&hpx_looking_thread, NULL, h, 1, most, note_answer);
    return watch.told == 0 ? HPX_JUDGED_DIFFERENT : hpx_judge_compare_sig(&walked, hpx_looking_thread.frames, watch.told, (uint32_t)most);
}

/* Walks the stack without the VM. Some stacks are compared with the VM's answer. */
static bool walk_one(JNIEnv *env, const struct hpx_held *h)
{
    jint n = (jint)hpx_watched_walk(h, watch.frames, watch.whole ? ROOM : (uint32_t)most_frames());
    if (n == 0) {
        return false;
    }
    struct hpx_watch_found f = {watch.frames, n, h->state, 0};
    const bool compares = hpx_quiet_stack_compares(++watch.walked);
    const enum hpx_judged_as as = compares ? compare(h, n) : HPX_JUDGED_ALONE;
    const bool holds = deliver(env, h, &f);
    if (compares) {
        hpx_quiet_stack_compared(holds ? as : HPX_JUDGED_ALONE);
    }
    return true;
}

static void take(JNIEnv *env, struct hpx_held *held, uint32_t n)
{
    static const struct hpx_watch_found running = {.state = HPX_WALL_RUNNABLE};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct hpx_held h = held[i];
        jint bits = hpx_looker_late(&hpx_looking_thread) ? 0 : hpx_thread_info_state(hpx_vm.jvmti, env, h.ref);
        h.state = state_of(bits);
        if (bits <= 0) {
            (void)hpx_watched_deliver(env, &h, NULL);
        } else if (is_running(bits, &h)) {
            (void)hpx_watched_deliver(env, &h, &running);
        } else if (walk_one(env, &h)) {
            continue;
        } else if (watch.single) {
            hpx_looker_ask(&hpx_looking_thread, env, &h, 1, most_frames(), found);
        } else {
            held[kept++] = h;
        }
    }
    hpx_looker_ask(&hpx_looking_thread, env, held, kept, most_frames(), found);
}

static void go_round(JNIEnv *env, bool all, bool sums, bool last)
{
    struct hpx_watch_round r = {all, sums, last, hpx_clock_mono()};
    uint32_t place = 0;
    hpx_wait_class_round();
    hpx_virtual_waits_tick(env, r.now);
    for (bool more = true; more;) {
        struct hpx_held held[HPX_HELD_MOST];
        uint32_t n;
        more = hpx_watched_look(&place, &r, held, &n);
        take(env, held, n);
    }
    for (uint32_t from = 0; sums && hpx_watched_sums(from, last); from += HPX_HELD_MOST) {
    }
    atomic_fetch_add_explicit(&watch.rounds, 1, memory_order_relaxed);
}

/* Keeps the cost of rounds to a share. A few rounds may cost more, because a pause while many threads wake up at the same time would miss
 * what they do. If the share is exceeded for longer, every thread is looked at less often. */
static uint64_t pause_after(uint64_t now, uint64_t cost_ns)
{
    uint64_t least = hpx_session.opt->wall_ns;
    watch.credit_ns += (int64_t)((now - watch.paid_ns) / ROUND_SHARE) - (int64_t)cost_ns;
    watch.paid_ns = now;
    if (watch.credit_ns > CREDIT_NS / 2) {
        watch.credit_ns = watch.credit_ns < CREDIT_NS ? watch.credit_ns : CREDIT_NS;
        watch.interval -= (watch.interval - least) / 16;
    } else if (watch.credit_ns < CREDIT_NS / 4) {
        watch.interval += watch.interval < MOST_NS ? watch.interval / 16 : 0;
    }
    hpx_watched_pace(watch.interval);
    return watch.credit_ns < 0 ? (uint64_t)-watch.credit_ns * ROUND_SHARE : 0;
}

/* Every thread is due at a random moment. Rounds follow these moments to an eighth of the interval. A new thread is due within one
 * interval. */
static uint64_t next_round(uint64_t cost_ns)
{
    uint64_t now = hpx_clock_mono(), due = hpx_watched_soonest(), pause = pause_after(now, cost_ns);
    uint64_t grain = watch.interval / GRAINS > LEAST_NS ? watch.interval / GRAINS : LEAST_NS;
    grain = grain / 2 + (uint64_t)((double)grain * erand48(watch.random));
    pause = pause > grain ? pause : grain;
    due = due < now + watch.interval ? due : now + watch.interval;
    return due > now + pause ? due : now + pause;
}

static void serve(JNIEnv *env)
{
    watch.frames = hpx_looking_thread.frames + ROOM;
    watch.single = hpx_looker_asks_one();
    watch.whole = hpx_vm_release() >= HPX_RELEASE_PREVIEW;
    hpx_wait_class_begin(env, watch.single);
    uint64_t next = 0;
    for (bool quit = false; !quit;) {
        uint32_t seen = hpx_wake_value(&hpx_looking_thread.wake);
        quit = atomic_load_explicit(&hpx_looking_thread.quit, memory_order_relaxed);
        uint64_t done = atomic_load_explicit(&watch.done, memory_order_relaxed);
        uint64_t asked = atomic_load_explicit(&watch.asked, memory_order_acquire); /* partner: hpx_watch_ask() */
        bool sums = asked > done || quit, all = atomic_load_explicit(&watch.asked_look, memory_order_relaxed) > done || quit;
        uint64_t now = hpx_clock_mono();
        if (now >= next || sums) {
            uint64_t cpu = hpx_clock_thread_cpu(), asking = hpx_looking_thread.asking_ns;
            go_round(env, all, sums, quit);
            uint64_t cost = hpx_clock_thread_cpu() - cpu, stopped = watch.single ? 0 : hpx_looking_thread.asking_ns - asking;
            next = next_round(cost > stopped ? cost : stopped);
            if (sums) {
                atomic_store_explicit(&watch.done, asked, memory_order_release); /* partner: hpx_watch_done() */
                hpx_aggregator_wake(&hpx_session.aggregator);
            }
        } else {
            hpx_wake_wait(&hpx_looking_thread.wake, seen, next - now);
        }
    }
}

static void *run(void *unused)
{
    (void)unused;
    hpx_looker_run(&hpx_looking_thread);
    return NULL;
}

/* ---- life ---- */

int hpx_watch_start(struct hpx_err *err)
{
    static const struct hpx_looker_work work = {
        "hprofx-wall", HPX_OURS "wall", run, serve, "wall=: cannot attach the looking thread; WALL CLOCK will show only running threads",
        2 * ROOM};
    memcpy(watch.random, &(uint64_t){hpx_clock_mono()}, sizeof watch.random);
    watch.began = watch.paid_ns = hpx_clock_mono();
    watch.credit_ns = CREDIT_NS;
    watch.interval = hpx_session.opt->wall_ns;
    return hpx_looker_start(&hpx_looking_thread, &work, err);
}

/* ---- rounds on request, figures ---- */

uint64_t hpx_watch_ask(bool look_at_all)
{
    uint64_t number = atomic_load_explicit(&watch.asked, memory_order_relaxed) + 1;
    if (look_at_all) {
        atomic_store_explicit(&watch.asked_look, number, memory_order_relaxed);
    }
    atomic_store_explicit(&watch.asked, number, memory_order_release); /* partner: serve() */
    hpx_wake_post(&hpx_looking_thread.wake);
    return number;
}

uint64_t hpx_watch_done(void)
{
    return atomic_load_explicit(&hpx_looking_thread.running, memory_order_relaxed)
               ? atomic_load_explicit(&watch.done, memory_order_acquire) /* partner: serve() */
               : UINT64_MAX;
}

struct hpx_watch_figures hpx_watch_figures(void)
{
    uint64_t rounds = atomic_load_explicit(&watch.rounds, memory_order_relaxed);
    return (struct hpx_watch_figures){rounds, rounds > 0 ? (hpx_clock_mono() - watch.began) / rounds : 0,
                                      hpx_spawn_cpu(&hpx_looking_thread.thread)};
}
