/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_ascii.c: the records of the text format. */
#include "hprof_ascii.h"
#include "rows.h"
#include "text.h"
#include "thread_table.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* No line of it begins as a record does, and none holds the words that readers search the whole file for. */
static const char explanation[] = "A profile of a Java program, made by hprofx in the text format of HPROF. The records\n"
                                  "stand behind the line of eight dashes and begin at the start of a line:\n"
                                  "\n"
                                  "  THREAD START   A Java thread began. id is its number in this file; obj names its\n"
                                  "                 Thread object.\n"
                                  "  THREAD END     The thread of this number ended.\n"
                                  "  TRACE          A stack, innermost method first, with source file and line; at most\n"
                                  "                 as many frames as the option depth allows. With thread=y it belongs\n"
                                  "                 to one thread. A trace stands once in the file, before the first\n"
                                  "                 table that has a row for it.\n"
                                  "  CPU SAMPLES    Where CPU time went. Each time that a thread has used as much of it\n"
                                  "                 as the option interval says (10 ms when not given), one sample is\n"
                                  "                 counted for the stack that runs. A thread that sleeps, waits or is\n"
                                  "                 blocked uses none and is not counted. Where the system's timers are\n"
                                  "                 coarser than the interval, one signal counts for all the intervals\n"
                                  "                 that have passed.\n"
                                  "  CPU TIME (ms)  The CPU time of each method between its entry and its return, without\n"
                                  "                 that of the methods it called, as far as these were counted too. Each\n"
                                  "                 call counts when it returns; one that has not is in no row yet. The\n"
                                  "                 total is in milliseconds.\n"
                                  "\n"
                                  "In the tables, count is the number of samples or calls of the trace in that row, self\n"
                                  "its part of the samples or of the time in percent of the total, accum the percentage of\n"
                                  "this row and all above it, and method the innermost one. The total is that of all\n"
                                  "traces; the option cutoff ends the list at the first row whose share is below it, so\n"
                                  "the last accum tells how much is shown. Counts and times begin at zero again after each\n"
                                  "dump.\n"
                                  "\n"
                                  "A method of the class hprofx.unknown stands for samples whose stack could not be read;\n"
                                  "its name is the reason. In names, controls are written as \\n, \\r, \\t or \\uXXXX; in the\n"
                                  "quoted names of threads a quote and a backslash have a backslash before them. Lines that\n"
                                  "begin with the word hprofx and a colon, behind the end of a dump, say how it was made and\n"
                                  "what is missing.\n"
                                  "\n";

void hpx_ascii_init(struct hpx_ascii *w, struct hpx_out *o)
{
    memset(w, 0, sizeof(*w));
    w->out = o;
    hpx_method_texts_init(&w->methods);
}

void hpx_ascii_fini(struct hpx_ascii *w)
{
    hpx_seen_fini(&w->written);
    hpx_seen_fini(&w->begun);
    hpx_method_texts_fini(&w->methods);
}

/* As ctime(), which would share a buffer with the program. */
static void put_date(struct hpx_out *o, time_t at)
{
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm t;
    if (localtime_r(&at, &t) == NULL) {
        t = (struct tm){.tm_mday = 1, .tm_year = 70, .tm_wday = 4}; /* the epoch, for a time whose year is no int */
    }
    hpx_out_printf(o, "%s %s%3d %.2d:%.2d:%.2d %d\n", days[t.tm_wday], months[t.tm_mon], t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec,
                   1900 + t.tm_year);
}

void hpx_ascii_header(struct hpx_ascii *w, time_t created)
{
    hpx_out_str(w->out, "JAVA PROFILE 1.0.1, created ");
    put_date(w->out, created);
    hpx_out_char(w->out, '\n');
    hpx_out_str(w->out, explanation);
    hpx_out_str(w->out, "--------\n\n");
    (void)hpx_out_record(w->out);
}

void hpx_ascii_thread_start(struct hpx_ascii *w, const struct hpx_thread_rec *t)
{
    hpx_out_printf(w->out, "THREAD START (obj=%" PRIx32 ", id = %" PRIu32 ", name=\"", t->object, t->serial);
    hpx_text_put(w->out, t->name, true);
    hpx_out_str(w->out, "\", group=\"");
    hpx_text_put(w->out, t->group, true);
    hpx_out_str(w->out, "\")\n");
    if (hpx_out_record(w->out) && w->out->record != NULL) {
        (void)hpx_seen_add(&w->begun, t->serial - HPX_SERIAL_THREAD);
    }
}

void hpx_ascii_thread_end(struct hpx_ascii *w, const struct hpx_thread_rec *t)
{
    if (w->out->record != NULL && !hpx_seen_has(&w->begun, t->serial - HPX_SERIAL_THREAD)) {
        return; /* its start is not in the stream */
    }
    hpx_out_printf(w->out, "THREAD END (id = %" PRIu32 ")\n", t->serial);
    (void)hpx_out_record(w->out);
}

/* The thread's line is in the output afterwards. */
static bool begin_thread(struct hpx_ascii *w, uint32_t serial)
{
    static const struct hpx_text name = {"<unknown thread>", 16};
    if (w->out->record == NULL || serial <= HPX_SERIAL_THREAD || hpx_seen_has(&w->begun, serial - HPX_SERIAL_THREAD)) {
        return true;
    }
    const struct hpx_thread_rec gone = {.serial = serial, .object = HPX_OBJECT_FIRST - 1 + (serial - HPX_SERIAL_THREAD), .name = name};
    const struct hpx_thread_rec *known = w->living != NULL ? w->living(serial) : NULL;
    hpx_ascii_thread_start(w, known != NULL ? known : &gone);
    return hpx_seen_has(&w->begun, serial - HPX_SERIAL_THREAD);
}

static void put_method(struct hpx_out *o, const struct hpx_method_rec *m)
{
    hpx_text_put(o, m->class_name, false);
    hpx_out_char(o, '.');
    if (m->name.len > 0) {
        hpx_text_put(o, m->name, false);
    } else {
        hpx_out_str(o, HPX_UNKNOWN_METHOD);
    }
}

static unsigned digits_of(uint64_t v)
{
    unsigned n = 1;
    for (; v >= 10000; v /= 10000) {
        n += 4;
    }
    return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

/* Decimal digits, at least `width` characters with blanks before them. Returns the place behind: printf takes most of a table's time. */
static char *put_number(char *to, uint64_t v, unsigned width)
{
    static const char pairs[] = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
                                "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
    unsigned n = digits_of(v);
    for (; width > n; width--) {
        *to++ = ' ';
    }
    char *at = to + n;
    for (; v >= 10; v /= 100) {
        memcpy(at -= 2, pairs + v % 100 * 2, 2);
    }
    if (at > to) {
        *to = (char)('0' + v);
    }
    return to + n;
}

static char *put_literal(char *to, const char *s)
{
    return stpcpy(to, s);
}

static void put_frame(struct hpx_out *o, const struct hpx_frame_rec *f)
{
    hpx_out_char(o, '\t');
    put_method(o, f->method);
    hpx_out_char(o, '(');
    if (f->method->source.len > 0) {
        hpx_text_put(o, f->method->source, false);
    } else {
        hpx_out_str(o, HPX_UNKNOWN_SOURCE);
    }
    if (f->line > 0) {
        hpx_out_printf(o, ":%" PRId32 ")\n", f->line);
    } else {
        hpx_out_str(o, ":Unknown line)\n");
    }
}

static void put_frames(struct hpx_ascii *w, const struct hpx_frame_rec *f, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct hpx_method_text *m = hpx_method_text(&w->methods, f[i].method);
        if (m == NULL) {
            put_frame(w->out, &f[i]);
            continue;
        }
        char *to = hpx_out_piece(w->out);
        *to++ = '\t';
        to = hpx_method_text_copy(to, m->bytes, m->len);
        to = f[i].line > 0 ? put_number(to, (uint32_t)f[i].line, 0) : put_literal(to, "Unknown line");
        hpx_out_filled(w->out, put_literal(to, ")\n"));
    }
}

static void put_trace(struct hpx_ascii *w, const struct hpx_trace_rec *t)
{
    char *to = put_number(put_literal(hpx_out_piece(w->out), "TRACE "), t->serial, 0);
    *to++ = ':';
    if (t->thread != 0) {
        to = put_literal(put_number(put_literal(to, " (thread="), t->thread, 0), ")");
    }
    *to++ = '\n';
    hpx_out_filled(w->out, to);
    put_frames(w, t->frames, t->nframes);
    if (t->nframes == 0) {
        hpx_out_str(w->out, "\t<empty>\n");
    }
}

static int by_serial(const struct hpx_trace_rec *x, const struct hpx_trace_rec *y)
{
    return (x->serial > y->serial) - (x->serial < y->serial);
}

static int by_calls(const void *a, const void *b)
{
    const struct hpx_call_row *x = a;
    const struct hpx_call_row *y = b;
    if (x->calls != y->calls) {
        return x->calls > y->calls ? -1 : 1;
    }
    return by_serial(x->trace, y->trace);
}

static int by_self(const void *a, const void *b)
{
    const struct hpx_call_row *x = a;
    const struct hpx_call_row *y = b;
    if (x->self_ns != y->self_ns) {
        return x->self_ns > y->self_ns ? -1 : 1;
    }
    return by_calls(a, b);
}

/* Not 0 / 0: that is a share of 0 percent, but below no cutoff. */
static double percent(uint64_t part, uint64_t total)
{
    return total > 0 ? (double)part * 100.0 / (double)total : 0.0;
}

static bool below(uint64_t part, uint64_t total, double cutoff)
{
    return (double)part / (double)total < cutoff;
}

#define TRACE_ROOM   ((size_t)64 << 10) /* asked for before each TRACE */
#define FRAME_ROOM   512u               /* for each of its frames, mostly much less */
#define ROW_ROOM     160u               /* of a row, mostly */
#define SECTION_ROOM ((size_t)20 << 10) /* of the rest of a section, and its report */

/* The trace is in the output afterwards. Without memory for the bit it is written again: a second definition of the same serial says the
 * same. */
static bool put_new_trace(struct hpx_ascii *w, const struct hpx_trace_rec *t)
{
    if (t->serial >= HPX_SERIAL_TRACE && hpx_seen_has(&w->written, t->serial - HPX_SERIAL_TRACE)) {
        return true;
    }
    hpx_out_room(w->out, TRACE_ROOM + (size_t)t->nframes * FRAME_ROOM);
    if (!begin_thread(w, t->thread)) {
        return false;
    }
    put_trace(w, t);
    if (!hpx_out_record(w->out)) {
        return false;
    }
    if (t->serial >= HPX_SERIAL_TRACE) {
        (void)hpx_seen_add(&w->written, t->serial - HPX_SERIAL_TRACE);
    }
    return true;
}

static void begin_table(struct hpx_out *o, const char *title, uint64_t total, time_t now, bool any)
{
    hpx_out_printf(o, "%s BEGIN (total = %" PRIu64 ") ", title, total);
    put_date(o, now);
    if (any) {
        hpx_out_str(o, "rank   self  accum   count trace method\n");
    }
}

/* As printf's "%5.2f%%", which rounds the exact binary value: NULL where that may be near the middle of two results. */
static char *put_percent(char *to, uint64_t part, uint64_t total)
{
    double share = percent(part, total), hundredths = share * 100;
    uint64_t whole = (uint64_t)hundredths;
    double rest = hundredths - (double)whole; /* at most 10000, so wrong by 10^-12 */
    if (rest > 0.499999 && rest < 0.500001) {
        return NULL;
    }
    whole += rest > 0.5;
    to = put_number(to, whole / 100, 2);
    *to++ = '.';
    *to++ = (char)('0' + whole / 10 % 10);
    *to++ = (char)('0' + whole % 10);
    *to++ = '%';
    return to;
}

/* Of the row whose trace is t what stands before the method. NULL: as put_percent(). */
static char *put_figures(char *to, uint32_t rank, uint64_t self, uint64_t sum, uint64_t total, uint64_t count, uint32_t serial)
{
    to = put_number(to, rank, 4);
    *to++ = ' ';
    to = put_percent(to, self, total);
    if (to == NULL) {
        return NULL;
    }
    *to++ = ' ';
    to = put_percent(to, sum, total);
    if (to == NULL) {
        return NULL;
    }
    *to++ = ' ';
    to = put_number(to, count, 7);
    *to++ = ' ';
    to = put_number(to, serial, 5);
    *to++ = ' ';
    return to;
}

static void put_row_method(struct hpx_ascii *w, const struct hpx_trace_rec *t)
{
    const struct hpx_method_text *m = t->nframes > 0 ? hpx_method_text(&w->methods, t->frames[0].method) : NULL;
    if (m != NULL) {
        char *to = hpx_method_text_copy(hpx_out_piece(w->out), m->bytes, m->callable);
        *to++ = '\n';
        hpx_out_filled(w->out, to);
        return;
    }
    if (t->nframes > 0) {
        put_method(w->out, t->frames[0].method);
    } else {
        hpx_out_str(w->out, "<empty trace>");
    }
    hpx_out_char(w->out, '\n');
}

/* sum: of this row and those above: accum does not come from rounded shares, so it ends at 100.00 when nothing is cut off. */
static void put_row(struct hpx_ascii *w, uint32_t rank, uint64_t self, uint64_t sum, uint64_t total, uint64_t count,
                    const struct hpx_trace_rec *t)
{
    char *to = put_figures(hpx_out_piece(w->out), rank, self, sum, total, count, t->serial);
    if (to != NULL) {
        hpx_out_filled(w->out, to);
    } else {
        hpx_out_printf(w->out, "%4" PRIu32 " %5.2f%% %5.2f%% %7" PRIu64 " %5" PRIu32 " ", rank, percent(self, total), percent(sum, total),
                       count, t->serial);
    }
    put_row_method(w, t);
}

void hpx_ascii_cpu_samples(struct hpx_ascii *w, struct hpx_snapshot *s, double cutoff, time_t now)
{
    uint32_t ranked = hpx_rows_rank(s, cutoff), shown = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ranked; i++) {
        hpx_rows_ahead(s->rows, ranked, i, HPX_ROWS_DEEP);
        if (put_new_trace(w, s->rows[i].trace)) {
            s->rows[shown++] = s->rows[i];
        }
    }
    hpx_out_room_parts(w->out, SECTION_ROOM + (size_t)shown * ROW_ROOM);
    begin_table(w->out, "CPU SAMPLES", s->total, now, shown > 0);
    for (uint32_t i = 0; i < shown; i++) {
        const struct hpx_row *r = &s->rows[i];
        hpx_rows_ahead(s->rows, shown, i, HPX_ROWS_FLAT);
        sum += r->count;
        put_row(w, i + 1, r->count, sum, s->total, r->count, r->trace);
        hpx_out_part(w->out, i + 1 == shown);
    }
    hpx_out_str(w->out, "CPU SAMPLES END\n");
}

static uint64_t whole_ms(uint64_t ns)
{
    return ns / 1000000 + (ns % 1000000 >= 500000);
}

void hpx_ascii_cpu_times(struct hpx_ascii *w, struct hpx_call_snapshot *s, double cutoff, time_t now)
{
    uint32_t shown = 0;
    uint64_t sum = 0;
    (void)hpx_out_record(w->out); /* a section before it */
    if (s->nrows > 1) {
        qsort(s->rows, s->nrows, sizeof(s->rows[0]), by_self);
    }
    for (uint32_t i = 0; i < s->nrows && !below(s->rows[i].self_ns, s->self_ns, cutoff); i++) {
        if (put_new_trace(w, s->rows[i].trace)) {
            s->rows[shown++] = s->rows[i];
        }
    }
    hpx_out_room_parts(w->out, SECTION_ROOM + (size_t)shown * ROW_ROOM);
    begin_table(w->out, "CPU TIME (ms)", whole_ms(s->self_ns), now, shown > 0);
    for (uint32_t i = 0; i < shown; i++) {
        const struct hpx_call_row *r = &s->rows[i];
        sum += r->self_ns;
        put_row(w, i + 1, r->self_ns, sum, s->self_ns, r->calls, r->trace);
        hpx_out_part(w->out, i + 1 == shown);
    }
    hpx_out_str(w->out, "CPU TIME (ms) END\n");
}

static void put_callable(struct hpx_out *o, const struct hpx_trace_rec *t, uint32_t frame, const char *missing)
{
    if (frame < t->nframes) {
        put_method(o, t->frames[frame].method);
        hpx_text_put(o, t->frames[frame].method->signature, false);
    } else {
        hpx_out_str(o, missing);
    }
}

void hpx_ascii_cpu_old(struct hpx_ascii *w, struct hpx_call_snapshot *s)
{
    struct hpx_out *o = w->out;
    (void)hpx_out_record(o); /* a section before it */
    if (s->nrows > 1) {
        qsort(s->rows, s->nrows, sizeof(s->rows[0]), by_calls);
    }
    hpx_out_room_parts(o, SECTION_ROOM + (size_t)s->nrows * 2 * ROW_ROOM);
    hpx_out_str(o, "count callee caller time\n");
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct hpx_call_row *r = &s->rows[i];
        hpx_out_printf(o, "%" PRIu64 " ", r->calls);
        put_callable(o, r->trace, 0, "<unknown callee>");
        hpx_out_char(o, ' ');
        put_callable(o, r->trace, 1, "<unknown caller>");
        hpx_out_printf(o, " %" PRIu64 "\n", whole_ms(r->total_ns));
        hpx_out_part(w->out, i + 1 == s->nrows);
    }
}

void hpx_ascii_report(struct hpx_ascii *w, const char *text)
{
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        hpx_text_put(w->out, (struct hpx_text){text, (uint32_t)n}, false);
        hpx_out_char(w->out, '\n');
        text += n;
        text += *text == '\n';
    }
    (void)hpx_out_record(w->out);
}

void hpx_ascii_traces(struct hpx_ascii *w, struct hpx_snapshot *s)
{
    (void)hpx_rows_rank(s, 0); /* equal counts: by serial */
    for (uint32_t i = 0; i < s->nrows; i++) {
        (void)put_new_trace(w, s->rows[i].trace);
    }
}
