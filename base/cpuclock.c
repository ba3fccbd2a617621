/* SPDX-License-Identifier: BSD-2-Clause */
/* cpuclock.c: resyncs, and the means that setup chose. */
#include "cpuclock.h"
#include "clock.h"
#include "cpuclock_check.h"

/* Relaxed, all: setup comes before the first enter by contract; afterwards only scale and reason change, and a reader may be late. */
static struct {
    _Atomic uint64_t scale; /* 0: asks the kernel every time */
    atomic_bool wall;
    _Atomic intptr_t offset; /* of rseq_cs from the thread pointer; meant only where scale is not 0 */
    _Atomic(const char *) reason;
} means = {.reason = "not set up"};

/* The four bytes before the abort address are what glibc registered with the kernel, which checks them. Nothing jumps here. */
__asm__(".pushsection .text\n"
        ".balign 16\n"
        ".hidden hpx_cpuclock_never, hpx_cpuclock_never_abort\n"
        ".globl hpx_cpuclock_never, hpx_cpuclock_never_abort\n"
        "hpx_cpuclock_never: " HPX_RSEQ_TRAP HPX_RSEQ_SIGNATURE "hpx_cpuclock_never_abort: " HPX_RSEQ_TRAP ".popsection");
extern const char hpx_cpuclock_never[] __attribute__((visibility("hidden")));
extern const char hpx_cpuclock_never_abort[] __attribute__((visibility("hidden")));

const struct hpx_cpuclock_section hpx_cpuclock_section = {
    .start_ip = (uintptr_t)hpx_cpuclock_never, .post_commit_offset = 4, .abort_ip = (uintptr_t)hpx_cpuclock_never_abort};

static uint64_t ask_kernel(void)
{
    return atomic_load_explicit(&means.wall, memory_order_relaxed) ? hpx_clock_mono() : hpx_clock_thread_cpu();
}

static uint64_t not_below(const struct hpx_cpuclock *c, uint64_t ns)
{
    uint64_t last = atomic_load_explicit(&c->last, memory_order_relaxed);
    return ns < last ? last : ns;
}

/* A pointer that is not ours is overwritten. Sections end before other code of their thread runs: this is such code, and in a handler the
 * kernel has aborted the interrupted section already. What is left behind has no meaning, and its owner sets it anew for each section. */
static void arm(struct hpx_cpuclock *c)
{
    atomic_store_explicit(c->word, HPX_CPUCLOCK_OURS, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

static void disarm(struct hpx_cpuclock *c)
{
    if (c->word && atomic_load_explicit(c->word, memory_order_relaxed) == HPX_CPUCLOCK_OURS) {
        atomic_store_explicit(c->word, 0, memory_order_relaxed);
    }
}

uint64_t hpx_cpuclock_resync(struct hpx_cpuclock *c)
{
    if (atomic_load_explicit(&c->busy, memory_order_relaxed)) {
        return not_below(c, ask_kernel()); /* a handler inside the lines below */
    }
    atomic_store_explicit(&c->busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&c->scale, 0, memory_order_relaxed); /* a handler must not pair the new pointer with the old base */
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t scale = c->word ? atomic_load_explicit(&means.scale, memory_order_relaxed) : 0, ns;
    if (scale) {
        arm(c); /* before the kernel is asked: a switch after its answer must be seen */
        ns = ask_kernel();
        atomic_signal_fence(memory_order_seq_cst);
        /* After: the clock may lag by the way out of the kernel until the next resync, and runs ahead by nothing. */
        hpx_counter_fence();
        atomic_store_explicit(&c->base_count, hpx_counter(), memory_order_relaxed);
        atomic_store_explicit(&c->base_ns, ns, memory_order_relaxed); /* not raised to last: else it would stay ahead for ever */
    } else {
        disarm(c);
        ns = ask_kernel();
    }
    atomic_store_explicit(&c->resyncs, atomic_load_explicit(&c->resyncs, memory_order_relaxed) + 1, memory_order_relaxed);
    ns = not_below(c, ns);
    atomic_store_explicit(&c->last, ns, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&c->scale, scale, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&c->busy, false, memory_order_relaxed);
    return ns;
}

void hpx_cpuclock_enter(struct hpx_cpuclock *c)
{
    *c = (struct hpx_cpuclock){0};
    if (hpx_cpuclock_is_fast()) {
        c->word = hpx_cpuclock_word(atomic_load_explicit(&means.offset, memory_order_relaxed));
    }
    disarm(c); /* stands from before fork */
}

void hpx_cpuclock_leave(struct hpx_cpuclock *c)
{
    atomic_store_explicit(&c->scale, 0, memory_order_relaxed);
    disarm(c);
    c->word = NULL;
}

void hpx_cpuclock_setup(enum hpx_cpuclock_kind kind, const struct hpx_cpuclock_ops *ops)
{
    struct hpx_cpuclock_found found = {.why = "asked for"};
    if (kind != HPX_CPUCLOCK_CALLS) {
        hpx_cpuclock_check(&found, ops);
    }
    atomic_store_explicit(&means.wall, kind == HPX_CPUCLOCK_WALL, memory_order_relaxed);
    atomic_store_explicit(&means.offset, found.offset, memory_order_relaxed);
    atomic_store_explicit(&means.reason, found.why, memory_order_relaxed);
    atomic_store_explicit(&means.scale, found.scale, memory_order_relaxed);
}

bool hpx_cpuclock_recheck(void)
{
    struct hpx_cpuclock_found found = {.scale = atomic_load_explicit(&means.scale, memory_order_relaxed),
                                       .offset = atomic_load_explicit(&means.offset, memory_order_relaxed)};
    if (!found.scale || hpx_cpuclock_check_again(&found)) {
        return true;
    }
    atomic_store_explicit(&means.reason, found.why, memory_order_relaxed);
    atomic_store_explicit(&means.scale, 0, memory_order_relaxed);
    return false;
}

bool hpx_cpuclock_is_fast(void)
{
    return atomic_load_explicit(&means.scale, memory_order_relaxed) != 0;
}

const char *hpx_cpuclock_name(void)
{
    bool fast = hpx_cpuclock_is_fast();
    if (atomic_load_explicit(&means.wall, memory_order_relaxed)) {
        return fast ? "wall clock by " HPX_COUNTER_NAME " and rseq" : "wall clock by calls";
    }
    return fast ? "thread clock by " HPX_COUNTER_NAME " and rseq" : "thread clock by calls";
}

const char *hpx_cpuclock_reason(void)
{
    return atomic_load_explicit(&means.reason, memory_order_relaxed);
}
