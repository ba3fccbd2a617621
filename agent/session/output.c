/* SPDX-License-Identifier: BSD-2-Clause */
/* output.c: the writer's thread of output.h. */
#include "output.h"
#include "clock.h"
#include "journal.h"
#include "live_threads.h"
#include "log.h"
#include "net.h"
#include "out_file.h"
#include "spawn.h"
#include "stream.h"
#include <errno.h>
#include <limits.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MSG_THREAD_START = 1,
    MSG_THREAD_END,
    MSG_CLASS_LOAD,
    MSG_CLASS_UNLOAD,
    MSG_LINE,
    MSG_SPLIT,
    MSG_DUMP,
    MSG_JOURNAL_BEGIN,
    MSG_JOURNAL,
    MSG_END
};

struct msg_thread {
    struct hpx_msg m;
    uint64_t at;               /* hpx_clock_mono(), with format=b */
    struct hpx_thread_rec rec; /* its texts: behind */
    char text[];
};
struct msg_class {
    struct hpx_msg m;
    uint64_t at;
    struct hpx_class_rec rec; /* its name: behind */
    char text[];
};
struct msg_line {
    struct hpx_msg m;
    const struct hpx_mode *mode;
    _Alignas(max_align_t) char data[];
};
struct msg_split {
    struct hpx_msg m;
    struct timespec wall;
    uint64_t mono;
};
struct msg_dump {
    struct hpx_msg m;
    struct hpx_parts parts;
    struct hpx_snapshot *traces;
    struct hpx_dump_request request;
    struct hpx_report report;
};
struct msg_journal {
    struct hpx_msg m;
    struct hpx_parts parts;
};
struct msg_end {
    struct hpx_msg m;
    bool reported;
    struct hpx_report report;
};

static struct {
    struct hpx_lane lane;
    struct hpx_stream main;  /* the thread's, once it runs: what the options name */
    struct hpx_stream split; /* the thread's: a dump's own file, split=y */
    struct timespec wall;    /* of the header, and the same moment by the other clock; the thread's */
    uint64_t mono;
    struct hpx_stream *now;     /* the thread's: which of the two what comes is for */
    uint32_t nsplit;            /* the thread's: files written with split=y */
    uint64_t split_lost;        /* the thread's: bytes that those have not */
    struct msg_end *end;        /* the aggregator's: made at load, as the end must always come */
    struct msg_dump *spare;     /* the aggregator's: the last dump's, when there is no memory for a message */
    char text[HPX_REPORT_TEXT]; /* the thread's */
    sem_t done;                 /* posted after MSG_END was carried out */
    atomic_bool lacks;          /* relaxed: set by the reading thread, or before it gets the end message: an output is incomplete */
    atomic_bool journal_waits;  /* relaxed: a hint: a table of the journal is on its way */
    _Atomic uint64_t posted;    /* relaxed: messages */
    _Atomic uint64_t steps;     /* relaxed: of these, carried out */
    _Atomic pid_t tid;          /* relaxed: for the CPU clock only */
} output;

int hpx_output_init(struct hpx_err *err)
{
    static char name[PATH_MAX];
    if (hpx_session.opt.net == NULL && hpx_name_expand(name, sizeof name, hpx_session.opt.file, hpx_session.start) != 0) {
        return hpx_err_set(err, HPX_E_IO, "can't create profile file: %s", hpx_session.opt.file);
    }
    struct hpx_out_file_opts opts = {
        .name = name, .force = hpx_session.opt.force, .gzip = hpx_session.opt.gz, .text = !hpx_session.opt.binary};
    sem_init(&output.done, 0, 0);
    hpx_lane_init(&output.lane);
    output.end = hpx_msg_new(MSG_END, sizeof *output.end);
    output.spare = hpx_msg_new(MSG_DUMP, sizeof *output.spare);
    if (output.end == NULL || output.spare == NULL) {
        return hpx_err_set(err, HPX_E_NOMEM, "no memory for the output");
    }
    output.now = &output.main;
    if (hpx_session.opt.net != NULL) {
        if (hpx_session.opt.split) {
            hpx_warn("split=y: %s is not a regular file; all dumps go there", hpx_session.opt.net);
            hpx_session.opt.split = false;
        }
        if (hpx_session.opt.gz) {
            hpx_warn("gz=y: %s is not a file; the output is not compressed", hpx_session.opt.net);
            hpx_session.opt.gz = false;
        }
        return hpx_net_open(&output.main, &output.lane.wake, err);
    }
    int rc = hpx_out_file_open(&output.main.out, &opts, err);
    if (rc == 0 && hpx_session.opt.split && output.main.out.ops->publish == NULL) {
        hpx_warn("split=y: %s is not a regular file; all dumps go there", hpx_session.opt.file);
        hpx_session.opt.split = false;
    }
    if (rc == 0 && output.main.out.ops->publish != NULL) {
        output.main.out.make_room = hpx_journal_give_up;
        output.main.out.remedy = hpx_journal_remedy;
        hpx_journal_init(hpx_out_file_name(&output.main.out));
        if (hpx_journal_on()) {
            hpx_model_keep_journal(hpx_session.model);
        }
    }
    return rc;
}

static void post(struct hpx_msg *m, bool wake)
{
    atomic_fetch_add_explicit(&output.posted, 1, memory_order_relaxed);
    hpx_lane_post(&output.lane, m, wake);
}

uint64_t hpx_output_behind(void)
{
    uint64_t done = atomic_load_explicit(&output.steps, memory_order_relaxed);
    uint64_t posted = atomic_load_explicit(&output.posted, memory_order_relaxed);
    return posted > done ? posted - done : 0;
}

static void say_left_out(void)
{
    atomic_store_explicit(&output.lacks, true, memory_order_relaxed);
    hpx_warn("%s: no memory for a dump; it is not written; raise the memory limit of the process or lower depth=", hpx_session_modes());
}

static void note_error(const struct hpx_out *o)
{
    if (o->error != 0) {
        atomic_store_explicit(&output.lacks, true, memory_order_relaxed);
    }
}

/* refused: records of this dump that are not in the output; only with net=. */
static void say_done(const struct msg_dump *d, uint64_t refused)
{
    char what[HPX_MODES_MAX * 64] = "";
    size_t len = 0;
    bool missing = false;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        const struct hpx_section *section = hpx_session.modes[i]->section;
        bool shown = d->parts.of[i] != NULL && (section->missing == NULL || !section->missing(d->parts.of[i]));
        const char *title = shown ? section->title() : NULL;
        int n = title == NULL ? 0 : snprintf(what + len, sizeof what - len, " %s ...", title);
        len += n > 0 && (size_t)n < sizeof what - len ? (size_t)n : 0;
        missing = missing || (d->parts.of[i] != NULL && !shown);
    }
    if (missing && len == 0) {
        return;
    }
    if (refused == 0) {
        hpx_say("Dumping%s done.", what);
    } else {
        hpx_say("Dumping%s incomplete: net=%s: %llu of its records were not sent.", what, hpx_session.opt.net, (unsigned long long)refused);
    }
}

static bool has_part(const struct msg_dump *d)
{
    bool has = false;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        has = has || d->parts.of[i] != NULL;
    }
    return has;
}

static void write_dump(struct msg_dump *d)
{
    if (!hpx_parts_all(&d->parts)) {
        say_left_out();
    }
    if (!has_part(d)) {
        return;
    }
    uint64_t refused = output.now->out.refused;
    hpx_report_text(output.text, &d->report);
    hpx_stream_dump(output.now, &d->parts, &d->request, output.text);
    if (hpx_out_section(&output.now->out, true) == 0 && hpx_session.opt.verbose && !d->request.answer) {
        say_done(d, output.now->out.refused - refused);
    }
    hpx_parts_destroy(&d->parts);
}

static void dump(struct msg_dump *d)
{
    output.now = output.now != NULL ? output.now : &output.main;
    if (hpx_net_is()) {
        hpx_net_before_dump();
    }
    if (d->traces != NULL) {
        hpx_stream_traces(output.now, d->traces);
        hpx_snapshot_destroy(d->traces);
    } else if (d->request.traces) {
        say_left_out();
    } else {
        write_dump(d);
    }
    if (output.now == &output.split) {
        hpx_stream_end(&output.split);
        output.split_lost += output.split.out.lost;
        note_error(&output.split.out);
        output.now = &output.main;
    }
    if (d->request.done != NULL) {
        d->request.done(d->request.arg);
    }
}

/* Messages up to the next dump go to a new file. If it cannot be created, the dump goes to the common file, which already has the
 * replayed messages. */
static void begin_split(const struct msg_split *m)
{
    static char name[PATH_MAX];
    static struct hpx_err err;
    int n = snprintf(name, sizeof name, "%s.%u", hpx_out_file_name(&output.main.out), ++output.nsplit);
    struct hpx_out_file_opts opts = {
        .name = name, .force = hpx_session.opt.force, .gzip = hpx_session.opt.gz, .text = !hpx_session.opt.binary};
    output.now = &output.split;
    if (n < 0 || (size_t)n >= sizeof name || hpx_out_file_open(&output.split.out, &opts, &err) != 0) {
        hpx_warn("split=y: %s; this dump goes to %s", n < 0 || (size_t)n >= sizeof name ? "the file name is too long" : err.msg,
                 hpx_out_file_name(&output.main.out));
        output.now = NULL;
        return;
    }
    output.split.out.make_room = output.main.out.make_room;
    output.split.out.remedy = output.main.out.remedy;
    hpx_stream_begin(&output.split, m->wall, m->mono);
    hpx_out_flush(&output.split.out); /* a kill from here on leaves a header, without which a reader refuses the file */
}

static void free_start(void *rec)
{
    free((char *)rec - offsetof(struct msg_thread, rec));
}

static void end(struct msg_end *e)
{
    hpx_stream_end(&output.main);
    note_error(&output.main.out);
    hpx_journal_end(atomic_load_explicit(&output.lacks, memory_order_relaxed));
    hpx_live_threads_clear(free_start);
    hpx_net_said(&e->report.total);
    uint64_t lost = output.main.out.lost + output.split_lost;
    if (lost > 0) {
        hpx_warn("%s: %llu", hpx_counter_infos[HPX_C_OUTPUT_BYTES].key, (unsigned long long)lost);
    }
    if (!e->reported) {
        return;
    }
    hpx_report_summary(output.text, &e->report);
    for (char *line = output.text, *stop; *line; line = stop) {
        stop = line;
        while (*stop && *stop != '\n') {
            stop++;
        }
        hpx_say("%.*s", (int)(stop - line), line);
        stop += *stop != 0;
    }
}

static void write_journal(struct msg_journal *j)
{
    hpx_journal_table(&j->parts);
    atomic_store_explicit(&output.journal_waits, false, memory_order_relaxed);
    hpx_parts_destroy(&j->parts);
}

/* true: t was kept. */
static bool net_thread(const struct msg_thread *t)
{
    const struct hpx_thread_rec *start;
    if (t->m.kind == MSG_THREAD_START) {
        return hpx_net_thread_begin(t->at, &t->rec);
    }
    hpx_net_thread_end(t->at, &t->rec, &start);
    if (start != NULL) {
        free_start((void *)(uintptr_t)start);
    }
    return false;
}

/* Threads and classes with net=; true: m was kept. */
static bool to_net(const struct hpx_msg *m)
{
    const struct msg_class *c = (const struct msg_class *)(const void *)m;
    if (m->kind == MSG_THREAD_START || m->kind == MSG_THREAD_END) {
        return net_thread((const struct msg_thread *)(const void *)m);
    }
    hpx_net_class(c->at, &c->rec, m->kind == MSG_CLASS_UNLOAD);
    return false;
}

/* false: that was the end. */
static bool carry_out(struct hpx_msg *m)
{
    bool more = true;
    if (hpx_net_is() && m->kind <= MSG_CLASS_UNLOAD) {
        if (!to_net(m)) {
            free(m);
        }
        atomic_fetch_add_explicit(&output.steps, 1, memory_order_relaxed);
        return true;
    }
    switch (m->kind) {
    case MSG_THREAD_START:
    case MSG_THREAD_END:
        if (output.now != NULL) {
            const struct msg_thread *t = (struct msg_thread *)m;
            hpx_stream_thread(output.now, t->at, &t->rec, m->kind == MSG_THREAD_END);
        }
        if (output.now == &output.main && hpx_journal_stream() != NULL) {
            const struct msg_thread *t = (struct msg_thread *)m;
            hpx_stream_thread(hpx_journal_stream(), t->at, &t->rec, m->kind == MSG_THREAD_END);
        }
        break;
    case MSG_CLASS_LOAD:
    case MSG_CLASS_UNLOAD:
        if (output.now != NULL) {
            const struct msg_class *c = (struct msg_class *)m;
            hpx_stream_class(output.now, c->at, &c->rec, m->kind == MSG_CLASS_UNLOAD);
        }
        if (output.now == &output.main && hpx_journal_stream() != NULL) {
            const struct msg_class *c = (struct msg_class *)m;
            hpx_stream_class(hpx_journal_stream(), c->at, &c->rec, m->kind == MSG_CLASS_UNLOAD);
        }
        break;
    case MSG_LINE:
        if (output.now != NULL) {
            const struct msg_line *l = (struct msg_line *)m;
            l->mode->section->line(&output.now->ascii, l->data);
        }
        break;
    case MSG_JOURNAL_BEGIN:
        output.now = hpx_journal_begin(output.wall, output.mono);
        break;
    case MSG_JOURNAL:
        output.now = &output.main;
        write_journal((struct msg_journal *)m);
        break;
    case MSG_SPLIT:
        begin_split((struct msg_split *)m);
        break;
    case MSG_DUMP:
        dump((struct msg_dump *)m);
        break;
    default:
        end((struct msg_end *)m);
        more = false;
        break;
    }
    free(m);
    atomic_fetch_add_explicit(&output.steps, 1, memory_order_relaxed);
    return more;
}

static void begin(void)
{
    if (hpx_net_is()) {
        hpx_net_begin();
        return;
    }
    output.wall = (struct timespec){.tv_sec = hpx_session.start};
    output.mono = hpx_clock_mono();
    if (hpx_session.opt.binary) {
        clock_gettime(CLOCK_REALTIME, &output.wall);
    }
    hpx_stream_begin(&output.main, output.wall, output.mono);
}

static void *run(void *unused)
{
    (void)unused;
    hpx_spawn_enter("hprofx-out", &output.tid);
    begin();
    for (bool more = true; more;) {
        uint32_t seen = hpx_wake_value(&output.lane.wake);
        struct hpx_msg *m = hpx_lane_splice(&output.lane);
        if (hpx_net_is()) {
            (void)hpx_net_turn();
        }
        if (m == NULL) {
            hpx_wake_wait(&output.lane.wake, seen, UINT64_C(1000000000));
            continue;
        }
        for (struct hpx_msg *next; m != NULL && more; m = next) {
            next = m->next;
            more = carry_out(m);
        }
        if (more) {
            hpx_out_flush(&output.main.out);
        }
    }
    hpx_tsan_release(&output.done); /* which does not know sem_clockwait() */
    sem_post(&output.done);
    return NULL;
}

int hpx_output_start(struct hpx_err *err)
{
    int rc = hpx_net_is() ? hpx_net_start(err) : 0;
    rc = rc != 0 ? rc : hpx_spawn(run, "hprofx-out", err);
    if (rc != 0) {
        begin(); /* the file says at least when it was made, and gets its name */
        hpx_stream_end(&output.main);
    }
    return rc;
}

static struct hpx_text keep(char **at, struct hpx_text t)
{
    struct hpx_text kept = {*at, t.len};
    if (t.len > 0) {
        memcpy(*at, t.bytes, t.len);
    }
    *at += t.len;
    return kept;
}

bool hpx_output_thread_event(const struct hpx_thread_rec *rec, bool ended)
{
    size_t text = (size_t)rec->name.len + rec->group.len + rec->parent_group.len;
    struct msg_thread *m = hpx_msg_new(ended ? MSG_THREAD_END : MSG_THREAD_START, sizeof *m + text);
    if (m == NULL) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED, 1);
        return false;
    }
    char *at = m->text;
    m->rec = (struct hpx_thread_rec){.serial = rec->serial, .object = rec->object};
    m->at = hpx_session.opt.binary ? hpx_clock_mono() : 0;
    m->rec.name = keep(&at, rec->name);
    m->rec.group = keep(&at, rec->group);
    m->rec.parent_group = keep(&at, rec->parent_group);
    post(&m->m, false);
    return true;
}

bool hpx_output_class_event(const struct hpx_class_rec *rec, bool unloaded)
{
    struct msg_class *m = hpx_msg_new(unloaded ? MSG_CLASS_UNLOAD : MSG_CLASS_LOAD, sizeof *m + rec->name.len);
    if (m == NULL) {
        hpx_count(&hpx_session.counters, HPX_C_CLASSES_UNANNOUNCED, 1);
        return false;
    }
    char *at = m->text;
    m->at = hpx_clock_mono();
    m->rec = *rec;
    m->rec.name = keep(&at, rec->name);
    post(&m->m, false);
    return true;
}

/* Posted before the dump's message, which must follow: messages between the two go to the split file. */
static void post_split(void)
{
    struct msg_split *m = hpx_msg_new(MSG_SPLIT, sizeof *m);
    if (m == NULL) {
        hpx_warn("split=y: no memory for a separate file; this dump goes to %s", hpx_session.opt.file);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &m->wall);
    m->mono = hpx_clock_mono();
    post(&m->m, false);
    (void)hpx_model_replay(hpx_session.model);
}

bool hpx_output_dump(const struct hpx_parts *parts, struct hpx_snapshot *traces, const struct hpx_report *r,
                     const struct hpx_dump_request *request)
{
    struct msg_dump *m = hpx_msg_new(MSG_DUMP, sizeof *m);
    if (m == NULL && request == NULL) {
        m = output.spare;
        output.spare = NULL;
    }
    if (m == NULL) {
        return false;
    }
    m->parts = *parts;
    m->traces = traces;
    m->request = request != NULL ? *request : (struct hpx_dump_request){.cutoff = hpx_session.opt.cutoff};
    m->report = *r;
    if (request != NULL && hpx_session.opt.split) {
        post_split();
    }
    post(&m->m, true);
    return true;
}

void hpx_output_leave_out(struct hpx_parts *parts, struct hpx_snapshot *traces, const struct hpx_dump_request *request)
{
    say_left_out();
    hpx_parts_destroy(parts);
    hpx_snapshot_destroy(traces);
    if (request != NULL && request->done != NULL) {
        request->done(request->arg);
    }
}

bool hpx_output_line(const struct hpx_mode *mode, const void *data, size_t n)
{
    struct msg_line *m = hpx_msg_new(MSG_LINE, sizeof *m + n);
    if (m != NULL) {
        m->mode = mode;
        memcpy(m->data, data, n);
        post(&m->m, false);
    }
    return m != NULL;
}

void hpx_output_journal(struct hpx_parts *parts, bool whole)
{
    bool any = hpx_parts_any(parts);
    struct msg_journal *m = any ? hpx_msg_new(MSG_JOURNAL, sizeof *m) : NULL;
    struct hpx_msg *begin = m != NULL && whole ? hpx_msg_new(MSG_JOURNAL_BEGIN, sizeof *begin) : NULL;
    if (m == NULL || (whole && begin == NULL)) {
        if (any) {
            hpx_journal_no_memory();
        } else if (whole) {
            hpx_journal_want_anew();
        }
        hpx_parts_destroy(parts);
        free(m);
        return;
    }
    if (whole) {
        post(begin, false);
        (void)hpx_model_replay(hpx_session.model);
    }
    m->parts = *parts;
    atomic_store_explicit(&output.journal_waits, true, memory_order_relaxed);
    post(&m->m, true);
}

bool hpx_output_journal_waits(void)
{
    return atomic_load_explicit(&output.journal_waits, memory_order_relaxed);
}

void hpx_output_end(const struct hpx_report *r)
{
    struct msg_end *m = output.end;
    output.end = NULL;
    free(output.spare); /* no dump comes after the end */
    output.spare = NULL;
    if (m == NULL) {
        return;
    }
    m->reported = r != NULL;
    if (r != NULL) {
        m->report = *r;
    }
    post(&m->m, true);
}

bool hpx_output_wait(uint64_t stall_ns)
{
    uint64_t moved = hpx_clock_mono(), before = UINT64_MAX;
    for (;;) {
        if (hpx_spawn_wait(&output.done, hpx_clock_mono() + 50ull * 1000 * 1000)) {
            hpx_tsan_acquire(&output.done);
            return true;
        }
        uint64_t now = atomic_load_explicit(&output.steps, memory_order_relaxed) +
                       atomic_load_explicit(&output.main.out.progress, memory_order_relaxed) +
                       atomic_load_explicit(&output.split.out.progress, memory_order_relaxed) + hpx_journal_progress();
        if (now != before) {
            before = now;
            moved = hpx_clock_mono();
        } else if (hpx_clock_mono() - moved > stall_ns) {
            hpx_warn("%s=%s: the output is stalled; the program ends and the profile is incomplete; check the reader or the file system%s",
                     hpx_net_is() ? "net" : "file", hpx_net_is() ? hpx_session.opt.net : hpx_session.opt.file,
                     hpx_journal_on() && hpx_journal_progress() > 0 ? "; rebuild it with hprofx-read --recover" : "");
            return false;
        }
    }
}

void hpx_output_fini(void)
{
    free(output.end);
    free(output.spare);
    sem_destroy(&output.done);
    memset(&output, 0, sizeof output);
}

void hpx_output_forget(void)
{
    if (hpx_net_is()) {
        hpx_net_forget();
        return;
    }
    hpx_out_file_forget(&output.main.out);
    hpx_out_file_forget(&output.split.out);
    hpx_journal_forget();
}

uint64_t hpx_output_cpu(void)
{
    return hpx_spawn_cpu(&output.tid);
}
