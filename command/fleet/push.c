/* SPDX-License-Identifier: BSD-2-Clause */
/* push.c: a profile as series of Pyroscope's push (push/v1/push.proto of github.com/grafana/pyroscope): PushRequest{1: series},
 * RawProfileSeries{1: labels, 2: samples}, RawSample{1: pprof, 2: UUID}. Messages behind one another are one message, so that profiles are
 * only written one after the other. */
#include "batch.h"
#include "protobuf.h"
#include "writers.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zlib.h>

#define MOST_LABEL  1024 /* bytes; Pyroscope takes 2048 */
#define HPX_DEEPEST 4096 /* frames; hprofx writes 2048 at most, and what is above these in a stack of another profiler is left out */

/* The names under which Pyroscope's own clients send such values, and its pages look for them. */
static const char *family(size_t view)
{
    switch (view) {
    case HPX_VIEW_CPU:
        return "process_cpu";
    case HPX_VIEW_WALL:
        return "wall";
    case HPX_VIEW_ALLOC:
        return "memory";
    case HPX_VIEW_LOCK:
        return "mutex";
    default:
        return NULL; /* "hprofx_" and the view's key */
    }
}

struct push {
    const struct hpx_tree *tree;
    struct hpx_pb series, sample, pair;
};

/* value: UTF-8. A batch is refused for one value that is too long. */
static void label(struct push *p, const char *name, const char *value)
{
    size_t n = strlen(value), cut = n < MOST_LABEL ? n : MOST_LABEL;
    while (cut < n && ((unsigned char)value[cut] & 0xC0) == 0x80) {
        cut--;
    }
    if (n > 0) {
        hpx_pb_text(&p->pair, 1, name);
        hpx_pb_bytes(&p->pair, 2, value, cut);
        hpx_pb_message(&p->series, 1, &p->pair);
    }
}

static void labels(struct push *p, size_t view)
{
    char name[64], pid[24] = "";
    const struct hpx_tree *t = p->tree;
    (void)snprintf(name, sizeof name, "%s%s", family(view) != NULL ? family(view) : "hprofx_",
                   family(view) != NULL ? "" : t->views[view].key);
    if (t->origin.pid != 0) {
        (void)snprintf(pid, sizeof pid, "%llu", (unsigned long long)t->origin.pid);
    }
    label(p, "__name__", name);
    label(p, "service_name", t->origin.service != 0 ? hpx_tree_text(t, t->origin.service) : "unknown_service:java");
    label(p, "version", hpx_tree_text(t, t->origin.version));
    label(p, "hostname", hpx_tree_text(t, t->origin.host));
    label(p, "pid", pid);
    label(p, "container_id", hpx_tree_text(t, t->origin.container));
}

/* The node of `from` in `to`, with those above it. */
static uint32_t place(struct hpx_tree *to, const struct hpx_tree *from, uint32_t *nodes, uint32_t node)
{
    uint32_t up[HPX_DEEPEST], n = 0;
    for (; nodes[node] == 0 && node != 0 && n < HPX_DEEPEST; node = hpx_tree_node_at(from, node)->parent) {
        up[n++] = node;
    }
    uint32_t at = nodes[node];
    while (n-- > 0) {
        const struct hpx_tree_frame *f = hpx_tree_frame_at(from, hpx_tree_node_at(from, up[n])->frame);
        const char *name = hpx_tree_text(from, f->name), *source = hpx_tree_text(from, f->source);
        at = nodes[up[n]] = hpx_tree_node(
            to, at, hpx_tree_frame(to, hpx_tree_name(to, name, strlen(name)), hpx_tree_name(to, source, strlen(source)), f->line, f->kind));
    }
    return at;
}

/* A tree of this view alone, without threads and without names that it does not need. */
static bool only(struct hpx_tree *to, const struct hpx_tree *from, size_t view)
{
    const struct hpx_tree_view *v = &from->views[view];
    uint32_t *nodes = calloc(from->nodes.len, sizeof *nodes);
    bool all = hpx_tree_init(to) && nodes != NULL;
    for (size_t m = 0, at; all && view == HPX_VIEW_OTHER && m < v->values; m++) {
        (void)hpx_tree_find(to, v->measures[m].name, hpx_tree_unit_name(v->measures[m].unit), &at);
    }
    for (size_t i = 0; all && i < v->samples.len; i++) {
        hpx_tree_add(to, &to->views[view], place(to, from, nodes, hpx_tree_sample_at(v, i)->node), 0, hpx_tree_values_at(v, i));
    }
    free(nodes);
    to->start_ms = from->start_ms;
    to->duration_ms = from->duration_ms;
    to->interval_ns = view == HPX_VIEW_CPU ? from->interval_ns : 0;
    hpx_tree_finish(to);
    return all && !to->no_memory;
}

/* NULL: no memory. */
static char *pack(const char *plain, size_t bytes, size_t *n)
{
    z_stream z = {0};
    char *packed = NULL;
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        return NULL;
    }
    uLong most = deflateBound(&z, bytes);
    packed = most <= UINT_MAX ? malloc(most) : NULL;
    if (packed != NULL) {
        z.next_in = (Bytef *)(uintptr_t)plain;
        z.avail_in = (uInt)bytes;
        z.next_out = (Bytef *)packed;
        z.avail_out = (uInt)most;
        (void)deflate(&z, Z_FINISH); /* the bound is enough */
        *n = z.total_out;
    }
    (void)deflateEnd(&z);
    return packed;
}

/* A view as pprof in memory, packed. NULL: no memory. */
static char *pprof(const struct hpx_tree *t, size_t view, size_t *n)
{
    struct hpx_tree one;
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    char *plain = NULL, *packed = NULL;
    size_t bytes = 0;
    bool all = only(&one, t, view);
    FILE *to = all ? open_memstream(&plain, &bytes) : NULL;
    if (to != NULL) {
        all = hpx_tree_columns(&one, of) > 0 && hpx_write_pprof(&one, of[0], to);
        all = fclose(to) == 0 && all;
        packed = all ? pack(plain, bytes, n) : NULL;
    }
    hpx_tree_fini(&one);
    free(plain);
    return packed;
}

/* The UUID of a series of a profile, the same every time. */
static void uuid(const char *id, size_t view, char to[40])
{
    XXH128_hash_t h = XXH3_128bits_withSeed(id, strlen(id), view);
    (void)snprintf(to, 40, "%08x-%04x-8%03x-a%03x-%012llx", (unsigned)(h.high64 >> 32), (unsigned)(h.high64 >> 16 & 0xffff),
                   (unsigned)(h.high64 & 0xfff), (unsigned)(h.low64 >> 52), (unsigned long long)(h.low64 & 0xffffffffffff));
}

static bool series(struct push *p, FILE *to, size_t view, const char *id, uint64_t *bytes)
{
    char name[40];
    size_t n = 0;
    char *body = pprof(p->tree, view, &n);
    if (body == NULL) {
        return false;
    }
    uuid(id, view, name);
    labels(p, view);
    hpx_pb_bytes(&p->sample, 1, body, n);
    hpx_pb_text(&p->sample, 2, name);
    hpx_pb_message(&p->series, 2, &p->sample);
    free(body);
    hpx_pb_message(&p->pair, 1, &p->series); /* the request */
    (void)fwrite(p->pair.bytes, 1, p->pair.len, to);
    *bytes += p->pair.len;
    p->pair.len = 0;
    return !p->pair.no_memory && !p->series.no_memory && !p->sample.no_memory;
}

bool hpx_batch_push(FILE *to, const struct hpx_tree *t, const char *id, uint64_t *bytes)
{
    struct push p = {.tree = t};
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    bool all = true, has[HPX_VIEWS] = {false};
    for (size_t i = 0, n = hpx_tree_columns(t, of); i < n; i++) {
        has[of[i].view] = true;
    }
    for (size_t view = 0; all && view < HPX_VIEWS; view++) {
        all = !has[view] || series(&p, to, view, id, bytes);
    }
    hpx_pb_free(&p.series);
    hpx_pb_free(&p.sample);
    hpx_pb_free(&p.pair);
    return all;
}
