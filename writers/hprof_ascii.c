/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_ascii.c: the records of the text format. */
#include "hprof_ascii.h"
#include "hprof_format.h"
#include "log.h"
#include "text.h"
#include <inttypes.h>
#include <string.h>

/* No line of it begins as a record does, and none holds the words that readers search the whole file for. */
static const char explanation[] = "A profile of a Java program, written by hprofx in the text format of HPROF. The\n"
                                  "records follow the line of eight dashes and begin at the start of a line:\n"
                                  "\n"
                                  "  THREAD START   A Java thread started. id is its number in this file; obj names its\n"
                                  "                 Thread object.\n"
                                  "  THREAD END     The thread with this number ended.\n"
                                  "  TRACE          A stack, innermost method first, with source file and line, at most\n"
                                  "                 depth frames (an option). With thread=y it belongs to one thread. A\n"
                                  "                 trace appears once in the file, before the first table that has a\n"
                                  "                 row for it.\n"
                                  "  WAIT, WAITED   A thread began to wait in Object.wait, or stopped waiting. The class is\n"
                                  "                 that of the monitor, times are in milliseconds, a timeout of 0 is none.\n"
                                  "  MONITOR DUMP   Every thread with its stack and status: R runs or is ready to run, SL\n"
                                  "                 sleeps, MW is blocked by a monitor that another thread owns, CW waits\n"
                                  "                 to be notified or is parked, NS has not started, ZO has ended, UN is\n"
                                  "                 not known. Before it: S suspended, intr interrupted, native in native\n"
                                  "                 code. Then the monitors that threads own or wait for.\n"
                                  "  DEADLOCKS      Threads that wait for each other in a circle.\n"
                                  "  MONITOR TIME   How long threads were blocked by monitors that others owned. A row is\n"
                                  "                 the class of the monitor and the stack of the blocked thread; in\n"
                                  "                 MONITOR OWNERS also the stack of the owner. WAIT TIME, LOCK TIME and\n"
                                  "                 PINNED TIME are the same for Object.wait, for LockSupport.park (by the\n"
                                  "                 class of the lock), and for virtual threads that kept their carrier.\n"
                                  "  HEAP DUMP      Every object that the program can reach: ROOT lines say what keeps\n"
                                  "                 objects alive, OBJ and ARR are objects and arrays with the stack\n"
                                  "                 that allocated them and the references in them, CLS are classes.\n"
                                  "  SITES          Where objects were allocated, how many, and how many of them were\n"
                                  "                 live at the last garbage collection; bytes as the VM counts them. A\n"
                                  "                 row is a class and a stack.\n"
                                  "  CPU SAMPLES    Where CPU time went. Every time a thread has used another interval\n"
                                  "                 of CPU time (an option, default 10 ms), its current stack gets one\n"
                                  "                 sample. A thread that sleeps, waits or is blocked has none.\n"
                                  "  WALL CLOCK     The time of all threads in ms, by stack, state and class of what\n"
                                  "                 they wait for: running on a CPU, runnable without one, blocked by a\n"
                                  "                 monitor, waiting in Object.wait, parked, sleeping, io (socket or\n"
                                  "                 file), native (other native code).\n"
                                  "  CPU TIME (ms)  The CPU time of every method between entry and return, without the\n"
                                  "                 time of the counted methods that it called. A call counts when it\n"
                                  "                 returns.\n"
                                  "  METHOD CALLS   How often every method was called; a call counts when it begins.\n"
                                  "\n"
                                  "In the tables, count is the number of samples or calls of the trace in that row, or how\n"
                                  "often threads were blocked; self is its share of the total in percent, accum the share\n"
                                  "of this row and all rows above it, and method the innermost one. The total covers all\n"
                                  "traces; the option cutoff ends the list at the first row whose share is below it, so\n"
                                  "the last accum tells how much is shown.\n" HPX_TEXT_SINCE "\n"
                                  "\n";
static const char explanation_of_names[] = "A method of the class hprofx.unknown stands for samples whose stack could not be read;\n"
                                           "its name is the reason. hprofx.truncated stands for the frames of a stack that could not\n"
                                           "be read. hprofx.stalled is CPU time in which no sample could be taken.\n"
                                           "hprofx.summed is the sum of the smallest rows, if the file would be larger than the\n"
                                           "option maxfile lets it become.\n"
                                           "In names, control characters are written as \\n, \\r, \\t or \\uXXXX; in the quoted names\n"
                                           "of threads, quotes and backslashes have a backslash before them. Lines that begin with\n"
                                           "the word hprofx and a colon say how a dump was made and what is missing, and the newest\n"
                                           "name of a thread that has renamed itself.\n"
                                           "\n";

void hpx_ascii_init(struct hpx_ascii *w, struct hpx_out *o)
{
    memset(w, 0, sizeof(*w));
    w->out = o;
    hpx_method_texts_init(&w->methods);
}

void hpx_ascii_fini(struct hpx_ascii *w)
{
    hpx_bitset_fini(&w->written);
    hpx_bitset_fini(&w->begun);
    w->first_written = false;
    hpx_method_texts_fini(&w->methods);
}

/* As ctime(), which would share a buffer with the program. */
void hpx_ascii_date(struct hpx_out *o, time_t at)
{
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm t = {.tm_mday = 1, .tm_year = 70, .tm_wday = 4}; /* the epoch, for a time whose year is no int */
    (void)localtime_r(&at, &t);
    hpx_out_printf(o, "%s %s%3d %.2d:%.2d:%.2d %d\n", days[t.tm_wday], months[t.tm_mon], t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec,
                   1900 + t.tm_year);
}

void hpx_ascii_header(struct hpx_ascii *w, time_t created)
{
    hpx_out_str(w->out, "JAVA PROFILE 1.0.1, created ");
    hpx_ascii_date(w->out, created);
    hpx_out_char(w->out, '\n');
    hpx_out_str(w->out, explanation);
    hpx_out_str(w->out, explanation_of_names);
    hpx_out_str(w->out, "--------\n\n");
    (void)hpx_out_record(w->out);
}

/* once: a later call could write the line again, were it not remembered. */
static void put_start(struct hpx_ascii *w, const struct hpx_thread_rec *t, bool once)
{
    if (!hpx_bitset_reserve(&w->begun, t->serial - HPX_SERIAL_THREAD) && once) {
        return;
    }
    hpx_out_printf(w->out, "THREAD START (obj=%" PRIx32 ", id = %" PRIu32 ", name=\"", t->object, t->serial);
    hpx_text_put(w->out, t->name, true);
    hpx_out_str(w->out, "\", group=\"");
    hpx_text_put(w->out, t->group, true);
    hpx_out_str(w->out, "\")\n");
    if (hpx_out_record(w->out)) {
        (void)hpx_bitset_add(&w->begun, t->serial - HPX_SERIAL_THREAD);
    }
}

void hpx_ascii_thread_start(struct hpx_ascii *w, const struct hpx_thread_rec *t)
{
    put_start(w, t, w->late || w->out->record != NULL);
}

void hpx_ascii_thread_found(struct hpx_ascii *w, const struct hpx_thread_rec *t)
{
    put_start(w, t, true);
}

bool hpx_ascii_has_thread(const struct hpx_ascii *w, uint32_t serial, bool announced)
{
    return serial <= HPX_SERIAL_THREAD || (announced && !w->late && w->out->record == NULL) ||
           hpx_bitset_has(&w->begun, serial - HPX_SERIAL_THREAD);
}

void hpx_ascii_thread_end(struct hpx_ascii *w, const struct hpx_thread_rec *t)
{
    if (!hpx_ascii_has_thread(w, t->serial, true)) {
        return; /* its start is not in the stream */
    }
    hpx_out_printf(w->out, "THREAD END (id = %" PRIu32 ")\n", t->serial);
    (void)hpx_out_record(w->out);
}

void hpx_ascii_thread_name(struct hpx_ascii *w, const struct hpx_thread_rec *t)
{
    if (!hpx_ascii_has_thread(w, t->serial, true)) {
        return;
    }
    hpx_out_printf(w->out, HPX_THREAD_NAME "%" PRIu32 ": \"", t->serial);
    hpx_text_put(w->out, t->newest, true);
    hpx_out_str(w->out, "\"\n");
    (void)hpx_out_record(w->out);
}

/* The thread's line is in the output afterwards. */
bool hpx_ascii_thread(struct hpx_ascii *w, uint32_t serial)
{
    static const struct hpx_text name = {"<unknown thread>", 16};
    if (hpx_ascii_has_thread(w, serial, true)) {
        return true;
    }
    const struct hpx_thread_rec gone = {.serial = serial, .object = HPX_OBJECT_FIRST - 1 + (serial - HPX_SERIAL_THREAD), .name = name};
    const struct hpx_thread_rec *known = w->live_thread != NULL ? w->live_thread(serial) : NULL;
    hpx_ascii_thread_start(w, known != NULL ? known : &gone);
    if (known != NULL && known->newest.bytes != NULL) {
        hpx_ascii_thread_name(w, known);
    }
    return hpx_ascii_has_thread(w, serial, true);
}

void hpx_ascii_name(struct hpx_out *o, const struct hpx_method_rec *m)
{
    hpx_text_put(o, m->class_name, false);
    hpx_out_char(o, '.');
    if (m->name.len > 0) {
        hpx_text_put(o, m->name, false);
    } else {
        hpx_out_str(o, HPX_UNKNOWN_METHOD);
    }
}

/* printf would take most of the time of a deep trace. */
static char *put_line(char *to, uint32_t line)
{
    char digits[10], *at = digits + sizeof(digits);
    do {
        *--at = (char)('0' + line % 10);
        line /= 10;
    } while (line > 0);
    return mempcpy(to, at, (size_t)(digits + sizeof(digits) - at));
}

static void put_frame(struct hpx_out *o, const struct hpx_frame_rec *f)
{
    hpx_out_char(o, '\t');
    hpx_ascii_name(o, f->method);
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
        to = mempcpy(to, m->bytes, m->len);
        to = f[i].line > 0 ? put_line(to, (uint32_t)f[i].line) : stpcpy(to, "Unknown line");
        hpx_out_filled(w->out, stpcpy(to, ")\n"));
    }
}

static void put_trace(struct hpx_ascii *w, const struct hpx_trace_rec *t)
{
    if (t->thread != 0) {
        hpx_out_printf(w->out, "TRACE %" PRIu32 ": (thread=%" PRIu32 ")\n", t->serial, t->thread);
    } else {
        hpx_out_printf(w->out, "TRACE %" PRIu32 ":\n", t->serial);
    }
    put_frames(w, t->frames, t->nframes);
    if (t->nframes == 0) {
        hpx_out_str(w->out, "\t<empty>\n");
    }
}

#define TRACE_ROOM ((size_t)64 << 10) /* asked for before each TRACE */
#define FRAME_ROOM 512u               /* for each of its frames, mostly much less */

/* The empty trace is not remembered there. */
static uint32_t mark_of(const struct hpx_trace_rec *t)
{
    return t->serial == HPX_SERIAL_SUMMED ? 0 : t->serial - HPX_SERIAL_TRACE;
}

static bool is_marked(const struct hpx_trace_rec *t)
{
    return t->serial > HPX_SERIAL_TRACE || t->serial == HPX_SERIAL_SUMMED;
}

static bool has_trace(const struct hpx_ascii *w, const struct hpx_trace_rec *t)
{
    return is_marked(t) ? hpx_bitset_has(&w->written, mark_of(t)) : t->serial == HPX_SERIAL_TRACE && w->first_written;
}

bool hpx_ascii_reserve(struct hpx_ascii *w, uint32_t thread, const struct hpx_trace_rec *t)
{
    return (thread <= HPX_SERIAL_THREAD || hpx_bitset_reserve(&w->begun, thread - HPX_SERIAL_THREAD)) &&
           (t == NULL || !is_marked(t) || hpx_bitset_reserve(&w->written, mark_of(t))) &&
           (t == NULL || t->thread <= HPX_SERIAL_THREAD || hpx_bitset_reserve(&w->begun, t->thread - HPX_SERIAL_THREAD));
}

bool hpx_ascii_trace(struct hpx_ascii *w, const struct hpx_trace_rec *t)
{
    if (has_trace(w, t)) {
        return true;
    }
    if (!hpx_ascii_reserve(w, 0, t)) {
        w->unplaced++;
        return false;
    }
    hpx_out_room(w->out, TRACE_ROOM + (size_t)t->nframes * FRAME_ROOM);
    if (!hpx_ascii_thread(w, t->thread)) {
        return false;
    }
    put_trace(w, t);
    if (!hpx_out_record(w->out)) {
        return false;
    }
    if (is_marked(t)) {
        (void)hpx_bitset_add(&w->written, mark_of(t));
    }
    w->first_written = w->first_written || t->serial == HPX_SERIAL_TRACE;
    return true;
}

void hpx_ascii_method(struct hpx_ascii *w, const struct hpx_trace_rec *t)
{
    if (t->nframes == 0) {
        hpx_out_str(w->out, "<empty trace>\n");
        return;
    }
    const struct hpx_method_text *m = hpx_method_text(&w->methods, t->frames[0].method);
    if (m != NULL) {
        char *to = mempcpy(hpx_out_piece(w->out), m->bytes, m->callable);
        *to++ = '\n';
        hpx_out_filled(w->out, to);
        return;
    }
    hpx_ascii_name(w->out, t->frames[0].method);
    hpx_out_char(w->out, '\n');
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

void hpx_ascii_dump_end(struct hpx_ascii *w)
{
    if (w->unplaced > 0) {
        hpx_warn("format=a: no memory for %" PRIu64
                 " stacks; this dump lacks the rows that name them; raise the memory limit of the process",
                 w->unplaced);
        w->unplaced = 0;
    }
}
