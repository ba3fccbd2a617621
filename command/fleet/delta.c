/* SPDX-License-Identifier: BSD-2-Clause */
/* delta.c: see delta.h. A stack is known by a hash of its names, because numbers of nodes are different in every tree. Runs are found by
 * their key, and stand in a chain in the order in which they were heard of. */
#include "delta.h"
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define DAY  86400
#define NONE UINT32_MAX

enum { OBJECTS, SPACE, KEPT }; /* as HPX_VIEW_ALLOC has them; live objects are no totals */

struct stack {
    uint64_t had[KEPT];
};

struct run {
    uint64_t key, number, heard; /* number: of its latest profile */
    uint32_t before, after;      /* the runs that were heard of last before it, and first after it; NONE */
    struct hpx_seeded_map stack_of;
    struct hpx_list stacks; /* struct stack */
};

struct hpx_delta {
    struct hpx_list runs;         /* struct run */
    struct hpx_seeded_map run_of; /* index + 1; 0: it was forgotten */
    uint32_t oldest, newest;      /* the ends of the chain */
    size_t stacks, most;          /* of all runs */
};

struct hpx_delta *hpx_delta_new(size_t most)
{
    struct hpx_delta *d = calloc(1, sizeof *d);
    if (d != NULL) {
        d->most = most;
        d->oldest = d->newest = NONE;
        hpx_seeded_map_init(&d->run_of, true);
    }
    return d;
}

static struct run *run_at(const struct hpx_delta *d, size_t i)
{
    return (struct run *)d->runs.items + i;
}

/* Tells the neighbours of a run, or the ends of the chain, what comes behind the one before it, and before the one behind it. */
static void tell_neighbours(struct hpx_delta *d, const struct run *r, uint32_t behind, uint32_t in_front)
{
    *(r->before != NONE ? &run_at(d, r->before)->after : &d->oldest) = behind;
    *(r->after != NONE ? &run_at(d, r->after)->before : &d->newest) = in_front;
}

static void take_out_of_chain(struct hpx_delta *d, uint32_t i)
{
    const struct run *r = run_at(d, i);
    tell_neighbours(d, r, r->after, r->before);
}

static void put_last(struct hpx_delta *d, uint32_t i)
{
    struct run *r = run_at(d, i);
    r->before = d->newest;
    r->after = NONE;
    tell_neighbours(d, r, i, i);
}

/* Keys of runs that were forgotten stay in a map; a new one has none of them. Without memory they go another time. */
static void clean_keys(struct hpx_delta *d)
{
    struct hpx_seeded_map fresh;
    uint32_t *index;
    bool all = true;
    hpx_seeded_map_init(&fresh, true);
    for (uint32_t i = 0; i < d->runs.len && all; i++) {
        all = hpx_seeded_map_add(&fresh, run_at(d, i)->key, &index) > 0;
        if (all) {
            *index = i + 1;
        }
    }
    hpx_seeded_map_fini(all ? &d->run_of : &fresh);
    d->run_of = all ? fresh : d->run_of;
}

/* The last run gets its place. */
static void forget(struct hpx_delta *d, uint32_t i)
{
    struct run *r = run_at(d, i), *last = run_at(d, d->runs.len - 1);
    take_out_of_chain(d, i);
    d->stacks -= r->stacks.len;
    hpx_seeded_map_fini(&r->stack_of);
    free(r->stacks.items);
    *hpx_seeded_map_find(&d->run_of, r->key) = 0;
    if (r != last) {
        *r = *last;
        tell_neighbours(d, r, i, i);
        *hpx_seeded_map_find(&d->run_of, r->key) = i + 1;
    }
    d->runs.len--;
    if (d->run_of.len > 2 * d->runs.len + 64) {
        clean_keys(d);
    }
}

void hpx_delta_free(struct hpx_delta *d)
{
    while (d != NULL && d->runs.len > 0) {
        forget(d, 0);
    }
    if (d != NULL) {
        free(d->runs.items);
        hpx_seeded_map_fini(&d->run_of);
    }
    free(d);
}

static uint64_t hash_of(const struct hpx_tree *t, uint32_t name, uint64_t seed)
{
    const char *text = hpx_tree_text(t, name);
    return XXH3_64bits_withSeed(text, strlen(text), seed);
}

uint64_t hpx_delta_run(const struct hpx_tree *t)
{
    const struct hpx_tree_origin *o = &t->origin;
    const uint64_t numbers[] = {o->pid, o->began_ms};
    uint64_t h = hash_of(t, o->container, hash_of(t, o->host, 0));
    return o->number == 0 ? 0 : XXH3_64bits_withSeed(numbers, sizeof numbers, h) | 1;
}

static struct run *find(const struct hpx_delta *d, uint64_t key)
{
    const uint32_t *index = hpx_seeded_map_find(&d->run_of, key);
    return index != NULL && *index > 0 ? run_at(d, *index - 1) : NULL;
}

bool hpx_delta_knows(const struct hpx_delta *d, uint64_t run)
{
    return find(d, run) != NULL;
}

static void tidy(struct hpx_delta *d, uint64_t now)
{
    while (d->oldest != NONE && now > run_at(d, d->oldest)->heard + DAY) {
        forget(d, d->oldest);
    }
    while (d->stacks > d->most && d->runs.len > 1) {
        forget(d, d->oldest);
    }
}

/* A new run, which is heard of now; NULL: no memory. */
static struct run *make(struct hpx_delta *d, uint64_t key)
{
    struct run *r = d->runs.len < NONE ? hpx_list_entry(&d->run_of, &d->runs, sizeof *r, key) : NULL;
    if (r != NULL) {
        r->key = key;
        hpx_seeded_map_init(&r->stack_of, true);
        put_last(d, (uint32_t)(d->runs.len - 1));
    }
    return r;
}

/* The newest of all. */
static void hear(struct hpx_delta *d, struct run *r, uint64_t now)
{
    uint32_t i = (uint32_t)(r - run_at(d, 0));
    take_out_of_chain(d, i);
    put_last(d, i);
    r->heard = now;
}

/* A hash of the stack of every node. */
static uint64_t *stacks_of(const struct hpx_tree *t)
{
    uint64_t *of = malloc(t->nodes.len * sizeof *of);
    for (uint32_t i = 0; of != NULL && i < t->nodes.len; i++) {
        const struct hpx_tree_node *n = hpx_tree_node_at(t, i);
        const struct hpx_tree_frame *f = hpx_tree_frame_at(t, n->frame);
        const uint64_t more[] = {(uint64_t)(uint32_t)f->line, (uint64_t)f->kind};
        of[i] = i == 0 ? 1 : XXH3_64bits_withSeed(more, sizeof more, hash_of(t, f->name, hash_of(t, f->source, of[n->parent])));
    }
    return of;
}

static bool subtract(struct hpx_delta *d, struct run *r, struct hpx_tree *t)
{
    struct hpx_tree_view *v = &t->views[HPX_VIEW_ALLOC];
    uint64_t *hashes = stacks_of(t), *numbers = v->numbers.items;
    bool all = hashes != NULL;
    for (size_t i = 0; all && i < v->samples.len; i++) {
        size_t before = r->stacks.len;
        struct stack *s = hpx_list_entry(&r->stack_of, &r->stacks, sizeof *s, hashes[hpx_tree_sample_at(v, i)->node]);
        all = s != NULL;
        d->stacks += r->stacks.len - before;
        for (size_t m = 0; all && m < KEPT; m++) {
            uint64_t *now = &numbers[i * v->values + m], total = *now;
            *now = total > s->had[m] ? total - s->had[m] : 0; /* an estimate may fall; then it has to rise above what was handed on */
            s->had[m] = total > s->had[m] ? total : s->had[m];
        }
    }
    free(hashes);
    return all;
}

static void take_out(struct hpx_tree *t)
{
    struct hpx_tree_view *v = &t->views[HPX_VIEW_ALLOC];
    for (size_t i = 0; i < v->samples.len; i++) {
        for (size_t m = 0; m < KEPT; m++) {
            ((uint64_t *)v->numbers.items)[i * v->values + m] = 0;
        }
    }
    hpx_tree_finish(t);
}

enum hpx_delta_done hpx_delta_take(struct hpx_delta *d, struct hpx_tree *t, bool base, uint64_t now)
{
    uint64_t key = hpx_delta_run(t), number = t->origin.number;
    bool any = t->views[HPX_VIEW_ALLOC].samples.len > 0; /* a run without any is known, too: nothing came before its next profile */
    if (key == 0) {
        return HPX_DELTA_DONE;
    }
    tidy(d, now);
    struct run *r = find(d, key);
    bool fresh = r == NULL;
    if (!fresh && number <= r->number) { /* what it has was handed on with a later one */
        take_out(t);
        return HPX_DELTA_DONE;
    }
    if (fresh && (r = make(d, key)) == NULL) {
        take_out(t);
        return any ? HPX_DELTA_NO_MEMORY : HPX_DELTA_DONE;
    }
    r->number = number;
    hear(d, r, now);
    if (any && !subtract(d, r, t)) {
        forget(d, (uint32_t)(r - run_at(d, 0)));
        take_out(t);
        return HPX_DELTA_NO_MEMORY;
    }
    if (fresh && number > 1 && !base) {
        take_out(t);
        return any ? HPX_DELTA_NO_BASE : HPX_DELTA_DONE;
    }
    hpx_tree_finish(t);
    return HPX_DELTA_DONE;
}
