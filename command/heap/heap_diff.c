/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_diff.c: see heap_diff.h. */
#include "heap_diff.h"
#include "heap_holders.h"
#include "heap_rank.h"
#include "heap_room.h"
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

/* What a row is, and what its bytes are. */
enum by { BY_CLASS, BY_RETAINED, BY_SITE };

struct sums {
    uint64_t objects, bytes;
    bool complete, sited, common; /* common: the layout is of both sides */
    uint32_t dump, dumps;
    const struct hpx_heap_layout *layout;
    struct hpx_heap_fit fits[HPX_HEAP_LAYOUTS];
};

struct rows {
    struct row *at;
    size_t len;
    bool joined; /* classes of one side */
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
            all->joined |= into->objects[side] > 0 && from->objects[side] > 0;
            into->objects[side] += from->objects[side];
            into->bytes[side] += from->bytes[side];
        }
        free(from->name);
        free(from->site);
    }
    all->len = kept;
}

static int by_class_name(const void *a, const void *b)
{
    const struct hpx_heap_class *x = *(const struct hpx_heap_class *const *)a, *y = *(const struct hpx_heap_class *const *)b;
    return strcmp(x->name, y->name);
}

/* Objects of all classes of one name become those of one of them, so that what one retains of another counts once. */
static bool join_names(struct hpx_heap_graph *g, struct hpx_err *err)
{
    size_t n;
    const struct hpx_heap_class **all = hpx_heap_rank(g, by_class_name, &n), *first = all != NULL ? all[0] : NULL;
    uint32_t *one = hpx_heap_room(g->classes.len, sizeof *one, err);
    for (size_t i = 0; all != NULL && one != NULL && i < n; i++) {
        first = strcmp(all[i]->name, first->name) == 0 ? first : all[i];
        one[all[i] - hpx_heap_class_at(g, 0)] = (uint32_t)(first - hpx_heap_class_at(g, 0));
    }
    for (uint32_t i = 1; all != NULL && one != NULL && i < g->n; i++) {
        g->klass[i] = one[g->klass[i]];
    }
    bool made = all != NULL && one != NULL;
    if (!made) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "%s", hpx_budget_why());
    }
    hpx_heap_room_free(one, g->classes.len, sizeof *one);
    free(all);
    return made;
}

static bool add_side(struct rows *all, struct hpx_heap_graph *g, int side, bool by_retained, struct hpx_err *err)
{
    struct hpx_heap_holders h = {0};
    bool added = !by_retained || (join_names(g, err) && hpx_heap_holders_find(&h, g, NULL, err) == HPX_HEAP_READ);
    if (added && !add(all, g, side, h.of_class)) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        added = false;
    }
    hpx_heap_holders_fini(&h);
    return added;
}

/* Within the budget of the side: a file may have as many sites as objects. */
static bool add_sites(struct rows *all, struct hpx_heap_graph *g, int side, const struct hpx_heap_sites *s, struct hpx_err *err)
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
    if (!good) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "%s", hpx_budget_why());
    }
    return good;
}

static void forget(struct rows *all, int side)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->len; i++) {
        if (all->at[i].objects[side] > 0) {
            free(all->at[i].name);
            free(all->at[i].site);
        } else {
            all->at[kept++] = all->at[i];
        }
    }
    all->len = kept;
}

static void drop(struct rows *all)
{
    forget(all, 0);
    forget(all, 1);
    free(all->at);
    *all = (struct rows){0};
}

/* In the place of the rows that the side has; beside: the other side, if it has been read. */
static enum hpx_heap_read read_side(struct rows *all, struct sums *sums, int side, enum by by, const struct sums *beside, int fd,
                                    struct hpx_err *err)
{
    struct hpx_heap_source s;
    struct hpx_heap_graph g;
    struct hpx_heap_sites sites;
    const struct hpx_heap_how how = {.want = by == BY_CLASS ? HPX_HEAP_CLASSES : HPX_HEAP_REFERENCES,
                                     .beside = beside != NULL ? beside->fits : NULL,
                                     .sink = by == BY_SITE ? hpx_heap_sites_take : NULL,
                                     .ctx = &sites};
    forget(all, side);
    if (!hpx_heap_source_begin(&s, fd, err)) {
        return HPX_HEAP_FAILED;
    }
    hpx_heap_sites_init(&sites);
    enum hpx_heap_read done = hpx_heap_graph_read(&g, &s.file, &how, err);
    if (done == HPX_HEAP_READ) {
        *sums = (struct sums){g.objects, g.bytes, g.complete, g.sited, g.common, g.dump, g.dumps, g.layout, {{0, 0}}};
        memcpy(sums->fits, g.fits, sizeof sums->fits);
        bool added = by == BY_SITE ? add_sites(all, &g, side, &sites, err) : add_side(all, &g, side, by == BY_RETAINED, err);
        done = added ? done : HPX_HEAP_FAILED;
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

/* Both in one layout, if one fits both; what they retain is found once. */
static enum hpx_heap_read read_sides(struct rows *all, struct sums sums[static 2], const struct hpx_heap_side side[static 2], enum by by,
                                     struct hpx_err *err)
{
    enum hpx_heap_read done = read_side(all, &sums[0], 0, by == BY_RETAINED ? BY_CLASS : by, NULL, side[0].fd, err);
    done = done == HPX_HEAP_READ ? read_side(all, &sums[1], 1, by, &sums[0], side[1].fd, err) : done;
    bool once_more = done == HPX_HEAP_READ && (by == BY_RETAINED || (sums[1].common && sums[0].layout != sums[1].layout));
    return once_more ? read_side(all, &sums[0], 0, by, &sums[1], side[0].fd, err) : done;
}

/* What is missing without memory is said. */
static void tell_sites(FILE *to, const struct hpx_heap_side side[static 2])
{
    struct rows all = {0};
    struct sums sums[2];
    struct hpx_err why = {""};
    enum hpx_heap_read done = read_sides(&all, sums, side, BY_SITE, &why);
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
    struct rows all = {0};
    struct sums sums[2];
    enum hpx_heap_read done = read_sides(&all, sums, side, retained ? BY_RETAINED : BY_CLASS, err);
    if (done == HPX_HEAP_READ) {
        order(&all);
        tell_side(to, "Before", side[0].name, &sums[0]);
        tell_side(to, "After", side[1].name, &sums[1]);
        if (sums[0].layout != sums[1].layout) {
            (void)fputs("The JVMs lay out objects differently, so equal objects differ in bytes.\n", to);
        }
        if (all.joined) {
            (void)fputs("Classes of one name from several class loaders are one row.\n", to);
        }
        tell_rows(to, &all, "class", "classes", retained ? "retained" : "   bytes");
    }
    drop(&all);
    if (done == HPX_HEAP_READ && !retained && sums[0].sited && sums[1].sited) {
        tell_sites(to, side);
    }
    if (done == HPX_HEAP_READ && !(sums[0].complete && sums[1].complete)) {
        (void)hpx_err_set(err, HPX_E_RANGE, "%s: the heap dump is not complete", side[sums[0].complete].name);
        done = HPX_HEAP_PARTIAL;
    }
    return done;
}
