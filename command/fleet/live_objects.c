/* SPDX-License-Identifier: BSD-2-Clause */
/* live_objects.c: see live_objects.h. Between the calls the tree has nodes, but no samples: those are the rows of the runs. */
#include "live_objects.h"
#include "budget.h"
#include "carry.h"
#include "memory.h"
#include "metrics.h"
#include <stdlib.h>

#define SWEEP ((size_t)1 << 14) /* nodes beyond twice those after the last sweep */

/* Views with live objects, and where their two values stand. */
static const struct {
    enum hpx_view_kind view;
    size_t first;
} kinds[] = {{HPX_VIEW_ALLOC, 2}, {HPX_VIEW_HEAP, 0}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

struct row {
    uint32_t node;
    uint64_t objects, bytes;
};

struct run {
    char *host, *service;
    uint64_t pid, began_ms;
    uint64_t heard;
    uint64_t number;             /* of the last profile that had live objects */
    struct hpx_list rows[KINDS]; /* struct row */
};

static struct run *run_at(const struct hpx_live *l, size_t i)
{
    return (struct run *)l->runs.items + i;
}

bool hpx_live_init(struct hpx_live *l)
{
    memset(l, 0, sizeof *l);
    l->most = hpx_memory_of_server() / 4;
    return hpx_tree_init(&l->tree);
}

static void forget_rows(struct hpx_live *l, struct run *r, size_t kind)
{
    l->rows -= r->rows[kind].len;
    free(r->rows[kind].items);
    r->rows[kind] = (struct hpx_list){0};
}

static void run_fini(struct hpx_live *l, struct run *r)
{
    for (size_t k = 0; k < KINDS; k++) {
        forget_rows(l, r, k);
    }
    free(r->host);
    free(r->service);
}

void hpx_live_fini(struct hpx_live *l)
{
    for (size_t i = 0; i < l->runs.len; i++) {
        run_fini(l, run_at(l, i));
    }
    free(l->runs.items);
    hpx_tree_fini(&l->tree);
}

static void forget_old(struct hpx_live *l, uint64_t now)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->runs.len; i++) {
        struct run *r = run_at(l, i);
        if (now - r->heard > HPX_LIVE_KEPT_MS) {
            run_fini(l, r);
        } else {
            *run_at(l, kept++) = *r;
        }
    }
    l->runs.len = kept;
}

/* ---- rows of a run, and samples of a tree ---- */

static void clear(struct hpx_tree *t)
{
    for (size_t k = 0; k < KINDS; k++) {
        hpx_tree_clear(&t->views[kinds[k].view]);
    }
}

static void put(struct hpx_tree *t, const struct run *r)
{
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t i = 0; i < r->rows[k].len; i++) {
            const struct row *row = (const struct row *)r->rows[k].items + i;
            uint64_t values[HPX_TREE_VALUES] = {0};
            values[kinds[k].first] = row->objects;
            values[kinds[k].first + 1] = row->bytes;
            hpx_tree_add(t, &t->views[kinds[k].view], row->node, 0, values);
        }
    }
}

/* In place of those that it has. Without memory the run has none of this kind. */
static bool take(struct hpx_live *l, struct run *r, size_t kind, const struct hpx_tree *t)
{
    const struct hpx_tree_view *v = &t->views[kinds[kind].view];
    forget_rows(l, r, kind);
    if (v->samples.len == 0) {
        return true;
    }
    struct row *rows = calloc(v->samples.len, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    for (size_t i = 0; i < v->samples.len; i++) {
        const uint64_t *values = hpx_tree_values_at(v, i) + kinds[kind].first;
        rows[i] = (struct row){hpx_tree_sample_at(v, i)->node, values[0], values[1]};
    }
    r->rows[kind] = (struct hpx_list){rows, v->samples.len, v->samples.len};
    l->rows += v->samples.len;
    return true;
}

/* ---- sweeping ---- */

static void drop_all(struct hpx_live *l, const char *why)
{
    uint64_t most = l->most;
    hpx_metric_add(HPX_METRIC_LIVE_DROPPED, why, NULL, l->runs.len);
    hpx_live_fini(l);
    (void)hpx_live_init(l);
    l->most = most;
}

/* A new tree with the nodes that the runs need. */
static void sweep(struct hpx_live *l)
{
    struct hpx_tree fresh;
    bool all = hpx_tree_init(&fresh);
    for (size_t i = 0; i < l->runs.len && all; i++) {
        put(&l->tree, run_at(l, i));
        all = hpx_carry(&fresh, &l->tree, &hpx_carry_live);
        for (size_t k = 0; k < KINDS && all; k++) {
            all = take(l, run_at(l, i), k, &fresh);
        }
        clear(&l->tree);
        clear(&fresh);
    }
    hpx_tree_fini(&l->tree);
    l->tree = fresh;
    l->swept = fresh.nodes.len;
    if (!all) {
        drop_all(l, "no memory");
    }
}

static void sweep_if_due(struct hpx_live *l)
{
    if (l->tree.no_memory || l->tree.nodes.len > 2 * l->swept + SWEEP || l->tree.nodes.len + l->rows > HPX_LIVE_MOST) {
        sweep(l);
    }
}

/* ---- what others call ---- */

static struct run *find(struct hpx_live *l, const struct hpx_tree *t)
{
    const char *host = hpx_tree_text(t, t->origin.host);
    for (size_t i = 0; i < l->runs.len; i++) {
        struct run *r = run_at(l, i);
        if (r->pid == t->origin.pid && r->began_ms == t->origin.began_ms && strcmp(r->host, host) == 0) {
            return r;
        }
    }
    return NULL;
}

static struct run *make(struct hpx_live *l, const struct hpx_tree *t)
{
    char *host = strdup(hpx_tree_text(t, t->origin.host)), *service = strdup(hpx_tree_text(t, t->origin.service));
    struct run *r = host != NULL && service != NULL ? hpx_list_push(&l->runs, sizeof *r) : NULL;
    if (r == NULL) {
        free(host);
        free(service);
        return NULL;
    }
    *r = (struct run){.host = host, .service = service, .pid = t->origin.pid, .began_ms = t->origin.began_ms};
    return r;
}

/* The run goes: old figures would be taken for those of now. */
static void drop(struct hpx_live *l, struct run *r, const char *why)
{
    hpx_metric_add(HPX_METRIC_LIVE_DROPPED, why, NULL, 1);
    if (r != NULL) {
        run_fini(l, r);
        *r = *run_at(l, --l->runs.len);
    }
}

void hpx_live_add(struct hpx_live *l, const struct hpx_tree *t, uint64_t now)
{
    bool any = false;
    forget_old(l, now);
    for (size_t k = 0; k < KINDS; k++) {
        any |= t->views[kinds[k].view].samples.len > 0;
    }
    struct run *r = find(l, t);
    if (r != NULL) {
        r->heard = now;
    }
    if (!any || (r != NULL && t->origin.number < r->number)) { /* a file that was read late */
        return;
    }
    if (t->origin.pid == 0 || t->no_memory) {
        drop(l, r, t->no_memory ? "no memory" : "unknown process");
        return;
    }
    struct hpx_budget budget;
    r = r != NULL ? r : make(l, t);
    hpx_budget_begin(&budget, l->most, NULL);
    bool all =
        r != NULL && hpx_budget_take(hpx_tree_bytes(&l->tree) + l->rows * sizeof(struct row)) && hpx_carry(&l->tree, t, &hpx_carry_live);
    for (size_t k = 0; k < KINDS && all; k++) {
        if (t->views[kinds[k].view].samples.len > 0) {
            all = take(l, r, k, &l->tree);
        }
    }
    bool large = hpx_budget_refused();
    hpx_budget_end(&budget);
    clear(&l->tree);
    if (r != NULL) {
        r->heard = now;
        r->number = t->origin.number;
    }
    if (!all) {
        drop(l, r, large ? "too large" : "no memory");
    }
    sweep_if_due(l);
    if (l->runs.len > 0 && l->tree.nodes.len + l->rows > HPX_LIVE_MOST) {
        drop(l, find(l, t), "too many stacks");
        sweep(l);
    }
}

bool hpx_live_asked(const struct hpx_pull_asked *asked, const char *service, uint64_t pid)
{
    return (asked->service == NULL || strcmp(asked->service, service) == 0) && (asked->pid == 0 || asked->pid == pid);
}

size_t hpx_live_copy(struct hpx_live *l, const struct hpx_pull_asked *asked, uint64_t now, struct hpx_tree *to)
{
    size_t n = 0;
    forget_old(l, now);
    for (size_t i = 0; i < l->runs.len; i++) {
        const struct run *r = run_at(l, i);
        if (hpx_live_asked(asked, r->service, r->pid) && r->rows[0].len + r->rows[1].len > 0) {
            put(&l->tree, r);
            n++;
        }
    }
    to->no_memory |= !hpx_carry(to, &l->tree, &hpx_carry_live);
    clear(&l->tree);
    sweep_if_due(l); /* if memory ran out */
    return n;
}
