/* SPDX-License-Identifier: BSD-2-Clause */
/* sample_table.c: events and snapshots of samples. Contract: sample_table.h. */
#include "sample_table.h"
#include "model_table.h"
#include "timeline_table.h"
#include <stdlib.h>

/* hpx_thread.slots */
struct hpx_thread_slots {
    bool off;                /* its samples are not counted */
    uint32_t raw[HPX_SLOTS]; /* number of the raw trace + 1; 0: not defined */
};

/* With a journal: the count of a trace that snapshots have reset, and its count in the journal. */
struct past {
    uint64_t dumped, journaled;
};

struct hpx_samples {
    struct hpx_model *m;
    struct hpx_symbols *symbols;
    struct hpx_vec counts; /* uint64_t, by raw trace: samples by weight since the last snapshot. A known stack touches nothing else */
    struct hpx_vec past;   /* struct past, of the first raw traces */
    uint64_t count, unknown[HPX_UNKNOWN_COUNT];
    struct hpx_stalls stalls;
    struct {
        double sum, squares;
    } drawn; /* of the weights since the rows were reset; without stalls, which are measured, not drawn */
    void (*listener)(void *self, uint32_t raw, uint64_t weight, uint32_t serial);
    void *listening;
    bool new_off;       /* samples of new threads are not counted */
    size_t slots_bytes; /* of all struct hpx_thread_slots */
};

/* ---- threads ---- */

/* NULL without memory. */
static struct hpx_thread_slots *slots_of(struct hpx_samples *s, struct hpx_thread *t)
{
    if (hpx_unlikely(!t->slots)) {
        struct hpx_thread_slots *slots = t->slots = calloc(1, sizeof(*slots));
        if (slots) {
            slots->off = s->new_off;
            s->slots_bytes += sizeof(*slots);
        }
    }
    return t->slots;
}

static void thread_gone(void *self, struct hpx_thread *t)
{
    struct hpx_samples *s = self;
    s->slots_bytes -= t->slots ? sizeof(struct hpx_thread_slots) : 0;
    free(t->slots);
    t->slots = NULL;
}

bool hpx_samples_choose(struct hpx_samples *s, struct hpx_thread *t, uint32_t serial, bool on)
{
    struct hpx_thread_slots *slots = serial == 0 || t->serial == serial ? slots_of(s, t) : NULL;
    if (slots) {
        slots->off = !on;
    }
    return slots != NULL;
}

void hpx_samples_choose_new(struct hpx_samples *s, bool on)
{
    s->new_off = !on;
}

/* ---- events ---- */

static bool add_weight(struct hpx_samples *s, const struct hpx_thread *t, uint32_t raw, uint64_t weight)
{
    uint64_t *count = hpx_vec_find(&s->counts, raw);
    if (hpx_unlikely(!count) && raw != HPX_INTERN_NONE) {
        count = hpx_vec_reach(&s->counts, raw);
    }
    if (hpx_unlikely(!count)) {
        hpx_count(hpx_model_counters(s->m), HPX_C_LOST_NO_MEMORY, weight);
    } else {
        *count += weight;
        s->count += weight;
        hpx_timeline_add(hpx_timeline_of(s->m), t, HPX_TIME_CPU, hpx_serial_of(t), raw, weight, 0);
    }
    if (s->listener) {
        s->listener(s->listening, raw, weight, hpx_serial_of(t));
    }
    return count != NULL;
}

static bool add_sample(struct hpx_samples *s, const struct hpx_thread *t, uint32_t raw, uint64_t weight)
{
    bool added = add_weight(s, t, raw, weight);
    if (added) {
        s->drawn.sum += (double)weight;
        s->drawn.squares += (double)weight * (double)weight;
    }
    return added;
}

static void add_stall(struct hpx_samples *s, const struct hpx_thread *t, uint32_t raw, uint64_t weight)
{
    if (add_weight(s, t, raw, weight)) {
        s->stalls.count++;
        s->stalls.intervals += weight;
        s->stalls.longest = weight > s->stalls.longest ? weight : s->stalls.longest;
    }
}

static uint32_t define(struct hpx_samples *s, const struct hpx_ev_head *ev, uint32_t thread)
{
    const struct hpx_ev_hash *hash = (const void *)(ev + 1);
    return ev->units >= 2 ? hpx_symbols_stack(s->symbols, hash, (const void *)(hash + 1), ev->units - 2u, thread) : HPX_INTERN_NONE;
}

/* thread: as hpx_symbols_thread(). */
static void apply_one(struct hpx_samples *s, const struct hpx_thread *t, uint32_t thread, const struct hpx_ev_head *ev)
{
    struct hpx_thread_slots *slots = t->slots;
    uint32_t *slot = slots && ev->id < HPX_SLOTS ? &slots->raw[ev->id] : NULL, raw;
    if (ev->kind == HPX_EV_SAMPLE_DEF) {
        raw = define(s, ev, thread);
        if (slot) {
            *slot = raw + 1; /* 0, not defined, when there was no memory: the slot's old stack must not be counted instead */
        }
    } else {
        raw = slot && *slot ? *slot - 1 : HPX_INTERN_NONE;
    }
    if (slots && slots->off) {
        return;
    }
    switch (ev->kind) {
    case HPX_EV_SAMPLE:
    case HPX_EV_SAMPLE_DEF:
        (void)add_sample(s, t, raw, ev->stamp);
        break;
    case HPX_EV_SAMPLE_UNKNOWN: {
        enum hpx_unknown why = ev->id < HPX_UNKNOWN_COUNT ? (enum hpx_unknown)ev->id : HPX_UNKNOWN_OTHER;
        s->unknown[why] += add_sample(s, t, hpx_symbols_no_stack(s->symbols, why, thread), ev->stamp) ? ev->stamp : 0;
        break;
    }
    case HPX_EV_SAMPLE_STALLED:
        add_stall(s, t, hpx_symbols_stalled(s->symbols, thread), ev->stamp);
        break;
    default: /* PAD */
        break;
    }
}

static const struct hpx_ev_head *apply(void *self, struct hpx_thread *t, const struct hpx_ev_head *ev, const struct hpx_ev_head *end)
{
    struct hpx_samples *s = self;
    uint32_t thread = hpx_symbols_thread(s->symbols, hpx_serial_of(t));
    (void)slots_of(s, t);
    for (; hpx_model_table_has(ev, end, HPX_EV_PAD, HPX_EV_SAMPLE_STALLED); ev += ev->units) {
        apply_one(s, t, thread, ev);
    }
    return ev;
}

static size_t bytes(const void *self)
{
    const struct hpx_samples *s = self;
    return sizeof(*s) + s->counts.bytes + s->past.bytes + s->slots_bytes;
}

static void destroy(void *self)
{
    struct hpx_samples *s = self;
    hpx_vec_fini(&s->counts);
    hpx_vec_fini(&s->past);
    free(s);
}

static const struct hpx_model_table table = {.first = HPX_EV_SAMPLE_DEF,
                                             .last = HPX_EV_SAMPLE_STALLED,
                                             .apply = apply,
                                             .thread_gone = thread_gone,
                                             .bytes = bytes,
                                             .destroy = destroy};

struct hpx_samples *hpx_samples_create(struct hpx_model *m)
{
    struct hpx_samples *s = calloc(1, sizeof(*s));
    if (s) {
        s->m = m;
        s->symbols = hpx_model_symbols(m);
        hpx_vec_init(&s->counts, sizeof(uint64_t));
        hpx_vec_init(&s->past, sizeof(struct past));
        hpx_model_add_table(m, &table, s);
    }
    return s;
}

void hpx_samples_listen(struct hpx_samples *s, void (*fn)(void *self, uint32_t raw, uint64_t weight, uint32_t serial), void *self)
{
    s->listener = fn;
    s->listening = self;
}

uint64_t hpx_samples_count(const struct hpx_samples *s)
{
    return s->count;
}

uint64_t hpx_samples_unknown(const struct hpx_samples *s, enum hpx_unknown why)
{
    return s->unknown[why];
}

const struct hpx_stalls *hpx_samples_stalls(const struct hpx_samples *s)
{
    return &s->stalls;
}

/* ---- snapshot ---- */

static uint64_t count_of(const struct hpx_samples *s, uint32_t i, enum hpx_take take)
{
    uint64_t count = *(const uint64_t *)hpx_vec_at(&s->counts, i);
    if (take < HPX_TAKE_NEW) {
        return count;
    }
    const struct past *p = hpx_vec_at(&s->past, i);
    return count + p->dumped - (take == HPX_TAKE_NEW ? p->journaled : 0);
}

static void taken(struct hpx_samples *s, uint32_t i, enum hpx_take take)
{
    uint64_t *count = hpx_vec_at(&s->counts, i);
    struct past *p = hpx_vec_find(&s->past, i);
    if (take == HPX_TAKE_RESET) {
        if (p) {
            p->dumped += *count;
        } else if (hpx_model_journal(s->m)) {
            hpx_count(hpx_model_counters(s->m), HPX_C_JOURNAL_LACKS, *count);
        }
        *count = 0;
    } else if (p && take >= HPX_TAKE_NEW) {
        p->journaled = p->dumped + *count;
    }
}

/* Adds the counts up in the symbolized traces; *rows: how many have any. false without memory: then nothing is added up. */
static bool sum_up(struct hpx_samples *s, enum hpx_take take, uint32_t *rows)
{
    uint32_t symbolized;
    for (uint32_t i = 0; i < s->counts.len; i++) {
        if (count_of(s, i, take) > 0 && !hpx_symbols_print(s->symbols, i, &symbolized)) {
            return false;
        }
    }
    *rows = 0;
    for (uint32_t i = 0; i < s->counts.len; i++) {
        uint64_t count = count_of(s, i, take);
        if (count > 0) {
            struct hpx_symbolized_trace *t = hpx_symbols_of_raw(s->symbols, i);
            *rows += t->sum == 0;
            t->sum += count;
        }
    }
    return true;
}

/* Moves the sums into rows; without `to` only clears the sums. */
static void take_sums(struct hpx_samples *s, struct hpx_snapshot *to, enum hpx_take take)
{
    for (uint32_t i = 0; i < s->counts.len; i++) {
        if (count_of(s, i, take) == 0) {
            continue;
        }
        struct hpx_symbolized_trace *t = hpx_symbols_of_raw(s->symbols, i);
        if (to && t->sum > 0) {
            to->rows[to->nrows++] = (struct hpx_row){t->rec, t->sum};
            to->total += t->sum;
        }
        t->sum = 0;
        uint32_t why = hpx_symbols_lacks_name(s->symbols, i);
        if (to && why > 0) {
            to->nameless[why - 1] += count_of(s, i, take);
        }
        if (to) {
            taken(s, i, take);
        }
    }
}

struct hpx_snapshot *hpx_samples_snapshot(struct hpx_samples *s, enum hpx_take take)
{
    uint32_t rows;
    if (!hpx_model_reach_past(s->m, &s->past, s->counts.len, take) || !sum_up(s, take, &rows)) {
        return NULL;
    }
    struct hpx_snapshot *to = malloc(sizeof(*to) + rows * sizeof(to->rows[0]));
    if (to) {
        *to = (struct hpx_snapshot){.rows = (struct hpx_row *)(void *)(to + 1)};
    }
    take_sums(s, to, take);
    if (to && take < HPX_TAKE_NEW && s->drawn.squares > 0) { /* a stall is measured: it takes a share of the table, but no certainty */
        to->effective = (uint64_t)(s->drawn.sum * (double)to->total / s->drawn.squares + 0.5);
    }
    if (to && take == HPX_TAKE_RESET) {
        s->drawn.sum = s->drawn.squares = 0;
    }
    return to;
}

void hpx_samples_clear(struct hpx_samples *s)
{
    for (uint32_t i = 0; i < s->counts.len; i++) {
        *(uint64_t *)hpx_vec_at(&s->counts, i) = 0;
    }
    s->drawn.sum = s->drawn.squares = 0;
}
