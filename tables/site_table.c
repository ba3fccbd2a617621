/* SPDX-License-Identifier: BSD-2-Clause */
/* site_table.c: classes, events and snapshots of allocation sites. Contract: site_table.h. */
#include "site_table_internal.h"
#include "timeline_table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct hpx_msg_sites *hpx_msg_sites_new(uint32_t n, uint32_t text_len)
{
    struct hpx_msg_sites *m;
    uint64_t text_at = sizeof(*m) + (uint64_t)n * sizeof(m->of[0]), size = text_at + text_len;
    m = size <= UINT32_MAX ? hpx_msg_new(HPX_MSG_SITES, (size_t)size) : NULL;
    if (m) {
        m->n = n;
        m->text_len = text_len;
        m->text = (char *)m + text_at;
    }
    return m;
}

struct hpx_msg_site_size *hpx_msg_site_size_new(const char *name, uint64_t bytes)
{
    size_t len = strlen(name);
    struct hpx_msg_site_size *m = hpx_msg_new(HPX_MSG_SITE_SIZE, sizeof(*m) + len + 1);
    if (m) {
        m->bytes = bytes;
        m->len = (uint32_t)len;
        memcpy(m->name, name, len + 1);
    }
    return m;
}

struct hpx_msg_site_class *hpx_msg_site_class_new(uint32_t len)
{
    struct hpx_msg_site_class *m = hpx_msg_new(HPX_MSG_SITE_CLASS, sizeof(*m) + (size_t)len + 1);
    if (m) {
        m->len = len;
    }
    return m;
}

/* ---- classes ---- */

/* Element type as in PRIMITIVE ARRAY DUMP; 2: references, 0: no array. */
static uint8_t array_type(const char *signature)
{
    static const char letters[] = "ZCFDBSIJ";
    const char *at = signature[0] == '[' && signature[1] ? strchr(letters, signature[1]) : NULL;
    return signature[0] != '[' ? 0 : at ? (uint8_t)(4 + (at - letters)) : 2;
}

/* false without memory. */
static bool add_unknown_class(struct hpx_sites *s)
{
    struct hpx_site_class *c = hpx_vec_reach(&s->classes, 0);
    if (!c) {
        return false;
    }
    c->name = hpx_symbols_string(s->symbols, HPX_SYMBOLS_UNKNOWN);
    c->serial = hpx_symbols_unknown_class(s->symbols);
    return c->name != 0;
}

const struct hpx_site_class *hpx_sites_class_of(const struct hpx_sites *s, struct hpx_class_number number)
{
    const struct hpx_site_class *c = hpx_vec_find(&s->classes, number.v);
    return c && c->name ? c : hpx_vec_at(&s->classes, 0);
}

static void add_class(struct hpx_sites *s, const struct hpx_msg_site_class *msg)
{
    struct hpx_site_class *c = hpx_vec_reach(&s->classes, msg->number.v);
    uint32_t name = c ? hpx_symbols_class_name(s->symbols, (struct hpx_text){msg->signature, msg->len}) : 0;
    /* Places know classes by name only, and text prints classes of one name alike: such classes share a row. */
    const uint64_t key[2] = {name, s->o.counts || !hpx_symbols_announces(s->symbols) ? 0 : msg->method};
    struct hpx_hash128 h = hpx_hash128(key, sizeof(key));
    if (!name) {
        hpx_count(hpx_model_counters(s->m), HPX_C_CLASSES_UNNAMED, 1);
        return;
    }
    uint32_t first = hpx_intern_find(&s->class_index, h);
    if (first != HPX_INTERN_NONE) {
        *c = *hpx_sites_class_at(s, (struct hpx_class_number){first});
        return;
    }
    (void)hpx_intern_insert(&s->class_index, h, msg->number.v);
    *c = (struct hpx_site_class){name, hpx_symbols_listed_class(s->symbols, msg->method, msg->number), msg->number,
                                 array_type(msg->signature), 0};
}

struct hpx_class_number hpx_sites_class(struct hpx_sites *s, const char *signature, uint32_t len)
{
    uint32_t name = hpx_symbols_class_name(s->symbols, (struct hpx_text){signature, len});
    const uint64_t key[2] = {name, 0};
    struct hpx_hash128 h = hpx_hash128(key, sizeof(key));
    uint32_t at = name ? hpx_intern_find(&s->class_index, h) : HPX_INTERN_NONE;
    if (!name || at != HPX_INTERN_NONE) {
        return (struct hpx_class_number){name ? at : 0};
    }
    struct hpx_site_class *c = hpx_vec_push(&s->own_classes);
    if (!c) {
        return (struct hpx_class_number){0};
    }
    at = HPX_SITE_OWN_CLASSES + s->own_classes.len - 1;
    (void)hpx_intern_insert(&s->class_index, h, at);
    const struct hpx_class_number own = {at};
    *c = (struct hpx_site_class){name, hpx_symbols_new_serial(s->symbols), own, array_type(signature), 0};
    return own;
}

static bool message(void *self, struct hpx_msg *msg)
{
    switch (msg->kind) {
    case HPX_MSG_SITE_CLASS:
        add_class(self, (const struct hpx_msg_site_class *)(const void *)msg);
        break;
    case HPX_MSG_SITES:
        hpx_site_counts_announce(self, (const struct hpx_msg_sites *)(const void *)msg);
        break;
    case HPX_MSG_SITE_SIZE:
        hpx_site_counts_size(self, (const struct hpx_msg_site_size *)(const void *)msg);
        break;
    default:
        return false;
    }
    free(msg);
    return true;
}

/* ---- events ---- */

/* false without memory. */
static bool define(struct hpx_sites *s, struct hpx_thread *t, struct hpx_site_id *id, const struct hpx_ev_head *ev)
{
    const struct hpx_ev_hash *hash = (const void *)(ev + 1);
    const struct hpx_ev_site *site = (const void *)(hash + 1);
    const struct hpx_ev_frame *frames = (const void *)(site + 1);
    uint32_t raw = hpx_symbols_stack(s->symbols, hash, frames, ev->units - 3u, hpx_symbols_thread(s->symbols, hpx_serial_of(t)));
    if (raw != HPX_INTERN_NONE) {
        id->raw = raw + 1;
        id->klass = site->klass;
        id->size = site->bytes;
    }
    return raw != HPX_INTERN_NONE;
}

static const struct hpx_ev_head *apply(void *self, struct hpx_thread *t, const struct hpx_ev_head *ev, const struct hpx_ev_head *end)
{
    struct hpx_sites *s = self;
    for (; hpx_model_table_has(ev, end, HPX_EV_SITE_DEF, HPX_EV_COUNT_MADE); ev += ev->units) {
        if (ev->kind >= HPX_EV_COUNT) {
            hpx_site_counts_apply(s, ev);
            continue;
        }
        struct hpx_site_id *id = ev->id < HPX_SITE_IDS_MOST ? hpx_vec_reach(&s->ids, ev->id) : NULL;
        if (ev->kind == HPX_EV_SITE_DEF && ev->units >= 3) {
            s->lacks = !id || !define(s, t, id, ev) || s->lacks;
        }
        if (hpx_unlikely(!id)) {
            hpx_count(hpx_model_counters(s->m), HPX_C_LOST_NO_MEMORY, 1);
            continue;
        }
        if (s->o.interval > 0) { /* every allocation of a program would be too many */
            hpx_timeline_add(hpx_timeline_of(s->m), t, HPX_TIME_ALLOC, hpx_serial_of(t), ev->id, 1, 0);
        }
        id->objects++;
        id->bytes += ev->stamp;
        s->objects++;
        s->bytes += ev->stamp;
    }
    return ev;
}

static size_t bytes(const void *self)
{
    const struct hpx_sites *s = self;
    return s->ids.bytes + s->classes.bytes + s->own_classes.bytes + s->sites.bytes + s->counts.places.bytes + s->counts.levels.bytes +
           hpx_intern_bytes(&s->counts.by_place) + hpx_intern_bytes(&s->counts.made) + hpx_intern_bytes(&s->index) +
           hpx_intern_bytes(&s->class_index) + hpx_site_ids_bytes(s->o.ids);
}

static void destroy(void *self)
{
    struct hpx_sites *s = self;
    hpx_vec_fini(&s->ids);
    hpx_vec_fini(&s->classes);
    hpx_vec_fini(&s->own_classes);
    hpx_vec_fini(&s->sites);
    hpx_site_counts_fini(s);
    hpx_intern_fini(&s->index);
    hpx_intern_fini(&s->class_index);
    free(s);
}

static const struct hpx_model_table table = {
    .first = HPX_EV_SITE_DEF, .last = HPX_EV_COUNT_MADE, .apply = apply, .message = message, .bytes = bytes, .destroy = destroy};

static hpx_time_resolve resolve;

struct hpx_sites *hpx_sites_create(struct hpx_model *m, const struct hpx_site_options *o)
{
    struct hpx_sites *s = calloc(1, sizeof(*s));
    if (!s) {
        return NULL;
    }
    s->m = m;
    s->symbols = hpx_model_symbols(m);
    s->o = *o;
    hpx_vec_init(&s->ids, sizeof(struct hpx_site_id));
    hpx_vec_init(&s->classes, sizeof(struct hpx_site_class));
    hpx_vec_init(&s->own_classes, sizeof(struct hpx_site_class));
    hpx_vec_init(&s->sites, sizeof(struct hpx_site_sum));
    if (hpx_intern_init(&s->index, 0) != 0 || hpx_intern_init(&s->class_index, 0) != 0 || !hpx_site_counts_init(s) ||
        !add_unknown_class(s)) {
        destroy(s);
        return NULL;
    }
    hpx_model_add_table(m, &table, s);
    hpx_timeline_source(m, HPX_TIME_ALLOC, resolve, s);
    return s;
}

uint64_t hpx_sites_recorded_objects(const struct hpx_sites *s)
{
    return s->objects;
}

uint64_t hpx_sites_recorded_bytes(const struct hpx_sites *s)
{
    return s->bytes;
}

uint32_t hpx_sites_count(const struct hpx_sites *s)
{
    return s->sites.len;
}

/* ---- snapshot ---- */

uint32_t hpx_sites_sum(struct hpx_sites *s, struct hpx_class_number klass, uint32_t symbolized)
{
    const uint64_t key[2] = {klass.v, symbolized};
    struct hpx_hash128 h = hpx_hash128(key, sizeof(key));
    uint32_t number = hpx_intern_find(&s->index, h);
    if (number != HPX_INTERN_NONE || hpx_intern_reserve(&s->index) != 0) {
        return number;
    }
    struct hpx_site_sum *site = hpx_vec_push(&s->sites);
    if (!site) {
        return HPX_INTERN_NONE;
    }
    hpx_intern_put(&s->index, h, s->sites.len - 1);
    site->klass = klass;
    site->symbolized = symbolized;
    return s->sites.len - 1;
}

/* *number: the site of an id that is defined; with sites=counts HPX_INTERN_NONE where no probe counted it. false without memory. */
static bool site_of(struct hpx_sites *s, struct hpx_site_id *id, uint32_t *number)
{
    const struct hpx_site_class *c = hpx_sites_class_of(s, id->klass);
    const struct hpx_site_sum *known = id->row ? hpx_vec_at(&s->sites, id->row - 1) : NULL;
    uint32_t symbolized;
    if (!hpx_symbols_print(s->symbols, id->raw - 1, &symbolized)) {
        return false;
    }
    if (known && known->symbolized == symbolized) { /* another id may have moved the raw trace */
        *number = id->row - 1;
        return true;
    }
    if (s->o.counts) { /* not cached: the place may be announced after its first object */
        *number = hpx_site_counts_find(s, c, hpx_symbols_rec(s->symbols, symbolized));
        return true;
    }
    *number = hpx_sites_sum(s, c->first, symbolized);
    id->row = *number + 1;
    return *number != HPX_INTERN_NONE;
}

const struct hpx_trace_rec **hpx_sites_traces(struct hpx_sites *s, uint32_t *n)
{
    const struct hpx_trace_rec **to = calloc((size_t)s->ids.len + 1, sizeof(const struct hpx_trace_rec *));
    *n = to && !s->o.counts ? s->ids.len : 0;
    for (uint32_t i = 0; i < *n; i++) {
        const struct hpx_site_id *id = hpx_vec_at(&s->ids, i);
        uint32_t symbolized;
        if (id->raw != 0 && hpx_symbols_print(s->symbols, id->raw - 1, &symbolized)) {
            to[i] = hpx_symbols_rec(s->symbols, symbolized);
        }
    }
    return to;
}

/* Number of objects that a sampled object stands for. */
static double weight(const struct hpx_sites *s, const struct hpx_site_id *id)
{
    return s->o.interval && id->size ? 1 / -expm1(-(double)id->size / (double)s->o.interval) : 1;
}

static bool resolve(void *self, struct hpx_time_place *to)
{
    struct hpx_sites *s = self;
    const struct hpx_site_id *id = hpx_vec_at(&s->ids, to->id);
    uint32_t symbolized;
    if (id->raw != 0 && !hpx_symbols_print(s->symbols, id->raw - 1, &symbolized)) {
        return false;
    }
    to->trace = id->raw != 0 ? hpx_symbols_rec(s->symbols, symbolized) : NULL;
    to->class_name = hpx_symbols_text(s->symbols, hpx_sites_class_of(s, id->klass)->name);
    to->objects = weight(s, id);
    to->bytes = id->size;
    return true;
}

static double above_zero(uint64_t a, uint64_t b)
{
    return a > b ? (double)(a - b) : 0;
}

static double alive(bool counted, uint64_t all, const _Atomic uint64_t *counter)
{
    uint64_t n = atomic_load_explicit(counter, memory_order_relaxed);
    return counted ? (double)(n < all ? n : all) : above_zero(all, n);
}

static bool knows_live(const struct hpx_sites *s)
{
    return s->o.live && (!s->o.looks || hpx_site_ids_looked(s->o.ids));
}

static void add_live(const struct hpx_sites *s, struct hpx_site_sum *site, const struct hpx_site_id *id, uint32_t number, double w)
{
    const struct hpx_site_objects *f = hpx_site_ids_objects_of(s->o.ids, number);
    if (knows_live(s)) { /* a free may arrive, or a look count, while the allocation is still in a ring */
        site->live_objects += alive(s->o.looks, id->objects, &f->objects) * w;
        site->live_bytes += alive(s->o.looks, id->bytes, &f->bytes) * w;
    }
}

/* Of an id that has no definition (yet). */
static void drop_undefined(struct hpx_sites *s, struct hpx_site_id *id)
{
    if (s->lacks) {
        hpx_count(hpx_model_counters(s->m), HPX_C_LOST_NO_MEMORY, id->objects);
        id->objects = id->bytes = 0;
    }
}

/* false without memory. */
static bool add_up(struct hpx_sites *s, uint32_t number)
{
    struct hpx_site_id *id = hpx_vec_at(&s->ids, number);
    uint32_t n = HPX_INTERN_NONE;
    double w = weight(s, id), size = (double)id->size;
    if (id->raw == 0) {
        drop_undefined(s, id);
    }
    if (id->objects > 0 && id->raw != 0 && !site_of(s, id, &n)) {
        return false;
    }
    if (n == HPX_INTERN_NONE && s->o.counts) {
        s->counts.missed_objects += (uint64_t)((double)id->objects * w + 0.5);
        s->counts.missed_bytes += (uint64_t)((double)id->bytes * w + 0.5);
    }
    if (n == HPX_INTERN_NONE) {
        return true;
    }
    struct hpx_site_sum *site = hpx_vec_at(&s->sites, n);
    add_live(s, site, id, number, w);
    if (s->o.counts) {
        return true; /* the probe has counted it */
    }
    site->objects += (double)id->objects * w;
    site->bytes += (double)id->bytes * w;
    /* Samples form a Poisson process that takes an object with probability 1 / w; this is the variance of the scaled count. */
    site->variance += w > 1 ? (double)id->objects * size * size * w * (w - 1) : 0;
    return true;
}

static uint64_t whole(double v)
{
    return (uint64_t)(v + 0.5);
}

static void put_row(struct hpx_sites *s, struct hpx_site_snapshot *to, struct hpx_site_sum *site)
{
    const struct hpx_site_class *c = hpx_sites_class_at(s, site->klass);
    struct hpx_site_row *r = &to->rows[to->nrows++];
    *r = (struct hpx_site_row){.trace = hpx_symbols_rec(s->symbols, site->symbolized),
                               .class_name = hpx_symbols_text(s->symbols, c->name),
                               .klass = c->serial,
                               .array = c->array,
                               .live_bytes = whole(site->live_bytes),
                               .live_objects = whole(site->live_objects),
                               .bytes = whole(site->bytes),
                               .objects = whole(site->objects),
                               .variance = site->variance};
    if (s->o.counts && r->live_objects > r->objects) { /* live figures are estimates, and may exceed exact counts */
        r->live_objects = r->objects;
    }
    if (s->o.counts && r->live_bytes > r->bytes) {
        r->live_bytes = r->bytes;
    }
    r->changed = r->objects != site->listed_objects || r->live_objects != site->listed_live;
    site->shown_objects = r->objects;
    site->shown_live = r->live_objects;
    to->objects += r->objects;
    to->bytes += r->bytes;
    to->live_objects += r->live_objects;
    to->live_bytes += r->live_bytes;
    site->objects = site->bytes = site->live_objects = site->live_bytes = site->variance = 0;
}

void hpx_sites_not_listed(struct hpx_sites *s)
{
    s->listed = false;
}

static void note_listed(struct hpx_sites *s)
{
    for (uint32_t i = 0; s->listed && i < s->sites.len; i++) {
        struct hpx_site_sum *site = hpx_vec_at(&s->sites, i);
        site->listed_objects = site->shown_objects;
        site->listed_live = site->shown_live;
    }
    s->listed = true;
}

struct hpx_site_snapshot *hpx_sites_snapshot(struct hpx_sites *s)
{
    note_listed(s);
    s->counts.missed_objects = s->counts.missed_bytes = s->counts.unsized = 0;
    hpx_site_counts_add_up(s);
    bool whole = true;
    for (uint32_t i = 1; whole && i < s->ids.len; i++) {
        whole = add_up(s, i);
    }
    struct hpx_site_snapshot *to = whole ? malloc(sizeof(*to) + s->sites.len * sizeof(to->rows[0])) : NULL;
    if (to) {
        *to = (struct hpx_site_snapshot){.interval = s->o.interval, .live = knows_live(s), .rows = (struct hpx_site_row *)(void *)(to + 1)};
        to->counts = s->o.counts;
        to->missed_objects = s->counts.missed_objects;
        to->missed_bytes = s->counts.missed_bytes;
        to->unsized = s->counts.unsized;
    }
    for (uint32_t i = 0; i < s->sites.len; i++) {
        struct hpx_site_sum *site = hpx_vec_at(&s->sites, i);
        if (to && site->objects > 0) {
            put_row(s, to, site);
        } else {
            site->objects = site->bytes = site->live_objects = site->live_bytes = site->variance = 0;
        }
    }
    return to;
}

void hpx_sites_clear(struct hpx_sites *s)
{
    for (uint32_t i = 1; i < s->ids.len; i++) {
        struct hpx_site_id *id = hpx_vec_at(&s->ids, i);
        id->objects = id->bytes = 0;
    }
    for (uint32_t i = 0; i < s->sites.len; i++) {
        struct hpx_site_sum *site = hpx_vec_at(&s->sites, i);
        site->listed_objects = site->listed_live = site->shown_objects = site->shown_live = 0;
    }
    hpx_site_counts_clear(s);
}
