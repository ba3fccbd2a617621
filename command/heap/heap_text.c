/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_text.c: see heap_text.h. */
#include "heap_text.h"
#include "heap_json.h"
#include "heap_rank.h"
#include "heap_source.h"
#include "words.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_COLUMNS 72
#define EMPTY_ROWS   20

/* ---- classes ---- */

static void row(FILE *to, uint64_t count, uint64_t bytes, const char *class)
{
    (void)fprintf(to, "%15s %17s  ", hpx_words_number(count), hpx_words_number(bytes));
    hpx_words_java(to, class);
    (void)fputc('\n', to);
}

/* retained: by class; NULL: not known. */
static bool tell_classes(FILE *to, const struct hpx_heap_graph *g, const uint64_t *retained, size_t rows)
{
    size_t n;
    const struct hpx_heap_class **all = hpx_heap_rank(g, hpx_heap_by_bytes, &n);
    uint64_t count = 0, bytes = 0;
    if (all == NULL) {
        return false;
    }
    (void)fprintf(to, "\nClasses\n        objects             bytes%s  class\n", retained != NULL ? "          retained" : "");
    for (size_t i = 0; i < n; i++) {
        if (i < rows) {
            (void)fprintf(to, "%15s %17s", hpx_words_number(all[i]->objects), hpx_words_number(all[i]->bytes));
            if (retained != NULL) {
                (void)fprintf(to, " %17s", hpx_words_number(retained[all[i] - hpx_heap_class_at(g, 0)]));
            }
            (void)fputs("  ", to);
            hpx_words_java(to, all[i]->name);
            (void)fputc('\n', to);
        } else {
            count += all[i]->objects;
            bytes += all[i]->bytes;
        }
    }
    if (n > rows) {
        (void)fprintf(to, "%15s %17s%s  %s more class%s\n", hpx_words_number(count), hpx_words_number(bytes),
                      retained != NULL ? "                  " : "", hpx_words_number(n - rows), n - rows == 1 ? "" : "es");
    }
    free(all);
    return true;
}

/* ---- waste ---- */

static void tell_strings(FILE *to, const struct hpx_heap_waste *w)
{
    if (w->strings == 0) {
        return;
    }
    (void)fprintf(to, "\nDuplicate strings\n%s string%s, %s different text%s", hpx_words_number(w->strings), w->strings == 1 ? "" : "s",
                  hpx_words_number(w->texts), w->texts == 1 ? "" : "s");
    if (w->blank > 0) {
        (void)fprintf(to, " and %s of zeros, as redact= leaves them", hpx_words_number(w->blank));
    }
    (void)fprintf(to, "; if each text were there once, %s would be free.\n", hpx_words_size(w->bytes));
    if (w->tops > 0) {
        (void)fputs("        strings             bytes  text\n", to);
    }
    for (size_t i = 0; i < w->tops; i++) {
        (void)fprintf(to, "%15s %17s  \"", hpx_words_number(w->top[i].strings), hpx_words_number(w->top[i].bytes));
        hpx_words_name(to, w->top[i].text, TEXT_COLUMNS, false);
        (void)fputs("\"\n", to);
    }
}

static void tell_tables(FILE *to, const struct hpx_heap_graph *g, const struct hpx_heap_waste *w)
{
    const struct hpx_heap_empty *e = w->empty.items;
    uint64_t count = 0, bytes = 0;
    for (size_t i = 0; i < w->empty.len; i++) {
        count += e[i].count;
        bytes += e[i].bytes;
    }
    if (count == 0) {
        return;
    }
    (void)fprintf(to, "\nEmpty collections\n%s collection%s a table, but no element; the table%s %s.\n", hpx_words_number(count),
                  count == 1 ? " has" : "s have", count == 1 ? " takes" : "s take", hpx_words_size(bytes));
    (void)fputs("          count             bytes  class\n", to);
    for (size_t i = 0; i < w->empty.len && i < EMPTY_ROWS; i++) {
        row(to, e[i].count, e[i].bytes, hpx_heap_class_at(g, e[i].klass)->name);
    }
}

static bool tell_arrays(FILE *to, const struct hpx_heap_graph *g)
{
    size_t n;
    const struct hpx_heap_class **all = hpx_heap_rank(g, hpx_heap_by_empty, &n);
    uint64_t count = 0, bytes = 0;
    for (size_t i = 0; all != NULL && i < n; i++) {
        count += all[i]->empty;
        bytes += all[i]->empty * hpx_heap_empty_array(g, all[i]);
    }
    if (count > 0) {
        (void)fprintf(to, "\nArrays without elements\n%s array%s, %s.\n          count             bytes  class\n", hpx_words_number(count),
                      count == 1 ? "" : "s", hpx_words_size(bytes));
    }
    for (size_t i = 0; i < n && i < EMPTY_ROWS && count > 0 && all[i]->empty > 0; i++) {
        row(to, all[i]->empty, all[i]->empty * hpx_heap_empty_array(g, all[i]), all[i]->name);
    }
    free(all);
    return all != NULL;
}

/* ---- all of it ---- */

/* dump: that was asked for */
static void tell_head(FILE *to, const struct hpx_heap_graph *g, uint32_t dump)
{
    size_t classes = 0;
    for (size_t i = 0; i < g->classes.len; i++) {
        classes += hpx_heap_class_at(g, (uint32_t)i)->dumped;
    }
    uint64_t roots = g->first[1] - g->first[0];
    (void)fprintf(to, "Heap dump: %s object%s, %s; %s class%s, %s root%s.", hpx_words_number(g->objects), g->objects == 1 ? "" : "s",
                  hpx_words_size(g->bytes), hpx_words_number(classes), classes == 1 ? "" : "es", hpx_words_number(roots),
                  roots == 1 ? "" : "s");
    (void)fputs(" Sizes are estimates: a dump has the bytes of fields, not of headers and gaps.\n", to);
    if (g->dumps > 1) {
        (void)fprintf(to, "It is dump %" PRIu32 " of %" PRIu32 " in the file%s.\n", g->dump, g->dumps,
                      g->complete && dump == 0 ? g->dump < g->dumps ? ", the last that is complete" : ", the last" : "");
    }
    if (!g->complete) {
        (void)fputs("The dump is not complete: objects and references are missing.\n", to);
    }
    if (g->why[0] != '\0') {
        (void)fprintf(to, "The file is broken or unfinished, %s.\n", g->why);
    }
    if (g->twice > 0) {
        (void)fprintf(to, "%s object%s there twice, and count%s once.\n", hpx_words_number(g->twice), g->twice == 1 ? " is" : "s are",
                      g->twice == 1 ? "s" : "");
    }
    if (g->dangling > 0) {
        (void)fprintf(to, "%s reference%s that the dump does not have; %s left out.\n", hpx_words_number(g->dangling),
                      g->dangling == 1 ? " leads to an object" : "s lead to objects", g->dangling == 1 ? "it is" : "they are");
    }
}

/* The agent could not take the dump, and says why in its report, which is a string of the file. */
static void tell_why(const struct hpx_heap_graph *g, struct hpx_err *err)
{
    static const char begin[] = "hprofx: heap: not in this dump: ";
    char *const *names = g->defined.names.items;
    for (size_t i = 0; i < g->defined.names.len; i++) {
        const char *at = strstr(names[i], begin);
        if (at != NULL && (at == names[i] || at[-1] == '\n')) {
            at += sizeof begin - 1;
            (void)hpx_err_set(err, HPX_E_RANGE, "there is no heap dump: %.*s", (int)strcspn(at, "\n"), at);
        }
    }
}

static bool tell_words(FILE *to, const struct hpx_heap_told *t, const struct hpx_heap_ask *ask)
{
    const struct hpx_heap_graph *g = t->graph;
    tell_head(to, g, ask->dump);
    bool made = tell_classes(to, g, t->holders != NULL ? t->holders->of_class : NULL, ask->rows > 0 ? ask->rows : HPX_HEAP_ROWS);
    if (t->holders != NULL) {
        hpx_heap_holders_tell(to, t->holders, g);
    } else {
        (void)fprintf(to, "\nRetained sizes and paths are missing: %s.\n", t->missing);
    }
    tell_strings(to, t->waste);
    tell_tables(to, g, t->waste);
    return made && tell_arrays(to, g);
}

static enum hpx_heap_read tell(FILE *to, const struct hpx_heap_file *file, const struct hpx_heap_ask *ask, struct hpx_err *err)
{
    struct hpx_heap_graph g;
    struct hpx_heap_waste w = {0};
    struct hpx_heap_holders h = {0};
    struct hpx_err missing = {""};
    const struct hpx_heap_how how = {.dump = ask->dump, .want = HPX_HEAP_REFERENCES, .sink = hpx_heap_waste_take, .ctx = &w};
    enum hpx_heap_read done = hpx_heap_graph_read(&g, file, &how, err);
    bool made = done == HPX_HEAP_READ && hpx_heap_waste_finish(&w, &g);
    if (done == HPX_HEAP_NONE) {
        tell_why(&g, err);
    }
    if (made) {
        done = hpx_heap_waste_texts(&w, &g, file, err);
    }
    if (made && done == HPX_HEAP_READ) {
        bool held = hpx_heap_holders_find(&h, &g, file, &missing) == HPX_HEAP_READ;
        struct hpx_heap_told t = {&g, &w, held ? &h : NULL, missing.msg};
        made = ask->json != NULL ? hpx_heap_json(ask->json, &t, ask->rows) : tell_words(to, &t, ask);
    }
    if (!made && done == HPX_HEAP_READ) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "%s", hpx_budget_why());
        done = HPX_HEAP_FAILED;
    }
    if (done == HPX_HEAP_READ && (!g.complete || g.why[0] != '\0')) {
        (void)hpx_err_set(err, HPX_E_RANGE, g.complete ? "the file is broken, %s" : "the heap dump is not complete", g.why);
        done = HPX_HEAP_PARTIAL;
    }
    hpx_heap_holders_fini(&h);
    hpx_heap_waste_fini(&w);
    hpx_heap_graph_fini(&g);
    return done;
}

enum hpx_heap_read hpx_heap_tell(FILE *to, int fd, const struct hpx_heap_ask *ask, struct hpx_err *err)
{
    struct hpx_heap_source s;
    if (!hpx_heap_source_begin(&s, fd, err)) {
        return HPX_HEAP_FAILED;
    }
    enum hpx_heap_read done = tell(to, &s.file, ask, err);
    hpx_heap_source_end(&s);
    return done;
}
