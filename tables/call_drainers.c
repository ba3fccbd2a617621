/* SPDX-License-Identifier: BSD-2-Clause */
/* call_drainers.c: life of the drainers, and the way of a thread between them. Who gets which: call_balance.c. */
#include "call_drainers.h"
#include "clock.h"
#include "cpus.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WINDOW_NS UINT64_C(10000000)
#define BUSY      750u
#define RETRY_NS  UINT64_C(1000000000)

void hpx_call_drainers_init(struct hpx_call_drainers *s, struct hpx_aggregator *main, struct hpx_calltab *table, unsigned limit)
{
    *s = (struct hpx_call_drainers){
        .main = main, .table = table, .limit = limit, .retry_ns = RETRY_NS, .window_ns = WINDOW_NS, .busy = BUSY};
    s->limit = limit < HPX_CALL_DRAINERS_MAX ? limit : HPX_CALL_DRAINERS_MAX;
}

unsigned hpx_call_drainers_limit(void)
{
    return hpx_cpus_allowed(0) / 2;
}

void hpx_call_drainers_fini(struct hpx_call_drainers *s)
{
    hpx_call_drainers_gather(s);
    for (unsigned i = 0; i < HPX_CALL_DRAINERS_MAX && s->drainers[i]; i++) {
        hpx_aggregator_fini(&s->drainers[i]->a);
        free(s->drainers[i]);
        s->drainers[i] = NULL;
    }
}

/* ---- a drainer's side ---- */

static void no_message(void *ctx, struct hpx_msg *m)
{
    (void)ctx;
    free(m);
}

static void came(void *ctx, struct hpx_thread *t)
{
    struct hpx_call_drainer *d = ctx;
    t->mark = hpx_ring_position(&t->ring);
    hpx_calltab_adopt(&d->table, t->call_stacks);
}

static void events(void *ctx, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    struct hpx_call_drainer *d = ctx;
    struct hpx_call_thread *th = t->call_stacks;
    const struct hpx_ev_head *end = ev + n / HPX_EV_UNIT;
    while ((ev = hpx_calltab_apply(&d->table, th, ev, end)) < end) {
        ev += ev->units;
    }
    d->switched |= th->carrier;
}

static void home(struct hpx_call_drainer *d, struct hpx_thread *t)
{
    hpx_calltab_detach(&d->table, t->call_stacks);
    hpx_aggregator_give(t, d->main);
}

static void gone(void *ctx, struct hpx_thread *t)
{
    home(ctx, t); /* the main one sees RETIRED, too: what is open returns there, and its counters are added there */
}

struct giving_back {
    struct hpx_call_drainer *d;
    bool (*home)(void *ctx, struct hpx_thread *t);
    void *ctx;
};

static struct hpx_aggregator *back_or_not(void *ctx, struct hpx_thread *t)
{
    const struct giving_back *g = ctx;
    if (!g->home(g->ctx, t)) {
        return &g->d->a;
    }
    hpx_calltab_detach(&g->d->table, t->call_stacks);
    return g->d->main;
}

void hpx_call_drainer_give_back(struct hpx_call_drainer *d, bool (*home_)(void *ctx, struct hpx_thread *t), void *ctx)
{
    struct giving_back g = {d, home_, ctx};
    hpx_aggregator_part(&d->a, back_or_not, &g);
}

static bool has_switched(void *ctx, struct hpx_thread *t)
{
    const struct hpx_call_thread *th = t->call_stacks;
    (void)ctx;
    return th->carrier;
}

static bool pass_end(void *ctx)
{
    struct hpx_call_drainer *d = ctx;
    if (d->switched) {
        d->switched = false;
        hpx_call_drainer_give_back(d, has_switched, NULL);
    }
    hpx_call_drainer_measure(d);
    if (atomic_load_explicit(&d->a.stop, memory_order_relaxed)) { /* the flag alone */
        d->cpu_ns = hpx_clock_thread_cpu();
    }
    atomic_fetch_add_explicit(&d->passes, 1, memory_order_release); /* partner: hold() */
    return false;
}

/* ---- the main one's ---- */

static struct hpx_call_drainer *make(struct hpx_call_drainers *s, unsigned number)
{
    const struct hpx_sink sink = {.message = no_message, .events = events, .thread_came = came, .thread_gone = gone, .pass_end = pass_end};
    struct hpx_call_drainer *d = NULL;
    if (posix_memalign((void **)&d, HPX_CACHE_LINE, sizeof(*d)) != 0) {
        return NULL;
    }
    memset((void *)d, 0, sizeof(*d));
    struct hpx_sink own = sink;
    own.ctx = d;
    hpx_aggregator_init(&d->a, &own);
    (void)snprintf(d->name, sizeof(d->name), "hprofx-drain%u", number % 10u);
    d->main = s->main;
    d->a.name = d->name;
    d->a.last_passes = 0; /* the main aggregator drains the rest of the rings */
    d->a.wait_ns = s->main->wait_ns;
    s->drainers[number - 1] = d;
    return d;
}

bool hpx_call_drainers_may_start(const struct hpx_call_drainers *s)
{
    return s->running < s->limit && (s->retry_at == 0 || hpx_clock_mono() >= s->retry_at);
}

/* A limit of threads or memory may be temporary: do not retry at every window, but do not give up either. */
static bool refused(struct hpx_call_drainers *s)
{
    s->retry_at = hpx_clock_mono() + s->retry_ns;
    return false;
}

bool hpx_call_drainers_start(struct hpx_call_drainers *s)
{
    struct hpx_calltab_config cfg = s->table->cfg;
    unsigned at = s->running;
    cfg.apart = true;
    if (!hpx_call_drainers_may_start(s)) {
        return false;
    }
    struct hpx_call_drainer *d = s->drainers[at] ? s->drainers[at] : make(s, at + 1);
    if (!d || hpx_calltab_init(&d->table, &cfg) != 0) {
        return refused(s);
    }
    atomic_store_explicit(&d->passes, 0, memory_order_relaxed); /* these are handed over with the thread's start */
    atomic_store_explicit(&d->load, 0, memory_order_relaxed);
    atomic_store_explicit(&d->divisible, false, memory_order_relaxed);
    atomic_store_explicit(&d->wanted, false, memory_order_relaxed);
    d->meter = (struct hpx_meter){0};
    d->seen = d->cpu_ns = 0;
    d->window_ns = s->window_ns;
    if (hpx_aggregator_start(&d->a, NULL) != 0) {
        hpx_calltab_fini(&d->table);
        return refused(s);
    }
    s->retry_at = 0;
    s->running++;
    s->most = s->running > s->most ? s->running : s->most;
    return true;
}

void hpx_call_drainers_came(struct hpx_call_drainers *s, struct hpx_thread *t)
{
    t->mark = hpx_ring_position(&t->ring);
    if (t->call_stacks) {
        hpx_calltab_adopt(s->table, t->call_stacks);
    }
}

struct giving {
    struct hpx_call_drainers *s;
    uint32_t (*to)(void *ctx, struct hpx_thread *t);
    void *ctx;
};

static struct hpx_aggregator *given_to(void *ctx, struct hpx_thread *t)
{
    const struct giving *g = ctx;
    struct hpx_call_drainers *s = g->s;
    uint32_t to = t->call_stacks && hpx_calltab_travels(s->table, t->call_stacks) ? g->to(g->ctx, t) : HPX_CALL_DRAINER_NONE;
    if (to >= s->running) {
        return s->main;
    }
    hpx_calltab_detach(s->table, t->call_stacks);
    s->given++;
    return &s->drainers[to]->a;
}

void hpx_call_drainers_give(struct hpx_call_drainers *s, uint32_t (*to)(void *ctx, struct hpx_thread *t), void *ctx)
{
    struct giving g = {s, to, ctx};
    hpx_aggregator_part(s->main, given_to, &g);
}

static struct hpx_aggregator *all_home(void *ctx, struct hpx_thread *t)
{
    struct hpx_call_drainer *d = ctx;
    const struct hpx_call_thread *th = t->call_stacks;
    if (th->in) { /* else it had not been taken over */
        hpx_calltab_detach(&d->table, t->call_stacks);
    }
    return d->main;
}

static void merge(struct hpx_call_drainers *s, struct hpx_call_drainer *d, uint32_t limit)
{
    if (!hpx_calltab_merge(s->table, &d->table, limit)) {
        for (uint32_t i = 0; i < hpx_calltab_nodes(&d->table); i++) {
            s->table->no_memory += hpx_calltab_cost(&d->table, i)->calls;
        }
        hpx_calltab_reset(&d->table);
        (void)hpx_calltab_merge(s->table, &d->table, UINT32_MAX); /* the figures that need no memory */
    }
}

void hpx_call_drainers_gather(struct hpx_call_drainers *s)
{
    for (unsigned i = 0; i < s->running; i++) {
        hpx_aggregator_leave(&s->drainers[i]->a);
    }
    for (unsigned i = 0; i < s->running; i++) {
        struct hpx_call_drainer *d = s->drainers[i];
        hpx_aggregator_stop(&d->a);
        hpx_aggregator_part(&d->a, all_home, d);
        merge(s, d, UINT32_MAX);
        hpx_calltab_fini(&d->table);
        s->cpu_ns += d->cpu_ns;
    }
    s->running = 0;
    s->table->hold = false;
    s->busy_windows = s->calm_windows = 0;
}

struct looking {
    struct hpx_call_drainer *d;
    void (*pending)(struct hpx_calltab *t, struct hpx_thread *th);
};

static void take_pending(void *ctx, struct hpx_thread *t)
{
    const struct looking *l = ctx;
    l->pending(&l->d->table, t);
}

/* The drainer is held: a pass of it by this thread. */
static void look(struct hpx_call_drainer *d, uint64_t (*tail)(void *ctx, struct hpx_thread *t),
                 void (*pending)(struct hpx_calltab *t, struct hpx_thread *th))
{
    struct looking l = {d, pending};
    d->meter = (struct hpx_meter){0}; /* this thread's CPU clock is another one */
    d->a.sink.tail = tail;
    (void)hpx_aggregator_pass(&d->a);
    d->a.sink.tail = NULL;
    hpx_aggregator_each(&d->a, take_pending, &l);
    d->meter = (struct hpx_meter){0};
}

bool hpx_call_drainers_collect(struct hpx_call_drainers *s, uint32_t limit, uint64_t (*tail)(void *ctx, struct hpx_thread *t),
                               void (*pending)(struct hpx_calltab *t, struct hpx_thread *th))
{
    bool more = false;
    if (s->running > 0) {
        hpx_aggregator_hold(&s->drainers[0]->a);
    }
    for (unsigned i = 0; i < s->running; i++) {
        struct hpx_call_drainer *d = s->drainers[i];
        if (i + 1 < s->running) { /* so none is waited for for long, and none held for more than two merges */
            hpx_aggregator_hold(&s->drainers[i + 1]->a);
        }
        hpx_aggregator_await_held(&d->a);
        look(d, tail, pending);
        merge(s, d, limit);
        more |= d->table.changed != HPX_CALL_LAST;
        hpx_aggregator_go_on(&d->a);
    }
    return more;
}
