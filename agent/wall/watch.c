/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.c: the looking thread of watch.h. */
#include "watch.h"
#include "clock.h"
#include "log.h"
#include "looker.h"
#include "probe_frames.h"
#include "quiet_stack.h"
#include "releases.h"
#include "run_delay.h"
#include "service.h"
#include "snapshot.h"
#include "thread_info.h"
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

static HPX_OF_SESSION struct {
    struct hpx_looker looker;
    _Atomic uint64_t asked; /* number of the last round that was asked for. release: hpx_watch_ask(); acquire: serve(). Covers asked_look */
    _Atomic uint64_t asked_look; /* relaxed: the last of them that looks at all threads */
    _Atomic uint64_t done;       /* the last one done. release: serve(); acquire: hpx_watch_done(). Covers the records */
    _Atomic uint64_t rounds;     /* relaxed */
    uint64_t began;              /* constant once it runs */
    /* the looking thread's */
    jvmtiFrameInfo *frames, *compared; /* ROOM each */
    uint32_t walked;
    uint64_t asking_ns; /* time in which the VM was asked for stacks */
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

/* It runs, or is ready to: its stack would be that of a thread that runs, and the VM would have to wait for it. Its state does not tell: a
 * thread that waits in the VM is runnable, and for JVMTI a carrier waits while it runs a virtual thread. */
static bool is_running(jint bits, const struct hpx_watch_job *j)
{
    return state_of(bits) == HPX_WALL_NATIVE && hpx_run_wants_cpu(j->tid);
}

static jint most_frames(void)
{
    return (jint)(hpx_watch_depth() + hpx_probe_frames_most());
}

/* GetStackTrace. */
static jvmtiError ask(const struct hpx_watch_job *j, jvmtiFrameInfo *frames, jint *n)
{
    uint64_t from = hpx_clock_mono();
    jvmtiError e = (*hpx_vm.jvmti)->GetStackTrace(hpx_vm.jvmti, j->ref, 0, most_frames(), frames, n);
    watch.asking_ns += hpx_clock_mono() - from;
    return e;
}

/* With the class for which it waits. */
static bool deliver(JNIEnv *env, const struct hpx_watch_job *j, struct hpx_watch_found *f)
{
    size_t n = f->n > 0 ? (size_t)f->n : 0;
    f->klass = hpx_looker_late(&watch.looker)
                   ? 0
                   : hpx_wait_class(env, j, f->state, hpx_hash128(f->frames, n * sizeof *f->frames), &watch.asking_ns);
    bool holds = hpx_watched_deliver(env, j, f);
    hpx_wait_class_delivered(holds);
    return holds;
}

static void take_one(JNIEnv *env, const struct hpx_watch_job *j, uint32_t state)
{
    struct hpx_watch_found f = {watch.frames, 0, state, 0};
    jvmtiError e = ask(j, watch.frames, &f.n);
    (void)(e == JVMTI_ERROR_NONE ? deliver(env, j, &f) : hpx_watched_deliver(env, j, NULL));
}

/* Whether the VM's answer to the same question is the same; *told: it has one. */
static bool as_the_vm(const struct hpx_watch_job *j, jint n, bool *told)
{
    jint most = most_frames(), m = 0;
    *told = ask(j, watch.compared, &m) == JVMTI_ERROR_NONE;
    bool same = m == (n < most ? n : most);
    for (jint i = 0; same && i < m; i++) {
        same = watch.frames[i].method == watch.compared[i].method && watch.frames[i].location == watch.compared[i].location;
    }
    return same;
}

/* Without the VM; some are compared with its answer, which costs what it always costs. */
static bool walk_one(JNIEnv *env, const struct hpx_watch_job *j, uint32_t state)
{
    jint n = (jint)hpx_watched_walk(j, watch.frames, watch.whole ? ROOM : (uint32_t)most_frames());
    if (n == 0) {
        return false;
    }
    struct hpx_watch_found f = {watch.frames, n, state, 0};
    bool compared = hpx_quiet_stack_compares(++watch.walked), told = false, same = compared && as_the_vm(j, n, &told);
    bool holds = deliver(env, j, &f);
    if (compared && holds && told) {
        hpx_quiet_stack_compared(same);
    } else if (compared) {
        hpx_quiet_stack_not_compared();
    }
    return true;
}

static void take_together(JNIEnv *env, const struct hpx_watch_job *jobs, const uint32_t *states, uint32_t n)
{
    jvmtiStackInfo *infos = NULL;
    jthread refs[HPX_WATCH_BATCH] = {NULL};
    for (uint32_t i = 0; i < n; i++) {
        refs[i] = jobs[i].ref;
    }
    uint64_t from = hpx_clock_mono();
    jvmtiError e = (*hpx_vm.jvmti)->GetThreadListStackTraces(hpx_vm.jvmti, (jint)n, refs, most_frames(), &infos);
    watch.asking_ns += hpx_clock_mono() - from;
    for (uint32_t i = 0; i < n; i++) {
        struct hpx_watch_found f = {e == JVMTI_ERROR_NONE ? infos[i].frame_buffer : NULL, e == JVMTI_ERROR_NONE ? infos[i].frame_count : 0,
                                    states[i], 0};
        bool found = e == JVMTI_ERROR_NONE && (infos[i].state & JVMTI_THREAD_STATE_ALIVE) != 0;
        (void)(found ? deliver(env, &jobs[i], &f) : hpx_watched_deliver(env, &jobs[i], NULL));
    }
    if (e == JVMTI_ERROR_NONE) {
        (*hpx_vm.jvmti)->Deallocate(hpx_vm.jvmti, (unsigned char *)infos);
    }
}

static void take(JNIEnv *env, struct hpx_watch_job *jobs, uint32_t n)
{
    static const struct hpx_watch_found running = {.state = HPX_WALL_RUNNABLE};
    uint32_t states[HPX_WATCH_BATCH], kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        jint bits = hpx_looker_late(&watch.looker) ? 0 : hpx_thread_info_state(hpx_vm.jvmti, env, jobs[i].ref);
        if (bits <= 0) {
            (void)hpx_watched_deliver(env, &jobs[i], NULL);
        } else if (is_running(bits, &jobs[i])) {
            (void)hpx_watched_deliver(env, &jobs[i], &running);
        } else if (walk_one(env, &jobs[i], state_of(bits))) {
            continue;
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

static void go_round(JNIEnv *env, bool all, bool sums, bool last)
{
    struct hpx_watch_round r = {all, sums, last, hpx_clock_mono()};
    uint32_t place = 0;
    hpx_wait_class_round();
    for (bool more = true; more;) {
        struct hpx_watch_job jobs[HPX_WATCH_BATCH];
        uint32_t n;
        more = hpx_watched_look(&place, &r, jobs, &n);
        take(env, jobs, n);
    }
    for (uint32_t from = 0; sums && hpx_watched_sums(from, last); from += HPX_WATCH_BATCH) {
    }
    atomic_fetch_add_explicit(&watch.rounds, 1, memory_order_relaxed);
}

/* What rounds cost is kept to a share. A few rounds may cost more, as when many threads wake up at one moment: to pause then would be to
 * miss just what they do. If the share is exceeded for longer, threads are looked at less often, whatever they do. */
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

/* Every thread is due at its own random moment. Rounds are nearly as independent: an eighth of the interval lies between two of them. A
 * thread that has begun is due within an interval. */
static uint64_t next_round(uint64_t cost_ns)
{
    uint64_t now = hpx_clock_mono(), due = hpx_watched_soonest(), pause = pause_after(now, cost_ns);
    uint64_t grain = watch.interval / GRAINS > LEAST_NS ? watch.interval / GRAINS : LEAST_NS;
    grain = grain / 2 + (uint64_t)((double)grain * erand48(watch.random));
    pause = pause > grain ? pause : grain;
    due = due < now + watch.interval ? due : now + watch.interval;
    return due > now + pause ? due : now + pause;
}

static void serve_all(JNIEnv *env)
{
    uint64_t next = 0;
    for (bool quit = false; !quit;) {
        uint32_t seen = hpx_wake_value(&watch.looker.wake);
        quit = atomic_load_explicit(&watch.looker.quit, memory_order_relaxed);
        uint64_t done = atomic_load_explicit(&watch.done, memory_order_relaxed);
        uint64_t asked = atomic_load_explicit(&watch.asked, memory_order_acquire); /* partner: hpx_watch_ask() */
        bool sums = asked > done || quit, all = atomic_load_explicit(&watch.asked_look, memory_order_relaxed) > done || quit;
        uint64_t now = hpx_clock_mono();
        if (now >= next || sums) {
            uint64_t cpu = hpx_clock_thread_cpu(), asking = watch.asking_ns;
            go_round(env, all, sums, quit);
            uint64_t cost = hpx_clock_thread_cpu() - cpu, stopped = watch.single ? 0 : watch.asking_ns - asking;
            next = next_round(cost > stopped ? cost : stopped);
            if (sums) {
                atomic_store_explicit(&watch.done, asked, memory_order_release); /* partner: hpx_watch_done() */
                hpx_aggregator_wake(&hpx_session.aggregator);
            }
        } else {
            hpx_wake_wait(&watch.looker.wake, seen, next - now);
        }
    }
}

static void serve(JNIEnv *env)
{
    watch.frames = malloc(sizeof *watch.frames * ROOM * 2);
    watch.compared = watch.frames != NULL ? watch.frames + ROOM : NULL;
    if (watch.frames == NULL) {
        hpx_warn("wall=: no memory for the looking thread; WALL CLOCK will show only running threads");
        return;
    }
    watch.single = hpx_looker_asks_one();
    hpx_wait_class_begin(env, watch.single);
    watch.whole = hpx_vm_release() >= HPX_RELEASE_PREVIEW;
    serve_all(env);
    free(watch.frames);
}

static void *run(void *unused)
{
    (void)unused;
    hpx_looker_run(&watch.looker);
    return NULL;
}

/* ---- life ---- */

int hpx_watch_start(struct hpx_err *err)
{
    static const struct hpx_looker_work work = {"hprofx-wall", HPX_OURS "wall", run, serve,
                                                "wall=: cannot attach the looking thread; WALL CLOCK will show only running threads"};
    memcpy(watch.random, &(uint64_t){hpx_clock_mono()}, sizeof watch.random);
    watch.began = watch.paid_ns = hpx_clock_mono();
    watch.credit_ns = CREDIT_NS;
    watch.interval = hpx_session.opt->wall_ns;
    return hpx_looker_start(&watch.looker, &work, err);
}

void hpx_watch_stop(uint64_t ns)
{
    hpx_looker_stop(&watch.looker, ns);
}

bool hpx_watch_left(uint64_t until_ns)
{
    return hpx_looker_left(&watch.looker, until_ns);
}

/* ---- rounds on request, figures ---- */

uint64_t hpx_watch_ask(bool look_at_all)
{
    uint64_t number = atomic_load_explicit(&watch.asked, memory_order_relaxed) + 1;
    if (look_at_all) {
        atomic_store_explicit(&watch.asked_look, number, memory_order_relaxed);
    }
    atomic_store_explicit(&watch.asked, number, memory_order_release); /* partner: serve() */
    hpx_wake_post(&watch.looker.wake);
    return number;
}

uint64_t hpx_watch_done(void)
{
    return atomic_load_explicit(&watch.looker.running, memory_order_relaxed)
               ? atomic_load_explicit(&watch.done, memory_order_acquire) /* partner: serve() */
               : UINT64_MAX;
}

struct hpx_watch_figures hpx_watch_figures(void)
{
    uint64_t rounds = atomic_load_explicit(&watch.rounds, memory_order_relaxed);
    return (struct hpx_watch_figures){rounds, rounds > 0 ? (hpx_clock_mono() - watch.began) / rounds : 0,
                                      hpx_spawn_cpu(&watch.looker.thread)};
}
