/* SPDX-License-Identifier: BSD-2-Clause */
/* model.c: life of the model, threads, events. */
#include "model_internal.h"
#include <stdlib.h>
#include <string.h>

static const char *const unknown_names[] = {
#define HPX_UNKNOWN_NAME(sym, name) name,
    HPX_UNKNOWNS(HPX_UNKNOWN_NAME)
#undef HPX_UNKNOWN_NAME
};

void *hpx_model_scratch(struct hpx_scratch *s, size_t n)
{
    if (s->size < n || !s->at) {
        size_t size = s->size ? s->size : 4096;
        while (size < n) {
            size *= 2;
        }
        void *p = malloc(size);
        if (!p) {
            return NULL;
        }
        free(s->at);
        s->at = p;
        s->size = size;
    }
    return s->at;
}

uint32_t hpx_model_symbolize_pseudo(struct hpx_model *m, const char *name)
{
    static const char class_name[] = "hprofx.unknown";
    uint32_t c = hpx_strings_intern(&m->strings, class_name, sizeof(class_name) - 1);
    uint32_t n = hpx_strings_intern(&m->strings, name, strlen(name));
    return c && n ? hpx_symbolized_method(&m->symbolized, m->cfg.class_event ? HPX_SERIAL_CLASS : 0, c, n, 0, 0) : HPX_INTERN_NONE;
}

/* Made at the start, so that a loss can be shown when memory is short. */
static bool make_pseudos(struct hpx_model *m)
{
    m->symbolized_unnamed = hpx_model_symbolize_pseudo(m, "method");
    m->symbolized_unloaded = hpx_model_symbolize_pseudo(m, "unloaded_class");
    if (m->symbolized_unnamed == HPX_INTERN_NONE || m->symbolized_unloaded == HPX_INTERN_NONE) {
        return false;
    }
    for (uint32_t i = 0; i <= HPX_PSEUDO_METHOD; i++) {
        uint32_t symbolized = i < HPX_UNKNOWN_COUNT ? hpx_model_symbolize_pseudo(m, unknown_names[i]) : m->symbolized_unnamed;
        struct hpx_sampled *s = symbolized != HPX_INTERN_NONE ? hpx_methods_pseudo(&m->methods) : NULL;
        if (!s) {
            return false;
        }
        s->symbolized = symbolized;
    }
    return hpx_methods_pseudo(&m->methods) != NULL; /* HPX_PSEUDO_STALLED */
}

void hpx_model_add_table(struct hpx_model *m, const struct hpx_table *table, void *self)
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

static const struct hpx_table samples_table;

struct hpx_model *hpx_model_create(const struct hpx_model_config *cfg)
{
    struct hpx_model *m = calloc(1, sizeof(*m));
    if (!m) {
        return NULL;
    }
    m->cfg = *cfg;
    m->class_serials = cfg->class_numbers ? HPX_SITE_MOST : 0; /* of classes without a number */
    hpx_model_add_table(m, &samples_table, m);
    hpx_model_sweep_init(m);
    hpx_arena_init(&m->lines);
    hpx_vec_init(&m->past, sizeof(struct hpx_past));
    hpx_vec_init(&m->past_costs, sizeof(struct hpx_past_cost));
    if (hpx_strings_init(&m->strings) != 0 || hpx_methods_init(&m->methods) != 0 || hpx_traces_init(&m->traces) != 0 ||
        hpx_symbolized_init(&m->symbolized, &m->strings) != 0 || hpx_threads_init(&m->threads) != 0 || !make_pseudos(m) ||
        (cfg->class_event && hpx_symbolized_number_frames(&m->symbolized) != 0) || (cfg->calls && !hpx_model_calls_init(m))) {
        hpx_model_destroy(m);
        return NULL;
    }
    return m;
}

void hpx_model_destroy(struct hpx_model *m)
{
    if (!m) {
        return;
    }
    hpx_strings_fini(&m->strings);
    hpx_methods_fini(&m->methods);
    hpx_traces_fini(&m->traces);
    hpx_symbolized_fini(&m->symbolized);
    hpx_threads_fini(&m->threads);
    if (m->cfg.calls) {
        hpx_model_calls_fini(m);
    }
    hpx_arena_fini(&m->lines);
    hpx_vec_fini(&m->past);
    hpx_vec_fini(&m->past_costs);
    free(m->sweep.back);
    free(m->stack.at);
    free(m->name.at);
    free(m);
}

/* ---- threads ---- */

static struct hpx_thread_slots *give_slots(struct hpx_model *m, struct hpx_thread *t, uint32_t serial)
{
    struct hpx_thread_slots *s = t->model;
    if (!s) {
        s = calloc(1, sizeof(*s));
        if (!s) {
            return NULL;
        }
        t->model = s;
        s->off = m->new_off;
        m->slots_bytes += sizeof(*s);
    }
    s->serial = serial;
    return s;
}

static bool announce(struct hpx_model *m, uint32_t serial, const struct hpx_msg_thread_start *begun)
{
    if (!m->cfg.thread_event) {
        return true;
    }
    struct hpx_thread_rec rec = {.serial = serial, .object = HPX_OBJECT_FIRST + (serial - HPX_SERIAL_THREAD - 1)};
    if (begun) {
        const char *at = begun->text, *end = at + begun->text_len;
        rec.name = hpx_model_next_text(&at, end);
        rec.group = hpx_model_next_text(&at, end);
        rec.parent_group = hpx_model_next_text(&at, end);
    }
    return m->cfg.thread_event(m->cfg.ctx, &rec, !begun);
}

static void thread_end(struct hpx_model *m, uint64_t key)
{
    uint32_t serial = hpx_threads_remove(&m->threads, key);
    if (serial) {
        (void)announce(m, serial, NULL);
    }
}

/* Owns msg. */
static void thread_start(struct hpx_model *m, struct hpx_msg_thread_start *msg)
{
    thread_end(m, msg->key); /* one that ended unannounced: without memory, or a native thread that never detached */
    uint32_t serial = hpx_threads_add(&m->threads, msg->key, msg->serial);
    if (!serial) {
        hpx_count(&m->counters, HPX_C_THREADS_UNANNOUNCED, 1);
    } else if (!announce(m, serial, msg)) {
        (void)hpx_threads_remove(&m->threads, msg->key); /* so it has no end, and its traces are the unknown thread's */
        serial = 0;
    }
    for (uint32_t i = 0; serial && i < msg->nthreads; i++) {
        (void)give_slots(m, msg->threads[i], serial); /* tried again at its first event */
    }
    if (serial && m->cfg.thread_event) {
        hpx_threads_keep(&m->threads, msg->key, msg);
    } else {
        free(msg);
    }
}

bool hpx_model_replay(struct hpx_model *m)
{
    const struct hpx_thread_entry **live = hpx_model_scratch(&m->stack, m->threads.all.len * sizeof(struct hpx_thread_entry *));
    uint32_t n = live ? hpx_threads_list(&m->threads, live) : 0;
    bool announced = live != NULL;
    for (uint32_t i = 0; i < n; i++) {
        announced = announce(m, live[i]->serial, live[i]->said) && announced;
    }
    for (uint32_t i = 1; m->cfg.class_event && i < m->methods.classes.len; i++) {
        if (hpx_methods_class(&m->methods, i)->said) {
            announced = hpx_model_announce_class(m, i, false) && announced;
        }
    }
    return announced;
}

void hpx_model_thread_gone(struct hpx_model *m, struct hpx_thread *t)
{
    hpx_counters_add(&m->counters, &t->counters);
    for (uint32_t i = 0; i < m->ntables; i++) {
        if (m->tables[i].table->thread_gone) {
            m->tables[i].table->thread_gone(m->tables[i].self, t);
        }
    }
    if (t->model) {
        m->slots_bytes -= sizeof(struct hpx_thread_slots);
        free(t->model);
        t->model = NULL;
    }
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
    case HPX_MSG_CLASS:
        hpx_model_class(m, (struct hpx_msg_class *)(void *)msg);
        return true;
    case HPX_MSG_METHODS:
        hpx_model_methods(m, (struct hpx_msg_methods *)(void *)msg);
        return true;
    case HPX_MSG_SWEPT:
        hpx_model_swept(m, (struct hpx_msg_sweep *)(void *)msg);
        return true;
    case HPX_MSG_RESOLVED:
        hpx_model_resolved(m, (const struct hpx_msg_resolved *)(const void *)msg);
        break;
    case HPX_MSG_RESOLVE:
        hpx_model_refused(m, (const struct hpx_msg_resolve *)(const void *)msg);
        break;
    case HPX_MSG_THREAD_START:
        thread_start(m, (struct hpx_msg_thread_start *)(void *)msg);
        return true;
    case HPX_MSG_THREAD_END:
        thread_end(m, ((const struct hpx_msg_thread_end *)(const void *)msg)->key);
        break;
    default:
        return message_of_a_table(m, msg);
    }
    free(msg);
    return true;
}

/* ---- events ---- */

bool hpx_model_same_frames(const struct hpx_model *m, const struct hpx_raw *raw, const struct hpx_ev_frame *frames, uint32_t nframes)
{
    bool same = raw->nframes == nframes;
    for (uint32_t i = 0; same && i < nframes; i++) {
        const struct hpx_raw_frame *f = &raw->frames[i];
        uint64_t id = f->method < HPX_UNKNOWN_COUNT ? HPX_EV_METHOD_OF(f->method) : hpx_methods_id(&m->methods, f->method);
        same = id == frames[i].method && f->bci == frames[i].bci;
    }
    return same;
}

/* The hash under which a stack is counted: that of its frames, and what else makes stacks different. */
static struct hpx_hash128 raw_key(const struct hpx_model *m, uint64_t lo, uint64_t hi, uint32_t thread)
{
    if (!thread && !m->methods.generation) {
        return (struct hpx_hash128){lo, hi};
    }
    uint64_t key[4] = {lo, hi, thread, m->methods.generation};
    return hpx_hash128(key, sizeof(key));
}

uint32_t hpx_model_intern_stack(struct hpx_model *m, const struct hpx_ev_hash *hash, const struct hpx_ev_frame *frames, uint32_t nframes,
                                uint32_t thread)
{
    struct hpx_hash128 h = raw_key(m, hash->lo, hash->hi, thread);
    uint32_t raw = hpx_traces_find(&m->traces, h);
    if (raw != HPX_INTERN_NONE) {
        assert(hpx_model_same_frames(m, hpx_traces_at(&m->traces, raw), frames, nframes));
        return raw;
    }
    struct hpx_raw_frame *to = hpx_model_scratch(&m->stack, nframes * sizeof(*to));
    if (!to) {
        return HPX_INTERN_NONE;
    }
    for (uint32_t i = 0; i < nframes; i++) {
        to[i] = (struct hpx_raw_frame){hpx_model_sampled(m, frames[i].method), frames[i].bci};
        if (to[i].method == HPX_INTERN_NONE) {
            return HPX_INTERN_NONE;
        }
    }
    return hpx_traces_add(&m->traces, h, to, nframes, thread);
}

static uint32_t intern_sample(struct hpx_model *m, const struct hpx_ev_head *ev, uint32_t thread)
{
    const struct hpx_ev_hash *hash = (const void *)(ev + 1);
    return hpx_model_intern_stack(m, hash, (const void *)(hash + 1), ev->units - 2u, thread);
}

uint32_t hpx_model_intern_pseudo(struct hpx_model *m, uint32_t sampled, uint32_t thread)
{
    const struct hpx_raw_frame frame = {sampled, -1};
    const uint64_t key[3] = {HPX_EV_SAMPLE_UNKNOWN, sampled, thread}; /* 24 bytes: no stack is hashed over as many */
    struct hpx_hash128 h = hpx_hash128(key, sizeof(key));
    uint32_t raw = hpx_traces_find(&m->traces, h);
    return raw != HPX_INTERN_NONE ? raw : hpx_traces_add(&m->traces, h, &frame, 1, thread);
}

/* The same of a stall. Its class is not hprofx.unknown, whose rows are samples that lack their stack. */
static uint32_t intern_stall(struct hpx_model *m, uint32_t thread)
{
    static const char class_name[] = "hprofx", name[] = "stalled";
    struct hpx_sampled *s = hpx_methods_sampled(&m->methods, HPX_PSEUDO_STALLED);
    if (s->symbolized == HPX_INTERN_NONE) {
        uint32_t c = hpx_strings_intern(&m->strings, class_name, sizeof(class_name) - 1);
        uint32_t n = hpx_strings_intern(&m->strings, name, sizeof(name) - 1);
        uint32_t serial = m->cfg.class_event ? HPX_SERIAL_CLASS + m->class_serials + 1 : 0;
        s->symbolized = c && n ? hpx_symbolized_method(&m->symbolized, serial, c, n, 0, 0) : HPX_INTERN_NONE;
        m->class_serials += serial != 0 && s->symbolized != HPX_INTERN_NONE;
    }
    return s->symbolized != HPX_INTERN_NONE ? hpx_model_intern_pseudo(m, HPX_PSEUDO_STALLED, thread) : HPX_INTERN_NONE;
}

static bool add_weight(struct hpx_model *m, const struct hpx_thread_slots *slots, uint32_t raw, uint64_t weight)
{
    if (hpx_unlikely(raw == HPX_INTERN_NONE)) {
        hpx_count(&m->counters, HPX_C_LOST_NO_MEMORY, weight);
        return false;
    }
    *hpx_traces_count(&m->traces, raw) += weight;
    m->samples += weight;
    if (m->sampled) {
        m->sampled(m->sampled_self, raw, weight, slots ? slots->serial : HPX_SERIAL_THREAD);
    }
    return true;
}

static void add_sample(struct hpx_model *m, const struct hpx_thread_slots *slots, uint32_t raw, uint64_t weight)
{
    if (add_weight(m, slots, raw, weight)) {
        m->drawn.sum += (double)weight;
        m->drawn.squares += (double)weight * (double)weight;
    }
}

static void add_stall(struct hpx_model *m, const struct hpx_thread_slots *slots, uint32_t raw, uint64_t weight)
{
    struct hpx_stalls *s = &m->stalls;
    if (add_weight(m, slots, raw, weight)) {
        s->count++;
        s->intervals += weight;
        s->longest = weight > s->longest ? weight : s->longest;
    }
}

bool hpx_model_sample_thread(struct hpx_model *m, struct hpx_thread *t, uint32_t serial, bool on)
{
    struct hpx_thread_slots *slots = t->model;
    (void)m;
    if (!slots || (serial && slots->serial != serial)) {
        return false;
    }
    slots->off = !on;
    return true;
}

void hpx_model_sample_new_threads(struct hpx_model *m, bool on)
{
    m->new_off = !on;
}

static void apply(struct hpx_model *m, struct hpx_thread_slots *slots, const struct hpx_ev_head *ev)
{
    uint32_t thread = hpx_model_trace_thread(m, slots);
    uint32_t *slot = slots && ev->id < HPX_SLOTS ? &slots->raw[ev->id] : NULL;
    uint32_t raw;
    bool off = slots && slots->off;
    switch (ev->kind) {
    case HPX_EV_SAMPLE:
        if (!off) {
            add_sample(m, slots, slot && *slot ? *slot - 1 : HPX_INTERN_NONE, ev->stamp);
        }
        break;
    case HPX_EV_SAMPLE_DEF:
        raw = ev->units >= 2 ? intern_sample(m, ev, thread) : HPX_INTERN_NONE;
        if (slot) {
            *slot = raw + 1; /* 0, not defined, when there was no memory: the slot's old stack must not be counted instead */
        }
        if (!off) {
            add_sample(m, slots, raw, ev->stamp);
        }
        break;
    case HPX_EV_SAMPLE_UNKNOWN: {
        if (off) {
            break;
        }
        enum hpx_unknown why = ev->id < HPX_UNKNOWN_COUNT ? (enum hpx_unknown)ev->id : HPX_UNKNOWN_OTHER;
        raw = hpx_model_intern_pseudo(m, why, thread);
        add_sample(m, slots, raw, ev->stamp);
        m->unknown[why] += raw != HPX_INTERN_NONE ? ev->stamp : 0;
        break;
    }
    case HPX_EV_SAMPLE_STALLED:
        if (!off) {
            add_stall(m, slots, intern_stall(m, thread), ev->stamp);
        }
        break;
    default: /* PAD, and what other sinks read */
        break;
    }
}

/* Behind a record that is not whole nothing can be read. */
static bool is_whole(const struct hpx_ev_head *ev, const struct hpx_ev_head *end)
{
    bool whole = ev->units > 0 && ev->units <= end - ev;
    assert(whole);
    return whole;
}

static const struct hpx_ev_head *apply_samples(void *self, struct hpx_thread *t, const struct hpx_ev_head *ev,
                                               const struct hpx_ev_head *end)
{
    for (; ev < end && ev->kind <= HPX_EV_SAMPLE_STALLED; ev += ev->units) {
        if (!is_whole(ev, end)) {
            return end;
        }
        apply(self, t->model, ev);
    }
    return ev;
}

static size_t samples_bytes(const void *self)
{
    const struct hpx_model *m = self;
    return m->past.bytes; /* traces are all tables': hpx_model_trace_bytes() */
}

static const struct hpx_table samples_table = {
    .first = HPX_EV_SAMPLE_DEF, .last = HPX_EV_SAMPLE_STALLED, .apply = apply_samples, .bytes = samples_bytes};

void hpx_model_events(struct hpx_model *m, struct hpx_thread *t, const struct hpx_ev_head *ev, size_t n)
{
    const struct hpx_ev_head *end = ev + n / HPX_EV_UNIT;
    if (!t->model) {
        (void)give_slots(m, t, HPX_SERIAL_THREAD);
    }
    while (ev < end && is_whole(ev, end)) {
        uint32_t number = ev->kind < HPX_TABLES_KINDS ? m->table_of[ev->kind] : 0;
        if (number) { /* PAD, and what other sinks read, have none */
            ev = m->tables[number - 1].table->apply(m->tables[number - 1].self, t, ev, end);
        } else {
            ev += ev->units;
        }
    }
}

/* ---- figures ---- */

uint32_t hpx_model_unresolved(const struct hpx_model *m)
{
    return m->unresolved + (m->sweep.wanted || m->sweep.awaited);
}

struct hpx_counters *hpx_model_counters(struct hpx_model *m)
{
    return &m->counters;
}

uint64_t hpx_model_samples(const struct hpx_model *m)
{
    return m->samples;
}

uint64_t hpx_model_unknown(const struct hpx_model *m, enum hpx_unknown why)
{
    return m->unknown[why];
}

const struct hpx_stalls *hpx_model_stalls(const struct hpx_model *m)
{
    return &m->stalls;
}

uint32_t hpx_model_classes(const struct hpx_model *m)
{
    return m->methods.live;
}

size_t hpx_model_trace_bytes(const struct hpx_model *m)
{
    return hpx_strings_bytes(&m->strings) + m->methods.sampled.bytes + hpx_id_map_bytes(&m->methods.ids) + hpx_traces_bytes(&m->traces) +
           hpx_symbolized_bytes(&m->symbolized) + m->lines.bytes;
}

size_t hpx_model_bytes(const struct hpx_model *m)
{
    size_t bytes = sizeof(*m) + hpx_model_trace_bytes(m) + hpx_methods_announced_bytes(&m->methods) + hpx_threads_bytes(&m->threads) +
                   m->stack.size + m->name.size + m->slots_bytes;
    for (uint32_t i = 0; i < m->ntables; i++) {
        bytes += m->tables[i].table->bytes(m->tables[i].self);
    }
    return bytes;
}
