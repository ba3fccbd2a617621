/* SPDX-License-Identifier: BSD-2-Clause */
/* otlp.c: see otlp.h; and the writer of a single tree as .otlp. */
#include "otlp.h"
#include "compare.h"
#include "writers.h"
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static void part_fini(struct hpx_otlp_part *p)
{
    for (size_t k = 0; k < p->profiles.len; k++) {
        free(((struct hpx_otlp_profile *)p->profiles.items + k)->rows.items);
        free(((struct hpx_otlp_profile *)p->profiles.items + k)->kept);
    }
    free(p->profiles.items);
    free(p->host);
    free(p->service);
    free(p->version);
    free(p->container);
}

bool hpx_otlp_init(struct hpx_otlp *o)
{
    memset(o, 0, sizeof *o);
    return hpx_tree_init(&o->dictionary);
}

void hpx_otlp_fini(struct hpx_otlp *o)
{
    for (size_t i = 0; i < o->parts.len; i++) {
        part_fini((struct hpx_otlp_part *)o->parts.items + i);
    }
    free(o->parts.items);
    hpx_tree_fini(&o->dictionary);
}

/* ---- a process ---- */

static struct hpx_otlp_profile *add_profile(struct hpx_otlp_part *p, const struct hpx_tree *t, struct hpx_tree_column c)
{
    struct hpx_otlp_profile *of = hpx_list_push(&p->profiles, sizeof *of);
    const struct hpx_tree_measure *m = &t->views[c.view].measures[c.measure];
    if (of != NULL) {
        *of = (struct hpx_otlp_profile){.name = m->name, .unit = m->unit, .cpu = c.view == HPX_VIEW_CPU};
    }
    return of;
}

static bool add_row(struct hpx_otlp_profile *of, uint32_t node, uint32_t thread, uint64_t value)
{
    struct hpx_otlp_row *r = hpx_list_push(&of->rows, sizeof *r);
    if (r != NULL) {
        *r = (struct hpx_otlp_row){node, thread, value};
    }
    return r != NULL;
}

static void take_facts(struct hpx_otlp_part *p, const struct hpx_tree *t)
{
    p->start_ms = t->start_ms;
    p->duration_ms = t->duration_ms;
    p->interval_ns = t->interval_ns;
    p->pid = t->origin.pid;
}

static bool take_text(char **to, const struct hpx_tree *t, uint32_t name)
{
    *to = name != 0 ? strdup(hpx_tree_text(t, name)) : NULL;
    return name == 0 || *to != NULL;
}

static bool take_origin(struct hpx_otlp_part *p, const struct hpx_tree *t)
{
    const struct hpx_tree_origin *from = &t->origin;
    bool host = take_text(&p->host, t, from->host), service = take_text(&p->service, t, from->service);
    bool version = take_text(&p->version, t, from->version), container = take_text(&p->container, t, from->container);
    return host && service && version && container;
}

/* ---- many processes ---- */

/* A globally unique name of each Profile: those of one process differ by the measure. */
static void name_profile(struct hpx_otlp_profile *of, const uint8_t id[HPX_PROFILE_ID])
{
    XXH64_hash_t seed;
    memcpy(&seed, id + sizeof seed, sizeof seed);
    XXH128_hash_t h = XXH3_128bits_withSeed(of->name, strlen(of->name), seed);
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, h);
    for (size_t i = 0; i < HPX_PROFILE_ID; i++) {
        of->id[i] = id[i] ^ bytes.digest[i];
    }
    of->has_id = true;
}

static uint32_t fact(struct hpx_otlp *o, const struct hpx_tree *t, uint32_t name)
{
    const char *text = hpx_tree_text(t, name);
    return name != 0 ? hpx_tree_name(&o->dictionary, text, strlen(text)) : 0;
}

static bool add_columns(struct hpx_otlp *o, struct hpx_otlp_part *p, const struct hpx_tree *t, const uint32_t *nodes,
                        const uint8_t id[HPX_PROFILE_ID])
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    for (size_t k = 0, n = hpx_tree_columns(t, of); k < n; k++) {
        struct hpx_otlp_profile *to = add_profile(p, t, of[k]);
        uint32_t node;
        uint64_t value;
        if (to == NULL) {
            return false;
        }
        name_profile(to, id);
        if (of[k].view == HPX_VIEW_OTHER) { /* its name is the tree's, which ends before this is written */
            to->name = to->kept = strdup(to->name);
            if (to->name == NULL) {
                return false;
            }
        }
        for (size_t i = 0; hpx_tree_next(&t->views[of[k].view], of[k].measure, &i, &node, &value);) {
            if (!add_row(to, nodes[node], 0, value)) {
                return false;
            }
            o->rows++;
        }
    }
    return true;
}

void hpx_otlp_add(struct hpx_otlp *o, const struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID])
{
    struct hpx_tree_map map = {NULL, NULL};
    struct hpx_otlp_part *p = hpx_list_push(&o->parts, sizeof *p);
    if (p != NULL && hpx_tree_map(&map, &o->dictionary, t, false)) {
        take_facts(p, t);
        p->lost = fact(o, t, t->lost);
        p->own = fact(o, t, t->own);
        p->filtered = fact(o, t, t->filtered);
        p->unfiltered = fact(o, t, t->unfiltered);
        o->no_memory |= !take_origin(p, t) || !add_columns(o, p, t, map.nodes, id);
    } else {
        o->no_memory = true;
    }
    hpx_tree_map_fini(&map);
    o->no_memory |= o->dictionary.no_memory;
}

bool hpx_otlp_write(const struct hpx_otlp *o, FILE *to)
{
    return !o->no_memory && hpx_otlp_write_parts(&o->dictionary, o->parts.items, o->parts.len, to);
}

/* ---- one tree ---- */

static bool add_samples(struct hpx_otlp_part *p, const struct hpx_tree *t, struct hpx_tree_column c)
{
    const struct hpx_tree_view *v = &t->views[c.view];
    struct hpx_otlp_profile *of = add_profile(p, t, c);
    bool all = of != NULL;
    for (size_t i = 0; all && i < v->samples.len; i++) {
        uint64_t value = hpx_tree_values_at(v, i)[c.measure];
        const struct hpx_tree_sample *s = hpx_tree_sample_at(v, i);
        all = value == 0 || add_row(of, s->node, s->thread, value);
    }
    return all;
}

bool hpx_write_otlp(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    struct hpx_otlp_part p = {.lost = t->lost, .own = t->own, .filtered = t->filtered, .unfiltered = t->unfiltered};
    size_t n = hpx_tree_columns_from(t, c, of);
    take_facts(&p, t);
    bool all = take_origin(&p, t);
    for (size_t k = 0; all && k < n; k++) {
        all = add_samples(&p, t, of[k]);
    }
    all = all && hpx_otlp_write_parts(t, &p, 1, to);
    part_fini(&p);
    return all;
}
