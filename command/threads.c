/* SPDX-License-Identifier: BSD-2-Clause */
/* threads.c: see threads.h. Names stand in the file as text.h escapes them, and are shown so; in JSON they are themselves. */
#include "threads.h"
#include "definitions.h"
#include "gunzip.h"
#include "json.h"
#include "list.h"
#include "names.h"
#include "patterns.h"
#include "reader.h"
#include "utf8_put.h"
#include "words.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAMES        3u  /* threads of a group that are named */
#define FRAMES       12u /* of a stack, unless all are wanted */
#define STATUS_ROOM  32u
#define NAME_BYTES   4200u
#define NOTE_COLUMNS 300u /* of an error */

/* By pattern: those that are the name, or a part of it. */
struct fits {
    uint32_t whole, part;
};

/* Threads with one stack in one state. */
struct group {
    bool is_virtual;
    uint64_t count;
    uint32_t trace;
    char status[STATUS_ROOM];
    uint32_t serials[NAMES];                 /* of the platform */
    char *who, *container, *carrier, *waits; /* what stands behind the word; NULL: nothing */
    struct fits fits;
    bool hides; /* more names than are in the file */
};

struct threads {
    struct hpx_definitions defined;
    struct hpx_list groups, notes;  /* notes: char * */
    struct hpx_seeded_map platform; /* trace and status -> 1 + the group of threads of the platform */
    const struct hpx_filter *filter;
    bool seen, no_memory;
};

static void drop_group(const struct group *g)
{
    free(g->who);
    free(g->container);
    free(g->carrier);
    free(g->waits);
}

static void drop_groups(struct threads *t)
{
    struct group *g = t->groups.items;
    for (size_t i = 0; i < t->groups.len; i++) {
        drop_group(&g[i]);
    }
    for (size_t i = 0; i < t->notes.len; i++) {
        free(((char **)t->notes.items)[i]);
    }
    t->groups.len = t->notes.len = 0;
    hpx_seeded_map_clear(&t->platform);
}

static struct group *add(struct threads *t, const struct hpx_rd_monitor *m, bool is_virtual)
{
    struct group *g = hpx_list_push(&t->groups, sizeof *g);
    if (g == NULL) {
        t->no_memory = true;
        return NULL;
    }
    *g = (struct group){.is_virtual = is_virtual, .trace = m->trace};
    (void)snprintf(g->status, sizeof g->status, "%.*s", (int)m->name.n, m->name.p);
    return g;
}

/* ---- threads that lines name: 22 "worker-1", or thread 200005 ---- */

struct who {
    uint64_t id;           /* 0: of the platform */
    char name[NAME_BYTES]; /* as it is; "": none */
};

/* From behind a quote to behind the next one. */
static const char *take_quoted(const char *at, char to[NAME_BYTES])
{
    char *end = to + NAME_BYTES - 4;
    while (*at != '\0' && *at != '"') {
        char digits[5] = "";
        char c = *at++;
        if (c == '\\' && *at == 'u' && strnlen(at, 5) == 5) {
            memcpy(digits, at + 1, 4);
            to += to < end ? hpx_utf8_put_name(to, (uint32_t)strtoul(digits, NULL, 16)) : 0;
            at += 5;
            continue;
        }
        if (c == '\\' && *at != '\0') {
            c = (char)(*at == 'n' ? '\n' : *at == 'r' ? '\r' : *at == 't' ? '\t' : *at);
            at++;
        }
        if (to < end) {
            *to++ = c;
        }
    }
    *to = '\0';
    return *at == '"' ? at + 1 : at;
}

static void take_serial(const struct threads *t, uint32_t serial, struct who *w)
{
    w->id = 0;
    (void)take_quoted(hpx_defined_name(&t->defined, hpx_defined_newest(hpx_defined_thread(&t->defined, serial))), w->name);
}

/* One thread of a list, and *at behind it; false: there is none. */
static bool take_who(const struct threads *t, const char **at, struct who *w)
{
    static const char platform[] = "thread ";
    char *end;
    const char *from = *at + strspn(*at, ", ");
    if (strncmp(from, platform, sizeof platform - 1) == 0) {
        take_serial(t, (uint32_t)strtoul(from + sizeof platform - 1, &end, 10), w);
        *at = end;
        return true;
    }
    w->id = strtoull(from, &end, 10);
    w->name[0] = '\0';
    if (end == from) {
        return false;
    }
    *at = end[0] == ' ' && end[1] == '"' ? take_quoted(end + 2, w->name) : end;
    return true;
}

/* "CLASS owned by WHO": the class, and who; without an owner false. */
static bool take_owner(const struct threads *t, const char *waits, char klass[NAME_BYTES], struct who *w)
{
    static const char owned[] = " owned by ", virtual[] = "virtual thread ";
    const char *end = strchr(waits, ';'), *by = strstr(end != NULL ? end : waits, owned); /* the name of a class may have the words */
    size_t n = by != NULL ? (size_t)(by - waits) : strlen(waits);
    (void)snprintf(klass, NAME_BYTES, "%.*s", (int)(n < NAME_BYTES ? n : NAME_BYTES - 1), waits);
    if (by == NULL) {
        return false;
    }
    by += sizeof owned - 1;
    by += strncmp(by, virtual, sizeof virtual - 1) == 0 ? sizeof virtual - 1 : 0;
    return take_who(t, &by, w);
}

/* "" if there is none. */
static void take_container(const struct group *g, char to[NAME_BYTES])
{
    (void)take_quoted(g->container != NULL && g->container[0] == '"' ? g->container + 1 : "", to);
}

/* Of a name; an empty one fits nothing. */
static void add_fits(const struct threads *t, const char *name, struct fits *to)
{
    const struct hpx_filter_pattern *p = t->filter->patterns.items;
    for (size_t i = 0; i < t->filter->patterns.len && i < 32 && name[0] != '\0'; i++) {
        to->whole |= (uint32_t)hpx_pattern_fits(p[i].text, strlen(p[i].text), name, strlen(name), "") << i;
        to->part |= (uint32_t)(strstr(name, p[i].text) != NULL) << i;
    }
}

/* ---- the file ---- */

static void add_thread(struct threads *t, const struct hpx_rd_monitor *m)
{
    char kind[STATUS_ROOM + 32];
    struct who w;
    struct fits fits = {0, 0};
    uint32_t *at = NULL;
    take_serial(t, m->thread, &w);
    add_fits(t, w.name, &fits);
    int n = snprintf(kind, sizeof kind, "%.*s %x %x", (int)(m->name.n < STATUS_ROOM ? m->name.n : STATUS_ROOM), m->name.p, fits.whole,
                     fits.part);
    const uint32_t same = hpx_defined_keep(&t->defined, (struct hpx_rd_text){kind, (size_t)n});
    if (hpx_seeded_map_add(&t->platform, (uint64_t)m->trace << 32 | same, &at) < 0) {
        t->no_memory = true;
        return;
    }
    if (*at == 0) {
        *at = add(t, m, false) != NULL ? (uint32_t)t->groups.len : 0;
    }
    if (*at != 0) {
        struct group *of = (struct group *)t->groups.items + *at - 1;
        of->fits = fits;
        if (of->count < NAMES) {
            of->serials[of->count] = m->thread;
        }
        of->count++;
    }
}

static void add_note(struct threads *t, const char *text, size_t n)
{
    char **note = hpx_list_push(&t->notes, sizeof *note);
    if (note != NULL) {
        *note = strndup(text, n);
    }
    t->no_memory = t->no_memory || note == NULL || *note == NULL;
}

/* "threads: ..." and the like, or a note: what stands behind the colon. */
static void add_line(struct threads *t, struct hpx_rd_text line)
{
    struct group *g = t->groups.len > 0 ? (struct group *)t->groups.items + t->groups.len - 1 : NULL;
    const char *colon = memchr(line.p, ':', line.n);
    if (colon == NULL || (size_t)(colon - line.p) + 2 > line.n) {
        return;
    }
    if (line.p[0] == 'N') {
        add_note(t, colon + 2, line.n - (size_t)(colon - line.p) - 2);
        return;
    }
    if (g == NULL) {
        return;
    }
    char **to = line.p[0] == 't' ? &g->who : line.p[0] == 'w' ? &g->waits : line.p[1] == 'a' ? &g->carrier : &g->container;
    free(*to);
    *to = strndup(colon + 2, line.n - (size_t)(colon - line.p) - 2);
    t->no_memory = t->no_memory || *to == NULL;
}

static int event(void *ctx, struct hpx_reader *r, const struct hpx_rd_event *ev)
{
    struct threads *t = ctx;
    (void)r;
    hpx_definitions_event(&t->defined, ev);
    if (ev->kind == HPX_RD_RECORD && ev->record.tag == HPX_TAG_MONITOR_DUMP) {
        drop_groups(t);
        t->seen = true;
    } else if (ev->kind == HPX_RD_MONITOR_THREAD) {
        add_thread(t, &ev->monitor);
    } else if (ev->kind == HPX_RD_MONITOR_VIRTUAL) {
        struct group *g = add(t, &ev->monitor, true);
        if (g != NULL) {
            g->count = ev->monitor.count;
        }
    } else if (ev->kind == HPX_RD_MONITOR_OF) {
        add_line(t, ev->monitor.name);
    }
    return HPX_RD_SOUND;
}

static int by_count(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    int order = (y->count > x->count) - (y->count < x->count);
    order = order != 0 ? order : y->is_virtual - x->is_virtual;
    return order != 0 ? order : (x->trace > y->trace) - (x->trace < y->trace);
}

static const char *state_of(const struct group *g)
{
    static const char *const words[][2] = {{"R", "running"},  {"SL", "sleeping"}, {"MW", "waiting to enter"},
                                           {"CW", "waiting"}, {"ZO", "ended"},    {"NS", "not started"}};
    const char *last = strrchr(g->status, '|');
    last = last != NULL ? last + 1 : g->status;
    for (size_t i = 0; i < HPX_ARRAY_LEN(words); i++) {
        if (strcmp(last, words[i][0]) == 0) {
            return words[i][1];
        }
    }
    return "in an unknown state";
}

static const struct hpx_defined_trace *trace_of(const struct threads *t, uint32_t serial)
{
    const uint32_t *at = hpx_seeded_map_find(&t->defined.trace_of, serial);
    return at != NULL && *at != 0 ? (const struct hpx_defined_trace *)t->defined.traces.items + *at - 1 : NULL;
}

/* ---- those that are chosen ---- */

static void add_fits_of_virtual(const struct threads *t, struct group *g)
{
    char container[NAME_BYTES];
    struct who w;
    uint32_t named = 0;
    take_container(g, container);
    add_fits(t, container, &g->fits);
    for (const char *at = g->who != NULL ? g->who : ""; take_who(t, &at, &w);) {
        add_fits(t, w.name, &g->fits);
        named += w.name[0] != '\0';
    }
    g->hides = named == NAMES && g->count > NAMES; /* those without names are behind those with */
}

static void choose(struct threads *t)
{
    struct group *g = t->groups.items;
    char text[160];
    uint32_t whole = 0;
    size_t n = 0, hiding = 0;
    for (size_t i = 0; i < t->groups.len; i++) {
        if (g[i].is_virtual) {
            add_fits_of_virtual(t, &g[i]);
        }
        whole |= g[i].fits.whole;
    }
    for (size_t i = 0; i < t->groups.len; i++) { /* a part of a name counts if none is the whole one */
        const bool is = t->filter->patterns.len == 0 || g[i].fits.whole != 0 || (g[i].fits.part & ~whole) != 0;
        if (is) {
            g[n++] = g[i];
        } else {
            hiding += g[i].hides;
            drop_group(&g[i]);
        }
    }
    t->groups.len = n;
    if (hiding > 0) {
        const int len = snprintf(text, sizeof text,
                                 "groups left out of which other threads may have the name, as three of each are named: %zu", hiding);
        add_note(t, text, (size_t)len);
    }
}

/* ---- words ---- */

static void tell_frames(FILE *to, struct threads *t, const struct group *g)
{
    const struct hpx_defined_trace *trace = trace_of(t, g->trace);
    uint32_t n = trace != NULL ? trace->frames : 0;
    for (uint32_t i = 0; i < n && i < FRAMES; i++) {
        uint32_t frame = hpx_defined_frame(&t->defined, trace, i);
        fputs("      ", to);
        hpx_words_java(to, hpx_defined_name(&t->defined, hpx_defined_method(&t->defined, frame)));
        if (frame != 0) {
            const struct hpx_defined_frame *f = (const struct hpx_defined_frame *)t->defined.frames.items + frame - 1;
            if (f->line > 0) {
                (void)fprintf(to, ":%" PRId32, f->line);
            }
        }
        fputc('\n', to);
    }
    if (n > FRAMES) {
        (void)fprintf(to, "      and %s more\n", hpx_words_number(n - FRAMES));
    }
}

static void tell_one(FILE *to, const struct who *w)
{
    if (w->id != 0) {
        (void)fprintf(to, "#%" PRIu64 "%s", w->id, w->name[0] != '\0' ? " " : "");
    }
    if (w->id == 0 || w->name[0] != '\0') {
        fputc('"', to);
        hpx_words_name(to, w->name, 0, true);
        fputc('"', to);
    }
}

static void tell_who(FILE *to, const struct threads *t, const struct group *g)
{
    struct who w;
    const char *at = g->who != NULL ? g->who : "";
    uint64_t n = 0;
    fputs("    ", to);
    while (n < NAMES && n < g->count) {
        if (!g->is_virtual) {
            take_serial(t, g->serials[n], &w);
        } else if (!take_who(t, &at, &w)) {
            break;
        }
        fputs(n++ > 0 ? ", " : "", to);
        tell_one(to, &w);
    }
    fputs(n < g->count ? ", ...\n" : "\n", to);
}

static void tell_waits(FILE *to, const struct threads *t, const struct group *g)
{
    char klass[NAME_BYTES];
    struct who w;
    const char *at = g->carrier != NULL ? g->carrier : "";
    if (take_who(t, &at, &w)) {
        fputs("    on its carrier ", to);
        tell_one(to, &w);
        fputc('\n', to);
    }
    take_container(g, klass);
    if (klass[0] != '\0') {
        fputs("    in ", to);
        hpx_words_name(to, klass, 0, false);
        fputc('\n', to);
    }
    if (g->waits != NULL) {
        bool owned = take_owner(t, g->waits, klass, &w);
        fputs("    waiting for ", to);
        hpx_words_java(to, klass);
        if (owned) {
            fputs(w.id != 0 ? ", owned by virtual thread " : ", owned by ", to);
            tell_one(to, &w);
        }
        fputc('\n', to);
    }
}

/* A note of which nothing is told here. */
static bool of_monitors(const char *note)
{
    static const char *const begins[] = {"monitors ",
                                         "unowned monitors ",
                                         "questions about monitors ",
                                         "threads that wait for monitors ",
                                         "threads not asked for monitors ",
                                         "threads in Object.wait "};
    bool is = false;
    for (size_t i = 0; i < HPX_ARRAY_LEN(begins); i++) {
        is = is || strncmp(note, begins[i], strlen(begins[i])) == 0;
    }
    return is;
}

static void tell_words(FILE *to, struct threads *t, size_t rows)
{
    uint64_t sums[2] = {0, 0};
    const struct group *g = t->groups.items;
    for (size_t i = 0; i < t->groups.len; i++) {
        sums[g[i].is_virtual] += g[i].count;
    }
    (void)fprintf(to, "%s virtual threads, %s threads of the platform\n", hpx_words_number(sums[1]), hpx_words_number(sums[0]));
    for (size_t i = 0; i < t->groups.len && i < rows; i++) {
        (void)fprintf(to, "\n%10s %s%s, %s\n", hpx_words_number(g[i].count), g[i].is_virtual ? "virtual " : "",
                      g[i].count == 1 ? "thread" : "threads", state_of(&g[i]));
        tell_who(to, t, &g[i]);
        tell_waits(to, t, &g[i]);
        tell_frames(to, t, &g[i]);
    }
    for (size_t i = 0; i < t->notes.len; i++) {
        const char *note = ((char **)t->notes.items)[i];
        if (!of_monitors(note)) {
            fputs("note: ", to);
            hpx_words_name(to, note, 0, false);
            fputc('\n', to);
        }
    }
    if (t->groups.len > rows) {
        (void)fprintf(to, "\nand %s more groups; -n shows more\n", hpx_words_number(t->groups.len - rows));
    }
}

/* ---- JSON ---- */

static void json_one(struct hpx_json *j, const char *key, const struct who *w)
{
    hpx_json_open(j, key, '{');
    if (w->id != 0) {
        hpx_json_uint(j, "id", w->id);
    }
    hpx_json_text(j, "name", w->name);
    hpx_json_close(j, '}');
}

static void json_who(struct hpx_json *j, const struct threads *t, const struct group *g)
{
    struct who w;
    const char *at = g->who != NULL ? g->who : "";
    hpx_json_open(j, "threads", '[');
    for (uint32_t i = 0; !g->is_virtual && i < g->count && i < NAMES; i++) {
        take_serial(t, g->serials[i], &w);
        json_one(j, NULL, &w);
    }
    for (uint32_t i = 0; g->is_virtual && i < NAMES && take_who(t, &at, &w); i++) {
        json_one(j, NULL, &w);
    }
    hpx_json_close(j, ']');
}

static void json_waits(struct hpx_json *j, const struct threads *t, const struct group *g)
{
    char klass[NAME_BYTES], spoken[NAME_BYTES];
    struct who w;
    const char *at = g->carrier != NULL ? g->carrier : "";
    if (take_who(t, &at, &w)) {
        json_one(j, "carrier", &w);
    }
    take_container(g, klass);
    if (klass[0] != '\0') {
        hpx_json_text(j, "container", klass);
    }
    if (g->waits != NULL) {
        bool owned = take_owner(t, g->waits, klass, &w);
        hpx_name_spoken(spoken, sizeof spoken, klass);
        hpx_json_text(j, "waiting_for", spoken);
        if (owned) {
            json_one(j, "owner", &w);
        }
    }
}

static void json_stack(struct hpx_json *j, struct threads *t, const struct group *g)
{
    const struct hpx_defined_trace *trace = trace_of(t, g->trace);
    hpx_json_open(j, "stack", '[');
    for (uint32_t k = 0; trace != NULL && k < trace->frames; k++) {
        uint32_t frame = hpx_defined_frame(&t->defined, trace, k);
        hpx_json_open(j, NULL, '{');
        hpx_json_text(j, "method", hpx_defined_name(&t->defined, hpx_defined_method(&t->defined, frame)));
        const struct hpx_defined_frame *f = frame != 0 ? (const struct hpx_defined_frame *)t->defined.frames.items + frame - 1 : NULL;
        if (f != NULL && f->line > 0) {
            hpx_json_uint(j, "line", (uint64_t)f->line);
        }
        hpx_json_close(j, '}');
    }
    hpx_json_close(j, ']');
}

static void tell_json(FILE *to, struct threads *t, const struct hpx_threads_ask *ask)
{
    struct hpx_json j = {.to = to};
    const struct group *g = t->groups.items;
    hpx_json_open(&j, NULL, '{');
    hpx_json_uint(&j, "pid", (uint64_t)ask->pid);
    hpx_json_open(&j, "groups", '[');
    for (size_t i = 0; i < t->groups.len && (ask->rows == 0 || i < ask->rows); i++) {
        hpx_json_open(&j, NULL, '{');
        hpx_json_uint(&j, "count", g[i].count);
        hpx_json_flag(&j, "virtual", g[i].is_virtual);
        hpx_json_text(&j, "state", state_of(&g[i]));
        json_who(&j, t, &g[i]);
        json_waits(&j, t, &g[i]);
        json_stack(&j, t, &g[i]);
        hpx_json_close(&j, '}');
    }
    hpx_json_close(&j, ']');
    hpx_json_open(&j, "notes", '[');
    for (size_t i = 0; i < t->notes.len; i++) {
        hpx_json_text(&j, NULL, ((char **)t->notes.items)[i]);
    }
    hpx_json_close(&j, ']');
    hpx_json_close(&j, '}');
    (void)fputc('\n', to);
}

enum hpx_status hpx_threads_tell(FILE *to, int fd, const struct hpx_threads_ask *ask, struct hpx_err *err)
{
    static struct hpx_gunzip g;
    struct hpx_source source;
    struct threads t = {.filter = ask->filter};
    hpx_gunzip_init(&g, fd);
    hpx_seeded_map_init(&t.platform, true);
    if (hpx_source_init(&source, hpx_gunzip_read, &g) != 0) {
        return hpx_fail(err, HPX_FAILED, "no memory");
    }
    enum hpx_status s = hpx_definitions_init(&t.defined) == 0 ? HPX_OK : hpx_fail(err, HPX_FAILED, "no memory");
    struct hpx_reader r = {.source = &source, .sinks = {event}, .ctx = {&t}};
    if (s == HPX_OK && hpx_reader_run(&r) != HPX_RD_SOUND) {
        s = hpx_fail(err, r.result == HPX_RD_FAILED ? HPX_FAILED : HPX_PARTIAL, "the profile is broken: %s", r.why);
    } else if (s == HPX_OK && (t.no_memory || t.defined.no_memory || !t.seen)) {
        s = hpx_fail(err, HPX_FAILED, "%s", t.no_memory || t.defined.no_memory ? "no memory" : "the profile has no threads");
    } else if (s == HPX_OK && t.groups.len == 0) { /* the note says why */
        const char *note = t.notes.len > 0 ? ((char **)t.notes.items)[0] : "no reason is told";
        s = hpx_fail(err, HPX_FAILED, "the profile has no threads: %s", hpx_words_cut(note, NOTE_COLUMNS));
    }
    if (s == HPX_OK) {
        choose(&t);
        s = t.no_memory ? hpx_fail(err, HPX_FAILED, "no memory") : s;
    }
    if (s == HPX_OK) {
        if (t.groups.len > 1) {
            qsort(t.groups.items, t.groups.len, sizeof(struct group), by_count);
        }
        if (ask->json) {
            tell_json(to, &t, ask);
        } else {
            tell_words(to, &t, ask->rows != 0 ? ask->rows : HPX_THREADS_ROWS);
        }
    }
    drop_groups(&t);
    free(t.groups.items);
    free(t.notes.items);
    hpx_seeded_map_fini(&t.platform);
    hpx_definitions_fini(&t.defined);
    hpx_source_fini(&source);
    hpx_gunzip_fini(&g);
    return s;
}
