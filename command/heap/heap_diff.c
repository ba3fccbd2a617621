/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_diff.c: see heap_diff.h. */
#include "heap_diff.h"
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

static bool add(struct rows *all, const struct hpx_heap_graph *g, int side)
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
            r->bytes[side] = c->bytes;
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

static enum hpx_heap_read read_side(struct rows *all, struct sums *sums, int side, int fd, struct hpx_err *err)
{
    struct hpx_heap_source s;
    struct hpx_heap_graph g;
    if (!hpx_heap_source_begin(&s, fd, err)) {
        return HPX_HEAP_FAILED;
    }
    enum hpx_heap_read done = hpx_heap_graph_read(&g, &s.file, 0, HPX_HEAP_CLASSES, NULL, NULL, err);
    if (done == HPX_HEAP_READ) {
        *sums = (struct sums){g.objects, g.bytes, g.complete, g.dump, g.dumps};
        if (!add(all, &g, side)) {
            (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
            done = HPX_HEAP_FAILED;
        }
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

static void tell_rows(FILE *to, const struct rows *all)
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
    (void)fprintf(to, "%s of %s class%s %s changed.\n\n        objects           change             bytes           change  class\n",
                  hpx_words_number(n), hpx_words_number(all->len), all->len == 1 ? "" : "es", n == 1 ? "has" : "have");
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

enum hpx_heap_read hpx_heap_diff_tell(FILE *to, const struct hpx_heap_side side[static 2], struct hpx_err *err)
{
    struct rows all = {NULL, 0};
    struct sums sums[2];
    enum hpx_heap_read done = HPX_HEAP_READ;
    for (int i = 0; i < 2 && done == HPX_HEAP_READ; i++) {
        done = read_side(&all, &sums[i], i, side[i].fd, err);
    }
    if (done == HPX_HEAP_READ) {
        merge(&all);
        if (all.len > 0) {
            qsort(all.at, all.len, sizeof *all.at, by_change);
        }
        tell_side(to, "Before", side[0].name, &sums[0]);
        tell_side(to, "After", side[1].name, &sums[1]);
        tell_rows(to, &all);
    }
    for (size_t i = 0; i < all.len; i++) {
        free(all.at[i].name);
    }
    free(all.at);
    return done;
}
