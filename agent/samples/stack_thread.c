/* SPDX-License-Identifier: BSD-2-Clause */
/* stack_thread.c: the sampling thread of stack_thread.h. */
#include "stack_thread.h"
#include "clock.h"
#include "clocks.h"
#include "code_source.h"
#include "inlines.h"
#include "looker.h"
#include "probe_frames.h"
#include "service.h"
#include "stacks.h"
#include "thread_list.h"
#include <string.h>

#define PLACES        65536u /* in the list, whose threads can ask for a stack */
#define TAKE_OVER_NS  (50ull * 1000 * 1000)
#define POLL_LEAST_NS (1000ull * 1000)       /* between two looks at the clocks */
#define POLL_MOST_NS  (200ull * 1000 * 1000) /* only POLL_SHARE makes a pause longer than the interval */
#define POLL_SHARE    20                     /* a round may use 1/POLL_SHARE of a CPU, or of the time if it stops all threads */
#define FOREVER_NS    UINT64_C(3600000000000)

HPX_OF_SESSION struct hpx_looker hpx_sampling_thread;

static HPX_OF_SESSION struct {
    /* One bit per place: the handler of its thread asks for a stack. release: ask_sig; acquire: take_asked. */
    _Atomic uint64_t asked[PLACES / 64];
    atomic_bool take_over;      /* relaxed: ordered by the wake */
    atomic_bool polling, fresh; /* relaxed: at least one thread is polled; one was added since the last round */
    /* the sampling thread's */
    uint64_t skip_until; /* no polled thread is due before the process, without our threads, has used this much CPU time */
    bool single;         /* hpx_looker_asks_one() */
} sampling;

/* The state of the thread at that place; NULL: it has ended. The list's lock is held. */
static struct hpx_sample_thread *at(uint32_t place)
{
    struct hpx_mode_thread *s = hpx_thread_list_at(place)->first;
    while (s != NULL && s->base.mode != &hpx_samples) {
        s = s->next;
    }
    return (struct hpx_sample_thread *)(void *)s;
}

bool hpx_stack_thread_poll(struct hpx_sample_thread *t)
{
    if (t->s.first->place == 0) { /* it is not in the list */
        return false;
    }
    hpx_clocks_poll(&t->tick.clock);
    atomic_store_explicit(&t->polled, true, memory_order_release); /* partner: poll_due() */
    atomic_store_explicit(&sampling.fresh, true, memory_order_relaxed);
    if (!atomic_exchange_explicit(&sampling.polling, true, memory_order_relaxed)) {
        hpx_wake_post(&hpx_sampling_thread.wake);
    }
    return true;
}

bool hpx_stack_thread_polls(void)
{
    return atomic_load_explicit(&sampling.polling, memory_order_relaxed);
}

void hpx_stack_thread_ask_sig(struct hpx_sample_thread *t, uintptr_t pc, uint64_t weight, uint64_t stalled)
{
    uint32_t i = t->s.first->place - 1, n = atomic_load_explicit(&t->asked, memory_order_relaxed);
    if (i >= PLACES) { /* also if it has no place */
        hpx_count(&t->s.base.counters, HPX_C_LOST_NO_MEMORY, weight);
        return;
    }
    if (n - atomic_load_explicit(&t->taken, memory_order_acquire) < HPX_ASKS) { /* partner: push_asked() */
        t->asks[n % HPX_ASKS] = (struct hpx_ask){pc, weight, stalled};
        atomic_store_explicit(&t->asked, n + 1, memory_order_release); /* partner: push_asked() */
    } else {
        atomic_fetch_add_explicit(&t->pending, weight, memory_order_relaxed);
    }
    /* release: a round that sees the bit sees the weight; partner: take_asked() */
    atomic_fetch_or_explicit(&sampling.asked[i / 64], UINT64_C(1) << (i % 64), memory_order_release);
    hpx_wake_post(&hpx_sampling_thread.wake);
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

static void deliver(JNIEnv *env, const struct hpx_held *h, const jvmtiFrameInfo *taken, jint n)
{
    bool inside = hpx_thread_list_enter();
    struct hpx_sample_thread *t = at(h->place);
    if (inside && t != NULL) { /* a thread that has ended has counted its weight itself */
        push_locked(t, taken, n);
    }
    hpx_thread_list_leave(inside);
    hpx_thread_list_drop(env, h);
}

static jint most_frames(void)
{
    return (jint)atomic_load_explicit(&hpx_session.depth, memory_order_relaxed) + (jint)hpx_probe_frames_most() +
           HPX_INLINES_DEPTH; /* inlined methods may replace more frames than there are of them */
}

static bool waits(const struct hpx_sample_thread *t)
{
    return atomic_load_explicit(&t->asked, memory_order_relaxed) != atomic_load_explicit(&t->taken, memory_order_relaxed) ||
           atomic_load_explicit(&t->pending, memory_order_relaxed) > 0;
}

struct due {
    struct hpx_held held[HPX_HELD_MOST];
    uint32_t n;
};

static void take(JNIEnv *env, struct due *due)
{
    hpx_looker_ask(&hpx_sampling_thread, env, due->held, due->n, most_frames(), deliver);
    due->n = 0;
}

static void take_word(JNIEnv *env, uint32_t word, struct due *due)
{
    uint64_t bits = atomic_exchange_explicit(&sampling.asked[word], 0, memory_order_acquire); /* partner: hpx_stack_thread_ask_sig() */
    for (; bits != 0; bits &= bits - 1) {
        uint32_t place = word * 64 + (uint32_t)__builtin_ctzll(bits);
        hpx_thread_list_lock();
        const struct hpx_sample_thread *t = at(place);
        if (t != NULL && waits(t)) {
            due->held[due->n++] = hpx_thread_list_hold(place);
        }
        hpx_thread_list_unlock();
        /* one handshake per stack: take it now, the thread continues; otherwise collect a batch */
        if (due->n == HPX_HELD_MOST || sampling.single) {
            take(env, due);
        }
    }
}

static uint32_t places(void)
{
    hpx_thread_list_lock();
    uint32_t n = hpx_thread_list_places();
    hpx_thread_list_unlock();
    return n;
}

static void take_asked(JNIEnv *env)
{
    struct due due = {.n = 0};
    for (uint32_t w = 0, end = (places() + 63) / 64; w < end && w < HPX_ARRAY_LEN(sampling.asked); w++) {
        if (atomic_load_explicit(&sampling.asked[w], memory_order_relaxed) != 0) {
            take_word(env, w, &due);
        }
    }
    take(env, &due);
}

/* Holds the due threads of a chunk of places. Returns the least CPU time until another thread of the chunk is due. */
static uint64_t poll_due(uint32_t from, uint32_t to, struct due *due)
{
    uint64_t least = UINT64_MAX;
    hpx_thread_list_lock();
    for (uint32_t i = from; i < to; i++) {
        const struct hpx_sample_thread *t = at(i);
        if (t == NULL || !atomic_load_explicit(&t->polled, memory_order_acquire)) { /* partner: hpx_stack_thread_poll() */
            continue;
        }
        uint64_t left = hpx_clocks_poll_left(&t->tick.clock);
        if (left == 0) {
            due->held[due->n++] = hpx_thread_list_hold(i);
        }
        least = left < least ? left : least;
    }
    hpx_thread_list_unlock();
    return least;
}

/* No thread is due before the whole process has used the CPU time that this thread lacks. So a round in an idle process reads one clock. */
static void poll_round(JNIEnv *env)
{
    uint64_t process = hpx_clock_process_cpu() - hpx_clock_thread_cpu(), least = UINT64_MAX;
    if (!atomic_exchange_explicit(&sampling.fresh, false, memory_order_relaxed) && process < sampling.skip_until) {
        return;
    }
    for (uint32_t from = 0, end = places(); from < end; from += HPX_HELD_MOST) {
        struct due due = {.n = 0};
        uint64_t left = poll_due(from, from + HPX_HELD_MOST < end ? from + HPX_HELD_MOST : end, &due);
        least = left < least ? left : least;
        take(env, &due);
    }
    sampling.skip_until = least < UINT64_MAX - process ? process + least : UINT64_MAX;
}

/* The pause until the next round. It limits the rounds to a share of a CPU; samples weigh more instead. */
static uint64_t pause_after(uint64_t cost_ns)
{
    uint64_t pause = hpx_session.opt->interval_ns < POLL_MOST_NS ? hpx_session.opt->interval_ns : POLL_MOST_NS;
    pause = pause > POLL_LEAST_NS ? pause : POLL_LEAST_NS;
    uint64_t fair = cost_ns * POLL_SHARE < POLL_MOST_NS ? cost_ns * POLL_SHARE : POLL_MOST_NS;
    return pause > fair ? pause : fair;
}

/* Takes the stacks that handlers asked for. Returns when the next may be taken: where a call stops all threads, these stops may use a share
 * of the time. */
static uint64_t walk_round(JNIEnv *env)
{
    uint64_t began = hpx_clock_mono();
    take_asked(env);
    if (sampling.single) {
        return 0;
    }
    uint64_t now = hpx_clock_mono(), pause = (now - began) * POLL_SHARE;
    return now + (pause < POLL_MOST_NS ? pause : POLL_MOST_NS);
}

static void serve(JNIEnv *env)
{
    sampling.single = hpx_looker_asks_one();
    uint64_t next = 0, next_walk = 0;
    for (bool quit = false; !quit;) {
        uint32_t seen = hpx_wake_value(&hpx_sampling_thread.wake);
        quit = atomic_load_explicit(&hpx_sampling_thread.quit, memory_order_relaxed);
        if (atomic_exchange_explicit(&sampling.take_over, false, memory_order_relaxed)) {
            hpx_code_source_use_event(hpx_vm.jvmti);
        }
        uint64_t now = hpx_clock_mono();
        if (now >= next_walk || quit) {
            next_walk = walk_round(env);
            now = hpx_clock_mono();
        }
        bool polling = atomic_load_explicit(&sampling.polling, memory_order_relaxed);
        if (polling && (now >= next || quit)) {
            uint64_t cpu = hpx_clock_thread_cpu();
            poll_round(env);
            uint64_t began = now;
            now = hpx_clock_mono();
            /* where all threads are stopped, the stacks are taken by a thread of the VM, whose CPU time is not known */
            next = began + pause_after(sampling.single ? hpx_clock_thread_cpu() - cpu : now - began);
        }
        if (!quit && (!polling || now < next)) {
            uint64_t pause = polling ? next - now : FOREVER_NS, walk = next_walk > now ? next_walk - now : FOREVER_NS;
            hpx_wake_wait(&hpx_sampling_thread.wake, seen, pause < walk ? pause : walk);
        }
    }
}

static void *run(void *unused)
{
    (void)unused;
    hpx_looker_run(&hpx_sampling_thread);
    return NULL;
}

int hpx_stack_thread_start(struct hpx_err *err)
{
    static const struct hpx_looker_work work = {"hprofx-sampler",
                                                HPX_OURS "sampler",
                                                run,
                                                serve,
                                                "cpu=samples: cannot attach the sampling thread; samples will have no stacks",
                                                HPX_OPT_MAX_DEPTH + HPX_PROBE_FRAMES + HPX_INLINES_DEPTH};
    return hpx_looker_start(&hpx_sampling_thread, &work, err);
}

void hpx_stack_thread_take_over(void)
{
    atomic_store_explicit(&sampling.take_over, true, memory_order_relaxed);
    hpx_wake_post(&hpx_sampling_thread.wake);
}
