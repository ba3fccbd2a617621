/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_diff.c: see heap_diff.h. */
#include "heap_diff.h"
#include "budget.h"
#include "heap_classes.h"
#include "heap_holders.h"
#include "heap_sites.h"
#include "heap_source.h"
#include "words.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SITE_COLUMNS 140

/* Of a class, or of one that was allocated at a site, on one side or on both. */
struct row {
    char *name;
    char *site; /* where they were allocated; NULL: the row is of all of the class */
    uint64_t objects[2], bytes[2];
};

struct sums {
    uint64_t objects, bytes;
    bool complete, sited;
    uint32_t dump, dumps;
    struct hpx_heap_layout layout;
    struct hpx_heap_fit fits[HPX_HEAP_LAYOUTS];
};

struct rows {
    struct row *at;
    size_t len;
};

static uint64_t change(uint64_t before, uint64_t after)
{
    return after > before ? after - before : before - after;
}

static int by_name(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int names = strcmp(x->name, y->name);
    return names != 0 || x->site == NULL || y->site == NULL ? names : strcmp(x->site, y->site);
}

static int by_change(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const uint64_t bytes[] = {change(x->bytes[0], x->bytes[1]), change(y->bytes[0], y->bytes[1])},
                   objects[] = {change(x->objects[0], x->objects[1]), change(y->objects[0], y->objects[1])};
    return bytes[0] != bytes[1]       ? (bytes[0] < bytes[1] ? 1 : -1)
           : objects[0] != objects[1] ? (objects[0] < objects[1] ? 1 : -1)
                                      : by_name(a, b);
}

/* retained: by class; NULL: their bytes count. */
static bool add(struct rows *all, const struct hpx_heap_graph *g, int side, const uint64_t *retained)
{
    struct row *more = realloc(all->at, (all->len + g->classes.len + 1) * sizeof *more);
    bool good = more != NULL;
    all->at = good ? more : all->at;
    for (size_t i = 0; good && i < g->classes.len; i++) {
        const struct hpx_heap_class *c = hpx_heap_class_at(g, (uint32_t)i);
        if (c->objects > 0) {
            struct row *r = &all->at[all->len];
            *r = (struct row){.name = strdup(c->name)};
            r->objects[side] = c->objects;
            r->bytes[side] = retained != NULL ? retained[i] : c->bytes;
            good = r->name != NULL;
            all->len += good;
        }
    }
    return good;
}

/* Rows of one name, and site, become one. */
static void merge(struct rows *all)
{
    size_t kept = 0;
    if (all->len > 0) {
        qsort(all->at, all->len, sizeof *all->at, by_name);
    }
    for (size_t i = 0; i < all->len; i++) {
        struct row *into = kept > 0 ? &all->at[kept - 1] : NULL, *from = &all->at[i];
        if (into == NULL || by_name(into, from) != 0) {
            all->at[kept++] = *from;
            continue;
        }
        for (int side = 0; side < 2; side++) {
            into->objects[side] += from->objects[side];
            into->bytes[side] += from->bytes[side];
        }
        free(from->name);
        free(from->site);
    }
    all->len = kept;
}

static bool add_side(struct rows *all, const struct hpx_heap_graph *g, int side, bool by_retained, struct hpx_err *err)
{
    uint64_t *retained = by_retained ? hpx_heap_retained_of_classes(g, err) : NULL;
    bool added = !by_retained || retained != NULL;
    if (added && !add(all, g, side, retained)) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        added = false;
    }
    free(retained);
    return added;
}

/* as: a layout of the heap; NULL: the one that fits best. */
static enum hpx_heap_read read_side(struct rows *all, struct sums *sums, int side, const struct hpx_heap_layout *as, bool retained, int fd,
                                    struct hpx_err *err)
{
    struct hpx_heap_source s;
    struct hpx_heap_graph g;
    if (!hpx_heap_source_begin(&s, fd, err)) {
        return HPX_HEAP_FAILED;
    }
    enum hpx_heap_read done =
        hpx_heap_graph_read_as(&g, &s.file, 0, retained ? HPX_HEAP_REFERENCES : HPX_HEAP_CLASSES, as, NULL, NULL, err);
    if (done == HPX_HEAP_READ) {
        *sums = (struct sums){.objects = g.objects,
                              .bytes = g.bytes,
                              .complete = g.complete,
                              .sited = g.sited,
                              .dump = g.dump,
                              .dumps = g.dumps,
                              .layout = g.layout};
        memcpy(sums->fits, g.fits, sizeof sums->fits);
        done = add_side(all, &g, side, retained, err) ? done : HPX_HEAP_FAILED;
    }
    hpx_heap_graph_fini(&g);
    hpx_heap_source_end(&s);
    return done;
}

/* Within the budget of the side: a file may have as many sites as objects. */
static bool add_sites(struct rows *all, struct hpx_heap_graph *g, int side, const struct hpx_heap_sites *s)
{
    const struct hpx_heap_site *site = s->all.items;
    struct row *more = realloc(all->at, (all->len + s->all.len + 1) * sizeof *more);
    bool good = more != NULL;
    all->at = good ? more : all->at;
    for (size_t i = 0; good && i < s->all.len; i++) {
        struct row *r = &all->at[all->len++];
        *r = (struct row){.name = strdup(hpx_heap_class_at(g, site[i].klass)->name), .site = hpx_heap_site_name(g, site[i].trace)};
        r->objects[side] = site[i].objects;
        r->bytes[side] = site[i].bytes;
        good = r->name != NULL && r->site != NULL && hpx_budget_take(sizeof *r + strlen(r->name) + strlen(r->site));
    }
    return good;
}

static enum hpx_heap_read read_sites(struct rows *all, int side, const struct hpx_heap_layout *as, int fd, struct hpx_err *err)
{
    struct hpx_heap_source s;
    struct hpx_heap_graph g;
    struct hpx_heap_sites sites;
    if (!hpx_heap_source_begin(&s, fd, err)) {
        return HPX_HEAP_FAILED;
    }
    hpx_heap_sites_init(&sites);
    enum hpx_heap_read done = hpx_heap_graph_read_as(&g, &s.file, 0, HPX_HEAP_REFERENCES, as, hpx_heap_sites_take, &sites, err);
    if (done == HPX_HEAP_READ && !add_sites(all, &g, side, &sites)) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "%s", hpx_budget_why());
        done = HPX_HEAP_FAILED;
    }
    hpx_heap_sites_fini(&sites);
    hpx_heap_graph_fini(&g);
    hpx_heap_source_end(&s);
    return done;
}

static void tell_side(FILE *to, const char *which, const char *name, const struct sums *s)
{
    (void)fprintf(to, "%s: ", which);
    hpx_words_name(to, name, 0, false);
    (void)fprintf(to, ", %s object%s, %s", hpx_words_number(s->objects), s->objects == 1 ? "" : "s", hpx_words_size(s->bytes));
    if (s->dumps > 1) {
        (void)fprintf(to, ", dump %" PRIu32 " of %" PRIu32, s->dump, s->dumps);
    }
    (void)fprintf(to, "%s.\n", s->complete ? "" : ", incomplete");
}

static void tell_change(FILE *to, const uint64_t v[2])
{
    char text[32];
    (void)snprintf(text, sizeof text, "%s%s", v[1] > v[0] ? "+" : v[1] < v[0] ? "-" : "", hpx_words_number(change(v[0], v[1])));
    (void)fprintf(to, " %16s", text);
}

static void tell_row(FILE *to, const struct row *r)
{
    (void)fprintf(to, "%15s", hpx_words_number(r->objects[1]));
    tell_change(to, r->objects);
    (void)fprintf(to, " %17s", hpx_words_number(r->bytes[1]));
    tell_change(to, r->bytes);
    (void)fputs("  ", to);
    hpx_words_java(to, r->name);
    if (r->site != NULL) {
        (void)fputs("\n    at ", to);
        hpx_words_name(to, r->site[0] != '\0' ? r->site : "an unknown site", SITE_COLUMNS, false);
    }
    (void)fputc('\n', to);
}

/* what, many: of what a row is; bytes: what its bytes are, in 8 columns. */
static void tell_rows(FILE *to, const struct rows *all, const char *what, const char *many, const char *bytes)
{
    size_t n = 0;
    while (n < all->len &&
           (change(all->at[n].bytes[0], all->at[n].bytes[1]) > 0 || change(all->at[n].objects[0], all->at[n].objects[1]) > 0)) {
        n++;
    }
    if (n == 0) {
        (void)fprintf(to, "None of %s %s has changed.\n", hpx_words_number(all->len), many);
        return;
    }
    (void)fprintf(to, "%s of %s %s %s changed.\n\n        objects           change          %s           change  class\n",
                  hpx_words_number(n), hpx_words_number(all->len), all->len == 1 ? what : many, n == 1 ? "has" : "have", bytes);
    for (size_t i = 0; i < n && i < HPX_HEAP_CHANGES; i++) {
        tell_row(to, &all->at[i]);
    }
    if (n > HPX_HEAP_CHANGES) {
        (void)fprintf(to, "  and %s more %s\n", hpx_words_number(n - HPX_HEAP_CHANGES), n - HPX_HEAP_CHANGES == 1 ? what : many);
    }
}

static void order(struct rows *all)
{
    merge(all);
    if (all->len > 0) {
        qsort(all->at, all->len, sizeof *all->at, by_change);
    }
}

static bool same(const struct hpx_heap_layout *a, const struct hpx_heap_layout *b)
{
    return a->ref == b->ref && a->header == b->header && a->array == b->array && a->array8 == b->array8 && a->align == b->align &&
           a->padded == b->padded;
}

static void drop(struct rows *all)
{
    for (size_t i = 0; i < all->len; i++) {
        free(all->at[i].name);
        free(all->at[i].site);
    }
    free(all->at);
    *all = (struct rows){NULL, 0};
}

/* If one of the dumps has chosen another layout, both are read as *as, which fits both. *differ: there is none. */
static enum hpx_heap_read read_sides(struct rows *all, struct sums sums[static 2], const struct hpx_heap_side side[static 2], bool retained,
                                     const struct hpx_heap_layout **as, bool *differ, struct hpx_err *err)
{
    enum hpx_heap_read done = HPX_HEAP_READ;
    for (int i = 0; i < 2 && done == HPX_HEAP_READ; i++) {
        done = read_side(all, &sums[i], i, NULL, retained, side[i].fd, err);
    }
    if (done != HPX_HEAP_READ || same(&sums[0].layout, &sums[1].layout)) {
        return done;
    }
    *as = hpx_heap_layout_of_both(sums[0].fits, sums[1].fits);
    *differ = *as == NULL;
    if (*as != NULL) {
        drop(all);
        for (int i = 0; i < 2 && done == HPX_HEAP_READ; i++) {
            done = read_side(all, &sums[i], i, *as, retained, side[i].fd, err);
        }
    }
    return done;
}

/* What is missing without memory is said. */
static void tell_sites(FILE *to, const struct hpx_heap_side side[static 2], const struct hpx_heap_layout *as)
{
    struct rows all = {NULL, 0};
    struct hpx_err why = {""};
    enum hpx_heap_read done = HPX_HEAP_READ;
    for (int i = 0; i < 2 && done == HPX_HEAP_READ; i++) {
        done = read_sites(&all, i, as, side[i].fd, &why);
    }
    (void)fputs("\nBy class and allocation site\n", to);
    if (done == HPX_HEAP_READ) {
        order(&all);
        tell_rows(to, &all, "site", "sites", "   bytes");
    } else {
        (void)fprintf(to, "It is missing: %s.\n", why.msg);
    }
    drop(&all);
}

enum hpx_heap_read hpx_heap_diff_tell(FILE *to, const struct hpx_heap_side side[static 2], bool retained, struct hpx_err *err)
{
    struct rows all = {NULL, 0};
    struct sums sums[2];
    const struct hpx_heap_layout *as = NULL;
    bool differ = false;
    enum hpx_heap_read done = read_sides(&all, sums, side, retained, &as, &differ, err);
    if (done == HPX_HEAP_READ) {
        order(&all);
        tell_side(to, "Before", side[0].name, &sums[0]);
        tell_side(to, "After", side[1].name, &sums[1]);
        if (differ) {
            (void)fputs("The JVMs lay out objects differently, so equal objects differ in bytes.\n", to);
        }
        tell_rows(to, &all, "class", "classes", retained ? "retained" : "   bytes");
    }
    drop(&all);
    if (done == HPX_HEAP_READ && !retained && sums[0].sited && sums[1].sited) {
        tell_sites(to, side, as);
    }
    return done;
}
