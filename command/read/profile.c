/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.c: keeping of a file what a person wants to see. */
#include "profile.h"
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
    for (size_t i = 0; i < HPX_ARRAY_LEN(p->tables); i++) {
        hpx_sums_init(&p->tables[i].sums, tag_at(i));
    }
    return hpx_definitions_init(&p->defined);
}

void hpx_profile_fini(struct hpx_profile *p)
{
    free(p->states.items);
    for (size_t i = 0; i < HPX_ARRAY_LEN(p->tables); i++) {
        hpx_sums_fini(&p->tables[i].sums);
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
    case HPX_TAG_CALLS:
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

static uint64_t whole_ms(uint64_t ns)
{
    return ns / 1000000 + (ns % 1000000 >= 500000);
}

void hpx_profile_finish(struct hpx_profile *p)
{
    const struct hpx_profile_table *samples = hpx_profile_table(p, HPX_TAG_SAMPLES);
    for (struct hpx_profile_table *t = p->tables; t < p->tables + HPX_ARRAY_LEN(p->tables); t++) {
        hpx_sums_end(&t->sums, p->said.since);
        p->defined.no_memory |= t->sums.no_memory;
        t->rows = t->sums.rows.len;
        t->table.total = hpx_tag_counts(t->sums.tag) || t->sums.tag == HPX_TAG_SITES ? t->sums.total : whole_ms(t->sums.ns);
    }
    weigh(p);
    double effective = p->squares > 0 && samples->sums.added == samples->seen ? p->weight * p->weight / p->squares + 0.5 : 0;
    p->effective = effective < 1.8e19 ? (uint64_t)effective : UINT64_MAX; /* 0: each counts; a file may say any number of samples */
}

void hpx_profile_again(struct hpx_profile *p)
{
    for (size_t i = 0; i < HPX_ARRAY_LEN(p->tables); i++) {
        p->tables[i].seen = p->tables[i].rows = 0;
        hpx_sums_clear(&p->tables[i].sums);
    }
    p->weight = p->squares = 0;
    p->last = p->effective = p->said.first_ms = 0;
}

/* ---- heap dumps, monitors ---- */

static void heap_event(struct hpx_profile *p, const struct hpx_rd_event *ev)
{
    int sub = ev->kind == HPX_RD_ROOT       ? ev->root.sub
              : ev->kind == HPX_RD_CLASS    ? HPX_SUB_CLASS
              : ev->kind == HPX_RD_INSTANCE ? HPX_SUB_INSTANCE
              : ev->kind == HPX_RD_OBJECTS  ? HPX_SUB_OBJECTS
                                            : HPX_SUB_PRIMITIVES;
    p->sub_counts[sub]++;
    p->sub_bytes[sub] += ev->kind == HPX_RD_ROOT || ev->kind == HPX_RD_CLASS ? 0 : ev->object.bytes;
}

static void begin_heap(struct hpx_profile *p)
{
    if (p->heap_open) {
        return;
    }
    p->heap_open = true;
    p->heap_dumps++;
    memset(p->sub_counts, 0, sizeof(p->sub_counts));
    memset(p->sub_bytes, 0, sizeof(p->sub_bytes));
}

/* A few states and, in most programs, a few classes of monitors that are held. */
static void monitor_event(struct hpx_profile *p, const struct hpx_rd_event *ev)
{
    struct hpx_profile_state *states = p->states.items;
    if (ev->kind == HPX_RD_MONITOR_USER) {
        if (p->monitor < p->states.len) {
            states[p->monitor].waiting++;
        }
        return;
    }
    bool monitor = ev->kind == HPX_RD_MONITOR, unowned = monitor && ev->monitor.unowned, is_virtual = ev->kind == HPX_RD_MONITOR_VIRTUAL;
    uint32_t name = hpx_defined_keep(&p->defined, ev->monitor.name);
    size_t i = 0;
    while (i < p->states.len && i < STATES_KEPT &&
           (states[i].name != name || states[i].monitor != monitor || states[i].unowned != unowned || states[i].is_virtual != is_virtual)) {
        i++;
    }
    struct hpx_profile_state *s = i < p->states.len ? &states[i] : hpx_list_push(&p->states, sizeof(*s));
    if (s != NULL) { /* the one behind the last that is kept counts all others */
        s->name = i < STATES_KEPT ? name : 0;
        s->monitor = monitor;
        s->unowned = unowned;
        s->is_virtual = is_virtual;
        s->count += is_virtual ? ev->monitor.count : 1;
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
    case HPX_RD_MONITOR_VIRTUAL:
    case HPX_RD_MONITOR:
    case HPX_RD_MONITOR_USER:
        monitor_event(p, ev);
        break;
    default:
        break;
    }
    return p->defined.no_memory ? hpx_reader_no_memory(r) : HPX_RD_SOUND;
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
