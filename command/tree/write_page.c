/* SPDX-License-Identifier: BSD-2-Clause */
/* write_page.c: the page: HTML, whose script unpacks the tree. Its data are numbers of pack.h, deflated, in base64:
 *
 *   how many trees (2: the base of a comparison first), for each what follows, and of a comparison, at the end, the size and the JSON of
 *   what is known of the changes (diff_page.c);
 *     the size of the head, and the head in JSON;
 *     names, each with a byte 0; of frames 1..: how their name differs from that of the frame before (signed), source, line, kind;
 *     of nodes 1.., in preorder: how many levels their parent is above the node before (0: that is the parent); frames;
 *     of the views of the head: of samples, how much their node's number is above that of the sample before; threads; where the head says
 *     "idle", 1 for those of idle threads (idle.h); each measure, unless it is a multiple ("times") of the first one. */
#include "idle.h"
#include "pack.h"
#include "parts.h"
#include "writers.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct page {
    const struct hpx_tree *tree;
    struct hpx_pack *to;
    uint32_t *order; /* of nodes: preorder */
    uint32_t *first; /* of a node: its first sample in the view being written; NONE */
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

/* How many times the main measure each value of measure m is; 0: that differs. */
static uint64_t times_main(const struct hpx_tree_view *v, size_t m)
{
    uint64_t times = 0, wanted;
    for (size_t i = 0; i < v->samples.len; i++) {
        const uint64_t *values = hpx_tree_values_at(v, i);
        if (times == 0 && values[v->main] > 0) {
            times = values[m] / values[v->main];
        }
        if (__builtin_mul_overflow(values[v->main], times, &wanted) || values[m] != wanted) {
            return 0;
        }
    }
    return times;
}

static void put_view(const struct page *p, FILE *to, const struct hpx_tree_column *columns, size_t n)
{
    static const char *const units[] = {"count", "ns", "bytes", "other"};
    const struct hpx_tree_view *v = &p->tree->views[columns[0].view];
    (void)fprintf(to, "{\"exact\":%s,\"idle\":%s", v->exact ? "true" : "false", columns[0].view == HPX_VIEW_WALL ? "true" : "false");
    text_fact(to, "key", v->key);
    text_fact(to, "title", v->title);
    number_fact(to, "samples", v->samples.len);
    (void)fputs(",\"measures\":[", to);
    for (size_t i = 0; i < n; i++) {
        const struct hpx_tree_measure *m = &v->measures[columns[i].measure];
        uint64_t times = columns[i].measure != v->main && columns[0].measure == v->main ? times_main(v, columns[i].measure) : 0;
        (void)fprintf(to, "%s{\"times\":%" PRIu64, i == 0 ? "" : ",", times);
        number_fact(to, "before", v->before[columns[i].measure]);
        text_fact(to, "name", m->name);
        text_fact(to, "title", m->title);
        text_fact(to, "unit", units[m->unit]);
        (void)putc_unlocked('}', to);
    }
    (void)fputs("]}", to);
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
}

static bool put_head(const struct page *p, const char *first, const struct hpx_tree_column *columns, size_t n)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return false;
    }
    put_facts(p, to, first);
    (void)fputs(",\"views\":[", to);
    for (size_t i = 0, k; i < n; i += k) {
        k = of_view(columns + i, n - i);
        (void)fputs(i == 0 ? "" : ",", to);
        put_view(p, to, columns + i, k);
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

/* One number of each sample of a view, in preorder of their nodes. */
typedef uint64_t of_sample(const struct page *p, const struct hpx_tree_view *v, size_t i, size_t measure);

static uint64_t thread_of(const struct page *p, const struct hpx_tree_view *v, size_t i, size_t measure)
{
    (void)p;
    (void)measure;
    return hpx_tree_sample_at(v, i)->thread;
}

static uint64_t idle_of(const struct page *p, const struct hpx_tree_view *v, size_t i, size_t measure)
{
    (void)measure;
    return hpx_idle(p->tree, hpx_tree_sample_at(v, i)->node);
}

static uint64_t value_of(const struct page *p, const struct hpx_tree_view *v, size_t i, size_t measure)
{
    (void)p;
    return hpx_tree_values_at(v, i)[measure];
}

static void put_column(const struct page *p, const struct hpx_tree_view *v, of_sample *number, size_t measure)
{
    size_t before = 0;
    for (size_t k = 0; k < p->tree->nodes.len; k++) {
        uint32_t node = p->order[k];
        for (size_t i = p->first[node]; i < v->samples.len && hpx_tree_sample_at(v, i)->node == node; i++) {
            hpx_pack_number(p->to, number != NULL ? number(p, v, i, measure) : k - before);
            before = k;
        }
    }
}

static void put_samples(const struct page *p, const struct hpx_tree_column *columns, size_t n)
{
    const struct hpx_tree_view *v = &p->tree->views[columns[0].view];
    memset(p->first, 0xff, p->tree->nodes.len * sizeof *p->first);
    for (size_t i = v->samples.len; i-- > 0;) {
        p->first[hpx_tree_sample_at(v, i)->node] = (uint32_t)i;
    }
    put_column(p, v, NULL, 0);
    put_column(p, v, thread_of, 0);
    if (columns[0].view == HPX_VIEW_WALL) {
        put_column(p, v, idle_of, 0);
    }
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || columns[0].measure != v->main || times_main(v, columns[i].measure) == 0) {
            put_column(p, v, value_of, columns[i].measure);
        }
    }
}

/* first: the name of the measure that the page opens with. Only the last tree needs to have it. */
static bool put_tree(const struct hpx_tree *t, const char *first, struct hpx_pack *to)
{
    struct hpx_tree_column columns[HPX_VIEWS * HPX_TREE_VALUES];
    size_t n = hpx_tree_columns(t, columns);
    struct page p = {t, to, calloc(t->nodes.len, sizeof *p.order), calloc(t->nodes.len, sizeof *p.first)};
    bool memory = p.order != NULL && p.first != NULL && preorder(&p) && put_head(&p, first, columns, n);
    if (memory) {
        put_names(&p);
        put_frames(&p);
        put_nodes(&p);
        for (size_t i = 0, k; i < n; i += k) {
            k = of_view(columns + i, n - i);
            put_samples(&p, columns + i, k);
        }
    }
    free(p.order);
    free(p.first);
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
    bool memory = (base == NULL || put_tree(base, first, pack)) && put_tree(t, first, pack);
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
