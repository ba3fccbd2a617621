/* SPDX-License-Identifier: BSD-2-Clause */
/* write_otlp.c: OpenTelemetry's profiles (opentelemetry/proto/profiles/v1development/profiles.proto, as of 1.11): one ProfilesData, which
 * on the wire is an ExportProfilesServiceRequest, too. Each column is a Profile, because a Profile has one type of values.
 *
 * A message stands behind its length, and is not kept to know it: its fields are made twice, and only counted at first. */
#include "numbering.h"
#include "protobuf.h"
#include "writers.h"
#include <stdlib.h>
#include <string.h>

enum { RESOURCE_PROFILES = 1, DICTIONARY };
enum { SCOPE_PROFILES = 2 };
enum { SCOPE = 1, PROFILES };
enum { SAMPLE_TYPE = 1, SAMPLES, TIME, DURATION, PERIOD_TYPE, PERIOD, PROFILE_ATTRIBUTES = 11 };
enum { STACK = 1, ATTRIBUTES, VALUES = 4 };
enum { MAPPINGS = 1, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTE_TABLE, STACKS };

#define MOST_EXTRA (4 + 2 * HPX_VIEWS * HPX_TREE_VALUES)

struct otlp {
    const struct hpx_tree *tree;
    FILE *to;       /* NULL: what would be written is counted */
    uint64_t bytes; /* counted */
    struct hpx_pb part, inner, packed;
    struct hpx_functions functions;
    struct hpx_numbering stacks, threads; /* of nodes, of names: from 1 on */
    struct hpx_tree_column columns[HPX_VIEWS * HPX_TREE_VALUES];
    uint64_t sizes[HPX_VIEWS * HPX_TREE_VALUES]; /* of each Profile; 0: not yet counted */
    size_t ncolumns;
    const char *extra[MOST_EXTRA]; /* strings behind the tree's names */
    uint32_t nextra;
};

typedef void fields(struct otlp *o, size_t k);

static void out(struct otlp *o, struct hpx_pb *m)
{
    if (o->to == NULL) {
        o->bytes += m->len;
    } else if (m->len > 0) {
        (void)fwrite_unlocked(m->bytes, 1, m->len, o->to);
    }
    m->len = 0;
}

/* The head of a field of n bytes. */
static void head(struct otlp *o, unsigned field, uint64_t n)
{
    struct hpx_pb *m = &o->packed;
    m->len = 0;
    hpx_pb_raw(m, (uint64_t)field << 3 | 2);
    hpx_pb_raw(m, n);
    out(o, m);
}

/* `part` as a field. */
static void put(struct otlp *o, unsigned field)
{
    head(o, field, o->part.len);
    out(o, &o->part);
}

static uint64_t count(struct otlp *o, fields *of, size_t k)
{
    FILE *to = o->to;
    uint64_t before = o->bytes;
    o->to = NULL;
    o->bytes = 0;
    of(o, k);
    uint64_t n = o->bytes;
    o->to = to;
    o->bytes = before;
    return n;
}

/* A message whose fields are written by `of`, and have that size. */
static void nested(struct otlp *o, unsigned field, fields *of, size_t k, uint64_t size)
{
    head(o, field, size);
    if (o->to == NULL) {
        o->bytes += size;
    } else {
        of(o, k);
    }
}

static uint32_t string(struct otlp *o, const char *text)
{
    uint32_t i = 0;
    while (i < o->nextra && strcmp(o->extra[i], text) != 0) {
        i++;
    }
    if (i == o->nextra) {
        o->extra[o->nextra++] = text;
    }
    return (uint32_t)o->tree->names.len + i;
}

/* ---- the tables, each with a zero entry first ---- */

static void attribute(struct otlp *o, const char *key, const char *value)
{
    hpx_pb_text(&o->inner, 1, value);
    hpx_pb_number(&o->part, 1, string(o, key));
    hpx_pb_message(&o->part, 2, &o->inner);
    put(o, ATTRIBUTE_TABLE);
}

/* The attributes behind those of the threads. */
static const char *const facts[] = {"hprofx.lost", "hprofx.own"};

static uint32_t fact(const struct otlp *o, size_t i)
{
    return i == 0 ? o->tree->lost : o->tree->own;
}

static void locations(struct otlp *o)
{
    for (uint32_t i = 0; i < o->tree->frames.len; i++) {
        const struct hpx_tree_frame *f = hpx_tree_frame_at(o->tree, i);
        if (i > 0) {
            hpx_pb_number(&o->inner, 1, o->functions.of[i]);
            hpx_pb_number(&o->inner, 2, (uint64_t)f->line);
            hpx_pb_message(&o->part, 3, &o->inner);
        }
        put(o, LOCATIONS);
    }
    for (size_t i = 0; i < o->functions.list.len; i++) {
        hpx_pb_number(&o->part, 1, hpx_function_at(&o->functions, i)->name);
        hpx_pb_number(&o->part, 3, hpx_function_at(&o->functions, i)->source);
        put(o, FUNCTIONS);
    }
}

static void stacks(struct otlp *o)
{
    put(o, STACKS);
    for (size_t i = 0; i < hpx_numbered(&o->stacks); i++) {
        for (uint32_t node = hpx_numbered_at(&o->stacks, i); node != 0; node = hpx_tree_node_at(o->tree, node)->parent) {
            hpx_pb_raw(&o->inner, hpx_tree_node_at(o->tree, node)->frame);
        }
        hpx_pb_message(&o->part, 1, &o->inner);
        put(o, STACKS);
    }
}

static void dictionary(struct otlp *o, size_t k)
{
    (void)k;
    static const uint8_t no_span[16];
    put(o, MAPPINGS);
    locations(o);
    hpx_pb_bytes(&o->part, 1, no_span, 16); /* as the .proto wants the zero entry of this table */
    hpx_pb_bytes(&o->part, 2, no_span, 8);
    put(o, LINKS);
    put(o, ATTRIBUTE_TABLE);
    for (size_t i = 0; i < hpx_numbered(&o->threads); i++) {
        attribute(o, "thread.name", hpx_tree_text(o->tree, hpx_numbered_at(&o->threads, i)));
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(facts); i++) {
        if (fact(o, i) != 0) {
            attribute(o, facts[i], hpx_tree_text(o->tree, fact(o, i)));
        }
    }
    stacks(o);
    for (uint32_t i = 0; i < o->tree->names.len + o->nextra; i++) {
        const char *text = i < o->tree->names.len ? hpx_tree_text(o->tree, i) : o->extra[i - o->tree->names.len];
        struct hpx_pb raw = {.bytes = (uint8_t *)(uintptr_t)text, .len = strlen(text)};
        head(o, STRINGS, raw.len);
        out(o, &raw);
    }
}

/* ---- profiles ---- */

static void type(struct otlp *o, unsigned field, const char *name, enum hpx_tree_unit unit)
{
    hpx_pb_number(&o->part, 1, string(o, name));
    hpx_pb_number(&o->part, 2, string(o, hpx_tree_unit_name(unit)));
    put(o, field);
}

static void sample(struct otlp *o, const struct hpx_tree_sample *s, uint64_t value)
{
    hpx_pb_number(&o->part, STACK, o->stacks.of[s->node]);
    if (s->thread != 0) {
        hpx_pb_raw(&o->inner, o->threads.of[s->thread]);
        hpx_pb_message(&o->part, ATTRIBUTES, &o->inner);
    }
    hpx_pb_raw(&o->inner, value <= INT64_MAX ? value : INT64_MAX);
    hpx_pb_message(&o->part, VALUES, &o->inner);
    put(o, SAMPLES);
}

static void profile(struct otlp *o, size_t k)
{
    const struct hpx_tree *t = o->tree;
    const struct hpx_tree_view *v = &t->views[o->columns[k].view];
    const struct hpx_tree_measure *m = &v->measures[o->columns[k].measure];
    type(o, SAMPLE_TYPE, m->name, m->unit);
    for (size_t i = 0; i < v->samples.len; i++) {
        uint64_t value = hpx_tree_values_at(v, i)[o->columns[k].measure];
        if (value > 0) {
            sample(o, hpx_tree_sample_at(v, i), value);
        }
    }
    hpx_pb_fixed64(&o->part, TIME, t->start_ms * 1000000);
    hpx_pb_number(&o->part, DURATION, t->duration_ms * 1000000);
    out(o, &o->part);
    if (o->columns[k].view == HPX_VIEW_CPU && t->interval_ns > 0) {
        type(o, PERIOD_TYPE, "cpu", HPX_UNIT_NS);
        hpx_pb_number(&o->part, PERIOD, t->interval_ns);
    }
    for (size_t i = 0, n = hpx_numbered(&o->threads); i < HPX_ARRAY_LEN(facts); i++) {
        if (fact(o, i) != 0) {
            hpx_pb_raw(&o->inner, ++n);
        }
    }
    hpx_pb_bytes(&o->part, PROFILE_ATTRIBUTES, o->inner.bytes, o->inner.len);
    o->inner.len = 0;
    out(o, &o->part);
}

static void scope_profiles(struct otlp *o, size_t k)
{
    (void)k;
    hpx_pb_text(&o->part, 1, "hprofx");
    hpx_pb_text(&o->part, 2, HPX_VERSION);
    put(o, SCOPE);
    for (size_t i = 0; i < o->ncolumns; i++) {
        nested(o, PROFILES, profile, i, o->sizes[i]);
    }
}

static void resource_profiles(struct otlp *o, size_t k)
{
    nested(o, SCOPE_PROFILES, scope_profiles, k, count(o, scope_profiles, k));
}

/* The numbers of stacks and threads. */
static void number(struct otlp *o)
{
    for (size_t k = 0; k < o->ncolumns; k++) {
        const struct hpx_tree_view *v = &o->tree->views[o->columns[k].view];
        for (size_t i = 0; i < v->samples.len; i++) {
            const struct hpx_tree_sample *s = hpx_tree_sample_at(v, i);
            (void)(s->node != 0 ? hpx_number(&o->stacks, s->node) : 0);
            (void)(s->thread != 0 ? hpx_number(&o->threads, s->thread) : 0);
        }
    }
}

/* All that is referred to has its number before anything is counted. */
static bool prepare(struct otlp *o, struct hpx_tree_column c)
{
    const struct hpx_tree *t = o->tree;
    o->ncolumns = hpx_tree_columns_from(t, c, o->columns);
    if (!hpx_functions_init(&o->functions, t) || !hpx_numbering_init(&o->stacks, t->nodes.len) ||
        !hpx_numbering_init(&o->threads, t->names.len)) {
        return false;
    }
    (void)string(o, "thread.name");
    (void)string(o, facts[0]);
    (void)string(o, facts[1]);
    number(o);
    for (size_t k = 0; k < o->ncolumns; k++) {
        o->sizes[k] = count(o, profile, k);
    }
    return !o->stacks.no_memory && !o->threads.no_memory;
}

bool hpx_write_otlp(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    struct otlp o = {.tree = t, .to = to};
    bool all = prepare(&o, c);
    if (all) {
        nested(&o, RESOURCE_PROFILES, resource_profiles, 0, count(&o, resource_profiles, 0));
        nested(&o, DICTIONARY, dictionary, 0, count(&o, dictionary, 0));
    }
    all = all && !o.part.no_memory && !o.inner.no_memory && !o.packed.no_memory;
    hpx_functions_fini(&o.functions);
    hpx_numbering_fini(&o.stacks);
    hpx_numbering_fini(&o.threads);
    hpx_pb_free(&o.part);
    hpx_pb_free(&o.inner);
    hpx_pb_free(&o.packed);
    return all;
}
