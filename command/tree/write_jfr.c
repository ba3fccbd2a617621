/* SPDX-License-Identifier: BSD-2-Clause */
/* write_jfr.c: a recording as the JDK's Flight Recorder makes it, for `jfr`, JDK Mission Control and jdk.jfr.consumer: chunks, each with
 * its metadata, the constants that its events name, and events in the order of their times.
 *
 * Events have the names and fields of the JDK's, but for hprofx.WallClock, which holds the wall clock. Each moment becomes an event;
 * what has no time becomes events that are spread evenly over the time of the profile. JFR counts no objects, so allocations have
 * bytes alone, and a stack of n samples or waits is n events: of more than 2^24 of a view each stands for more. */
#include "jfr_facts.h"
#include "timed.h"
#include "writers.h"
#include <stdlib.h>
#include <string.h>

#ifndef HPX_JFR_MOST_EVENTS /* fewer for the fuzzer, whose files are small and whose counts are not */
#define HPX_JFR_MOST_EVENTS ((uint64_t)1 << 24)
#endif
#define NS_PER_MS UINT64_C(1000000)
#define MOST_MS   ((uint64_t)1 << 40)

/* ---- events ---- */

/* What a view becomes. */
struct kind {
    enum hpx_view_kind view;
    enum hpx_jfr_t type;
    size_t count, amount; /* values of the view; HPX_TREE_VALUES: it has none */
};

static const struct kind kinds[] = {{HPX_VIEW_CPU, HPX_JFR_T_EXECUTION, 0, 1},
                                    {HPX_VIEW_WALL, HPX_JFR_T_WALL, HPX_TREE_VALUES, 0},
                                    {HPX_VIEW_ALLOC, HPX_JFR_T_ALLOCATION, HPX_TREE_VALUES, 1},
                                    {HPX_VIEW_LOCK, HPX_JFR_T_ENTER, 0, 1},
                                    {HPX_VIEW_WAIT, HPX_JFR_T_WAIT, 0, 1},
                                    {HPX_VIEW_PARK, HPX_JFR_T_PARK, 0, 1}};
enum { KINDS = sizeof kinds / sizeof kinds[0], FLOWS = 2 * KINDS };

static uint64_t length_of(const struct hpx_tree *t)
{
    const uint64_t ms = t->times_to_ms > t->times_from_ms ? t->times_to_ms - t->times_from_ms : t->duration_ms;
    return (ms < MOST_MS ? ms : MOST_MS) * NS_PER_MS;
}

/* Events one after the other: those of a view's moments, or those of what its samples have beyond them. */
struct flow {
    const struct kind *kind;
    const struct hpx_tree_view *view;
    bool timed, threads;
    uint64_t *left;         /* as the numbers of the view's samples: what no moment had so far */
    const uint64_t *rest;   /* likewise, behind all moments */
    uint64_t longest_ns;    /* of an event without a time of the wall clock, which adds up threads; 0: any */
    uint64_t each;          /* how many of a count an event stands for */
    size_t at;              /* sample or moment */
    uint64_t count, amount; /* its own */
    uint64_t of, n;         /* how many events that is, and which is next */
    uint64_t done, all;     /* without times */
    uint64_t next_ns;       /* when the next is; UINT64_MAX: there is none */
};

static size_t length_of_flow(const struct flow *f)
{
    return f->timed ? f->view->moments.len : f->view->samples.len;
}

static uint64_t cut(uint64_t *left, uint64_t value)
{
    const uint64_t v = value < *left ? value : *left;
    *left -= v;
    return v;
}

/* No moment has more than is left of its sample. Time beyond all moments with nothing to count is the last one's: an event more would be a
 * wait more. */
static void take_moment(struct flow *f)
{
    const struct kind *k = f->kind;
    const struct hpx_tree_moment *m = hpx_tree_moment_at(f->view, f->at);
    const uint64_t *values = hpx_tree_moment_values_at(f->view, f->at);
    const size_t sample = hpx_timed_sample(f->view, m->node, f->threads ? m->thread : 0), at = sample * f->view->values;
    f->count = f->amount = 0;
    if (sample == f->view->samples.len) {
        return;
    }
    f->amount = cut(&f->left[at + k->amount], values[k->amount]);
    if (k->count < f->view->values) {
        f->count = cut(&f->left[at + k->count], values[k->count]);
        bool last = f->rest != NULL && f->count > 0 && f->left[at + k->count] == 0 && f->rest[at + k->count] == 0;
        f->amount += last ? f->rest[at + k->amount] : 0;
    }
}

static void take_rest(struct flow *f)
{
    const struct kind *k = f->kind;
    const size_t at = f->at * f->view->values;
    const bool counts = k->count < f->view->values;
    f->count = counts ? f->left[at + k->count] : 0;
    f->amount = counts && f->count == 0 && hpx_tree_values_at(f->view, f->at)[k->count] > 0 ? 0 : f->left[at + k->amount];
    f->count = f->longest_ns > 0 ? f->amount / f->longest_ns + (f->amount % f->longest_ns != 0) : f->count;
}

/* How many events the next moment or sample is. */
static uint64_t take(struct flow *f)
{
    (f->timed ? take_moment : take_rest)(f);
    return f->count / f->each + (f->count % f->each != 0 || (f->count == 0 && f->amount > 0));
}

static void find_next(const struct hpx_jfr_out *j, struct flow *f)
{
    const size_t len = length_of_flow(f);
    while (f->at < len && f->n == f->of) {
        f->of = take(f);
        f->n = 0;
        f->at += f->of == 0;
    }
    if (f->at == len) {
        f->next_ns = UINT64_MAX;
    } else if (f->timed) {
        const struct hpx_tree_moment *m = hpx_tree_moment_at(f->view, f->at);
        double unit = m->unit_ms > 1 ? (double)m->unit_ms * (double)NS_PER_MS * ((double)f->n + 0.5) / (double)f->of : 0;
        f->next_ns = m->at_ms * NS_PER_MS + (uint64_t)unit;
    } else {
        double share = ((double)f->done + 0.5) / (double)f->all;
        f->next_ns = j->begin_ns + (uint64_t)(share * (double)length_of(j->tree));
    }
}

static uint64_t each_of(const struct kind *k, const struct hpx_tree_view *v, uint64_t longest_ns)
{
    double count = 0; /* more than totals hold */
    for (size_t i = 0; i < v->samples.len; i++) {
        const uint64_t *values = hpx_tree_values_at(v, i);
        count += k->count < v->values ? (double)values[k->count] : longest_ns > 0 ? (double)values[k->amount] / (double)longest_ns : 0;
    }
    count /= (double)HPX_JFR_MOST_EVENTS;
    return count <= 1 ? 1 : count < (double)INT64_MAX ? (uint64_t)count + 1 : UINT64_MAX;
}

static uint64_t *numbers_of(const struct hpx_tree_view *v)
{
    uint64_t *of = calloc(v->samples.len * v->values + 1, sizeof *of);
    if (of != NULL && v->samples.len > 0) {
        memcpy(of, v->numbers.items, v->samples.len * v->values * sizeof *of);
    }
    return of;
}

/* false: no memory. The caller frees `left` of both in any case. */
static bool begin_flows(const struct hpx_jfr_out *j, struct flow *timed, struct flow *rest, const struct kind *k)
{
    const struct hpx_tree_view *v = &j->tree->views[k->view];
    struct flow f = {.kind = k, .view = v, .threads = hpx_tree_has_threads(v), .left = numbers_of(v)};
    f.longest_ns = k->type == HPX_JFR_T_WALL ? length_of(j->tree) : 0;
    f.each = each_of(k, v, f.longest_ns);
    *rest = *timed = f;
    timed->timed = true;
    timed->left = numbers_of(v);
    if (rest->left == NULL || timed->left == NULL) {
        return false;
    }
    f.timed = true;
    for (; f.at < v->moments.len; f.at++) {
        take_moment(&f);
    }
    timed->rest = rest->left;
    for (; rest->at < v->samples.len; rest->at++) {
        rest->all += take(rest);
    }
    rest->at = 0;
    find_next(j, timed);
    find_next(j, rest);
    return true;
}

/* The n-th of `of` parts that add up to `all`. */
static uint64_t part(uint64_t all, uint64_t n, uint64_t of)
{
    return all / of + (n < all % of);
}

static void put_sample(struct hpx_jfr_out *j, const struct flow *f, uint32_t stack, uint32_t thread, uint64_t period)
{
    hpx_jfr_begin(j, HPX_JFR_T_EXECUTION, f->next_ns, 0);
    hpx_pb_raw(&j->event, thread);
    hpx_pb_raw(&j->event, stack);
    hpx_pb_raw(&j->event, 1);
    hpx_pb_raw(&j->event, f->timed);
    hpx_jfr_end(j);
    if (j->tree->views[HPX_VIEW_CPU].totals[1] > 0) { /* else no sample has any; readers take one kind of them */
        hpx_jfr_begin(j, HPX_JFR_T_CPU_TIME, f->next_ns, 0);
        hpx_pb_raw(&j->event, stack);
        hpx_pb_raw(&j->event, thread);
        hpx_pb_raw(&j->event, 0);
        hpx_pb_raw(&j->event, period);
        hpx_pb_raw(&j->event, 0);
        hpx_pb_raw(&j->event, f->timed);
        hpx_jfr_end(j);
    }
}

/* class: a name; what is behind it in the event is not known. */
static void put_rest(struct hpx_jfr_out *j, const struct flow *f, uint32_t class, uint64_t amount)
{
    static const size_t unknown[] = {[HPX_JFR_T_ENTER] = 2, [HPX_JFR_T_WAIT] = 4, [HPX_JFR_T_PARK] = 3};
    if (f->kind->type == HPX_JFR_T_WALL) {
        hpx_jfr_put_string(&j->event, hpx_tree_text(j->tree, class));
        return;
    }
    hpx_pb_raw(&j->event, hpx_jfr_number(j, &j->classes, class));
    if (f->kind->type == HPX_JFR_T_ALLOCATION) {
        hpx_pb_raw(&j->event, amount);
        return;
    }
    for (size_t i = 0; i < unknown[f->kind->type]; i++) {
        hpx_pb_raw(&j->event, 0);
    }
}

static void put_next(struct hpx_jfr_out *j, struct flow *f)
{
    const struct hpx_tree_moment *m = f->timed ? hpx_tree_moment_at(f->view, f->at) : NULL;
    uint32_t node = m != NULL ? m->node : hpx_tree_sample_at(f->view, f->at)->node,
             thread = hpx_jfr_number(j, &j->threads, m != NULL ? m->thread : hpx_tree_sample_at(f->view, f->at)->thread), class = 0;
    uint64_t amount = part(f->amount, f->n, f->of);
    amount = amount <= INT64_MAX ? amount : INT64_MAX;
    if (f->kind->type == HPX_JFR_T_EXECUTION) {
        put_sample(j, f, hpx_jfr_stack(j, node), thread, amount);
    } else {
        const struct hpx_tree_frame *frame = hpx_tree_frame_at(j->tree, hpx_tree_node_at(j->tree, node)->frame);
        if (node != 0 && frame->kind == HPX_FRAME_CLASS) {
            class = frame->name;
            node = hpx_tree_node_at(j->tree, node)->parent;
        }
        bool lasts = f->kind->type != HPX_JFR_T_ALLOCATION;
        uint64_t before = lasts && (m == NULL || m->lasted) ? amount : 0, first = m != NULL ? j->zero_ns : j->begin_ns,
                 at = f->next_ns > hpx_tree_sum(first, before) ? f->next_ns - before : first;
        hpx_jfr_begin(j, f->kind->type, at, lasts ? amount : 0);
        if (lasts) {
            hpx_pb_raw(&j->event, amount);
        }
        hpx_pb_raw(&j->event, thread);
        hpx_pb_raw(&j->event, hpx_jfr_stack(j, node));
        put_rest(j, f, class, amount);
        hpx_pb_raw(&j->event, f->timed);
        hpx_jfr_end(j);
    }
    f->n++;
    f->done++;
    f->at += f->n == f->of;
    f->of = f->n == f->of ? 0 : f->of;
    f->n = f->of == 0 ? 0 : f->n;
    find_next(j, f);
}

/* ---- the collector ---- */

/* A collection for each pause: it was as long at least. */
static void put_pause(struct hpx_jfr_out *j, size_t i)
{
    const struct hpx_tree_pause *p = (const struct hpx_tree_pause *)j->tree->pauses.items + i;
    uint64_t ns = p->ns <= INT64_MAX ? p->ns : 0, end_ns = p->at_ms * NS_PER_MS, at = end_ns > ns ? end_ns - ns : 0;
    hpx_jfr_begin(j, HPX_JFR_T_COLLECTION, at, ns);
    hpx_pb_raw(&j->event, ns);
    hpx_pb_raw(&j->event, (uint32_t)i);
    hpx_pb_raw(&j->event, hpx_jfr_number(j, &j->collectors, p->name));
    hpx_pb_raw(&j->event, 1);
    hpx_pb_raw(&j->event, ns);
    hpx_pb_raw(&j->event, ns);
    hpx_jfr_end(j);
    hpx_jfr_begin(j, HPX_JFR_T_PAUSE, at, ns);
    hpx_pb_raw(&j->event, ns);
    hpx_pb_raw(&j->event, 0);
    hpx_pb_raw(&j->event, (uint32_t)i);
    hpx_jfr_put_string(&j->event, "GC Pause");
    hpx_jfr_end(j);
}

static uint64_t pause_at(const struct hpx_jfr_out *j, size_t i)
{
    return i < j->tree->pauses.len ? ((const struct hpx_tree_pause *)j->tree->pauses.items)[i].at_ms * NS_PER_MS : UINT64_MAX;
}

/* What the earliest moment needs, if the file tells another begin. */
static uint64_t begin_of(const struct hpx_tree *t)
{
    uint64_t ms = t->times_from_ms != 0 ? t->times_from_ms : t->start_ms;
    for (size_t i = 0; i < KINDS; i++) {
        const struct hpx_tree_view *v = &t->views[kinds[i].view];
        ms = v->moments.len > 0 && hpx_tree_moment_at(v, 0)->at_ms < ms ? hpx_tree_moment_at(v, 0)->at_ms : ms;
    }
    return ms * NS_PER_MS;
}

/* When the first of all that has a time began: what lasts may be older than the file. */
static uint64_t zero_of(const struct hpx_tree *t, uint64_t begin_ns)
{
    uint64_t zero = begin_ns;
    for (size_t i = 0; i < KINDS; i++) {
        const struct hpx_tree_view *v = &t->views[kinds[i].view];
        for (size_t k = 0; k < v->moments.len; k++) {
            const struct hpx_tree_moment *m = hpx_tree_moment_at(v, k);
            uint64_t end = m->at_ms * NS_PER_MS, ns = m->lasted ? hpx_tree_moment_values_at(v, k)[kinds[i].amount] : 0;
            zero = end < hpx_tree_sum(zero, ns) ? end - (ns < end ? ns : end) : zero;
        }
    }
    for (size_t i = 0; i < t->pauses.len; i++) {
        const struct hpx_tree_pause *p = (const struct hpx_tree_pause *)t->pauses.items + i;
        uint64_t end = p->at_ms * NS_PER_MS;
        zero = end < hpx_tree_sum(zero, p->ns) ? end - (p->ns < end ? p->ns : end) : zero;
    }
    return zero;
}

static bool put_events(struct hpx_jfr_out *j)
{
    struct flow flows[FLOWS];
    size_t pauses = 0;
    bool all = true;
    for (size_t i = 0; i < KINDS; i++) {
        all = begin_flows(j, &flows[2 * i], &flows[2 * i + 1], &kinds[i]) && all;
    }
    while (all) {
        struct flow *first = &flows[0];
        for (size_t i = 1; i < FLOWS; i++) {
            first = flows[i].next_ns < first->next_ns ? &flows[i] : first;
        }
        if (first->next_ns == UINT64_MAX && pauses == j->tree->pauses.len) {
            break;
        }
        if (pause_at(j, pauses) <= first->next_ns && pauses < j->tree->pauses.len) {
            put_pause(j, pauses++);
        } else {
            put_next(j, first);
        }
        if (hpx_jfr_out_is_full(j)) {
            all = hpx_jfr_out_end_chunk(j);
        }
    }
    for (size_t i = 0; i < FLOWS; i++) {
        free(flows[i].left);
    }
    return all;
}

/* As the JDK does: `jfr view active-settings` is made of these. */
static void put_enabled(struct hpx_jfr_out *j)
{
    const struct hpx_tree *t = j->tree;
    static const char enabled[] = "enabled", *const words[] = {"false", "true"};
    for (size_t i = 0; i < KINDS; i++) {
        hpx_jfr_put_setting(j, kinds[i].type, enabled, words[t->views[kinds[i].view].samples.len > 0]);
    }
    hpx_jfr_put_setting(j, HPX_JFR_T_CPU_TIME, enabled, words[t->views[HPX_VIEW_CPU].totals[1] > 0]);
    hpx_jfr_put_setting(j, HPX_JFR_T_COLLECTION, enabled, words[t->pauses.len > 0]);
    hpx_jfr_put_setting(j, HPX_JFR_T_PAUSE, enabled, words[t->pauses.len > 0]);
}

bool hpx_write_jfr(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    struct hpx_jfr_out j;
    (void)c;
    const uint64_t begin_ns = begin_of(t);
    bool all = hpx_jfr_out_init(&j, t, to, begin_ns, zero_of(t, begin_ns));
    if (all) {
        put_enabled(&j);
        hpx_jfr_put_facts(&j);
        all = put_events(&j);
        j.last_ns = j.begin_ns + length_of(t) > j.last_ns ? j.begin_ns + length_of(t) : j.last_ns;
        all = all && hpx_jfr_out_end_chunk(&j);
    }
    hpx_jfr_out_fini(&j);
    return all;
}
