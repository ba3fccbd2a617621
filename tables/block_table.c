/* SPDX-License-Identifier: BSD-2-Clause */
/* block_table.c: events and snapshots of blocked time. Contract: block_table.h. */
#include "block_table.h"
#include "model_table.h"
#include "site_ids.h"
#include "timeline_table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Estimated counts are kept in this fraction of one. */
#define SHARES 1024u

/* A count and a time since the start; what dumps have shown of them. */
struct amount {
    uint64_t count, ns;
};
struct sum {
    struct amount all, dumped;
};

struct place {
    uint32_t raw, owner; /* numbers of raw traces + 1; 0: not defined; none */
    uint32_t klass;
    uint32_t part;
    uint32_t early; /* events before the definition */
    struct sum sum; /* stacks=sampled: estimated */
};

/* Blocks that were reported without a place: with stacks=sampled all. */
struct class_sums {
    struct sum of[HPX_BLOCK_PARTS];
};

struct klass {
    uint32_t name, signature; /* numbers of strings; 0: unknown */
};

struct hpx_blocks {
    struct hpx_model *m;
    struct hpx_symbols *symbols;
    struct hpx_block_options o;
    struct hpx_vec places;  /* struct place, by id */
    struct hpx_vec classes; /* struct klass, by number */
    struct hpx_vec sums;    /* struct class_sums, by number of the class */
    uint32_t unknown;       /* name of an unknown class */
    uint32_t lost_below;    /* a definition was lost, no memory: places below this one that are not defined may never be */
    uint64_t waits, wait_ns;
};

static bool message(void *self, struct hpx_msg *msg)
{
    struct hpx_blocks *b = self;
    if (msg->kind != HPX_MSG_BLOCK_CLASS) {
        return false;
    }
    const struct hpx_msg_row_class *c = (const struct hpx_msg_row_class *)(const void *)msg;
    struct klass *k = hpx_vec_reach(&b->classes, c->number);
    uint32_t name = k ? hpx_symbols_class_name(b->symbols, (struct hpx_text){c->signature, c->len}) : 0;
    uint32_t signature = name ? hpx_symbols_string(b->symbols, (struct hpx_text){c->signature, c->len}) : 0;
    if (signature) {
        *k = (struct klass){name, signature};
    } else {
        hpx_count(hpx_model_counters(b->m), HPX_C_CLASSES_UNNAMED, 1);
    }
    free(msg);
    return true;
}

/* ---- events ---- */

static void add(struct amount *to, uint64_t count, uint64_t ns)
{
    to->count += count;
    to->ns += ns;
}

static bool define(struct hpx_blocks *b, const struct hpx_thread *t, struct place *p, const struct hpx_ev_head *ev)
{
    const struct hpx_ev_hash *hash = (const void *)(ev + 1);
    const struct hpx_ev_block *block = (const void *)(hash + 2);
    const struct hpx_ev_frame *frames = (const void *)(block + 1);
    uint32_t n = ev->units - 4u, thread = hpx_symbols_thread(b->symbols, hpx_serial_of(t)), own = block->frames < n ? block->frames : n;
    thread = thread != 0 && block->thread != 0 ? block->thread : thread;
    uint32_t raw = hpx_symbols_stack(b->symbols, hash, frames, own, thread), owner = HPX_INTERN_NONE;
    if (n > own) {
        owner = hpx_symbols_stack(b->symbols, hash + 1, frames + own, n - own, 0);
    }
    if (raw == HPX_INTERN_NONE || (n > own && owner == HPX_INTERN_NONE) || block->part >= HPX_BLOCK_PARTS) {
        return false;
    }
    p->owner = owner == HPX_INTERN_NONE ? 0 : owner + 1;
    p->klass = block->klass;
    p->part = block->part;
    p->raw = raw + 1;
    return true;
}

/* The number of blocks that a sampled one stands for: it is taken with the probability 1 - exp(-ns / interval). */
static double weight(const struct hpx_blocks *b, uint64_t ns)
{
    double d = (double)ns / (double)b->o.interval_ns;
    return d > 0 ? 1 / -expm1(-d) : 1;
}

/* No memory for the definition of this place: its events are counted as lost, those so far now. */
static void lose(struct hpx_blocks *b, uint32_t id)
{
    for (uint32_t i = b->lost_below; i <= id && i < b->places.len; i++) {
        struct place *p = hpx_vec_at(&b->places, i);
        if (p->raw == 0) {
            hpx_count(hpx_model_counters(b->m), HPX_C_LOST_NO_MEMORY, p->early);
            p->early = 0;
            p->sum.all = (struct amount){0, 0};
        }
    }
    b->lost_below = id >= b->lost_below ? id + 1 : b->lost_below;
}

/* false without memory. */
static bool blocked(struct hpx_blocks *b, const struct hpx_thread *t, const struct hpx_ev_head *ev)
{
    if (ev->kind == HPX_EV_BLOCKED_CLASS) {
        uint32_t part = HPX_EV_BLOCK_PART(ev->id);
        struct class_sums *s = part < HPX_BLOCK_PARTS ? hpx_vec_reach(&b->sums, HPX_EV_BLOCK_CLASS(ev->id)) : NULL;
        if (s) {
            add(&s->of[part].all, 1, ev->stamp);
        }
        return s != NULL;
    }
    if (ev->id >= HPX_SITE_IDS_MOST) {
        return false;
    }
    struct place *p = hpx_vec_reach(&b->places, ev->id);
    if (ev->kind == HPX_EV_BLOCK_DEF) {
        if (!p || ev->units < 4 || (p->raw == 0 && !define(b, t, p, ev))) {
            lose(b, ev->id);
        }
        return true; /* what it stands for is counted by its uses */
    }
    if (!p || (p->raw == 0 && ev->id < b->lost_below)) {
        return ev->kind == HPX_EV_BLOCK_SAMPLE; /* its class has counted it, and keeps it without a stack */
    }
    p->early += p->raw == 0 && ev->kind == HPX_EV_BLOCKED;
    if (ev->kind == HPX_EV_BLOCKED) {
        add(&p->sum.all, 1, ev->stamp);
        hpx_timeline_add(hpx_timeline_of(b->m), t, HPX_TIME_BLOCK, hpx_serial_of(t), ev->id, 1, ev->stamp);
    } else if (b->o.interval_ns > 0) {
        double w = weight(b, ev->stamp);
        add(&p->sum.all, (uint64_t)(w * SHARES), (uint64_t)(w * (double)ev->stamp));
        hpx_timeline_add(hpx_timeline_of(b->m), t, HPX_TIME_BLOCK, hpx_serial_of(t), ev->id, (uint64_t)(w + 0.5),
                         (uint64_t)(w * (double)ev->stamp));
    }
    return true;
}

static void waited(struct hpx_blocks *b, const struct hpx_thread *t, const struct hpx_ev_head *ev)
{
    const struct hpx_ev_thread *other = ev->units > 1 ? (const void *)(ev + 1) : NULL;
    uint32_t serial = other ? other->serial : hpx_serial_of(t);
    const struct klass *k = hpx_vec_find(&b->classes, ev->id);
    struct hpx_text signature = hpx_symbols_text(b->symbols, k ? k->signature : 0);
    bool over = ev->kind == HPX_EV_WAITED;
    if (over) {
        b->waits++;
        b->wait_ns += ev->stamp;
    }
    if (b->o.wait) {
        b->o.wait(signature, (int64_t)(over ? ev->stamp / 1000000 : ev->stamp), serial, over);
    }
}

static const struct hpx_ev_head *apply(void *self, struct hpx_thread *t, const struct hpx_ev_head *ev, const struct hpx_ev_head *end)
{
    struct hpx_blocks *b = self;
    for (; hpx_model_table_has(ev, end, HPX_EV_BLOCK_DEF, HPX_EV_WAITED); ev += ev->units) {
        if (ev->kind >= HPX_EV_WAIT) {
            waited(b, t, ev);
        } else if (hpx_unlikely(!blocked(b, t, ev))) {
            hpx_count(hpx_model_counters(b->m), HPX_C_LOST_NO_MEMORY, 1);
        }
    }
    return ev;
}

static size_t bytes(const void *self)
{
    const struct hpx_blocks *b = self;
    return b->places.bytes + b->classes.bytes + b->sums.bytes;
}

static void destroy(void *self)
{
    struct hpx_blocks *b = self;
    hpx_vec_fini(&b->places);
    hpx_vec_fini(&b->classes);
    hpx_vec_fini(&b->sums);
    free(b);
}

static const struct hpx_model_table table = {
    .first = HPX_EV_BLOCK_DEF, .last = HPX_EV_WAITED, .apply = apply, .message = message, .bytes = bytes, .destroy = destroy};

static hpx_time_resolve resolve;

struct hpx_blocks *hpx_blocks_create(struct hpx_model *m, const struct hpx_block_options *o)
{
    struct hpx_blocks *b = calloc(1, sizeof(*b));
    if (!b) {
        return NULL;
    }
    b->m = m;
    b->symbols = hpx_model_symbols(m);
    b->o = *o;
    hpx_vec_init(&b->places, sizeof(struct place));
    hpx_vec_init(&b->classes, sizeof(struct klass));
    hpx_vec_init(&b->sums, sizeof(struct class_sums));
    b->unknown = hpx_symbols_string(b->symbols, HPX_SYMBOLS_UNKNOWN); /* which symbols have from the start */
    hpx_model_add_table(m, &table, b);
    hpx_timeline_source(m, HPX_TIME_BLOCK, resolve, b);
    return b;
}

struct hpx_block_totals hpx_blocks_totals(const struct hpx_blocks *b)
{
    struct hpx_block_totals t = {.waits = b->waits, .wait_ns = b->wait_ns};
    for (uint32_t i = 0; i < b->sums.len; i++) {
        const struct class_sums *s = hpx_vec_at(&b->sums, i);
        for (uint32_t part = 0; part < HPX_BLOCK_PARTS; part++) {
            t.count[part] += s->of[part].all.count;
            t.ns[part] += s->of[part].all.ns;
        }
        t.unowned += b->o.owners ? s->of[HPX_BLOCK_ENTER].all.count : 0;
    }
    for (uint32_t i = 0; b->o.interval_ns == 0 && i < b->places.len; i++) { /* else they are estimates of the same */
        const struct place *p = hpx_vec_at(&b->places, i);
        t.count[p->part] += p->raw != 0 ? p->sum.all.count : 0;
        t.ns[p->part] += p->raw != 0 ? p->sum.all.ns : 0;
        t.unowned += b->o.owners && p->raw != 0 && p->owner == 0 && p->part == HPX_BLOCK_ENTER ? p->sum.all.count : 0;
    }
    return t;
}

/* ---- snapshot ---- */

/* A row that is being made. */
struct line {
    uint32_t part, name;
    uint32_t trace, owner; /* numbers of symbolized traces; owner: + 1, 0: none */
    struct amount amount;
};

struct lines {
    struct line *of;
    size_t n, room;
};

static struct amount due(const struct sum *s)
{
    return (struct amount){s->all.count - s->dumped.count, s->all.ns - s->dumped.ns};
}

static uint32_t name_of(const struct hpx_blocks *b, uint32_t number)
{
    const struct klass *k = hpx_vec_find(&b->classes, number);
    return k && k->name ? k->name : b->unknown;
}

static bool resolve(void *self, struct hpx_time_place *to)
{
    const struct hpx_blocks *b = self;
    const struct place *p = hpx_vec_at(&b->places, to->id);
    uint32_t trace, owner;
    if (p->raw == 0) { /* not defined yet */
        return true;
    }
    if (!hpx_symbols_print(b->symbols, p->raw - 1, &trace) || (p->owner != 0 && !hpx_symbols_print(b->symbols, p->owner - 1, &owner))) {
        return false;
    }
    to->trace = hpx_symbols_rec(b->symbols, trace);
    to->owner = p->owner != 0 ? hpx_symbols_rec(b->symbols, owner) : NULL;
    to->class_name = hpx_symbols_text(b->symbols, name_of(b, p->klass));
    to->part = p->part;
    return true;
}

/* false without memory. */
static bool put(struct lines *to, const struct line *l)
{
    if (to->n == to->room) {
        size_t room = to->room * 2 + 64;
        struct line *of = realloc(to->of, room * sizeof(*of));
        if (!of) {
            return false;
        }
        to->of = of;
        to->room = room;
    }
    to->of[to->n++] = *l;
    return true;
}

/* Adds a line and, if it is a contention and owners are wanted, the same once more among those. false without memory. */
static bool put_both(const struct hpx_blocks *b, struct line *l, struct lines *to)
{
    uint32_t owner = l->owner;
    l->owner = 0;
    if (!put(to, l)) {
        return false;
    }
    if (owner == 0 && (!b->o.owners || l->part != HPX_BLOCK_ENTER)) {
        return true;
    }
    l->owner = owner;
    l->part = HPX_BLOCK_OWNERS;
    return put(to, l);
}

/* false without memory. */
static bool put_place(struct hpx_blocks *b, const struct place *p, struct amount a, struct lines *to)
{
    struct line l = {.part = p->part, .name = name_of(b, p->klass), .amount = a};
    if (!hpx_symbols_print(b->symbols, p->raw - 1, &l.trace) || (p->owner != 0 && !hpx_symbols_print(b->symbols, p->owner - 1, &l.owner))) {
        return false;
    }
    l.owner += p->owner != 0;
    return put_both(b, &l, to);
}

/* What the sampled places of each class and part add up to; dumped.count: how many places. NULL without memory. */
static struct class_sums *estimates(struct hpx_blocks *b)
{
    struct class_sums *of = calloc((size_t)b->sums.len + 1, sizeof(*of));
    for (uint32_t i = 0; of && b->o.interval_ns > 0 && i < b->places.len; i++) {
        const struct place *p = hpx_vec_at(&b->places, i);
        if (p->raw != 0 && p->klass < b->sums.len) {
            struct amount a = due(&p->sum);
            add(&of[p->klass].of[p->part].all, a.count, a.ns);
            of[p->klass].of[p->part].dumped.count += a.count > 0;
        }
    }
    return of;
}

static uint64_t share(uint64_t of, uint64_t part, uint64_t whole)
{
    return whole > 0 ? (uint64_t)((double)of * ((double)part / (double)whole) + 0.5) : 0;
}

/* The part of the exact amount that falls to `a` of what is left in *left (estimates()); both shrink, so that the last place gets the rest.
 * A place whose stack was taken has blocked once at least, and so have those that are left. */
static struct amount divide(struct amount *exact, struct sum *left, struct amount a)
{
    struct amount got = {share(exact->count, a.count, left->all.count), share(exact->ns, a.ns, left->all.ns)};
    const uint64_t others = --left->dumped.count, most = exact->count > others ? exact->count - others : exact->count > 0;
    got.count = got.count > 0 ? got.count : 1;
    got.count = got.count < most ? got.count : most;
    got.ns = got.ns < exact->ns ? got.ns : exact->ns;
    exact->count -= got.count;
    exact->ns -= got.ns;
    left->all.count -= a.count;
    left->all.ns -= a.ns;
    return got;
}

static bool put_places(struct hpx_blocks *b, struct class_sums *exact, struct class_sums *left, struct lines *to)
{
    for (uint32_t i = 0; i < b->places.len; i++) {
        struct place *p = hpx_vec_at(&b->places, i);
        struct amount a = due(&p->sum);
        if (p->raw == 0) {
            continue;
        }
        if (b->o.interval_ns > 0 && a.count > 0) { /* an estimate without anything exact, which was lost, is nothing */
            bool some = p->klass < b->sums.len;
            a = some ? divide(&exact[p->klass].of[p->part].all, &left[p->klass].of[p->part], a) : (struct amount){0, 0};
        }
        if ((a.count > 0 || a.ns > 0) && !put_place(b, p, a, to)) {
            return false;
        }
    }
    return true;
}

/* What no place has taken: of classes of which no stack was taken, or of places without an id. */
static bool put_rest(struct hpx_blocks *b, const struct class_sums *exact, struct lines *to)
{
    for (uint32_t i = 0; i < b->sums.len; i++) {
        for (uint32_t part = 0; part < HPX_BLOCK_PARTS; part++) {
            struct line l = {.part = part, .name = name_of(b, i), .amount = exact[i].of[part].all}; /* trace 0: the empty one */
            if ((l.amount.count > 0 || l.amount.ns > 0) && !put_both(b, &l, to)) {
                return false;
            }
        }
    }
    return true;
}

static bool put_all(struct hpx_blocks *b, struct lines *to)
{
    struct class_sums *left = estimates(b), *exact = calloc((size_t)b->sums.len + 1, sizeof(*exact));
    for (uint32_t i = 0; left && exact && i < b->sums.len; i++) {
        const struct class_sums *s = hpx_vec_at(&b->sums, i);
        for (uint32_t part = 0; part < HPX_BLOCK_PARTS; part++) {
            exact[i].of[part].all = due(&s->of[part]);
        }
    }
    bool good = left && exact && put_places(b, exact, left, to) && put_rest(b, exact, to);
    free(left);
    free(exact);
    return good;
}

static int by_row(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->part != y->part) {
        return x->part < y->part ? -1 : 1;
    }
    if (x->name != y->name) {
        return x->name < y->name ? -1 : 1;
    }
    if (x->trace != y->trace) {
        return x->trace < y->trace ? -1 : 1;
    }
    return (x->owner > y->owner) - (x->owner < y->owner);
}

static void merge(struct lines *l)
{
    size_t n = 0;
    if (l->n > 1) {
        qsort(l->of, l->n, sizeof(l->of[0]), by_row);
    }
    for (size_t i = 0; i < l->n; i++) {
        if (n > 0 && by_row(&l->of[n - 1], &l->of[i]) == 0) {
            add(&l->of[n - 1].amount, l->of[i].amount.count, l->of[i].amount.ns);
        } else {
            l->of[n++] = l->of[i];
        }
    }
    l->n = n;
}

static struct hpx_block_row row_of(const struct hpx_blocks *b, const struct line *l)
{
    return (struct hpx_block_row){
        .trace = hpx_symbols_rec(b->symbols, l->trace),
        .owner = l->owner ? hpx_symbols_rec(b->symbols, l->owner - 1) : NULL,
        .class_name = hpx_symbols_text(b->symbols, l->name),
        .count = l->amount.count,
        .ns = l->amount.ns,
    };
}

static struct hpx_block_snapshot *rows_of(const struct hpx_blocks *b, const struct lines *l)
{
    struct hpx_block_snapshot *s = calloc(1, sizeof(*s));
    for (size_t i = 0, next; s && i < l->n; i = next) {
        struct hpx_block_table *t = &s->of[l->of[i].part];
        for (next = i + 1; next < l->n && l->of[next].part == l->of[i].part; next++) {
        }
        t->rows = malloc((next - i) * sizeof(t->rows[0]));
        if (!t->rows) {
            hpx_block_snapshot_destroy(s);
            return NULL;
        }
        for (size_t k = i; k < next; k++) {
            t->rows[t->nrows] = row_of(b, &l->of[k]);
            t->count += t->rows[t->nrows].count;
            t->ns += t->rows[t->nrows++].ns;
        }
    }
    return s;
}

static void reset(struct hpx_blocks *b)
{
    for (uint32_t i = 0; i < b->places.len; i++) {
        struct place *p = hpx_vec_at(&b->places, i);
        if (p->raw != 0) {
            p->sum.dumped = p->sum.all;
        }
    }
    for (uint32_t i = 0; i < b->sums.len; i++) {
        struct class_sums *s = hpx_vec_at(&b->sums, i);
        for (uint32_t part = 0; part < HPX_BLOCK_PARTS; part++) {
            s->of[part].dumped = s->of[part].all;
        }
    }
}

struct hpx_block_snapshot *hpx_blocks_snapshot(struct hpx_blocks *b, bool keep)
{
    struct lines l = {NULL, 0, 0};
    struct hpx_block_snapshot *s = NULL;
    if (put_all(b, &l)) {
        merge(&l);
        s = rows_of(b, &l);
    }
    free(l.of);
    if (s && !keep) {
        reset(b);
    }
    return s;
}
