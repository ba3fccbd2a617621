/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_diff.c: see heap_diff.h. */
#include "heap_diff.h"
#include "heap_classes.h"
#include "heap_holders.h"
#include "heap_source.h"
#include "words.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of a class, on one side or on both. */
struct row {
    char *name;
    uint64_t objects[2], bytes[2];
};

struct sums {
    uint64_t objects, bytes;
    bool complete;
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
    return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
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

/* Rows of one name become one. */
static void merge(struct rows *all)
{
    size_t kept = 0;
    if (all->len > 0) {
        qsort(all->at, all->len, sizeof *all->at, by_name);
    }
    for (size_t i = 0; i < all->len; i++) {
        struct row *into = kept > 0 ? &all->at[kept - 1] : NULL, *from = &all->at[i];
        if (into == NULL || strcmp(into->name, from->name) != 0) {
            all->at[kept++] = *from;
            continue;
        }
        for (int side = 0; side < 2; side++) {
            into->objects[side] += from->objects[side];
            into->bytes[side] += from->bytes[side];
        }
        free(from->name);
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
    enum hpx_heap_read done = hpx_heap_graph_read_as(&g, &s.file, 0, retained ? HPX_HEAP_REFERENCES : HPX_HEAP_CLASSES, as, err);
    if (done == HPX_HEAP_READ) {
        *sums = (struct sums){
            .objects = g.objects, .bytes = g.bytes, .complete = g.complete, .dump = g.dump, .dumps = g.dumps, .layout = g.layout};
        memcpy(sums->fits, g.fits, sizeof sums->fits);
        done = add_side(all, &g, side, retained, err) ? done : HPX_HEAP_FAILED;
    }
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

static void tell_rows(FILE *to, const struct rows *all, bool retained)
{
    size_t n = 0;
    while (n < all->len &&
           (change(all->at[n].bytes[0], all->at[n].bytes[1]) > 0 || change(all->at[n].objects[0], all->at[n].objects[1]) > 0)) {
        n++;
    }
    if (n == 0) {
        (void)fprintf(to, "None of %s classes has changed.\n", hpx_words_number(all->len));
        return;
    }
    (void)fprintf(to, "%s of %s class%s %s changed.\n\n        objects           change          %s           change  class\n",
                  hpx_words_number(n), hpx_words_number(all->len), all->len == 1 ? "" : "es", n == 1 ? "has" : "have",
                  retained ? "retained" : "   bytes");
    for (size_t i = 0; i < n && i < HPX_HEAP_CHANGES; i++) {
        const struct row *r = &all->at[i];
        (void)fprintf(to, "%15s", hpx_words_number(r->objects[1]));
        tell_change(to, r->objects);
        (void)fprintf(to, " %17s", hpx_words_number(r->bytes[1]));
        tell_change(to, r->bytes);
        (void)fputs("  ", to);
        hpx_words_java(to, r->name);
        (void)fputc('\n', to);
    }
    if (n > HPX_HEAP_CHANGES) {
        (void)fprintf(to, "  and %s more class%s\n", hpx_words_number(n - HPX_HEAP_CHANGES), n - HPX_HEAP_CHANGES == 1 ? "" : "es");
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
    }
    free(all->at);
    *all = (struct rows){NULL, 0};
}

/* If one of the dumps has chosen another layout, both are read as the one that fits both. *differ: there is none. */
static enum hpx_heap_read read_sides(struct rows *all, struct sums sums[static 2], const struct hpx_heap_side side[static 2], bool retained,
                                     bool *differ, struct hpx_err *err)
{
    enum hpx_heap_read done = HPX_HEAP_READ;
    for (int i = 0; i < 2 && done == HPX_HEAP_READ; i++) {
        done = read_side(all, &sums[i], i, NULL, retained, side[i].fd, err);
    }
    if (done != HPX_HEAP_READ || same(&sums[0].layout, &sums[1].layout)) {
        return done;
    }
    const struct hpx_heap_layout *both = hpx_heap_layout_of_both(sums[0].fits, sums[1].fits);
    *differ = both == NULL;
    if (both != NULL) {
        drop(all);
        for (int i = 0; i < 2 && done == HPX_HEAP_READ; i++) {
            done = read_side(all, &sums[i], i, both, retained, side[i].fd, err);
        }
    }
    return done;
}

enum hpx_heap_read hpx_heap_diff_tell(FILE *to, const struct hpx_heap_side side[static 2], bool retained, struct hpx_err *err)
{
    struct rows all = {NULL, 0};
    struct sums sums[2];
    bool differ = false;
    enum hpx_heap_read done = read_sides(&all, sums, side, retained, &differ, err);
    if (done == HPX_HEAP_READ) {
        merge(&all);
        if (all.len > 0) {
            qsort(all.at, all.len, sizeof *all.at, by_change);
        }
        tell_side(to, "Before", side[0].name, &sums[0]);
        tell_side(to, "After", side[1].name, &sums[1]);
        if (differ) {
            (void)fputs("The JVMs lay out objects differently, so equal objects differ in bytes.\n", to);
        }
        tell_rows(to, &all, retained);
    }
    drop(&all);
    return done;
}
