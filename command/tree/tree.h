/* SPDX-License-Identifier: BSD-2-Clause */
/* tree.h: a profile of any format: its stacks as a call tree, and for every view of the run (CPU, calls, allocations, locks, heap) the
 * values of the stacks. Readers fill it; writers and the diff read it.
 *
 * Memory: every name, frame and node once; one sample for every stack and thread of a view; where times are kept, a moment for every event.
 * More than 2^26 of a kind count as no memory, and so does more than the thread's budget (budget.h) allows. One thread. */
#ifndef HPX_TREE_TREE_H
#define HPX_TREE_TREE_H

#include "list.h"

#define HPX_TREE_VALUES 8 /* of a sample, at most */

/* Stands in files for a stack without frames. Readers make no frame of it. */
#define HPX_NO_STACK "[no stack]"

/* In the order in which people look at them. */
enum hpx_view_kind {
    HPX_VIEW_CPU,
    HPX_VIEW_WALL,   /* wall=: what threads did, and for how long */
    HPX_VIEW_CALLS,  /* cpu=times, cpu=old */
    HPX_VIEW_ALLOC,  /* heap=sites */
    HPX_VIEW_HEAP,   /* heap=dump */
    HPX_VIEW_LOCK,   /* who waited for a monitor */
    HPX_VIEW_OWNER,  /* who held a monitor that others waited for */
    HPX_VIEW_PARK,   /* java.util.concurrent */
    HPX_VIEW_WAIT,   /* Object.wait() */
    HPX_VIEW_PINNED, /* virtual threads */
    HPX_VIEW_OTHER,  /* what a file of another profiler has */
    HPX_VIEWS
};

/* Whether the innermost frame of its stacks is no method: the class of objects or of the monitor, or the state of the thread. */
static inline bool hpx_view_has_classes(enum hpx_view_kind view)
{
    return view != HPX_VIEW_CPU && view != HPX_VIEW_CALLS && view != HPX_VIEW_OTHER;
}

enum hpx_tree_unit { HPX_UNIT_COUNT, HPX_UNIT_NS, HPX_UNIT_BYTES, HPX_UNIT_OTHER };
/* As pprof names it: "count", "nanoseconds", "bytes", "other". */
const char *hpx_tree_unit_name(enum hpx_tree_unit unit);

struct hpx_tree_measure {
    const char *name;  /* as pprof names its types: "cpu", "alloc_space" */
    const char *title; /* for people: "CPU time" */
    enum hpx_tree_unit unit;
};

enum hpx_frame_kind {
    HPX_FRAME_METHOD,
    HPX_FRAME_CLASS, /* innermost: of what was allocated, or of the monitor; HPX_VIEW_WALL: the state of the thread */
};

struct hpx_tree_frame {
    uint32_t name;   /* for people: p.C.m, without the numbers of generated classes */
    uint32_t source; /* a name; 0: unknown */
    int32_t line;    /* 0: unknown */
    enum hpx_frame_kind kind;
};

/* Node 0 is the root, which has no frame: a sample there has an empty stack. A node's parent has a lower number. */
struct hpx_tree_node {
    uint32_t parent, frame;
};

struct hpx_tree_sample {
    uint32_t node;
    uint32_t thread; /* a name; 0: not told */
};

/* When something of a view was, where the file tells it: TIMELINE of HPROF, events of JFR. */
struct hpx_tree_moment {
    uint64_t at_ms;   /* since 1970: when it ended */
    uint32_t unit_ms; /* 1; above: some time in so many ms from at_ms on */
    uint32_t node;    /* as of a sample */
    uint32_t thread;  /* as of a sample; also told where the samples of the view have no threads */
    bool lasted;      /* a wait: its time, of hpx_tree_length(), is how long it was. Else an instant, whatever it stands for */
};

/* Of the garbage collector. */
struct hpx_tree_pause {
    uint64_t at_ms, ns; /* since 1970: when it ended; how long it was */
    uint32_t name;      /* 0: not told */
};

struct hpx_tree_view {
    const char *key, *title; /* "cpu", "CPU" */
    bool exact;              /* counted: nothing is left to chance. Allocations: as the last file says */
    size_t values;           /* of a sample */
    size_t main;             /* the one that people look at first */
    struct hpx_tree_measure measures[HPX_TREE_VALUES];
    struct hpx_list samples; /* struct hpx_tree_sample */
    struct hpx_list numbers; /* uint64_t: `values` for each sample */
    struct hpx_seeded_map index;
    struct hpx_list moments;          /* struct hpx_tree_moment; by at_ms once the tree is finished */
    struct hpx_list moment_numbers;   /* uint64_t: `values` for each moment. Those of a stack add up to its sample, or to less */
    uint64_t totals[HPX_TREE_VALUES]; /* by hpx_tree_finish(); 0: nothing was measured, and no writer shows the measure */
    uint64_t before[HPX_TREE_VALUES]; /* what they were before hpx_filter_apply(); 0: it was not applied, or they were 0 */
};

/* Whose profile it is, as hprofx's report says; 0: unknown. The words are names. */
struct hpx_tree_origin {
    uint32_t host, service, version, container; /* service: OTEL_SERVICE_NAME, or the main class */
    uint64_t pid;
    uint64_t began_ms; /* since 1970: of the run or session. With host and pid it tells a run from all others */
    uint64_t number;   /* of the profile in its run, from 1 */
};

struct hpx_tree {
    struct hpx_list names;  /* char *: UTF-8 without controls; 0 is "" */
    struct hpx_list frames; /* struct hpx_tree_frame; 0 is none */
    struct hpx_list nodes;  /* struct hpx_tree_node */
    struct hpx_seeded_map name_of, frame_of, node_of;
    struct hpx_tree_view views[HPX_VIEWS];
    /* Facts for the head of a picture; 0, "": unknown. Those of several files are those of the last. */
    uint64_t start_ms, duration_ms;      /* since 1970 */
    uint64_t interval_ns;                /* CPU time that a sample stands for */
    uint64_t effective;                  /* samples, by weight (certainty.h): the sum over all files */
    uint64_t sampled;                    /* the same of allocations that were sampled; 0: they were counted, or nothing says how many */
    bool live_drawn;                     /* live objects were estimated, also where allocations were counted */
    uint32_t lost, own, older, replaced; /* names: what hprofx's report says of each */
    uint32_t filtered;                   /* a name: the filters that left something out (filter.h); 0: none */
    uint32_t unfiltered; /* a name, by hpx_tree_finish(): `before` of all views, as files keep it: "samples 50 count; ..." */
    struct hpx_tree_origin origin;
    uint64_t in_probes;     /* samples inside probes, since the start of the run */
    uint32_t probes_share;  /* theirs of all samples since then, in hundredths of a percent */
    unsigned empty;         /* of one file: views whose tables have no rows: bit `enum hpx_view_kind` */
    char *verdict, *states; /* owned; NULL, or lines as on the terminal: what the profile means; threads and monitors of its last dump */
    bool heap_dump;         /* of one file: it has one, perhaps an empty one */
    bool crowded;           /* values of measures for which HPX_VIEW_OTHER has no room were left out by a join */
    bool no_memory;         /* something did not fit: the tree must not be shown; hpx_budget_why() */
    size_t text;            /* bytes of all names */
    bool timed;             /* set by who wants times, before anything is read: moments and pauses are kept */
    bool told_times; /* likewise by who wants times of CPU samples for what hpx_tree_profile tells alone: of HPROF, if they are few */
    struct hpx_list pauses;              /* struct hpx_tree_pause; by at_ms once the tree is finished */
    uint64_t times_from_ms, times_to_ms; /* since 1970: what the file has times of; both 0: it has none */
    uint64_t times_zero_ms;              /* since 1970: from where --from counts; of several runs the first */
};

/* false: no memory. hpx_tree_fini() in any case. */
bool hpx_tree_init(struct hpx_tree *t);
void hpx_tree_fini(struct hpx_tree *t);
/* Of its memory. */
size_t hpx_tree_bytes(const struct hpx_tree *t);

/* The number of a name, of which the first 4 KiB are kept; bytes that are no UTF-8, and controls, are escaped as in writers/text.h. */
uint32_t hpx_tree_name(struct hpx_tree *t, const char *text, size_t n);
const char *hpx_tree_text(const struct hpx_tree *t, uint32_t name);
uint32_t hpx_tree_frame(struct hpx_tree *t, uint32_t name, uint32_t source, int32_t line, enum hpx_frame_kind kind);
/* Whether a frame of that name, below `parent`, is none: it stands for a stack of no frames. */
bool hpx_tree_no_stack(const struct hpx_tree *t, uint32_t parent, uint32_t name);
/* The node of a frame that `parent` called. */
uint32_t hpx_tree_node(struct hpx_tree *t, uint32_t parent, uint32_t frame);
/* A stack that is built frame by frame, outermost first. It remembers the stack before: frames with which both begin are not looked up
 * again. */
struct hpx_tree_path {
    struct hpx_list steps; /* struct hpx_tree_node, with the node itself in the place of its parent */
    size_t at;
    bool parted;
};
void hpx_tree_path_begin(struct hpx_tree_path *p);
/* As hpx_tree_node() below the step before. */
void hpx_tree_path_down(struct hpx_tree *t, struct hpx_tree_path *p, uint32_t frame);
uint32_t hpx_tree_path_end(const struct hpx_tree_path *p);
/* Adds to the values of a stack; values: v->values of them. */
void hpx_tree_add(struct hpx_tree *t, struct hpx_tree_view *v, uint32_t node, uint32_t thread, const uint64_t *values);
/* The same event with its time. Nothing, unless t->timed. */
void hpx_tree_add_moment(struct hpx_tree *t, struct hpx_tree_view *v, const struct hpx_tree_moment *m, const uint64_t *values);
void hpx_tree_add_pause(struct hpx_tree *t, const struct hpx_tree_pause *p);
/* Times that the tree has are from..to, too. */
void hpx_tree_add_times(struct hpx_tree *t, uint64_t from_ms, uint64_t to_ms);
/* Forgets moments and pauses, and keeps none from now on. */
void hpx_tree_without_times(struct hpx_tree *t);
/* Whether a sample of the view has a thread; else the threads of its moments count for nothing that is summed. */
bool hpx_tree_has_threads(const struct hpx_tree_view *v);
/* The sum of a measure, whether the tree is finished or not. */
uint64_t hpx_tree_total(const struct hpx_tree_view *v, size_t measure);
/* Which value of the view is in nanoseconds; v->values: none is. */
size_t hpx_tree_length(const struct hpx_tree_view *v);
/* What is left of a number that is about all of a view, when `part` of `all` is left. */
uint64_t hpx_tree_part(uint64_t n, uint64_t part, uint64_t all);
/* Forgets the samples and moments of a view. */
void hpx_tree_clear(struct hpx_tree_view *v);
/* Where the measure of that name and unit is: the view, and its index in *measure. One that hprofx does not have is made in HPX_VIEW_OTHER;
 * the name must outlive the tree. NULL: HPX_VIEW_OTHER is full, or there is no memory. */
struct hpx_tree_view *hpx_tree_find(struct hpx_tree *t, const char *name, const char *unit, size_t *measure);
/* Computes totals, and sorts samples by node, then thread, and moments by time. After the last file, before any writer; what is added later
 * needs it again. */
void hpx_tree_finish(struct hpx_tree *t);

/* Adds to `before` what a file has as `unfiltered`. What is no such text is left alone. */
void hpx_tree_take_before(struct hpx_tree *t, const char *text);

/* Adds up what the threads of a stack have, and forgets their names. The tree is finished, and stays so. */
void hpx_tree_without_threads(struct hpx_tree *t);

/* The same with each thread as the root of its stacks, "[name]", as async-profiler has it: for formats that know no threads. */
void hpx_tree_root_threads(struct hpx_tree *t);

/* A value of a measure, for people; good for the next few calls. */
const char *hpx_tree_amount(const struct hpx_tree_measure *m, uint64_t v);

/* A column: a measure of a view that has anything. Writers of formats with one value a stack write one. */
struct hpx_tree_column {
    size_t view, measure;
};
/* It has a heap dump and nothing else, and no object has a stack: the JVM wrote it, or hprofx without sites. */
bool hpx_tree_is_heap(const struct hpx_tree *t);
/* The columns of a finished tree, the main measure of each view first; how many. */
size_t hpx_tree_columns(const struct hpx_tree *t, struct hpx_tree_column of[HPX_VIEWS * HPX_TREE_VALUES]);
/* The column that `name` asks for: the name or title of a measure, else a view's key (its main measure, or the first that has a value);
 * NULL: the first column. false: there is none. */
bool hpx_tree_column(const struct hpx_tree *t, const char *name, struct hpx_tree_column *c);

/* Sums that do not fit stay at UINT64_MAX. */
static inline uint64_t hpx_tree_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
static inline const struct hpx_tree_frame *hpx_tree_frame_at(const struct hpx_tree *t, uint32_t frame)
{
    return (const struct hpx_tree_frame *)t->frames.items + frame;
}
static inline const struct hpx_tree_node *hpx_tree_node_at(const struct hpx_tree *t, uint32_t node)
{
    return (const struct hpx_tree_node *)t->nodes.items + node;
}
static inline const struct hpx_tree_sample *hpx_tree_sample_at(const struct hpx_tree_view *v, size_t i)
{
    return (const struct hpx_tree_sample *)v->samples.items + i;
}
static inline const uint64_t *hpx_tree_values_at(const struct hpx_tree_view *v, size_t i)
{
    return (const uint64_t *)v->numbers.items + i * v->values;
}
static inline const struct hpx_tree_moment *hpx_tree_moment_at(const struct hpx_tree_view *v, size_t i)
{
    return (const struct hpx_tree_moment *)v->moments.items + i;
}
static inline const uint64_t *hpx_tree_moment_values_at(const struct hpx_tree_view *v, size_t i)
{
    return (const uint64_t *)v->moment_numbers.items + i * v->values;
}

#endif
