/* SPDX-License-Identifier: BSD-2-Clause */
/* write_pprof.c: pprof (profile.proto of github.com/google/pprof). Its fields may stand in any order, so each is written as it is found.
 * Numbers of names and frames are those of the tree; names that it does not have come behind. */
#include "formats.h"
#include "numbering.h"
#include "protobuf.h"
#include "writers.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, TIME = 9, DURATION, PERIOD_TYPE, PERIOD, COMMENT, DEFAULT_TYPE };

/* Strings of a name "STATE CLASS" of WALL CLOCK. */
struct parts {
    uint32_t state, class; /* state 0: not split yet */
};

struct pprof {
    const struct hpx_tree *tree;
    FILE *to;
    struct hpx_pb head, part, inner, packed;
    struct hpx_functions functions;
    struct hpx_tree_column columns[HPX_VIEWS * HPX_TREE_VALUES];
    size_t ncolumns;
    uint32_t strings;      /* so far */
    uint32_t thread;       /* keys of labels */
    uint32_t state, class; /* 0: no class yet */
    struct parts *parts;   /* by name of the tree; NULL: no name of a state had to be split yet */
    bool no_memory;
};

/* A message as a field of the profile. */
static void put(struct pprof *p, unsigned field, struct hpx_pb *m)
{
    struct hpx_pb *head = &p->head;
    head->len = 0;
    hpx_pb_raw(head, (uint64_t)field << 3 | 2);
    hpx_pb_raw(head, m->len);
    p->no_memory |= m->no_memory || head->no_memory;
    if (head->len > 0) {
        (void)fwrite_unlocked(head->bytes, 1, head->len, p->to);
    }
    if (m->len > 0) {
        (void)fwrite_unlocked(m->bytes, 1, m->len, p->to);
    }
    m->len = 0;
}

static void put_number(struct pprof *p, unsigned field, uint64_t v)
{
    hpx_pb_number(&p->part, field, v);
    if (p->part.len > 0) {
        (void)fwrite(p->part.bytes, 1, p->part.len, p->to);
    }
    p->part.len = 0;
}

static uint32_t put_string(struct pprof *p, const char *text)
{
    struct hpx_pb raw = {.bytes = (uint8_t *)(uintptr_t)text, .len = strlen(text)};
    put(p, STRING, &raw);
    return p->strings++;
}

static void put_type(struct pprof *p, unsigned field, uint32_t name, uint32_t unit)
{
    hpx_pb_number(&p->part, 1, name);
    hpx_pb_number(&p->part, 2, unit);
    put(p, field, &p->part);
}

static void types(struct pprof *p, struct hpx_tree_column c)
{
    uint32_t cpu = 0, ns = 0;
    for (size_t i = 0; i < p->ncolumns; i++) {
        const struct hpx_tree_measure *m = &p->tree->views[p->columns[i].view].measures[p->columns[i].measure];
        uint32_t name = put_string(p, m->name), unit = put_string(p, hpx_tree_unit_name(m->unit));
        put_type(p, SAMPLE_TYPE, name, unit);
        if (p->columns[i].view == c.view && p->columns[i].measure == c.measure) {
            put_number(p, DEFAULT_TYPE, name);
            cpu = name;
            ns = unit;
        }
    }
    if (p->tree->interval_ns > 0) {
        cpu = put_string(p, "cpu");
        ns = put_string(p, "nanoseconds");
    }
    put_type(p, PERIOD_TYPE, cpu, ns);
    put_number(p, PERIOD, p->tree->interval_ns > 0 ? p->tree->interval_ns : 1);
}

/* A location for samples without any, which Go's pprof forgets. */
static void no_stack(struct pprof *p, uint32_t location, uint64_t function)
{
    uint32_t name = put_string(p, HPX_NO_STACK);
    hpx_pb_number(&p->part, 1, function);
    hpx_pb_number(&p->part, 2, name);
    put(p, FUNCTION, &p->part);
    hpx_pb_number(&p->inner, 1, function);
    hpx_pb_number(&p->part, 1, location);
    hpx_pb_number(&p->part, 2, 1);
    hpx_pb_message(&p->part, 4, &p->inner);
    put(p, LOCATION, &p->part);
}

/* A location is a line of a function. Without a name of the system Go's pprof leaves the other one alone: else it takes names with brackets
 * for those of C++, and their arguments away. */
static void frames(struct pprof *p)
{
    for (size_t i = 1; i < p->functions.list.len; i++) {
        hpx_pb_number(&p->part, 1, i);
        hpx_pb_number(&p->part, 2, hpx_function_at(&p->functions, i)->name);
        hpx_pb_number(&p->part, 4, hpx_function_at(&p->functions, i)->source);
        put(p, FUNCTION, &p->part);
    }
    for (uint32_t i = 1; i < p->tree->frames.len; i++) {
        hpx_pb_number(&p->inner, 1, p->functions.of[i]);
        hpx_pb_number(&p->inner, 2, (uint64_t)hpx_tree_frame_at(p->tree, i)->line);
        hpx_pb_number(&p->part, 1, i);
        hpx_pb_number(&p->part, 2, 1);
        hpx_pb_message(&p->part, 4, &p->inner);
        put(p, LOCATION, &p->part);
    }
    no_stack(p, (uint32_t)p->tree->frames.len, p->functions.list.len);
}

static bool has_class(const struct hpx_tree *t, uint32_t node)
{
    return node != 0 && hpx_tree_frame_at(t, hpx_tree_node_at(t, node)->frame)->kind == HPX_FRAME_CLASS;
}

static void label(struct pprof *p, uint32_t key, uint32_t value)
{
    hpx_pb_number(&p->inner, 1, key);
    hpx_pb_number(&p->inner, 2, value);
    hpx_pb_message(&p->part, 3, &p->inner);
}

/* The name as a label of its state, and one of the class that follows it. Frames name the whole, so the strings are new ones. */
static void state_labels(struct pprof *p, uint32_t name)
{
    char state[32];
    const char *text = hpx_tree_text(p->tree, name), *blank = strchr(text, ' ');
    size_t word = blank != NULL ? (size_t)(blank - text) : 0;
    if (word == 0 || word >= sizeof state) {
        label(p, p->state, name);
        return;
    }
    p->parts = p->parts != NULL ? p->parts : calloc(p->tree->names.len, sizeof *p->parts);
    if (p->parts == NULL) {
        p->no_memory = true;
        return;
    }
    struct parts *of = &p->parts[name];
    p->class = p->class != 0 ? p->class : put_string(p, "class");
    if (of->state == 0) {
        memcpy(state, text, word);
        state[word] = '\0';
        of->state = put_string(p, state);
        of->class = put_string(p, blank + 1);
    }
    label(p, p->state, of->state);
    label(p, p->class, of->class);
}

/* The state of WALL CLOCK, the innermost frame in the tree, is a label. */
static void sample(struct pprof *p, size_t view, const struct hpx_tree_sample *s, const uint64_t *values)
{
    bool state = view == HPX_VIEW_WALL && has_class(p->tree, s->node);
    uint32_t top = state ? hpx_tree_node_at(p->tree, s->node)->parent : s->node;
    for (uint32_t node = top; node != 0; node = hpx_tree_node_at(p->tree, node)->parent) {
        hpx_pb_raw(&p->packed, hpx_tree_node_at(p->tree, node)->frame);
    }
    if (top == 0) {
        hpx_pb_raw(&p->packed, p->tree->frames.len);
    }
    hpx_pb_bytes(&p->part, 1, p->packed.bytes, p->packed.len);
    p->packed.len = 0;
    for (size_t i = 0; i < p->ncolumns; i++) {
        uint64_t v = p->columns[i].view == view ? values[p->columns[i].measure] : 0;
        hpx_pb_raw(&p->packed, v <= INT64_MAX ? v : INT64_MAX);
    }
    hpx_pb_message(&p->part, 2, &p->packed);
    if (s->thread != 0) {
        label(p, p->thread, s->thread);
    }
    if (state) {
        state_labels(p, hpx_tree_frame_at(p->tree, hpx_tree_node_at(p->tree, s->node)->frame)->name);
    }
    put(p, SAMPLE, &p->part);
}

static void comment(struct pprof *p, const char *what, const char *text)
{
    char line[1200]; /* of a report, where a byte may become six */
    if (text[0] != '\0') {
        (void)snprintf(line, sizeof line, "%s%s", what, text);
        put_number(p, COMMENT, put_string(p, line));
    }
}

/* Every stack of objects and monitors ends with a class, and there is one. */
static bool all_have_classes(const struct hpx_tree *t)
{
    bool all = true, any = false;
    for (enum hpx_view_kind k = 0; k < HPX_VIEWS; k++) {
        const struct hpx_tree_view *v = &t->views[k];
        for (size_t i = 0; hpx_view_has_classes(k) && k != HPX_VIEW_WALL && all && i < v->samples.len; i++) {
            all = has_class(t, hpx_tree_sample_at(v, i)->node);
            any = true;
        }
    }
    return all && any;
}

bool hpx_write_pprof(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    struct pprof p = {.tree = t, .to = to};
    p.ncolumns = hpx_tree_columns(t, p.columns);
    if (!hpx_functions_init(&p.functions, t)) {
        hpx_functions_fini(&p.functions);
        return false;
    }
    for (uint32_t i = 0; i < t->names.len; i++) {
        (void)put_string(&p, hpx_tree_text(t, i));
    }
    p.thread = put_string(&p, "thread");
    p.state = put_string(&p, "state");
    types(&p, c);
    hpx_pb_number(&p.part, 1, 1); /* pprof looks for names itself where no mapping says that there are some */
    hpx_pb_number(&p.part, 7, 1);
    hpx_pb_number(&p.part, 8, 1);
    hpx_pb_number(&p.part, 9, 1);
    put(&p, MAPPING, &p.part);
    frames(&p);
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        const struct hpx_tree_view *v = &t->views[k];
        for (size_t i = 0; i < v->samples.len && !p.no_memory; i++) {
            sample(&p, k, hpx_tree_sample_at(v, i), hpx_tree_values_at(v, i));
        }
    }
    put_number(&p, TIME, t->start_ms * 1000000);
    put_number(&p, DURATION, t->duration_ms * 1000000);
    comment(&p, "", all_have_classes(t) ? HPX_PPROF_CLASSES : "");
    comment(&p, "lost: ", hpx_tree_text(t, t->lost));
    comment(&p, "own CPU time: ", hpx_tree_text(t, t->own));
    comment(&p, "filtered: ", hpx_tree_text(t, t->filtered));
    comment(&p, "before filters: ", hpx_tree_text(t, t->unfiltered));
    if (t->effective > 0) {
        char number[24];
        (void)snprintf(number, sizeof number, "%" PRIu64, t->effective);
        comment(&p, "effective samples: ", number);
    }
    free(p.parts);
    hpx_functions_fini(&p.functions);
    hpx_pb_free(&p.head);
    hpx_pb_free(&p.part);
    hpx_pb_free(&p.inner);
    hpx_pb_free(&p.packed);
    return !p.no_memory;
}
