/* SPDX-License-Identifier: BSD-2-Clause */
/* call_rows.c: events, printed forms and snapshots of exact calls. Contract: call_rows.h. */
#include "call_rows.h"
#include "model_table.h"
#include "number_table.h"
#include <stdlib.h>

/* With a journal: of a node, what dumps have reset, and what the journal's rows add up to. */
struct past_cost {
    struct hpx_call_cost dumped, journaled;
};

struct replaced_method {
    uint32_t symbolized; /* overloads have one row */
    uint64_t calls;      /* scratch of the snapshot being made; 0 between snapshots */
};

struct hpx_call_rows {
    struct hpx_model *m;
    struct hpx_symbols *symbols;
    bool signatures;
    struct hpx_calltab table;
    struct hpx_vec past; /* struct past_cost, of the first nodes */
    struct hpx_numbers numbers;
    struct hpx_vec replaced; /* struct replaced_method: those that the VM can replace, of the nodes that a snapshot had */
    struct hpx_vec counted;  /* uint64_t: of every counter, the calls that have rows */
    uint32_t lost;           /* symbolized method hprofx.unknown.lost_call */
    uint32_t others;         /* the same of methods without a counter of their own; HPX_INTERN_NONE: all have one */
};

/* ---- events ---- */

static struct hpx_call_thread *thread_of(struct hpx_call_rows *r, struct hpx_thread *t)
{
    if (!t->call_stacks) {
        t->call_stacks = hpx_calltab_attach(&r->table, hpx_symbols_thread(r->symbols, hpx_serial_of(t)));
    }
    return t->call_stacks;
}

/* The calls begun, or the objects allocated, that a record tells of. */
static uint64_t told_by(const struct hpx_ev_head *ev)
{
    switch (ev->kind) {
    case HPX_EV_LEAF:
        return HPX_EV_LEAF_CALLS(ev->stamp);
    case HPX_EV_GAP:
        return ((const struct hpx_ev_gap *)(const void *)ev)->calls;
    case HPX_EV_ENTER:
        return 1;
    case HPX_EV_PLACE:
    case HPX_EV_PLACE_MULTI:
    case HPX_EV_PLACE_MADE:
        return hpx_ev_objects(ev);
    default:
        return 0;
    }
}

static const struct hpx_ev_head *apply(void *self, struct hpx_thread *t, const struct hpx_ev_head *ev, const struct hpx_ev_head *end)
{
    struct hpx_call_rows *r = self;
    struct hpx_call_thread *th = thread_of(r, t);
    if (!th) { /* its exits will be strays */
        hpx_count(hpx_model_counters(r->m), HPX_C_LOST_NO_MEMORY, told_by(ev));
        return ev + ev->units;
    }
    return hpx_calltab_apply(&r->table, th, ev, end);
}

static bool message(void *self, struct hpx_msg *msg)
{
    struct hpx_call_rows *r = self;
    if (msg->kind != HPX_MSG_METHODS) {
        return false;
    }
    if (!hpx_numbers_announce(&r->numbers, (struct hpx_msg_methods *)(void *)msg)) {
        hpx_count(hpx_model_counters(r->m), HPX_C_CLASSES_UNNAMED, 1);
    }
    return true;
}

static void pass_end(void *self)
{
    struct hpx_call_rows *r = self;
    hpx_calltab_pass_end(&r->table);
    hpx_count(hpx_model_counters(r->m), HPX_C_LOST_NO_MEMORY, r->table.no_memory);
    r->table.no_memory = 0;
}

static void thread_gone(void *self, struct hpx_thread *t)
{
    struct hpx_call_rows *r = self;
    if (t->call_stacks) {
        hpx_calltab_retire(&r->table, t->call_stacks);
        t->call_stacks = NULL;
    }
}

static size_t bytes(const void *self)
{
    const struct hpx_call_rows *r = self;
    return hpx_calltab_bytes(&r->table) + hpx_numbers_bytes(&r->numbers) + r->past.bytes + r->replaced.bytes + r->counted.bytes;
}

void hpx_call_rows_pending(struct hpx_call_rows *r, struct hpx_thread *t, const struct hpx_calls_pending *p)
{
    struct hpx_call_thread *th = p->method != 0 ? thread_of(r, t) : t->call_stacks;
    if (th) {
        hpx_calltab_pending(&r->table, th, p);
    }
}

static bool is_announced(const struct hpx_call_rows *r, uint32_t number)
{
    const struct hpx_number *n = hpx_vec_find(&r->numbers.of, number);
    return (n && n->said) || (number == HPX_CALL_COUNTERS - 1 && r->others != HPX_INTERN_NONE);
}

void hpx_call_rows_counted(struct hpx_call_rows *r, const uint64_t *counts, uint32_t n, bool last)
{
    (void)(n > 0 && hpx_vec_reach(&r->counted, n - 1));
    for (uint32_t i = 0; i < n; i++) {
        uint64_t *counted = hpx_vec_find(&r->counted, i), more = counts[i] - (counted != NULL ? *counted : 0);
        if (more > 0 && (last || is_announced(r, i))) {
            if (counted != NULL && hpx_calltab_count(&r->table, i, more)) {
                *counted = counts[i];
            } else if (last) {
                hpx_count(hpx_model_counters(r->m), HPX_C_LOST_NO_MEMORY, more);
            }
        }
    }
}

void hpx_call_rows_time(struct hpx_call_rows *r, struct hpx_thread *t, uint64_t now)
{
    if (t->call_stacks && !r->table.cfg.times_from_ticks) {
        hpx_calltab_time(t->call_stacks, now);
    }
}

/* ---- printed forms ---- */

/* The symbolized method of an announced one; HPX_INTERN_NONE without memory. */
static uint32_t symbolize_said(struct hpx_call_rows *r, const struct hpx_msg_methods *said, uint32_t number)
{
    const char *at = said->text, *end = at + said->text_len;
    struct hpx_text signature = hpx_next_text(&at, end), source = hpx_next_text(&at, end);
    uint32_t class_name = hpx_symbols_class_name(r->symbols, signature), of_source = hpx_symbols_string(r->symbols, source);
    for (uint32_t i = 0; i < 2 * (number - said->first); i++) {
        (void)hpx_next_text(&at, end);
    }
    struct hpx_text name = hpx_next_text(&at, end), descriptor = hpx_next_text(&at, end);
    if (signature.len == 0) {
        return hpx_symbols_nameless(r->symbols);
    }
    if (!class_name || (!of_source && source.len > 0)) {
        return HPX_INTERN_NONE;
    }
    const struct hpx_class_serial none = {0};
    return hpx_symbols_method(r->symbols, none, class_name, of_source, name, r->signatures ? descriptor : (struct hpx_text){0});
}

static uint32_t symbolize_number(struct hpx_call_rows *r, uint32_t number)
{
    if (number == HPX_CALL_LOST) {
        return r->lost;
    }
    if (number == HPX_CALL_COUNTERS - 1 && r->others != HPX_INTERN_NONE) {
        return r->others;
    }
    struct hpx_number *n = hpx_numbers_at(&r->numbers, number);
    if (!n) {
        hpx_count(hpx_model_counters(r->m), HPX_C_METHODS_UNNAMED, 1);
        return hpx_symbols_nameless(r->symbols);
    }
    if (n->symbolized) {
        return n->symbolized - 1;
    }
    const struct hpx_msg_methods *said = hpx_numbers_said(&r->numbers, n);
    uint32_t symbolized = said ? symbolize_said(r, said, number) : hpx_symbols_nameless(r->symbols);
    if (!said) {
        hpx_count(hpx_model_counters(r->m), HPX_C_METHODS_UNNAMED, 1);
    }
    if (symbolized != HPX_INTERN_NONE) {
        n->symbolized = symbolized + 1;
    }
    return symbolized;
}

bool hpx_call_rows_print(struct hpx_call_rows *r, uint32_t node, uint32_t *to)
{
    struct hpx_raw *raw = hpx_traces_at(&r->table.traces, node);
    struct hpx_symbolized_frame *frames = raw->settled ? NULL : hpx_symbols_scratch(r->symbols, raw->nframes * sizeof(*frames));
    for (uint32_t i = 0; frames && i < raw->nframes; i++) {
        frames[i] = (struct hpx_symbolized_frame){symbolize_number(r, raw->frames[i].method), -1};
        if (frames[i].method == HPX_INTERN_NONE) {
            return false;
        }
    }
    if (frames) {
        raw->symbolized = hpx_symbols_trace(r->symbols, raw->thread, frames, raw->nframes);
        raw->settled = raw->symbolized != HPX_INTERN_NONE;
    }
    *to = raw->symbolized;
    return raw->settled;
}

static uint32_t traces(void *self, struct hpx_row *to)
{
    struct hpx_call_rows *r = self;
    uint32_t n = hpx_calltab_nodes(&r->table), symbolized;
    for (uint32_t i = 0; to && i < n; i++) {
        if (!hpx_call_rows_print(r, i, &symbolized)) {
            return UINT32_MAX;
        }
        to[i] = (struct hpx_row){hpx_symbols_rec(r->symbols, symbolized), 0};
    }
    return n;
}

/* ---- life ---- */

static void destroy(void *self)
{
    struct hpx_call_rows *r = self;
    hpx_calltab_fini(&r->table);
    hpx_numbers_fini(&r->numbers);
    hpx_vec_fini(&r->past);
    hpx_vec_fini(&r->replaced);
    hpx_vec_fini(&r->counted);
    free(r);
}

static const struct hpx_model_table table = {.first = HPX_EV_ENTER,
                                             .last = HPX_EV_PLACE_MADE,
                                             .apply = apply,
                                             .message = message,
                                             .pass_end = pass_end,
                                             .thread_gone = thread_gone,
                                             .traces = traces,
                                             .bytes = bytes,
                                             .destroy = destroy};

struct hpx_call_rows *hpx_call_rows_create(struct hpx_model *m, const struct hpx_call_options *o)
{
    const struct hpx_calltab_config cfg = {
        .depth = o->depth, .inner = o->inner_ns, .outer = o->outer_ns, .times_from_ticks = o->times_from_ticks};
    struct hpx_call_rows *r = calloc(1, sizeof(*r));
    if (!r) {
        return NULL;
    }
    r->m = m;
    r->symbols = hpx_model_symbols(m);
    r->signatures = o->signatures;
    hpx_vec_init(&r->past, sizeof(struct past_cost));
    hpx_vec_init(&r->replaced, sizeof(struct replaced_method));
    hpx_vec_init(&r->counted, sizeof(uint64_t));
    hpx_numbers_init(&r->numbers);
    r->lost = hpx_symbols_pseudo(r->symbols, "lost_call");
    r->others = o->counted ? hpx_symbols_pseudo(r->symbols, "other_methods") : HPX_INTERN_NONE;
    if (hpx_calltab_init(&r->table, &cfg) != 0 || r->lost == HPX_INTERN_NONE || (o->counted && r->others == HPX_INTERN_NONE)) {
        destroy(r);
        return NULL;
    }
    hpx_model_add_table(m, &table, r);
    return r;
}

void hpx_call_rows_probes(struct hpx_call_rows *r, uint32_t inner_ns, uint32_t outer_ns)
{
    r->table.cfg.inner = inner_ns;
    r->table.cfg.outer = outer_ns;
}

struct hpx_calltab *hpx_call_rows_table(struct hpx_call_rows *r)
{
    return &r->table;
}

/* ---- snapshot ---- */

static struct hpx_symbolized_trace *symbolized_of(const struct hpx_call_rows *r, uint32_t node)
{
    return hpx_symbols_at(r->symbols, hpx_traces_at(&r->table.traces, node)->symbolized);
}

/* A row of the journal has no time below 0, and its reader adds rows up. So a node that is below 0, because more probe time was subtracted
 * than it had, shows 0, and what it is below goes into its next row. */
static struct hpx_call_cost cost_of(const struct hpx_call_rows *r, uint32_t node, enum hpx_take take)
{
    struct hpx_call_cost c = *hpx_calltab_cost(&r->table, node);
    if (take >= HPX_TAKE_NEW) {
        const struct past_cost *p = hpx_vec_at(&r->past, node);
        const struct hpx_call_cost journaled = take == HPX_TAKE_NEW ? p->journaled : (struct hpx_call_cost){0};
        c.calls += p->dumped.calls - journaled.calls;
        c.self += p->dumped.self - journaled.self;
        c.total += p->dumped.total - journaled.total;
        c.self = c.self < 0 ? 0 : c.self;
        c.total = c.total < 0 ? 0 : c.total;
    }
    return c;
}

/* The nodes that a snapshot is about: of a large table few have changed since the last one. */
struct nodes {
    uint32_t *at, n;
};

/* The first ones that changed since the last journal; *looked: how many of them were looked at. */
static bool list_changed(const struct hpx_call_rows *r, struct nodes *l, uint32_t *looked)
{
    uint32_t next = r->table.changed;
    l->at = malloc(HPX_JOURNAL_SLICE * sizeof(l->at[0]));
    l->n = 0;
    for (*looked = 0; l->at && *looked < HPX_JOURNAL_SLICE && next != HPX_CALL_LAST; ++*looked) {
        if (cost_of(r, next - 1, HPX_TAKE_NEW).calls > 0) {
            l->at[l->n++] = next - 1;
        }
        next = hpx_calltab_entry(&r->table, next - 1)->next;
    }
    return l->at != NULL;
}

/* false without memory. */
static bool list_nodes(const struct hpx_call_rows *r, enum hpx_take take, struct nodes *l, uint32_t *looked)
{
    uint32_t all = hpx_calltab_nodes(&r->table);
    if (take == HPX_TAKE_NEW) {
        return list_changed(r, l, looked);
    }
    *looked = all;
    l->n = 0;
    for (uint32_t i = 0; i < all; i++) {
        l->n += cost_of(r, i, take).calls > 0;
    }
    l->at = malloc((l->n + 1u) * sizeof(l->at[0]));
    l->n = 0;
    for (uint32_t i = 0; l->at && i < all; i++) {
        if (cost_of(r, i, take).calls > 0) {
            l->at[l->n++] = i;
        }
    }
    return l->at != NULL;
}

/* The symbolized method of a node that was printed, if the VM can replace it; else HPX_INTERN_NONE. */
static uint32_t replaced_method_of(const struct hpx_call_rows *r, uint32_t node)
{
    const struct hpx_raw *raw = hpx_traces_at(&r->table.traces, node);
    const struct hpx_number *n = raw->nframes > 0 ? hpx_vec_find(&r->numbers.of, raw->frames[0].method) : NULL;
    const struct hpx_msg_methods *said = n ? hpx_numbers_said(&r->numbers, n) : NULL;
    return said && n->symbolized && said->of[raw->frames[0].method - said->first].replaced ? n->symbolized - 1 : HPX_INTERN_NONE;
}

/* A few hundred methods of the JDK, so they are searched. NULL: not in the list. */
static struct replaced_method *replaced_find(const struct hpx_call_rows *r, uint32_t symbolized)
{
    for (uint32_t i = 0; i < r->replaced.len; i++) {
        struct replaced_method *m = hpx_vec_at(&r->replaced, i);
        if (m->symbolized == symbolized) {
            return m;
        }
    }
    return NULL;
}

/* false without memory. */
static bool symbolize_nodes(struct hpx_call_rows *r, const struct nodes *l)
{
    uint32_t symbolized;
    for (uint32_t i = 0; i < l->n; i++) {
        if (!hpx_call_rows_print(r, l->at[i], &symbolized)) {
            return false;
        }
        symbolized = replaced_method_of(r, l->at[i]);
        if (symbolized != HPX_INTERN_NONE && !replaced_find(r, symbolized)) {
            struct replaced_method *m = hpx_vec_push(&r->replaced);
            if (!m) {
                return false;
            }
            m->symbolized = symbolized;
        }
    }
    return true;
}

static void add_to(struct hpx_call_cost *to, struct hpx_call_cost c)
{
    to->calls += c.calls;
    to->self += c.self;
    to->total += c.total;
}

/* Before the reset. */
static void costs_taken(struct hpx_call_rows *r, const struct nodes *l, enum hpx_take take)
{
    for (uint32_t i = 0; hpx_model_journal(r->m) && i < l->n; i++) {
        const struct hpx_call_cost *c = hpx_calltab_cost(&r->table, l->at[i]);
        if (l->at[i] >= r->past.len) { /* a reset: there was no memory */
            hpx_count(hpx_model_counters(r->m), HPX_C_JOURNAL_LACKS, c->calls);
            continue;
        }
        struct past_cost *p = hpx_vec_at(&r->past, l->at[i]);
        if (take == HPX_TAKE_RESET) {
            add_to(&p->dumped, *c);
        } else {
            const struct hpx_call_cost shown = cost_of(r, l->at[i], take);
            p->journaled = take == HPX_TAKE_ALL ? (struct hpx_call_cost){0} : p->journaled;
            add_to(&p->journaled, shown);
        }
    }
}

/* Numbers their symbolized traces, from 1, in `sum`; returns how many. */
static uint32_t number_rows(struct hpx_call_rows *r, const struct nodes *l)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        struct hpx_symbolized_trace *t = symbolized_of(r, l->at[i]);
        if (t->sum == 0) {
            t->sum = ++rows;
        }
    }
    return rows;
}

static void clear_numbers(struct hpx_call_rows *r, const struct nodes *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        symbolized_of(r, l->at[i])->sum = 0;
    }
}

static uint64_t at_least_0(uint64_t sum)
{
    return (int64_t)sum < 0 ? 0 : sum;
}

static void fill_rows(struct hpx_call_rows *r, const struct nodes *l, struct hpx_call_snapshot *s, enum hpx_take take)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const struct hpx_call_cost cost = cost_of(r, l->at[i], take);
        struct hpx_symbolized_trace *t = symbolized_of(r, l->at[i]);
        struct hpx_call_row *row = &s->rows[t->sum - 1];
        row->trace = t->rec;
        row->calls += cost.calls;
        row->self_ns += (uint64_t)cost.self;
        row->total_ns += (uint64_t)cost.total;
    }
    for (uint32_t i = 0; i < s->nrows; i++) {
        struct hpx_call_row *row = &s->rows[i];
        row->self_ns = at_least_0(row->self_ns);
        row->total_ns = at_least_0(row->total_ns);
        s->self_ns += row->self_ns;
        s->calls += row->calls;
    }
}

static void take_replaced(struct hpx_call_rows *r, const struct nodes *l, struct hpx_call_snapshot *s, enum hpx_take take)
{
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t symbolized = replaced_method_of(r, l->at[i]);
        if (symbolized != HPX_INTERN_NONE) {
            struct replaced_method *m = replaced_find(r, symbolized);
            s->nreplaced += m->calls == 0; /* every node of the list has calls */
            m->calls += cost_of(r, l->at[i], take).calls;
        }
    }
    for (uint32_t i = 0; i < s->nreplaced; i++) {
        struct replaced_method *most = hpx_vec_at(&r->replaced, 0);
        for (uint32_t k = 1; k < r->replaced.len; k++) {
            struct replaced_method *m = hpx_vec_at(&r->replaced, k);
            most = m->calls > most->calls ? m : most;
        }
        if (i < HPX_REPLACED_NAMED) {
            s->replaced[i] = hpx_symbols_method_rec(r->symbols, most->symbolized);
        }
        most->calls = 0;
    }
}

static void fill_figures(const struct hpx_call_rows *r, struct hpx_call_snapshot *s)
{
    const struct hpx_calltab *t = &r->table;
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

static struct hpx_call_snapshot *snapshot_of(struct hpx_call_rows *r, const struct nodes *l, enum hpx_take take)
{
    uint32_t rows = number_rows(r, l);
    struct hpx_call_snapshot *s = calloc(1, sizeof(*s) + rows * sizeof(s->rows[0]));
    if (s) {
        s->rows = (struct hpx_call_row *)(void *)(s + 1);
        s->nrows = rows;
        fill_rows(r, l, s, take);
        take_replaced(r, l, s, take);
        fill_figures(r, s);
    }
    clear_numbers(r, l);
    return s;
}

struct hpx_call_snapshot *hpx_call_rows_snapshot(struct hpx_call_rows *r, enum hpx_take take)
{
    struct nodes l;
    uint32_t looked;
    if (!hpx_model_reach_past(r->m, &r->past, hpx_calltab_nodes(&r->table), take) || !list_nodes(r, take, &l, &looked)) {
        return NULL;
    }
    struct hpx_call_snapshot *s = symbolize_nodes(r, &l) ? snapshot_of(r, &l, take) : NULL;
    if (s && take != HPX_TAKE_KEEP) {
        costs_taken(r, &l, take);
    }
    if (s && take == HPX_TAKE_RESET) {
        hpx_calltab_reset(&r->table);
    }
    if (s && take >= HPX_TAKE_NEW) {
        hpx_calltab_settle(&r->table, looked);
    }
    free(l.at);
    return s;
}

uint32_t hpx_call_rows_waiting(const struct hpx_call_rows *r)
{
    return r->table.nchanged;
}

void hpx_call_rows_clear(struct hpx_call_rows *r)
{
    hpx_calltab_reset(&r->table);
}
