/* SPDX-License-Identifier: BSD-2-Clause */
/* pprof_in.c: reads a pprof profile (profile.proto of github.com/google/pprof). Its strings may come last, so it is read whole first. */
#include "budget.h"
#include "formats.h"
#include "generated.h"
#include "protobuf.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST            ((size_t)1 << 30) /* bytes, unpacked */
#define MOST_ITEMS      ((size_t)1 << 26) /* of a kind: strings of no bytes would take all of the memory */
#define FRAMES_PER_BYTE UINT64_C(8)       /* of the file: a location in a sample is a byte or more, and has few lines */
#define FRAMES_FREE     (UINT64_C(1) << 20)

enum {
    SAMPLE_TYPE = 1,
    SAMPLE = 2,
    LOCATION = 4,
    FUNCTION = 5,
    STRING = 6,
    TIME = 9,
    DURATION = 10,
    PERIOD_TYPE = 11,
    PERIOD = 12,
    COMMENT = 13
};

struct string {
    struct hpx_pb_in bytes;
    uint32_t name;   /* of the tree, + 1; 0: not yet asked for. Else each use of a long one would be as long */
    uint32_t spoken; /* the same, as the name of a function or class */
};

struct line {
    uint32_t name, frame; /* of the tree */
};

struct location {
    size_t first, lines; /* of pprof.lines, innermost first */
};

struct function {
    uint32_t name, file;
};

struct type {
    struct hpx_tree_view *view; /* NULL: no room for it */
    size_t measure;
};

struct pprof {
    struct hpx_tree *tree;
    struct hpx_list strings; /* struct string */
    struct hpx_list types, locations, functions, lines;
    struct hpx_seeded_map location_of, function_of;
    struct hpx_list stack; /* uint64_t: locations of the sample */
    struct hpx_tree_path path;
    struct hpx_list values;
    uint64_t frames; /* that samples may still have */
    bool classes;    /* innermost frames of objects and monitors are classes, says the file */
    bool class_here; /* that of the sample is one */
    bool no_memory;
    bool crowded;  /* more measures than a view has room for */
    bool negative; /* values */
    bool broken;   /* a part of it */
    bool flood;    /* more frames than that */
};

static bool next(struct pprof *p, struct hpx_pb_in *m, struct hpx_pb_field *f)
{
    bool more = hpx_pb_next(m, f);
    p->broken |= m->broken;
    return more;
}

static uint32_t text(struct pprof *p, uint64_t i)
{
    struct string *s = i < p->strings.len ? (struct string *)p->strings.items + i : NULL;
    if (s == NULL) {
        return 0;
    }
    if (s->name == 0) {
        s->name = 1 + hpx_tree_name(p->tree, (const char *)s->bytes.at, (size_t)(s->bytes.end - s->bytes.at));
    }
    return s->name - 1;
}

static uint32_t frame_name(struct pprof *p, uint64_t i)
{
    struct string *s = i < p->strings.len ? (struct string *)p->strings.items + i : NULL;
    if (s == NULL) {
        return 0;
    }
    if (s->spoken == 0) {
        s->spoken = 1 + hpx_name_of_frame(p->tree, (const char *)s->bytes.at, (size_t)(s->bytes.end - s->bytes.at));
    }
    return s->spoken - 1;
}

static void *push(struct pprof *p, struct hpx_list *l, size_t size)
{
    void *item = l->len < MOST_ITEMS ? hpx_list_push(l, size) : NULL;
    p->no_memory |= item == NULL;
    return item;
}

/* As hpx_list_entry(). */
static void *entry(struct pprof *p, struct hpx_seeded_map *map, struct hpx_list *l, size_t size, uint64_t key)
{
    void *item = l->len < MOST_ITEMS ? hpx_list_entry(map, l, size, key) : NULL;
    p->no_memory |= item == NULL;
    return item;
}

/* A line, or an address without any. */
static void add_line(struct pprof *p, uint32_t name, uint32_t file, int32_t line)
{
    struct line *l = push(p, &p->lines, sizeof *l);
    if (l != NULL) {
        *l = (struct line){name, hpx_tree_frame(p->tree, name, file, line, HPX_FRAME_METHOD)};
    }
}

/* Functions are known before locations. */
static void take_line(struct pprof *p, struct hpx_pb_in m)
{
    struct hpx_pb_field f;
    struct function fn = {0, 0};
    uint64_t function = 0, line = 0;
    while (next(p, &m, &f)) {
        function = f.number == 1 ? f.v : function;
        line = f.number == 2 ? f.v : line;
    }
    const uint32_t *index = hpx_seeded_map_find(&p->function_of, function);
    if (index != NULL && *index > 0) {
        fn = ((const struct function *)p->functions.items)[*index - 1];
    }
    add_line(p, fn.name != 0 ? fn.name : hpx_tree_name(p->tree, "?", 1), fn.file, line <= INT32_MAX ? (int32_t)line : 0);
}

static void take_location(struct pprof *p, struct hpx_pb_in m)
{
    struct hpx_pb_field f;
    struct location at = {.first = p->lines.len};
    uint64_t id = 0, address = 0;
    while (next(p, &m, &f)) {
        if (f.number == 4 && f.is_bytes) {
            take_line(p, f.bytes);
        } else if (f.number == 1) {
            id = f.v;
        } else if (f.number == 3) {
            address = f.v;
        }
    }
    if (p->lines.len == at.first) {
        char text[24];
        int n = snprintf(text, sizeof text, "0x%" PRIx64, address);
        add_line(p, hpx_tree_name(p->tree, text, (size_t)n), 0, 0);
    }
    at.lines = p->lines.len - at.first;
    struct location *l = entry(p, &p->location_of, &p->locations, sizeof *l, id);
    if (l != NULL) {
        *l = at;
    }
}

static void take_function(struct pprof *p, struct hpx_pb_in m)
{
    struct hpx_pb_field f;
    uint64_t id = 0, name = 0, file = 0;
    while (next(p, &m, &f)) {
        id = f.number == 1 ? f.v : id;
        name = f.number == 2 ? f.v : name;
        file = f.number == 4 ? f.v : file;
    }
    struct function *fn = entry(p, &p->function_of, &p->functions, sizeof *fn, id);
    if (fn != NULL) {
        *fn = (struct function){frame_name(p, name), text(p, file)};
    }
}

/* Strings. */
struct value_type {
    uint64_t name, unit;
};

static struct value_type value_type(struct pprof *p, struct hpx_pb_in m)
{
    struct hpx_pb_field f;
    struct value_type v = {0, 0};
    while (next(p, &m, &f)) {
        v.name = f.number == 1 ? f.v : v.name;
        v.unit = f.number == 2 ? f.v : v.unit;
    }
    return v;
}

static void take_type(struct pprof *p, struct hpx_pb_in m)
{
    struct value_type v = value_type(p, m);
    struct type *t = push(p, &p->types, sizeof *t);
    if (t != NULL) {
        t->view = hpx_tree_find(p->tree, hpx_tree_text(p->tree, text(p, v.name)), hpx_tree_text(p->tree, text(p, v.unit)), &t->measure);
        p->crowded |= t->view == NULL;
    }
}

static void take_numbers(struct pprof *p, struct hpx_list *to, struct hpx_pb_field *f)
{
    uint64_t v = f->v;
    while (!f->is_bytes || hpx_pb_varint(&f->bytes, &v)) { /* packed or not */
        uint64_t *slot = push(p, to, sizeof v);
        if (slot == NULL) {
            return;
        }
        *slot = v;
        if (!f->is_bytes) {
            return;
        }
    }
    p->broken |= f->bytes.broken;
}

struct labels {
    uint32_t thread;       /* its name */
    uint32_t state, class; /* in WALL CLOCK: its state, the class of what it waits for */
};

static void take_label(struct pprof *p, struct hpx_pb_in label, struct labels *l)
{
    struct hpx_pb_field f;
    uint32_t key = 0, value = 0;
    while (next(p, &label, &f)) {
        key = f.number == 1 ? text(p, f.v) : key;
        value = f.number == 2 ? text(p, f.v) : value;
    }
    const char *name = hpx_tree_text(p->tree, key);
    uint32_t *to = strcmp(name, "thread") == 0  ? &l->thread
                   : strcmp(name, "state") == 0 ? &l->state
                   : strcmp(name, "class") == 0 ? &l->class
                                                : NULL;
    if (to != NULL && value != 0) {
        *to = value;
    }
}

/* A location may have many lines and be in many samples. The size of the file limits the frames of all samples together, so that a small
 * file cannot keep us busy for hours. */
static bool afford(struct pprof *p, size_t frames)
{
    bool can = p->frames >= frames;
    p->frames -= can ? frames : p->frames;
    p->flood |= !can;
    return can;
}

static void down(struct pprof *p, const struct location *l, bool innermost)
{
    if (!afford(p, l->lines)) {
        return;
    }
    for (size_t i = l->lines; i-- > 0;) {
        const struct line *at = (const struct line *)p->lines.items + l->first + i;
        bool is_class = innermost && i == 0 && p->class_here;
        if (p->path.at > 0 || !hpx_tree_no_stack(p->tree, 0, at->name)) {
            hpx_tree_path_down(p->tree, &p->path, is_class ? hpx_tree_frame(p->tree, at->name, 0, 0, HPX_FRAME_CLASS) : at->frame);
        }
    }
}

static uint32_t node_of(struct pprof *p)
{
    hpx_tree_path_begin(&p->path);
    for (size_t i = p->stack.len; i-- > 0;) {
        const uint32_t *index = hpx_seeded_map_find(&p->location_of, ((const uint64_t *)p->stack.items)[i]);
        if (index != NULL && *index > 0) {
            down(p, (const struct location *)p->locations.items + *index - 1, i == 0);
        }
    }
    return hpx_tree_path_end(&p->path);
}

/* Whether the sample is one of objects or monitors. */
static bool is_of_class(const struct pprof *p)
{
    bool is = false;
    for (size_t i = 0; p->classes && i < p->types.len && i < p->values.len; i++) {
        const struct hpx_tree_view *v = ((const struct type *)p->types.items)[i].view;
        bool any = ((const uint64_t *)p->values.items)[i] != 0 && v != NULL;
        enum hpx_view_kind kind = any ? (enum hpx_view_kind)(v - p->tree->views) : HPX_VIEW_CPU;
        is = is || (hpx_view_has_classes(kind) && kind != HPX_VIEW_WALL);
    }
    return is;
}

/* The name "STATE" or "STATE CLASS". */
static uint32_t state_of(struct pprof *p, const struct labels *l)
{
    const char *state = hpx_tree_text(p->tree, l->state), *class = hpx_tree_text(p->tree, l->class);
    char *both = NULL;
    if (l->class == 0) {
        return l->state;
    }
    int n = asprintf(&both, "%s %s", state, class);
    uint32_t name = n >= 0 ? hpx_tree_name(p->tree, both, (size_t)n) : 0;
    p->no_memory |= n < 0;
    free(n >= 0 ? both : NULL);
    return name;
}

/* Negative values are what `pprof -base` makes; there is no such measure here. */
static void take_sample(struct pprof *p, struct hpx_pb_in m)
{
    struct hpx_pb_field f;
    struct labels labels = {0, 0, 0};
    p->stack.len = p->values.len = 0;
    while (next(p, &m, &f)) {
        if (f.number == 1 || f.number == 2) {
            take_numbers(p, f.number == 1 ? &p->stack : &p->values, &f);
        } else if (f.number == 3 && f.is_bytes) {
            take_label(p, f.bytes, &labels);
        }
    }
    p->class_here = is_of_class(p);
    uint32_t node = node_of(p);
    if (p->flood) {
        return; /* this one, and those behind it, are not whole */
    }
    for (size_t k = 0; k < HPX_VIEWS; k++) {
        uint64_t values[HPX_TREE_VALUES] = {0}, any = 0;
        struct hpx_tree_view *v = &p->tree->views[k];
        for (size_t i = 0; i < p->types.len && i < p->values.len; i++) {
            const struct type *t = (const struct type *)p->types.items + i;
            uint64_t value = ((const uint64_t *)p->values.items)[i];
            if (t->view == v && value <= INT64_MAX) {
                values[t->measure] = hpx_tree_sum(values[t->measure], value);
                any |= value;
            }
            p->negative |= value > INT64_MAX;
        }
        if (any != 0 && k == HPX_VIEW_WALL && labels.state != 0) {
            uint32_t frame = hpx_tree_frame(p->tree, state_of(p, &labels), 0, 0, HPX_FRAME_CLASS);
            hpx_tree_add(p->tree, v, hpx_tree_node(p->tree, node, frame), labels.thread, values);
        } else if (any != 0) {
            hpx_tree_add(p->tree, v, node, labels.thread, values);
        }
    }
}

/* The fields of one number; all of them are read before what names them by id. */
static bool each(struct pprof *p, struct hpx_pb_in m, unsigned number, void (*take)(struct pprof *, struct hpx_pb_in))
{
    struct hpx_pb_field f;
    while (!p->no_memory && hpx_pb_next(&m, &f)) {
        if (f.number == number && f.is_bytes) {
            take(p, f.bytes);
        }
    }
    return !m.broken;
}

static void take_string(struct pprof *p, struct hpx_pb_in s)
{
    struct string *slot = push(p, &p->strings, sizeof *slot);
    if (slot != NULL) {
        slot->bytes = s;
    }
}

static bool is_text(struct pprof *p, uint64_t i, const char *word)
{
    return strcmp(hpx_tree_text(p->tree, text(p, i)), word) == 0;
}

/* Whether a period of this type is CPU time: that of a heap profile is bytes. */
static bool is_cpu_time(struct pprof *p, struct hpx_pb_in m)
{
    struct value_type v = value_type(p, m);
    return is_text(p, v.name, "cpu") && is_text(p, v.unit, "nanoseconds");
}

/* As hprofx writes them. */
static void take_comment(struct pprof *p, const char *line)
{
    struct hpx_tree *t = p->tree;
    static const char lost[] = "lost: ", own[] = "own CPU time: ", effective[] = "effective samples: ", filtered[] = "filtered: ",
                      before[] = "before filters: ";
    if (strncmp(line, lost, sizeof lost - 1) == 0) {
        t->lost = hpx_tree_name(t, line + sizeof lost - 1, strlen(line + sizeof lost - 1));
    } else if (strncmp(line, own, sizeof own - 1) == 0) {
        t->own = hpx_tree_name(t, line + sizeof own - 1, strlen(line + sizeof own - 1));
    } else if (strncmp(line, filtered, sizeof filtered - 1) == 0) {
        t->filtered = hpx_tree_name(t, line + sizeof filtered - 1, strlen(line + sizeof filtered - 1));
    } else if (strncmp(line, before, sizeof before - 1) == 0) {
        hpx_tree_take_before(t, line + sizeof before - 1);
    } else if (strncmp(line, effective, sizeof effective - 1) == 0) {
        t->effective = hpx_tree_sum(t->effective, strtoull(line + sizeof effective - 1, NULL, 10));
    }
}

/* Calls `take` with every comment. */
static void comments(struct pprof *p, struct hpx_pb_field *f, void (*take)(struct pprof *, const char *))
{
    uint64_t comment = f->v;
    while (!f->is_bytes || hpx_pb_varint(&f->bytes, &comment)) { /* packed or not */
        take(p, hpx_tree_text(p->tree, text(p, comment)));
        if (!f->is_bytes) {
            break;
        }
    }
}

static void take_classes(struct pprof *p, const char *line)
{
    p->classes |= strcmp(line, HPX_PPROF_CLASSES) == 0;
}

/* Before the samples. */
static void look_for_classes(struct pprof *p, struct hpx_pb_in m)
{
    struct hpx_pb_field f;
    while (hpx_pb_next(&m, &f)) {
        if (f.number == COMMENT) {
            comments(p, &f, take_classes);
        }
    }
}

static void take_facts(struct pprof *p, struct hpx_pb_in m)
{
    struct hpx_tree *t = p->tree;
    struct hpx_pb_field f;
    bool cpu = false;
    uint64_t time = 0, duration = 0, period = 0;
    while (hpx_pb_next(&m, &f)) {
        time = f.number == TIME ? f.v : time;
        duration = f.number == DURATION ? f.v : duration;
        period = f.number == PERIOD ? f.v : period;
        cpu = f.number == PERIOD_TYPE && f.is_bytes ? is_cpu_time(p, f.bytes) : cpu;
        if (f.number == COMMENT) {
            comments(p, &f, take_comment);
        }
    }
    t->start_ms = time <= INT64_MAX ? time / 1000000 : 0;
    t->duration_ms = duration <= INT64_MAX ? duration / 1000000 : 0;
    t->interval_ns = cpu && period > 1 && period < UINT64_C(1000000000000) ? period : 0;
}

static bool has(struct hpx_pb_in m, uint32_t number)
{
    struct hpx_pb_field f;
    bool found = false;
    while (!found && hpx_pb_next(&m, &f)) {
        found = f.number == number;
    }
    return found;
}

/* A profile in which nothing happened has a time, but neither types nor samples. */
static enum hpx_tree_read parse(struct pprof *p, struct hpx_pb_in all, struct hpx_err *err)
{
    bool whole = each(p, all, STRING, take_string) && each(p, all, SAMPLE_TYPE, take_type) && each(p, all, FUNCTION, take_function) &&
                 each(p, all, LOCATION, take_location);
    look_for_classes(p, all);
    whole = whole && each(p, all, SAMPLE, take_sample);
    if (p->no_memory || p->tree->no_memory) {
        hpx_err_set(err, HPX_E_NOMEM, "%s", hpx_budget_why());
        return HPX_TREE_FAILED;
    }
    if (!whole || (p->types.len == 0 && (!has(all, TIME) || has(all, SAMPLE)))) {
        hpx_err_set(err, HPX_E_RANGE, "not a pprof profile, or a broken one");
        return HPX_TREE_FAILED;
    }
    take_facts(p, all);
    if (p->flood || p->broken) {
        hpx_err_set(err, HPX_E_RANGE,
                    p->flood ? "the stacks are too long for a file of this size; the samples from there on are left out"
                             : "parts of the pprof profile are broken; they are left out");
    } else if (p->crowded) {
        hpx_err_set(err, HPX_E_RANGE, "more than %d measures that hprofx does not know; the others are left out", HPX_TREE_VALUES);
    } else if (p->negative) {
        hpx_err_set(err, HPX_E_RANGE, "negative values are left out; a difference (pprof -base) is not a profile");
    }
    return p->flood || p->broken || p->crowded || p->negative ? HPX_TREE_PART : HPX_TREE_WHOLE;
}

/* All bytes of the source; NULL: no memory, too many of them, or they cannot be read. */
static uint8_t *slurp(struct hpx_source *s, size_t *len)
{
    uint8_t *all = NULL;
    size_t cap = 0;
    *len = 0;
    for (size_t n; (n = hpx_source_ahead(s, 1)) > 0; hpx_source_take(s, n)) {
        if (cap - *len < n) {
            size_t had = cap;
            cap = 2 * cap + n < MOST ? 2 * cap + n : MOST;
            uint8_t *grown = cap - *len >= n && hpx_budget_take(cap - had) ? realloc(all, cap) : NULL;
            if (grown == NULL) {
                free(all);
                return NULL;
            }
            all = grown;
        }
        memcpy(all + *len, hpx_source_bytes(s), n);
        *len += n;
    }
    if (s->error != 0) {
        free(all);
        return NULL;
    }
    return all;
}

enum hpx_tree_read hpx_tree_read_pprof(struct hpx_tree *t, struct hpx_source *s, struct hpx_err *err)
{
    size_t n;
    uint8_t *all = slurp(s, &n);
    struct pprof p = {.tree = t, .frames = FRAMES_FREE + FRAMES_PER_BYTE * n};
    if (all == NULL) {
        hpx_err_set(err, HPX_E_IO, "%s",
                    s->error != 0          ? strerror(s->error)
                    : hpx_budget_refused() ? hpx_budget_why()
                                           : "no memory, or more than 1 GiB unpacked");
        return HPX_TREE_FAILED;
    }
    hpx_seeded_map_init(&p.location_of, true);
    hpx_seeded_map_init(&p.function_of, true);
    enum hpx_tree_read done = parse(&p, (struct hpx_pb_in){.at = all, .end = all + n}, err);
    struct hpx_list *lists[] = {&p.strings, &p.types, &p.locations, &p.functions, &p.lines, &p.stack, &p.values, &p.path.steps};
    for (size_t i = 0; i < HPX_ARRAY_LEN(lists); i++) {
        free(lists[i]->items);
    }
    hpx_seeded_map_fini(&p.location_of);
    hpx_seeded_map_fini(&p.function_of);
    free(all);
    return done;
}
