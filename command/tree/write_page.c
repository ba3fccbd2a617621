/* SPDX-License-Identifier: BSD-2-Clause */
/* write_page.c: the page: HTML, whose script unpacks the tree. Its data are numbers of pack.h, deflated, in base64:
 *
 *   how many trees (2: the base of a comparison first), for each what follows, and of a comparison, at the end, the size and the JSON of
 *   what is known of the changes (diff_page.c);
 *     the size of the head, and the head in JSON;
 *     names, each with a byte 0; of frames 1..: how their name differs from that of the frame before (signed), source, line, kind;
 *     of nodes 1.., in preorder: how many levels their parent is above the node before (0: that is the parent); frames;
 *     of the views of the head: of places, how much their node's number is above that of the place before; threads; where the head says
 *     "idle", 1 for those of idle threads (idle.h); each measure, unless it is a multiple ("times") of the first one; then, if the file
 *     has times, the moments (page_times.h) in the grains that the head has as [ms of a bin, bins, 1 for long waits];
 *     with times, pauses of the collector: how many ms each ended behind the one before, the first one behind the begin of the times; ns;
 *     names. */
#include "idle.h"
#include "page_times.h"
#include "parts.h"
#include "writers.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct page {
    const struct hpx_tree *tree;
    struct hpx_pack *to;
    uint32_t *order, *number; /* the nodes in preorder; of a node: where it is there */
    struct hpx_tree_column columns[HPX_VIEWS * HPX_TREE_VALUES];
    size_t n;                              /* columns */
    struct hpx_page_view views[HPX_VIEWS]; /* that have a column */
    size_t nviews;
    bool timed;
    uint64_t step; /* of times */
};

/* A node, then all below it: neighbours are alike, which packs well. */
static bool preorder(struct page *p)
{
    size_t n = p->tree->nodes.len, len = 0;
    uint32_t *child = calloc(n, sizeof *child), *next = calloc(n, sizeof *next);
    if (child != NULL && next != NULL) {
        for (size_t k = n; k-- > 1;) {
            uint32_t parent = hpx_tree_node_at(p->tree, (uint32_t)k)->parent;
            next[k] = child[parent];
            child[parent] = (uint32_t)k;
        }
        for (uint32_t node = 0; len < n;) {
            p->order[len++] = node;
            if (child[node] != 0) {
                node = child[node];
                continue;
            }
            while (node != 0 && next[node] == 0) {
                node = hpx_tree_node_at(p->tree, node)->parent;
            }
            node = next[node];
        }
    }
    free(child);
    free(next);
    for (size_t k = 0; k < len; k++) {
        p->number[p->order[k]] = (uint32_t)k;
    }
    return len == n;
}

/* ---- the head ---- */

static void text_fact(FILE *to, const char *key, const char *text)
{
    (void)fprintf(to, ",\"%s\":", key);
    hpx_json_string(to, text);
}

static void number_fact(FILE *to, const char *key, uint64_t v)
{
    (void)fprintf(to, ",\"%s\":%" PRIu64, key, v);
}

/* Whether each value of measure m is so many times the main one. */
static bool is_multiple(const struct hpx_tree_view *v, const struct hpx_list *of, size_t m, uint64_t times)
{
    const uint64_t *values = of->items;
    uint64_t wanted;
    for (size_t i = 0; i < of->len; i += v->values, values += v->values) {
        if (__builtin_mul_overflow(values[v->main], times, &wanted) || values[m] != wanted) {
            return false;
        }
    }
    return true;
}

/* How many times the main measure each value of measure m is; 0: that differs. */
static uint64_t times_main(const struct hpx_tree_view *v, size_t m)
{
    uint64_t times = 0;
    for (size_t i = 0; i < v->samples.len && times == 0; i++) {
        const uint64_t *values = hpx_tree_values_at(v, i);
        times = values[v->main] > 0 ? values[m] / values[v->main] : 0;
    }
    return is_multiple(v, &v->numbers, m, times) && is_multiple(v, &v->moment_numbers, m, times) ? times : 0;
}

static void put_grains(const struct hpx_page_view *of, FILE *to)
{
    (void)fputs("],\"grains\":[", to);
    for (size_t i = 0; i < of->ngrains; i++) {
        (void)fprintf(to, "%s[%" PRIu64 ",%" PRIu64 ",%u]", i == 0 ? "" : ",", of->grains[i].ms, of->grains[i].bins, of->grains[i].waits);
    }
    (void)fputs("]}", to);
}

static void put_view(const struct hpx_page_view *of, FILE *to, const struct hpx_tree_column *columns, size_t n)
{
    static const char *const units[] = {"count", "ns", "bytes", "other"};
    const struct hpx_tree_view *v = of->view;
    (void)fprintf(to, "{\"exact\":%s,\"idle\":%s", v->exact ? "true" : "false", columns[0].view == HPX_VIEW_WALL ? "true" : "false");
    text_fact(to, "key", v->key);
    text_fact(to, "title", v->title);
    number_fact(to, "places", of->n);
    (void)fputs(",\"measures\":[", to);
    for (size_t i = 0; i < n; i++) {
        size_t measure = columns[i].measure;
        const struct hpx_tree_measure *m = &v->measures[measure];
        (void)fprintf(to, "%s{\"times\":%" PRIu64, i == 0 ? "" : ",", of->own >> measure & 1 ? 0 : times_main(v, measure));
        number_fact(to, "before", v->before[measure]);
        text_fact(to, "name", m->name);
        text_fact(to, "title", m->title);
        text_fact(to, "unit", units[m->unit]);
        (void)fprintf(to, ",\"timed\":%s}", of->timed >> measure & 1 ? "true" : "false");
    }
    put_grains(of, to);
}

/* How many of the columns are of the first one's view. */
static size_t of_view(const struct hpx_tree_column *columns, size_t n)
{
    size_t k = 1;
    while (k < n && columns[k].view == columns[0].view) {
        k++;
    }
    return k;
}

static size_t name_bytes(const struct hpx_tree *t)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < t->names.len; i++) {
        bytes += strlen(hpx_tree_text(t, i)) + 1;
    }
    return bytes;
}

static void put_facts(const struct page *p, FILE *to, const char *first)
{
    const struct hpx_tree *t = p->tree;
    (void)fputs("{\"version\":\"" HPX_VERSION "\"", to);
    text_fact(to, "first", first);
    number_fact(to, "start", t->start_ms);
    number_fact(to, "duration", t->duration_ms);
    number_fact(to, "interval", t->interval_ns);
    number_fact(to, "effective", t->effective);
    text_fact(to, "lost", hpx_tree_text(t, t->lost));
    text_fact(to, "own", hpx_tree_text(t, t->own));
    text_fact(to, "older", hpx_tree_text(t, t->older));
    text_fact(to, "filtered", hpx_tree_text(t, t->filtered));
    text_fact(to, "verdict", t->verdict != NULL ? t->verdict : "");
    number_fact(to, "bytes", name_bytes(t));
    number_fact(to, "frames", t->frames.len);
    number_fact(to, "nodes", t->nodes.len);
    if (p->timed) {
        (void)fprintf(to, ",\"time\":{\"zero\":%" PRIu64, t->times_zero_ms);
        number_fact(to, "begin", hpx_page_begin(t, p->step) - t->times_zero_ms);
        number_fact(to, "end", t->times_to_ms - t->times_zero_ms);
        number_fact(to, "step", p->step);
        number_fact(to, "pauses", t->pauses.len);
        (void)putc_unlocked('}', to);
    }
}

static bool put_head(const struct page *p, const char *first)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return false;
    }
    put_facts(p, to, first);
    (void)fputs(",\"views\":[", to);
    for (size_t i = 0, k = 0; i < p->nviews; i++) {
        size_t n = of_view(p->columns + k, p->n - k);
        (void)fputs(i == 0 ? "" : ",", to);
        put_view(&p->views[i], to, p->columns + k, n);
        k += n;
    }
    (void)fputs("]}", to);
    bool bad = ferror(to) != 0;
    bad = fclose(to) != 0 || bad;
    if (!bad) {
        hpx_pack_number(p->to, size);
        hpx_pack_bytes(p->to, text, size);
    }
    free(text);
    return !bad;
}

/* ---- the columns of numbers ---- */

static void put_names(const struct page *p)
{
    for (uint32_t i = 0; i < p->tree->names.len; i++) {
        const char *text = hpx_tree_text(p->tree, i);
        hpx_pack_bytes(p->to, text, strlen(text) + 1);
    }
}

static void put_frames(const struct page *p)
{
    for (uint32_t i = 1; i < p->tree->frames.len; i++) {
        hpx_pack_signed(p->to, (int64_t)hpx_tree_frame_at(p->tree, i)->name - hpx_tree_frame_at(p->tree, i - 1)->name);
    }
    for (uint32_t i = 1; i < p->tree->frames.len; i++) {
        hpx_pack_number(p->to, hpx_tree_frame_at(p->tree, i)->source);
    }
    for (uint32_t i = 1; i < p->tree->frames.len; i++) {
        int32_t line = hpx_tree_frame_at(p->tree, i)->line;
        hpx_pack_number(p->to, line > 0 ? (uint64_t)line : 0);
    }
    for (uint32_t i = 1; i < p->tree->frames.len; i++) {
        hpx_pack_number(p->to, hpx_tree_frame_at(p->tree, i)->kind);
    }
}

static void put_nodes(const struct page *p)
{
    for (size_t k = 1; k < p->tree->nodes.len; k++) {
        uint32_t parent = hpx_tree_node_at(p->tree, p->order[k])->parent, levels = 0;
        for (uint32_t at = p->order[k - 1]; at != parent; at = hpx_tree_node_at(p->tree, at)->parent) {
            levels++;
        }
        hpx_pack_number(p->to, levels);
    }
    for (size_t k = 1; k < p->tree->nodes.len; k++) {
        hpx_pack_number(p->to, hpx_tree_node_at(p->tree, p->order[k])->frame);
    }
}

static void put_view_numbers(const struct page *p, const struct hpx_page_view *v, const struct hpx_tree_column *columns, size_t n)
{
    for (size_t i = 0; i < v->n; i++) {
        hpx_pack_number(p->to, v->places[i].at - (i > 0 ? v->places[i - 1].at : 0));
    }
    for (size_t i = 0; i < v->n; i++) {
        hpx_pack_number(p->to, v->places[i].thread);
    }
    for (size_t i = 0; columns[0].view == HPX_VIEW_WALL && i < v->n; i++) {
        hpx_pack_number(p->to, hpx_idle(p->tree, p->order[v->places[i].at]));
    }
    for (size_t m = 0; m < n; m++) {
        for (size_t i = 0; v->own >> columns[m].measure & 1 && i < v->n; i++) {
            hpx_pack_number(p->to, hpx_page_value(v, i, columns[m].measure));
        }
    }
    hpx_page_put_moments(v, p->tree, p->step, p->to);
}

static void put_pauses(const struct page *p)
{
    const struct hpx_tree *t = p->tree;
    const struct hpx_tree_pause *pauses = t->pauses.items;
    uint64_t before = hpx_page_begin(t, p->step);
    for (size_t i = 0; i < t->pauses.len; i++) {
        uint64_t at = pauses[i].at_ms > before ? pauses[i].at_ms : before;
        hpx_pack_number(p->to, at - before);
        before = at;
    }
    for (size_t i = 0; i < t->pauses.len; i++) {
        hpx_pack_number(p->to, pauses[i].ns);
    }
    for (size_t i = 0; i < t->pauses.len; i++) {
        hpx_pack_number(p->to, pauses[i].name);
    }
}

/* ---- a tree ---- */

/* Measures that the page cannot derive from the first one of their view. */
static unsigned own_measures(const struct hpx_tree_view *v, const struct hpx_tree_column *columns, size_t n)
{
    unsigned own = 0;
    for (size_t i = 0; i < n; i++) {
        bool derived = i > 0 && columns[0].measure == v->main && times_main(v, columns[i].measure) > 0;
        own |= derived ? 0 : 1u << columns[i].measure;
    }
    return own;
}

static bool begin_views(struct page *p)
{
    bool memory = true;
    for (size_t k = 0, n; k < p->n && memory; k += n) {
        const struct hpx_tree_view *v = &p->tree->views[p->columns[k].view];
        n = of_view(p->columns + k, p->n - k);
        memory = hpx_page_view_init(&p->views[p->nviews++], v, p->number, p->timed, own_measures(v, p->columns + k, n));
    }
    if (memory && p->timed) {
        p->step = hpx_page_step(p->views, p->nviews, p->tree, HPX_PAGE_TIMES);
    }
    return memory;
}

static void put_numbers(const struct page *p)
{
    put_names(p);
    put_frames(p);
    put_nodes(p);
    for (size_t i = 0, k = 0; i < p->nviews; i++) {
        size_t n = of_view(p->columns + k, p->n - k);
        put_view_numbers(p, &p->views[i], p->columns + k, n);
        k += n;
    }
    if (p->timed) {
        put_pauses(p);
    }
}

/* first: the name of the measure that the page opens with. Only the last tree needs to have it. */
static bool put_tree(const struct hpx_tree *t, const char *first, bool times, struct hpx_pack *to)
{
    struct page *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return false;
    }
    *p = (struct page){.tree = t, .to = to, .timed = times && t->times_to_ms > t->times_from_ms};
    p->order = calloc(t->nodes.len, sizeof *p->order);
    p->number = calloc(t->nodes.len, sizeof *p->number);
    p->n = hpx_tree_columns(t, p->columns);
    bool memory = p->order != NULL && p->number != NULL && preorder(p) && begin_views(p) && put_head(p, first);
    if (memory) {
        put_numbers(p);
    }
    for (size_t i = 0; i < p->nviews; i++) {
        hpx_page_view_fini(&p->views[i]);
    }
    free(p->order);
    free(p->number);
    free(p);
    return memory;
}

static bool put_page(const struct hpx_tree *base, const struct hpx_tree *t, struct hpx_tree_column c, const char *said, size_t n, FILE *to)
{
    struct hpx_pack *pack = hpx_pack_create(to);
    if (pack == NULL) {
        return false;
    }
    const char *first = t->views[c.view].measures[c.measure].name;
    (void)fwrite(hpx_page_head, 1, hpx_page_head_size, to);
    hpx_pack_number(pack, base != NULL ? 2 : 1);
    bool memory = (base == NULL || put_tree(base, first, false, pack)) && put_tree(t, first, base == NULL, pack);
    if (base != NULL) {
        hpx_pack_number(pack, n);
        hpx_pack_bytes(pack, said, n);
    }
    hpx_pack_destroy(pack);
    (void)fwrite(hpx_page_tail, 1, hpx_page_tail_size, to);
    return memory;
}

bool hpx_write_page(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    return put_page(NULL, t, c, NULL, 0, to);
}

bool hpx_write_page_diff(const struct hpx_tree *base, const struct hpx_tree *t, struct hpx_tree_column c, const char *said, size_t n,
                         FILE *to)
{
    return put_page(base, t, c, said, n, to);
}
