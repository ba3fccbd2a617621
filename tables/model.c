/* SPDX-License-Identifier: BSD-2-Clause */
/* model.c: life of the model, threads, records and messages to the tables. */
#include "model.h"
#include "model_table.h"
#include "thread_table.h"
#include <stdlib.h>

struct hpx_model {
    struct hpx_model_config cfg;
    struct {
        const struct hpx_model_table *table;
        void *self;
    } tables[HPX_TABLES_MAX];
    uint32_t ntables;
    uint8_t table_of[HPX_TABLES_KINDS]; /* number + 1 of the table of a kind, 0: none */
    struct hpx_symbols *symbols;
    struct hpx_threads threads;
    struct hpx_counters counters;
    bool journal; /* hpx_model_keep_journal() */
};

void hpx_model_add_table(struct hpx_model *m, const struct hpx_model_table *table, void *self)
{
    uint32_t number = m->ntables++;
    assert(number < HPX_TABLES_MAX && table->first <= table->last && table->last < HPX_TABLES_KINDS);
    m->tables[number].table = table;
    m->tables[number].self = self;
    for (uint32_t kind = table->first; kind <= table->last; kind++) {
        assert(m->table_of[kind] == 0);
        m->table_of[kind] = (uint8_t)(number + 1);
    }
}

void *hpx_model_table(const struct hpx_model *m, enum hpx_ev_kind kind)
{
    uint32_t number = m->table_of[kind];
    return number ? m->tables[number - 1].self : NULL;
}

struct hpx_model *hpx_model_create(const struct hpx_model_config *cfg)
{
    struct hpx_model *m = calloc(1, sizeof(*m));
    if (!m) {
        return NULL;
    }
    const struct hpx_symbols_config of_symbols = {.thread_in_traces = cfg->thread_in_traces,
                                                  .lines = cfg->lines,
                                                  .signatures = cfg->signatures,
                                                  .class_numbers = cfg->class_numbers,
                                                  .ctx = cfg->ctx,
                                                  .request = cfg->request,
                                                  .class_event = cfg->class_event,
                                                  .counters = &m->counters};
    m->cfg = *cfg;
    m->symbols = hpx_symbols_create(&of_symbols);
    if (hpx_threads_init(&m->threads) != 0 || !m->symbols) {
        hpx_model_destroy(m);
        return NULL;
    }
    return m;
}

void hpx_model_destroy(struct hpx_model *m)
{
    for (uint32_t i = 0; m && i < m->ntables; i++) {
        if (m->tables[i].table->destroy) {
            m->tables[i].table->destroy(m->tables[i].self);
        }
    }
    if (m) {
        hpx_symbols_destroy(m->symbols);
        hpx_threads_fini(&m->threads);
        free(m);
    }
}

struct hpx_symbols *hpx_model_symbols(const struct hpx_model *m)
{
    return m->symbols;
}

/* ---- threads ---- */

/* begun: of a start; renamed: its newest name; NULL: none. */
static bool announce(struct hpx_model *m, uint32_t serial, enum hpx_thread_event what, const struct hpx_msg_thread_start *begun,
                     const struct hpx_msg_thread_name *renamed)
{
    if (!m->cfg.thread_event) {
        return true;
    }
    struct hpx_thread_rec rec = {.serial = serial, .object = HPX_OBJECT_FIRST + (serial - HPX_SERIAL_THREAD - 1)};
    if (begun) {
        const char *at = begun->text, *end = at + begun->text_len;
        rec.name = hpx_next_text(&at, end);
        rec.group = hpx_next_text(&at, end);
        rec.parent_group = hpx_next_text(&at, end);
    }
    if (renamed) {
        rec.newest = (struct hpx_text){renamed->text, renamed->text_len};
    }
    return m->cfg.thread_event(m->cfg.ctx, &rec, what);
}

static void thread_end(struct hpx_model *m, uint64_t key)
{
    uint32_t serial = hpx_threads_remove(&m->threads, key);
    if (serial) {
        (void)announce(m, serial, HPX_THREAD_ENDS, NULL, NULL);
    }
}

/* Owns msg. */
static void thread_start(struct hpx_model *m, struct hpx_msg_thread_start *msg)
{
    thread_end(m, msg->key); /* announced twice: its END was lost without memory */
    uint32_t serial = hpx_threads_add(&m->threads, msg->key, msg->serial);
    if (!serial) {
        hpx_count(&m->counters, HPX_C_THREADS_UNANNOUNCED, 1);
    } else if (!announce(m, serial, HPX_THREAD_STARTS, msg, NULL)) {
        (void)hpx_threads_remove(&m->threads, msg->key); /* so it has no end, and its traces are the unknown thread's */
        serial = 0;
    }
    for (uint32_t i = 0; serial && i < msg->nthreads; i++) {
        msg->threads[i]->serial = serial;
    }
    if (serial && m->cfg.thread_event) {
        hpx_threads_keep(&m->threads, msg->key, msg);
    } else {
        free(msg);
    }
}

/* Owns msg. */
static void thread_name(struct hpx_model *m, struct hpx_msg_thread_name *msg)
{
    const struct hpx_thread_entry *e = hpx_threads_rename(&m->threads, msg->key, msg->serial, msg);
    if (e) {
        (void)announce(m, e->serial, HPX_THREAD_RENAMED, e->said, msg);
    } else {
        free(msg); /* the thread has ended, or its start was lost */
    }
}

bool hpx_model_replay(struct hpx_model *m)
{
    const struct hpx_thread_entry **live = hpx_symbols_scratch(m->symbols, m->threads.all.len * sizeof(struct hpx_thread_entry *));
    uint32_t n = live ? hpx_threads_list(&m->threads, live) : 0;
    bool announced = live != NULL;
    for (uint32_t i = 0; i < n; i++) {
        announced = announce(m, live[i]->serial, HPX_THREAD_STARTS, live[i]->said, live[i]->renamed) && announced;
    }
    return hpx_symbols_replay(m->symbols) && announced;
}

void hpx_model_thread_gone(struct hpx_model *m, struct hpx_thread *t)
{
    hpx_counters_add(&m->counters, &t->counters);
    for (uint32_t i = 0; i < m->ntables; i++) {
        if (m->tables[i].table->thread_gone) {
            m->tables[i].table->thread_gone(m->tables[i].self, t);
        }
    }
    t->serial = 0;
}

static bool message_of_a_table(struct hpx_model *m, struct hpx_msg *msg)
{
    bool taken = false;
    for (uint32_t i = 0; i < m->ntables && !taken; i++) {
        taken = m->tables[i].table->message && m->tables[i].table->message(m->tables[i].self, msg);
    }
    return taken;
}

bool hpx_model_message(struct hpx_model *m, struct hpx_msg *msg)
{
    switch (msg->kind) {
    case HPX_MSG_THREAD_START:
        thread_start(m, (struct hpx_msg_thread_start *)(void *)msg);
        return true;
    case HPX_MSG_THREAD_END:
        thread_end(m, ((const struct hpx_msg_thread_end *)(const void *)msg)->key);
        break;
    case HPX_MSG_THREAD_NAME:
        thread_name(m, (struct hpx_msg_thread_name *)(void *)msg);
        return true;
    case HPX_MSG_METHODS: /* without exact calls nobody asks for the names of numbers */
        if (message_of_a_table(m, msg)) {
            return true;
        }
        break;
    default:
        return hpx_symbols_message(m->symbols, msg) || message_of_a_table(m, msg);
    }
    free(msg);
    return true;
}

/* ---- events ---- */

void hpx_model_events(struct hpx_model *m, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    const struct hpx_ev_head *end = ev + n / HPX_EV_UNIT;
    while (ev < end && hpx_model_table_whole(ev, end)) {
        uint32_t number = ev->kind < HPX_TABLES_KINDS ? m->table_of[ev->kind] : 0;
        if (number) { /* PAD, and what other sinks read, have none */
            ev = m->tables[number - 1].table->apply(m->tables[number - 1].self, t, ev, end);
        } else {
            ev += ev->units;
        }
    }
}

bool hpx_model_pass_end(struct hpx_model *m)
{
    for (uint32_t i = 0; i < m->ntables; i++) {
        if (m->tables[i].table->pass_end) {
            m->tables[i].table->pass_end(m->tables[i].self);
        }
    }
    return hpx_symbols_pass_end(m->symbols);
}

/* ---- snapshots ---- */

void hpx_model_keep_journal(struct hpx_model *m)
{
    m->journal = true;
}

bool hpx_model_journal(const struct hpx_model *m)
{
    return m->journal;
}

uint64_t hpx_model_journal_lost(const struct hpx_model *m)
{
    return hpx_counter_get(&m->counters, HPX_C_JOURNAL_LACKS);
}

bool hpx_model_reach_past(const struct hpx_model *m, struct hpx_vec *past, uint32_t len, enum hpx_take take)
{
    bool reached = m->journal && (len == 0 || hpx_vec_reach(past, len - 1));
    return take < HPX_TAKE_NEW || reached;
}

/* Writes all traces to `to` and returns their number; to is NULL: only returns it. UINT32_MAX: no memory. */
static uint32_t all_traces(struct hpx_model *m, struct hpx_row *to)
{
    uint32_t n = hpx_symbols_raws(m->symbols), symbolized;
    for (uint32_t i = 0; to && i < n; i++) {
        if (!hpx_symbols_print(m->symbols, i, &symbolized)) {
            return UINT32_MAX;
        }
        to[i] = (struct hpx_row){hpx_symbols_rec(m->symbols, symbolized), 0};
    }
    for (uint32_t i = 0; i < m->ntables; i++) {
        const struct hpx_model_table *t = m->tables[i].table;
        uint32_t more = t->traces ? t->traces(m->tables[i].self, to ? to + n : NULL) : 0;
        if (more == UINT32_MAX) {
            return more;
        }
        n += more;
    }
    return n;
}

struct hpx_snapshot *hpx_model_traces(struct hpx_model *m)
{
    struct hpx_snapshot *s = malloc(sizeof(*s) + all_traces(m, NULL) * sizeof(s->rows[0]));
    if (!s) {
        return NULL;
    }
    *s = (struct hpx_snapshot){.rows = (struct hpx_row *)(void *)(s + 1)};
    s->nrows = all_traces(m, s->rows);
    if (s->nrows == UINT32_MAX) {
        hpx_snapshot_destroy(s);
        return NULL;
    }
    return s;
}

/* ---- figures ---- */

struct hpx_counters *hpx_model_counters(struct hpx_model *m)
{
    return &m->counters;
}

size_t hpx_model_bytes(const struct hpx_model *m)
{
    size_t bytes = sizeof(*m) + hpx_symbols_bytes(m->symbols) + hpx_threads_bytes(&m->threads);
    for (uint32_t i = 0; i < m->ntables; i++) {
        bytes += m->tables[i].table->bytes(m->tables[i].self);
    }
    return bytes;
}
