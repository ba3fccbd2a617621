/* SPDX-License-Identifier: BSD-2-Clause */
/* stack_thread.c: the sampling thread of stack_thread.h and its list of threads. */
#include "stack_thread.h"
#include "clock.h"
#include "clocks.h"
#include "code_source.h"
#include "engine.h"
#include "inlines.h"
#include "log.h"
#include "probe_frames.h"
#include "releases.h"
#include "service.h"
#include "spawn.h"
#include "stacks.h"
#include "thread_info.h"
#include "threads.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS         65536u /* threads that can be listed at a time */
#define BATCH         64u    /* stacks per call where a call costs a safepoint of all threads */
#define TAKE_OVER_NS  (50ull * 1000 * 1000)
#define POLL_LEAST_NS (1000ull * 1000)       /* between two looks at the clocks */
#define POLL_MOST_NS  (200ull * 1000 * 1000) /* only POLL_SHARE makes a pause longer than the interval */
#define POLL_SHARE    20                     /* a round may use 1/POLL_SHARE of a CPU, or of the time if it stops all threads */
#define FOREVER_NS    UINT64_C(3600000000000)

struct slot {
    struct hpx_sample_thread *thread; /* NULL: not listed */
    jthread ref;
    bool held; /* the sampling thread uses ref: the slot must not be freed or reused */
};

struct job {
    uint32_t slot;
    jthread ref;
};

static struct {
    pthread_mutex_t lock;     /* guards slots, unused, nunused, used */
    struct slot slots[SLOTS]; /* pages beyond `used` are never touched */
    uint32_t unused[SLOTS];   /* slots below `used` that are free */
    _Atomic uint32_t used;    /* written under the lock; relaxed: a round may miss the newest */
    uint32_t nunused;
    /* One bit per slot: the handler of its thread asks for a stack. release: ask_sig; acquire: take_asked. */
    _Atomic uint64_t asked[SLOTS / 64];
    _Atomic uint64_t words[SLOTS / 64 / 64]; /* one bit per word of `asked` that is not zero; the same order */
    struct hpx_wake wake;
    atomic_bool quit, take_over; /* relaxed: ordered by the wake */
    _Atomic uint64_t until;      /* relaxed: after this time (hpx_clock_mono()) no stack is taken; 0: no limit */
    atomic_bool polling, fresh;  /* relaxed: at least one thread is polled; one was added since the last round */
    sem_t left;                  /* posted when the thread has left the JVM */
    pthread_mutex_t starting;    /* guards state */
    enum { NOT_YET, STARTED, REFUSED } state;
    bool gone; /* the thread has left or never started; only the thread that ends the session uses this */
    struct hpx_spawned thread;
    /* the sampling thread's */
    uint64_t skip_until; /* no polled thread is due before the process, without our threads, has used this much CPU time */
    jvmtiFrameInfo *frames;
    bool single;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER, .starting = PTHREAD_MUTEX_INITIALIZER};

void hpx_stack_thread_list(JNIEnv *env, struct hpx_sample_thread *t, jthread thread)
{
    jthread ref = thread != NULL ? (*env)->NewGlobalRef(env, thread) : NULL;
    t->slot = -1;
    t->handed_over = hpx_engine_now() == HPX_ENGINE_WALK; /* its handler never wrote the ring */
    if (ref == NULL) {
        (*env)->ExceptionClear(env); /* no memory: the program must not see an exception of ours */
        return;
    }
    pthread_mutex_lock(&list.lock);
    uint32_t used = atomic_load_explicit(&list.used, memory_order_relaxed);
    if (list.nunused > 0) {
        t->slot = (int32_t)list.unused[--list.nunused];
    } else if (used < SLOTS) {
        t->slot = (int32_t)used;
        atomic_store_explicit(&list.used, used + 1, memory_order_relaxed);
    }
    if (t->slot >= 0) {
        list.slots[t->slot] = (struct slot){t, ref, false};
    }
    pthread_mutex_unlock(&list.lock);
    if (t->slot < 0) {
        (*env)->DeleteGlobalRef(env, ref);
    }
}

/* Frees the slot of an ended thread. Returns its reference, which the caller deletes. The caller holds the lock. */
static jthread free_locked(uint32_t i)
{
    jthread ref = list.slots[i].ref;
    list.slots[i].ref = NULL;
    list.unused[list.nunused++] = i;
    return ref;
}

void hpx_stack_thread_unlist(JNIEnv *env, struct hpx_sample_thread *t)
{
    if (t->slot < 0) {
        return;
    }
    uint32_t i = (uint32_t)t->slot;
    pthread_mutex_lock(&list.lock);
    list.slots[i].thread = NULL;
    jthread ref = list.slots[i].held ? NULL : free_locked(i);
    pthread_mutex_unlock(&list.lock);
    if (ref != NULL) {
        (*env)->DeleteGlobalRef(env, ref);
    }
}

bool hpx_stack_thread_poll(struct hpx_sample_thread *t)
{
    if (t->slot < 0) {
        return false;
    }
    hpx_clocks_poll(&t->tick.clock);
    atomic_store_explicit(&t->polled, true, memory_order_release); /* partner: poll_due() */
    atomic_store_explicit(&list.fresh, true, memory_order_relaxed);
    if (!atomic_exchange_explicit(&list.polling, true, memory_order_relaxed)) {
        hpx_wake_post(&list.wake);
    }
    return true;
}

bool hpx_stack_thread_polls(void)
{
    return atomic_load_explicit(&list.polling, memory_order_relaxed);
}

void hpx_stack_thread_ask_sig(struct hpx_sample_thread *t, uintptr_t pc, uint64_t weight, uint64_t stalled)
{
    if (t->slot < 0) {
        hpx_count(&t->s.base.counters, HPX_C_LOST_NO_MEMORY, weight);
        return;
    }
    uint32_t i = (uint32_t)t->slot, n = atomic_load_explicit(&t->asked, memory_order_relaxed);
    if (n - atomic_load_explicit(&t->taken, memory_order_acquire) < HPX_ASKS) { /* partner: push_asked() */
        t->asks[n % HPX_ASKS] = (struct hpx_ask){pc, weight, stalled};
        atomic_store_explicit(&t->asked, n + 1, memory_order_release); /* partner: push_asked() */
    } else {
        atomic_fetch_add_explicit(&t->pending, weight, memory_order_relaxed);
    }
    /* release: a round that sees the bits sees the weight; partner: take_asked() */
    atomic_fetch_or_explicit(&list.asked[i / 64], UINT64_C(1) << (i % 64), memory_order_release);
    atomic_fetch_or_explicit(&list.words[i / 4096], UINT64_C(1) << (i / 64 % 64), memory_order_release);
    hpx_wake_post(&list.wake);
}

/* The inlined methods at pc, without the frames of a probe. Sets *inside to whether pc is in a probe; leaves it unchanged if no method is
 * known at pc. */
static int chain_of(uintptr_t pc, struct hpx_ev_frame *chain, bool *inside)
{
    int c = (int)hpx_inlines_find(pc, chain);
    uint32_t probe = hpx_probe_frames(chain, c);
    *inside = c > 0 ? probe > 0 : *inside;
    memmove(chain, chain + probe, ((size_t)c - probe) * sizeof *chain);
    return c - (int)probe;
}

/* Makes the stack of a sample: leaf first, without the frames of a probe. If the method at pc is not on the stack, the thread has continued
 * since the signal; the sample then has the method at pc and an unknown caller. A probe is so short that its caller is still on the stack.
 * n < 0: no stack was taken, -enum hpx_unknown. */
static int join(struct hpx_sample_thread *t, uintptr_t pc, const jvmtiFrameInfo *taken, jint n, struct hpx_ev_frame *out, int depth,
                uint64_t weight)
{
    struct hpx_ev_frame chain[HPX_INLINES_DEPTH];
    jint from = (jint)hpx_probe_frames_vm(taken, n);
    bool inside = from > 0;
    int len = 0, c = chain_of(pc, chain, &inside);
    if (c == 0 && n < 0) {
        return n;
    }
    if (inside) {
        hpx_count(&t->s.base.counters, HPX_C_IN_PROBES, weight);
    }
    for (; len < c && len < depth; len++) {
        out[len] = chain[len];
    }
    while (c > 0 && from < n && (uint64_t)(uintptr_t)taken[from].method != chain[c - 1].method) {
        from++;
    }
    if (c > 0 && from >= n) {
        if (n >= 0) {
            hpx_count(&t->s.base.counters, HPX_C_DRIFTED, weight);
        }
        if (len < depth) {
            out[len++] = (struct hpx_ev_frame){-1, 0, HPX_EV_METHOD_OF(n < 0 ? -n : (int)HPX_UNKNOWN_DRIFTED)};
        }
        return len;
    }
    from += c > 0; /* the chain has that frame */
    for (; from < n && len < depth; from++) {
        out[len++] = (struct hpx_ev_frame){(int32_t)taken[from].location, 0, (uint64_t)(uintptr_t)taken[from].method};
    }
    return len;
}

static void push_one(struct hpx_sample_thread *t, struct hpx_ask a, const jvmtiFrameInfo *taken, jint n)
{
    uint32_t depth = hpx_stacks_depth(t);
    uint64_t weight = a.weight - a.stalled;
    struct hpx_ev_frame *out = weight && depth ? hpx_stacks_reserve(t, depth, weight) : NULL;
    if (out != NULL) {
        hpx_stacks_commit(t, out, join(t, a.pc, taken, n, out, (int)depth, weight), weight);
    }
    if (depth) {
        hpx_stacks_stall(t, a.stalled);
    }
}

/* Pushes a sample for every waiting signal, with its own pc, and one for the intervals of the signals that found no room, with the last pc.
 * Only a signal can have a stall, so that last sample and polled samples have none. The caller may write t's ring. */
static void push_asked(struct hpx_sample_thread *t, const jvmtiFrameInfo *taken, jint n)
{
    uint32_t at = atomic_load_explicit(&t->taken, memory_order_relaxed);
    uint32_t end = atomic_load_explicit(&t->asked, memory_order_acquire); /* partner: hpx_stack_thread_ask_sig() */
    struct hpx_ask a = {0, 0, 0};
    for (; at != end; at++) {
        a = t->asks[at % HPX_ASKS];
        push_one(t, a, taken, n);
    }
    atomic_store_explicit(&t->taken, end, memory_order_release); /* partner: hpx_stack_thread_ask_sig() */
    a.stalled = 0;
    a.weight = atomic_exchange_explicit(&t->pending, 0, memory_order_relaxed);
    push_one(t, a, taken, n);
}

static uint64_t take_polled(struct hpx_sample_thread *t)
{
    return atomic_load_explicit(&t->polled, memory_order_acquire) ? hpx_clocks_poll_take(&t->tick.clock)
                                                                  : 0; /* partner: hpx_stack_thread_poll() */
}

uint64_t hpx_stack_thread_flush(struct hpx_sample_thread *t)
{
    push_asked(t, NULL, -(int)HPX_UNKNOWN_THREAD_ENDED);
    return take_polled(t);
}

/* n < 0: -enum hpx_unknown. The caller holds the lock and is inside the gate. */
static void push_locked(struct hpx_sample_thread *t, const jvmtiFrameInfo *taken, jint n)
{
    if (!t->handed_over) {
        /* the engine was set before: once the handler is outside, it never writes the ring again */
        t->handed_over = hpx_ticks_quiesce(&t->tick, hpx_clock_mono() + TAKE_OVER_NS);
        if (!t->handed_over) {
            return; /* the next round counts its weight */
        }
    }
    hpx_count(&t->s.base.counters, HPX_C_TAKEN, 1);
    push_asked(t, taken, n);
    push_one(t, (struct hpx_ask){0, take_polled(t), 0}, taken, n);
}

static void deliver(JNIEnv *env, const struct job *j, const jvmtiFrameInfo *taken, jint n)
{
    struct slot *s = &list.slots[j->slot];
    jthread ref = NULL;
    bool inside = hpx_gate_enter(&hpx_session.gate);
    pthread_mutex_lock(&list.lock);
    if (s->thread == NULL) {
        ref = free_locked(j->slot); /* the thread has ended meanwhile and has counted its weight itself */
    } else if (inside) {
        push_locked(s->thread, taken, n);
    }
    s->held = false;
    pthread_mutex_unlock(&list.lock);
    if (inside) {
        hpx_gate_leave(&hpx_session.gate);
    }
    if (ref != NULL) {
        (*env)->DeleteGlobalRef(env, ref);
    }
}

static jint most_frames(void)
{
    return (jint)atomic_load_explicit(&hpx_session.depth, memory_order_relaxed) + (jint)hpx_probe_frames_most() +
           HPX_INLINES_DEPTH; /* inlined methods may replace more frames than there are of them */
}

static bool late(void)
{
    uint64_t until = atomic_load_explicit(&list.until, memory_order_relaxed);
    return until != 0 && hpx_clock_mono() > until;
}

static void take_each(JNIEnv *env, const struct job *jobs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        jint frames = 0;
        if (late()) {
            deliver(env, &jobs[i], NULL, -(int)HPX_UNKNOWN_THREAD_ENDED);
            continue;
        }
        jvmtiError e = hpx_thread_info_stack(hpx_vm.jvmti, jobs[i].ref, most_frames(), list.frames, &frames);
        int why = e == JVMTI_ERROR_THREAD_NOT_ALIVE ? -(int)HPX_UNKNOWN_THREAD_ENDED : -(int)HPX_UNKNOWN_OTHER;
        deliver(env, &jobs[i], list.frames, e == JVMTI_ERROR_NONE ? frames : why);
    }
}

static void take(JNIEnv *env, const struct job *jobs, uint32_t n)
{
    jvmtiStackInfo *infos = NULL;
    jthread refs[BATCH] = {NULL};
    if (list.single || n == 1 || late()) {
        take_each(env, jobs, n);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        refs[i] = jobs[i].ref;
    }
    jvmtiError e = (*hpx_vm.jvmti)->GetThreadListStackTraces(hpx_vm.jvmti, (jint)n, refs, most_frames(), &infos);
    if (e != JVMTI_ERROR_NONE) {
        take_each(env, jobs, n);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool alive = infos[i].state & JVMTI_THREAD_STATE_ALIVE;
        deliver(env, &jobs[i], infos[i].frame_buffer, alive ? infos[i].frame_count : -(int)HPX_UNKNOWN_THREAD_ENDED);
    }
    (*hpx_vm.jvmti)->Deallocate(hpx_vm.jvmti, (unsigned char *)infos);
}

static bool waits(const struct hpx_sample_thread *t)
{
    return atomic_load_explicit(&t->asked, memory_order_relaxed) != atomic_load_explicit(&t->taken, memory_order_relaxed) ||
           atomic_load_explicit(&t->pending, memory_order_relaxed) > 0;
}

static void hold_locked(uint32_t i, struct job *j)
{
    struct slot *s = &list.slots[i];
    s->held = true;
    *j = (struct job){i, s->ref};
}

struct due {
    struct job jobs[BATCH];
    uint32_t n;
};

static void take_word(JNIEnv *env, uint32_t word, struct due *due)
{
    uint64_t bits = atomic_exchange_explicit(&list.asked[word], 0, memory_order_acquire); /* partner: hpx_stack_thread_ask_sig() */
    while (bits != 0) {
        uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(bits);
        bits &= bits - 1;
        pthread_mutex_lock(&list.lock);
        struct hpx_sample_thread *t = list.slots[i].thread;
        if (t != NULL && waits(t)) {
            hold_locked(i, &due->jobs[due->n++]);
        }
        pthread_mutex_unlock(&list.lock);
        /* one handshake per stack: take it now, the thread continues; otherwise collect a batch */
        if (due->n == BATCH || (list.single && due->n > 0)) {
            take(env, due->jobs, due->n);
            due->n = 0;
        }
    }
}

static void take_asked(JNIEnv *env)
{
    struct due due = {.n = 0};
    for (uint32_t w = 0; w < HPX_ARRAY_LEN(list.words); w++) {
        uint64_t words = atomic_load_explicit(&list.words[w], memory_order_relaxed)
                             ? atomic_exchange_explicit(&list.words[w], 0, memory_order_acquire) /* partner: hpx_stack_thread_ask_sig() */
                             : 0;
        while (words != 0) {
            take_word(env, w * 64 + (uint32_t)__builtin_ctzll(words), &due);
            words &= words - 1;
        }
    }
    if (due.n > 0) {
        take(env, due.jobs, due.n);
    }
}

/* Marks the due threads of a chunk of slots as held. Returns the least CPU time until another thread of the chunk is due. */
static uint64_t poll_due(uint32_t from, uint32_t to, struct due *due)
{
    uint64_t least = UINT64_MAX;
    pthread_mutex_lock(&list.lock);
    for (uint32_t i = from; i < to; i++) {
        struct hpx_sample_thread *t = list.slots[i].thread;
        if (t == NULL || !atomic_load_explicit(&t->polled, memory_order_acquire)) { /* partner: hpx_stack_thread_poll() */
            continue;
        }
        uint64_t left = hpx_clocks_poll_left(&t->tick.clock);
        if (left == 0) {
            hold_locked(i, &due->jobs[due->n++]);
        }
        least = left < least ? left : least;
    }
    pthread_mutex_unlock(&list.lock);
    return least;
}

/* No thread is due before the whole process has used the CPU time that this thread lacks. So a round in an idle process reads one clock. */
static void poll_round(JNIEnv *env)
{
    uint64_t process = hpx_clock_process_cpu() - hpx_clock_thread_cpu(), least = UINT64_MAX;
    if (!atomic_exchange_explicit(&list.fresh, false, memory_order_relaxed) && process < list.skip_until) {
        return;
    }
    uint32_t used = atomic_load_explicit(&list.used, memory_order_relaxed);
    for (uint32_t from = 0; from < used; from += BATCH) {
        struct due due = {.n = 0};
        uint64_t left = poll_due(from, from + BATCH < used ? from + BATCH : used, &due);
        least = left < least ? left : least;
        if (due.n > 0) {
            take(env, due.jobs, due.n);
        }
    }
    list.skip_until = least < UINT64_MAX - process ? process + least : UINT64_MAX;
}

/* The pause until the next round. It limits the rounds to a share of a CPU; samples weigh more instead. */
static uint64_t pause_after(uint64_t cost_ns)
{
    uint64_t pause = hpx_session.opt->interval_ns < POLL_MOST_NS ? hpx_session.opt->interval_ns : POLL_MOST_NS;
    pause = pause > POLL_LEAST_NS ? pause : POLL_LEAST_NS;
    uint64_t fair = cost_ns * POLL_SHARE < POLL_MOST_NS ? cost_ns * POLL_SHARE : POLL_MOST_NS;
    return pause > fair ? pause : fair;
}

/* Takes the stacks that handlers asked for. Returns when the next may be taken: before HPX_RELEASE_HANDSHAKES every call stops all threads,
 * and these stops may use a share of the time. */
static uint64_t walk_round(JNIEnv *env)
{
    uint64_t began = hpx_clock_mono();
    take_asked(env);
    if (list.single) {
        return 0;
    }
    uint64_t now = hpx_clock_mono(), pause = (now - began) * POLL_SHARE;
    return now + (pause < POLL_MOST_NS ? pause : POLL_MOST_NS);
}

static void serve(JNIEnv *env)
{
    uint64_t next = 0, next_walk = 0;
    for (bool quit = false; !quit;) {
        uint32_t seen = hpx_wake_value(&list.wake);
        quit = atomic_load_explicit(&list.quit, memory_order_relaxed);
        if (atomic_exchange_explicit(&list.take_over, false, memory_order_relaxed)) {
            hpx_code_source_use_event(hpx_vm.jvmti);
        }
        uint64_t now = hpx_clock_mono();
        if (now >= next_walk || quit) {
            next_walk = walk_round(env);
            now = hpx_clock_mono();
        }
        bool polling = atomic_load_explicit(&list.polling, memory_order_relaxed);
        if (polling && (now >= next || quit)) {
            uint64_t cpu = hpx_clock_thread_cpu();
            poll_round(env);
            uint64_t began = now;
            now = hpx_clock_mono();
            /* before HPX_RELEASE_HANDSHAKES the VM's own thread takes the stack while all threads are stopped */
            next = began + pause_after(list.single ? hpx_clock_thread_cpu() - cpu : now - began);
        }
        if (!quit && (!polling || now < next)) {
            uint64_t pause = polling ? next - now : FOREVER_NS, walk = next_walk > now ? next_walk - now : FOREVER_NS;
            hpx_wake_wait(&list.wake, seen, pause < walk ? pause : walk);
        }
    }
}

static void *run(void *unused)
{
    (void)unused;
    jint version = 0;
    hpx_spawn_enter("hprofx-sampler", &list.thread);
    (*hpx_vm.jvmti)->GetVersionNumber(hpx_vm.jvmti, &version);
    list.single = hpx_release_of(version) >= HPX_RELEASE_HANDSHAKES;
    list.frames = malloc((HPX_OPT_MAX_DEPTH + HPX_PROBE_FRAMES + HPX_INLINES_DEPTH) * sizeof *list.frames);
    JNIEnv *env = list.frames != NULL ? hpx_threads_attach(HPX_OURS "sampler") : NULL;
    if (env == NULL) {
        hpx_warn("cpu=samples: cannot attach the sampling thread; samples will have no stacks");
    } else {
        serve(env);
        (*hpx_vm.java)->DetachCurrentThread(hpx_vm.java);
    }
    hpx_spawn_leave(&list.thread);
    sem_post(&list.left);
    return NULL;
}

int hpx_stack_thread_start(struct hpx_err *err)
{
    pthread_mutex_lock(&list.starting);
    if (list.state == NOT_YET) {
        sem_init(&list.left, 0, 0);
        list.state = hpx_spawn(run, "hprofx-sampler", err) == 0 ? STARTED : REFUSED;
    } else if (list.state == REFUSED) {
        hpx_err_set(err, HPX_E_SYS, "the sampling thread could not be started earlier");
    }
    int rc = list.state == STARTED ? 0 : -HPX_E_SYS;
    pthread_mutex_unlock(&list.starting);
    return rc;
}

void hpx_stack_thread_take_over(void)
{
    atomic_store_explicit(&list.take_over, true, memory_order_relaxed);
    hpx_wake_post(&list.wake);
}

void hpx_stack_thread_stop(uint64_t ns)
{
    pthread_mutex_lock(&list.starting);
    bool started = list.state == STARTED;
    list.state = REFUSED; /* for good */
    pthread_mutex_unlock(&list.starting);
    list.gone = !started;
    if (!started) {
        return;
    }
    uint64_t now = hpx_clock_mono();
    atomic_store_explicit(&list.until, now + ns / 2, memory_order_relaxed);
    atomic_store_explicit(&list.quit, true, memory_order_relaxed);
    hpx_wake_post(&list.wake);
    list.gone = hpx_spawn_wait(&list.left, now + ns);
}

bool hpx_stack_thread_left(uint64_t until_ns)
{
    list.gone = list.gone || list.state == NOT_YET || hpx_spawn_wait(&list.left, until_ns);
    return list.gone;
}

void hpx_stack_thread_fini(JNIEnv *env)
{
    uint32_t used = atomic_load_explicit(&list.used, memory_order_relaxed);
    for (uint32_t i = 0; i < used; i++) {
        if (list.slots[i].ref != NULL) {
            (*env)->DeleteGlobalRef(env, list.slots[i].ref);
        }
    }
    memset(list.slots, 0, used * sizeof *list.slots);
    for (uint32_t i = 0; i < SLOTS / 64 && i <= used / 64; i++) {
        atomic_store_explicit(&list.asked[i], 0, memory_order_relaxed);
    }
    for (uint32_t i = 0; i < SLOTS / 64 / 64; i++) {
        atomic_store_explicit(&list.words[i], 0, memory_order_relaxed);
    }
    free(list.frames);
    list.frames = NULL;
    atomic_store_explicit(&list.used, 0, memory_order_relaxed);
    list.nunused = 0;
    atomic_store_explicit(&list.quit, false, memory_order_relaxed);
    atomic_store_explicit(&list.take_over, false, memory_order_relaxed);
    atomic_store_explicit(&list.until, 0, memory_order_relaxed);
    atomic_store_explicit(&list.polling, false, memory_order_relaxed);
    atomic_store_explicit(&list.fresh, false, memory_order_relaxed);
    list.skip_until = 0;
    list.state = NOT_YET;
    list.thread = (struct hpx_spawned){0};
}

uint64_t hpx_stack_thread_cpu(void)
{
    return hpx_spawn_cpu(&list.thread);
}
