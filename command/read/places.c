/* SPDX-License-Identifier: BSD-2-Clause */
/* places.c: see places.h. */
#include "places.h"
#include "check.h"
#include "own.h"
#include <stdlib.h>
#include <string.h>

#define BY_ALLOCATED 2u   /* hpx_rd_table.flags of SITES */
#define ENOUGH       20u  /* own code has at least this part of the table: a twentieth */
#define LEAST        100u /* what a place has at least: a hundredth */

/* Frames that count, each more than the one before. */
enum level { MINE, OWN, LIBRARIES, ALL };

/* The code of one maker. */
struct maker {
    uint64_t total; /* of stacks with it */
    uint64_t calls; /* of these, those in which it calls other code that may be the program's */
    size_t seen;    /* trace + 1 that it was found in last */
    bool has_main;
};

struct find {
    struct hpx_profile *p;
    uint64_t *weights;      /* of each trace */
    uint32_t *places;       /* of each trace: its method at the level */
    uint8_t *whose;         /* of each name */
    uint32_t *maker_of;     /* of each name, + 1 */
    struct hpx_list makers; /* struct maker */
    uint64_t all;
};

static const struct hpx_defined_trace *trace_at(const struct find *f, size_t i)
{
    return (const struct hpx_defined_trace *)f->p->defined.traces.items + i;
}

static uint32_t method_at(const struct find *f, const struct hpx_defined_trace *t, uint32_t i)
{
    return hpx_defined_method(&f->p->defined, hpx_defined_frame(&f->p->defined, t, i));
}

/* The stack of a row: of its owner, where the table is about owners. */
static const uint32_t *trace_of(const struct find *f, const struct hpx_sums *s, const struct hpx_sum *row)
{
    return hpx_seeded_map_find(&f->p->defined.trace_of, s->tag == HPX_TAG_MONITOR_OWNERS ? row->other : row->trace);
}

static uint64_t value_of(const struct hpx_sums *s, const struct hpx_sum *row, bool allocated)
{
    return s->tag == HPX_TAG_SITES && allocated ? row->values[HPX_SUM_BYTES] : hpx_sum_main(s, row);
}

/* ---- whose the methods are ---- */

static bool judge(struct find *f)
{
    struct hpx_definitions *d = &f->p->defined;
    struct hpx_seeded_map index;
    bool good = true;
    hpx_seeded_map_init(&index, true);
    for (uint32_t i = 0; i < d->frames.len && good; i++) {
        uint32_t name = hpx_defined_method(d, i + 1);
        if (name >= d->names.len || f->whose[name] != UINT8_MAX) {
            continue;
        }
        const char *method = hpx_defined_name(d, name);
        f->whose[name] = (uint8_t)hpx_own(method);
        size_t maker = f->whose[name] == HPX_WHOSE_OTHER ? hpx_own_maker(method) : 0;
        if (maker > 0) {
            uint64_t key = hpx_check_hash((struct hpx_rd_text){method, maker});
            struct maker *m = hpx_list_entry(&index, &f->makers, sizeof *m, key);
            f->maker_of[name] = m != NULL ? (uint32_t)(m - (struct maker *)f->makers.items) + 1 : 0;
            good = m != NULL;
        }
    }
    hpx_seeded_map_fini(&index);
    return good;
}

static bool is_main(const char *method)
{
    const char *end = strchr(method, '(');
    size_t n = end != NULL ? (size_t)(end - method) : strlen(method);
    return n > 5 && memcmp(method + n - 5, ".main", 5) == 0;
}

/* Who calls whom, on all stacks. */
static void count_makers(struct find *f)
{
    for (size_t i = 0; i < f->p->defined.traces.len; i++) {
        const struct hpx_defined_trace *t = trace_at(f, i);
        uint32_t innermost = 0;
        for (uint32_t k = 0; k < t->frames && f->weights[i] > 0; k++) {
            uint32_t name = method_at(f, t, k), of = f->maker_of[name];
            struct maker *m = of != 0 ? (struct maker *)f->makers.items + of - 1 : NULL;
            innermost = innermost == 0 ? of : innermost;
            if (m != NULL && m->seen != i + 1) {
                m->seen = i + 1;
                m->total += f->weights[i];
                m->calls += of != innermost ? f->weights[i] : 0;
            }
            if (m != NULL && k + 1 == t->frames) {
                m->has_main |= is_main(hpx_defined_name(&f->p->defined, name));
            }
        }
    }
}

/* A framework: most stacks share it, and mostly it calls others. */
static bool is_shared(const struct find *f, uint32_t name)
{
    uint32_t of = f->maker_of[name];
    const struct maker *m = of != 0 ? (const struct maker *)f->makers.items + of - 1 : NULL;
    return m != NULL && !m->has_main && m->total > f->all / 2 && m->calls > m->total / 2;
}

static bool counts(const struct find *f, uint32_t name, enum level level)
{
    enum hpx_whose whose = name != 0 ? (enum hpx_whose)f->whose[name] : HPX_WHOSE_NONE; /* 0: a frame that the file does not define */
    switch (level) {
    case MINE:
        return whose == HPX_WHOSE_MINE;
    case OWN:
        return whose == HPX_WHOSE_MINE || (whose == HPX_WHOSE_OTHER && !is_shared(f, name));
    case LIBRARIES:
        return whose != HPX_WHOSE_NONE && whose != HPX_WHOSE_JDK;
    default:
        return true;
    }
}

/* ---- places ---- */

/* How much of all is on stacks that have such frames. */
static uint64_t place(struct find *f, enum level level)
{
    uint64_t found = 0;
    for (size_t i = 0; i < f->p->defined.traces.len; i++) {
        const struct hpx_defined_trace *t = trace_at(f, i);
        uint32_t k = 0;
        while (f->weights[i] > 0 && k < t->frames && !counts(f, method_at(f, t, k), level)) {
            k++;
        }
        bool has = f->weights[i] > 0 && k < t->frames;
        f->places[i] = has ? method_at(f, t, k) : 0;
        found += has ? f->weights[i] : 0;
    }
    return found;
}

static void weigh(struct find *f, const int *tags, size_t n, const struct hpx_places *to)
{
    for (size_t k = 0; k < n; k++) {
        const struct hpx_sums *s = &hpx_profile_table(f->p, tags[k])->sums;
        const struct hpx_sum *row = s->rows.items;
        uint64_t sum = 0;
        for (size_t i = 0; i < s->rows.len; i++, row++) {
            const uint32_t *trace = trace_of(f, s, row);
            uint64_t value = value_of(s, row, to->allocated);
            if (s->tag == HPX_TAG_MONITOR_OWNERS && (trace == NULL || trace_at(f, *trace - 1)->frames == 0)) {
                continue; /* its owner was not asked for, or had left */
            }
            sum += value;
            if (trace != NULL) {
                f->weights[*trace - 1] += value;
            }
        }
        uint64_t told = s->tag == HPX_TAG_SITES || s->tag == HPX_TAG_MONITOR_OWNERS ? 0 : hpx_sums_total(s);
        f->all += told > sum ? told : sum;
    }
}

static int by_value(const void *a, const void *b)
{
    const struct hpx_own_place *x = a, *y = b;
    return x->value != y->value   ? (x->value < y->value ? 1 : -1)
           : x->where != y->where ? (x->where > y->where) - (x->where < y->where)
                                  : (x->what > y->what) - (x->what < y->what);
}

/* Rows of one place are added up. */
static bool add_up(const struct find *f, const int *tags, size_t n, struct hpx_places *to)
{
    struct hpx_seeded_map index;
    struct hpx_list all = {0};
    bool good = true;
    hpx_seeded_map_init(&index, true);
    for (size_t k = 0; k < n; k++) {
        const struct hpx_sums *s = &hpx_profile_table(f->p, tags[k])->sums;
        const struct hpx_sum *row = s->rows.items;
        bool objects = !hpx_tag_counts(s->tag) && s->tag != HPX_TAG_TIMES;
        for (size_t i = 0; i < s->rows.len && good; i++, row++) {
            const uint32_t *trace = trace_of(f, s, row);
            uint32_t where = trace != NULL ? f->places[*trace - 1] : 0, what = objects ? row->name : 0;
            struct hpx_own_place *place = where != 0 ? hpx_list_entry(&index, &all, sizeof *place, (uint64_t)what << 32 | where) : NULL;
            good = where == 0 || place != NULL;
            if (place != NULL) {
                *place = (struct hpx_own_place){what, where, place->value + value_of(s, row, to->allocated)};
            }
        }
    }
    if (all.len > 1) {
        qsort(all.items, all.len, sizeof(struct hpx_own_place), by_value);
    }
    for (to->n = 0; to->n < all.len && to->n < HPX_PLACES; to->n++) {
        to->top[to->n] = ((const struct hpx_own_place *)all.items)[to->n];
        if (to->top[to->n].value < to->all / LEAST || to->top[to->n].value == 0) {
            break;
        }
    }
    free(all.items);
    hpx_seeded_map_fini(&index);
    return good;
}

bool hpx_places_find(struct hpx_profile *p, const int *tags, size_t n, struct hpx_places *to)
{
    struct hpx_definitions *d = &p->defined;
    struct find f = {.p = p};
    *to = (struct hpx_places){.allocated = (hpx_profile_table(p, HPX_TAG_SITES)->table.flags & BY_ALLOCATED) != 0};
    for (uint32_t i = 0; i < d->frames.len; i++) { /* a binary file's methods get their names when they are asked for */
        (void)hpx_defined_method(d, i + 1);
    }
    f.weights = calloc(d->traces.len + 1, sizeof *f.weights);
    f.places = calloc(d->traces.len + 1, sizeof *f.places);
    f.whose = malloc(d->names.len + 1);
    f.maker_of = calloc(d->names.len + 1, sizeof *f.maker_of);
    bool good = f.weights != NULL && f.places != NULL && f.whose != NULL && f.maker_of != NULL;
    if (good) {
        memset(f.whose, UINT8_MAX, d->names.len + 1);
        good = judge(&f);
    }
    if (good) {
        weigh(&f, tags, n, to);
        count_makers(&f);
        enum level level = hpx_own_is_told() ? MINE : OWN;
        for (uint64_t found; level < ALL && ((found = place(&f, level)) == 0 || found < f.all / ENOUGH + (f.all % ENOUGH != 0)); level++) {
            to->not_mine |= level == MINE;
        }
        (void)place(&f, level);
        to->all = f.all;
        good = add_up(&f, tags, n, to);
    }
    free(f.weights);
    free(f.places);
    free(f.whose);
    free(f.maker_of);
    free(f.makers.items);
    return good;
}
