/* SPDX-License-Identifier: BSD-2-Clause */
/* tree.c: see tree.h. */
#include "tree.h"
#include "budget.h"
#include "check.h"
#include "memory.h"
#include "text.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_KEPT ((size_t)4096)
#define NAME_ADDS ((size_t)17)      /* bytes that the memory of a name has besides */
#define MOST      ((size_t)1 << 26) /* of a kind */

#define COUNT(name, title)                                                                                                                 \
    {                                                                                                                                      \
        name, title, HPX_UNIT_COUNT                                                                                                        \
    }
#define NS(name, title)                                                                                                                    \
    {                                                                                                                                      \
        name, title, HPX_UNIT_NS                                                                                                           \
    }
#define BYTES(name, title)                                                                                                                 \
    {                                                                                                                                      \
        name, title, HPX_UNIT_BYTES                                                                                                        \
    }

static const struct hpx_tree_view empty_views[HPX_VIEWS] = {
    [HPX_VIEW_CPU] =
        {.key = "cpu", .title = "CPU", .values = 2, .main = 0, .measures = {COUNT("samples", "samples"), NS("cpu", "CPU time")}},
    [HPX_VIEW_WALL] = {.key = "wall", .title = "Wall clock", .values = 1, .main = 0, .measures = {NS("wall", "time")}},
    [HPX_VIEW_CALLS] = {.key = "times",
                        .title = "Calls",
                        .exact = true,
                        .values = 2,
                        .main = 1,
                        .measures = {COUNT("calls", "calls"), NS("time", "time")}},
    [HPX_VIEW_ALLOC] = {.key = "alloc",
                        .title = "Allocations",
                        .values = 4,
                        .main = 1,
                        .measures = {COUNT("alloc_objects", "allocated objects"), BYTES("alloc_space", "allocated bytes"),
                                     COUNT("inuse_objects", "live objects"), BYTES("inuse_space", "live bytes")}},
    [HPX_VIEW_HEAP] = {.key = "heap",
                       .title = "Heap",
                       .exact = true,
                       .values = 2,
                       .main = 1,
                       .measures = {COUNT("heap_objects", "objects"), BYTES("heap_space", "bytes")}},
    [HPX_VIEW_LOCK] = {.key = "lock",
                       .title = "Monitors",
                       .values = 2,
                       .main = 1,
                       .measures = {COUNT("contentions", "contentions"), NS("delay", "blocked time")}},
    [HPX_VIEW_OWNER] = {.key = "owner",
                        .title = "Owners of monitors",
                        .values = 2,
                        .main = 1,
                        .measures = {COUNT("owner_contentions", "contentions"), NS("owner_delay", "time that others were blocked")}},
    [HPX_VIEW_PARK] = {.key = "park",
                       .title = "Locks",
                       .values = 2,
                       .main = 1,
                       .measures = {COUNT("parks", "times parked"), NS("park_delay", "parked time")}},
    [HPX_VIEW_WAIT] =
        {.key = "wait", .title = "Waits", .values = 2, .main = 1, .measures = {COUNT("waits", "waits"), NS("wait_delay", "waiting time")}},
    [HPX_VIEW_PINNED] = {.key = "pinned",
                         .title = "Pinned virtual threads",
                         .values = 2,
                         .main = 1,
                         .measures = {COUNT("pins", "times pinned"), NS("pinned_delay", "pinned time")}},
    [HPX_VIEW_OTHER] = {.key = "other", .title = "Profile"},
};

bool hpx_tree_init(struct hpx_tree *t)
{
    memset(t, 0, sizeof *t);
    hpx_seeded_map_init(&t->name_of, true);
    hpx_seeded_map_init(&t->frame_of, true);
    hpx_seeded_map_init(&t->node_of, true);
    memcpy(t->views, empty_views, sizeof t->views);
    for (size_t i = 0; i < HPX_VIEWS; i++) {
        hpx_seeded_map_init(&t->views[i].index, true);
    }
    (void)hpx_tree_name(t, "", 0);
    t->no_memory |= hpx_list_push(&t->frames, sizeof(struct hpx_tree_frame)) == NULL;
    t->no_memory |= hpx_list_push(&t->nodes, sizeof(struct hpx_tree_node)) == NULL;
    return !t->no_memory;
}

void hpx_tree_fini(struct hpx_tree *t)
{
    for (size_t i = 0; i < t->names.len; i++) {
        free(((char **)t->names.items)[i]);
    }
    for (size_t i = 0; i < HPX_VIEWS; i++) {
        hpx_seeded_map_fini(&t->views[i].index);
        free(t->views[i].samples.items);
        free(t->views[i].numbers.items);
        free(t->views[i].moments.items);
        free(t->views[i].moment_numbers.items);
    }
    free(t->pauses.items);
    hpx_seeded_map_fini(&t->name_of);
    hpx_seeded_map_fini(&t->frame_of);
    hpx_seeded_map_fini(&t->node_of);
    free(t->names.items);
    free(t->frames.items);
    free(t->nodes.items);
    free(t->verdict);
    free(t->states);
}

size_t hpx_tree_bytes(const struct hpx_tree *t)
{
    size_t n = t->text + t->names.cap * sizeof(char *) + t->frames.cap * sizeof(struct hpx_tree_frame) +
               t->nodes.cap * sizeof(struct hpx_tree_node) + hpx_seeded_map_bytes(&t->name_of) + hpx_seeded_map_bytes(&t->frame_of) +
               hpx_seeded_map_bytes(&t->node_of) + t->pauses.cap * sizeof(struct hpx_tree_pause);
    for (size_t i = 0; i < HPX_VIEWS; i++) {
        const struct hpx_tree_view *v = &t->views[i];
        n += v->samples.cap * sizeof(struct hpx_tree_sample) + v->numbers.cap * sizeof(uint64_t) + hpx_seeded_map_bytes(&v->index) +
             v->moments.cap * sizeof(struct hpx_tree_moment) + v->moment_numbers.cap * sizeof(uint64_t);
    }
    return n;
}

/* The item of a key, made with `size` bytes where there is none. *fresh: it was made. Without memory, or beyond MOST, NULL. */
static void *item(struct hpx_tree *t, struct hpx_seeded_map *map, struct hpx_list *l, size_t size, uint64_t key, bool *fresh)
{
    size_t before = l->len;
    void *found = before < MOST ? hpx_list_entry(map, l, size, key) : NULL;
    *fresh = l->len > before;
    t->no_memory |= found == NULL;
    return found;
}

uint32_t hpx_tree_name(struct hpx_tree *t, const char *text, size_t n)
{
    bool fresh;
    n = n < NAME_KEPT ? n : NAME_KEPT;
    char **slot = item(t, &t->name_of, &t->names, sizeof *slot, hpx_check_hash((struct hpx_rd_text){text, n}), &fresh);
    if (slot == NULL) {
        return 0;
    }
    if (fresh) {
        char *copy = malloc(6 * n + 1);
        size_t len = copy != NULL ? hpx_text_escape(copy, (struct hpx_text){text, (uint32_t)n}, false) : 0;
        char *small = copy != NULL && hpx_budget_take(len + NAME_ADDS) ? realloc(copy, len + 1) : NULL;
        if (small != NULL) {
            small[len] = '\0';
            t->text += len + NAME_ADDS;
        } else {
            free(copy);
            t->no_memory = true;
        }
        *slot = small;
    }
    return (uint32_t)(slot - (char **)t->names.items);
}

const char *hpx_tree_text(const struct hpx_tree *t, uint32_t name)
{
    const char *text = name < t->names.len ? ((char **)t->names.items)[name] : NULL;
    return text != NULL ? text : "";
}

uint32_t hpx_tree_frame(struct hpx_tree *t, uint32_t name, uint32_t source, int32_t line, enum hpx_frame_kind kind)
{
    bool fresh;
    const uint32_t all[] = {name, source, (uint32_t)line, kind};
    struct hpx_tree_frame *f =
        item(t, &t->frame_of, &t->frames, sizeof *f, hpx_check_hash((struct hpx_rd_text){(const char *)all, sizeof all}), &fresh);
    if (f == NULL) {
        return 0;
    }
    if (fresh) {
        *f = (struct hpx_tree_frame){name, source, line, kind};
    }
    return (uint32_t)(f - (struct hpx_tree_frame *)t->frames.items);
}

bool hpx_tree_no_stack(const struct hpx_tree *t, uint32_t parent, uint32_t name)
{
    return parent == 0 && strcmp(hpx_tree_text(t, name), HPX_NO_STACK) == 0;
}

uint32_t hpx_tree_node(struct hpx_tree *t, uint32_t parent, uint32_t frame)
{
    bool fresh;
    struct hpx_tree_node *n = item(t, &t->node_of, &t->nodes, sizeof *n, (uint64_t)parent << 32 | frame, &fresh);
    if (n == NULL) {
        return parent;
    }
    if (fresh) {
        *n = (struct hpx_tree_node){parent, frame};
    }
    return (uint32_t)(n - (struct hpx_tree_node *)t->nodes.items);
}

static struct hpx_tree_node *step(const struct hpx_tree_path *p, size_t i)
{
    return (struct hpx_tree_node *)p->steps.items + i;
}

void hpx_tree_path_begin(struct hpx_tree_path *p)
{
    p->at = 0;
    p->parted = false;
}

uint32_t hpx_tree_path_end(const struct hpx_tree_path *p)
{
    return p->at > 0 ? step(p, p->at - 1)->parent : 0;
}

void hpx_tree_path_down(struct hpx_tree *t, struct hpx_tree_path *p, uint32_t frame)
{
    if (!p->parted && p->at < p->steps.len && step(p, p->at)->frame == frame) {
        p->at++;
        return;
    }
    uint32_t node = hpx_tree_node(t, hpx_tree_path_end(p), frame);
    p->parted = true;
    p->steps.len = p->at;
    struct hpx_tree_node *s = hpx_list_push(&p->steps, sizeof *s);
    t->no_memory |= s == NULL;
    if (s != NULL) {
        *s = (struct hpx_tree_node){node, frame};
        p->at++;
    }
}

void hpx_tree_add(struct hpx_tree *t, struct hpx_tree_view *v, uint32_t node, uint32_t thread, const uint64_t *values)
{
    bool fresh;
    struct hpx_tree_sample *s = item(t, &v->index, &v->samples, sizeof *s, (uint64_t)node << 32 | thread, &fresh);
    if (s == NULL) {
        return;
    }
    size_t at = (size_t)(s - (struct hpx_tree_sample *)v->samples.items);
    *s = (struct hpx_tree_sample){node, thread};
    for (size_t i = 0; fresh && i < v->values; i++) {
        t->no_memory |= hpx_list_push(&v->numbers, sizeof *values) == NULL;
    }
    if (t->no_memory) {
        return;
    }
    uint64_t *to = (uint64_t *)v->numbers.items + at * v->values;
    for (size_t i = 0; i < v->values; i++) {
        to[i] = hpx_tree_sum(to[i], values[i]);
    }
}

void hpx_tree_add_moment(struct hpx_tree *t, struct hpx_tree_view *v, const struct hpx_tree_moment *m, const uint64_t *values)
{
    struct hpx_tree_moment *to = NULL;
    if (!t->timed) {
        return;
    }
    bool room = v->moments.len < MOST;
    for (size_t i = 0; i < v->values && room; i++) {
        uint64_t *slot = hpx_list_push(&v->moment_numbers, sizeof *slot);
        room = slot != NULL;
        if (room) {
            *slot = values[i];
        }
    }
    to = room ? hpx_list_push(&v->moments, sizeof *to) : NULL;
    if (to == NULL) {
        t->no_memory = true;
        return;
    }
    *to = *m;
}

void hpx_tree_add_pause(struct hpx_tree *t, const struct hpx_tree_pause *p)
{
    if (t->timed) {
        struct hpx_tree_pause *to = t->pauses.len < MOST ? hpx_list_push(&t->pauses, sizeof *to) : NULL;
        t->no_memory |= to == NULL;
        if (to != NULL) {
            *to = *p;
        }
    }
}

void hpx_tree_add_times(struct hpx_tree *t, uint64_t from_ms, uint64_t to_ms)
{
    if (from_ms != 0 || to_ms != 0) {
        bool any = t->times_from_ms != 0 || t->times_to_ms != 0;
        t->times_from_ms = any && t->times_from_ms < from_ms ? t->times_from_ms : from_ms;
        t->times_to_ms = t->times_to_ms > to_ms ? t->times_to_ms : to_ms;
    }
}

static void empty(struct hpx_list *l, size_t size)
{
    hpx_budget_give(l->cap * size);
    free(l->items);
    *l = (struct hpx_list){0};
}

void hpx_tree_without_times(struct hpx_tree *t)
{
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        empty(&t->views[k].moments, sizeof(struct hpx_tree_moment));
        empty(&t->views[k].moment_numbers, sizeof(uint64_t));
    }
    empty(&t->pauses, sizeof(struct hpx_tree_pause));
    t->timed = false;
}

bool hpx_tree_has_threads(const struct hpx_tree_view *v)
{
    bool any = false;
    for (size_t i = 0; i < v->samples.len && !any; i++) {
        any = hpx_tree_sample_at(v, i)->thread != 0;
    }
    return any;
}

uint64_t hpx_tree_total(const struct hpx_tree_view *v, size_t measure)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < v->samples.len; i++) {
        sum = hpx_tree_sum(sum, hpx_tree_values_at(v, i)[measure]);
    }
    return sum;
}

size_t hpx_tree_length(const struct hpx_tree_view *v)
{
    size_t m = 0;
    while (m < v->values && v->measures[m].unit != HPX_UNIT_NS) {
        m++;
    }
    return m;
}

uint64_t hpx_tree_part(uint64_t n, uint64_t part, uint64_t all)
{
    double share = all > 0 ? (double)part / (double)all : 0;
    return part == all ? n : n == 0 || part == 0 ? 0 : (uint64_t)fmax(1, round((double)n * share));
}

void hpx_tree_clear(struct hpx_tree_view *v)
{
    v->samples.len = 0;
    v->numbers.len = 0;
    v->moments.len = 0;
    v->moment_numbers.len = 0;
    hpx_seeded_map_clear(&v->index);
}

static const char *const units[] = {
    [HPX_UNIT_COUNT] = "count", [HPX_UNIT_NS] = "nanoseconds", [HPX_UNIT_BYTES] = "bytes", [HPX_UNIT_OTHER] = "other"};

const char *hpx_tree_unit_name(enum hpx_tree_unit unit)
{
    return units[unit];
}

static enum hpx_tree_unit unit_of(const char *unit)
{
    enum hpx_tree_unit u = HPX_UNIT_COUNT;
    while (u < HPX_UNIT_OTHER && strcmp(units[u], unit) != 0) {
        u++;
    }
    return u;
}

/* Takes the place of the numbers that the list has. */
static void set_numbers(struct hpx_list *l, uint64_t *numbers, size_t n)
{
    hpx_budget_give(l->cap * sizeof *numbers);
    free(l->items);
    *l = (struct hpx_list){numbers, n, n};
}

/* Room for one more value in each of n groups of values. false: no memory. */
static bool widen(struct hpx_list *l, size_t n, size_t values)
{
    size_t wide = values + 1;
    uint64_t *numbers = n > 0 && hpx_budget_take(n * wide * sizeof *numbers) ? calloc(n, wide * sizeof *numbers) : NULL;
    if (n > 0 && numbers == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(numbers + i * wide, (uint64_t *)l->items + i * values, values * sizeof *numbers);
    }
    set_numbers(l, numbers, n * wide);
    return true;
}

struct hpx_tree_view *hpx_tree_find(struct hpx_tree *t, const char *name, const char *unit, size_t *measure)
{
    struct hpx_tree_view *other = &t->views[HPX_VIEW_OTHER];
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        struct hpx_tree_view *v = &t->views[k];
        for (*measure = 0; *measure < v->values; ++*measure) {
            if (v->measures[*measure].unit == unit_of(unit) && strcmp(v->measures[*measure].name, name) == 0) {
                return v;
            }
        }
    }
    if (t->no_memory || other->values == HPX_TREE_VALUES) {
        return NULL;
    }
    if (!widen(&other->numbers, other->samples.len, other->values) || !widen(&other->moment_numbers, other->moments.len, other->values)) {
        t->no_memory = true;
        return NULL;
    }
    *measure = other->values++;
    other->measures[*measure] = (struct hpx_tree_measure){name, name, unit_of(unit)};
    return other;
}

/* ---- finished ---- */

struct order {
    struct hpx_tree_sample sample;
    size_t at;
};

static int by_node(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    return x->sample.node != y->sample.node ? (x->sample.node > y->sample.node) - (x->sample.node < y->sample.node)
                                            : (x->sample.thread > y->sample.thread) - (x->sample.thread < y->sample.thread);
}

static void sort(struct hpx_tree *t, struct hpx_tree_view *v)
{
    size_t n = v->samples.len, bytes = v->values * sizeof(uint64_t);
    bool allowed = hpx_budget_take(n * (bytes + sizeof(struct order)));
    struct order *order = allowed ? calloc(n, sizeof *order) : NULL;
    uint64_t *numbers = bytes > 0 && allowed ? malloc(n * bytes) : NULL;
    if (order == NULL || numbers == NULL) {
        free(order);
        free(numbers);
        t->no_memory = true;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        order[i] = (struct order){*hpx_tree_sample_at(v, i), i};
    }
    qsort(order, n, sizeof *order, by_node);
    for (size_t i = 0; i < n; i++) {
        ((struct hpx_tree_sample *)v->samples.items)[i] = order[i].sample;
        memcpy(numbers + i * v->values, hpx_tree_values_at(v, order[i].at), bytes);
    }
    free(order);
    hpx_budget_give(n * sizeof *order);
    set_numbers(&v->numbers, numbers, n * v->values);
    hpx_seeded_map_clear(&v->index); /* its indices are those before */
}

/* As t->unfiltered has it. */
static uint32_t before_words(struct hpx_tree *t)
{
    char text[1024]; /* readers of HPROF keep more of a line */
    size_t n = 0;
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        for (size_t m = 0; m < t->views[k].values; m++) {
            const struct hpx_tree_measure *of = &t->views[k].measures[m];
            char one[128];
            int len = snprintf(one, sizeof one, "%s%s %" PRIu64 " %s", n > 0 ? "; " : "", of->name, t->views[k].before[m],
                               hpx_tree_unit_name(of->unit));
            if (t->views[k].before[m] > 0 && strchr(of->name, ';') == NULL && len < (int)sizeof one && n + (size_t)len < sizeof text) {
                memcpy(text + n, one, (size_t)len + 1);
                n += (size_t)len;
            }
        }
    }
    return n > 0 ? hpx_tree_name(t, text, n) : 0;
}

/* "NAME NUMBER UNIT", of n bytes. */
static void take_before(struct hpx_tree *t, const char *text, size_t n)
{
    char one[128], *end;
    if (n >= sizeof one) {
        return;
    }
    memcpy(one, text, n);
    one[n] = '\0';
    char *unit = strrchr(one, ' ');
    if (unit == NULL) {
        return;
    }
    *unit++ = '\0';
    char *number = strrchr(one, ' ');
    uint64_t value = number != NULL ? strtoull(number + 1, &end, 10) : 0;
    if (value == 0 || *end != '\0') {
        return;
    }
    *number = '\0';
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        for (size_t m = 0; m < t->views[k].values; m++) {
            const struct hpx_tree_measure *of = &t->views[k].measures[m];
            if (strcmp(of->name, one) == 0 && strcmp(hpx_tree_unit_name(of->unit), unit) == 0) {
                t->views[k].before[m] = hpx_tree_sum(t->views[k].before[m], value);
            }
        }
    }
}

void hpx_tree_take_before(struct hpx_tree *t, const char *text)
{
    for (size_t n; *text != '\0'; text += n) {
        n = strcspn(text, ";");
        take_before(t, text, n);
        n += strspn(text + n, "; ");
    }
}

/* A moment before and behind sorting. */
struct turn {
    uint64_t at_ms;
    uint32_t from;
};

static int by_time(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    return x->at_ms != y->at_ms ? (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms) : (x->from > y->from) - (x->from < y->from);
}

/* Puts every moment where it belongs, one after the other round each cycle of places, because a copy of all would need as much again. */
static void move(struct hpx_tree_view *v, struct turn *order)
{
    struct hpx_tree_moment *moments = v->moments.items, kept;
    uint64_t *numbers = v->moment_numbers.items, kept_numbers[HPX_TREE_VALUES];
    const size_t bytes = v->values * sizeof *numbers;
    for (uint32_t i = 0; i < v->moments.len; i++) {
        kept = moments[i];
        memcpy(kept_numbers, numbers + i * v->values, bytes);
        uint32_t to = i;
        for (uint32_t from = order[i].from; from != i; to = from, from = order[to].from) {
            moments[to] = moments[from];
            memcpy(numbers + to * v->values, numbers + from * v->values, bytes);
            order[to].from = to;
        }
        moments[to] = kept;
        memcpy(numbers + to * v->values, kept_numbers, bytes);
        order[to].from = to;
    }
}

static void sort_moments(struct hpx_tree *t, struct hpx_tree_view *v)
{
    size_t n = v->moments.len, sorted = 1;
    while (sorted < n && hpx_tree_moment_at(v, sorted - 1)->at_ms <= hpx_tree_moment_at(v, sorted)->at_ms) {
        sorted++;
    }
    if (sorted >= n) {
        return;
    }
    struct turn *order = hpx_budget_take(n * sizeof *order) ? malloc(n * sizeof *order) : NULL;
    if (order == NULL) {
        t->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        order[i] = (struct turn){hpx_tree_moment_at(v, i)->at_ms, i};
    }
    qsort(order, n, sizeof *order, by_time);
    move(v, order);
    free(order);
    hpx_budget_give(n * sizeof *order);
}

static int by_end(const void *a, const void *b)
{
    const struct hpx_tree_pause *x = a, *y = b;
    return x->at_ms != y->at_ms ? (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms) : (x->ns > y->ns) - (x->ns < y->ns);
}

void hpx_tree_finish(struct hpx_tree *t)
{
    struct hpx_budget budget; /* that of the reader has ended; why it refused something must not be forgotten */
    bool own = !t->no_memory;
    if (own) {
        hpx_budget_begin(&budget, hpx_memory_of_sum(), NULL);
    }
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        struct hpx_tree_view *v = &t->views[k];
        memset(v->totals, 0, sizeof v->totals);
        for (size_t m = 0; m < v->values && !t->no_memory; m++) {
            v->totals[m] = hpx_tree_total(v, m);
        }
        if (v->samples.len > 0 && !t->no_memory) {
            sort(t, v);
        }
        if (!t->no_memory) {
            sort_moments(t, v);
        }
    }
    if (t->pauses.len > 1) {
        qsort(t->pauses.items, t->pauses.len, sizeof(struct hpx_tree_pause), by_end);
    }
    t->unfiltered = before_words(t);
    if (own) {
        hpx_budget_end(&budget);
    }
}

static void add_up(struct hpx_tree_view *v)
{
    size_t n = 0;
    struct hpx_tree_sample *samples = v->samples.items;
    uint64_t *numbers = v->numbers.items;
    for (size_t i = 0; i < v->samples.len; i++) {
        bool same = n > 0 && samples[n - 1].node == samples[i].node;
        n += !same;
        samples[n - 1] = (struct hpx_tree_sample){samples[i].node, 0};
        for (size_t m = 0; m < v->values; m++) {
            uint64_t before = same ? numbers[(n - 1) * v->values + m] : 0;
            numbers[(n - 1) * v->values + m] = hpx_tree_sum(before, numbers[i * v->values + m]);
        }
    }
    v->samples.len = n;
    v->numbers.len = n * v->values;
}

void hpx_tree_without_threads(struct hpx_tree *t)
{
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        struct hpx_tree_view *v = &t->views[k];
        add_up(v);
        for (size_t i = 0; i < v->moments.len; i++) {
            ((struct hpx_tree_moment *)v->moments.items)[i].thread = 0;
        }
    }
}

/* The node of the same stack below another root. */
static uint32_t below(struct hpx_tree *t, struct hpx_list *stack, uint32_t root, uint32_t node)
{
    stack->len = 0;
    for (; node != 0; node = hpx_tree_node_at(t, node)->parent) {
        uint32_t *slot = hpx_list_push(stack, sizeof *slot);
        if (slot == NULL) {
            t->no_memory = true;
            return 0;
        }
        *slot = hpx_tree_node_at(t, node)->frame;
    }
    for (size_t i = stack->len; i-- > 0;) {
        root = hpx_tree_node(t, root, ((const uint32_t *)stack->items)[i]);
    }
    return root;
}

static uint32_t thread_root(struct hpx_tree *t, uint32_t thread)
{
    char text[4200];
    int n = snprintf(text, sizeof text, "[%s]", hpx_tree_text(t, thread));
    size_t len = n > 0 && (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    return hpx_tree_node(t, 0, hpx_tree_frame(t, hpx_tree_name(t, text, len), 0, 0, HPX_FRAME_METHOD));
}

/* roots: nodes and threads -> nodes, of a stack that many moments have. */
static void root(struct hpx_tree *t, struct hpx_seeded_map *roots, struct hpx_list *stack, uint32_t *node, uint32_t *thread)
{
    uint32_t *to;
    if (*thread == 0) {
        return;
    }
    int added = hpx_seeded_map_add(roots, (uint64_t)*node << 32 | *thread, &to);
    t->no_memory |= added < 0;
    if (added > 0) {
        *to = below(t, stack, thread_root(t, *thread), *node);
    }
    *node = added >= 0 ? *to : *node;
    *thread = 0;
}

void hpx_tree_root_threads(struct hpx_tree *t)
{
    struct hpx_list stack = {0};
    struct hpx_seeded_map roots;
    hpx_seeded_map_init(&roots, true);
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        struct hpx_tree_view *v = &t->views[k];
        bool threads = hpx_tree_has_threads(v);
        for (size_t i = 0; i < v->samples.len && !t->no_memory; i++) {
            struct hpx_tree_sample *s = (struct hpx_tree_sample *)v->samples.items + i;
            root(t, &roots, &stack, &s->node, &s->thread);
        }
        for (size_t i = 0; i < v->moments.len && !t->no_memory; i++) {
            struct hpx_tree_moment *m = (struct hpx_tree_moment *)v->moments.items + i;
            m->thread = threads ? m->thread : 0;
            root(t, &roots, &stack, &m->node, &m->thread);
        }
    }
    hpx_seeded_map_fini(&roots);
    free(stack.items);
    hpx_tree_finish(t);
}

bool hpx_tree_is_heap(const struct hpx_tree *t)
{
    bool alone = true;
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        alone = alone && (k == HPX_VIEW_HEAP || t->views[k].samples.len == 0);
    }
    for (size_t i = 0; alone && i < t->views[HPX_VIEW_HEAP].samples.len; i++) {
        alone = hpx_tree_node_at(t, hpx_tree_sample_at(&t->views[HPX_VIEW_HEAP], i)->node)->parent == 0;
    }
    return alone;
}

size_t hpx_tree_columns(const struct hpx_tree *t, struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES])
{
    size_t n = 0;
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        const struct hpx_tree_view *v = &t->views[k];
        if (v->totals[v->main] > 0) {
            of[n++] = (struct hpx_tree_column){k, v->main};
        }
        for (size_t m = 0; m < v->values; m++) {
            if (m != v->main && v->totals[m] > 0) {
                of[n++] = (struct hpx_tree_column){k, m};
            }
        }
    }
    return n;
}

bool hpx_tree_column(const struct hpx_tree *t, const char *name, struct hpx_tree_column *c)
{
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    size_t n = hpx_tree_columns(t, of);
    for (size_t i = 0; i < n; i++) {
        const struct hpx_tree_measure *m = &t->views[of[i].view].measures[of[i].measure];
        if (name == NULL || strcmp(name, m->name) == 0 || strcasecmp(name, m->title) == 0) {
            *c = of[i];
            return true;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, t->views[of[i].view].key) == 0) {
            *c = of[i];
            return true;
        }
    }
    return false;
}
