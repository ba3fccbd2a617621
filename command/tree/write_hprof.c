/* SPDX-License-Identifier: BSD-2-Clause */
/* write_hprof.c: HPROF, binary and text, by the agent's own writers: the tree's stacks as their traces, its samples as their rows. Views
 * that the format does not have are left out; formats.c says which. */
#include "arena.h"
#include "check.h"
#include "hprof_ascii.h"
#include "hprof_binary.h"
#include "hprof_blocks.h"
#include "hprof_sites.h"
#include "hprof_wall.h"
#include "sums.h"
#include "writers.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH HPX_BINARY_FRAMES /* frames of a trace, at most: the outermost of more are left out */

struct hprof {
    const struct hpx_tree *tree;
    struct hpx_arena arena;
    struct hpx_seeded_map method_of, class_of, trace_of; /* -> index + 1 of the lists; class_of: -> serial */
    struct hpx_list methods;                             /* struct hpx_method_rec *, for each frame of the tree */
    struct hpx_list traces;                              /* struct hpx_trace_rec * */
    struct hpx_seeded_map thread_of;                     /* a name -> serial */
    uint32_t nmethods, nclasses;
    bool no_memory;
};

static void *get(struct hprof *h, size_t n)
{
    void *p = hpx_arena_alloc(&h->arena, n, 8);
    h->no_memory |= p == NULL;
    if (p != NULL) {
        memset(p, 0, n);
    }
    return p;
}

static struct hpx_text text(const char *s, size_t n)
{
    return (struct hpx_text){s, (uint32_t)n};
}

/* A number for a key: the next one if it is new. */
static uint32_t number(struct hprof *h, struct hpx_seeded_map *map, uint64_t key, uint32_t *last, bool *fresh)
{
    uint32_t *slot;
    int added = hpx_seeded_map_add(map, key, &slot);
    *fresh = added > 0;
    h->no_memory |= added < 0;
    if (added > 0) {
        *slot = ++*last;
    }
    return added < 0 ? 0 : *slot;
}

static struct hpx_class_serial class_serial(struct hprof *h, struct hpx_text name)
{
    bool fresh;
    uint64_t key = hpx_check_hash((struct hpx_rd_text){name.bytes, name.len});
    return (struct hpx_class_serial){HPX_SERIAL_CLASS + number(h, &h->class_of, key, &h->nclasses, &fresh)};
}

/* "p.C.m(int)": the method is what stands behind the last dot before the arguments. A function of another language has no class. */
static void divide(const char *name, struct hpx_method_rec *m)
{
    size_t whole = strlen(name), n = strcspn(name, "("), dot = n;
    while (dot > 0 && name[dot - 1] != '.') {
        dot--;
    }
    m->class_name = dot > 1 ? text(name, dot - 1) : text("", 0);
    m->name = dot > 1 ? text(name + dot, whole - dot) : text(name, whole);
}

static const struct hpx_method_rec *method(struct hprof *h, uint32_t frame)
{
    bool fresh;
    const struct hpx_tree_frame *f = hpx_tree_frame_at(h->tree, frame);
    uint32_t n = number(h, &h->method_of, (uint64_t)f->name << 32 | f->source, &h->nmethods, &fresh);
    if (fresh) {
        struct hpx_method_rec *m = get(h, sizeof *m), **slot = hpx_list_push(&h->methods, sizeof(void *));
        const char *source = hpx_tree_text(h->tree, f->source);
        h->no_memory |= slot == NULL;
        if (m == NULL || slot == NULL) {
            return NULL;
        }
        divide(hpx_tree_text(h->tree, f->name), m);
        m->source = text(source, strlen(source));
        m->klass = class_serial(h, m->class_name);
        m->number = n;
        *slot = m;
    }
    return !h->no_memory ? ((struct hpx_method_rec **)h->methods.items)[n - 1] : NULL;
}

static uint32_t depth_of(const struct hpx_tree *t, uint32_t node)
{
    uint32_t n = 0;
    for (; node != 0 && n < DEPTH; node = hpx_tree_node_at(t, node)->parent) {
        n++;
    }
    return n;
}

/* Serials of traces without frames and thread are the empty trace's. */
static const struct hpx_trace_rec *trace(struct hprof *h, uint32_t node, uint32_t thread)
{
    static const struct hpx_trace_rec empty = {.serial = HPX_SERIAL_TRACE};
    bool fresh, by_thread;
    uint32_t threads = (uint32_t)h->thread_of.len, before = (uint32_t)h->traces.len;
    uint32_t serial = thread != 0 ? number(h, &h->thread_of, thread, &threads, &by_thread) : 0;
    if (node == 0 && thread == 0) {
        return &empty;
    }
    uint32_t n = number(h, &h->trace_of, (uint64_t)node << 32 | thread, &before, &fresh);
    if (!fresh) {
        return h->no_memory ? &empty : ((struct hpx_trace_rec **)h->traces.items)[n - 1];
    }
    uint32_t depth = depth_of(h->tree, node);
    struct hpx_trace_rec *t = get(h, sizeof *t + depth * sizeof t->frames[0]), **slot = hpx_list_push(&h->traces, sizeof(void *));
    h->no_memory |= slot == NULL;
    if (t == NULL || slot == NULL) {
        return &empty;
    }
    *slot = t;
    t->serial = HPX_SERIAL_TRACE + n;
    t->thread = serial != 0 ? HPX_SERIAL_THREAD + serial : 0;
    for (; t->nframes < depth; node = hpx_tree_node_at(h->tree, node)->parent) {
        uint32_t frame = hpx_tree_node_at(h->tree, node)->frame;
        int32_t line = hpx_tree_frame_at(h->tree, frame)->line;
        t->frames[t->nframes++] = (struct hpx_frame_rec){method(h, frame), line > 0 ? line : HPX_LINE_UNKNOWN, frame};
    }
    return h->no_memory ? &empty : t;
}

/* The stack of what was allocated or locked, and the class at its end; a file of another profiler has none. */
static const struct hpx_trace_rec *trace_and_class(struct hprof *h, const struct hpx_tree_sample *s, struct hpx_text *class)
{
    const struct hpx_tree_node *leaf = hpx_tree_node_at(h->tree, s->node);
    const struct hpx_tree_frame *f = hpx_tree_frame_at(h->tree, leaf->frame);
    bool is = s->node != 0 && f->kind == HPX_FRAME_CLASS;
    const char *name = is ? hpx_tree_text(h->tree, f->name) : "hprofx.unknown";
    *class = text(name, strlen(name));
    return trace(h, is ? leaf->parent : s->node, s->thread);
}

/* ---- snapshots ---- */

static bool has(const struct hpx_tree *t, enum hpx_view_kind k)
{
    return t->views[k].samples.len > 0;
}

/* What a table has counted and not listed stays in its total, and is no method. */
static bool is_rest(const struct hprof *h, uint32_t node)
{
    uint32_t name = hpx_tree_frame_at(h->tree, hpx_tree_node_at(h->tree, node)->frame)->name;
    return node != 0 && strcmp(hpx_tree_text(h->tree, name), HPX_REST) == 0;
}

static void samples(struct hprof *h, struct hpx_snapshot *s)
{
    const struct hpx_tree_view *v = &h->tree->views[HPX_VIEW_CPU];
    *s = (struct hpx_snapshot){.effective = h->tree->effective, .rows = calloc(v->samples.len + 1, sizeof *s->rows)};
    h->no_memory |= s->rows == NULL;
    for (size_t i = 0; i < v->samples.len && !h->no_memory; i++) {
        const struct hpx_tree_sample *of = hpx_tree_sample_at(v, i);
        uint64_t count = hpx_tree_values_at(v, i)[0];
        if (count > 0 && !is_rest(h, of->node)) {
            s->rows[s->nrows++] = (struct hpx_row){trace(h, of->node, of->thread), count};
        }
        s->total += count;
    }
}

/* "STATE" or "STATE CLASS". A state that hprofx does not have counts as native. */
static void take_state(struct hpx_text name, struct hpx_wall_row *r)
{
    const char *blank = memchr(name.bytes, ' ', name.len);
    size_t word = blank != NULL ? (size_t)(blank - name.bytes) : name.len;
    enum hpx_wall_state s = 0;
    while (s < HPX_WALL_STATES && (strlen(hpx_wall_state_name(s)) != word || memcmp(hpx_wall_state_name(s), name.bytes, word) != 0)) {
        s++;
    }
    r->state = s < HPX_WALL_STATES ? s : HPX_WALL_NATIVE;
    r->class_name = blank != NULL ? (struct hpx_text){blank + 1, (uint32_t)(name.len - word - 1)} : (struct hpx_text){"", 0};
}

static void wall_clock(struct hprof *h, struct hpx_wall_snapshot *s)
{
    const struct hpx_tree_view *v = &h->tree->views[HPX_VIEW_WALL];
    *s = (struct hpx_wall_snapshot){.rows = calloc(v->samples.len + 1, sizeof *s->rows)};
    h->no_memory |= s->rows == NULL;
    for (size_t i = 0; i < v->samples.len && !h->no_memory; i++) {
        struct hpx_text state;
        struct hpx_wall_row *r = &s->rows[s->nrows];
        s->ns = hpx_tree_sum(s->ns, hpx_tree_values_at(v, i)[0]);
        if (is_rest(h, hpx_tree_sample_at(v, i)->node)) {
            continue;
        }
        r->trace = trace_and_class(h, hpx_tree_sample_at(v, i), &state);
        take_state(state, r);
        r->ns = hpx_tree_values_at(v, i)[0];
        s->nrows += r->ns > 0;
    }
}

static void calls(struct hprof *h, struct hpx_call_snapshot *s)
{
    const struct hpx_tree_view *v = &h->tree->views[HPX_VIEW_CALLS];
    *s = (struct hpx_call_snapshot){.rows = calloc(v->samples.len + 1, sizeof *s->rows)};
    h->no_memory |= s->rows == NULL;
    for (size_t i = 0; i < v->samples.len && !h->no_memory; i++) {
        const struct hpx_tree_sample *of = hpx_tree_sample_at(v, i);
        const uint64_t *values = hpx_tree_values_at(v, i);
        if (!is_rest(h, of->node)) {
            s->rows[s->nrows++] = (struct hpx_call_row){
                .trace = trace(h, of->node, of->thread), .calls = values[0], .self_ns = values[1], .total_ns = values[1]};
        }
        s->calls += values[0];
        s->self_ns += values[1];
    }
}

/* Of a heap dump, what is alive. */
static void sites(struct hprof *h, struct hpx_site_snapshot *s)
{
    bool dump = !has(h->tree, HPX_VIEW_ALLOC);
    const struct hpx_tree_view *v = &h->tree->views[dump ? HPX_VIEW_HEAP : HPX_VIEW_ALLOC];
    *s = (struct hpx_site_snapshot){.live = dump || v->totals[3] > 0, .rows = calloc(v->samples.len + 1, sizeof *s->rows)};
    h->no_memory |= s->rows == NULL;
    for (size_t i = 0; i < v->samples.len && !h->no_memory; i++) {
        const uint64_t *x = hpx_tree_values_at(v, i);
        struct hpx_site_row *r = &s->rows[s->nrows++];
        *r = (struct hpx_site_row){.objects = x[0], .bytes = x[1], .live_objects = dump ? x[0] : x[2], .live_bytes = dump ? x[1] : x[3]};
        r->trace = trace_and_class(h, hpx_tree_sample_at(v, i), &r->class_name);
        r->klass = class_serial(h, r->class_name);
        s->objects += r->objects;
        s->bytes += r->bytes;
        s->live_objects += r->live_objects;
        s->live_bytes += r->live_bytes;
    }
}

static void blocked(struct hprof *h, enum hpx_view_kind kind, struct hpx_block_table *s)
{
    static const struct hpx_trace_rec none = {.serial = HPX_SERIAL_TRACE};
    const struct hpx_tree_view *v = &h->tree->views[kind];
    *s = (struct hpx_block_table){.rows = calloc(v->samples.len + 1, sizeof *s->rows)};
    h->no_memory |= s->rows == NULL;
    for (size_t i = 0; i < v->samples.len && !h->no_memory; i++) {
        const uint64_t *x = hpx_tree_values_at(v, i);
        struct hpx_block_row *r = &s->rows[s->nrows];
        r->trace = trace_and_class(h, hpx_tree_sample_at(v, i), &r->class_name);
        r->owner = kind == HPX_VIEW_OWNER ? &none : NULL;
        r->count = x[0];
        r->ns = x[1];
        s->nrows += r->count > 0 || r->ns > 0;
        s->count += r->count;
        s->ns += x[1];
    }
}

/* ---- files ---- */

static ssize_t put(void *to, const void *p, size_t n)
{
    (void)fwrite(p, 1, n, to); /* whose errors the caller looks for */
    return (ssize_t)n;
}

static int end(void *to)
{
    (void)to;
    return 0;
}

static const struct hpx_out_ops ops = {.write = put, .close = end};

struct report {
    char text[8192]; /* of facts of HPX_SAID bytes, each of which may be six */
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void say(struct report *r, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(r->text + r->len, sizeof r->text - r->len, format, ap);
    va_end(ap);
    r->len += n > 0 && (size_t)n < sizeof r->text - r->len ? (size_t)n : 0;
    r->text[r->len] = '\0';
}

static void say_fact(struct report *r, const struct hpx_tree *t, const char *what, uint32_t name)
{
    if (name != 0) {
        say(r, "hprofx: %s: %s\n", what, hpx_tree_text(t, name));
    }
}

/* What said.c reads of it: how sure the values are stays known. */
static void report(const struct hpx_tree *t, struct report *r)
{
    const struct hpx_tree_view *cpu = &t->views[HPX_VIEW_CPU], *alloc = &t->views[HPX_VIEW_ALLOC];
    *r = (struct report){.len = 0};
    if (cpu->totals[0] > 0 && cpu->totals[1] > 0) { /* on average: files that were merged may differ */
        say(r, "hprofx: samples: %" PRIu64 " (one per %.9g ms of CPU time of a Java thread)\n", cpu->totals[0],
            (double)cpu->totals[1] / (double)cpu->totals[0] / 1e6);
    }
    if (cpu->samples.len > 0 && t->effective > 0) {
        say(r, "hprofx: effective samples: %" PRIu64 "\n", t->effective);
    }
    if (alloc->samples.len > 0 && t->sampled > 0) {
        say(r, "hprofx: standard error: %.9f %% of all allocated bytes\n", 100 / sqrt((double)t->sampled));
    }
    if (alloc->samples.len > 0 && t->live_drawn) {
        say(r, "hprofx: live: %" PRIu64 " objects, %" PRIu64 " bytes, estimated\n", alloc->totals[2], alloc->totals[3]);
    }
    say_fact(r, t, "lost", t->lost);
    say_fact(r, t, "own CPU time", t->own);
    say_fact(r, t, "without debug information", t->older);
    say_fact(r, t, "filtered", t->filtered);
    say_fact(r, t, "before filters", t->unfiltered);
}

static void each_thread(struct hprof *h, void *w, bool is_text)
{
    for (uint32_t name = 0; name < h->tree->names.len; name++) {
        const uint32_t *serial = hpx_seeded_map_find(&h->thread_of, name);
        const char *s = hpx_tree_text(h->tree, name);
        if (serial == NULL) {
            continue;
        }
        struct hpx_thread_rec t = {
            .serial = HPX_SERIAL_THREAD + *serial, .object = HPX_OBJECT_FIRST + *serial - 1, .name = text(s, strlen(s))};
        if (is_text) {
            hpx_ascii_thread_start(w, &t);
        } else {
            hpx_binary_thread_start(w, &t);
        }
    }
}

static bool open_out(struct hprof *h, const struct hpx_tree *t, struct hpx_out *o, FILE *to)
{
    *h = (struct hprof){.tree = t};
    hpx_arena_init(&h->arena);
    struct hpx_seeded_map *maps[] = {&h->method_of, &h->class_of, &h->trace_of, &h->thread_of};
    for (size_t i = 0; i < HPX_ARRAY_LEN(maps); i++) {
        hpx_seeded_map_init(maps[i], true);
    }
    return hpx_out_init(o, &ops, to, "the file") == 0;
}

static bool close_out(struct hprof *h, struct hpx_out *o)
{
    (void)hpx_out_close(o);
    struct hpx_seeded_map *maps[] = {&h->method_of, &h->class_of, &h->trace_of, &h->thread_of};
    for (size_t i = 0; i < HPX_ARRAY_LEN(maps); i++) {
        hpx_seeded_map_fini(maps[i]);
    }
    hpx_arena_fini(&h->arena);
    free(h->methods.items);
    free(h->traces.items);
    return !h->no_memory;
}

bool hpx_write_hprof(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    static struct hpx_out o;
    static struct hpx_binary w;
    struct hprof h;
    struct hpx_snapshot cpu;
    struct hpx_site_snapshot alloc;
    struct hpx_wall_snapshot wall;
    struct report said;
    (void)c;
    if (!open_out(&h, t, &o, to)) {
        return false;
    }
    samples(&h, &cpu);
    sites(&h, &alloc);
    wall_clock(&h, &wall);
    hpx_binary_init(&w, &o, 8);
    hpx_binary_restart(&w);
    hpx_binary_header(&w, (struct timespec){(time_t)(t->start_ms / 1000), (long)(t->start_ms % 1000) * 1000000}, 0,
                      HPX_SETTING_ALLOC | HPX_SETTING_CPU, DEPTH);
    if (!h.no_memory) {
        each_thread(&h, &w, false);
        hpx_binary_at(&w, t->duration_ms * 1000000);
        if (alloc.nrows > 0) {
            hpx_binary_sites(&w, &alloc, 0);
        }
        if (cpu.nrows > 0) {
            hpx_binary_cpu_samples(&w, &cpu, NAN);
        }
        if (wall.nrows > 0) {
            hpx_binary_wall_clock(&w, &wall, NAN);
        }
        h.no_memory |= w.unplaced > 0 || w.unplaced_sites > 0; /* the end of the dump begins anew */
        report(t, &said);
        hpx_binary_dump_end(&w, said.text);
    }
    hpx_binary_fini(&w);
    free(cpu.rows);
    free(alloc.rows);
    free(wall.rows);
    return close_out(&h, &o);
}

static void text_tables(struct hprof *h, struct hpx_ascii *w)
{
    static const struct {
        enum hpx_view_kind kind;
        enum hpx_block_part part;
    } blocks[] = {{HPX_VIEW_LOCK, HPX_BLOCK_ENTER},
                  {HPX_VIEW_OWNER, HPX_BLOCK_OWNERS},
                  {HPX_VIEW_WAIT, HPX_BLOCK_WAIT},
                  {HPX_VIEW_PARK, HPX_BLOCK_PARK},
                  {HPX_VIEW_PINNED, HPX_BLOCK_PINNED}};
    struct hpx_snapshot cpu;
    struct hpx_call_snapshot times;
    struct hpx_site_snapshot alloc;
    struct hpx_wall_snapshot wall;
    struct hpx_block_table table[HPX_ARRAY_LEN(blocks)];
    time_t now = (time_t)((h->tree->start_ms + h->tree->duration_ms) / 1000);
    samples(h, &cpu);
    calls(h, &times);
    sites(h, &alloc);
    wall_clock(h, &wall);
    for (size_t i = 0; i < HPX_ARRAY_LEN(blocks); i++) {
        blocked(h, blocks[i].kind, &table[i]);
    }
    if (!h->no_memory) { /* threads first: a trace names its own */
        each_thread(h, w, true);
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(blocks); i++) {
        if (!h->no_memory && table[i].nrows > 0) {
            hpx_ascii_block_table(w, blocks[i].part, &table[i], NAN, now);
        }
        free(table[i].rows);
    }
    if (!h->no_memory && alloc.nrows > 0) {
        hpx_ascii_sites(w, &alloc, NAN, now);
    }
    if (!h->no_memory && cpu.nrows > 0) {
        hpx_ascii_cpu_samples(w, &cpu, NAN, now);
    }
    if (!h->no_memory && wall.nrows > 0) {
        hpx_ascii_wall_clock(w, &wall, NAN, now);
    }
    if (!h->no_memory && times.nrows > 0) {
        (times.self_ns > 0 ? hpx_ascii_cpu_times : hpx_ascii_calls)(w, &times, NAN, now);
    }
    free(cpu.rows);
    free(times.rows);
    free(alloc.rows);
    free(wall.rows);
}

bool hpx_write_text(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    static struct hpx_out o;
    struct hpx_ascii w = {0};
    struct hprof h;
    struct report said;
    (void)c;
    if (!open_out(&h, t, &o, to)) {
        return false;
    }
    hpx_ascii_init(&w, &o);
    hpx_ascii_header(&w, t->start_ms != 0 ? (time_t)(t->start_ms / 1000) : time(NULL));
    text_tables(&h, &w);
    h.no_memory |= w.unplaced > 0;
    report(t, &said);
    hpx_ascii_report(&w, said.text);
    hpx_ascii_fini(&w);
    return close_out(&h, &o);
}
