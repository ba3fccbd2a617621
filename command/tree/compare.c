/* SPDX-License-Identifier: BSD-2-Clause */
/* compare.c: see compare.h. */
#include "compare.h"
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CERTAIN 1e12 /* samples of a run that counted, among runs that did not */
#define ENOUGH  10   /* effective samples of both sides: with fewer no change is beyond chance, and the test would cost the others */

/* How the error of the value x of a stack comes. */
enum {
    COUNTED,  /* it has none */
    SAMPLES,  /* `unit` is what a sample stands for: unit x */
    OBJECTS,  /* a sample stands for `unit` bytes, so for unit / size objects: unit x^2 / bytes */
    EVENTS,   /* of all there could have been: unit x, with unit 1 */
    DURATION, /* of `other` events: if they are exponential, 2 x^2 / events */
    UNKNOWN,
};

bool hpx_compare_init(struct hpx_compare *c, size_t before, size_t after, bool absolute)
{
    memset(c, 0, sizeof *c);
    c->absolute = absolute;
    c->runs[HPX_BEFORE] = before;
    c->runs[HPX_AFTER] = after;
    c->all_runs = before + after;
    hpx_seeded_map_init(&c->method_of, true);
    c->run = calloc(c->all_runs, sizeof *c->run);
    return c->run != NULL;
}

void hpx_compare_fini(struct hpx_compare *c)
{
    for (size_t i = 0; i < c->methods.len; i++) {
        free(hpx_compare_method(c, i)->name);
    }
    free(c->methods.items);
    free(c->run);
    hpx_seeded_map_fini(&c->method_of);
}

/* ---- which figures ---- */

static const struct hpx_tree_view *find(const struct hpx_tree *t, const char *name, size_t *measure)
{
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        const struct hpx_tree_view *v = &t->views[k];
        for (*measure = 0; *measure < v->values; ++*measure) {
            bool any = v->totals[*measure] > 0 || v->before[*measure] > 0; /* of which a filter left nothing: that is an answer, too */
            if (any && strcmp(v->measures[*measure].name, name) == 0) {
                return v;
            }
        }
    }
    return NULL;
}

static size_t how_many_have(const struct hpx_compare *c, const char *name)
{
    size_t n = 0, measure;
    for (size_t i = 0; i < c->all_runs; i++) {
        n += find(c->run[i].tree, name, &measure) != NULL;
    }
    return n;
}

/* The total of the first measure that counts; 0: there is none. */
static double counted(const struct hpx_tree_view *v)
{
    for (size_t m = 0; m < v->values; m++) {
        if (v->measures[m].unit == HPX_UNIT_COUNT && v->totals[m] > 0) {
            return (double)v->totals[m];
        }
    }
    return 0;
}

static double cpu_recorded(const struct hpx_tree *t, const struct hpx_tree_view *v)
{
    double n = (double)v->totals[0], interval = (double)t->interval_ns;
    return n <= 0 && interval > 0 ? (double)v->totals[1] / interval : n;
}

static double cpu_samples(const struct hpx_tree *t, const struct hpx_tree_view *v)
{
    double n = cpu_recorded(t, v);
    return t->effective > 0 && ((double)t->effective < n || n <= 0) ? (double)t->effective : n;
}

/* Bytes and objects, allocated and live, in turn. */
static void alloc_errors(struct hpx_compare_run *r)
{
    bool live = r->measure > 1, objects = r->measure % 2 == 0;
    r->how = r->tree->sampled > 0 ? objects ? OBJECTS : SAMPLES : r->view->exact && !(live && r->tree->live_drawn) ? COUNTED : UNKNOWN;
    r->unit = r->tree->sampled > 0 ? (double)r->view->totals[1] / (double)r->tree->sampled : 0;
    r->other = r->measure + 1;
}

static void choose_errors(struct hpx_compare_run *r)
{
    const struct hpx_tree_view *v = r->view;
    size_t kind = (size_t)(v - r->tree->views);
    bool events = kind != HPX_VIEW_CPU && kind != HPX_VIEW_WALL && kind != HPX_VIEW_OTHER;
    r->unit = 1;
    if (kind == HPX_VIEW_ALLOC) {
        alloc_errors(r);
    } else if (v->exact) {
        r->how = COUNTED;
    } else if (events) {
        r->how = r->measure == 0 ? EVENTS : DURATION;
        r->other = 0;
    } else {
        double n = kind == HPX_VIEW_CPU ? cpu_samples(r->tree, v) : counted(v);
        r->how = n > 0 ? SAMPLES : UNKNOWN;
        r->recorded = kind == HPX_VIEW_CPU ? cpu_recorded(r->tree, v) : 0;
        r->unit = n > 0 ? (double)v->totals[r->measure] / n : 0;
    }
}

static enum hpx_change_kind kind_of(const struct hpx_compare *c)
{
    enum hpx_change_kind kind = HPX_CHANGE_COUNTED;
    for (size_t i = 0; i < c->all_runs; i++) {
        const struct hpx_compare_run *r = &c->run[i];
        if (r->view == NULL || r->view->totals[r->measure] == 0) {
            continue;
        }
        if (r->how == UNKNOWN) {
            return HPX_CHANGE_UNKNOWN;
        }
        kind = r->how != COUNTED ? HPX_CHANGE_DRAWN : kind;
    }
    return kind == HPX_CHANGE_COUNTED && c->measure.unit == HPX_UNIT_NS ? HPX_CHANGE_MEASURED : kind;
}

/* The name of the measure, from the tree that has it first; NULL: none has it. Most runs must have it. */
static const char *choose(struct hpx_compare *c, const char *view)
{
    const struct hpx_tree_measure *chosen = NULL;
    size_t most = 0;
    for (size_t i = 0; i < c->all_runs; i++) {
        struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
        const struct hpx_tree *t = c->run[i].tree;
        size_t n = view == NULL ? hpx_tree_columns(t, of) : hpx_tree_column(t, view, of) ? 1 : 0;
        for (size_t k = 0; k < n; k++) {
            const struct hpx_tree_measure *m = &t->views[of[k].view].measures[of[k].measure];
            size_t have = how_many_have(c, m->name);
            chosen = have > most ? m : chosen;
            most = have > most ? have : most;
        }
    }
    bool samples = chosen != NULL && strcmp(chosen->name, "samples") == 0 && (view == NULL || strcmp(view, "samples") != 0);
    if (samples && c->absolute && how_many_have(c, "cpu") == most) {
        return "cpu"; /* samples at other intervals would be other amounts */
    }
    return chosen != NULL ? chosen->name : NULL;
}

bool hpx_compare_choose(struct hpx_compare *c, const char *view)
{
    const char *name = choose(c, view);
    for (size_t i = 0; name != NULL && i < c->all_runs; i++) {
        struct hpx_compare_run *r = &c->run[i];
        r->view = find(r->tree, name, &r->measure);
        if (r->view != NULL) {
            choose_errors(r);
            c->key = r->view->key;
            c->title = r->view->title;
            c->measure = r->view->measures[r->measure];
        }
    }
    c->kind = kind_of(c);
    return name != NULL;
}

/* ---- sums ---- */

static struct hpx_compare_sum value_of(const struct hpx_compare_run *r, size_t sample)
{
    const uint64_t *values = hpx_tree_values_at(r->view, sample);
    double x = (double)values[r->measure];
    double other = r->how == OBJECTS || r->how == DURATION ? (double)values[r->other] : 0;
    switch (r->how) {
    case COUNTED:
    case UNKNOWN:
        return (struct hpx_compare_sum){x, x * x / CERTAIN};
    case OBJECTS:
        return (struct hpx_compare_sum){x, other > 0 ? r->unit * x * x / other : x};
    case DURATION:
        return (struct hpx_compare_sum){x, 2 * x * x / (other > 1 ? other : 1)};
    default:
        return (struct hpx_compare_sum){x, r->unit * x};
    }
}

static void add(struct hpx_compare_sum *to, struct hpx_compare_sum more)
{
    to->value += more.value;
    to->error += more.error;
}

/* The innermost frame may be a class. 0: the stack has no method. */
static uint32_t innermost(const struct hpx_tree *t, uint32_t node)
{
    while (node != 0 && hpx_tree_frame_at(t, hpx_tree_node_at(t, node)->frame)->kind == HPX_FRAME_CLASS) {
        node = hpx_tree_node_at(t, node)->parent;
    }
    return node;
}

/* The method of a name that a tree has, + 1; 0 without memory. */
static uint32_t method_of(struct hpx_compare *c, const struct hpx_tree *t, const struct hpx_tree_frame *f)
{
    const char *name = hpx_tree_text(t, f->name);
    size_t size = sizeof(struct hpx_compare_method) + c->all_runs * HPX_FIGURES * sizeof(struct hpx_compare_sum), before = c->methods.len;
    uint64_t key = hpx_check_hash((struct hpx_rd_text){name, strlen(name)}) ^ (f->kind == HPX_FRAME_CLASS);
    struct hpx_compare_method *m = hpx_list_entry(&c->method_of, &c->methods, size, key);
    if (m == NULL || c->methods.len == before) {
        return m != NULL ? (uint32_t)(((char *)m - (char *)c->methods.items) / (ptrdiff_t)size) + 1 : 0;
    }
    m->name = strdup(name);
    m->is_class = f->kind == HPX_FRAME_CLASS;
    return m->name != NULL ? (uint32_t)c->methods.len : 0;
}

struct pass {
    struct hpx_compare *c;
    size_t run;
    uint32_t *methods; /* of the frames of the run's tree, + 1; 0: not yet asked for */
    uint32_t stamp;
};

static struct hpx_compare_method *method_at(struct pass *p, uint32_t node)
{
    const struct hpx_tree *t = p->c->run[p->run].tree;
    uint32_t frame = hpx_tree_node_at(t, node)->frame, *known = &p->methods[frame];
    if (*known == 0) {
        *known = method_of(p->c, t, hpx_tree_frame_at(t, frame));
        p->c->no_memory |= *known == 0;
    }
    return *known != 0 ? hpx_compare_method(p->c, *known - 1) : NULL;
}

/* A method that calls itself counts once. */
static void take(struct pass *p, uint32_t node, int figure, struct hpx_compare_sum value)
{
    struct hpx_compare_method *m = method_at(p, node);
    if (m != NULL && m->stamp[figure] != p->stamp) {
        m->stamp[figure] = p->stamp;
        add(&m->sums[p->run * HPX_FIGURES + (size_t)figure], value);
    }
}

static void sum_run(struct pass *p)
{
    struct hpx_compare_run *r = &p->c->run[p->run];
    const struct hpx_tree *t = r->tree;
    for (size_t i = 0; i < r->view->samples.len && !p->c->no_memory; i++) {
        struct hpx_compare_sum value = value_of(r, i);
        uint32_t node = hpx_tree_sample_at(r->view, i)->node, inner = innermost(t, node);
        if (value.value <= 0) {
            continue;
        }
        add(&r->all, value);
        p->stamp++;
        if (inner != 0) {
            take(p, inner, HPX_SELF, value);
        }
        for (; node != 0; node = hpx_tree_node_at(t, node)->parent) {
            take(p, node, HPX_TOTAL, value);
        }
    }
    r->samples = r->all.error > 0 && r->how != UNKNOWN && r->how != COUNTED ? r->all.value * r->all.value / r->all.error : 0;
}

static bool frame_fits(struct hpx_compare *c, const struct hpx_tree *t, uint32_t frame, hpx_compare_fits *fits, void *ctx)
{
    uint32_t m = method_of(c, t, hpx_tree_frame_at(t, frame)); /* where there is none, a stack of value 0 alone has it */
    c->no_memory |= m == 0;
    return m != 0 && fits(ctx, hpx_compare_method(c, m - 1)->name);
}

size_t hpx_compare_union(struct hpx_compare *c, hpx_compare_fits *fits, void *ctx, int figure, struct hpx_compare_sum *sums)
{
    size_t n = 0;
    memset(sums, 0, c->all_runs * sizeof *sums);
    for (size_t i = 0; i < c->methods.len; i++) {
        n += fits(ctx, hpx_compare_method(c, i)->name);
    }
    for (size_t k = 0; n > 0 && k < c->all_runs; k++) {
        const struct hpx_compare_run *r = &c->run[k];
        const struct hpx_tree *t = r->tree;
        char *known = r->view != NULL ? calloc(t->frames.len, 1) : NULL; /* of a frame: 1 no, 2 yes */
        c->no_memory |= r->view != NULL && known == NULL;
        for (size_t i = 0; known != NULL && i < r->view->samples.len; i++) {
            uint32_t node = hpx_tree_sample_at(r->view, i)->node;
            bool found = false;
            for (node = figure == HPX_SELF ? innermost(t, node) : node; node != 0 && !found; node = hpx_tree_node_at(t, node)->parent) {
                uint32_t frame = hpx_tree_node_at(t, node)->frame;
                if (known[frame] == 0) {
                    known[frame] = frame_fits(c, t, frame, fits, ctx) ? 2 : 1;
                }
                found = known[frame] == 2;
                if (figure == HPX_SELF) {
                    break;
                }
            }
            if (found) {
                add(&sums[k], value_of(r, i));
            }
        }
        free(known);
    }
    return n;
}

/* ---- sides ---- */

/* Effective samples among which those of the figure are, in one run: what would give a binomial its error. */
static double samples_of(const struct hpx_compare_run *r, struct hpx_compare_sum s)
{
    double total = r->all.value, p = s.value / total, rest = r->all.error - s.error;
    double error = ((1 - p) * (1 - p) * s.error + p * p * (rest > 0 ? rest : 0)) / (total * total);
    return p > 0 && p < 1 && error > 0 ? p * (1 - p) / error : total * total / r->all.error;
}

struct hpx_change_side hpx_compare_side(const struct hpx_compare *c, int side, const struct hpx_compare_sum *sums, size_t stride)
{
    struct hpx_change_side s = {.runs = c->runs[side]};
    size_t first = side == HPX_BEFORE ? 0 : c->runs[HPX_BEFORE];
    double k = (double)s.runs, errors = 0, inverse = 0, unit = 0;
    for (size_t i = 0; i < s.runs; i++) {
        const struct hpx_compare_run *r = &c->run[first + i];
        struct hpx_compare_sum sum = sums[(first + i) * stride];
        if (r->all.value > 0) {
            s.mean += c->absolute ? sum.value : sum.value / r->all.value;
            errors += sum.error;
            inverse += 1 / samples_of(r, sum);
            unit += r->all.error / r->all.value / k / k;
        } else {
            inverse = c->absolute ? inverse : INFINITY;
        }
    }
    s.mean /= k; /* in the end, so that the mean of equal amounts is the amount: those of counted views are compared exactly */
    for (size_t i = 0; i < s.runs && s.mean > 0; i++) {
        const struct hpx_compare_run *r = &c->run[first + i];
        double value = sums[(first + i) * stride].value;
        double off = (c->absolute ? value : r->all.value > 0 ? value / r->all.value : 0) / s.mean - 1;
        s.squares += off * off;
    }
    if (c->absolute) {
        /* the error of the mean: errors / k^2 = events * unit^2 */
        s.of = INFINITY;
        s.events = errors > 0 ? s.mean * s.mean * k * k / errors : 0;
        s.unit = s.events > 0 ? s.mean / s.events : unit > 0 ? unit : c->unit;
    } else {
        s.of = inverse > 0 && !isinf(inverse) ? k * k / inverse : 0;
        s.events = s.mean * s.of;
    }
    return s;
}

double hpx_compare_samples(const struct hpx_compare *c, int side)
{
    double n = 0;
    for (size_t i = 0; i < c->runs[side]; i++) {
        n += c->run[(side == HPX_BEFORE ? 0 : c->runs[HPX_BEFORE]) + i].samples;
    }
    return n;
}

double hpx_compare_recorded(const struct hpx_compare *c, int side)
{
    double n = 0;
    for (size_t i = 0; i < c->runs[side]; i++) {
        const struct hpx_compare_run *r = &c->run[(side == HPX_BEFORE ? 0 : c->runs[HPX_BEFORE]) + i];
        n += r->recorded > 0 && r->samples > 0 ? r->recorded : r->samples;
    }
    return n;
}

double hpx_compare_total(const struct hpx_compare *c, int side)
{
    double sum = 0;
    for (size_t i = 0; i < c->runs[side]; i++) {
        sum += c->run[(side == HPX_BEFORE ? 0 : c->runs[HPX_BEFORE]) + i].all.value;
    }
    return sum / (double)c->runs[side];
}

/* ---- marks ---- */

static void change(struct hpx_compare *c, struct hpx_compare_method *m, int figure, double *p)
{
    struct hpx_change_side *side = m->side[figure];
    for (int k = 0; k < HPX_SIDES; k++) {
        side[k] = hpx_compare_side(c, k, m->sums + figure, HPX_FIGURES);
    }
    m->change[figure] = hpx_change_between(c->kind, &side[HPX_BEFORE], &side[HPX_AFTER], HPX_CHANGE_CHANCE);
    m->tested[figure] = side[HPX_BEFORE].mean > 0 || side[HPX_AFTER].mean > 0;
    if (c->kind == HPX_CHANGE_DRAWN) {
        m->tested[figure] = side[HPX_BEFORE].events + side[HPX_AFTER].events >= ENOUGH;
    }
    if (m->tested[figure]) {
        p[c->tested++] = m->change[figure].p;
    }
}

static void mark(struct hpx_compare *c, double *p)
{
    for (size_t i = 0; i < c->methods.len; i++) {
        for (int f = 0; f < HPX_FIGURES; f++) {
            change(c, hpx_compare_method(c, i), f, p);
        }
    }
    c->limit = hpx_change_limit(p, c->tested, HPX_CHANGE_CHANCE);
    for (size_t i = 0; i < c->methods.len; i++) {
        struct hpx_compare_method *m = hpx_compare_method(c, i);
        for (int f = 0; f < HPX_FIGURES; f++) {
            m->changed[f] = m->tested[f] && m->change[f].p <= c->limit && m->change[f].points != 0;
            c->changed += m->changed[f];
        }
    }
}

bool hpx_compare_methods(struct hpx_compare *c)
{
    struct pass pass = {.c = c};
    for (pass.run = 0; pass.run < c->all_runs && !c->no_memory; pass.run++) {
        struct hpx_compare_run *r = &c->run[pass.run];
        pass.methods = calloc(r->tree->frames.len, sizeof *pass.methods);
        c->no_memory |= pass.methods == NULL;
        if (!c->no_memory && r->view != NULL) {
            sum_run(&pass);
        }
        free(pass.methods);
    }
    double value = 0, error = 0;
    for (size_t i = 0; i < c->all_runs; i++) {
        value += c->run[i].all.value;
        error += c->run[i].all.error;
    }
    c->unit = value > 0 ? error / value : 1;
    double *p = calloc(c->methods.len * HPX_FIGURES + 1, sizeof *p);
    c->no_memory |= p == NULL;
    if (!c->no_memory) {
        mark(c, p);
    }
    free(p);
    return !c->no_memory;
}
