/* SPDX-License-Identifier: BSD-2-Clause */
/* model_symbolize.c: raw traces to symbolized ones, and the snapshot. */
#include "model_internal.h"
#include <stdlib.h>
#include <string.h>

/* The last entry at or below bci. */
static int32_t line_of(const struct hpx_model *m, const struct hpx_raw_frame *f)
{
    const struct hpx_sampled *s = hpx_methods_sampled(&m->methods, f->method);
    int32_t bci = f->bci;
    if (s->native && m->cfg.class_event) {
        return HPX_LINE_NATIVE;
    }
    if (bci < 0) {
        return HPX_LINE_UNKNOWN;
    }
    uint32_t low = 0, high = s->nlines; /* entries below `low` begin at or below bci, those from `high` on above it */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->lines[middle].bci <= bci) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && s->lines[low - 1].line > 0 ? s->lines[low - 1].line : HPX_LINE_UNKNOWN;
}

/* The symbolized method, HPX_INTERN_NONE without memory; clears *settled when a later snapshot may show another. */
static uint32_t symbolize_method(struct hpx_model *m, uint32_t sampled, bool *settled)
{
    struct hpx_sampled *s = hpx_methods_sampled(&m->methods, sampled);
    const struct hpx_class *c = hpx_methods_class(&m->methods, s->klass);
    if (s->state != HPX_SAMPLED_SETTLED && s->state != HPX_SAMPLED_GONE) {
        *settled = false;
    }
    if (s->symbolized == HPX_INTERN_NONE && s->name && c->name) {
        s->symbolized = hpx_symbolized_method(&m->symbolized, c->serial, c->name, s->name, s->signature, c->source);
        if (s->symbolized == HPX_INTERN_NONE) {
            return HPX_INTERN_NONE;
        }
    }
    hpx_model_count_missing(m, sampled);
    if (s->symbolized != HPX_INTERN_NONE) {
        return s->symbolized;
    }
    return s->state == HPX_SAMPLED_GONE || s->state == HPX_SAMPLED_GAVE_UP ? m->symbolized_unloaded : m->symbolized_unnamed;
}

bool hpx_model_symbolize_trace(struct hpx_model *m, struct hpx_raw *raw)
{
    if (raw->settled) {
        return true;
    }
    struct hpx_symbolized_frame *frames = hpx_model_scratch(&m->stack, raw->nframes * sizeof(*frames));
    if (!frames) {
        return false;
    }
    bool settled = true;
    for (uint32_t i = 0; i < raw->nframes; i++) {
        const struct hpx_raw_frame *f = &raw->frames[i];
        frames[i].method = symbolize_method(m, f->method, &settled);
        frames[i].line = line_of(m, f);
        if (frames[i].method == HPX_INTERN_NONE) {
            return false;
        }
    }
    uint32_t symbolized = hpx_symbolized_trace(&m->symbolized, raw->thread, frames, raw->nframes);
    if (symbolized == HPX_INTERN_NONE) {
        return false;
    }
    raw->symbolized = symbolized;
    raw->settled = settled;
    return true;
}

const struct hpx_trace_rec *hpx_model_named_trace(struct hpx_model *m, const struct hpx_named_frame *named, uint32_t n)
{
    n = n < HPX_TRACE_FRAMES ? n : HPX_TRACE_FRAMES;
    struct hpx_symbolized_frame *frames = hpx_model_scratch(&m->stack, ((size_t)n + 1) * sizeof(*frames));
    for (uint32_t i = 0; frames && i < n; i++) {
        const struct hpx_named_frame *f = &named[i];
        uint32_t klass = hpx_model_class_name(m, (struct hpx_text){f->class_signature, (uint32_t)strlen(f->class_signature)});
        uint32_t name = hpx_strings_intern(&m->strings, f->name, (uint32_t)strlen(f->name));
        uint32_t source = f->source ? hpx_strings_intern(&m->strings, f->source, (uint32_t)strlen(f->source)) : 0;
        uint32_t signature =
            m->cfg.signatures && f->signature ? hpx_strings_intern(&m->strings, f->signature, (uint32_t)strlen(f->signature)) : 0;
        uint32_t serial = m->cfg.class_event && f->class_number != 0 ? HPX_SERIAL_CLASS + f->class_number : 0;
        frames[i].method = klass && name ? hpx_symbolized_method(&m->symbolized, serial, klass, name, signature, source) : HPX_INTERN_NONE;
        frames[i].line = f->line > 0 && !m->cfg.lines ? HPX_LINE_UNKNOWN : f->line;
        if (frames[i].method == HPX_INTERN_NONE) {
            return NULL;
        }
    }
    uint32_t trace = frames ? hpx_symbolized_trace(&m->symbolized, 0, frames, n) : HPX_INTERN_NONE;
    return trace != HPX_INTERN_NONE ? hpx_symbolized_trace_at(&m->symbolized, trace)->rec : NULL;
}

bool hpx_model_reach_past(struct hpx_model *m, struct hpx_vec *past, uint32_t len, enum hpx_take take)
{
    while (m->journal && past->len < len && hpx_vec_push(past)) {
    }
    return take < HPX_TAKE_NEW || (m->journal && past->len >= len);
}

static uint64_t count_of(const struct hpx_model *m, uint32_t i, enum hpx_take take)
{
    uint64_t count = *hpx_traces_count(&m->traces, i);
    if (take < HPX_TAKE_NEW) {
        return count;
    }
    const struct hpx_past *p = hpx_vec_at(&m->past, i);
    return count + p->dumped - (take == HPX_TAKE_NEW ? p->journaled : 0);
}

static void taken(struct hpx_model *m, uint32_t i, enum hpx_take take)
{
    uint64_t *count = hpx_traces_count(&m->traces, i);
    struct hpx_past *p = i < m->past.len ? hpx_vec_at(&m->past, i) : NULL;
    if (take == HPX_TAKE_RESET) {
        if (p) {
            p->dumped += *count;
        } else if (m->journal) {
            hpx_count(&m->counters, HPX_C_JOURNAL_LACKS, *count);
        }
        *count = 0;
    } else if (p && take >= HPX_TAKE_NEW) {
        p->journaled = p->dumped + *count;
    }
}

/* Adds the counts up in the symbolized traces; returns how many have any. */
static uint32_t sum_up(struct hpx_model *m, enum hpx_take take)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < m->traces.len; i++) {
        uint64_t count = count_of(m, i, take);
        if (count > 0) {
            struct hpx_symbolized_trace *t = hpx_symbolized_trace_at(&m->symbolized, hpx_traces_at(&m->traces, i)->symbolized);
            rows += t->sum == 0;
            t->sum += count;
        }
    }
    return rows;
}

/* Moves the sums into rows; without `s` only clears the sums. */
static void take_sums(struct hpx_model *m, struct hpx_snapshot *s, enum hpx_take take)
{
    for (uint32_t i = 0; i < m->traces.len; i++) {
        if (count_of(m, i, take) == 0) {
            continue;
        }
        struct hpx_symbolized_trace *t = hpx_symbolized_trace_at(&m->symbolized, hpx_traces_at(&m->traces, i)->symbolized);
        if (s && t->sum > 0) {
            s->rows[s->nrows++] = (struct hpx_row){t->rec, t->sum};
            s->total += t->sum;
        }
        t->sum = 0;
        if (s) {
            taken(m, i, take);
        }
    }
}

struct hpx_snapshot *hpx_model_snapshot(struct hpx_model *m, enum hpx_take take)
{
    if (!hpx_model_reach_past(m, &m->past, m->traces.len, take)) {
        return NULL;
    }
    for (uint32_t i = 0; i < m->traces.len; i++) {
        if (count_of(m, i, take) > 0 && !hpx_model_symbolize_trace(m, hpx_traces_at(&m->traces, i))) {
            return NULL;
        }
    }
    uint32_t rows = sum_up(m, take);
    struct hpx_snapshot *s = malloc(sizeof(*s) + rows * sizeof(s->rows[0]));
    if (s) {
        *s = (struct hpx_snapshot){.rows = (struct hpx_row *)(void *)(s + 1)};
    }
    take_sums(m, s, take);
    if (s && take < HPX_TAKE_NEW && m->drawn.squares > 0) { /* a stall is measured: it takes a share of the table, but no certainty */
        s->effective = (uint64_t)(m->drawn.sum * (double)s->total / m->drawn.squares + 0.5);
    }
    if (s && take == HPX_TAKE_RESET) {
        m->drawn.sum = m->drawn.squares = 0;
    }
    return s;
}

void hpx_model_keep_journal(struct hpx_model *m)
{
    m->journal = true;
}

uint64_t hpx_model_journal_lost(const struct hpx_model *m)
{
    return hpx_counter_get(&m->counters, HPX_C_JOURNAL_LACKS);
}

static bool list_each(struct hpx_model *m, const struct hpx_traces *from, bool (*show)(struct hpx_model *, struct hpx_raw *),
                      struct hpx_snapshot *s)
{
    for (uint32_t i = 0; i < from->len; i++) {
        struct hpx_raw *raw = hpx_traces_at(from, i);
        if (!show(m, raw)) {
            return false;
        }
        s->rows[s->nrows++] = (struct hpx_row){hpx_symbolized_trace_at(&m->symbolized, raw->symbolized)->rec, 0};
    }
    return true;
}

struct hpx_snapshot *hpx_model_traces(struct hpx_model *m)
{
    size_t all = (size_t)m->traces.len + (m->cfg.calls ? hpx_calltab_nodes(&m->call_table) : 0);
    struct hpx_snapshot *s = malloc(sizeof(*s) + all * sizeof(s->rows[0]));
    if (!s) {
        return NULL;
    }
    *s = (struct hpx_snapshot){.rows = (struct hpx_row *)(void *)(s + 1)};
    if (!list_each(m, &m->traces, hpx_model_symbolize_trace, s) ||
        (m->cfg.calls && !list_each(m, &m->call_table.traces, hpx_model_symbolize_node, s))) {
        hpx_snapshot_destroy(s);
        return NULL;
    }
    return s;
}

void hpx_model_clear(struct hpx_model *m)
{
    for (uint32_t i = 0; i < m->traces.len; i++) {
        *hpx_traces_count(&m->traces, i) = 0;
    }
    m->drawn.sum = m->drawn.squares = 0;
}
