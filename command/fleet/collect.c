/* SPDX-License-Identifier: BSD-2-Clause */
/* collect.c: see collect.h. One lock: hpx_collect_add() holds it while it joins, a pull while it waits its turn, or copies live objects.
 * What a pull has collected is written without it. */
#include "collect.h"
#include "budget.h"
#include "carry.h"
#include "live_objects.h"
#include "memory.h"
#include "metrics.h"
#include "outfile.h"
#include "writers.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define MOST ((size_t)1 << 20) /* nodes and samples of a pull */
#define PART 8                 /* of what the shipper may allocate for a pull */

/* A pull that waits; on its thread's stack. */
struct window {
    struct window *next;
    const struct hpx_pull_asked *asked;
    struct hpx_tree tree;
    size_t profiles;
    uint64_t from_ms, to_ms; /* since 1970: what the profiles cover */
    uint64_t most;           /* bytes */
    bool too_large;
};

struct hpx_collect {
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    bool stop;
    struct window *windows;
    struct hpx_live live;
    hpx_collect_flush *flush;
    void *ctx;
};

static uint64_t clock_ms(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct hpx_collect *hpx_collect_new(hpx_collect_flush *flush, void *ctx)
{
    struct hpx_collect *c = calloc(1, sizeof *c);
    pthread_condattr_t monotonic;
    if (c == NULL) {
        return NULL;
    }
    if (!hpx_live_init(&c->live) || pthread_condattr_init(&monotonic) != 0) {
        hpx_live_fini(&c->live);
        free(c);
        return NULL;
    }
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&c->stopped, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    (void)pthread_mutex_init(&c->lock, NULL);
    c->flush = flush;
    c->ctx = ctx;
    return c;
}

void hpx_collect_free(struct hpx_collect *c)
{
    if (c != NULL) {
        hpx_live_fini(&c->live);
        (void)pthread_cond_destroy(&c->stopped);
        (void)pthread_mutex_destroy(&c->lock);
        free(c);
    }
}

/* ---- what arrives ---- */

static void window_add(struct window *w, const struct hpx_tree *t)
{
    uint64_t end = hpx_tree_sum(t->start_ms, t->duration_ms);
    if (w->too_large || w->tree.no_memory) {
        return;
    }
    struct hpx_budget budget;
    w->profiles++;
    hpx_budget_begin(&budget, w->most, NULL);
    (void)hpx_budget_take(hpx_tree_bytes(&w->tree));
    (void)hpx_carry(&w->tree, t, &hpx_carry_flow);
    w->too_large = hpx_carry_size(&w->tree) > MOST || hpx_budget_refused();
    hpx_budget_end(&budget);
    w->tree.effective += t->effective;
    w->tree.sampled += t->sampled;
    w->tree.interval_ns = t->interval_ns != 0 ? t->interval_ns : w->tree.interval_ns;
    if (t->start_ms != 0) {
        w->from_ms = w->from_ms == 0 || t->start_ms < w->from_ms ? t->start_ms : w->from_ms;
        w->to_ms = end > w->to_ms ? end : w->to_ms;
    }
}

void hpx_collect_add(struct hpx_collect *c, const struct hpx_tree *t)
{
    const char *service = hpx_tree_text(t, t->origin.service);
    (void)pthread_mutex_lock(&c->lock);
    for (struct window *w = c->windows; w != NULL; w = w->next) {
        if (hpx_live_asked(w->asked, service, t->origin.pid)) {
            window_add(w, t);
        }
    }
    hpx_live_add(&c->live, t, clock_ms(CLOCK_MONOTONIC));
    (void)pthread_mutex_unlock(&c->lock);
}

/* ---- requests ---- */

/* Columns without values make a profile that is empty, but a profile: readers want the names of its values. */
static enum hpx_pull_result write_tree(struct hpx_tree *t, size_t view, size_t measure, int fd)
{
    struct hpx_tree_column c = {view, measure};
    hpx_tree_finish(t);
    if (t->views[view].totals[measure] == 0 && !hpx_tree_column(t, NULL, &c)) {
        t->views[view].totals[measure] = 1;
    }
    FILE *to = hpx_out_stream(fd, true);
    if (to == NULL) {
        return HPX_PULL_FAILED;
    }
    bool all = !t->no_memory && hpx_write_pprof(t, c, to);
    bool bad = ferror(to) != 0;
    return fclose(to) == 0 && !bad && all ? HPX_PULL_OK : HPX_PULL_FAILED;
}

/* Waits for the end of the window, or until nobody needs it any more; false: the latter. */
static bool wait_locked(struct hpx_collect *c, const struct hpx_pull_asked *asked)
{
    uint64_t end = clock_ms(CLOCK_MONOTONIC) + (uint64_t)asked->seconds * 1000, now;
    while (!c->stop && (now = clock_ms(CLOCK_MONOTONIC)) < end) {
        uint64_t next = end - now > 1000 ? now + 1000 : end;
        struct timespec until = {(time_t)(next / 1000), (long)(next % 1000) * 1000000};
        if (pthread_cond_timedwait(&c->stopped, &c->lock, &until) == ETIMEDOUT && asked->gone != NULL && asked->gone(asked)) {
            return false;
        }
    }
    return !c->stop;
}

/* A fifth of the time at the begin, and one at the end: whoever asks waits half of it longer than it is. */
static void bring(struct hpx_collect *c, const struct hpx_pull_asked *asked)
{
    if (c->flush != NULL) {
        (void)pthread_mutex_unlock(&c->lock);
        c->flush(c->ctx, asked->seconds < 25 ? asked->seconds * 200 : 5000);
        (void)pthread_mutex_lock(&c->lock);
    }
}

static void collect_locked(struct hpx_collect *c, struct window *w)
{
    bring(c, w->asked); /* what was counted before the window begins */
    w->next = c->windows;
    c->windows = w;
    if (wait_locked(c, w->asked)) {
        bring(c, w->asked);
    }
    struct window **at = &c->windows;
    while (*at != w) {
        at = &(*at)->next;
    }
    *at = w->next;
}

static enum hpx_pull_result profile(void *ctx, const struct hpx_pull_asked *asked, int fd)
{
    struct hpx_collect *c = ctx;
    struct window w = {.asked = asked, .most = hpx_memory_of_server() / PART};
    bool ready = hpx_tree_init(&w.tree);
    enum hpx_pull_result r = HPX_PULL_FAILED;
    if (ready) {
        (void)pthread_mutex_lock(&c->lock);
        collect_locked(c, &w);
        r = c->stop ? HPX_PULL_STOPPED : w.too_large ? HPX_PULL_TOO_LARGE : w.profiles == 0 ? HPX_PULL_NOTHING : HPX_PULL_OK;
        (void)pthread_mutex_unlock(&c->lock);
    }
    if (r == HPX_PULL_OK) {
        w.tree.start_ms = w.from_ms;
        w.tree.duration_ms = w.to_ms - w.from_ms;
        r = write_tree(&w.tree, HPX_VIEW_CPU, 1, fd);
    }
    hpx_tree_fini(&w.tree);
    return r;
}

static enum hpx_pull_result heap(void *ctx, const struct hpx_pull_asked *asked, int fd)
{
    struct hpx_collect *c = ctx;
    struct hpx_tree t;
    size_t runs = 0;
    enum hpx_pull_result r = HPX_PULL_FAILED;
    if (hpx_tree_init(&t)) {
        (void)pthread_mutex_lock(&c->lock);
        runs = hpx_live_copy(&c->live, asked, clock_ms(CLOCK_MONOTONIC), &t);
        (void)pthread_mutex_unlock(&c->lock);
        t.start_ms = clock_ms(CLOCK_REALTIME);
        r = runs == 0 ? HPX_PULL_NOTHING : write_tree(&t, HPX_VIEW_ALLOC, 3, fd);
    }
    hpx_tree_fini(&t);
    return r;
}

static void stop(void *ctx)
{
    struct hpx_collect *c = ctx;
    (void)pthread_mutex_lock(&c->lock);
    c->stop = true;
    (void)pthread_cond_broadcast(&c->stopped);
    (void)pthread_mutex_unlock(&c->lock);
    if (c->flush != NULL) {
        c->flush(c->ctx, 0);
    }
}

struct hpx_pull_hooks hpx_collect_hooks(struct hpx_collect *c)
{
    return (struct hpx_pull_hooks){c, profile, heap, hpx_metrics_write, stop};
}
