/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr_in.c: reads a JFR recording.
 *
 * What JFR has for a view, and how sure it is, depends on the events that were switched on. Where two kinds tell the same thing, the better
 * one is the view: jdk.CPUTimeSample before jdk.ExecutionSample, jdk.ObjectAllocationSample before those of TLABs, samples of the wall
 * clock before the sum of all waits. The other kind of samples is a measure of HPX_VIEW_OTHER. Which kinds a file has shows at its end. */
#include "budget.h"
#include "formats.h"
#include "generated.h"
#include "jfr.h"
#include "jfr_facts.h"
#include "jfr_pauses.h"
#include "names.h"
#include "virtual.h"
#include "window.h"
#include <stdlib.h>
#include <string.h>

#define TEXT         4200               /* as tree.c keeps */
#define DEFAULT_CPU  UINT64_C(10000000) /* ns: of async-profiler, if none was asked for */
#define DEFAULT_WALL UINT64_C(50000000)
#define NS_PER_MS    UINT64_C(1000000)

/* What is decided at the end; OWN: jdk.ExecutionSample of a chunk of hprofx, at the end of the chunk. */
enum pending { EXECUTION, TLABS, WAITS, OWN, PENDING };

/* Of async-profiler: its recording has them in its first chunk, before all samples. */
struct settings {
    size_t chunk;                               /* that told them */
    uint64_t interval, wall_interval;           /* ns; 0: not told */
    bool event_is_cpu, has_wall, event_is_wall; /* likewise */
};

struct jfr_in {
    struct hpx_tree *tree;
    struct hpx_tree_view pending[PENDING]; /* of one value: bytes, ns, samples; EXECUTION: samples, ns */
    struct hpx_seeded_map nodes, names[3]; /* of the chunk: keys -> numbers of the tree + 1; names: enum cache */
    size_t chunk;                          /* these are of */
    struct hpx_list frames;                /* struct hpx_jfr_frame: of a stack */
    struct hpx_tree_path path;
    uint64_t samples[2], allocations[2], tlabs, lost; /* [1]: of chunks of hprofx */
    struct hpx_jfr_pauses pauses;
    bool own_cpu; /* a chunk of hprofx: it has its samples as jdk.CPUTimeSample, too */
    struct hpx_jfr_told told;
    bool own;           /* hprofx wrote the chunk */
    bool timed, spread; /* some event has a time; some has none */
    bool has_cpu_time;  /* jdk.CPUTimeSample */
    bool has_wall;      /* samples of the wall clock */
    struct settings set;
};

enum cache { METHODS, CLASSES, THREADS };

/* ---- names and stacks: each constant once a chunk ---- */

static void forget(struct jfr_in *in)
{
    hpx_seeded_map_clear(&in->nodes);
    for (size_t i = 0; i < HPX_ARRAY_LEN(in->names); i++) {
        hpx_seeded_map_clear(&in->names[i]);
    }
}

/* Where the number of a constant is kept; NULL: nowhere. */
static uint32_t *known(struct jfr_in *in, struct hpx_seeded_map *map, const struct hpx_jfr_value *v)
{
    uint32_t *slot = NULL;
    if (v->f != NULL && v->f->pool && hpx_seeded_map_add(map, v->n, &slot) < 0) {
        in->tree->no_memory = true;
        return NULL;
    }
    return slot;
}

/* As people write it. */
static uint32_t spoken(struct jfr_in *in, const char *name)
{
    char text[TEXT];
    hpx_name_spoken(text, sizeof text, name);
    hpx_name_generated(text);
    return hpx_tree_name(in->tree, text, strlen(text));
}

/* Of a function the library, or nothing, stands in the place of the class. */
static uint32_t method_name(struct jfr_in *in, struct hpx_jfr *j, const struct hpx_jfr_value *v)
{
    char class[TEXT], name[TEXT], both[TEXT + TEXT];
    hpx_jfr_method(j, v, class, name, sizeof class);
    if (class[0] == '\0') {
        return hpx_name_of_frame(in->tree, name[0] != '\0' ? name : "?", strlen(name[0] != '\0' ? name : "?"));
    }
    (void)snprintf(both, sizeof both, "%s.%s", class, name);
    return spoken(in, both);
}

static uint32_t class_name(struct jfr_in *in, struct hpx_jfr *j, const struct hpx_jfr_value *v)
{
    char name[TEXT];
    return hpx_jfr_class(j, v, name, sizeof name) && name[0] != '\0' ? spoken(in, name) : 0;
}

static uint32_t thread_name(struct jfr_in *in, struct hpx_jfr *j, const struct hpx_jfr_value *v)
{
    char name[TEXT];
    return hpx_jfr_thread(j, v, name, sizeof name) && name[0] != '\0' ? hpx_tree_name(in->tree, name, strlen(name)) : 0;
}

static uint32_t name_of(struct jfr_in *in, struct hpx_jfr *j, enum cache of, const struct hpx_jfr_value *v)
{
    static uint32_t (*const make[])(struct jfr_in *, struct hpx_jfr *, const struct hpx_jfr_value *) = {
        [METHODS] = method_name, [CLASSES] = class_name, [THREADS] = thread_name};
    uint32_t *slot = known(in, &in->names[of], v);
    if (slot == NULL) {
        return v->f != NULL && !in->tree->no_memory ? make[of](in, j, v) : 0;
    }
    if (*slot == 0) {
        *slot = make[of](in, j, v) + 1;
    }
    return *slot - 1;
}

/* The node of a stack; the root: there is none. */
static uint32_t node_of(struct jfr_in *in, struct hpx_jfr *j, const struct hpx_jfr_value *stack)
{
    uint32_t *slot = known(in, &in->nodes, stack);
    if (slot == NULL || *slot != 0) {
        return slot != NULL ? *slot - 1 : 0;
    }
    in->frames.len = 0;
    hpx_tree_path_begin(&in->path);
    if (hpx_jfr_frames(j, stack, &in->frames)) {
        for (size_t i = in->frames.len; i-- > 0;) {
            const struct hpx_jfr_frame *f = (const struct hpx_jfr_frame *)in->frames.items + i;
            uint32_t name = name_of(in, j, METHODS, &f->method);
            if (in->path.at > 0 || !hpx_tree_no_stack(in->tree, 0, name)) {
                hpx_tree_path_down(in->tree, &in->path, hpx_tree_frame(in->tree, name, 0, f->line > 0 ? f->line : 0, HPX_FRAME_METHOD));
            }
        }
    }
    *slot = hpx_tree_path_end(&in->path) + 1;
    return *slot - 1;
}

static uint32_t below(struct jfr_in *in, uint32_t node, uint32_t name)
{
    return hpx_tree_node(in->tree, node, hpx_tree_frame(in->tree, name, 0, 0, HPX_FRAME_CLASS));
}

static uint32_t word(struct jfr_in *in, const char *text)
{
    return hpx_tree_name(in->tree, text, strlen(text));
}

/* ---- events ---- */

/* An event with its constants looked up. */
struct seen {
    const struct hpx_jfr_event *ev;
    uint32_t node, thread;
    bool lasted; /* for ns from its time on; else it is an instant */
    bool timed;  /* else hprofx wrote it of a profile without times */
    uint64_t ns;
};

static uint64_t number(const struct hpx_jfr_event *ev, enum hpx_jfr_slot slot)
{
    const struct hpx_jfr_value *v = &ev->v[slot];
    return v->f != NULL && v->n <= INT64_MAX ? v->n : 0;
}

/* With its time, if there is one. */
static void add_values(struct jfr_in *in, const struct seen *s, struct hpx_tree_view *v, uint32_t node, const uint64_t *values)
{
    hpx_tree_add(in->tree, v, node, s->thread, values);
    if (in->own && v->key != NULL) { /* else it is not decided yet where it counts */
        hpx_jfr_take_values(&in->told, in->tree, v, values);
    }
    if (s->timed) {
        uint64_t at = hpx_tree_sum(s->ev->at, s->lasted ? s->ns : 0);
        hpx_tree_add_moment(in->tree, v, &(struct hpx_tree_moment){at / NS_PER_MS, 1, node, s->thread, s->lasted}, values);
    }
}

static void add(struct jfr_in *in, const struct seen *s, struct hpx_tree_view *v, uint32_t node, uint64_t first, uint64_t second)
{
    const uint64_t values[HPX_TREE_VALUES] = {first, second};
    if (first != 0 || second != 0) {
        add_values(in, s, v, node, values);
    }
}

static void add_other(struct jfr_in *in, const struct seen *s, const char *name, const char *unit, uint64_t n)
{
    uint64_t values[HPX_TREE_VALUES] = {0};
    size_t measure;
    struct hpx_tree_view *v = n > 0 ? hpx_tree_find(in->tree, name, unit, &measure) : NULL;
    if (v != NULL) {
        values[measure] = n;
        add_values(in, s, v, s->node, values);
    }
}

/* "STATE", or "STATE CLASS". */
static uint32_t state_name(struct jfr_in *in, const char *state, uint32_t class)
{
    char text[TEXT];
    (void)snprintf(text, sizeof text, "%s%s%s", state, class != 0 ? " " : "", hpx_tree_text(in->tree, class));
    return word(in, text);
}

/* async-profiler tells in the state of a sample which of its clocks took it: that of CPU time has none; in version 2, with one clock at a
 * time, it has the state of a thread that runs. */
static bool is_of_wall(struct jfr_in *in, struct hpx_jfr *j, const struct seen *s, char *state, size_t room)
{
    bool told = hpx_jfr_text(&j->chunk, &s->ev->v[HPX_JFR_STATE], state, room);
    return (s->ev->kind == HPX_JFR_WALL) ||
           (j->async && told &&
            (in->set.event_is_wall || ((in->set.has_wall || !in->set.event_is_cpu) && strcmp(state, "STATE_DEFAULT") != 0)));
}

static uint64_t times(uint64_t n, uint64_t by)
{
    uint64_t product;
    return __builtin_mul_overflow(n, by, &product) ? UINT64_MAX : product;
}

/* CPU time that a sample stands for. Async-profiler alone tells it: the JDK looks at a few threads every 10 or 20 ms, however many run. */
static uint64_t cpu_of(const struct settings *set)
{
    return !set->event_is_cpu ? 0 : set->interval != 0 ? set->interval : DEFAULT_CPU;
}

static uint64_t wall_of(const struct settings *set)
{
    uint64_t wall = set->wall_interval != 0 || !set->event_is_wall ? set->wall_interval : set->interval;
    return wall != 0 ? wall : DEFAULT_WALL;
}

static void take_sample(struct jfr_in *in, struct hpx_jfr *j, const struct seen *of)
{
    char state[64];
    struct seen s = *of;
    if (!is_of_wall(in, j, of, state, sizeof state)) {
        add(in, of, &in->pending[j->own ? OWN : EXECUTION], of->node, 1, j->async ? cpu_of(&in->set) : 0);
        return;
    }
    const char *name = strcmp(state, "STATE_SLEEPING") == 0 ? "sleeping" : strcmp(state, "STATE_RUNNABLE") == 0 ? "running" : "?";
    uint64_t n = s.ev->v[HPX_JFR_SAMPLES].f != NULL ? number(s.ev, HPX_JFR_SAMPLES) : 1;
    s.lasted = n > 1; /* one after the other: the time is that of the first */
    s.ns = times(n, wall_of(&in->set));
    in->has_wall |= n > 0;
    add(in, &s, &in->tree->views[HPX_VIEW_WALL], below(in, s.node, word(in, name)), s.ns, 0);
}

/* The node of what has a class. hprofx writes none where a profile has none. */
static uint32_t below_class(struct jfr_in *in, const struct hpx_jfr *j, uint32_t node, uint32_t class)
{
    return class == 0 && j->own ? node : below(in, node, class != 0 ? class : word(in, "?"));
}

static void take_allocation(struct jfr_in *in, struct hpx_jfr *j, const struct seen *s)
{
    uint32_t node = below_class(in, j, s->node, name_of(in, j, CLASSES, &s->ev->v[HPX_JFR_OBJECT_CLASS]));
    if (s->ev->kind == HPX_JFR_ALLOC) {
        add(in, s, &in->tree->views[HPX_VIEW_ALLOC], node, 0, number(s->ev, HPX_JFR_WEIGHT));
        in->allocations[j->own ? 1 : 0]++;
    } else { /* the event stands for all that was allocated in the TLAB before */
        uint64_t tlab = number(s->ev, HPX_JFR_TLAB_SIZE);
        add(in, s, &in->pending[TLABS], node, tlab != 0 ? tlab : number(s->ev, HPX_JFR_SIZE), 0);
        in->tlabs++;
    }
}

static void take_wait(struct jfr_in *in, struct hpx_jfr *j, const struct seen *s, enum hpx_view_kind view, enum hpx_jfr_slot slot,
                      const char *state)
{
    uint32_t class = name_of(in, j, CLASSES, &s->ev->v[slot]);
    if (view != HPX_VIEW_WALL) {
        add(in, s, &in->tree->views[view], below_class(in, j, s->node, class), 1, s->ev->ns);
    }
    if (!j->own) { /* which has its wall clock beside them */
        add(in, s, &in->pending[WAITS], below(in, s->node, state_name(in, state, class)), s->ev->ns, 0);
    }
}

static void take_state(struct jfr_in *in, struct hpx_jfr *j, const struct seen *of)
{
    char state[TEXT];
    struct seen s = *of;
    bool told = hpx_jfr_text(&j->chunk, &s.ev->v[HPX_JFR_STATE], state, sizeof state) && state[0] != '\0';
    s.lasted = !told || strcmp(state, "running") != 0; /* which is as long as its CPU time */
    add(in, &s, &in->tree->views[HPX_VIEW_WALL], told ? below(in, s.node, hpx_name_of_frame(in->tree, state, strlen(state))) : s.node,
        s.ev->ns, 0);
}

static void take_setting(struct jfr_in *in, struct hpx_jfr *j, const struct hpx_jfr_event *ev)
{
    char name[32], value[TEXT];
    if ((!j->async && !j->own) || !hpx_jfr_text(&j->chunk, &ev->v[HPX_JFR_NAME], name, sizeof name) ||
        !hpx_jfr_text(&j->chunk, &ev->v[HPX_JFR_VALUE], value, sizeof value)) {
        return;
    }
    if (j->own) {
        hpx_jfr_take_fact(in->tree, &in->told, name, value);
        return;
    }
    struct settings *set = &in->set;
    if (set->chunk != j->chunks) { /* of another recording */
        *set = (struct settings){.chunk = j->chunks};
    }
    uint64_t n = strtoull(value, NULL, 10);
    n = n <= INT64_MAX ? n : 0;
    if (strcmp(name, "interval") == 0) {
        set->interval = n;
    } else if (strcmp(name, "wall") == 0) {
        set->wall_interval = n;
        set->has_wall = value[0] != '-';
    } else if (strcmp(name, "event") == 0) {
        set->event_is_wall = strcmp(value, "wall") == 0;
        set->event_is_cpu = strcmp(value, "cpu") == 0 || strcmp(value, "itimer") == 0 || strcmp(value, "ctimer") == 0;
    }
    in->tree->interval_ns = set->event_is_cpu ? cpu_of(set) : in->tree->interval_ns;
}

/* The main class is the first word of its arguments. */
static void take_jvm(struct jfr_in *in, struct hpx_jfr *j, const struct hpx_jfr_event *ev)
{
    char text[TEXT];
    in->tree->origin.pid = number(ev, HPX_JFR_PID);
    if (hpx_jfr_text(&j->chunk, &ev->v[HPX_JFR_ARGUMENTS], text, sizeof text) && text[0] != '\0') {
        in->tree->origin.service = hpx_tree_name(in->tree, text, strcspn(text, " "));
    }
}

static void take_pause(struct jfr_in *in, struct hpx_jfr *j, const struct hpx_jfr_event *ev)
{
    char name[TEXT];
    bool named = hpx_jfr_text(&j->chunk, &ev->v[HPX_JFR_NAME], name, sizeof name) && name[0] != '\0';
    const struct hpx_tree_pause of = {(ev->at + ev->ns) / NS_PER_MS, ev->ns, named ? word(in, name) : 0};
    hpx_jfr_pauses_take(&in->pauses, in->tree, number(ev, HPX_JFR_GC_ID), ev->kind == HPX_JFR_PAUSE, &of);
}

/* ---- what is decided later ---- */

/* Where a pending view goes, and the measure of its first value there. NULL: nowhere. */
static struct hpx_tree_view *place_of(struct jfr_in *in, enum pending p, bool better, size_t *measure)
{
    struct hpx_tree_view *views = in->tree->views;
    *measure = p == TLABS;
    return better
               ? hpx_tree_find(in->tree, p == EXECUTION ? "execution_samples" : "tlab_space", p == EXECUTION ? "count" : "bytes", measure)
               : &views[p == EXECUTION || p == OWN ? HPX_VIEW_CPU
                        : p == TLABS               ? HPX_VIEW_ALLOC
                                                   : HPX_VIEW_WALL];
}

static void values_of(enum pending p, bool better, size_t measure, const uint64_t *values, uint64_t to[HPX_TREE_VALUES])
{
    memset(to, 0, HPX_TREE_VALUES * sizeof *to);
    to[measure] = values[0];
    if (p == EXECUTION && !better) {
        to[1] = values[1];
    }
}

static void settle(struct jfr_in *in, enum pending p, bool better)
{
    const struct hpx_tree_view *v = &in->pending[p];
    uint64_t values[HPX_TREE_VALUES];
    size_t measure;
    struct hpx_tree_view *to = v->samples.len > 0 ? place_of(in, p, better, &measure) : NULL;
    for (size_t i = 0; i < v->samples.len && to != NULL && !in->tree->no_memory; i++) {
        const struct hpx_tree_sample *s = hpx_tree_sample_at(v, i);
        values_of(p, better, measure, hpx_tree_values_at(v, i), values);
        hpx_tree_add(in->tree, to, s->node, s->thread, values);
        if (p == OWN) {
            hpx_jfr_take_values(&in->told, in->tree, to, values);
        }
        in->samples[p == OWN] += (p == EXECUTION && !better) || p == OWN ? values[0] : 0;
    }
    for (size_t i = 0; i < v->moments.len && to != NULL && !in->tree->no_memory; i++) {
        values_of(p, better, measure, hpx_tree_moment_values_at(v, i), values);
        hpx_tree_add_moment(in->tree, to, hpx_tree_moment_at(v, i), values);
    }
}

/* At the end of each chunk: in chunks of hprofx a sample is both events, or jdk.ExecutionSample alone. */
static void settle_own(struct jfr_in *in)
{
    if (!in->own_cpu) {
        settle(in, OWN, false);
    }
    hpx_tree_clear(&in->pending[OWN]);
    in->own_cpu = false;
}

static void begin_chunk(struct jfr_in *in, const struct hpx_jfr *j)
{
    settle_own(in);
    hpx_jfr_pauses_chunk(&in->pauses, in->tree, j);
    forget(in);
    in->chunk = j->chunks;
    in->own = j->own;
}

/* ---- all events ---- */

static bool event(void *ctx, struct hpx_jfr *j, const struct hpx_jfr_event *ev)
{
    struct jfr_in *in = ctx;
    const struct hpx_jfr_value *timed = &ev->v[HPX_JFR_TIMED];
    if (in->chunk != j->chunks) {
        begin_chunk(in, j);
    }
    const struct hpx_jfr_value *thread = &ev->v[ev->v[HPX_JFR_SAMPLED].f != NULL ? HPX_JFR_SAMPLED : HPX_JFR_THREAD];
    const uint32_t node = node_of(in, j, &ev->v[HPX_JFR_STACK]), named = name_of(in, j, THREADS, thread);
    const struct seen s = {ev,
                           node,
                           named != 0 || thread->f == NULL ? named : hpx_virtual_thread(in->tree, node, 0),
                           ev->kind >= HPX_JFR_ENTER && ev->kind <= HPX_JFR_STATES,
                           !j->own || timed->f == NULL || timed->n != 0,
                           ev->ns};
    in->timed |= s.timed && ev->kind != HPX_JFR_SETTING && ev->kind != HPX_JFR_JVM;
    in->spread |= !s.timed;
    switch (ev->kind) {
    case HPX_JFR_EXECUTION:
    case HPX_JFR_WALL:
        take_sample(in, j, &s);
        break;
    case HPX_JFR_NATIVE:
        add_other(in, &s, "native_samples", "count", 1);
        break;
    case HPX_JFR_CPU_TIME:
        add(in, &s, &in->tree->views[HPX_VIEW_CPU], s.node, 1, ev->ns);
        in->samples[j->own]++;
        in->own_cpu |= j->own;
        in->has_cpu_time = true;
        break;
    case HPX_JFR_LOST:
        in->lost = hpx_tree_sum(in->lost, number(ev, HPX_JFR_LOST_SAMPLES));
        break;
    case HPX_JFR_ALLOC:
    case HPX_JFR_TLAB:
        take_allocation(in, j, &s);
        break;
    case HPX_JFR_ENTER:
        take_wait(in, j, &s, HPX_VIEW_LOCK, HPX_JFR_MONITOR_CLASS, "blocked");
        break;
    case HPX_JFR_WAIT:
        take_wait(in, j, &s, HPX_VIEW_WAIT, HPX_JFR_MONITOR_CLASS, "waiting");
        break;
    case HPX_JFR_PARK:
        take_wait(in, j, &s, HPX_VIEW_PARK, HPX_JFR_PARKED_CLASS, "parked");
        break;
    case HPX_JFR_SLEEP:
        take_wait(in, j, &s, HPX_VIEW_WALL, HPX_JFR_OBJECT_CLASS, "sleeping");
        break;
    case HPX_JFR_STATES:
        take_state(in, j, &s);
        break;
    case HPX_JFR_SETTING:
        take_setting(in, j, ev);
        break;
    case HPX_JFR_JVM:
        take_jvm(in, j, ev);
        break;
    case HPX_JFR_COLLECTION:
    case HPX_JFR_PAUSE:
        take_pause(in, j, ev);
        break;
    case HPX_JFR_NONE:
        break;
    }
    return !in->tree->no_memory && !j->no_memory;
}

/* ---- at the end ---- */

static void settle_all(struct jfr_in *in, const struct hpx_jfr *j)
{
    struct hpx_tree *t = in->tree;
    const uint64_t drawn = in->allocations[0] != 0 ? in->allocations[0] : in->allocations[1] == 0 ? in->tlabs : 0;
    char text[48];
    settle_own(in);
    settle(in, EXECUTION, in->has_cpu_time);
    settle(in, TLABS, t->views[HPX_VIEW_ALLOC].samples.len > 0);
    if (!in->has_wall) {
        settle(in, WAITS, false);
    }
    hpx_jfr_take_unfiltered(t, &in->told);
    hpx_jfr_pauses_settle(&in->pauses, t);
    t->effective = hpx_tree_sum(t->effective, hpx_tree_sum(in->samples[0], in->told.effective ? 0 : in->samples[1]));
    t->sampled = hpx_tree_sum(t->sampled, hpx_tree_sum(drawn, in->told.sampled ? 0 : in->allocations[1]));
    t->start_ms = j->start / NS_PER_MS;
    t->duration_ms = j->end > j->start ? (j->end - j->start) / NS_PER_MS : 0;
    if (in->timed || !in->spread) {
        hpx_tree_add_times(t, t->start_ms, t->start_ms + t->duration_ms);
        t->times_zero_ms = t->start_ms;
    }
    if (in->lost > 0) {
        (void)snprintf(text, sizeof text, "%llu samples", (unsigned long long)in->lost);
        t->lost = word(in, text);
    }
}

enum hpx_tree_read hpx_tree_read_jfr(struct hpx_tree *t, struct hpx_source *s, struct hpx_err *err)
{
    bool timed = t->timed;
    struct jfr_in in = {.tree = t};
    struct hpx_jfr j = {.source = s, .sink = event, .ctx = &in};
    hpx_seeded_map_init(&in.nodes, true);
    hpx_jfr_pauses_init(&in.pauses);
    for (size_t i = 0; i < HPX_ARRAY_LEN(in.names); i++) {
        hpx_seeded_map_init(&in.names[i], true);
    }
    for (size_t i = 0; i < PENDING; i++) {
        in.pending[i].values = i == EXECUTION ? 2 : 1;
        hpx_seeded_map_init(&in.pending[i].index, true);
    }
    t->timed |= hpx_window_is_set();
    hpx_jfr_read(&j);
    t->no_memory |= j.no_memory;
    settle_all(&in, &j);
    const bool asked = hpx_window_is_set(), refused = asked && in.spread && !in.timed;
    if (asked) {
        hpx_window_apply(t, t->start_ms, t->duration_ms, timed);
    }
    forget(&in);
    for (size_t i = 0; i < PENDING; i++) {
        hpx_seeded_map_fini(&in.pending[i].index);
        free(in.pending[i].samples.items);
        free(in.pending[i].numbers.items);
        free(in.pending[i].moments.items);
        free(in.pending[i].moment_numbers.items);
    }
    free(in.frames.items);
    free(in.path.steps.items);
    hpx_jfr_fini(&j);
    if (t->no_memory || s->error != 0 || j.chunks == 0 || refused) {
        (void)hpx_err_set(err, HPX_E_RANGE, "%s",
                          t->no_memory    ? hpx_budget_why()
                          : s->error != 0 ? strerror(s->error)
                          : refused       ? HPX_WINDOW_NO_TIMES
                                          : j.why);
        return HPX_TREE_FAILED;
    }
    if (j.why[0] != '\0') {
        (void)hpx_err_set(err, HPX_E_RANGE, "%s", j.why);
    }
    return j.why[0] != '\0' ? HPX_TREE_PART : HPX_TREE_WHOLE;
}
