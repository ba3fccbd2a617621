/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_in.c: an HPROF file as a tree: a sink behind the profile, whose definitions and tables it uses. Of several heap dumps the last
 * counts. */
#include "budget.h"
#include "formats.h"
#include "generated.h"
#include "names.h"
#include "show.h"
#include "virtual.h"
#include "window.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST      ((size_t)1 << 26)       /* kinds of objects: as tree.h bounds what it holds */
#define MOST_TOLD ((size_t)1 << 18)       /* places, and moments of them, that are kept for a sentence alone */
#define YEAR_2262 UINT64_C(9223372036854) /* ms since 1970; what is later has too many ns for pprof */

/* What the heap has of a class from a trace. */
struct objects {
    uint32_t trace, class; /* its key's index in hprof_in.classes, + 1 */
    uint64_t count, bytes;
};

/* A place of TIMELINE. */
struct place {
    enum hpx_rd_time_kind kind;
    uint32_t trace, owner;
    uint32_t name; /* a defined one */
    int tag;
    uint64_t bytes, shares;
    uint64_t counted; /* of allocations: by the moments before */
    /* At the end of the file: of the tree. */
    uint32_t node, other;          /* other: cpu: of the wall clock; block: of the owner */
    uint32_t thread, other_thread; /* of the traces */
    uint32_t carried;              /* hpx_virtual_thread() of `node` */
};

struct hprof_in {
    struct hpx_profile profile;
    struct hpx_tree *tree;
    struct hpx_list frames; /* uint32_t: of the tree, for each defined frame; 0: not yet asked for */
    struct hpx_list nodes;  /* uint32_t: of the tree, for each defined trace; at the end of the file */
    struct hpx_list spoken; /* uint32_t: names of the tree + 1, for each defined name; 0: not yet asked for */
    struct hpx_tree_path path;
    uint32_t thread, thread_of; /* the last name, and its thread */
    bool carries;               /* that one carries virtual threads, or is unknown */
    bool heap_open;
    struct hpx_seeded_map class_of, object_of;
    struct hpx_list classes; /* uint32_t: names of the tree */
    struct hpx_list objects; /* struct objects */
    size_t near;             /* of objects: of the object before */
    struct hpx_list places;  /* struct place: of all TIMELINEs, if the tree is timed */
    size_t places_from;      /* of them, the first of the last TIMELINE */
    bool has_times;
    bool told;                    /* times are for a sentence alone: those of CPU */
    struct hpx_rd_timeline times; /* the last one */
    struct hpx_window window;     /* of it */
    hpx_tree_each *each;          /* of a stream; NULL: a file, whose last tables count */
    void *each_ctx;
    bool left; /* each() wants no more */
};

static enum hpx_view_kind view_of(int tag)
{
    switch (tag) {
    case HPX_TAG_SAMPLES:
        return HPX_VIEW_CPU;
    case HPX_TAG_WALL:
        return HPX_VIEW_WALL;
    case HPX_TAG_TIMES:
    case HPX_TAG_OLD:
    case HPX_TAG_CALLS:
        return HPX_VIEW_CALLS;
    case HPX_TAG_SITES:
        return HPX_VIEW_ALLOC;
    case HPX_TAG_MONITOR_TIME:
        return HPX_VIEW_LOCK;
    case HPX_TAG_MONITOR_OWNERS:
        return HPX_VIEW_OWNER;
    case HPX_TAG_WAIT_TIME:
        return HPX_VIEW_WAIT;
    case HPX_TAG_LOCK_TIME:
        return HPX_VIEW_PARK;
    case HPX_TAG_PINNED_TIME:
        return HPX_VIEW_PINNED;
    default:
        return HPX_VIEWS;
    }
}

/* Item i of a list, which grows as far as that; NULL without memory. */
static void *nth(struct hprof_in *in, struct hpx_list *l, size_t size, size_t i)
{
    while (l->len <= i) {
        if (hpx_list_push(l, size) == NULL) {
            in->tree->no_memory = true;
            return NULL;
        }
    }
    return (char *)l->items + i * size;
}

/* A defined name as people write it. */
static uint32_t spoken(struct hprof_in *in, uint32_t defined)
{
    uint32_t *known = nth(in, &in->spoken, sizeof *known, defined);
    if (known != NULL && *known == 0) {
        char text[4200];
        hpx_name_spoken(text, sizeof text, hpx_defined_name(&in->profile.defined, defined));
        hpx_name_generated(text);
        const char *name = text + (text[0] == '.'); /* a function without a class, as write_hprof.c has it */
        name = name[0] != '\0' ? name : "?";        /* names of frames are not empty */
        *known = hpx_tree_name(in->tree, name, strlen(name)) + 1;
    }
    return known != NULL ? *known - 1 : 0;
}

static uint32_t tree_frame(struct hprof_in *in, uint32_t frame)
{
    struct hpx_definitions *d = &in->profile.defined;
    struct hpx_tree *t = in->tree;
    if (frame == 0) {
        return hpx_tree_frame(t, hpx_tree_name(t, "?", 1), 0, 0, HPX_FRAME_METHOD);
    }
    uint32_t *known = nth(in, &in->frames, sizeof *known, frame - 1);
    if (known != NULL && *known == 0) {
        const struct hpx_defined_frame f = ((const struct hpx_defined_frame *)d->frames.items)[frame - 1];
        const char *source = f.source != 0 ? hpx_defined_name(d, f.source) : "";
        bool told = source[0] != '\0' && strcmp(source, "<Unknown Source>") != 0;
        uint32_t name = spoken(in, hpx_defined_method(d, frame));
        *known = hpx_tree_frame(t, name, told ? hpx_tree_name(t, source, strlen(source)) : 0, f.line > 0 ? f.line : 0, HPX_FRAME_METHOD);
    }
    return known != NULL ? *known : 0;
}

static uint32_t node_of(struct hprof_in *in, const struct hpx_defined_trace *trace)
{
    hpx_tree_path_begin(&in->path);
    for (uint32_t i = trace->frames; i-- > 0;) {
        hpx_tree_path_down(in->tree, &in->path, tree_frame(in, hpx_defined_frame(&in->profile.defined, trace, i)));
    }
    return hpx_tree_path_end(&in->path);
}

/* The stack of a row; of a row about an owner that of the owner. */
static uint32_t trace_of(int tag, const struct hpx_sum *row)
{
    return tag == HPX_TAG_MONITOR_OWNERS ? row->other : row->trace;
}

static const struct hpx_defined_trace *trace_at(const struct hprof_in *in, size_t i)
{
    return (const struct hpx_defined_trace *)in->profile.defined.traces.items + i;
}

static uint32_t class_node(struct hprof_in *in, uint32_t node, uint32_t name)
{
    return hpx_tree_node(in->tree, node, hpx_tree_frame(in->tree, name, 0, 0, HPX_FRAME_CLASS));
}

/* A name that stands in quotes in text files; the escapes of controls stay, because the tree has the same. */
static uint32_t unquoted(struct hpx_tree *t, const char *name)
{
    char text[4200];
    size_t n = 0;
    for (; *name != '\0' && n < sizeof text; name++) {
        name += *name == '\\' && (name[1] == '"' || name[1] == '\\');
        text[n++] = *name;
    }
    return hpx_tree_name(t, text, n);
}

static uint32_t thread_name(struct hprof_in *in, uint32_t serial)
{
    struct hpx_definitions *d = &in->profile.defined;
    if (serial == in->thread_of) {
        return in->thread;
    }
    const struct hpx_defined_thread *t = hpx_defined_thread(d, serial);
    const char *name = hpx_defined_name(d, hpx_defined_newest(t));
    in->carries = strcmp(hpx_defined_name(d, t->group), "CarrierThreads") == 0 || strcmp(name, "<unknown thread>") == 0;
    bool told = name[0] != '\0' && strcmp(name, "?") != 0;
    in->thread_of = serial;
    in->thread = !told ? 0 : d->text ? unquoted(in->tree, name) : hpx_tree_name(in->tree, name, strlen(name));
    return in->thread;
}

/* Of a stack whose record names that thread. carried: hpx_virtual_thread() of the stack; 0: it is of no virtual thread. */
static uint32_t thread_at(struct hprof_in *in, uint32_t serial, uint32_t carried)
{
    uint32_t thread = thread_name(in, serial);
    return serial != 0 && carried != 0 && (thread == 0 || in->carries) ? carried : thread;
}

static uint32_t text_name(struct hprof_in *in, struct hpx_rd_text text)
{
    return spoken(in, hpx_defined_keep(&in->profile.defined, text));
}

/* Of a trace among the defined ones, + 1; 0: it is not defined. */
static uint32_t index_of(const struct hprof_in *in, uint32_t trace)
{
    const uint32_t *index = hpx_seeded_map_find(&in->profile.defined.trace_of, trace);
    return index != NULL ? *index : 0;
}

/* ---- heap dumps ---- */

/* The index of the object's class + 1; 0 without memory. Ids of text are those of the mirrors, so the key is the class there, too. */
static uint32_t class_of(struct hprof_in *in, const struct hpx_rd_event *ev)
{
    const struct hpx_rd_object *o = &ev->object;
    bool primitives = ev->kind == HPX_RD_PRIMITIVES;
    size_t before = in->classes.len;
    uint32_t *name = hpx_list_entry(&in->class_of, &in->classes, sizeof *name, primitives ? UINT64_MAX - o->type : o->class_id);
    if (name == NULL) {
        return 0;
    }
    if (in->classes.len > before) {
        char text[24];
        (void)snprintf(text, sizeof text, "%s[]", primitives ? hpx_type_name((int)o->type) : "");
        *name = primitives                 ? hpx_tree_name(in->tree, text, strlen(text))
                : in->profile.defined.text ? text_name(in, o->name)
                                           : spoken(in, hpx_defined_object(&in->profile.defined, o->class_id));
    }
    return (uint32_t)(name - (uint32_t *)in->classes.items) + 1;
}

static void object(struct hprof_in *in, const struct hpx_rd_event *ev)
{
    uint32_t class = class_of(in, ev), trace = ev->object.trace;
    struct objects *o = in->objects.items;
    if (in->near >= in->objects.len || o[in->near].trace != trace || o[in->near].class != class) { /* neighbours are alike */
        o = in->objects.len < MOST ? hpx_list_entry(&in->object_of, &in->objects, sizeof *o, (uint64_t)trace << 32 | class) : NULL;
        if (o == NULL || class == 0) {
            in->tree->no_memory = true;
            return;
        }
        o->trace = trace;
        o->class = class;
        in->near = (size_t)(o - (struct objects *)in->objects.items);
    } else {
        o += in->near;
    }
    o->count++;
    o->bytes += ev->object.bytes;
}

static void begin_heap(struct hprof_in *in)
{
    in->tree->heap_dump = true;
    if (!in->heap_open) {
        in->heap_open = true;
        in->objects.len = 0;
        hpx_seeded_map_clear(&in->object_of);
    }
}

/* ---- at the end of the file: traces and names may stand behind the dump ---- */

/* Gives a node to every trace that rows, objects or places name, in the order of traces: stacks are built faster so, because neighbours
 * begin alike. */
static bool place_traces(struct hprof_in *in)
{
    const uint32_t used = UINT32_MAX;
    while (in->nodes.len < in->profile.defined.traces.len) {
        if (hpx_list_push(&in->nodes, sizeof(uint32_t)) == NULL) {
            return false;
        }
    }
    uint32_t *nodes = in->nodes.items;
    for (size_t k = 0; k < HPX_ARRAY_LEN(in->profile.tables); k++) {
        const struct hpx_sums *of = &in->profile.tables[k].sums;
        const struct hpx_sum *row = of->rows.items;
        for (size_t i = 0; view_of(of->tag) != HPX_VIEWS && i < of->rows.len; i++, row++) {
            uint32_t index = index_of(in, trace_of(of->tag, row));
            if (index != 0) {
                nodes[index - 1] = used;
            }
        }
    }
    for (size_t i = 0; i < in->objects.len; i++) {
        uint32_t index = index_of(in, ((const struct objects *)in->objects.items)[i].trace);
        if (index != 0) {
            nodes[index - 1] = used;
        }
    }
    const struct place *places = in->places.items;
    for (size_t i = 0; i < 2 * in->places.len; i++) {
        uint32_t index = index_of(in, i % 2 == 0 ? places[i / 2].trace : places[i / 2].owner);
        if (index != 0) {
            nodes[index - 1] = used;
        }
    }
    for (size_t i = 0; i < in->nodes.len; i++) {
        nodes[i] = nodes[i] == used ? node_of(in, trace_at(in, i)) : 0;
    }
    return true;
}

/* cpu=old has a method and its caller instead of a trace. */
static uint32_t old_node(struct hprof_in *in, const struct hpx_sum *of)
{
    uint32_t caller = hpx_tree_frame(in->tree, spoken(in, of->other), 0, 0, HPX_FRAME_METHOD);
    uint32_t callee = hpx_tree_frame(in->tree, spoken(in, of->name), 0, 0, HPX_FRAME_METHOD);
    return hpx_tree_node(in->tree, hpx_tree_node(in->tree, 0, caller), callee);
}

/* The node of a trace, and its thread. class: a name of the tree + 1, of what is below the stack; 0: nothing is. */
static uint32_t stack_of(struct hprof_in *in, uint32_t serial, uint32_t class, uint32_t *thread)
{
    uint32_t index = index_of(in, serial), node = index != 0 ? ((const uint32_t *)in->nodes.items)[index - 1] : 0;
    *thread = index != 0 ? thread_at(in, trace_at(in, index - 1)->thread, hpx_virtual_thread(in->tree, node, 0)) : 0;
    return class != 0 ? class_node(in, node, class - 1) : node;
}

static void add(struct hprof_in *in, enum hpx_view_kind kind, uint32_t serial, uint32_t class, const uint64_t *values)
{
    uint32_t thread, node = stack_of(in, serial, class, &thread);
    hpx_tree_add(in->tree, &in->tree->views[kind], node, thread, values);
}

/* What the view has of a row of a table. */
static void values_of(const struct hprof_in *in, enum hpx_view_kind kind, uint64_t count, uint64_t ns, uint64_t to[4])
{
    to[0] = kind == HPX_VIEW_WALL ? ns : count;
    to[1] = kind == HPX_VIEW_WALL ? 0 : ns;
    to[2] = to[3] = 0;
    if (kind == HPX_VIEW_CPU && __builtin_mul_overflow(count, in->profile.interval_ns, &to[1])) {
        to[1] = UINT64_MAX;
    }
}

/* What the table counts and does not list. */
static void add_rest(struct hprof_in *in, enum hpx_view_kind kind, uint64_t rest, bool counts)
{
    uint64_t values[4];
    uint32_t name = hpx_tree_name(in->tree, HPX_REST, sizeof HPX_REST - 1);
    uint32_t node = hpx_tree_node(in->tree, 0, hpx_tree_frame(in->tree, name, 0, 0, HPX_FRAME_METHOD));
    values_of(in, kind, counts ? rest : 0, counts ? 0 : rest, values);
    hpx_tree_add(in->tree, &in->tree->views[kind], hpx_view_has_classes(kind) ? class_node(in, node, name) : node, 0, values);
}

/* A row of MONITOR OWNERS whose owner was not asked for, or had left: it is part of the time, and no owner's. */
static bool is_ownerless(const struct hprof_in *in, const struct hpx_sums *of, const struct hpx_sum *row)
{
    uint32_t index = of->tag == HPX_TAG_MONITOR_OWNERS ? index_of(in, row->other) : 0;
    return of->tag == HPX_TAG_MONITOR_OWNERS && (index == 0 || trace_at(in, index - 1)->frames == 0);
}

static void add_ownerless(struct hprof_in *in, enum hpx_view_kind kind, const struct hpx_sum *row, const uint64_t *values)
{
    uint32_t name = hpx_tree_name(in->tree, HPX_NO_OWNER, sizeof HPX_NO_OWNER - 1);
    uint32_t node = hpx_tree_node(in->tree, 0, hpx_tree_frame(in->tree, name, 0, 0, HPX_FRAME_METHOD));
    hpx_tree_add(in->tree, &in->tree->views[kind], class_node(in, node, spoken(in, row->name)), 0, values);
}

static void add_table(struct hprof_in *in, enum hpx_view_kind kind, const struct hpx_sums *of)
{
    const struct hpx_sum *row = of->rows.items;
    uint64_t values[4];
    for (size_t i = 0; i < of->rows.len; i++, row++) {
        values_of(in, kind, row->values[HPX_SUM_COUNT], row->values[HPX_SUM_NS], values);
        if (is_ownerless(in, of, row)) {
            add_ownerless(in, kind, row, values);
        } else if (of->tag == HPX_TAG_OLD) {
            hpx_tree_add(in->tree, &in->tree->views[kind], old_node(in, row), 0, values);
        } else if (of->tag == HPX_TAG_WALL) {
            const char *state = row->state != 0 ? hpx_defined_name(&in->profile.defined, row->state) : "?";
            add(in, kind, row->trace, 1 + hpx_name_of_frame(in->tree, state, strlen(state)), values);
        } else {
            bool class = !hpx_tag_counts(of->tag) && of->tag != HPX_TAG_TIMES;
            add(in, kind, trace_of(of->tag, row), class ? 1 + spoken(in, row->name) : 0, of->tag == HPX_TAG_SITES ? row->values : values);
        }
    }
    if (of->rest > 0) {
        add_rest(in, kind, of->rest, hpx_tag_counts(of->tag));
    }
}

/* ---- times ---- */

static void begin_times(struct hprof_in *in, const struct hpx_rd_timeline *t)
{
    in->has_times = true;
    in->times = *t;
    in->times.zero_ms = t->zero_ms < YEAR_2262 ? t->zero_ms : 0;
    in->times.end_ms = t->end_ms < YEAR_2262 - in->times.zero_ms ? t->end_ms : 0;
    in->window = hpx_window_of(in->times.zero_ms, in->times.end_ms);
    in->places_from = in->places.len;
}

static void take_place(struct hprof_in *in, const struct hpx_rd_place *p)
{
    struct place *to = in->places.len < MOST ? hpx_list_push(&in->places, sizeof *to) : NULL;
    if (to == NULL) {
        in->tree->no_memory = true;
        return;
    }
    *to = (struct place){.kind = p->kind, .trace = p->trace, .owner = p->owner, .tag = p->tag, .bytes = p->bytes, .shares = p->shares};
    if (!in->told) {
        to->name = hpx_defined_keep(&in->profile.defined, p->name);
    }
}

static enum hpx_view_kind view_at(const struct place *p)
{
    return p->kind == HPX_RD_TIME_CPU     ? HPX_VIEW_CPU
           : p->kind == HPX_RD_TIME_WALL  ? HPX_VIEW_WALL
           : p->kind == HPX_RD_TIME_ALLOC ? HPX_VIEW_ALLOC
           : p->kind == HPX_RD_TIME_BLOCK ? view_of(p->tag)
                                          : HPX_VIEWS;
}

/* Names, traces and the interval may stand behind it: until the end of the file the place is in `node`, and the serial of the thread in
 * `thread`; the values are count and ns, in the order of the view. */
static void take_moment(struct hprof_in *in, const struct hpx_rd_moment *m)
{
    const struct place *p =
        m->place < in->places.len - in->places_from ? (struct place *)in->places.items + in->places_from + m->place : NULL;
    const uint64_t last = YEAR_2262 - in->times.zero_ms, unit = m->unit < UINT32_MAX ? m->unit : UINT32_MAX,
                   begin = m->ms < m->ns / 1000000 ? 0 : m->ms - m->ns / 1000000;
    bool outside = hpx_window_is_set() && (m->unit > 1 ? m->ms >= in->window.to || hpx_tree_sum(m->ms, unit) < in->window.from
                                                       : begin > in->window.to || m->ms < in->window.from);
    if (p == NULL || outside || (m->count == 0 && m->ns == 0) || (in->told && p->kind != HPX_RD_TIME_CPU)) {
        return; /* of a stream that has lost the place, or needless */
    }
    const uint64_t at = in->times.zero_ms + (m->ms < last ? m->ms : last);
    if (p->kind == HPX_RD_TIME_GC) {
        hpx_tree_add_pause(in->tree, &(struct hpx_tree_pause){m->unit > 1 ? at + unit : at, m->ns, 0});
        return;
    }
    const struct hpx_tree_moment to = {.at_ms = at,
                                       .unit_ms = (uint32_t)unit,
                                       .node = (uint32_t)(in->places_from + m->place),
                                       .thread = m->thread,
                                       .lasted = p->kind != HPX_RD_TIME_CPU && p->kind != HPX_RD_TIME_ALLOC};
    const uint64_t values[HPX_TREE_VALUES] = {p->kind == HPX_RD_TIME_WALL ? m->ns : m->count, m->ns};
    if (view_at(p) != HPX_VIEWS) {
        hpx_tree_add_moment(in->tree, &in->tree->views[view_at(p)], &to, values);
    }
}

/* Gives places their stacks. */
static void resolve(struct hprof_in *in, struct place *p)
{
    bool wall = !in->told && hpx_profile_table(&in->profile, HPX_TAG_WALL)->seen > 0;
    if (p->kind == HPX_RD_TIME_GC || (in->told && p->kind != HPX_RD_TIME_CPU)) {
        return; /* it has none, or nobody asks for it */
    }
    if (p->kind == HPX_RD_TIME_CPU) {
        p->node = stack_of(in, p->trace, 0, &p->thread);
        p->other = wall ? class_node(in, p->node, hpx_name_of_frame(in->tree, "running", 7)) : 0;
        p->other_thread = p->thread;
    } else if (p->kind == HPX_RD_TIME_WALL) {
        const char *state = hpx_defined_name(&in->profile.defined, p->name);
        p->node = stack_of(in, p->trace, 1 + hpx_name_of_frame(in->tree, state, strlen(state)), &p->thread);
    } else {
        p->node = stack_of(in, p->trace, 1 + spoken(in, p->name), &p->thread);
        p->other = p->owner != 0 ? stack_of(in, p->owner, 1 + spoken(in, p->name), &p->other_thread) : 0;
    }
    p->carried = hpx_virtual_thread(in->tree, p->node, 0);
}

static uint64_t thousandths(uint64_t n, uint64_t of)
{
    double v = (double)n * (double)of / HPX_TIMELINE_SHARES + 0.5;
    return v < (double)UINT64_MAX ? (uint64_t)v : UINT64_MAX;
}

/* What n sampled objects of the place stand for. */
static void stand_for(const struct place *p, uint64_t n, uint64_t to[4])
{
    uint64_t bytes;
    to[0] = thousandths(n, p->shares);
    to[1] = __builtin_mul_overflow(n, p->bytes, &bytes) ? UINT64_MAX : thousandths(bytes, p->shares);
    to[2] = to[3] = 0;
}

/* Fractions are not lost: all moments of a place add up to what its sum stands for. */
static void share(struct place *p, uint64_t *values)
{
    uint64_t before[4], after[4];
    stand_for(p, p->counted, before);
    p->counted = hpx_tree_sum(p->counted, values[0]);
    stand_for(p, p->counted, after);
    values[0] = after[0] - before[0];
    values[1] = after[1] - before[1];
}

/* Gives a moment its stack and values, and the other view that has the same event a moment of its own. */
static void finish_moment(struct hprof_in *in, enum hpx_view_kind kind, struct hpx_tree_moment *m, uint64_t *values)
{
    struct place *p = (struct place *)in->places.items + m->node;
    uint32_t thread = m->thread != 0 ? thread_at(in, m->thread, p->carried) : 0;
    m->node = p->node;
    m->thread = thread != 0 ? thread : p->thread;
    struct hpx_tree_moment other = *m;
    other.node = p->other;
    if (kind == HPX_VIEW_CPU) {
        uint64_t cpu[4];
        values_of(in, HPX_VIEW_CPU, values[0], 0, cpu);
        values[1] = cpu[1];
        if (p->other != 0) {
            hpx_tree_add_moment(in->tree, &in->tree->views[HPX_VIEW_WALL], &other, (uint64_t[HPX_TREE_VALUES]){cpu[1]});
        }
    } else if (kind == HPX_VIEW_ALLOC) {
        share(p, values);
    } else if (p->owner != 0) {
        other.thread = p->other_thread;
        hpx_tree_add_moment(in->tree, &in->tree->views[HPX_VIEW_OWNER], &other, (uint64_t[HPX_TREE_VALUES]){values[0], values[1]});
    }
}

static void finish_moments(struct hprof_in *in)
{
    size_t n[HPX_VIEWS]; /* without those that come now */
    for (size_t i = 0; i < in->places.len; i++) {
        resolve(in, (struct place *)in->places.items + i);
    }
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        n[k] = in->tree->views[k].moments.len;
    }
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        struct hpx_tree_view *v = &in->tree->views[k];
        for (size_t i = 0; i < n[k] && !in->tree->no_memory; i++) {
            finish_moment(in, (enum hpx_view_kind)k, (struct hpx_tree_moment *)v->moments.items + i,
                          (uint64_t *)v->moment_numbers.items + i * v->values);
        }
    }
    if (hpx_profile_table(&in->profile, HPX_TAG_SAMPLES)->seen == 0) { /* times of CPU are those of wall=, too */
        in->tree->views[HPX_VIEW_CPU].moments.len = in->tree->views[HPX_VIEW_CPU].moment_numbers.len = 0;
    }
}

static void add_objects(struct hprof_in *in)
{
    for (size_t i = 0; i < in->objects.len; i++) {
        const struct objects *o = (const struct objects *)in->objects.items + i;
        const uint64_t values[4] = {o->count, o->bytes};
        add(in, HPX_VIEW_HEAP, o->trace, 1 + ((const uint32_t *)in->classes.items)[o->class - 1], values);
    }
}

static void add_all(struct hprof_in *in)
{
    hpx_profile_finish(&in->profile);
    if (!place_traces(in)) {
        in->tree->no_memory = true;
        return;
    }
    for (size_t k = 0; k < HPX_ARRAY_LEN(in->profile.tables); k++) {
        const struct hpx_sums *of = &in->profile.tables[k].sums;
        enum hpx_view_kind kind = view_of(of->tag);
        if (kind != HPX_VIEWS) {
            add_table(in, kind, of);
        }
    }
    add_objects(in);
    finish_moments(in);
    in->tree->no_memory |= in->profile.defined.no_memory;
}

static void facts(struct hprof_in *in);

/* The numbers of a new tree are others. */
static void forget(struct hprof_in *in)
{
    hpx_profile_again(&in->profile);
    in->frames.len = in->nodes.len = in->spoken.len = 0;
    in->classes.len = in->objects.len = in->near = 0;
    in->places.len = in->places_from = 0;
    in->has_times = false;
    in->thread = in->thread_of = 0;
    in->path.steps.len = in->path.at = 0;
    in->path.parted = false;
    hpx_seeded_map_clear(&in->class_of);
    hpx_seeded_map_clear(&in->object_of);
}

/* A profile of a stream is complete. */
static bool hand_on(struct hprof_in *in)
{
    add_all(in);
    facts(in);
    if (in->tree->no_memory) {
        return true; /* which event() says */
    }
    in->left = !in->each(in->each_ctx, in->tree);
    forget(in);
    return hpx_tree_init(in->tree) && !in->left;
}

/* Text: the line that ends every report. Binary: the report is a string that nothing names, and so are the heads of WALL CLOCK. */
static bool ends_profile(const struct hpx_rd_event *ev)
{
    static const char last[] = "tables";
    return (ev->kind == HPX_RD_REPORT && ev->report.key.n == sizeof last - 1 && memcmp(ev->report.key.p, last, sizeof last - 1) == 0) ||
           (ev->kind == HPX_RD_STRING && hpx_rd_is_report(&ev->string));
}

/* Times for a sentence alone must not cost a file that is readable without them. */
static void only_few(struct hprof_in *in)
{
    struct hpx_tree *t = in->tree;
    if (in->told && (t->no_memory || in->places.len > MOST_TOLD || t->views[HPX_VIEW_CPU].moments.len > MOST_TOLD)) {
        t->no_memory = false; /* events end a reader that has none */
        hpx_tree_without_times(t);
        hpx_budget_give(in->places.cap * sizeof(struct place));
        free(in->places.items);
        in->places = (struct hpx_list){0};
    }
}

static void take_time(struct hprof_in *in, const struct hpx_rd_event *ev)
{
    if (ev->kind == HPX_RD_TIMELINE) {
        begin_times(in, &ev->timeline);
    } else if (ev->kind == HPX_RD_PLACE) {
        take_place(in, &ev->place);
    } else {
        take_moment(in, &ev->moment);
    }
    only_few(in);
}

static int event(void *ctx, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    struct hprof_in *in = ctx;
    if (in->each != NULL && ends_profile(ev) && !hand_on(in)) {
        return hpx_reader_break(r, r->end, 0, "nobody takes its profiles any more");
    }
    switch (ev->kind) {
    case HPX_RD_HEAP:
        begin_heap(in);
        break;
    case HPX_RD_HEAP_END:
        in->heap_open = !ev->heap.ended;
        break;
    case HPX_RD_TIMELINE:
    case HPX_RD_PLACE:
    case HPX_RD_MOMENT:
        if (in->tree->timed) {
            take_time(in, ev);
        }
        break;
    case HPX_RD_INSTANCE:
    case HPX_RD_OBJECTS:
    case HPX_RD_PRIMITIVES:
        object(in, ev);
        break;
    default:
        break;
    }
    return in->tree->no_memory || in->profile.defined.no_memory ? hpx_reader_no_memory(r) : HPX_RD_SOUND;
}

static uint32_t fact(struct hpx_tree *t, const char *text, uint32_t before)
{
    return text[0] != '\0' ? hpx_tree_name(t, text, strlen(text)) : before;
}

/* The date of a text file is one of this machine's clock: "Wed Nov 25 15:35:21 2026". */
static uint64_t start_of(const struct hpx_profile *p)
{
    struct tm tm = {.tm_isdst = -1};
    if (p->header.ms != 0) {
        return p->header.ms < YEAR_2262 ? p->header.ms : 0;
    }
    time_t at = strptime(p->date, "%a %b %d %H:%M:%S %Y", &tm) != NULL ? mktime(&tm) : -1;
    return at > 0 && (uint64_t)at < YEAR_2262 / 1000 ? (uint64_t)at * 1000 : 0;
}

static void origin(struct hpx_tree *t, const struct hpx_said *s)
{
    struct hpx_tree_origin o = {.host = fact(t, s->host, 0),
                                .service = fact(t, s->service, 0),
                                .version = fact(t, s->version, 0),
                                .container = fact(t, s->container, 0),
                                .pid = s->pid,
                                .began_ms = s->began_ms,
                                .number = s->number};
    t->origin = o;
    if (s->to_ms > 0 && s->to_ms < YEAR_2262) { /* what its profiles cover; the head of the file is older */
        t->start_ms = s->first_ms;
        t->duration_ms = s->to_ms - s->first_ms;
    }
}

/* A file has no table of blocks without rows: its monitor dump tells that they were looked for. */
static void note_empty(struct hpx_tree *t, const struct hpx_profile *p)
{
    bool blocked = false;
    for (size_t k = 0; k < HPX_ARRAY_LEN(p->tables); k++) {
        const struct hpx_profile_table *of = &p->tables[k];
        bool shown = of->seen > 0 && view_of(of->sums.tag) != HPX_VIEWS;
        t->empty |= shown && of->rows == 0 ? 1u << view_of(of->sums.tag) : 0;
        blocked |= shown && hpx_rd_blocked(of->sums.tag);
    }
    t->empty |= !blocked && p->said.since && p->counts[HPX_TAG_MONITOR_DUMP] > 0 ? 1u << HPX_VIEW_LOCK : 0;
}

static void facts(struct hprof_in *in)
{
    struct hpx_tree *t = in->tree;
    struct hpx_profile *p = &in->profile;
    t->start_ms = start_of(p);
    t->duration_ms = p->us / 1000;
    t->interval_ns = p->interval_ns;
    t->effective += hpx_profile_table(p, HPX_TAG_SAMPLES)->rows > 0 ? hpx_profile_effective(p) : 0;
    if (hpx_profile_table(p, HPX_TAG_SITES)->rows > 0) {
        t->sampled += p->said.allocations;
        t->views[HPX_VIEW_ALLOC].exact = p->said.allocations == 0;
    }
    t->live_drawn |= p->said.live_drawn;
    t->in_probes = p->said.in_probes;
    t->probes_share = p->said.in_probes_share;
    note_empty(t, p);
    t->lost = fact(t, p->said.lost, t->lost);
    t->own = fact(t, p->said.own, t->own);
    t->filtered = fact(t, p->said.filtered, 0);
    hpx_tree_take_before(t, p->said.before);
    t->older = fact(t, p->said.older, t->older);
    t->replaced = fact(t, p->said.replaced, t->replaced);
    origin(t, &p->said);
    if (in->has_times) {
        uint64_t zero = in->times.zero_ms, end = zero + in->times.end_ms, first = p->said.first_ms;
        hpx_tree_add_times(t, first > zero && first < end ? first : zero, end);
        t->times_zero_ms = zero;
    }
    size_t n;
    FILE *to = in->each == NULL && p->states.len > 0 ? open_memstream(&t->states, &n) : NULL;
    if (to != NULL) { /* else the tables are there all the same */
        hpx_report_monitors(to, p);
        (void)fclose(to);
    }
}

static void leave(struct hprof_in *in)
{
    free(in->frames.items);
    free(in->nodes.items);
    free(in->spoken.items);
    free(in->path.steps.items);
    free(in->classes.items);
    free(in->objects.items);
    free(in->places.items);
    hpx_seeded_map_fini(&in->class_of);
    hpx_seeded_map_fini(&in->object_of);
    hpx_profile_fini(&in->profile);
    free(in);
}

static enum hpx_tree_read result(const struct hprof_in *in, const struct hpx_reader *r, struct hpx_err *err)
{
    in->tree->no_memory |= in->profile.defined.no_memory;
    if (r->result == HPX_RD_SOUND && !in->tree->no_memory) {
        return HPX_TREE_WHOLE;
    }
    if (in->tree->no_memory || r->result == HPX_RD_FAILED) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "%s", in->tree->no_memory ? hpx_budget_why() : r->why);
        return HPX_TREE_FAILED;
    }
    (void)hpx_err_set(err, HPX_E_RANGE, "broken at byte %" PRIu64 ": %s", r->at, r->why);
    return HPX_TREE_PART;
}

static struct hprof_in *enter(struct hpx_tree *t)
{
    struct hprof_in *in = calloc(1, sizeof *in);
    if (in == NULL || hpx_profile_init(&in->profile) != 0) {
        if (in != NULL) {
            hpx_profile_fini(&in->profile);
        }
        free(in);
        return NULL;
    }
    in->tree = t;
    hpx_seeded_map_init(&in->class_of, true);
    hpx_seeded_map_init(&in->object_of, true);
    return in;
}

static void run(struct hprof_in *in, struct hpx_reader *r)
{
    r->sinks[1] = hpx_profile_event;
    r->sinks[2] = event;
    r->ctx[1] = &in->profile;
    r->ctx[2] = in;
    (void)hpx_reader_run(r);
}

enum hpx_tree_read hpx_tree_run_hprof(struct hpx_tree *t, struct hpx_reader *r, hpx_tree_profile *tell, void *ctx, struct hpx_err *err)
{
    struct hprof_in *in = enter(t);
    bool timed = t->timed;
    if (in == NULL) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        return HPX_TREE_FAILED;
    }
    in->told = t->told_times && !timed && !hpx_window_is_set();
    t->timed |= in->told || hpx_window_is_set();
    run(in, r);
    enum hpx_tree_read done = result(in, r, err);
    if (done != HPX_TREE_FAILED) {
        add_all(in);
        facts(in);
    }
    for (size_t k = 0; k < HPX_VIEWS && done == HPX_TREE_FAILED; k++) {
        hpx_tree_clear(&t->views[k]); /* moments have no stacks yet */
    }
    if (done != HPX_TREE_FAILED && t->no_memory) {
        (void)hpx_reader_no_memory(r);
        done = result(in, r, err);
    }
    if (done != HPX_TREE_FAILED && tell != NULL) {
        tell(ctx, t, &in->profile);
    }
    if (in->told) {
        hpx_tree_without_times(t);
    }
    if (done != HPX_TREE_FAILED && hpx_window_is_set() && !in->has_times) {
        (void)hpx_err_set(err, HPX_E_RANGE, HPX_WINDOW_NO_TIMES);
        done = HPX_TREE_FAILED;
    } else if (done != HPX_TREE_FAILED && hpx_window_is_set()) {
        hpx_window_apply(t, in->times.zero_ms, in->times.end_ms, timed);
        if (t->no_memory) {
            (void)hpx_reader_no_memory(r);
            done = result(in, r, err);
        }
    }
    leave(in);
    return done;
}

enum hpx_tree_read hpx_tree_read_hprof(struct hpx_tree *t, struct hpx_source *s, hpx_tree_profile *tell, void *ctx, struct hpx_err *err)
{
    return hpx_tree_run_hprof(t, &(struct hpx_reader){.source = s}, tell, ctx, err);
}

enum hpx_tree_read hpx_tree_stream_hprof(struct hpx_source *s, hpx_tree_each *each, void *ctx, struct hpx_err *err)
{
    struct hpx_tree t;
    struct hprof_in *in = hpx_tree_init(&t) ? enter(&t) : NULL;
    enum hpx_tree_read done = HPX_TREE_FAILED;
    if (in != NULL) {
        in->each = each;
        in->each_ctx = ctx;
        struct hpx_reader r = {.source = s};
        run(in, &r);
        done = in->left ? HPX_TREE_WHOLE : result(in, &r, err);
        leave(in);
    } else {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
    }
    hpx_tree_fini(&t);
    return done;
}
