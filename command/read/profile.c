/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.c: keeping of a file what a person wants to see. */
#include "profile.h"
#include "certainty.h"
#include "err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SHOWN  4096
#define STATES_KEPT 64

static uint32_t keep_name(struct hpx_profile *p, struct hpx_rd_text text)
{
    uint32_t *index;
    text.n = text.n < NAME_SHOWN ? text.n : NAME_SHOWN;
    int added = hpx_idmap_add(&p->name_of, hpx_check_hash(text), &index);
    if (added == 0) {
        return *index;
    }
    char *copy = added > 0 ? malloc(text.n + 1) : NULL;
    char **slot = copy != NULL ? hpx_list_push(&p->names, sizeof(*slot)) : NULL;
    if (slot == NULL) {
        free(copy);
        return 0;
    }
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    *slot = copy;
    *index = (uint32_t)p->names.len - 1;
    return *index;
}

const char *hpx_profile_name(const struct hpx_profile *p, uint32_t name)
{
    return name < p->names.len ? ((char **)p->names.items)[name] : "?";
}

struct hpx_profile_table *hpx_profile_table(struct hpx_profile *p, int tag)
{
    return &p->tables[tag == HPX_TAG_SITES ? 0 : tag == HPX_TAG_SAMPLES ? 1 : tag - HPX_TAG_TIMES + 2];
}

int hpx_profile_init(struct hpx_profile *p)
{
    memset(p, 0, sizeof(*p));
    struct hpx_idmap *maps[] = {&p->thread_of, &p->frame_of,    &p->trace_of,     &p->class_of, &p->site_of,
                                &p->strings,   &p->class_names, &p->object_names, &p->name_of};
    for (size_t i = 0; i < HPX_ARRAY_LEN(maps); i++) {
        hpx_idmap_init(maps[i], true);
    }
    hpx_methods_init(&p->methods);
    (void)keep_name(p, (struct hpx_rd_text){"?", 1});
    return p->names.len == 1 ? 0 : -HPX_E_NOMEM;
}

void hpx_profile_fini(struct hpx_profile *p)
{
    struct hpx_idmap *maps[] = {&p->thread_of, &p->frame_of,    &p->trace_of,     &p->class_of, &p->site_of,
                                &p->strings,   &p->class_names, &p->object_names, &p->name_of};
    for (size_t i = 0; i < HPX_ARRAY_LEN(maps); i++) {
        hpx_idmap_fini(maps[i]);
    }
    for (size_t i = 0; i < p->names.len; i++) {
        free(((char **)p->names.items)[i]);
    }
    struct hpx_list *lists[] = {&p->threads, &p->frames, &p->traces, &p->classes, &p->sites, &p->states, &p->names, &p->frames_of_traces};
    hpx_methods_fini(&p->methods);
    for (size_t i = 0; i < HPX_ARRAY_LEN(lists); i++) {
        free(lists[i]->items);
    }
}

/* The entry of a key in a list, made where there is none; NULL without memory. */
static void *entry(struct hpx_idmap *map, struct hpx_list *list, size_t size, uint64_t key)
{
    uint32_t *index;
    int added = hpx_idmap_add(map, key, &index);
    if (added > 0) {
        void *item = hpx_list_push(list, size);
        *index = item != NULL ? (uint32_t)list->len : 0;
        return item;
    }
    return added == 0 && *index > 0 ? (char *)list->items + (size_t)(*index - 1) * size : NULL;
}

static void set(struct hpx_idmap *map, uint64_t key, uint32_t value)
{
    uint32_t *slot;
    if (hpx_idmap_add(map, key, &slot) >= 0) {
        *slot = value;
    }
}

static uint32_t get(const struct hpx_idmap *map, uint64_t key)
{
    const uint32_t *slot = hpx_idmap_find(map, key);
    return slot != NULL ? *slot : 0;
}

static void thread_event(struct hpx_profile *p, const struct hpx_rd_event *ev)
{
    bool start = ev->kind == HPX_RD_THREAD_START;
    struct hpx_profile_thread *t = entry(&p->thread_of, &p->threads, sizeof(*t), start ? ev->thread.serial : ev->serial);
    if (t == NULL) {
        return;
    }
    if (start) {
        t->serial = ev->thread.serial;
        t->name = p->header.text ? keep_name(p, ev->thread.name) : get(&p->strings, ev->thread.name_id);
        t->group = p->header.text ? keep_name(p, ev->thread.group) : get(&p->strings, ev->thread.group_id);
        t->start_us = p->us;
    } else {
        t->serial = ev->serial;
        t->ended = true;
        t->end_us = p->us;
    }
}

static void frame_of_trace(struct hpx_profile *p, const struct hpx_rd_event *ev)
{
    uint32_t *slot = p->trace_frames == 0 ? &p->trace.top : p->trace_frames == 1 ? &p->trace.caller : NULL;
    p->trace_frames++;
    if (slot == NULL && !p->with_methods) {
        return;
    }
    uint32_t frame = p->header.text ? keep_name(p, ev->of.method) : get(&p->frame_of, ev->of.id);
    uint32_t *kept = p->with_methods ? hpx_list_push(&p->frames_of_traces, sizeof(frame)) : NULL;
    if (slot != NULL) {
        *slot = frame;
    }
    if (kept != NULL) {
        *kept = frame;
        p->trace.frames++;
    }
}

static uint64_t leading_number(const char *digits, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n && i < 18 && digits[i] >= '0' && digits[i] <= '9'; i++) {
        v = v * 10 + (uint64_t)(digits[i] - '0');
    }
    return v;
}

/* What the report says of the last CPU SAMPLES. */
enum { EFFECTIVE, PROBES, LOST, OWN, OLDER, SAID };
static const char *const said_keys[SAID] = {"effective samples", "inside probes", "lost", "own CPU time", "without debug information"};

static void keep_line(char to[HPX_PROFILE_SAID], const char *value, size_t n)
{
    size_t k = 0;
    for (; k < n && k < HPX_PROFILE_SAID - 1 && value[k] != '\n'; k++) {
        to[k] = value[k];
    }
    to[k] = '\0';
}

/* "4 (40.00 %)" has a share, too. */
static void hear(struct hpx_profile *p, size_t i, const char *value, size_t n)
{
    if (i == EFFECTIVE) {
        p->effective = leading_number(value, n);
        p->older[0] = '\0'; /* not every report has it */
        return;
    }
    if (i >= LOST) {
        keep_line(i == LOST ? p->lost : i == OWN ? p->own : p->older, value, n);
        return;
    }
    const char *share = memchr(value, '(', n), *end = value + n;
    p->in_probes = leading_number(value, n);
    p->in_probes_share = 0;
    for (size_t digits = 0; share != NULL && ++share < end && digits < 5 && (*share == '.' || (*share >= '0' && *share <= '9'));) {
        p->in_probes_share = *share == '.' ? p->in_probes_share : p->in_probes_share * 10 + (uint32_t)(*share - '0');
        digits += *share != '.';
    }
}

/* The report of a binary file is a string that nothing names. */
static void binary_report(struct hpx_profile *p, struct hpx_rd_text t)
{
    static const char begin[] = "hprofx: ";
    bool is = t.n > sizeof(begin) && memcmp(t.p, begin, sizeof(begin) - 1) == 0;
    for (size_t i = 0; is && i < SAID; i++) {
        char line[40];
        size_t n = (size_t)snprintf(line, sizeof(line), "\n%s%s: ", begin, said_keys[i]);
        const char *at = memmem(t.p, t.n, line, n);
        if (at != NULL) {
            hear(p, i, at + n, (size_t)(t.p + t.n - at) - n);
        }
    }
}

static void report(struct hpx_profile *p, const struct hpx_rd_report *r)
{
    for (size_t i = 0; i < SAID; i++) {
        if (r->key.n == strlen(said_keys[i]) && memcmp(r->key.p, said_keys[i], r->key.n) == 0) {
            hear(p, i, r->value.p, r->value.n);
        }
    }
}

static void definition(struct hpx_profile *p, const struct hpx_rd_event *ev)
{
    struct hpx_profile_frame *f;
    struct hpx_profile_trace *t;
    switch (ev->kind) {
    case HPX_RD_STRING:
        binary_report(p, ev->string.text);
        set(&p->strings, ev->string.id, keep_name(p, ev->string.text));
        break;
    case HPX_RD_LOAD:
        set(&p->class_names, ev->load.serial, get(&p->strings, ev->load.name));
        set(&p->object_names, ev->load.id, get(&p->strings, ev->load.name));
        break;
    case HPX_RD_FRAME:
        f = entry(&p->frame_of, &p->frames, sizeof(*f), ev->frame.id);
        if (f != NULL) {
            *f = (struct hpx_profile_frame){get(&p->strings, ev->frame.method), get(&p->class_names, ev->frame.class_serial),
                                            get(&p->strings, ev->frame.source), ev->frame.line};
        }
        break;
    case HPX_RD_TRACE_END:
        t = entry(&p->trace_of, &p->traces, sizeof(*t), ev->trace.serial);
        if (t != NULL) {
            *t = p->trace;
        }
        break;
    default:
        break;
    }
}

/* "class.method" of a frame, as the text format has it. */
static uint32_t method_name(struct hpx_profile *p, uint32_t frame)
{
    char text[1024];
    if (p->header.text || frame == 0) {
        return frame;
    }
    const struct hpx_profile_frame *f = (const struct hpx_profile_frame *)p->frames.items + frame - 1;
    int n = snprintf(text, sizeof(text), "%.*s.%.*s", 500, hpx_profile_name(p, f->class_name), 500, hpx_profile_name(p, f->method));
    return keep_name(p, (struct hpx_rd_text){text, n > 0 ? (size_t)n : 0});
}

static const struct hpx_profile_trace *trace_at(const struct hpx_profile *p, uint32_t serial)
{
    static const struct hpx_profile_trace none = {0};
    const uint32_t *index = hpx_idmap_find(&p->trace_of, serial);
    return index != NULL && *index > 0 ? (const struct hpx_profile_trace *)p->traces.items + *index - 1 : &none;
}

static uint32_t empty_trace(struct hpx_profile *p)
{
    return keep_name(p, (struct hpx_rd_text){"<empty trace>", 13});
}

static void by_method(struct hpx_profile *p, const struct hpx_rd_row *of)
{
    const struct hpx_profile_trace *trace = trace_at(p, of->trace);
    hpx_methods_row(&p->methods);
    for (uint32_t i = 0; i < trace->frames; i++) {
        uint32_t frame = ((const uint32_t *)p->frames_of_traces.items)[trace->first + i];
        hpx_methods_add(&p->methods, method_name(p, frame), of->count, i == 0);
    }
    if (trace->top == 0) {
        hpx_methods_add(&p->methods, empty_trace(p), of->count, true);
    }
}

static void row(struct hpx_profile *p, const struct hpx_rd_event *ev, struct hpx_profile_table *t)
{
    if (p->with_methods && t->table.tag == HPX_TAG_SAMPLES) {
        by_method(p, &ev->row);
    }
    if (t->rows++ >= HPX_PROFILE_TOP) {
        return;
    }
    struct hpx_profile_row *w = &t->top[t->rows - 1];
    const struct hpx_profile_trace *trace = trace_at(p, ev->row.trace);
    *w = (struct hpx_profile_row){.row = ev->row};
    if (t->table.tag == HPX_TAG_OLD) {
        w->name = keep_name(p, ev->row.name);
        w->caller = keep_name(p, ev->row.caller);
    } else if (t->table.tag == HPX_TAG_SAMPLES || t->table.tag == HPX_TAG_TIMES) {
        w->name = method_name(p, trace->top);
        w->caller = method_name(p, trace->caller);
        w->name = w->name == 0 ? empty_trace(p) : w->name;
    } else {
        w->name = p->header.text ? keep_name(p, ev->row.name) : get(&p->class_names, ev->row.class_serial);
        w->caller = method_name(p, trace->top);
        w->owner = ev->row.owner != 0 ? method_name(p, trace_at(p, ev->row.owner)->top) : 0;
    }
    w->row.name = w->row.caller = (struct hpx_rd_text){NULL, 0};
}

static void table_event(struct hpx_profile *p, const struct hpx_rd_event *ev)
{
    if (ev->kind == HPX_RD_TABLE || ev->kind == HPX_RD_SUMMARY) {
        struct hpx_profile_table *t = ev->kind == HPX_RD_TABLE ? hpx_profile_table(p, ev->table.tag) : &p->summary;
        t->seen++;
        t->table = ev->table;
        t->table.date = (struct hpx_rd_text){NULL, 0};
        t->rows = 0;
        p->open = ev->table.tag;
        for (size_t i = p->open == HPX_TAG_SAMPLES ? 0 : LOST; i < SAID; i++) {
            hear(p, i, "", 0);
        }
        if (p->open == HPX_TAG_SAMPLES) {
            hpx_methods_clear(&p->methods);
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
        s = entry(&p->site_of, &p->sites, sizeof(*s), o->trace);
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
    struct hpx_profile_class *k = entry(&p->class_of, &p->classes, sizeof(*k), key);
    if (k == NULL) {
        return;
    }
    if (k->count == 0 && ev->kind == HPX_RD_PRIMITIVES) {
        char text[16];
        int n = snprintf(text, sizeof(text), "%s[]", hpx_rd_type_name((int)o->type));
        k->name = keep_name(p, (struct hpx_rd_text){text, n > 0 ? (size_t)n : 0});
    } else if (k->count == 0) {
        k->name = p->header.text ? keep_name(p, o->name) : get(&p->object_names, o->class_id);
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
    hpx_idmap_clear(&p->class_of);
    hpx_idmap_clear(&p->site_of);
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
    uint32_t name = keep_name(p, ev->monitor.name);
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
    case HPX_RD_TRACE:
        p->trace = (struct hpx_profile_trace){.first = (uint32_t)p->frames_of_traces.len};
        p->trace_frames = 0;
        break;
    case HPX_RD_FRAME_OF_TRACE:
        frame_of_trace(p, ev);
        break;
    case HPX_RD_THREAD_START:
    case HPX_RD_THREAD_END:
        thread_event(p, ev);
        break;
    case HPX_RD_TABLE:
    case HPX_RD_ROW:
    case HPX_RD_SUMMARY:
        table_event(p, ev);
        break;
    case HPX_RD_REPORT:
        report(p, &ev->report);
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
        definition(p, ev);
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
        const struct hpx_profile_trace *trace = trace_at(p, s->trace);
        s->name = method_name(p, trace->top);
        s->caller = method_name(p, trace->caller);
        s->name = s->name == 0 ? empty_trace(p) : s->name;
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
