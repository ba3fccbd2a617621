/* SPDX-License-Identifier: BSD-2-Clause */
/* write_otlp.c: OpenTelemetry's profiles (opentelemetry/proto/profiles/v1development/profiles.proto, as of 1.11): one ProfilesData, which
 * on the wire is an ExportProfilesServiceRequest, too. Each column is a Profile, because a Profile has one type of values.
 *
 * A message stands behind its length, and is not kept to know it: its fields are made twice, and only counted at first. */
#include "numbering.h"
#include "otlp.h"
#include "protobuf.h"
#include "writers.h"
#include <stdlib.h>
#include <string.h>

enum { RESOURCE_PROFILES = 1, DICTIONARY };
enum { RESOURCE = 1, SCOPE_PROFILES };
enum { SCOPE = 1, PROFILES };
enum { SAMPLE_TYPE = 1, SAMPLES, TIME, DURATION, PERIOD_TYPE, PERIOD, PROFILE_ID, PROFILE_ATTRIBUTES = 11 };
enum { STACK = 1, ATTRIBUTES, VALUES = 4 };
enum { MAPPINGS = 1, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTE_TABLE, STACKS };

/* Strings that the tree does not have: keys of threads and facts, "cpu", and name and unit of each measure there is. */
#define MOST_EXTRA (9 + 2 * HPX_VIEWS * HPX_TREE_VALUES)

/* The attributes of a profile, behind those of threads. */
static const char *const facts[] = {"hprofx.lost", "hprofx.own", "hprofx.filtered", "hprofx.before_filters"};

struct otlp {
    const struct hpx_tree *tree;
    const struct hpx_otlp_part *parts;
    size_t nparts;
    FILE *to;       /* NULL: what would be written is counted */
    uint64_t bytes; /* counted */
    struct hpx_pb part, inner, packed;
    struct hpx_functions functions;
    struct hpx_numbering stacks, threads;             /* of nodes, of names: from 1 on */
    struct hpx_numbering facts[HPX_ARRAY_LEN(facts)]; /* of names; the numbers of each follow those of the one before */
    const char *extra[MOST_EXTRA];                    /* strings behind the tree's names */
    uint32_t nextra;
};

typedef void fields(struct otlp *o, size_t part, size_t k);

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

static uint64_t count(struct otlp *o, fields *of, size_t part, size_t k)
{
    FILE *to = o->to;
    uint64_t before = o->bytes;
    o->to = NULL;
    o->bytes = 0;
    of(o, part, k);
    uint64_t n = o->bytes;
    o->to = to;
    o->bytes = before;
    return n;
}

/* A message whose fields are written by `of`, and have that size. */
static void nested(struct otlp *o, unsigned field, fields *of, size_t part, size_t k, uint64_t size)
{
    head(o, field, size);
    if (o->to == NULL) {
        o->bytes += size;
    } else {
        of(o, part, k);
    }
}

/* A string that the tree may not have. All of them are added before the table of strings is written. */
static uint32_t string(struct otlp *o, const char *text)
{
    uint32_t i = 0;
    while (i < o->nextra && strcmp(o->extra[i], text) != 0) {
        i++;
    }
    if (i == o->nextra && i == MOST_EXTRA) {
        return 0; /* of another profiler's file; the name of its measure is lost, no value */
    }
    if (i == o->nextra) {
        o->extra[o->nextra++] = text;
    }
    return (uint32_t)o->tree->names.len + i;
}

static const struct hpx_otlp_profile *profile_at(const struct otlp *o, size_t part, size_t k)
{
    return (const struct hpx_otlp_profile *)o->parts[part].profiles.items + k;
}

/* ---- the tables, each with a zero entry first ---- */

static void attributes(struct otlp *o, const char *key, const struct hpx_numbering *of)
{
    for (size_t i = 0; i < hpx_numbered(of); i++) {
        hpx_pb_text(&o->inner, 1, hpx_tree_text(o->tree, hpx_numbered_at(of, i)));
        hpx_pb_number(&o->part, 1, string(o, key));
        hpx_pb_message(&o->part, 2, &o->inner);
        put(o, ATTRIBUTE_TABLE);
    }
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

static void dictionary(struct otlp *o, size_t part, size_t k)
{
    static const uint8_t no_span[16];
    (void)part;
    (void)k;
    put(o, MAPPINGS);
    locations(o);
    hpx_pb_bytes(&o->part, 1, no_span, 16); /* as the .proto wants the zero entry of this table */
    hpx_pb_bytes(&o->part, 2, no_span, 8);
    put(o, LINKS);
    put(o, ATTRIBUTE_TABLE);
    attributes(o, "thread.name", &o->threads);
    for (size_t i = 0; i < HPX_ARRAY_LEN(facts); i++) {
        attributes(o, facts[i], &o->facts[i]);
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

static void sample(struct otlp *o, const struct hpx_otlp_row *r)
{
    hpx_pb_number(&o->part, STACK, o->stacks.of[r->node]);
    if (r->thread != 0) {
        hpx_pb_raw(&o->inner, o->threads.of[r->thread]);
        hpx_pb_message(&o->part, ATTRIBUTES, &o->inner);
    }
    hpx_pb_raw(&o->inner, r->value <= INT64_MAX ? r->value : INT64_MAX);
    hpx_pb_message(&o->part, VALUES, &o->inner);
    put(o, SAMPLES);
}

static uint32_t fact(const struct hpx_otlp_part *p, size_t i)
{
    return i == 0 ? p->lost : i == 1 ? p->own : i == 2 ? p->filtered : p->unfiltered;
}

static void profile(struct otlp *o, size_t part, size_t k)
{
    const struct hpx_otlp_part *p = &o->parts[part];
    const struct hpx_otlp_profile *of = profile_at(o, part, k);
    type(o, SAMPLE_TYPE, of->name, of->unit);
    for (size_t i = 0; i < of->rows.len; i++) {
        sample(o, (const struct hpx_otlp_row *)of->rows.items + i);
    }
    hpx_pb_fixed64(&o->part, TIME, p->start_ms * 1000000);
    hpx_pb_number(&o->part, DURATION, p->duration_ms * 1000000);
    out(o, &o->part);
    if (of->cpu && p->interval_ns > 0) {
        type(o, PERIOD_TYPE, "cpu", HPX_UNIT_NS);
        hpx_pb_number(&o->part, PERIOD, p->interval_ns);
    }
    if (of->has_id) {
        hpx_pb_bytes(&o->part, PROFILE_ID, of->id, HPX_PROFILE_ID);
    }
    size_t before = hpx_numbered(&o->threads);
    for (size_t i = 0; i < HPX_ARRAY_LEN(facts); i++) {
        if (fact(p, i) != 0) {
            hpx_pb_raw(&o->inner, before + o->facts[i].of[fact(p, i)]);
        }
        before += hpx_numbered(&o->facts[i]);
    }
    hpx_pb_bytes(&o->part, PROFILE_ATTRIBUTES, o->inner.bytes, o->inner.len);
    o->inner.len = 0;
    out(o, &o->part);
}

static void scope_profiles(struct otlp *o, size_t part, size_t k)
{
    (void)k;
    hpx_pb_text(&o->part, 1, "hprofx");
    hpx_pb_text(&o->part, 2, HPX_VERSION);
    put(o, SCOPE);
    for (size_t i = 0; i < o->parts[part].profiles.len; i++) {
        nested(o, PROFILES, profile, part, i, profile_at(o, part, i)->size);
    }
}

/* An attribute of the resource, with a text or a number. */
static void about(struct otlp *o, const char *key, const char *text, uint64_t number)
{
    if (text != NULL) {
        hpx_pb_text(&o->packed, 1, text);
    } else if (number > 0) {
        hpx_pb_number(&o->packed, 3, number);
    } else {
        return;
    }
    hpx_pb_text(&o->inner, 1, key);
    hpx_pb_message(&o->inner, 2, &o->packed);
    hpx_pb_message(&o->part, 1, &o->inner);
}

static void resource_profiles(struct otlp *o, size_t part, size_t k)
{
    const struct hpx_otlp_part *p = &o->parts[part];
    (void)k;
    o->packed.len = 0;
    about(o, "service.name", p->service, 0);
    about(o, "service.version", p->version, 0);
    about(o, "host.name", p->host, 0);
    about(o, "container.id", p->container, 0);
    about(o, "process.pid", NULL, p->pid);
    if (o->part.len > 0) {
        put(o, RESOURCE);
    }
    nested(o, SCOPE_PROFILES, scope_profiles, part, 0, count(o, scope_profiles, part, 0));
}

/* The numbers of stacks, threads and facts. */
static void number(struct otlp *o)
{
    for (size_t part = 0; part < o->nparts; part++) {
        for (size_t k = 0; k < o->parts[part].profiles.len; k++) {
            const struct hpx_list *rows = &profile_at(o, part, k)->rows;
            for (size_t i = 0; i < rows->len; i++) {
                const struct hpx_otlp_row *r = (const struct hpx_otlp_row *)rows->items + i;
                (void)(r->node != 0 ? hpx_number(&o->stacks, r->node) : 0);
                (void)(r->thread != 0 ? hpx_number(&o->threads, r->thread) : 0);
            }
        }
        for (size_t i = 0; i < HPX_ARRAY_LEN(facts); i++) {
            (void)(fact(&o->parts[part], i) != 0 ? hpx_number(&o->facts[i], fact(&o->parts[part], i)) : 0);
        }
    }
}

/* All that is referred to has its number before anything is counted. */
static bool prepare(struct otlp *o, struct hpx_otlp_part *parts)
{
    const struct hpx_tree *t = o->tree;
    bool all = hpx_functions_init(&o->functions, t) && hpx_numbering_init(&o->stacks, t->nodes.len) &&
               hpx_numbering_init(&o->threads, t->names.len);
    (void)string(o, "thread.name");
    for (size_t i = 0; all && i < HPX_ARRAY_LEN(facts); i++) {
        all = hpx_numbering_init(&o->facts[i], t->names.len);
        (void)string(o, facts[i]);
    }
    if (!all) {
        return false;
    }
    number(o);
    for (size_t part = 0; part < o->nparts; part++) {
        struct hpx_otlp_profile *of = parts[part].profiles.items;
        for (size_t k = 0; k < parts[part].profiles.len; k++) {
            of[k].size = count(o, profile, part, k);
        }
    }
    all = !o->stacks.no_memory && !o->threads.no_memory;
    for (size_t i = 0; i < HPX_ARRAY_LEN(facts); i++) {
        all = all && !o->facts[i].no_memory;
    }
    return all;
}

bool hpx_otlp_write_parts(const struct hpx_tree *t, struct hpx_otlp_part *parts, size_t n, FILE *to)
{
    struct otlp o = {.tree = t, .parts = parts, .nparts = n, .to = to};
    bool all = prepare(&o, parts);
    if (all) {
        for (size_t i = 0; i < n; i++) {
            nested(&o, RESOURCE_PROFILES, resource_profiles, i, 0, count(&o, resource_profiles, i, 0));
        }
        nested(&o, DICTIONARY, dictionary, 0, 0, count(&o, dictionary, 0, 0));
    }
    all = all && !o.part.no_memory && !o.inner.no_memory && !o.packed.no_memory;
    hpx_functions_fini(&o.functions);
    hpx_numbering_fini(&o.stacks);
    hpx_numbering_fini(&o.threads);
    for (size_t i = 0; i < HPX_ARRAY_LEN(facts); i++) {
        hpx_numbering_fini(&o.facts[i]);
    }
    hpx_pb_free(&o.part);
    hpx_pb_free(&o.inner);
    hpx_pb_free(&o.packed);
    return all;
}
