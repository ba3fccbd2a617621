/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.c: keeping of a file what a person wants to see. */
#include "profile.h"
#include "certainty.h"
#include "err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STATES_KEPT 64

struct hpx_profile_table *hpx_profile_table(struct hpx_profile *p, int tag)
{
    return &p->tables[tag == HPX_TAG_SITES ? 0 : tag == HPX_TAG_SAMPLES ? 1 : tag - HPX_TAG_TIMES + 2];
}

/* The tables of hpx_profile_table(), by their places. */
static int tag_at(size_t i)
{
    return i == 0 ? HPX_TAG_SITES : i == 1 ? HPX_TAG_SAMPLES : HPX_TAG_TIMES + (int)i - 2;
}

int hpx_profile_init(struct hpx_profile *p)
{
    memset(p, 0, sizeof(*p));
    hpx_seeded_map_init(&p->class_of, true);
    hpx_seeded_map_init(&p->site_of, true);
    hpx_methods_init(&p->methods);
    for (size_t i = 0; i < HPX_ARRAY_LEN(p->tables); i++) {
        hpx_sums_init(&p->tables[i].sums, tag_at(i));
    }
    return hpx_definitions_init(&p->defined);
}

void hpx_profile_fini(struct hpx_profile *p)
{
    struct hpx_list *lists[] = {&p->classes, &p->sites, &p->states};
    hpx_seeded_map_fini(&p->class_of);
    hpx_seeded_map_fini(&p->site_of);
    hpx_methods_fini(&p->methods);
    for (size_t i = 0; i < HPX_ARRAY_LEN(p->tables); i++) {
        hpx_sums_fini(&p->tables[i].sums);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(lists); i++) {
        free(lists[i]->items);
    }
    hpx_definitions_fini(&p->defined);
}

static void row(struct hpx_profile *p, const struct hpx_rd_row *of, struct hpx_profile_table *t)
{
    struct hpx_sum *to = hpx_sums_row(&t->sums, of);
    if (to == NULL) {
        p->defined.no_memory = true;
        return;
    }
    switch (t->sums.tag) {
    case HPX_TAG_SAMPLES:
    case HPX_TAG_TIMES:
        break;
    case HPX_TAG_OLD:
        to->name = hpx_defined_keep(&p->defined, of->name);
        to->other = hpx_defined_keep(&p->defined, of->caller);
        break;
    case HPX_TAG_WALL:
        to->state = hpx_defined_keep(&p->defined, of->state);
        break;
    default:
        to->name = p->header.text ? hpx_defined_keep(&p->defined, of->name) : hpx_defined_class(&p->defined, of->class_serial);
        to->other = of->owner;
        break;
    }
}

static void table_event(struct hpx_profile *p, const struct hpx_rd_event *ev)
{
    struct hpx_profile_table *t = ev->kind == HPX_RD_SUMMARY ? &p->summary
                                  : ev->kind == HPX_RD_TABLE ? hpx_profile_table(p, ev->table.tag)
                                                             : hpx_profile_table(p, p->open);
    if (ev->kind == HPX_RD_ROW) {
        row(p, &ev->row, t);
        return;
    }
    if (ev->kind == HPX_RD_TABLE) {
        hpx_sums_begin(&t->sums, &ev->table, p->said.since);
        p->defined.no_memory |= t->sums.no_memory;
        p->open = ev->table.tag;
        p->fresh = p->reported ? 0 : p->fresh;
        p->fresh |= 1u << (t - p->tables);
        p->reported = false;
        p->last = p->open == HPX_TAG_SAMPLES ? ev->table.total : p->last;
    }
    if (!ev->table.more) {
        t->seen++;
        t->table = ev->table;
        t->table.date = (struct hpx_rd_text){NULL, 0};
    }
}

/* Its tables are those since the report before. */
static void report(struct hpx_profile *p)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(p->tables) && p->said.kept; i++) {
        if ((p->fresh >> i & 1) != 0) {
            hpx_sums_kept(&p->tables[i].sums);
        }
    }
    p->reported |= p->said.reported;
    p->said.kept = p->said.reported = false;
}

/* ---- after the last table ---- */

/* Samples that weigh differently count for fewer: the square of their sum by the sum of their squares (certainty.h), of which the report of
 * each table says the quotient. Before the report of the next. */
static void weigh(struct hpx_profile *p)
{
    double total = (double)p->last;
    p->weight += total;
    p->squares += p->said.effective > 0 ? total * total / (double)p->said.effective : total;
    p->interval_ns = p->said.interval_ns > 0 ? p->said.interval_ns : p->interval_ns;
    p->last = 0;
}

/* In a file that was made to repeat a deep trace again and again, rows count for their innermost method alone. */
static void by_method(struct hpx_profile *p, const struct hpx_sum *of, uint64_t *walked)
{
    const struct hpx_defined_trace *trace = hpx_defined_trace(&p->defined, of->trace);
    bool again = *walked + trace->frames > p->defined.frames_of_traces.len;
    *walked += again ? 0 : trace->frames;
    hpx_methods_row(&p->methods);
    for (uint32_t i = 0; i < (again && trace->frames > 0 ? 1 : trace->frames); i++) {
        hpx_methods_add(&p->methods, hpx_defined_method(&p->defined, hpx_defined_frame(&p->defined, trace, i)), of->values[HPX_SUM_COUNT],
                        i == 0);
    }
    if (trace->top == 0) {
        hpx_methods_add(&p->methods, hpx_defined_empty(&p->defined), of->values[HPX_SUM_COUNT], true);
    }
}

static uint64_t whole_ms(uint64_t ns)
{
    return ns / 1000000 + (ns % 1000000 >= 500000);
}

static uint32_t share_of(const struct hpx_sums *s, const struct hpx_sum *of)
{
    uint64_t total = hpx_sums_total(s);
    double share = total > 0 ? (double)hpx_sum_main(s, of) * 10000 / (double)total + 0.5 : 0;
    return share < 1e9 ? (uint32_t)share : 1000000000;
}

static void name_row(struct hpx_profile *p, int tag, const struct hpx_sum *of, struct hpx_profile_row *w)
{
    const struct hpx_defined_trace *trace = hpx_defined_trace(&p->defined, of->trace);
    if (tag == HPX_TAG_OLD) {
        w->name = of->name;
        w->caller = of->other;
    } else if (tag == HPX_TAG_SAMPLES || tag == HPX_TAG_TIMES || tag == HPX_TAG_WALL) {
        w->name = hpx_defined_method(&p->defined, trace->top);
        w->caller = hpx_defined_method(&p->defined, trace->caller);
        w->name = w->name == 0 ? hpx_defined_empty(&p->defined) : w->name;
        w->state = of->state;
    } else {
        w->name = of->name;
        w->caller = hpx_defined_method(&p->defined, trace->top);
        w->owner = of->other != 0 ? hpx_defined_method(&p->defined, hpx_defined_trace(&p->defined, of->other)->top) : 0;
    }
}

static void keep_row(struct hpx_profile *p, struct hpx_profile_table *t, const struct hpx_sum *of, struct hpx_profile_row *w)
{
    const struct hpx_sums *s = &t->sums;
    bool ms = s->tag == HPX_TAG_WALL, shares = p->header.text && s->tag != HPX_TAG_OLD;
    *w = (struct hpx_profile_row){.row = {.trace = of->trace,
                                          .self = !shares                    ? HPX_NO_SHARE
                                                  : of->self != HPX_NO_SHARE ? of->self
                                                                             : share_of(s, of)}};
    if (s->tag == HPX_TAG_SITES) {
        w->row.objects = of->values[HPX_SUM_OBJECTS];
        w->row.bytes = of->values[HPX_SUM_BYTES];
        w->row.live_objects = of->values[HPX_SUM_LIVE_OBJECTS];
        w->row.live_bytes = of->values[HPX_SUM_LIVE_BYTES];
    } else {
        w->row.count = ms ? whole_ms(of->values[HPX_SUM_NS]) : of->values[HPX_SUM_COUNT];
        w->row.bytes = s->tag == HPX_TAG_OLD ? whole_ms(of->values[HPX_SUM_NS]) : 0;
        w->row.owner = s->tag == HPX_TAG_MONITOR_OWNERS ? of->other : 0;
    }
    name_row(p, s->tag, of, w);
}

/* Rows that were added up are in no order, nor are the states of a binary WALL CLOCK. cpu=old ranks calls. */
static uint64_t rank_of(const struct hpx_sums *s, const struct hpx_sum *row)
{
    return s->tag == HPX_TAG_OLD ? row->values[HPX_SUM_COUNT] : hpx_sum_main(s, row);
}

static void finish_table(struct hpx_profile *p, struct hpx_profile_table *t)
{
    const struct hpx_sum *top[HPX_PROFILE_TOP], *row = t->sums.rows.items;
    hpx_sums_end(&t->sums, p->said.since);
    p->defined.no_memory |= t->sums.no_memory;
    bool ordered = t->seen < 2 && (p->header.text || t->sums.tag != HPX_TAG_WALL);
    size_t n = 0;
    t->rows = t->sums.rows.len;
    t->table.total = t->sums.tag == HPX_TAG_SAMPLES || t->sums.tag == HPX_TAG_SITES ? t->sums.total : whole_ms(t->sums.ns);
    for (size_t i = 0; i < t->rows && (n < HPX_PROFILE_TOP || !ordered); i++, row++) {
        size_t at = n;
        while (!ordered && at > 0 && rank_of(&t->sums, top[at - 1]) < rank_of(&t->sums, row)) {
            at--;
        }
        if (at < HPX_PROFILE_TOP) {
            n += n < HPX_PROFILE_TOP;
            for (size_t k = n - 1; k > at; k--) {
                top[k] = top[k - 1];
            }
            top[at] = row;
        }
    }
    for (size_t i = 0; i < n; i++) {
        keep_row(p, t, top[i], &t->top[i]);
    }
}

void hpx_profile_finish(struct hpx_profile *p)
{
    struct hpx_profile_table *samples = hpx_profile_table(p, HPX_TAG_SAMPLES);
    uint64_t walked = 0;
    for (size_t i = 0; i < HPX_ARRAY_LEN(p->tables); i++) {
        finish_table(p, &p->tables[i]);
    }
    weigh(p);
    double effective = p->squares > 0 && samples->sums.added == samples->seen ? p->weight * p->weight / p->squares + 0.5 : 0;
    p->effective = effective < 1.8e19 ? (uint64_t)effective : UINT64_MAX; /* 0: each counts; a file may say any number of samples */
    const struct hpx_sum *row = samples->sums.rows.items;
    for (size_t i = 0; p->defined.whole && i < samples->sums.rows.len; i++, row++) {
        by_method(p, row, &walked);
    }
}

void hpx_profile_again(struct hpx_profile *p)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(p->tables); i++) {
        p->tables[i].seen = p->tables[i].rows = 0;
        hpx_sums_clear(&p->tables[i].sums);
    }
    p->weight = p->squares = 0;
    p->last = p->effective = p->said.first_ms = 0;
    hpx_methods_clear(&p->methods);
}

/* ---- heap dumps, monitors ---- */

static void site(struct hpx_profile *p, const struct hpx_rd_object *o)
{
    struct hpx_profile_site *s = p->sites.items;
    /* neighbours are alike; most dumps have one trace */
    if (p->near_site >= p->sites.len || s[p->near_site].trace != o->trace) {
        s = hpx_list_entry(&p->site_of, &p->sites, sizeof(*s), o->trace);
        if (s == NULL) {
            return;
        }
        s->trace = o->trace;
        p->near_site = (size_t)(s - (struct hpx_profile_site *)p->sites.items);
    } else {
        s += p->near_site;
    }
    s->count++;
    s->bytes += o->bytes;
}

static void heap_event(struct hpx_profile *p, const struct hpx_rd_event *ev)
{
    const struct hpx_rd_object *o = &ev->object;
    int sub = ev->kind == HPX_RD_ROOT       ? ev->root.sub
              : ev->kind == HPX_RD_CLASS    ? HPX_SUB_CLASS
              : ev->kind == HPX_RD_INSTANCE ? HPX_SUB_INSTANCE
              : ev->kind == HPX_RD_OBJECTS  ? HPX_SUB_OBJECTS
                                            : HPX_SUB_PRIMITIVES;
    p->sub_counts[sub]++;
    if (ev->kind == HPX_RD_ROOT || ev->kind == HPX_RD_CLASS) {
        return;
    }
    p->sub_bytes[sub] += o->bytes;
    site(p, o);
    /* text ids are those of the mirrors, so the key is the class there too; the types of arrays are no ids of either */
    uint64_t key = ev->kind == HPX_RD_PRIMITIVES ? UINT64_MAX - o->type : o->class_id;
    struct hpx_profile_class *k = hpx_list_entry(&p->class_of, &p->classes, sizeof(*k), key);
    if (k == NULL) {
        return;
    }
    if (k->count == 0 && ev->kind == HPX_RD_PRIMITIVES) {
        char text[16];
        int n = snprintf(text, sizeof(text), "%s[]", hpx_type_name((int)o->type));
        k->name = hpx_defined_keep(&p->defined, (struct hpx_rd_text){text, n > 0 ? (size_t)n : 0});
    } else if (k->count == 0) {
        k->name = p->header.text ? hpx_defined_keep(&p->defined, o->name) : hpx_defined_object(&p->defined, o->class_id);
    }
    k->key = key;
    k->count++;
    k->bytes += o->bytes;
}

static void begin_heap(struct hpx_profile *p)
{
    if (p->heap_open) {
        return;
    }
    p->heap_open = true;
    p->heap_dumps++;
    p->classes.len = 0;
    p->sites.len = 0;
    hpx_seeded_map_clear(&p->class_of);
    hpx_seeded_map_clear(&p->site_of);
    memset(p->sub_counts, 0, sizeof(p->sub_counts));
    memset(p->sub_bytes, 0, sizeof(p->sub_bytes));
}

/* A few states and, in most programs, a few classes of monitors that are held. */
static void monitor_event(struct hpx_profile *p, const struct hpx_rd_event *ev)
{
    struct hpx_profile_state *states = p->states.items;
    if (ev->kind == HPX_RD_MONITOR_USER) {
        if (p->monitor < p->states.len && !ev->monitor.owner) {
            states[p->monitor].waiting++;
        }
        return;
    }
    bool monitor = ev->kind == HPX_RD_MONITOR, unowned = monitor && ev->monitor.unowned;
    uint32_t name = hpx_defined_keep(&p->defined, ev->monitor.name);
    size_t i = 0;
    while (i < p->states.len && i < STATES_KEPT &&
           (states[i].name != name || states[i].monitor != monitor || states[i].unowned != unowned)) {
        i++;
    }
    struct hpx_profile_state *s = i < p->states.len ? &states[i] : hpx_list_push(&p->states, sizeof(*s));
    if (s != NULL) { /* the one behind the last that is kept counts all others */
        s->name = i < STATES_KEPT ? name : 0;
        s->monitor = monitor;
        s->unowned = unowned;
        s->count++;
        p->monitor = i;
    }
}

static void record(struct hpx_profile *p, const struct hpx_rd_event *ev)
{
    p->counts[ev->record.tag]++;
    p->bytes[ev->record.tag] += ev->record.length + (p->header.text ? 0 : 9);
    p->us = ev->record.us;
    if (ev->record.tag == HPX_TAG_MONITOR_DUMP) {
        p->states.len = 0;
    }
}

static void header(struct hpx_profile *p, const struct hpx_rd_event *ev)
{
    size_t n = ev->header.date.n < sizeof(p->date) ? ev->header.date.n : sizeof(p->date) - 1;
    p->header = ev->header;
    p->header.date = (struct hpx_rd_text){NULL, 0};
    if (n > 0) {
        memcpy(p->date, ev->header.date.p, n);
    }
}

int hpx_profile_event(void *ctx, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    struct hpx_profile *p = ctx;
    (void)r;
    if (ev->kind == HPX_RD_TABLE && ev->table.tag == HPX_TAG_SAMPLES && hpx_profile_table(p, HPX_TAG_SAMPLES)->seen > 0) {
        weigh(p);
    }
    hpx_definitions_event(&p->defined, ev);
    hpx_said_event(&p->said, ev);
    if (ev->kind == HPX_RD_REPORT || ev->kind == HPX_RD_STRING) {
        report(p);
    }
    switch (ev->kind) {
    case HPX_RD_HEADER:
        header(p, ev);
        break;
    case HPX_RD_RECORD:
        record(p, ev);
        break;
    case HPX_RD_CONTROL:
        p->has_control = true;
        p->flags = ev->control.flags;
        p->depth = ev->control.depth;
        break;
    case HPX_RD_TABLE:
    case HPX_RD_ROW:
    case HPX_RD_SUMMARY:
        table_event(p, ev);
        break;
    case HPX_RD_EXACT:
        if (p->open != 0) { /* else it has no table */
            hpx_sums_exact(&hpx_profile_table(p, p->open)->sums, &ev->exact);
        }
        break;
    case HPX_RD_HEAP:
        begin_heap(p);
        break;
    case HPX_RD_HEAP_END:
        p->heap_open = !ev->heap.ended;
        break;
    case HPX_RD_ROOT:
    case HPX_RD_CLASS:
    case HPX_RD_INSTANCE:
    case HPX_RD_OBJECTS:
    case HPX_RD_PRIMITIVES:
        heap_event(p, ev);
        break;
    case HPX_RD_MONITOR_THREAD:
    case HPX_RD_MONITOR:
    case HPX_RD_MONITOR_USER:
        monitor_event(p, ev);
        break;
    default:
        break;
    }
    return HPX_RD_SOUND;
}

static int by_bytes(const void *a, const void *b)
{
    const struct hpx_profile_class *x = a;
    const struct hpx_profile_class *y = b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return (x->key > y->key) - (x->key < y->key);
}

static int sites_by_bytes(const void *a, const void *b)
{
    const struct hpx_profile_site *x = a;
    const struct hpx_profile_site *y = b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return (x->trace > y->trace) - (x->trace < y->trace);
}

void hpx_profile_sort(struct hpx_profile *p)
{
    if (p->classes.len > 1) {
        qsort(p->classes.items, p->classes.len, sizeof(struct hpx_profile_class), by_bytes);
    }
    if (p->sites.len > 1) {
        qsort(p->sites.items, p->sites.len, sizeof(struct hpx_profile_site), sites_by_bytes);
    }
    hpx_methods_sort(&p->methods);
    struct hpx_profile_site *s = p->sites.items;
    for (size_t i = 0; i < p->sites.len; i++, s++) {
        const struct hpx_defined_trace *trace = hpx_defined_trace(&p->defined, s->trace);
        s->name = hpx_defined_method(&p->defined, trace->top);
        s->caller = hpx_defined_method(&p->defined, trace->caller);
        s->name = s->name == 0 ? hpx_defined_empty(&p->defined) : s->name;
    }
}

void hpx_profile_period(const struct hpx_profile *p, char to[static HPX_PROFILE_PERIOD])
{
    char from[24] = "", until[24] = "", dumps[40] = "";
    time_t first = (time_t)(p->said.first_ms / 1000), last = (time_t)(p->said.to_ms / 1000);
    struct tm a, b;
    size_t added = 0;
    for (size_t i = 1; i < HPX_ARRAY_LEN(p->tables); i++) { /* without SITES */
        added = p->tables[i].sums.added > added ? p->tables[i].sums.added : added;
    }
    if (added > 1) {
        snprintf(dumps, sizeof dumps, "%zu dumps added up", added);
    }
    if (p->said.to_ms > 0 && last < 253402300800 && gmtime_r(&first, &a) != NULL && gmtime_r(&last, &b) != NULL) {
        bool same = a.tm_year == b.tm_year && a.tm_yday == b.tm_yday;
        strftime(from, sizeof from, "%Y-%m-%d %H:%M:%S", &a);
        strftime(until, sizeof until, same ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &b);
        snprintf(to, HPX_PROFILE_PERIOD, "%s to %s UTC%s%s", from, until, added > 1 ? ", " : "", dumps);
    } else {
        snprintf(to, HPX_PROFILE_PERIOD, "%s", dumps);
    }
}

uint64_t hpx_profile_effective(struct hpx_profile *p)
{
    return p->effective > 0 ? p->effective : hpx_profile_table(p, HPX_TAG_SAMPLES)->table.total;
}

uint32_t hpx_profile_close(struct hpx_profile *p)
{
    const struct hpx_profile_table *t = hpx_profile_table(p, HPX_TAG_SAMPLES);
    uint64_t counts[HPX_PROFILE_TOP];
    for (size_t i = 0; i < HPX_PROFILE_TOP; i++) {
        counts[i] = t->top[i].row.count;
    }
    return hpx_certainty_close(counts, t->rows < HPX_PROFILE_TOP ? t->rows : HPX_PROFILE_TOP, t->table.total, hpx_profile_effective(p));
}
