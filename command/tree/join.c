/* SPDX-License-Identifier: BSD-2-Clause */
/* join.c: several trees as one, see compare.h. */
#include "budget.h"
#include "compare.h"
#include "memory.h"
#include <stdlib.h>
#include <string.h>

/* Values in the order of the sum's view: only measures that hprofx does not have may stand in another one. */
static const uint64_t *placed(const struct hpx_tree *to, const struct hpx_tree_view *v, size_t k, const uint64_t *values, uint64_t *room)
{
    const struct hpx_tree_view *other = &to->views[k];
    if (k != HPX_VIEW_OTHER) {
        return values;
    }
    memset(room, 0, HPX_TREE_VALUES * sizeof *room);
    for (size_t m = 0; m < v->values; m++) {
        for (size_t at = 0; at < other->values; at++) {
            bool is = other->measures[at].unit == v->measures[m].unit && strcmp(other->measures[at].name, v->measures[m].name) == 0;
            room[at] = is ? hpx_tree_sum(room[at], values[m]) : room[at];
        }
    }
    return room;
}

/* What a profile has that was not filtered stays beside what others had before that. */
static void join_before(struct hpx_tree *to, const struct hpx_tree_view *v, size_t k)
{
    struct hpx_tree_view *sum = &to->views[k];
    uint64_t rooms[2][HPX_TREE_VALUES];
    const uint64_t *before = placed(to, v, k, v->before, rooms[0]), *totals = placed(to, v, k, v->totals, rooms[1]);
    for (size_t m = 0; m < sum->values; m++) {
        if (sum->before[m] > 0 || before[m] > 0) {
            uint64_t had = sum->before[m] > 0 ? sum->before[m] : hpx_tree_total(sum, m);
            sum->before[m] = hpx_tree_sum(had, before[m] > 0 ? before[m] : totals[m]);
        }
    }
}

static void join_view(struct hpx_tree *to, const struct hpx_tree *from, size_t k, const struct hpx_tree_map *map)
{
    const struct hpx_tree_view *v = &from->views[k];
    uint64_t room[HPX_TREE_VALUES];
    join_before(to, v, k);
    for (size_t i = 0; i < v->samples.len; i++) {
        const struct hpx_tree_sample *s = hpx_tree_sample_at(v, i);
        hpx_tree_add(to, &to->views[k], map->nodes[s->node], map->names[s->thread], placed(to, v, k, hpx_tree_values_at(v, i), room));
    }
    if (v->samples.len > 0) {
        to->views[k].exact = v->exact; /* of the last that has any, as its facts */
    }
}

static void join_moments(struct hpx_tree *to, const struct hpx_tree *from, size_t k, const struct hpx_tree_map *map)
{
    const struct hpx_tree_view *v = &from->views[k];
    uint64_t room[HPX_TREE_VALUES];
    for (size_t i = 0; i < v->moments.len && to->timed && !to->no_memory; i++) {
        struct hpx_tree_moment m = *hpx_tree_moment_at(v, i);
        m.node = map->nodes[m.node];
        m.thread = map->names[m.thread];
        hpx_tree_add_moment(to, &to->views[k], &m, placed(to, v, k, hpx_tree_moment_values_at(v, i), room));
    }
}

static void join_times(struct hpx_tree *to, const struct hpx_tree *from, const struct hpx_tree_map *map)
{
    hpx_tree_add_times(to, from->times_from_ms, from->times_to_ms);
    bool first = to->times_zero_ms == 0 || (from->times_zero_ms != 0 && from->times_zero_ms < to->times_zero_ms);
    to->times_zero_ms = first ? from->times_zero_ms : to->times_zero_ms;
    for (size_t i = 0; i < from->pauses.len && to->timed && !to->no_memory; i++) {
        struct hpx_tree_pause p = ((const struct hpx_tree_pause *)from->pauses.items)[i];
        p.name = map->names[p.name];
        hpx_tree_add_pause(to, &p);
    }
}

static void join_facts(struct hpx_tree *to, const struct hpx_tree *from, const uint32_t *names, unsigned views)
{
    if ((views >> HPX_VIEW_ALLOC & 1) != 0) {
        to->sampled += from->sampled;
        to->live_drawn |= from->live_drawn;
    }
    if ((views >> HPX_VIEW_CALLS & 1) != 0 && from->replaced != 0) {
        to->replaced = names[from->replaced];
    }
    if ((views >> HPX_VIEW_CPU & 1) == 0) {
        return;
    }
    to->start_ms = from->start_ms;
    to->duration_ms = from->duration_ms;
    to->interval_ns = from->interval_ns;
    to->effective += from->effective;
    to->lost = names[from->lost];
    to->own = names[from->own];
    to->older = names[from->older];
    to->filtered = from->filtered != 0 ? names[from->filtered] : to->filtered;
    to->origin = from->origin;
    to->origin.host = names[from->origin.host];
    to->origin.service = names[from->origin.service];
    to->origin.version = names[from->origin.version];
    to->origin.container = names[from->origin.container];
    if (from->verdict != NULL) {
        free(to->verdict);
        to->verdict = strdup(from->verdict);
        to->no_memory |= to->verdict == NULL;
    }
}

/* A name that frames have. */
static uint32_t name_of(struct hpx_tree_map *m, struct hpx_tree *to, const struct hpx_tree *from, uint32_t name)
{
    if (name != 0 && m->names[name] == 0) {
        const char *text = hpx_tree_text(from, name);
        m->names[name] = hpx_tree_name(to, text, strlen(text));
    }
    return m->names[name];
}

bool hpx_tree_map(struct hpx_tree_map *m, struct hpx_tree *to, const struct hpx_tree *from, bool all)
{
    uint32_t *frames = calloc(from->frames.len + 1, sizeof *frames);
    m->names = calloc(from->names.len + 1, sizeof *m->names);
    m->nodes = calloc(from->nodes.len + 1, sizeof *m->nodes);
    to->no_memory |= frames == NULL || m->names == NULL || m->nodes == NULL || from->no_memory;
    if (!to->no_memory) {
        for (uint32_t i = 1; all && i < from->names.len; i++) {
            (void)name_of(m, to, from, i);
        }
        for (uint32_t i = 1; i < from->frames.len; i++) {
            const struct hpx_tree_frame *f = hpx_tree_frame_at(from, i);
            frames[i] = hpx_tree_frame(to, name_of(m, to, from, f->name), name_of(m, to, from, f->source), f->line, f->kind);
        }
        for (uint32_t i = 1; i < from->nodes.len; i++) {
            const struct hpx_tree_node *n = hpx_tree_node_at(from, i);
            m->nodes[i] = hpx_tree_node(to, m->nodes[n->parent], frames[n->frame]);
        }
    }
    free(frames);
    return !to->no_memory;
}

void hpx_tree_map_fini(struct hpx_tree_map *m)
{
    free(m->names);
    free(m->nodes);
}

/* A measure that hprofx does not have, by its name in `to`. */
static void join_measure(struct hpx_tree *to, const struct hpx_tree_measure *of)
{
    size_t at;
    const char *name = hpx_tree_text(to, hpx_tree_name(to, of->name, strlen(of->name)));
    to->crowded |= hpx_tree_find(to, name, hpx_tree_unit_name(of->unit), &at) == NULL;
}

void hpx_tree_join(struct hpx_tree *to, const struct hpx_tree *from)
{
    hpx_tree_join_views(to, from, ~0U, ~0U);
}

void hpx_tree_join_views(struct hpx_tree *to, const struct hpx_tree *from, unsigned views, unsigned moments)
{
    struct hpx_tree_map m;
    struct hpx_budget budget;
    hpx_budget_begin(&budget, hpx_memory_of_sum(), NULL);
    to->no_memory |= !hpx_budget_take(hpx_tree_bytes(to));
    if (hpx_tree_map(&m, to, from, true)) {
        const struct hpx_tree_view *other = &from->views[HPX_VIEW_OTHER];
        for (size_t i = 0; ((views | moments) >> HPX_VIEW_OTHER & 1) != 0 && i < other->values; i++) {
            if (other->totals[i] > 0) {
                join_measure(to, &other->measures[i]);
            }
        }
        for (size_t k = 0; k < HPX_VIEWS; k++) {
            if ((views >> k & 1) != 0) {
                join_view(to, from, k, &m);
            }
            if ((moments >> k & 1) != 0) {
                join_moments(to, from, k, &m);
            }
        }
        if ((moments >> HPX_VIEW_CPU & 1) != 0) {
            join_times(to, from, &m);
        }
        join_facts(to, from, m.names, views);
    }
    hpx_tree_map_fini(&m);
    hpx_budget_end(&budget);
}
