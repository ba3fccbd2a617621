/* SPDX-License-Identifier: BSD-2-Clause */
/* call_table.c: nodes and edges, stacks of open calls, events. Threads that share a stack: call_switch.c. */
#include "call_table.h"
#include "call_internal.h"
#include "err.h"
#include <stdlib.h>
#include <string.h>

#define WORDS 4

/* ---- nodes ---- */

int hpx_calltab_init(struct hpx_calltab *t, const struct hpx_calltab_config *cfg)
{
    *t = (struct hpx_calltab){.cfg = *cfg, .changed = HPX_CALL_LAST, .last_changed = HPX_CALL_LAST};
    hpx_vec_init(&t->costs, sizeof(struct hpx_call_entry));
    hpx_vec_init(&t->stacks, sizeof(struct hpx_call_stack));
    hpx_vec_init(&t->allocs, sizeof(struct hpx_call_alloc));
    t->scratch = malloc((cfg->depth ? cfg->depth : 1u) * sizeof(*t->scratch));
    if (!t->scratch || hpx_traces_init(&t->traces) != 0 || hpx_slots_init(&t->edges, WORDS, 0) != 0 ||
        hpx_slots_init(&t->keys, 2, 0) != 0 || hpx_call_waits_init(&t->waits) != 0 || hpx_intern_init(&t->alloc_index, 0) != 0) {
        hpx_calltab_fini(t);
        return -HPX_E_NOMEM;
    }
    return 0;
}

void hpx_calltab_fini(struct hpx_calltab *t)
{
    while (t->threads) {
        struct hpx_call_thread *th = t->threads;
        t->threads = th->next;
        free(th->own.frames);
        free(th->backlog.ev);
        free(th);
    }
    for (uint32_t i = 0; i < t->stacks.len; i++) {
        free(((struct hpx_call_stack *)hpx_vec_at(&t->stacks, i))->frames);
    }
    hpx_traces_fini(&t->traces);
    hpx_vec_fini(&t->costs);
    hpx_vec_fini(&t->stacks);
    hpx_vec_fini(&t->allocs);
    hpx_intern_fini(&t->alloc_index);
    hpx_slots_fini(&t->edges, WORDS);
    hpx_slots_fini(&t->keys, 2);
    hpx_call_waits_fini(&t->waits);
    free(t->scratch);
    t->scratch = NULL;
}

/* The node of these frames; HPX_INTERN_NONE without memory. */
static uint32_t node_of(struct hpx_calltab *t, const struct hpx_raw_frame *frames, uint32_t n, uint32_t thread)
{
    struct hpx_hash128 h = hpx_hash128(frames, n * sizeof(*frames));
    if (thread) {
        uint64_t key[3] = {h.lo, h.hi, thread};
        h = hpx_hash128(key, sizeof(key));
    }
    uint32_t node = hpx_traces_find(&t->traces, h);
    if (node != HPX_INTERN_NONE || (t->costs.len == t->traces.raws.len && !hpx_vec_push(&t->costs))) {
        return node;
    }
    return hpx_traces_add(&t->traces, h, frames, n, thread);
}

struct edge {
    uint32_t hash, node, method;
};

static inline bool same_edge(const void *key, const uint32_t *slot)
{
    const struct edge *e = key;
    return slot[2] == e->node && slot[3] == e->method;
}

static __attribute__((noinline)) uint32_t make_edge(struct hpx_calltab *t, const struct edge *e)
{
    if (e->node == HPX_INTERN_NONE || t->cfg.depth == 0) {
        return e->node;
    }
    const struct hpx_raw *raw = hpx_traces_at(&t->traces, e->node);
    uint32_t kept = raw->nframes < t->cfg.depth ? raw->nframes : t->cfg.depth - 1;
    t->scratch[0] = (struct hpx_raw_frame){e->method, -1};
    if (kept > 0) {
        memcpy(t->scratch + 1, raw->frames, kept * sizeof(*t->scratch));
    }
    uint32_t node = node_of(t, t->scratch, kept + 1, raw->thread);
    if (node != HPX_INTERN_NONE && hpx_slots_reserve(&t->edges, WORDS, NULL, NULL) == 0) { /* else it is looked for again next time */
        uint32_t *slot = hpx_slots_put(&t->edges, WORDS, e->hash, node);
        slot[2] = e->node;
        slot[3] = e->method;
    }
    return node;
}

/* The node of a call of `method` out of `node`. */
static inline uint32_t called(struct hpx_calltab *t, uint32_t node, uint32_t method)
{
    uint64_t x = ((uint64_t)node << 32 | method) * UINT64_C(0x9e3779b97f4a7c15);
    struct edge e = {(uint32_t)((x ^ (x >> 29)) >> 20), node, method};
    const uint32_t *slot = hpx_slots_find(&t->edges, WORDS, e.hash, same_edge, &e);
    return hpx_likely(slot != NULL) ? slot[0] - 1 : make_edge(t, &e);
}

/* ---- open calls ---- */

bool hpx_calltab_grow(struct hpx_calltab *t, struct hpx_call_stack *s)
{
    uint32_t cap = s->cap ? s->cap * 2 : 16;
    struct hpx_call_frame *f = cap > s->cap ? realloc(s->frames, cap * sizeof(*f)) : NULL; /* not from 2^31 on: it would be freed */
    if (!f) {
        return false;
    }
    t->stack_bytes += (cap - s->cap) * sizeof(*f);
    s->frames = f;
    s->cap = cap;
    return true;
}

/* How many of the calls are counted: all, or 0 without memory for the node. */
static inline uint64_t add(struct hpx_calltab *t, uint32_t node, uint64_t calls, int64_t self, int64_t total)
{
    if (hpx_unlikely(node == HPX_INTERN_NONE)) {
        t->no_memory += calls;
        return 0;
    }
    struct hpx_call_entry *e = hpx_calltab_entry(t, node);
    e->cost.calls += calls;
    e->cost.self += self;
    e->cost.total += total;
    if (hpx_unlikely(e->next == 0)) {
        e->next = HPX_CALL_LAST;
        *(t->changed == HPX_CALL_LAST ? &t->changed : &hpx_calltab_entry(t, t->last_changed - 1)->next) = node + 1;
        t->last_changed = node + 1;
        t->nchanged++;
    }
    return calls;
}

static inline void enter(struct hpx_calltab *t, struct hpx_call_stack *s, uint32_t method, uint64_t now)
{
    if (hpx_unlikely(s->over > 0 || s->depth + 1 >= s->cap) && (s->over > 0 || !hpx_calltab_grow(t, s))) {
        s->over++;
        return;
    }
    struct hpx_call_frame *f = &s->frames[++s->depth];
    *f = (struct hpx_call_frame){method, called(t, f[-1].node, method), now, 0, 0};
}

/* Closes the innermost open call. */
static inline void close_top(struct hpx_calltab *t, struct hpx_call_stack *s, uint64_t now)
{
    struct hpx_call_frame *f = &s->frames[s->depth--];
    int64_t time = (int64_t)(now - f->entered);
    time = time < 0 ? 0 : time; /* a clock that was set right */
    int64_t total = time - f->probes - (int64_t)t->cfg.inner;
    t->calls += add(t, f->node, 1, total - f->callees, total);
    f[-1].callees += total;
    f[-1].probes += f->probes + t->cfg.inner + t->cfg.outer;
}

/* The innermost open call is not of this method. */
static __attribute__((noinline)) void resync(struct hpx_calltab *t, struct hpx_call_stack *s, uint32_t method, uint64_t now)
{
    if (s->over > 0) {
        s->over--;
        t->no_memory++;
        return;
    }
    uint32_t at = s->depth;
    while (at > 0 && s->frames[at].method != method && s->frames[at].method != HPX_CALL_LOST) {
        at--;
    }
    if (at == 0) {
        t->stray++;
        return;
    }
    while (s->depth > at) {
        close_top(t, s, now);
        t->resynced++;
    }
    struct hpx_call_frame *f = &s->frames[at];
    if (f->method != method) {
        f->method = method;
        f->node = called(t, f[-1].node, method);
    }
    close_top(t, s, now);
}

static inline void leave(struct hpx_calltab *t, struct hpx_call_stack *s, uint32_t method, uint64_t now)
{
    if (hpx_likely(s->frames[s->depth].method == method && s->over == 0 && s->depth > 0)) {
        close_top(t, s, now);
    } else {
        resync(t, s, method, now);
    }
}

/* Closes the calls above the floor, except the outermost ones: they have returned without an exit. */
static void fall(struct hpx_calltab *t, struct hpx_call_stack *s, const struct hpx_ev_head *ev, uint64_t now)
{
    while (s->floor_id == ev->id && s->depth > s->floor + ev->stamp) {
        close_top(t, s, now);
        t->resynced++;
    }
}

/* Calls that returned and called nothing. */
static inline void leafs(struct hpx_calltab *t, struct hpx_call_stack *s, uint32_t method, uint64_t calls, uint64_t ns)
{
    struct hpx_call_frame *f = &s->frames[s->depth];
    int64_t total = (int64_t)ns - (int64_t)(calls * t->cfg.inner);
    if (hpx_unlikely(s->over > 0)) {
        t->no_memory += calls;
        return;
    }
    t->calls += add(t, called(t, f->node, method), calls, total, total);
    f->callees += total;
    f->probes += (int64_t)(calls * ((uint64_t)t->cfg.inner + t->cfg.outer));
}

bool hpx_calltab_count(struct hpx_calltab *t, uint32_t method, uint64_t calls)
{
    const struct hpx_raw_frame frame = {method, -1};
    uint32_t node = node_of(t, &frame, t->cfg.depth > 0, 0);
    if (node != HPX_INTERN_NONE) {
        t->calls += add(t, node, calls, 0, 0);
    }
    return node != HPX_INTERN_NONE;
}

/* ---- events ---- */

static inline uint64_t take_early(struct hpx_call_thread *th)
{
    uint64_t ns = th->early;
    th->early = 0;
    return ns;
}

/* A LEAF of which a dump has counted a part, or that has ticks. */
static void rest_of_leafs(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_ev_head *ev)
{
    uint64_t calls = HPX_EV_LEAF_CALLS(ev->stamp), ns = HPX_EV_LEAF_NS(ev->stamp);
    calls -= th->ahead_calls < calls ? th->ahead_calls : calls;
    ns -= th->ahead_ns < ns ? th->ahead_ns : ns;
    th->ahead_calls = th->ahead_ns = 0;
    if (calls > 0) { /* else the ticks are those of the enter behind it */
        leafs(t, th->now, ev->id, calls, ns + take_early(th));
    }
}

static void tick(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_ev_head *ev)
{
    t->ticks++;
    t->ticks_ns += ev->stamp;
    if (ev->id != 0) {
        th->early += ev->stamp;
    } else if (th->now->depth + th->now->over == 0) {
        t->outside_ns += ev->stamp;
    }
}

static void gap(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_ev_gap *g, uint64_t now)
{
    struct hpx_call_stack *s = th->now;
    t->outside_ns += s->depth + s->over == 0 ? th->early : 0; /* the call that was pending is lost: else its time is its caller's */
    th->early = 0;
    s->floor_id = 0; /* calls below it may be among those that returned */
    t->lost_events += g->head.id;
    t->lost_calls += g->calls - g->entered - th->ahead_calls; /* a dump has counted those, pending then and lost since */
    th->ahead_calls = th->ahead_ns = 0;
    for (uint32_t i = 0; i < g->returned && s->depth + s->over > 0; i++) {
        leave(t, s, s->frames[s->depth].method, now);
    }
    for (uint32_t i = 0; i < g->entered; i++) {
        enter(t, s, HPX_CALL_LOST, now);
    }
}

/* The counter of this node, place and level, new if needed. NULL: no memory. */
static struct hpx_call_alloc *alloc_of(struct hpx_calltab *t, uint32_t node, uint32_t place, uint32_t level)
{
    const uint32_t key[4] = {node, place, level, 0};
    struct hpx_hash128 h = hpx_hash128(key, sizeof(key));
    uint32_t at = hpx_intern_find(&t->alloc_index, h);
    if (hpx_likely(at != HPX_INTERN_NONE)) {
        return hpx_vec_at(&t->allocs, at);
    }
    struct hpx_call_alloc *a = hpx_intern_reserve(&t->alloc_index) == 0 ? hpx_vec_push(&t->allocs) : NULL;
    if (a) {
        hpx_intern_put(&t->alloc_index, h, t->allocs.len - 1);
        *a = (struct hpx_call_alloc){.node = node, .place = place, .level = level};
    }
    return a;
}

static uint32_t level_of(const struct hpx_ev_head *ev)
{
    return ev->kind == HPX_EV_PLACE_MULTI  ? HPX_EV_MULTI_LEVEL(ev->stamp)
           : ev->kind == HPX_EV_PLACE_MADE ? HPX_CALL_MADE | HPX_EV_MADE_CLASS(ev->stamp).v
                                           : 0;
}

static void allocated(struct hpx_calltab *t, const struct hpx_call_stack *s, const struct hpx_ev_head *ev)
{
    uint32_t node = s->frames[s->depth].node;
    struct hpx_call_alloc *a = node != HPX_INTERN_NONE ? alloc_of(t, node, ev->id, level_of(ev)) : NULL;
    if (!a) {
        t->no_memory += hpx_ev_objects(ev);
        return;
    }
    a->objects += hpx_ev_objects(ev);
    a->bytes += hpx_ev_bytes(ev);
}

/* from_ticks is constant in each of its two copies. */
static inline __attribute__((always_inline)) const struct hpx_ev_head *
apply(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_ev_head *ev, const struct hpx_ev_head *end, const bool from_ticks)
{
    struct hpx_call_stack *s = th->now;
    uint64_t offset = th->offset, last = th->last;
    th->open = false;
    for (; ev < end; ev = hpx_ring_next(ev, end)) {
        switch (ev->kind) {
        case HPX_EV_ENTER:
            last = from_ticks ? last : ev->stamp;
            enter(t, s, ev->id, last - offset - (from_ticks ? take_early(th) : 0));
            break;
        case HPX_EV_EXIT:
        case HPX_EV_THROWN:
            last = from_ticks ? last : ev->stamp;
            leave(t, s, ev->id, last - offset);
            break;
        case HPX_EV_LEAF:
            if (hpx_unlikely(th->ahead_calls > 0 || (from_ticks && th->early > 0))) {
                rest_of_leafs(t, th, ev);
            } else {
                leafs(t, s, ev->id, HPX_EV_LEAF_CALLS(ev->stamp), HPX_EV_LEAF_NS(ev->stamp));
            }
            break;
        case HPX_EV_GAP:
            last = from_ticks ? last : ev->stamp;
            gap(t, th, (const struct hpx_ev_gap *)(const void *)ev, last - offset);
            break;
        case HPX_EV_FLOOR:
            s->floor = s->depth;
            s->floor_id = s->over == 0 ? ev->id : 0;
            break;
        case HPX_EV_FALL:
            fall(t, s, ev, last - offset);
            break;
        case HPX_EV_SWITCH:
            th->last = last = from_ticks ? last : ev->stamp;
            th->carrier = true;
            if (t->cfg.apart || !hpx_calltab_switch(t, th, (const struct hpx_ev_switch *)(const void *)ev, last)) {
                return hpx_calltab_postpone(t, th, ev, end);
            }
            s = th->now;
            offset = th->offset;
            break;
        case HPX_EV_TICK:
            last += from_ticks ? ev->stamp : 0;
            tick(t, th, ev);
            break;
        case HPX_EV_PLACE:
        case HPX_EV_PLACE_MULTI:
        case HPX_EV_PLACE_MADE:
            allocated(t, s, ev);
            break;
        case HPX_EV_PAD:
            break;
        default:
            th->last = last;
            return ev;
        }
    }
    th->last = last;
    return ev;
}

const struct hpx_ev_head *hpx_calltab_apply(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_ev_head *ev,
                                            const struct hpx_ev_head *end)
{
    if (hpx_unlikely(th->backlog.n > 0 && !th->backlog.applying)) {
        return hpx_calltab_postpone(t, th, ev, end);
    }
    return t->cfg.times_from_ticks ? apply(t, th, ev, end, true) : apply(t, th, ev, end, false);
}

void hpx_calltab_pending(struct hpx_calltab *t, struct hpx_call_thread *th, const struct hpx_calls_pending *p)
{
    if (th->backlog.n > 0) {
        return; /* it belongs behind what waits */
    }
    th->open = p->open;
    if (p->open) {
        hpx_calltab_time(th, p->entered);
    }
    if (p->calls > th->ahead_calls) {
        uint64_t ticked = p->open ? 0 : take_early(th); /* ticks came while a call was open: the one that is open still, or the last one */
        leafs(t, th->now, p->method, p->calls - th->ahead_calls, p->ns - th->ahead_ns + ticked);
        th->ahead_calls = p->calls;
        th->ahead_ns = p->ns;
    }
}

/* ---- threads ---- */

static void link_thread(struct hpx_calltab *t, struct hpx_call_thread *th)
{
    th->prev = NULL;
    th->next = t->threads;
    if (t->threads) {
        t->threads->prev = th;
    }
    t->threads = th;
    th->in = t;
}

static void unlink_thread(struct hpx_calltab *t, struct hpx_call_thread *th)
{
    if (th->next) {
        th->next->prev = th->prev;
    }
    *(th->prev ? &th->prev->next : &t->threads) = th->next;
    th->in = NULL;
}

struct hpx_call_thread *hpx_calltab_attach(struct hpx_calltab *t, uint32_t thread)
{
    uint32_t root = node_of(t, NULL, 0, thread);
    struct hpx_call_thread *th = root != HPX_INTERN_NONE ? calloc(1, sizeof(*th)) : NULL;
    if (!th || !hpx_calltab_grow(t, &th->own)) {
        free(th);
        return NULL;
    }
    th->root = root;
    th->thread = thread;
    th->own.frames[0] = (struct hpx_call_frame){.node = root};
    th->own.on = th;
    th->now = &th->own;
    t->stack_bytes += sizeof(*th);
    link_thread(t, th);
    return th;
}

static size_t bytes_of(const struct hpx_call_thread *th)
{
    return th->own.cap * sizeof(*th->own.frames) + sizeof(*th) + th->backlog.cap * sizeof(*th->backlog.ev);
}

void hpx_calltab_detach(struct hpx_calltab *t, struct hpx_call_thread *th)
{
    assert(th->now == &th->own);
    t->stack_bytes -= bytes_of(th);
    hpx_calltab_gives(t, th);
    unlink_thread(t, th);
}

void hpx_calltab_adopt(struct hpx_calltab *t, struct hpx_call_thread *th)
{
    struct hpx_call_frame *f = th->own.frames;
    th->root = f[0].node = node_of(t, NULL, 0, th->thread);
    for (uint32_t i = 1; i <= th->own.depth; i++) {
        f[i].node = called(t, f[i - 1].node, f[i].method);
    }
    th->backlog.old = th->backlog.passes = 0;
    t->stack_bytes += bytes_of(th);
    link_thread(t, th);
    hpx_calltab_takes(t, th);
}

void hpx_calltab_retire(struct hpx_calltab *t, struct hpx_call_thread *th)
{
    hpx_calltab_force(t, th);
    hpx_calltab_leave_stack(t, th, th->last);
    t->no_memory += th->own.over;
    while (th->own.depth > 0) {
        close_top(t, &th->own, th->own.clock);
        t->resynced++;
    }
    t->stack_bytes -= bytes_of(th);
    unlink_thread(t, th);
    free(th->own.frames);
    free(th->backlog.ev);
    free(th);
}

/* ---- figures ---- */

static void add_open(const struct hpx_call_stack *s, uint64_t *calls, int64_t *ns)
{
    uint64_t now = s->on ? s->on->last - s->on->offset : s->clock;
    bool kept_back = s->on && s->on->now == s && s->on->open;
    *calls += s->depth + s->over + kept_back;
    for (uint32_t i = 1; i <= s->depth; i++) {
        *ns -= s->frames[i].callees + s->frames[i].probes;
    }
    uint64_t early = kept_back ? s->on->early : 0; /* with a call below it, it is in that one's time */
    uint64_t began = s->depth > 0 ? s->frames[1].entered : now - early;
    *ns += now > began ? (int64_t)(now - began) : 0;
}

void hpx_calltab_open(const struct hpx_calltab *t, uint64_t *calls, int64_t *ns)
{
    *calls = 0;
    *ns = 0;
    for (const struct hpx_call_thread *th = t->threads; th; th = th->next) {
        add_open(&th->own, calls, ns);
    }
    for (uint32_t i = 0; i < t->stacks.len; i++) {
        add_open(hpx_vec_at(&t->stacks, i), calls, ns);
    }
    *ns = *ns < 0 ? 0 : *ns;
}

void hpx_calltab_reset(struct hpx_calltab *t)
{
    for (uint32_t i = 0; i < t->traces.raws.len; i++) {
        *hpx_calltab_cost(t, i) = (struct hpx_call_cost){0};
    }
}

void hpx_calltab_settle(struct hpx_calltab *t, uint32_t n)
{
    for (; n > 0 && t->changed != HPX_CALL_LAST; n--) {
        struct hpx_call_entry *e = hpx_calltab_entry(t, t->changed - 1);
        t->changed = e->next;
        t->nchanged--;
        e->next = 0;
    }
}

/* The same trace's node in `to`; HPX_INTERN_NONE without memory. */
static uint32_t twin_of(struct hpx_calltab *to, const struct hpx_calltab *from, uint32_t node)
{
    struct hpx_call_entry *e = hpx_calltab_entry(from, node);
    if (e->twin == 0) {
        const struct hpx_raw *raw = hpx_traces_at(&from->traces, node);
        uint32_t twin = node_of(to, raw->frames, raw->nframes, raw->thread);
        e->twin = twin == HPX_INTERN_NONE ? 0 : twin + 1;
    }
    return e->twin == 0 ? HPX_INTERN_NONE : e->twin - 1;
}

/* What there is no memory for is counted as lost. */
static void merge_allocs(struct hpx_calltab *to, struct hpx_calltab *from)
{
    for (uint32_t i = 0; i < from->allocs.len; i++) {
        struct hpx_call_alloc *a = hpx_vec_at(&from->allocs, i);
        uint32_t twin = a->objects > 0 ? twin_of(to, from, a->node) : HPX_INTERN_NONE;
        struct hpx_call_alloc *b = twin != HPX_INTERN_NONE ? alloc_of(to, twin, a->place, a->level) : NULL;
        if (b) {
            b->objects += a->objects;
            b->bytes += a->bytes;
        } else {
            to->no_memory += a->objects;
        }
        a->objects = a->bytes = 0;
    }
}

void hpx_calltab_clear_allocs(struct hpx_calltab *t)
{
    for (uint32_t i = 0; i < t->allocs.len; i++) {
        struct hpx_call_alloc *a = hpx_vec_at(&t->allocs, i);
        a->objects = a->bytes = 0;
    }
}

bool hpx_calltab_merge(struct hpx_calltab *to, struct hpx_calltab *from, uint32_t limit)
{
    uint64_t *a[] = {&to->calls,     &to->stray,  &to->resynced, &to->lost_calls, &to->lost_events,
                     &to->no_memory, &to->forced, &to->ticks,    &to->ticks_ns,   &to->outside_ns};
    uint64_t *b[] = {&from->calls,     &from->stray,  &from->resynced, &from->lost_calls, &from->lost_events,
                     &from->no_memory, &from->forced, &from->ticks,    &from->ticks_ns,   &from->outside_ns};
    for (; limit > 0 && from->changed != HPX_CALL_LAST; limit--) {
        uint32_t node = from->changed - 1;
        struct hpx_call_entry *e = hpx_calltab_entry(from, node);
        if (e->cost.calls != 0) { /* else a reset came between */
            uint32_t twin = twin_of(to, from, node);
            if (twin == HPX_INTERN_NONE) {
                return false;
            }
            (void)add(to, twin, e->cost.calls, e->cost.self, e->cost.total);
            e->cost = (struct hpx_call_cost){0};
        }
        hpx_calltab_settle(from, 1);
    }
    if (from->changed == HPX_CALL_LAST) {
        merge_allocs(to, from);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(a) && from->changed == HPX_CALL_LAST; i++) {
        *a[i] += *b[i];
        *b[i] = 0;
    }
    return true;
}

size_t hpx_calltab_bytes(const struct hpx_calltab *t)
{
    return hpx_traces_bytes(&t->traces) + t->costs.bytes + t->edges.bytes + t->keys.bytes + t->stacks.bytes + t->stack_bytes +
           hpx_call_waits_bytes(&t->waits) + t->allocs.bytes + hpx_intern_bytes(&t->alloc_index);
}
