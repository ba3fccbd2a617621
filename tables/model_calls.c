/* SPDX-License-Identifier: BSD-2-Clause */
/* model_calls.c: exact calls in the model: their events, their printed forms, their snapshot. */
#include "model_internal.h"
#include <stdlib.h>

static const struct hpx_table calls_table;

bool hpx_model_calls_init(struct hpx_model *m)
{
    const struct hpx_calltab_config cfg = {.depth = m->cfg.call_depth,
                                           .inner = m->cfg.call_inner_ns,
                                           .outer = m->cfg.call_outer_ns,
                                           .times_from_ticks = m->cfg.call_times_from_ticks};
    hpx_numbers_init(&m->numbers);
    hpx_model_add_table(m, &calls_table, m);
    m->symbolized_lost = hpx_model_symbolize_pseudo(m, "lost_call");
    if (hpx_calltab_init(&m->call_table, &cfg) != 0) {
        return false;
    }
    return m->symbolized_lost != HPX_INTERN_NONE;
}

void hpx_model_calls_fini(struct hpx_model *m)
{
    hpx_calltab_fini(&m->call_table);
    hpx_numbers_fini(&m->numbers);
}

void hpx_model_calls_probes(struct hpx_model *m, uint32_t inner_ns, uint32_t outer_ns)
{
    m->call_table.cfg.inner = inner_ns;
    m->call_table.cfg.outer = outer_ns;
}

struct hpx_calltab *hpx_model_calltab(struct hpx_model *m)
{
    return &m->call_table;
}

void hpx_model_methods(struct hpx_model *m, struct hpx_msg_methods *msg)
{
    if (!m->cfg.calls) {
        free(msg);
    } else if (!hpx_numbers_announce(&m->numbers, msg)) {
        hpx_count(&m->counters, HPX_C_CLASSES_UNNAMED, 1);
    }
}

/* ---- events ---- */

static struct hpx_call_thread *thread_of(struct hpx_model *m, struct hpx_thread *t)
{
    if (!t->call_stacks) {
        const struct hpx_thread_slots *slots = t->model;
        t->call_stacks = hpx_calltab_attach(&m->call_table, m->cfg.thread_in_traces ? (slots ? slots->serial : HPX_SERIAL_THREAD) : 0);
    }
    return t->call_stacks;
}

static const struct hpx_ev_head *apply(void *self, struct hpx_thread *t, const struct hpx_ev_head *ev, const struct hpx_ev_head *end)
{
    struct hpx_model *m = self;
    struct hpx_call_thread *th = thread_of(m, t);
    if (!th) { /* its exits will be strays */
        uint64_t calls = ev->kind == HPX_EV_LEAF ? HPX_EV_LEAF_CALLS(ev->stamp) : ev->kind == HPX_EV_ENTER;
        hpx_count(&m->counters, HPX_C_LOST_NO_MEMORY, calls);
        return ev + ev->units;
    }
    return hpx_calltab_apply(&m->call_table, th, ev, end);
}

static void report_losses(struct hpx_model *m)
{
    if (m->call_table.no_memory > 0) {
        hpx_count(&m->counters, HPX_C_LOST_NO_MEMORY, m->call_table.no_memory);
        m->call_table.no_memory = 0;
    }
}

static void pass_end(void *self)
{
    struct hpx_model *m = self;
    hpx_calltab_pass_end(&m->call_table);
    report_losses(m);
}

static void thread_gone(void *self, struct hpx_thread *t)
{
    struct hpx_model *m = self;
    if (t->call_stacks) {
        hpx_calltab_retire(&m->call_table, t->call_stacks);
        t->call_stacks = NULL;
    }
}

static size_t bytes(const void *self)
{
    const struct hpx_model *m = self;
    return hpx_calltab_bytes(&m->call_table) + hpx_numbers_bytes(&m->numbers) + m->past_costs.bytes;
}

static const struct hpx_table calls_table = {
    .first = HPX_EV_ENTER, .last = HPX_EV_PLACE_MULTI, .apply = apply, .pass_end = pass_end, .thread_gone = thread_gone, .bytes = bytes};

void hpx_model_calls_pending(struct hpx_model *m, struct hpx_thread *t, const struct hpx_calls_pending *p)
{
    struct hpx_call_thread *th = p->method != 0 ? thread_of(m, t) : t->call_stacks;
    if (th) {
        hpx_calltab_pending(&m->call_table, th, p);
    }
}

void hpx_model_calls_time(struct hpx_model *m, struct hpx_thread *t, uint64_t now)
{
    if (t->call_stacks && !m->call_table.cfg.times_from_ticks) {
        hpx_calltab_time(t->call_stacks, now);
    }
}

/* ---- printed forms ---- */

/* *to: the number of the string, 0 for an empty one. false without memory. */
static bool intern_text(struct hpx_model *m, struct hpx_text text, uint32_t *to)
{
    *to = hpx_strings_intern(&m->strings, text.bytes, text.len);
    return *to != 0 || text.len == 0;
}

/* The symbolized method of an announced one; HPX_INTERN_NONE without memory. */
static uint32_t symbolize_said(struct hpx_model *m, const struct hpx_msg_methods *said, uint32_t number)
{
    const char *at = said->text, *end = at + said->text_len;
    struct hpx_text signature = hpx_model_next_text(&at, end), source = hpx_model_next_text(&at, end);
    uint32_t class_name = hpx_model_class_name(m, signature), of_source, of_name, of_descriptor;
    for (uint32_t i = 0; i < 2 * (number - said->first); i++) {
        (void)hpx_model_next_text(&at, end);
    }
    struct hpx_text name = hpx_model_next_text(&at, end), descriptor = hpx_model_next_text(&at, end);
    if (signature.len == 0) {
        return m->symbolized_unnamed;
    }
    if (!class_name || !intern_text(m, source, &of_source) || !intern_text(m, name, &of_name) ||
        !intern_text(m, m->cfg.call_signatures ? descriptor : (struct hpx_text){0}, &of_descriptor)) {
        return HPX_INTERN_NONE;
    }
    return hpx_symbolized_method(&m->symbolized, 0, class_name, of_name, of_descriptor, of_source);
}

static uint32_t symbolize_number(struct hpx_model *m, uint32_t number)
{
    if (number == HPX_CALL_LOST) {
        return m->symbolized_lost;
    }
    struct hpx_number *n = hpx_numbers_at(&m->numbers, number);
    if (n && n->symbolized) {
        return n->symbolized - 1;
    }
    const struct hpx_msg_methods *said = n ? hpx_numbers_said(&m->numbers, n) : NULL;
    uint32_t symbolized = said ? symbolize_said(m, said, number) : m->symbolized_unnamed;
    if (!said) {
        hpx_count(&m->counters, HPX_C_METHODS_UNNAMED, 1);
    }
    if (n && symbolized != HPX_INTERN_NONE) {
        n->symbolized = symbolized + 1;
    }
    return symbolized;
}

bool hpx_model_symbolize_node(struct hpx_model *m, struct hpx_raw *raw)
{
    if (raw->settled) {
        return true;
    }
    struct hpx_symbolized_frame *frames = hpx_model_scratch(&m->stack, raw->nframes * sizeof(*frames));
    if (!frames) {
        return false;
    }
    for (uint32_t i = 0; i < raw->nframes; i++) {
        frames[i] = (struct hpx_symbolized_frame){symbolize_number(m, raw->frames[i].method), -1};
        if (frames[i].method == HPX_INTERN_NONE) {
            return false;
        }
    }
    raw->symbolized = hpx_symbolized_trace(&m->symbolized, raw->thread, frames, raw->nframes);
    raw->settled = raw->symbolized != HPX_INTERN_NONE;
    return raw->settled;
}

/* ---- snapshot ---- */

static struct hpx_symbolized_trace *symbolized_of(const struct hpx_model *m, uint32_t node)
{
    return hpx_symbolized_trace_at(&m->symbolized, hpx_traces_at(&m->call_table.traces, node)->symbolized);
}

static struct hpx_call_cost cost_of(const struct hpx_model *m, uint32_t node, enum hpx_take take)
{
    struct hpx_call_cost c = *hpx_calltab_cost(&m->call_table, node);
    if (take >= HPX_TAKE_NEW) {
        const struct hpx_past_cost *p = hpx_vec_at(&m->past_costs, node);
        const struct hpx_call_cost journaled = take == HPX_TAKE_NEW ? p->journaled : (struct hpx_call_cost){0};
        c.calls += p->dumped.calls - journaled.calls;
        c.self += p->dumped.self - journaled.self;
        c.total += p->dumped.total - journaled.total;
    }
    return c;
}

/* The nodes that a snapshot is about: of a large table few have changed since the last one. */
struct nodes {
    uint32_t *at, n;
};

/* The first ones that changed since the last journal; *looked: how many of them were looked at. */
static bool list_changed(const struct hpx_model *m, struct nodes *l, uint32_t *looked)
{
    uint32_t next = m->call_table.changed;
    l->at = malloc(HPX_JOURNAL_SLICE * sizeof(l->at[0]));
    l->n = 0;
    for (*looked = 0; l->at && *looked < HPX_JOURNAL_SLICE && next != HPX_CALL_LAST; ++*looked) {
        if (cost_of(m, next - 1, HPX_TAKE_NEW).calls > 0) {
            l->at[l->n++] = next - 1;
        }
        next = hpx_calltab_entry(&m->call_table, next - 1)->next;
    }
    return l->at != NULL;
}

/* false without memory. */
static bool list_nodes(const struct hpx_model *m, enum hpx_take take, struct nodes *l, uint32_t *looked)
{
    uint32_t all = hpx_calltab_nodes(&m->call_table);
    if (take == HPX_TAKE_NEW) {
        return list_changed(m, l, looked);
    }
    *looked = all;
    l->n = 0;
    for (uint32_t i = 0; i < all; i++) {
        l->n += cost_of(m, i, take).calls > 0;
    }
    l->at = malloc((l->n + 1u) * sizeof(l->at[0]));
    l->n = 0;
    for (uint32_t i = 0; l->at && i < all; i++) {
        if (cost_of(m, i, take).calls > 0) {
            l->at[l->n++] = i;
        }
    }
    return l->at != NULL;
}

static bool symbolize_nodes(struct hpx_model *m, const struct nodes *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        if (!hpx_model_symbolize_node(m, hpx_traces_at(&m->call_table.traces, l->at[i]))) {
            return false;
        }
    }
    return true;
}

/* Before the reset. */
static void costs_taken(struct hpx_model *m, const struct nodes *l, enum hpx_take take)
{
    for (uint32_t i = 0; m->journal && i < l->n; i++) {
        const struct hpx_call_cost *c = hpx_calltab_cost(&m->call_table, l->at[i]);
        if (l->at[i] >= m->past_costs.len) { /* a reset: there was no memory */
            hpx_count(&m->counters, HPX_C_JOURNAL_LACKS, c->calls);
            continue;
        }
        struct hpx_past_cost *p = hpx_vec_at(&m->past_costs, l->at[i]);
        struct hpx_call_cost all = {c->calls + p->dumped.calls, c->self + p->dumped.self, c->total + p->dumped.total};
        *(take == HPX_TAKE_RESET ? &p->dumped : &p->journaled) = all;
    }
}

/* Numbers their symbolized traces, from 1, in `sum`; returns how many. */
static uint32_t number_rows(struct hpx_model *m, const struct nodes *l)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        struct hpx_symbolized_trace *t = symbolized_of(m, l->at[i]);
        if (t->sum == 0) {
            t->sum = ++rows;
        }
    }
    return rows;
}

static void clear_numbers(struct hpx_model *m, const struct nodes *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        symbolized_of(m, l->at[i])->sum = 0;
    }
}

static uint64_t at_least_0(uint64_t sum)
{
    return (int64_t)sum < 0 ? 0 : sum;
}

static void fill_rows(struct hpx_model *m, const struct nodes *l, struct hpx_call_snapshot *s, enum hpx_take take)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const struct hpx_call_cost cost = cost_of(m, l->at[i], take);
        struct hpx_symbolized_trace *t = symbolized_of(m, l->at[i]);
        struct hpx_call_row *r = &s->rows[t->sum - 1];
        r->trace = t->rec;
        r->calls += cost.calls;
        r->self_ns += (uint64_t)cost.self;
        r->total_ns += (uint64_t)cost.total;
    }
    for (uint32_t i = 0; i < s->nrows; i++) {
        struct hpx_call_row *r = &s->rows[i];
        r->self_ns = at_least_0(r->self_ns);
        r->total_ns = at_least_0(r->total_ns);
        s->self_ns += r->self_ns;
        s->calls += r->calls;
    }
}

static void fill_figures(const struct hpx_model *m, struct hpx_call_snapshot *s)
{
    const struct hpx_calltab *t = &m->call_table;
    int64_t open_ns;
    hpx_calltab_open(t, &s->open_calls, &open_ns);
    s->open_ns = (uint64_t)open_ns;
    s->all_calls = t->calls;
    s->probes_ns = hpx_calltab_probes(t);
    s->ticks = t->ticks;
    s->ticks_ns = t->ticks_ns;
    s->outside_ns = t->outside_ns;
    s->lost_calls = t->lost_calls;
    s->lost_events = t->lost_events;
    s->resynced = t->resynced;
    s->stray = t->stray;
}

static struct hpx_call_snapshot *snapshot_of(struct hpx_model *m, const struct nodes *l, enum hpx_take take)
{
    uint32_t rows = number_rows(m, l);
    struct hpx_call_snapshot *s = calloc(1, sizeof(*s) + rows * sizeof(s->rows[0]));
    if (s) {
        s->rows = (struct hpx_call_row *)(void *)(s + 1);
        s->nrows = rows;
        fill_rows(m, l, s, take);
        fill_figures(m, s);
    }
    clear_numbers(m, l);
    return s;
}

struct hpx_call_snapshot *hpx_model_call_snapshot(struct hpx_model *m, enum hpx_take take)
{
    struct nodes l;
    uint32_t looked;
    if (!hpx_model_reach_past(m, &m->past_costs, hpx_calltab_nodes(&m->call_table), take) || !list_nodes(m, take, &l, &looked)) {
        return NULL;
    }
    struct hpx_call_snapshot *s = symbolize_nodes(m, &l) ? snapshot_of(m, &l, take) : NULL;
    if (s && take != HPX_TAKE_KEEP) {
        costs_taken(m, &l, take);
    }
    if (s && take == HPX_TAKE_RESET) {
        hpx_calltab_reset(&m->call_table);
    }
    if (s && take >= HPX_TAKE_NEW) {
        hpx_calltab_settle(&m->call_table, looked);
    }
    free(l.at);
    return s;
}

uint32_t hpx_model_call_journal_waiting(const struct hpx_model *m)
{
    return m->call_table.nchanged;
}

void hpx_model_call_clear(struct hpx_model *m)
{
    hpx_calltab_reset(&m->call_table);
}
