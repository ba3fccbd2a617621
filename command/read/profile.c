/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.c: keeping of a file what a person wants to see. */
#include "profile.h"
#include "certainty.h"
#include "err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATES_KEPT 64

struct hpx_profile_table *hpx_profile_table(struct hpx_profile *p, int tag)
{
    return &p->tables[tag == HPX_TAG_SITES ? 0 : tag == HPX_TAG_SAMPLES ? 1 : tag - HPX_TAG_TIMES + 2];
}

int hpx_profile_init(struct hpx_profile *p)
{
    memset(p, 0, sizeof(*p));
    hpx_seeded_map_init(&p->class_of, true);
    hpx_seeded_map_init(&p->site_of, true);
    hpx_methods_init(&p->methods);
    return hpx_definitions_init(&p->defined);
}

void hpx_profile_fini(struct hpx_profile *p)
{
    struct hpx_list *lists[] = {&p->classes, &p->sites, &p->states};
    hpx_seeded_map_fini(&p->class_of);
    hpx_seeded_map_fini(&p->site_of);
    hpx_methods_fini(&p->methods);
    for (size_t i = 0; i < HPX_ARRAY_LEN(lists); i++) {
        free(lists[i]->items);
    }
    hpx_definitions_fini(&p->defined);
}

/* A table names a trace once; in one that names a deep one again and again, rows count for their innermost method alone. */
static void by_method(struct hpx_profile *p, const struct hpx_rd_row *of)
{
    const struct hpx_defined_trace *trace = hpx_defined_trace(&p->defined, of->trace);
    bool again = p->walked + trace->frames > p->defined.frames_of_traces.len;
    p->walked += again ? 0 : trace->frames;
    hpx_methods_row(&p->methods);
    for (uint32_t i = 0; i < (again && trace->frames > 0 ? 1 : trace->frames); i++) {
        hpx_methods_add(&p->methods, hpx_defined_method(&p->defined, hpx_defined_frame(&p->defined, trace, i)), of->count, i == 0);
    }
    if (trace->top == 0) {
        hpx_methods_add(&p->methods, hpx_defined_empty(&p->defined), of->count, true);
    }
}

/* The place of one more row; NULL: it is not at the top. The states of a binary WALL CLOCK come one after the other. */
static struct hpx_profile_row *place(struct hpx_profile_table *t, const struct hpx_rd_row *of)
{
    size_t n = t->rows < HPX_PROFILE_TOP ? (size_t)t->rows : HPX_PROFILE_TOP, at = n;
    t->rows++;
    while (t->table.tag == HPX_TAG_WALL && of->self == HPX_NO_SHARE && at > 0 && t->top[at - 1].row.count < of->count) {
        at--;
    }
    if (at == HPX_PROFILE_TOP) {
        return NULL;
    }
    memmove(&t->top[at + 1], &t->top[at], (n - at - (n == HPX_PROFILE_TOP)) * sizeof t->top[0]);
    return &t->top[at];
}

static void row(struct hpx_profile *p, const struct hpx_rd_event *ev, struct hpx_profile_table *t)
{
    if (p->defined.whole && t->table.tag == HPX_TAG_SAMPLES) {
        by_method(p, &ev->row);
    }
    struct hpx_profile_row *w = place(t, &ev->row);
    if (w == NULL) {
        return;
    }
    const struct hpx_defined_trace *trace = hpx_defined_trace(&p->defined, ev->row.trace);
    *w = (struct hpx_profile_row){.row = ev->row};
    if (t->table.tag == HPX_TAG_OLD) {
        w->name = hpx_defined_keep(&p->defined, ev->row.name);
        w->caller = hpx_defined_keep(&p->defined, ev->row.caller);
    } else if (t->table.tag == HPX_TAG_SAMPLES || t->table.tag == HPX_TAG_TIMES || t->table.tag == HPX_TAG_WALL) {
        w->name = hpx_defined_method(&p->defined, trace->top);
        w->caller = hpx_defined_method(&p->defined, trace->caller);
        w->name = w->name == 0 ? hpx_defined_empty(&p->defined) : w->name;
        w->state = t->table.tag == HPX_TAG_WALL ? hpx_defined_keep(&p->defined, ev->row.state) : 0;
    } else {
        w->name = p->header.text ? hpx_defined_keep(&p->defined, ev->row.name) : hpx_defined_class(&p->defined, ev->row.class_serial);
        w->caller = hpx_defined_method(&p->defined, trace->top);
        w->owner = ev->row.owner != 0 ? hpx_defined_method(&p->defined, hpx_defined_trace(&p->defined, ev->row.owner)->top) : 0;
    }
    w->row.name = w->row.caller = w->row.state = (struct hpx_rd_text){NULL, 0};
}

static void table_event(struct hpx_profile *p, const struct hpx_rd_event *ev)
{
    if (ev->kind == HPX_RD_TABLE && ev->table.more) {
        struct hpx_rd_table *t = &hpx_profile_table(p, ev->table.tag)->table;
        t->total = t->total > UINT64_MAX - ev->table.total ? UINT64_MAX : t->total + ev->table.total;
        p->open = ev->table.tag;
    } else if (ev->kind == HPX_RD_TABLE || ev->kind == HPX_RD_SUMMARY) {
        struct hpx_profile_table *t = ev->kind == HPX_RD_TABLE ? hpx_profile_table(p, ev->table.tag) : &p->summary;
        t->seen++;
        t->table = ev->table;
        t->table.date = (struct hpx_rd_text){NULL, 0};
        t->rows = 0;
        p->open = ev->table.tag;
        if (p->open == HPX_TAG_SAMPLES) {
            hpx_methods_clear(&p->methods);
            p->walked = 0;
        }
    } else if (ev->kind == HPX_RD_ROW) {
        row(p, ev, hpx_profile_table(p, p->open));
    }
}

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
    hpx_definitions_event(&p->defined, ev);
    hpx_said_event(&p->said, ev);
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

uint64_t hpx_profile_effective(struct hpx_profile *p)
{
    return p->said.effective > 0 ? p->said.effective : hpx_profile_table(p, HPX_TAG_SAMPLES)->table.total;
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
