/* SPDX-License-Identifier: BSD-2-Clause */
/* filter.c: see filter.h. It makes a new tree of what stays, so that no file has the names of what does not. */
#include "filter.h"
#include "budget.h"
#include "memory.h"
#include "patterns.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIT(kind) (1u << (kind))

static const char *const kinds[HPX_FILTERS] = {
    [HPX_FILTER_INCLUDE] = "include", [HPX_FILTER_EXCLUDE] = "exclude", [HPX_FILTER_THREAD] = "thread",
    [HPX_FILTER_STATE] = "state",     [HPX_FILTER_ROOT] = "root",       [HPX_FILTER_LEAF] = "leaf"};

const char *hpx_filter_name(enum hpx_filter_kind kind)
{
    return kinds[kind];
}

bool hpx_filter_add(struct hpx_filter *f, enum hpx_filter_kind kind, const char *pattern)
{
    struct hpx_filter_pattern *p = hpx_list_push(&f->patterns, sizeof *p);
    if (p != NULL) {
        *p = (struct hpx_filter_pattern){kind, pattern};
    }
    return p != NULL;
}

void hpx_filter_fini(struct hpx_filter *f)
{
    free(f->patterns.items);
    *f = (struct hpx_filter){.patterns = {0}};
}

/* ---- names ---- */

static bool whole(const char *pattern, const char *name, size_t n)
{
    return hpx_pattern_fits(pattern, strlen(pattern), name, n, "");
}

bool hpx_filter_fits(const char *pattern, const char *name)
{
    size_t plain = strcspn(name, "("), class = plain; /* (the arguments) */
    while (class > 0 && name[class - 1] != '.') {
        class --;
    }
    return hpx_pattern_fits(pattern, strlen(pattern), name, strlen(name), "./$(") || whole(pattern, name, plain) ||
           (class > 1 && whole(pattern, name, class - 1));
}

static bool state_fits(const char *pattern, const char *name)
{
    return whole(pattern, name, strlen(name)) || whole(pattern, name, strcspn(name, " "));
}

/* ---- which frames and threads fit ---- */

struct work {
    const struct hpx_tree *from;
    const struct hpx_filter *filter;
    unsigned asked; /* bits of kinds */
    struct hpx_tree to;
    uint8_t *frame_bits, *thread_bits; /* by frame; by name */
    uint32_t *frame_of, *name_of;      /* in the new tree; 0: not there yet */
    struct hpx_list stack;             /* uint32_t: frames, innermost first */
    struct hpx_tree_path path;
    struct hpx_seeded_map fate; /* of the stacks and threads of a view with moments: the node in the new tree + 1; 0: left out */
};

static const struct hpx_filter_pattern *pattern_at(const struct hpx_filter *f, size_t i)
{
    return (const struct hpx_filter_pattern *)f->patterns.items + i;
}

static void mark_frame(const struct work *w, uint32_t i)
{
    const struct hpx_tree_frame *f = hpx_tree_frame_at(w->from, i);
    const char *name = hpx_tree_text(w->from, f->name);
    for (size_t k = 0; k < w->filter->patterns.len; k++) {
        const struct hpx_filter_pattern *p = pattern_at(w->filter, k);
        bool fits = p->kind == HPX_FILTER_STATE ? f->kind == HPX_FRAME_CLASS && state_fits(p->text, name)
                                                : p->kind != HPX_FILTER_THREAD && hpx_filter_fits(p->text, name);
        w->frame_bits[i] |= fits ? BIT(p->kind) : 0;
    }
}

/* thread_bits: UINT8_MAX for names that threads have. */
static void mark_threads(const struct work *w)
{
    const struct hpx_tree *t = w->from;
    uint8_t *bits = w->thread_bits;
    for (size_t k = 0; k < w->filter->patterns.len; k++) {
        const struct hpx_filter_pattern *p = pattern_at(w->filter, k);
        bool thread = p->kind == HPX_FILTER_THREAD, any = false;
        if (!thread && p->kind != HPX_FILTER_INCLUDE && p->kind != HPX_FILTER_EXCLUDE) {
            continue;
        }
        for (int pass = 0; pass < 2 && !any; pass++) { /* the name, else a part of it */
            for (uint32_t i = 1; i < t->names.len; i++) {
                const char *name = hpx_tree_text(t, i);
                bool fits =
                    (bits[i] & BIT(HPX_FILTERS)) != 0 && (pass == 0 ? whole(p->text, name, strlen(name)) : strstr(name, p->text) != NULL);
                bits[i] |= fits ? BIT(p->kind) : 0;
                any |= fits;
            }
            any |= !thread;
        }
    }
}

static bool prepare(struct work *w)
{
    const struct hpx_tree *t = w->from;
    size_t frames = t->frames.len, names = t->names.len;
    hpx_seeded_map_init(&w->fate, true);
    bool made = hpx_tree_init(&w->to) && hpx_budget_take(frames + names + (frames + names) * sizeof(uint32_t));
    w->frame_bits = calloc(frames, 1);
    w->thread_bits = calloc(names, 1);
    w->frame_of = calloc(frames, sizeof *w->frame_of);
    w->name_of = calloc(names, sizeof *w->name_of);
    if (!made || w->frame_bits == NULL || w->thread_bits == NULL || w->frame_of == NULL || w->name_of == NULL) {
        return false;
    }
    for (size_t k = 0; k < w->filter->patterns.len; k++) {
        w->asked |= BIT(pattern_at(w->filter, k)->kind);
    }
    w->to.timed = t->timed;
    for (uint32_t i = 1; i < frames; i++) {
        mark_frame(w, i);
    }
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        for (size_t i = 0; i < t->views[k].samples.len; i++) {
            w->thread_bits[hpx_tree_sample_at(&t->views[k], i)->thread] |= BIT(HPX_FILTERS);
        }
    }
    mark_threads(w);
    return true;
}

/* ---- samples ---- */

static uint32_t take_name(struct work *w, uint32_t name)
{
    if (name != 0 && w->name_of[name] == 0) {
        const char *text = hpx_tree_text(w->from, name);
        w->name_of[name] = hpx_tree_name(&w->to, text, strlen(text));
    }
    return w->name_of[name];
}

static uint32_t take_frame(struct work *w, uint32_t frame)
{
    const struct hpx_tree_frame *f = hpx_tree_frame_at(w->from, frame);
    if (w->frame_of[frame] == 0) {
        w->frame_of[frame] = hpx_tree_frame(&w->to, take_name(w, f->name), take_name(w, f->source), f->line, f->kind);
    }
    return w->frame_of[frame];
}

static uint32_t stack_at(const struct work *w, size_t i)
{
    return ((const uint32_t *)w->stack.items)[i];
}

/* false: no memory. */
static bool take_stack(struct work *w, uint32_t node)
{
    w->stack.len = 0;
    for (; node != 0; node = hpx_tree_node_at(w->from, node)->parent) {
        uint32_t *slot = hpx_list_push(&w->stack, sizeof *slot);
        if (slot == NULL) {
            return false;
        }
        *slot = hpx_tree_node_at(w->from, node)->frame;
    }
    return true;
}

/* methods: where they begin in the stack: behind the class or state, if there is one. */
static bool chosen(const struct work *w, size_t view, uint32_t thread, size_t methods)
{
    unsigned bits = w->thread_bits[thread], state = methods > 0 && view == HPX_VIEW_WALL ? w->frame_bits[stack_at(w, 0)] : 0;
    for (size_t i = view == HPX_VIEW_WALL ? methods : 0; i < w->stack.len; i++) {
        bits |= w->frame_bits[stack_at(w, i)] & (BIT(HPX_FILTER_INCLUDE) | BIT(HPX_FILTER_EXCLUDE));
    }
    bits = (bits & ~BIT(HPX_FILTER_STATE)) | (state & BIT(HPX_FILTER_STATE));
    unsigned must = w->asked & (BIT(HPX_FILTER_INCLUDE) | BIT(HPX_FILTER_THREAD) | BIT(HPX_FILTER_STATE));
    return (bits & must) == must && (bits & w->asked & BIT(HPX_FILTER_EXCLUDE)) == 0;
}

/* Where the outermost method of the kind is among the stack from `begin` inwards; methods: there is none. Both one more than the index. */
static size_t outermost(const struct work *w, enum hpx_filter_kind kind, size_t begin, size_t methods)
{
    while (begin > methods && (w->frame_bits[stack_at(w, begin - 1)] & BIT(kind)) == 0) {
        begin--;
    }
    return begin;
}

/* The node + 1 that a stack of the thread has in the new tree; 0: it is left out. */
static uint32_t cut(struct work *w, size_t view, uint32_t node, uint32_t thread)
{
    if (!take_stack(w, node)) {
        w->to.no_memory = true;
        return 0;
    }
    size_t from = w->stack.len, to = from > 0 && hpx_tree_frame_at(w->from, stack_at(w, 0))->kind == HPX_FRAME_CLASS, methods = to;
    if (!chosen(w, view, thread, methods)) {
        return 0;
    }
    if ((w->asked & BIT(HPX_FILTER_ROOT)) != 0) {
        from = outermost(w, HPX_FILTER_ROOT, from, methods);
        if (from == methods) {
            return 0;
        }
    }
    if ((w->asked & BIT(HPX_FILTER_LEAF)) != 0) {
        to = outermost(w, HPX_FILTER_LEAF, from, methods);
        if (to == methods) {
            return 0;
        }
        to--;
    }
    hpx_tree_path_begin(&w->path);
    for (; from > to; from--) {
        hpx_tree_path_down(&w->to, &w->path, take_frame(w, stack_at(w, from - 1)));
    }
    if (methods > 0) { /* every reader of such a view looks for it */
        hpx_tree_path_down(&w->to, &w->path, take_frame(w, stack_at(w, 0)));
    }
    return hpx_tree_path_end(&w->path) + 1;
}

static void add(struct work *w, size_t view, size_t i)
{
    const struct hpx_tree_view *v = &w->from->views[view];
    const struct hpx_tree_sample *s = hpx_tree_sample_at(v, i);
    uint32_t node = cut(w, view, s->node, s->thread);
    if (node != 0) {
        hpx_tree_add(&w->to, &w->to.views[view], node - 1, take_name(w, s->thread), hpx_tree_values_at(v, i));
    }
}

/* What is left of the moments is that of the samples. */
static void take_moments(struct work *w, size_t view)
{
    const struct hpx_tree_view *v = &w->from->views[view];
    bool threads = hpx_tree_has_threads(v);
    hpx_seeded_map_clear(&w->fate);
    for (size_t i = 0; i < v->moments.len && !w->to.no_memory; i++) {
        struct hpx_tree_moment m = *hpx_tree_moment_at(v, i);
        uint32_t thread = threads ? m.thread : 0, *node;
        int added = hpx_seeded_map_add(&w->fate, (uint64_t)m.node << 32 | thread, &node);
        if (added > 0) {
            *node = cut(w, view, m.node, thread);
        }
        w->to.no_memory |= added < 0;
        if (added >= 0 && *node != 0) {
            m.node = *node - 1;
            m.thread = take_name(w, m.thread);
            hpx_tree_add_moment(&w->to, &w->to.views[view], &m, hpx_tree_moment_values_at(v, i));
        }
    }
}

static void take_view(struct work *w, size_t view)
{
    const struct hpx_tree_view *v = &w->from->views[view];
    struct hpx_tree_view *to = &w->to.views[view];
    to->title = v->title;
    to->exact = v->exact;
    to->values = v->values;
    to->main = v->main;
    for (size_t m = 0; m < v->values; m++) {
        to->measures[m] = v->measures[m];
        to->before[m] = v->before[m] != 0 ? v->before[m] : v->totals[m];
        if (view == HPX_VIEW_OTHER) { /* its names are the tree's */
            to->measures[m].name = to->measures[m].title =
                hpx_tree_text(&w->to, hpx_tree_name(&w->to, v->measures[m].name, strlen(v->measures[m].name)));
        }
    }
    for (size_t i = 0; i < v->samples.len && !w->to.no_memory; i++) {
        add(w, view, i);
    }
    take_moments(w, view);
}

/* ---- facts ---- */

static void put_pattern(FILE *to, const struct hpx_filter_pattern *p)
{
    bool plain = p->text[0] != '\0';
    for (const char *c = p->text; *c != '\0'; c++) {
        plain = plain && (isalnum((unsigned char)*c) != 0 || strchr("._-/:@%+,<>", *c) != NULL);
    }
    (void)fprintf(to, "%s--%s %s%s%s", ftell(to) > 0 ? " " : "", kinds[p->kind], plain ? "" : "'", p->text, plain ? "" : "'");
}

/* The options, by which a person can repeat them. */
static uint32_t say(struct work *w)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (to == NULL) {
        w->to.no_memory = true;
        return 0;
    }
    if (w->from->filtered != 0) {
        (void)fprintf(to, "%s;", hpx_tree_text(w->from, w->from->filtered));
    }
    for (size_t i = 0; i < w->filter->patterns.len; i++) {
        put_pattern(to, pattern_at(w->filter, i));
    }
    w->to.no_memory |= fclose(to) != 0;
    uint32_t name = hpx_tree_name(&w->to, text, n);
    free(text);
    return name;
}

static void take_facts(struct work *w)
{
    const struct hpx_tree *from = w->from;
    struct hpx_tree *to = &w->to;
    const struct hpx_tree_view *cpu = &from->views[HPX_VIEW_CPU], *alloc = &from->views[HPX_VIEW_ALLOC];
    size_t counted = cpu->totals[0] == 0; /* samples, else their time */
    to->start_ms = from->start_ms;
    to->duration_ms = from->duration_ms;
    to->interval_ns = from->interval_ns;
    to->effective = hpx_tree_part(from->effective, to->views[HPX_VIEW_CPU].totals[counted], cpu->totals[counted]);
    to->sampled = hpx_tree_part(from->sampled, to->views[HPX_VIEW_ALLOC].totals[1], alloc->totals[1]);
    to->live_drawn = from->live_drawn;
    to->lost = take_name(w, from->lost);
    to->own = take_name(w, from->own);
    to->older = take_name(w, from->older);
    to->replaced = take_name(w, from->replaced);
    to->origin = from->origin;
    to->origin.host = take_name(w, from->origin.host);
    to->origin.service = take_name(w, from->origin.service);
    to->origin.version = take_name(w, from->origin.version);
    to->origin.container = take_name(w, from->origin.container);
    to->in_probes = from->in_probes;
    to->probes_share = from->probes_share;
    to->crowded = from->crowded;
    to->times_zero_ms = from->times_zero_ms;
    to->times_from_ms = from->times_from_ms;
    to->times_to_ms = from->times_to_ms;
    for (size_t i = 0; i < from->pauses.len; i++) {
        struct hpx_tree_pause p = ((const struct hpx_tree_pause *)from->pauses.items)[i];
        p.name = take_name(w, p.name);
        hpx_tree_add_pause(to, &p);
    }
    to->filtered = say(w);
}

void hpx_filter_apply(struct hpx_tree *t, const struct hpx_filter *f)
{
    struct work w = {.from = t, .filter = f};
    struct hpx_budget budget;
    if (f == NULL || f->patterns.len == 0 || t->no_memory) {
        return;
    }
    hpx_budget_begin(&budget, hpx_memory_of_sum(), NULL);
    bool made = prepare(&w);
    for (size_t k = 0; k < HPX_VIEWS && made; k++) {
        take_view(&w, k);
    }
    if (made && !w.to.no_memory) {
        hpx_tree_finish(&w.to);
        take_facts(&w);
    }
    hpx_seeded_map_fini(&w.fate);
    hpx_budget_end(&budget);
    free(w.frame_bits);
    free(w.thread_bits);
    free(w.frame_of);
    free(w.name_of);
    free(w.stack.items);
    free(w.path.steps.items);
    if (made && !w.to.no_memory) {
        hpx_tree_fini(t);
        *t = w.to;
    } else {
        t->no_memory = true;
        hpx_tree_fini(&w.to);
    }
}
