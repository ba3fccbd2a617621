/* SPDX-License-Identifier: BSD-2-Clause */
/* write_firefox.c: a profile for profiler.firefox.com, in version 47 of its processed format, which it upgrades when it loads one. The main
 * measure of each view (for the view of the column that was asked for: that column) is a process, each thread in it a thread. In this
 * version a thread has its own tables, so they are made one after the other, of what the thread uses.
 *
 * The format wants times: those of the profile, where it has them. Samples whose times nobody knows follow each other, each as long as what
 * it stands for; of a view that has times of others they are a thread of their own.
 *
 * Pauses of the collector are markers of the first thread of every process whose times are true: its track shows them above the samples. */
#include "numbering.h"
#include "timed.h"
#include "writers.h"
#include <stdlib.h>

struct firefox {
    const struct hpx_tree *tree;
    FILE *to;
    struct hpx_functions functions;
    struct hpx_numbering stacks, frames, funcs, strings; /* of nodes, frames, functions, names; of the thread */
    struct hpx_list entries;                             /* struct hpx_timed: of the view, by thread */
    struct hpx_list path;
    struct hpx_tree_column column;
    unsigned process, threads; /* so far */
};

/* ---- what a thread uses ---- */

/* Numbers a node, and before it those above; node 0, of no frames, has frame 0. */
static bool use(struct firefox *x, uint32_t node)
{
    x->path.len = 0;
    for (uint32_t at = node; x->stacks.of[at] == 0;) {
        uint32_t *slot = hpx_list_push(&x->path, sizeof *slot);
        if (slot == NULL) {
            return false;
        }
        *slot = at;
        at = hpx_tree_node_at(x->tree, at)->parent;
        if (at == 0) {
            break;
        }
    }
    while (x->path.len > 0) {
        uint32_t at = ((const uint32_t *)x->path.items)[--x->path.len], frame = hpx_tree_node_at(x->tree, at)->frame;
        const struct hpx_function *f = hpx_function_at(&x->functions, x->functions.of[frame]);
        (void)hpx_number(&x->stacks, at);
        (void)hpx_number(&x->frames, frame);
        (void)hpx_number(&x->funcs, x->functions.of[frame]);
        (void)hpx_number(&x->strings, f->name);
        (void)(f->source != 0 ? hpx_number(&x->strings, f->source) : 0);
    }
    return true;
}

/* ---- arrays ---- */

typedef void item(const struct firefox *x, uint32_t of);

static void number_or_null(const struct firefox *x, uint64_t one_more)
{
    if (one_more == 0) {
        (void)fputs("null", x->to);
    } else {
        hpx_json_number(x->to, one_more - 1);
    }
}

/* "name":[...], with an item for each that has a number. */
static void array(const struct firefox *x, const char *name, const struct hpx_numbering *of, item *put)
{
    (void)fprintf(x->to, "\"%s\":[", name);
    for (size_t i = 0; i < hpx_numbered(of); i++) {
        if (i > 0) {
            (void)putc_unlocked(',', x->to);
        }
        put(x, hpx_numbered_at(of, i));
    }
    (void)fputs("],", x->to);
}

static void put_null(const struct firefox *x, uint32_t of)
{
    (void)of;
    (void)fputs("null", x->to);
}

static void put_zero(const struct firefox *x, uint32_t of)
{
    (void)of;
    (void)putc_unlocked('0', x->to);
}

static void put_minus_one(const struct firefox *x, uint32_t of)
{
    (void)of;
    (void)fputs("-1", x->to);
}

static void put_false(const struct firefox *x, uint32_t of)
{
    (void)of;
    (void)fputs("false", x->to);
}

static void stack_frame(const struct firefox *x, uint32_t node)
{
    hpx_json_number(x->to, x->frames.of[hpx_tree_node_at(x->tree, node)->frame] - 1);
}

static void stack_prefix(const struct firefox *x, uint32_t node)
{
    uint32_t parent = hpx_tree_node_at(x->tree, node)->parent;
    number_or_null(x, parent != 0 ? x->stacks.of[parent] : 0);
}

/* Of `categories` below. */
static unsigned category(const struct firefox *x, uint32_t frame)
{
    return frame == 0 ? 2 : hpx_tree_frame_at(x->tree, frame)->kind == HPX_FRAME_CLASS;
}

static void frame_category(const struct firefox *x, uint32_t frame)
{
    hpx_json_number(x->to, category(x, frame));
}

static void stack_category(const struct firefox *x, uint32_t node)
{
    frame_category(x, hpx_tree_node_at(x->tree, node)->frame);
}

static void frame_func(const struct firefox *x, uint32_t frame)
{
    hpx_json_number(x->to, x->funcs.of[x->functions.of[frame]] - 1);
}

static void frame_line(const struct firefox *x, uint32_t frame)
{
    int32_t line = hpx_tree_frame_at(x->tree, frame)->line;
    number_or_null(x, line > 0 ? (uint64_t)line + 1 : 0);
}

static void func_name(const struct firefox *x, uint32_t function)
{
    hpx_json_number(x->to, x->strings.of[hpx_function_at(&x->functions, function)->name] - 1);
}

static void func_source(const struct firefox *x, uint32_t function)
{
    uint32_t source = hpx_function_at(&x->functions, function)->source;
    number_or_null(x, source != 0 ? x->strings.of[source] : 0);
}

static void string(const struct firefox *x, uint32_t name)
{
    hpx_json_string(x->to, name == 0 ? HPX_NO_STACK : hpx_tree_text(x->tree, name));
}

/* ---- markers ---- */

enum { CATEGORY_GC = 3, MARKER_INTERVAL = 1 };

/* Behind the names of the tree that of a marker. */
static void strings(const struct firefox *x, bool pauses)
{
    (void)fputs("\"stringArray\":[", x->to);
    for (size_t i = 0; i < hpx_numbered(&x->strings); i++) {
        (void)fputs(i > 0 ? "," : "", x->to);
        string(x, hpx_numbered_at(&x->strings, i));
    }
    (void)fputs(pauses ? ",\"GC pause\"]," : "],", x->to); /* no thread is without a name of a function */
}

typedef void marker(const struct firefox *x, const struct hpx_tree_pause *p);

static void marker_data(const struct firefox *x, const struct hpx_tree_pause *p)
{
    (void)fputs("{\"type\":\"GCPause\"", x->to);
    if (p->name != 0) {
        (void)fputs(",\"collector\":", x->to);
        hpx_json_string(x->to, hpx_tree_text(x->tree, p->name));
    }
    (void)putc_unlocked('}', x->to);
}

static void marker_name(const struct firefox *x, const struct hpx_tree_pause *p)
{
    (void)p;
    hpx_json_number(x->to, hpx_numbered(&x->strings));
}

static void marker_begin(const struct firefox *x, const struct hpx_tree_pause *p)
{
    hpx_json_decimal(x->to, hpx_timed_begin(x->tree, p->at_ms, p->ns), 6);
}

static void marker_end(const struct firefox *x, const struct hpx_tree_pause *p)
{
    hpx_json_decimal(x->to, hpx_timed_begin(x->tree, p->at_ms, 0), 6);
}

static void marker_phase(const struct firefox *x, const struct hpx_tree_pause *p)
{
    (void)p;
    hpx_json_number(x->to, MARKER_INTERVAL);
}

static void marker_category(const struct firefox *x, const struct hpx_tree_pause *p)
{
    (void)p;
    hpx_json_number(x->to, CATEGORY_GC);
}

/* Of the first n pauses. */
static void markers(const struct firefox *x, size_t n)
{
    static const struct {
        const char *name;
        marker *put;
    } columns[] = {{"data", marker_data},   {"name", marker_name},   {"startTime", marker_begin},
                   {"endTime", marker_end}, {"phase", marker_phase}, {"category", marker_category}};
    (void)fputs("\n\"markers\":{", x->to);
    for (size_t k = 0; k < HPX_ARRAY_LEN(columns); k++) {
        (void)fprintf(x->to, "\"%s\":[", columns[k].name);
        for (size_t i = 0; i < n; i++) {
            (void)fputs(i > 0 ? "," : "", x->to);
            columns[k].put(x, (const struct hpx_tree_pause *)x->tree->pauses.items + i);
        }
        (void)fputs("],", x->to);
    }
    (void)fprintf(x->to, "\"length\":%zu}", n);
}

static void tables(const struct firefox *x, bool pauses)
{
    (void)fputs("\"stackTable\":{", x->to);
    array(x, "frame", &x->stacks, stack_frame);
    array(x, "prefix", &x->stacks, stack_prefix);
    array(x, "category", &x->stacks, stack_category);
    array(x, "subcategory", &x->stacks, put_zero);
    (void)fprintf(x->to, "\"length\":%zu},\n\"frameTable\":{", hpx_numbered(&x->stacks));
    array(x, "address", &x->frames, put_minus_one);
    array(x, "inlineDepth", &x->frames, put_zero);
    array(x, "category", &x->frames, frame_category);
    array(x, "subcategory", &x->frames, put_zero);
    array(x, "func", &x->frames, frame_func);
    array(x, "nativeSymbol", &x->frames, put_null);
    array(x, "innerWindowID", &x->frames, put_null);
    array(x, "implementation", &x->frames, put_null);
    array(x, "line", &x->frames, frame_line);
    array(x, "column", &x->frames, put_null);
    (void)fprintf(x->to, "\"length\":%zu},\n\"funcTable\":{", hpx_numbered(&x->frames));
    array(x, "isJS", &x->funcs, put_false);
    array(x, "relevantForJS", &x->funcs, put_false);
    array(x, "name", &x->funcs, func_name);
    array(x, "resource", &x->funcs, put_minus_one);
    array(x, "fileName", &x->funcs, func_source);
    array(x, "lineNumber", &x->funcs, put_null);
    array(x, "columnNumber", &x->funcs, put_null);
    (void)fprintf(x->to, "\"length\":%zu},\n", hpx_numbered(&x->funcs));
    strings(x, pauses);
    (void)fputs("\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},"
                "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},",
                x->to);
    markers(x, pauses ? x->tree->pauses.len : 0);
}

/* ---- samples of a thread: entries `from` to `end` - 1 ---- */

static const struct hpx_timed *entry(const struct firefox *x, size_t i)
{
    return hpx_timed_at(&x->entries, i);
}

static const struct hpx_tree_measure *measure(const struct firefox *x)
{
    return &x->tree->views[x->column.view].measures[x->column.measure];
}

static void weights(const struct firefox *x, size_t from, size_t end)
{
    static const char *const types[] = {"samples", "tracing-ms", "bytes", "samples"};
    (void)fprintf(x->to, "\"samples\":{\"weightType\":\"%s\",\"weight\":[", types[measure(x)->unit]);
    for (size_t i = from; i < end; i++) {
        (void)fputs(i > from ? "," : "", x->to);
        hpx_json_decimal(x->to, entry(x, i)->value, measure(x)->unit == HPX_UNIT_NS ? 6 : 0);
    }
}

static void times(const struct firefox *x, size_t from, size_t end)
{
    uint64_t ns[] = {x->column.view == HPX_VIEW_CPU && x->tree->interval_ns > 0 ? x->tree->interval_ns : 1000000, 1, 1000, 1000000};
    uint64_t at = 0, step;
    (void)fputs("],\"time\":[", x->to);
    for (size_t i = from; i < end; i++) {
        (void)fputs(i > from ? "," : "", x->to);
        hpx_json_decimal(x->to, entry(x, i)->known ? entry(x, i)->at_ns : at, 6);
        if (__builtin_mul_overflow(entry(x, i)->value, ns[measure(x)->unit], &step) || __builtin_add_overflow(at, step, &at)) {
            at = UINT64_MAX;
        }
    }
}

static void thread_name(const struct firefox *x, const struct hpx_timed *first)
{
    bool others = !first->known && entry(x, 0)->known;
    (void)putc_unlocked('"', x->to);
    hpx_json_escaped(x->to, first->thread != 0 ? hpx_tree_text(x->tree, first->thread) : "all threads");
    (void)fputs(others ? " (times unknown)\"" : "\"", x->to);
}

static bool thread(struct firefox *x, size_t from, size_t end)
{
    bool all = true;
    for (size_t i = from; i < end && all; i++) {
        all = use(x, entry(x, i)->node);
    }
    (void)fprintf(x->to, "%s{\"processType\":\"default\",\"processName\":", x->threads > 0 ? ",\n" : "\n");
    hpx_json_column(x->to, x->tree, x->column);
    (void)fprintf(x->to,
                  ",\"processStartupTime\":0,\"processShutdownTime\":null,"
                  "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,\"name\":",
                  from == 0 ? "true" : "false", x->process, x->threads + 1);
    thread_name(x, entry(x, from));
    (void)fputs(",\n", x->to);
    weights(x, from, end);
    (void)fputs("],\"stack\":[", x->to);
    for (size_t i = from; i < end && all; i++) {
        (void)fputs(i > from ? "," : "", x->to);
        hpx_json_number(x->to, x->stacks.of[entry(x, i)->node] - 1);
    }
    times(x, from, end);
    (void)fprintf(x->to, "],\"length\":%zu},\n", end - from);
    tables(x, from == 0 && entry(x, 0)->known && x->tree->pauses.len > 0);
    (void)fputs("}", x->to);
    x->threads++;
    struct hpx_numbering *of[] = {&x->stacks, &x->frames, &x->funcs, &x->strings};
    for (size_t i = 0; i < HPX_ARRAY_LEN(of); i++) {
        all = all && !of[i]->no_memory;
        hpx_numbering_clear(of[i]);
    }
    return all;
}

/* A column: its samples by thread. */
static bool process(struct firefox *x, struct hpx_tree_column c)
{
    x->column = c;
    x->process++;
    bool all = hpx_timed_make(&x->entries, x->tree, c);
    for (size_t from = 0, end; from < x->entries.len && all; from = end) {
        end = hpx_timed_end(&x->entries, from);
        all = thread(x, from, end);
    }
    return all;
}

/* ---- the file ---- */

static void fact(const struct firefox *x, const char *label, const char *text, bool *first)
{
    if (text != NULL && text[0] != '\0') {
        (void)fprintf(x->to, "%s{\"label\":\"%s\",\"format\":\"string\",\"value\":", *first ? "" : ",", label);
        hpx_json_string(x->to, text);
        (void)putc_unlocked('}', x->to);
        *first = false;
    }
}

static void meta(const struct firefox *x)
{
    static const char categories[] = "[{\"name\":\"Java\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
                                     "{\"name\":\"Class\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
                                     "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
                                     "{\"name\":\"GC\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}]"; /* CATEGORY_GC */
    static const char schema[] =
        "{\"name\":\"GCPause\",\"tooltipLabel\":\"GC pause\",\"tableLabel\":\"{marker.data.collector}\","
        "\"chartLabel\":\"{marker.data.collector}\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
        "\"data\":[{\"key\":\"collector\",\"label\":\"Collector\",\"format\":\"string\",\"searchable\":true}]}";
    bool first = true;
    (void)fprintf(
        x->to,
        "{\"meta\":{\"version\":27,\"preprocessedProfileVersion\":47,\"product\":\"hprofx\",\"importedFrom\":\"hprofx " HPX_VERSION
        "\",\"processType\":0,\"stackwalk\":1,\"symbolicated\":true,\"symbolicationNotSupported\":true,"
        "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,\"markerSchema\":[%s],\"interval\":",
        x->tree->pauses.len > 0 ? schema : "");
    hpx_json_decimal(x->to, x->tree->interval_ns > 0 ? x->tree->interval_ns : 1000000, 6);
    (void)fputs(",\"startTime\":", x->to);
    hpx_json_number(x->to, hpx_timed_zero(x->tree));
    (void)fprintf(x->to, ",\"categories\":%s,\"extra\":[{\"label\":\"hprofx\",\"entries\":[", categories);
    fact(x, "verdict", x->tree->verdict, &first);
    fact(x, "lost", hpx_tree_text(x->tree, x->tree->lost), &first);
    fact(x, "own CPU time", hpx_tree_text(x->tree, x->tree->own), &first);
    fact(x, "filtered by", hpx_tree_text(x->tree, x->tree->filtered), &first);
    (void)fputs("]}]},\n\"libs\":[],\"threads\":[", x->to);
}

bool hpx_write_firefox(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    struct firefox x = {.tree = t, .to = to};
    struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES];
    size_t n = hpx_tree_columns_from(t, c, of);
    bool all = hpx_functions_init(&x.functions, t) && hpx_numbering_init(&x.stacks, t->nodes.len) &&
               hpx_numbering_init(&x.frames, t->frames.len) && hpx_numbering_init(&x.funcs, x.functions.list.len) &&
               hpx_numbering_init(&x.strings, t->names.len);
    if (all) {
        meta(&x);
        for (size_t i = 0, views = 0; i < n && all; i++) { /* the first column of each view */
            if ((views & (size_t)1 << of[i].view) == 0) {
                views |= (size_t)1 << of[i].view;
                all = process(&x, of[i]);
            }
        }
        (void)fputs("]}\n", to);
    }
    struct hpx_numbering *numbers[] = {&x.stacks, &x.frames, &x.funcs, &x.strings};
    for (size_t i = 0; i < HPX_ARRAY_LEN(numbers); i++) {
        hpx_numbering_fini(numbers[i]);
    }
    hpx_functions_fini(&x.functions);
    free(x.entries.items);
    free(x.path.items);
    return all;
}
