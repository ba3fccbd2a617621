/* SPDX-License-Identifier: BSD-2-Clause */
/* page_times.c: see page_times.h. */
#include "page_times.h"
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

/* ---- places ---- */

static int by_node(const void *a, const void *b)
{
    const struct hpx_page_place *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->thread > y->thread) - (x->thread < y->thread);
}

/* The same place twice: of two moments without a sample. */
static void sort(struct hpx_page_view *p)
{
    size_t kept = 0;
    if (p->n > 1) {
        qsort(p->places, p->n, sizeof *p->places, by_node);
    }
    for (size_t i = 0; i < p->n; i++) {
        if (kept == 0 || by_node(&p->places[kept - 1], &p->places[i]) != 0) {
            p->places[kept++] = p->places[i];
        }
    }
    p->n = kept;
}

/* The place of each moment, in `of`. Those that have none are appended to the places, of which then none is sorted. */
static size_t find_places(struct hpx_page_view *p, const uint32_t *number, uint32_t *of)
{
    size_t sorted = p->n;
    for (size_t i = 0; i < p->view->moments.len; i++) {
        const struct hpx_tree_moment *m = hpx_tree_moment_at(p->view, i);
        const struct hpx_page_place key = {number[m->node], m->thread, HPX_PAGE_NONE};
        const struct hpx_page_place *found = sorted > 0 ? bsearch(&key, p->places, sorted, sizeof key, by_node) : NULL;
        if (found != NULL) {
            of[i] = (uint32_t)(found - p->places);
        } else {
            p->places[p->n++] = key;
        }
    }
    return p->n - sorted;
}

/* By place; those of a place stay in the order of time. */
static void order(struct hpx_page_view *p, const uint32_t *of)
{
    size_t n = p->view->moments.len;
    for (size_t i = 0; i < n; i++) {
        p->first[of[i] + 1]++;
    }
    for (size_t k = 0; k < p->n; k++) {
        p->first[k + 1] += p->first[k];
    }
    for (size_t i = 0; i < n; i++) {
        p->moments[p->first[of[i]]++] = (uint32_t)i;
    }
    memmove(p->first + 1, p->first, p->n * sizeof *p->first);
    p->first[0] = 0;
}

static uint64_t sampled(const struct hpx_page_view *p, size_t place, size_t measure)
{
    return p->places[place].sample != HPX_PAGE_NONE ? hpx_tree_values_at(p->view, p->places[place].sample)[measure] : 0;
}

/* What a place has in moments, at most what is left. */
static uint64_t share_of(const struct hpx_page_view *p, size_t place, size_t measure, uint64_t left)
{
    uint64_t sum = 0;
    for (uint32_t i = p->first[place]; i < p->first[place + 1]; i++) {
        sum = hpx_tree_sum(sum, hpx_tree_moment_values_at(p->view, p->moments[i])[measure]);
    }
    return sum < left ? sum : left;
}

/* The sample of a node is divided among its threads, as its moments tell them; what they do not tell stays with it. It is the first place
 * of its node: its thread is 0. */
static bool divide_samples(struct hpx_page_view *p)
{
    size_t values = p->view->values, whole = 0;
    p->values = calloc(p->n * values + 1, sizeof *p->values);
    for (size_t i = 0; p->values != NULL && i < p->n; i++) {
        whole = p->places[whole].at == p->places[i].at ? whole : i;
        for (size_t m = 0; m < values; m++) {
            uint64_t *left = &p->values[whole * values + m];
            uint64_t own = i == whole ? sampled(p, i, m) : share_of(p, i, m, *left);
            *left -= i == whole ? 0 : own;
            p->values[i * values + m] = own;
        }
    }
    return p->values != NULL;
}

uint64_t hpx_page_value(const struct hpx_page_view *p, size_t place, size_t measure)
{
    return p->values != NULL ? p->values[place * p->view->values + measure] : sampled(p, place, measure);
}

static bool take_moments(struct hpx_page_view *p, const uint32_t *number)
{
    size_t n = p->view->moments.len;
    uint32_t *of = calloc(n, sizeof *of);
    p->moments = calloc(n, sizeof *p->moments);
    bool memory = of != NULL && p->moments != NULL;
    if (memory && find_places(p, number, of) > 0) {
        sort(p);
        (void)find_places(p, number, of);
    }
    p->first = memory ? calloc(p->n + 1, sizeof *p->first) : NULL;
    memory = p->first != NULL;
    if (memory) {
        order(p, of);
        memory = hpx_tree_has_threads(p->view) || divide_samples(p);
    }
    free(of);
    for (size_t i = 0; i < n; i++) {
        for (size_t m = 0; m < p->view->values; m++) {
            p->timed |= hpx_tree_moment_values_at(p->view, i)[m] > 0 ? 1u << m : 0;
        }
    }
    return memory;
}

bool hpx_page_view_init(struct hpx_page_view *p, const struct hpx_tree_view *v, const uint32_t *number, bool times, unsigned own)
{
    size_t room = v->samples.len + (times ? v->moments.len : 0);
    *p = (struct hpx_page_view){.view = v, .own = own, .places = calloc(room + 1, sizeof *p->places)};
    for (size_t i = 0; p->places != NULL && i < v->samples.len; i++) {
        const struct hpx_tree_sample *s = hpx_tree_sample_at(v, i);
        p->places[p->n++] = (struct hpx_page_place){number[s->node], s->thread, (uint32_t)i};
    }
    if (p->places == NULL) {
        return false;
    }
    sort(p);
    return !times || v->moments.len == 0 || take_moments(p, number);
}

void hpx_page_view_fini(struct hpx_page_view *p)
{
    free(p->places);
    free(p->values);
    free(p->moments);
    free(p->first);
}

/* ---- bins ---- */

uint64_t hpx_page_begin(const struct hpx_tree *t, uint64_t step)
{
    return t->times_from_ms - (t->times_from_ms - t->times_zero_ms) % step;
}

struct bins {
    const struct hpx_page_view *of;
    uint64_t from, to, step;
    struct hpx_page_grain grain;
    size_t place, next;
    /* the bin */
    uint64_t start; /* in steps */
    uint64_t values[HPX_TREE_VALUES];
};

static struct hpx_page_grain grain_of(const struct hpx_tree_view *v, size_t i, uint64_t step)
{
    const struct hpx_tree_moment *m = hpx_tree_moment_at(v, i);
    size_t length = hpx_tree_length(v);
    uint64_t ms = 1;
    while (ms < m->unit_ms) {
        ms *= 10;
    }
    bool wait = m->lasted && m->unit_ms == 1 && length < v->values;
    return (struct hpx_page_grain){ms > step ? ms : step, wait && hpx_tree_moment_values_at(v, i)[length] / NS_PER_MS >= step, 0};
}

static bool is_same(struct hpx_page_grain a, struct hpx_page_grain b)
{
    return a.ms == b.ms && a.waits == b.waits;
}

/* What was at the end of the times is in their last bin: behind it nothing can be chosen. */
static uint64_t start_of(const struct bins *b, const struct hpx_tree_moment *m)
{
    uint64_t at_ms = m->at_ms < b->to ? m->at_ms : b->to - 1;
    return at_ms > b->from ? (at_ms - b->from) / b->step : 0;
}

/* The next bin of the place. */
static bool next_bin(struct bins *b)
{
    const struct hpx_page_view *p = b->of;
    bool found = false;
    for (; b->next < p->first[b->place + 1]; b->next++) {
        uint64_t start = start_of(b, hpx_tree_moment_at(p->view, p->moments[b->next]));
        const uint64_t *values = hpx_tree_moment_values_at(p->view, p->moments[b->next]);
        if (!is_same(grain_of(p->view, p->moments[b->next], b->step), b->grain)) {
            continue;
        }
        if (found && (b->grain.waits || start != b->start)) {
            return true;
        }
        for (size_t i = 0; i < p->view->values; i++) {
            b->values[i] = hpx_tree_sum(found ? b->values[i] : 0, values[i]);
        }
        b->start = start;
        found = true;
    }
    return found;
}

/* to: NULL: counts alone. */
struct sink {
    struct hpx_pack *to;
    uint64_t bytes, bins;
};

static void put(struct sink *s, uint64_t v)
{
    if (s->to != NULL) {
        hpx_pack_number(s->to, v);
    }
    do {
        s->bytes++;
        v >>= 7;
    } while (v > 0);
}

enum { COUNTS = -2, STARTS = -1 }; /* columns; the others are measures */

static void put_column(struct bins b, struct sink *s, int column)
{
    for (b.place = 0; b.place < b.of->n; b.place++) {
        uint64_t n = 0, before = 0;
        b.next = b.of->first[b.place];
        while (next_bin(&b)) {
            n++;
            if (column != COUNTS) {
                put(s, column == STARTS ? b.start - before : b.values[column]);
            }
            before = b.start;
        }
        s->bins += column == COUNTS ? n : 0;
        if (column == COUNTS) {
            put(s, n);
        }
    }
}

static void put_grain(const struct bins *b, struct sink *s)
{
    put_column(*b, s, COUNTS);
    put_column(*b, s, STARTS);
    size_t main = b->of->view->main;
    for (size_t i = 0; i < b->of->view->values; i++) {
        size_t m = i == 0 ? main : i - (i <= main ? 1 : 0); /* as hpx_tree_columns() has them: the main one first */
        if ((b->of->timed & b->of->own) >> m & 1) {
            put_column(*b, s, (int)m);
        }
    }
}

static bool has_grain(const struct hpx_page_view *p, struct hpx_page_grain grain)
{
    bool found = false;
    for (size_t i = 0; i < p->ngrains; i++) {
        found = found || is_same(p->grains[i], grain);
    }
    return found;
}

/* The bytes that the view takes. */
static uint64_t divide(struct hpx_page_view *p, const struct hpx_tree *t, uint64_t step)
{
    struct sink s = {0};
    p->ngrains = 0;
    for (size_t i = 0; p->moments != NULL && i < p->view->moments.len; i++) {
        const struct hpx_page_grain grain = grain_of(p->view, i, step);
        if (!has_grain(p, grain)) {
            p->grains[p->ngrains++] = grain;
        }
    }
    for (size_t i = 0; i < p->ngrains; i++) {
        const struct bins b = {.of = p, .from = hpx_page_begin(t, step), .to = t->times_to_ms, .step = step, .grain = p->grains[i]};
        uint64_t before = s.bins;
        put_grain(&b, &s);
        p->grains[i].bins = s.bins - before;
    }
    return s.bytes;
}

uint64_t hpx_page_step(struct hpx_page_view *p, size_t n, const struct hpx_tree *t, uint64_t most_bytes)
{
    static const unsigned digits[] = {1, 2, 5};
    uint64_t step = HPX_PAGE_STEP, power = HPX_PAGE_STEP;
    for (size_t k = 1;; k++) {
        uint64_t bytes = 0;
        for (size_t i = 0; i < n; i++) {
            bytes += divide(&p[i], t, step);
        }
        uint64_t all = t->times_to_ms - hpx_page_begin(t, step);
        if ((bytes <= most_bytes && all / step < INT32_MAX) || all <= step || power > UINT64_MAX / 100) {
            return step;
        }
        power *= k % 3 == 0 ? 10 : 1;
        step = digits[k % 3] * power;
    }
}

void hpx_page_put_moments(const struct hpx_page_view *p, const struct hpx_tree *t, uint64_t step, struct hpx_pack *to)
{
    struct sink s = {.to = to};
    for (size_t i = 0; i < p->ngrains; i++) {
        const struct bins b = {.of = p, .from = hpx_page_begin(t, step), .to = t->times_to_ms, .step = step, .grain = p->grains[i]};
        put_grain(&b, &s);
    }
}
