/* SPDX-License-Identifier: BSD-2-Clause */
/* call_balance.c: which thread is drained by whom. An aggregator is busy when it has used three quarters of a core for two windows of 10
 * ms, by its thread's CPU clock: waiting for a core is no reason to want more of them. It then keeps about half of its threads' load, by
 * bytes; the others go where there is room, or to a new drainer. After that two windows pass before the next look, so that it sees what
 * became of it. Drainers give back to the main one, which hands on: one thread decides. */
#include "call_drainers.h"
#include "clock.h"

#define CORE         1000u
#define BUSY_WINDOWS 2u
#define CALM_WINDOWS 2u
#define DEEPEST      1000u          /* most open calls of a thread that moves, because every one is looked up again */
#define SMALLEST     UINT64_C(4096) /* bytes in a window: less is no load */

/* true: a window has passed; *load: thousandths of a core in it. The first one begins now. */
static bool window(struct hpx_meter *m, uint64_t ns, uint32_t *load)
{
    uint64_t wall = hpx_clock_mono();
    if (m->wall != 0 && wall - m->wall < ns) {
        return false;
    }
    uint64_t cpu = hpx_clock_thread_cpu();
    bool first = m->wall == 0;
    uint64_t part = (cpu - m->cpu) * CORE / (wall - m->wall);
    *load = part < CORE ? (uint32_t)part : CORE;
    *m = (struct hpx_meter){wall, cpu};
    return !first;
}

/* ---- bytes of a window ---- */

struct split {
    uint64_t all, most; /* of all threads, of the largest */
    uint64_t given;     /* of those that go */
    struct hpx_call_drainers *s;
    uint32_t load, stays;
    uint32_t expected[HPX_CALL_DRAINERS_MAX];
    bool full; /* no drainer takes more, and no other can be had */
};

static uint64_t bytes_of(const struct hpx_thread *t)
{
    return hpx_ring_position(&t->ring) - t->mark;
}

static void add_bytes(void *ctx, struct hpx_thread *t)
{
    struct split *p = ctx;
    uint64_t n = bytes_of(t);
    p->all += n;
    p->most = n > p->most ? n : p->most;
}

static void renew_mark(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    t->mark = hpx_ring_position(&t->ring);
}

/* An eighth of the load at least is not the largest thread's. */
static bool divisible(const struct split *p)
{
    return p->all - p->most >= p->all / 8 && p->all - p->most >= SMALLEST;
}

/* Of about half of the bytes. */
static bool in_this_half(const struct split *p, const struct hpx_thread *t)
{
    uint64_t n = bytes_of(t);
    const struct hpx_call_thread *th = t->call_stacks;
    return n >= SMALLEST && n <= p->all / 2 - (p->given < p->all / 2 ? p->given : p->all / 2) && th->own.depth <= DEEPEST;
}

/* ---- drainers ---- */

static bool goes_home(void *ctx, struct hpx_thread *t)
{
    struct split *p = ctx;
    bool goes = in_this_half(p, t);
    p->given += goes ? bytes_of(t) : 0;
    return goes;
}

void hpx_call_drainer_measure(struct hpx_call_drainer *d)
{
    struct split p = {0};
    uint32_t load;
    if (!window(&d->meter, d->window_ns, &load)) {
        return;
    }
    hpx_aggregator_each(&d->a, add_bytes, &p);
    atomic_store_explicit(&d->load, load, memory_order_relaxed);
    atomic_store_explicit(&d->divisible, divisible(&p), memory_order_relaxed);
    if (atomic_load_explicit(&d->wanted, memory_order_relaxed)) {
        atomic_store_explicit(&d->wanted, false, memory_order_relaxed);
        if (divisible(&p)) {
            hpx_call_drainer_give_back(d, goes_home, &p);
        }
    }
    hpx_aggregator_each(&d->a, renew_mark, NULL);
}

/* ---- the main one ---- */

static uint32_t least(const struct split *p)
{
    uint32_t at = HPX_CALL_DRAINER_NONE;
    for (uint32_t i = 0; i < p->s->running; i++) {
        at = at == HPX_CALL_DRAINER_NONE || p->expected[i] < p->expected[at] ? i : at;
    }
    return at;
}

/* The best drainer for a thread with this load; HPX_CALL_DRAINER_NONE: no better place. */
static uint32_t place_for(struct split *p, uint32_t load)
{
    uint32_t at = least(p);
    if (at != HPX_CALL_DRAINER_NONE && p->expected[at] + load <= p->s->busy) {
        return at;
    }
    if (hpx_call_drainers_start(p->s)) {
        return p->s->running - 1;
    }
    return at != HPX_CALL_DRAINER_NONE && p->expected[at] + load + load < p->stays ? at : HPX_CALL_DRAINER_NONE;
}

static uint32_t goes_to(void *ctx, struct hpx_thread *t)
{
    struct split *p = ctx;
    if (!in_this_half(p, t)) {
        return HPX_CALL_DRAINER_NONE;
    }
    uint64_t n = bytes_of(t);
    uint32_t load = (uint32_t)(p->load * n / p->all), to = place_for(p, load);
    if (to != HPX_CALL_DRAINER_NONE) {
        p->given += n;
        p->expected[to] += load;
        p->stays -= load < p->stays ? load : p->stays;
    }
    return to;
}

static void look_at_loads(struct split *p)
{
    for (unsigned i = 0; i < p->s->running; i++) {
        p->expected[i] = atomic_load_explicit(&p->s->drainers[i]->load, memory_order_relaxed);
    }
}

/* Asks one busy drainer to share, if there is room elsewhere; true: asked. */
static bool ask_one(const struct split *p, uint32_t main_load)
{
    struct hpx_call_drainers *s = p->s;
    bool room = hpx_call_drainers_may_start(s) || main_load <= s->busy / 2;
    for (unsigned i = 0; i < s->running; i++) {
        room |= p->expected[i] <= s->busy / 2;
    }
    for (unsigned i = 0; i < s->running && room; i++) {
        struct hpx_call_drainer *d = s->drainers[i];
        if (p->expected[i] >= s->busy && atomic_load_explicit(&d->divisible, memory_order_relaxed)) {
            atomic_store_explicit(&d->wanted, true, memory_order_relaxed);
            return true;
        }
    }
    return false;
}

static bool give_half(struct split *p)
{
    uint64_t given = p->s->given;
    hpx_aggregator_each(p->s->main, add_bytes, p);
    if (divisible(p)) {
        hpx_call_drainers_give(p->s, goes_to, p);
    }
    return p->s->given > given;
}

static void measure(struct hpx_call_drainers *s)
{
    uint32_t load;
    if (s->limit == 0 || !window(&s->meter, s->window_ns, &load)) {
        return;
    }
    struct split p = {.s = s, .load = load, .stays = load};
    look_at_loads(&p);
    s->busy_windows = load >= s->busy ? s->busy_windows + 1 : 0;
    if (s->calm_windows > 0) {
        s->calm_windows--;
    } else if ((s->busy_windows >= BUSY_WINDOWS && give_half(&p)) || ask_one(&p, load)) {
        s->calm_windows = CALM_WINDOWS;
        s->busy_windows = 0;
    }
    hpx_aggregator_each(s->main, renew_mark, NULL);
}

/* The main table may delay a SWITCH although its predecessor is still in a drainer's ring. So call_switch.c counts a pass only after every
 * drainer has ended two passes since the main aggregator's last one. Set before the next pass looks for new threads, so that it covers the
 * threads that drainers gave back. */
static void hold(struct hpx_call_drainers *s)
{
    bool passed = s->table->hold, waits = false;
    uint64_t now[HPX_CALL_DRAINERS_MAX] = {0};
    for (unsigned i = 0; i < s->running; i++) {
        now[i] = atomic_load_explicit(&s->drainers[i]->passes, memory_order_acquire); /* partner: a drainer's pass_end() */
        passed = passed && now[i] >= s->drainers[i]->seen + 2;
    }
    if (!s->table->hold) { /* this pass was one of them */
        for (unsigned i = 0; i < s->running; i++) {
            s->drainers[i]->seen = now[i];
        }
    }
    s->table->hold = s->running > 0 && !passed;
    for (const struct hpx_call_thread *th = s->table->threads; th && s->table->hold && !waits; th = th->next) {
        waits = th->backlog.n > 0;
    }
    for (unsigned i = 0; i < s->running && waits; i++) {
        hpx_aggregator_wake(&s->drainers[i]->a);
    }
}

void hpx_call_drainers_balance(struct hpx_call_drainers *s)
{
    measure(s);
    hold(s);
}
