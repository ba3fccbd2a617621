/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_timeline.c: the lines of TIMELINE. Contract: hprof_timeline.h. */
#include "hprof_timeline.h"
#include "digits.h"
#include "hprof_table.h"
#include "log.h"
#include "text.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 1000u /* bytes of a name of a class; longer ones are left out, as in WALL CLOCK of binary files */
#define ITEM_MOST 96u   /* bytes of an event */
#define SORTED    8192u /* events among which times are put in order: those of several seconds */

static const char *const kinds[] = {
#define NAME(sym, name) name,
    HPX_TIME_KINDS_OF(NAME)
#undef NAME
};
static const char *const parts[HPX_BLOCK_PARTS] = {HPX_TIMELINE_PARTS};

/* Lines on their way to the file. */
struct lines {
    struct hpx_ascii *text; /* or */
    struct hpx_binary *binary;
    char *buf;      /* PIECE bytes and a line */
    size_t n, line; /* line: where the open one begins */
    uint64_t unit;
    uint64_t ms;     /* of the last event in the open line */
    uint32_t thread; /* likewise */
};

#define PIECE ((size_t)48 << 10) /* below what the reader keeps of a string */
#define HEAD  (sizeof HPX_TIMELINE_NOTE - 1)

static void begin_piece(struct lines *l)
{
    l->n = l->text != NULL ? 0 : HEAD;
    memcpy(l->buf, HPX_TIMELINE_NOTE, l->n);
    l->line = l->n;
}

static void flush(struct lines *l, bool last)
{
    if (l->text != NULL) {
        hpx_out_bytes(l->text->out, l->buf, l->n);
        hpx_out_part(l->text->out, last);
    } else if (l->n > HEAD) {
        (void)hpx_binary_own_note(l->binary, (struct hpx_text){l->buf, (uint32_t)l->n});
    }
    begin_piece(l);
}

static void end_line(struct lines *l)
{
    if (l->n > l->line) {
        l->buf[l->n++] = '\n';
        l->line = l->n;
    }
    if (l->n > PIECE) {
        flush(l, false);
    }
}

static void HPX_PRINTF(2, 3) put_text(struct lines *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    l->n += (size_t)vsnprintf(l->buf + l->n, HPX_TEXT_EXACT_LINE, fmt, args);
    va_end(args);
}

/* ---- places ---- */

/* The serial of a trace that is in the file; 0: it is not. */
static uint32_t trace_of(const struct lines *l, const struct hpx_trace_rec *t)
{
    bool in_file = t != NULL && (l->text != NULL ? hpx_ascii_trace(l->text, t) : hpx_binary_trace(l->binary, t));
    return in_file ? t->serial : 0;
}

static void put_class(struct lines *l, struct hpx_text name)
{
    if (name.len > 0 && name.len <= NAME_MOST) {
        l->buf[l->n++] = ' ';
        l->n += hpx_text_escape(l->buf + l->n, name, false);
    }
}

static void put_place(struct lines *l, const struct hpx_time_place *p, uint32_t trace, uint32_t owner)
{
    put_text(l, "p %s %" PRIu32, kinds[p->kind], trace);
    switch (p->kind) {
    case HPX_TIME_WALL:
        put_text(l, " %s", hpx_wall_state_name((enum hpx_wall_state)p->part));
        break;
    case HPX_TIME_ALLOC:
        put_text(l, " %" PRIu64 " %" PRIu64, p->bytes, (uint64_t)(p->objects * HPX_TIMELINE_SHARES + 0.5));
        break;
    case HPX_TIME_BLOCK:
        put_text(l, " %s %" PRIu32, parts[p->part], owner);
        break;
    case HPX_TIME_CPU:
    case HPX_TIME_GC:
    default:
        break;
    }
    put_class(l, p->class_name);
    end_line(l);
}

/* ---- events ---- */

static int by_time(const void *a, const void *b)
{
    const struct hpx_time_event *x = a, *y = b;
    int order = hpx_order(x->ms, y->ms);
    order = order != 0 ? order : hpx_order(x->thread, y->thread);
    return order != 0 ? order : hpx_order(x->place, y->place);
}

static char *put_number(char *to, char mark, uint64_t n)
{
    *to++ = mark;
    return hpx_digits_decimal(to, n);
}

static void put_event(struct lines *l, const struct hpx_time_event *e)
{
    if (l->n > l->line && l->n - l->line > HPX_TEXT_EXACT_LINE - ITEM_MOST) {
        end_line(l);
    }
    char *to = l->buf + l->n;
    bool begins = l->n == l->line;
    if (begins) { /* each line can be read alone */
        *to++ = 't';
        *to++ = ' ';
        to = put_number(to, '@', e->ms);
        if (l->unit > 1) {
            *to++ = ' ';
            to = put_number(to, '~', l->unit);
        }
    } else if (e->ms != l->ms) {
        *to++ = ' ';
        to = e->ms > l->ms ? put_number(to, '+', e->ms - l->ms) : put_number(to, '@', e->ms);
    }
    if (begins || e->thread != l->thread) {
        *to++ = ' ';
        to = put_number(to, '#', e->thread == 0 ? 0 : HPX_SERIAL_THREAD + e->thread);
    }
    to = put_number(to, ' ', e->place);
    if (e->count != 1 || e->ns > 0) {
        to = put_number(to, '*', e->count);
    }
    if (e->ns > 0) {
        to = put_number(to, '/', e->ns);
    }
    l->n = (size_t)(to - l->buf);
    l->ms = e->ms;
    l->thread = e->thread;
}

/* Sorts n events, and writes the first `most`; equal ones as one. */
static void put_some(struct lines *l, struct hpx_time_event *of, size_t n, size_t most)
{
    size_t i = 0;
    qsort(of, n, sizeof of[0], by_time);
    while (i < most) {
        struct hpx_time_event e = of[i++];
        for (; i < most && by_time(&e, &of[i]) == 0; i++) {
            e.count += of[i].count;
            e.ns += of[i].ns;
        }
        put_event(l, &e);
    }
    memmove(of, of + most, (n - most) * sizeof of[0]);
}

static void put_events(struct lines *l, const struct hpx_time_store *s, struct hpx_time_event *of)
{
    struct hpx_time_reader r = hpx_time_store_read(s);
    size_t n = 0;
    l->unit = 1;
    for (struct hpx_time_event e; hpx_time_next(&r, &e);) {
        uint64_t unit = hpx_time_unit(&r);
        if (unit != l->unit) {
            put_some(l, of, n, n);
            end_line(l);
            n = 0;
            l->unit = unit;
        }
        e.ms -= e.ms % HPX_TIMELINE_STEP;
        of[n++] = e;
        if (n == SORTED) {
            put_some(l, of, n, n / 2);
            n -= n / 2;
        }
    }
    put_some(l, of, n, n);
    end_line(l);
}

static void put_begin(struct lines *l, const struct hpx_timeline_snapshot *s)
{
    put_text(l,
             HPX_TIMELINE_BEGIN "zero = %" PRIu64 ", end = %" PRIu64 ", places = %" PRIu32 ", events = %" PRIu64 ", coarse = %" PRIu64 ")",
             s->zero_ms, s->end_ms, s->nplaces, s->events.events, s->events.coarse_ms);
    end_line(l);
}

/* The traces first: nothing may stand between the lines. */
static void put_all(struct lines *l, struct hpx_timeline_snapshot *s, struct hpx_time_event *of, uint32_t *traces)
{
    for (uint32_t i = 0; i < s->nplaces; i++) {
        traces[2 * (size_t)i] = trace_of(l, s->places[i].trace);
        traces[2 * (size_t)i + 1] = trace_of(l, s->places[i].owner);
    }
    if (l->text != NULL) {
        hpx_out_room_parts(l->text->out, s->events.bytes * 3 + HPX_SECTION_ROOM);
    }
    begin_piece(l);
    put_begin(l, s);
    for (uint32_t i = 0; i < s->nplaces; i++) {
        put_place(l, &s->places[i], traces[2 * (size_t)i], traces[2 * (size_t)i + 1]);
    }
    if (s->events.events > 0) {
        put_events(l, &s->events, of);
    }
    put_text(l, "%s", HPX_TIMELINE_END);
    end_line(l);
    flush(l, true);
}

static void put_timeline(struct lines *l, struct hpx_timeline_snapshot *s, struct hpx_bound *bound, const struct hpx_out *o)
{
    if (!s->taken) {
        return; /* a part without an event has its begin and its end, so that it is known to have times */
    }
    l->buf = malloc((size_t)HEAD + PIECE + 2 * (size_t)HPX_TEXT_EXACT_LINE + 6 * (size_t)NAME_MOST);
    struct hpx_time_event *of = malloc(SORTED * sizeof *of);
    uint32_t *traces = malloc(2 * (size_t)s->nplaces * sizeof *traces + 1);
    if (l->buf != NULL && of != NULL && traces != NULL) {
        put_all(l, s, of, traces);
    } else {
        hpx_warn("timeline=y: no memory for TIMELINE; this dump lacks it; raise the memory limit of the process");
    }
    if (bound != NULL) {
        hpx_bound_skip(bound, o);
    }
    free(l->buf);
    free(of);
    free(traces);
}

void hpx_ascii_timeline(struct hpx_ascii *w, struct hpx_timeline_snapshot *s)
{
    struct lines l = {.text = w};
    (void)hpx_out_record(w->out); /* a section before it */
    put_timeline(&l, s, w->bound, w->out);
}

void hpx_binary_timeline(struct hpx_binary *w, struct hpx_timeline_snapshot *s)
{
    struct lines l = {.binary = w};
    put_timeline(&l, s, w->bound, w->out);
}
