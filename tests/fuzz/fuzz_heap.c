/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_heap.c: any bytes as a heap dump: the graph keeps its bounds, and is the same if the file comes in pieces. */
#include "fuzz.h"
#include "heap_json.h"
#include "heap_sites.h"
#include <stdlib.h>
#include <string.h>

struct pieces {
    const uint8_t *p;
    size_t n, at, piece;
};

static ssize_t give(void *ctx, void *to, size_t n)
{
    struct pieces *d = ctx;
    size_t k = d->piece < d->n - d->at ? d->piece : d->n - d->at;
    k = k < n ? k : n;
    if (k > 0) {
        memcpy(to, d->p + d->at, k);
    }
    d->at += k;
    return (ssize_t)k;
}

static bool again(void *ctx)
{
    struct pieces *d = ctx;
    d->at = 0;
    return true;
}

static void check_graph(const struct hpx_heap_graph *g)
{
    uint64_t objects = 0, bytes = 0;
    require(g->n == g->objects + 1 && g->first[0] == 0, "objects");
    for (uint32_t i = 0; i < g->n; i++) {
        require(g->first[i] <= g->first[i + 1], "references go back");
        require(i < 2 || g->ids[i - 1] < g->ids[i], "ids are not in order");
        require(i == 0 || (g->klass[i] < g->classes.len && hpx_heap_node(g, g->ids[i]) == i), "an object");
        for (uint64_t k = g->first[i]; k < g->first[i + 1]; k++) {
            require(g->refs[k] > 0 && g->refs[k] < g->n, "a reference to nothing");
        }
    }
    for (uint32_t i = 0; i < g->classes.len; i++) {
        const struct hpx_heap_class *c = hpx_heap_class_at(g, i);
        objects += c->objects;
        bytes += c->bytes;
        require(c->node < g->n && (c->super < g->classes.len || c->super == HPX_HEAP_NO_CLASS), "a class");
    }
    require(objects == g->objects && bytes == g->bytes, "sums");
}

static void check_json(const struct hpx_heap_told *t)
{
    static FILE *shown;
    if (shown == NULL) {
        shown = fopen("/dev/null", "w");
        require(shown != NULL, "/dev/null");
    }
    struct hpx_json j = {.to = shown};
    require(hpx_heap_json(&j, t, 0), "no memory for JSON");
}

static uint64_t check_sites(const struct hpx_heap_file *file)
{
    struct hpx_heap_graph g;
    struct hpx_heap_sites s;
    struct hpx_err err;
    uint64_t objects = 0;
    hpx_heap_sites_init(&s);
    const struct hpx_heap_how how = {.want = HPX_HEAP_REFERENCES, .sink = hpx_heap_sites_take, .ctx = &s};
    require(hpx_heap_graph_read(&g, file, &how, &err) == HPX_HEAP_READ, "read once");
    for (size_t i = 0; i < s.all.len; i++) {
        const struct hpx_heap_site *site = (const struct hpx_heap_site *)s.all.items + i;
        char *name = hpx_heap_site_name(&g, site->trace);
        require(name != NULL && site->klass < g.classes.len, "a site");
        objects += site->objects;
        free(name);
    }
    require(objects <= g.objects, "more is allocated than there is");
    hpx_heap_sites_fini(&s);
    hpx_heap_graph_fini(&g);
    return objects;
}

static uint64_t run(const uint8_t *data, size_t size, size_t piece)
{
    struct pieces d = {data, size, 0, piece};
    struct hpx_heap_file file = {give, again, &d};
    struct hpx_heap_graph g;
    struct hpx_heap_waste w = {0};
    struct hpx_heap_holders h = {0};
    struct hpx_err err;
    uint64_t sum = 0;
    const struct hpx_heap_how how = {.want = HPX_HEAP_REFERENCES, .sink = hpx_heap_waste_take, .ctx = &w};
    if (hpx_heap_graph_read(&g, &file, &how, &err) == HPX_HEAP_READ) {
        check_graph(&g);
        require(hpx_heap_waste_finish(&w, &g), "no memory");
        require(hpx_heap_waste_texts(&w, &g, &file, &err) == HPX_HEAP_READ, "read once, and not again");
        require(hpx_heap_holders_find(&h, &g, &file, &err) == HPX_HEAP_READ, "no memory, or not read again");
        require(h.objects <= g.objects && h.bytes <= g.bytes, "more is kept than there is");
        check_json(&(struct hpx_heap_told){&g, &w, &h, ""});
        sum = check_sites(&file) + g.first[g.n] + g.bytes + w.bytes + w.strings + h.objects + h.bytes + h.tops + h.paths;
    }
    hpx_heap_holders_fini(&h);
    hpx_heap_waste_fini(&w);
    hpx_heap_graph_fini(&g);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    require(run(data, size, SIZE_MAX) == run(data, size, 13), "otherwise in pieces");
    return 0;
}
