/* SPDX-License-Identifier: BSD-2-Clause */
/* within.c: see within.h. */
#include "within.h"
#include "change.h"
#include "own.h"
#include <math.h>
#include <stdlib.h>

#define CHANCE     0.01
#define FEWEST     8    /* bins */
#define SHORTEST   250u /* ms of a bin */
#define LEAST      0.01 /* of all samples: a smaller method is not judged */
#define ENOUGH     10   /* samples of a method, and of a part */
#define DIFFERENCE 0.05 /* a judgement: less is not worth a line */

/* ---- judging ---- */

/* Sums of the bins before each: of all samples, of the method's, and of its squared share by the samples. */
struct sums {
    double all[HPX_WITHIN_BINS + 1], of[HPX_WITHIN_BINS + 1], squares[HPX_WITHIN_BINS + 1];
    size_t bins, used; /* used: those with samples */
    double weight;
};

static void add_up(struct sums *s, const uint64_t *counts)
{
    s->of[0] = s->squares[0] = 0;
    for (size_t b = 0; b < s->bins; b++) {
        double x = (double)counts[b], n = s->all[b + 1] - s->all[b];
        s->of[b + 1] = s->of[b] + x;
        s->squares[b + 1] = s->squares[b] + (n > 0 ? x * x / n : 0);
    }
}

struct side {
    double of, all, share, squares; /* squares: of the bins about the share, in errors of drawing */
};

static struct side side_of(double of, double all, double squares)
{
    struct side s = {of, all, all > 0 ? of / all : 0, 0};
    double p = (of + 0.5) / (all + 1); /* never 0 */
    s.squares = (squares - 2 * s.share * of + s.share * s.share * all) / (p * (1 - p));
    return s;
}

static void sides(const struct sums *s, size_t begin, size_t end, struct side *in, struct side *out)
{
    double of = s->of[end] - s->of[begin], all = s->all[end] - s->all[begin], squares = s->squares[end] - s->squares[begin];
    *in = side_of(of, all, squares);
    *out = side_of(s->of[s->bins] - of, s->all[s->bins] - all, s->squares[s->bins] - squares);
}

/* How many times the variance of drawing the bins have; 1: no more. */
static double spread(const struct sums *s, const struct side *in, const struct side *out)
{
    double degrees = (double)s->used - 2;
    return degrees > 0 ? fmax((in->squares + out->squares) / degrees, 1 / s->weight) : INFINITY;
}

/* In errors of drawing. */
static double distance(const struct side *in, const struct side *out)
{
    double p = (in->of + out->of) / (in->all + out->all);
    return fabs(in->share - out->share) / sqrt(p * (1 - p) * (1 / in->all + 1 / out->all));
}

/* How many times more a sum of bins varies because each is like the one before it: by the correlation of what is left of them beside the
 * mean of their side. 1: no more. */
static double alike(const struct sums *s, size_t begin, size_t end, const struct side *in, const struct side *out)
{
    double before = 0, products = 0, squares = 0;
    for (size_t b = 0; b < s->bins; b++) {
        double n = s->all[b + 1] - s->all[b], x = s->of[b + 1] - s->of[b];
        double rest = n > 0 ? (x - n * (b >= begin && b < end ? in->share : out->share)) / sqrt(n) : 0;
        products += rest * before;
        squares += rest * rest;
        before = rest;
    }
    double r = squares > 0 ? products / squares + 0.5 / sqrt((double)s->bins) : 0; /* an estimate that may be low by chance */
    r = r > 0 ? fmin(r, 0.9) : 0;
    return (1 + r) / (1 - r);
}

static bool is_judged(const struct sums *s)
{
    double of = s->of[s->bins], all = s->all[s->bins];
    return of >= ENOUGH && of >= LEAST * all && of < all;
}

/* How many samples come at once, by what all methods do in the longer side of a part: threads stay in a method for a while, and every
 * method tells for how long. */
static double lump(const struct sums *of, const uint64_t *counts, size_t methods, size_t begin, size_t end)
{
    struct sums s = *of;
    double sum = 0, n = 0, bins[2] = {0, 0};
    for (size_t b = 0; b < s.bins; b++) {
        bins[b < begin || b >= end] += s.all[b + 1] > s.all[b];
    }
    for (size_t m = 0; m < methods; m++) {
        struct side in, out;
        add_up(&s, counts + m * s.bins);
        if (is_judged(&s)) {
            sides(&s, begin, end, &in, &out);
            const struct side *by = bins[0] > bins[1] ? &in : &out;
            sum += by->of >= ENOUGH ? by->squares / (fmax(bins[0], bins[1]) - 1) * alike(&s, begin, end, &in, &out) : 0;
            n += by->of >= ENOUGH;
        }
    }
    return fmax(n > 0 ? sum / n : 0, 1 / s.weight);
}

/* The logarithm of the chance that samples divide so unevenly, of[0] of all[0] and of[1] of all[1], if they come in stays that end at any
 * moment alike: their lengths are exponential, and counts of them more lopsided than counts of samples. It is the leading term of large
 * deviations at the rate of stays that fits best. once: samples of a stay, by their variance. */
static double of_stays(const double of[2], const double all[2], double once)
{
    double far = sqrt(of[0] * all[1]) - sqrt(of[1] * all[0]);
    return -2 * far * far / (once * (all[0] + all[1]));
}

/* Of what is rarer, the method or what is not it: of most of the samples there are fewer errors than stays. */
static double of_rarer(const struct side *in, const struct side *out, double once)
{
    const double of[] = {in->of, out->of}, rest[] = {in->all - in->of, out->all - out->of}, all[] = {in->all, out->all};
    double share = (of[0] + of[1]) / (all[0] + all[1]);
    return share < 0.5 ? of_stays(of, all, once) / (1 - share) : of_stays(rest, all, once) / share;
}

/* As a multiple of what chance gives: by Student, by drawing as many samples as come apart from each other, and by drawing stays, because
 * counts of what is rare and long are lopsided. */
static double surely(const struct sums *s, const uint64_t *counts, size_t methods, size_t begin, size_t end, double chance)
{
    struct side in, out;
    sides(s, begin, end, &in, &out);
    if (in.all < ENOUGH || out.all < ENOUGH || fabs(in.share - out.share) < DIFFERENCE) {
        return 0;
    }
    double wide = spread(s, &in, &out) * alike(s, begin, end, &in, &out);
    double student = distance(&in, &out) / sqrt(wide) / hpx_change_t(chance, (double)s->used - 2);
    double once = student > 1 ? fmax(wide, lump(s, counts, methods, begin, end)) : 1;
    const struct hpx_change_side a = {.runs = 1, .mean = out.share, .events = out.of / once, .of = out.all / once},
                                 b = {.runs = 1, .mean = in.share, .events = in.of / once, .of = in.all / once};
    double drawn = fmax(log(hpx_change_between(HPX_CHANGE_DRAWN, &a, &b, HPX_CHANGE_CHANCE).p), of_rarer(&in, &out, once));
    return fmin(student, drawn / log(chance));
}

/* The part that differs most, by the spread of bins. A part that begins with the first bin is the rest of another one. */
static double farthest(const struct sums *s, size_t *begin, size_t *end)
{
    double most = 0;
    for (size_t i = 1; i < s->bins; i++) {
        for (size_t j = i + 1; j <= s->bins; j++) {
            struct side in, out;
            sides(s, i, j, &in, &out);
            double far = in.all >= ENOUGH && out.all >= ENOUGH ? distance(&in, &out) / sqrt(spread(s, &in, &out)) : 0;
            if (far > most) {
                most = far;
                *begin = i;
                *end = j;
            }
        }
    }
    return most;
}

static size_t how_many(const uint64_t *counts, size_t methods, struct sums *s)
{
    size_t n = 0;
    for (size_t m = 0; m < methods; m++) {
        add_up(s, counts + m * s->bins);
        n += is_judged(s);
    }
    return n;
}

static void insert(struct hpx_within_part *p, struct hpx_within_change c)
{
    size_t at = p->n;
    while (at > 0 && fabs(p->top[at - 1].inside - p->top[at - 1].outside) < fabs(c.inside - c.outside)) {
        if (at < HPX_WITHIN_TOP) {
            p->top[at] = p->top[at - 1];
        }
        at--;
    }
    if (at < HPX_WITHIN_TOP) {
        p->top[at] = c;
        p->n += p->n < HPX_WITHIN_TOP;
    }
}

void hpx_within_judge(const uint64_t *counts, size_t methods, size_t bins, double weight, struct hpx_within_part *part)
{
    struct sums s = {.bins = bins, .weight = weight > 0 && weight < 1 ? weight : 1};
    double best = 1;
    *part = (struct hpx_within_part){.n = 0};
    for (size_t b = 0; b < bins; b++) {
        s.all[b + 1] = s.all[b];
        for (size_t m = 0; m < methods; m++) {
            s.all[b + 1] += (double)counts[m * bins + b];
        }
        s.used += s.all[b + 1] > s.all[b];
    }
    size_t tests = bins >= FEWEST && s.used >= FEWEST ? how_many(counts, methods, &s) * (bins * (bins - 1) / 2) : 0;
    double chance = tests > 0 ? CHANCE / (double)tests : 0;
    for (size_t m = 0; m < methods && tests > 0; m++) {
        size_t begin = 0, end = 0;
        add_up(&s, counts + m * bins);
        double sure = is_judged(&s) && farthest(&s, &begin, &end) > 0 ? surely(&s, counts, methods, begin, end, chance) : 0;
        if (sure > best) {
            best = sure;
            part->begin = begin;
            part->end = end;
        }
    }
    for (size_t m = 0; m < methods && best > 1; m++) { /* what else differs there */
        struct side in, out;
        add_up(&s, counts + m * bins);
        double sure = is_judged(&s) ? surely(&s, counts, methods, part->begin, part->end, chance) : 0;
        if (sure > 1) {
            sides(&s, part->begin, part->end, &in, &out);
            insert(part, (struct hpx_within_change){m, in.share, out.share});
        }
    }
}

/* ---- a tree ---- */

/* By name: 1: not own; 2: own. */
static bool is_own(const struct hpx_tree *t, uint32_t name, uint8_t *known)
{
    if (known[name] == 0) {
        enum hpx_whose whose = hpx_own(hpx_tree_text(t, name));
        known[name] = whose == HPX_WHOSE_MINE || (whose == HPX_WHOSE_OTHER && !hpx_own_is_told()) ? 2 : 1;
    }
    return known[name] == 2;
}

/* For each node the name of the method that its samples count for; 0: none. NULL: no memory. */
static uint32_t *places(const struct hpx_tree *t)
{
    uint32_t *of = calloc(t->nodes.len, sizeof *of), *own = calloc(t->nodes.len, sizeof *own);
    uint8_t *known = calloc(t->names.len, 1);
    for (uint32_t i = 1; i < t->nodes.len && of != NULL && own != NULL && known != NULL; i++) {
        const struct hpx_tree_node *n = hpx_tree_node_at(t, i);
        const struct hpx_tree_frame *f = hpx_tree_frame_at(t, n->frame);
        bool method = f->kind == HPX_FRAME_METHOD;
        own[i] = method && is_own(t, f->name, known) ? f->name : own[n->parent];
        of[i] = own[i] != 0 ? own[i] : method ? f->name : of[n->parent];
    }
    bool made = own != NULL && known != NULL;
    free(own);
    free(known);
    if (!made) {
        free(of);
        of = NULL;
    }
    return of;
}

struct table {
    uint32_t *index; /* by name: a row + 1 */
    struct hpx_list names, counts;
    size_t bins;
};

static bool count(struct table *t, uint32_t name, size_t bin, uint64_t n)
{
    if (t->index[name] == 0) {
        uint32_t *slot = hpx_list_push(&t->names, sizeof *slot);
        bool all = slot != NULL;
        for (size_t b = 0; b < t->bins && all; b++) {
            all = hpx_list_push(&t->counts, sizeof(uint64_t)) != NULL;
        }
        if (!all) {
            return false;
        }
        *slot = name;
        t->index[name] = (uint32_t)t->names.len;
    }
    uint64_t *rows = t->counts.items, *at = rows != NULL ? rows + (t->index[name] - 1) * t->bins + bin : NULL;
    if (at != NULL) {
        *at = hpx_tree_sum(*at, n);
    }
    return at != NULL;
}

static bool fill(struct table *to, const struct hpx_tree *t, double width, uint64_t *samples)
{
    const struct hpx_tree_view *v = &t->views[HPX_VIEW_CPU];
    uint32_t *of = places(t);
    bool all = of != NULL;
    to->index = calloc(t->names.len, sizeof *to->index);
    for (size_t i = 0; i < v->moments.len && all && to->index != NULL; i++) {
        const struct hpx_tree_moment *m = hpx_tree_moment_at(v, i);
        uint64_t n = hpx_tree_moment_values_at(v, i)[0];
        size_t bin = m->at_ms > t->times_from_ms ? (size_t)((double)(m->at_ms - t->times_from_ms) / width) : 0;
        *samples = hpx_tree_sum(*samples, n);
        all = count(to, of[m->node], bin < to->bins ? bin : to->bins - 1, n);
    }
    free(of);
    return all && to->index != NULL;
}

/* Times of a coarse part say nothing within their unit. */
static bool is_fine(const struct hpx_tree_view *v, double width)
{
    bool fine = true;
    for (size_t i = 0; i < v->moments.len && fine; i++) {
        fine = hpx_tree_moment_at(v, i)->unit_ms <= width / 2 || hpx_tree_moment_at(v, i)->unit_ms <= 1;
    }
    return fine;
}

bool hpx_within_find(const struct hpx_tree *t, struct hpx_within *w)
{
    const struct hpx_tree_view *v = &t->views[HPX_VIEW_CPU];
    uint64_t lasts = t->times_to_ms > t->times_from_ms ? t->times_to_ms - t->times_from_ms : 0, samples = 0;
    struct table to = {.bins = lasts / SHORTEST < HPX_WITHIN_BINS ? lasts / SHORTEST : HPX_WITHIN_BINS};
    double width = to.bins > 0 ? (double)lasts / (double)to.bins : 0;
    *w = (struct hpx_within){.from_ms = 0};
    if (to.bins < FEWEST || v->moments.len == 0 || !is_fine(v, width)) {
        return true;
    }
    bool all = fill(&to, t, width, &samples);
    if (all) {
        double weight = t->effective > 0 && t->effective < samples ? (double)t->effective / (double)samples : 1;
        hpx_within_judge(to.counts.items, to.names.len, to.bins, weight, &w->part);
        w->last = w->part.end == to.bins;
        w->from_ms = (uint64_t)((double)w->part.begin * width + 0.5);
        w->to_ms = (uint64_t)((double)w->part.end * width + 0.5);
    }
    for (size_t i = 0; to.names.items != NULL && i < w->part.n; i++) {
        w->names[i] = ((const uint32_t *)to.names.items)[w->part.top[i].method];
    }
    if (w->last && w->part.begin < to.bins / 2) { /* what differs is the shorter part */
        w->first = true;
        w->last = false;
        w->to_ms = w->from_ms;
        w->from_ms = 0;
        for (size_t i = 0; i < w->part.n; i++) {
            struct hpx_within_change *c = &w->part.top[i];
            double inside = c->inside;
            c->inside = c->outside;
            c->outside = inside;
        }
    }
    free(to.index);
    free(to.names.items);
    free(to.counts.items);
    return all;
}
