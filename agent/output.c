/* SPDX-License-Identifier: BSD-2-Clause */
/* output.c: the writer's thread of output.h. */
#include "output.h"
#include "clock.h"
#include "journal.h"
#include "living.h"
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
struct msg_split {
    struct hpx_msg m;
    struct timespec wall;
    uint64_t mono;
};
struct msg_dump {
    struct hpx_msg m;
    struct hpx_snapshot *snapshot;
    struct hpx_call_snapshot *calls;
    struct hpx_dump_wish wish;
    struct hpx_report report;
};
struct msg_journal {
    struct hpx_msg m;
    struct hpx_snapshot *samples;
    struct hpx_call_snapshot *calls;
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
    uint32_t nsplit;            /* the thread's: files of their own so far */
    uint64_t split_lost;        /* the thread's: bytes that those have not */
    struct msg_end *end;        /* the aggregator's: made at load, as the end must always come */
    struct msg_dump *spare;     /* the aggregator's: the last dump's, when there is no memory for a message */
    char text[HPX_REPORT_TEXT]; /* the thread's */
    sem_t done;                 /* posted after MSG_END was carried out */
    atomic_bool lacks;          /* relaxed: told by the thread to itself, or before the message of the end: an output lacks something */
    atomic_bool journal_waits;  /* relaxed: a hint: a table of the journal is on its way */
    _Atomic uint64_t posted;    /* relaxed: messages */
    _Atomic uint64_t steps;     /* relaxed: of these, carried out */
    _Atomic pid_t tid;          /* relaxed: for the CPU clock only */
} output;

int hpx_output_init(struct hpx_err *err)
{
    static char name[PATH_MAX];
    if (hpx_agent.opt.net == NULL && hpx_name_expand(name, sizeof name, hpx_agent.opt.file, hpx_agent.start) != 0) {
        return hpx_err_set(err, HPX_E_IO, "can't create profile file: %s", hpx_agent.opt.file);
    }
    struct hpx_out_file_opts opts = {.name = name, .force = hpx_agent.opt.force, .text = !hpx_agent.opt.binary};
    sem_init(&output.done, 0, 0);
    hpx_lane_init(&output.lane);
    output.end = hpx_msg_new(MSG_END, sizeof *output.end);
    output.spare = hpx_msg_new(MSG_DUMP, sizeof *output.spare);
    if (output.end == NULL || output.spare == NULL) {
        return hpx_err_set(err, HPX_E_NOMEM, "no memory for the output");
    }
    output.now = &output.main;
    if (hpx_agent.opt.net != NULL) {
        if (hpx_agent.opt.split) {
            hpx_warn("split=y: %s is no regular file: all dumps go there", hpx_agent.opt.net);
            hpx_agent.opt.split = false;
        }
        return hpx_net_open(&output.main, &output.lane.wake, err);
    }
    int rc = hpx_out_file_open(&output.main.out, &opts, err);
    if (rc == 0 && hpx_agent.opt.split && output.main.out.ops->publish == NULL) {
        hpx_warn("split=y: %s is no regular file: all dumps go there", hpx_agent.opt.file);
        hpx_agent.opt.split = false;
    }
    if (rc == 0 && output.main.out.ops->publish != NULL) {
        output.main.out.make_room = hpx_journal_give_up;
        output.main.out.remedy = hpx_journal_remedy;
        hpx_journal_init(hpx_out_file_name(&output.main.out));
        if (hpx_journal_on()) {
            hpx_model_keep_journal(hpx_agent.model);
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
    hpx_warn("%s: no memory for a dump: it is left out; raise the limit of the process's memory, or lower depth=", hpx_agent_mode());
}

static void note_error(const struct hpx_out *o)
{
    if (o->error != 0) {
        atomic_store_explicit(&output.lacks, true, memory_order_relaxed);
    }
}

/* refused: records of this dump that are not in the output, which net= alone does. */
static void say_done(const struct msg_dump *d, uint64_t refused)
{
    char what[128];
    snprintf(what, sizeof what, "%s%s", d->snapshot != NULL ? " CPU usage by sampling running threads ..." : "",
             d->calls == NULL                  ? ""
             : hpx_agent.opt.cpu & HPX_CPU_OLD ? " CPU usage in old prof format ..."
                                               : " CPU usage by timing methods ...");
    if (refused == 0) {
        hpx_say("Dumping%s done.", what);
    } else {
        hpx_say("Dumping%s incomplete: net=%s: %llu of its records were not sent.", what, hpx_agent.opt.net, (unsigned long long)refused);
    }
}

static void write_dump(struct msg_dump *d)
{
    if ((d->snapshot == NULL && hpx_agent_samples()) || (d->calls == NULL && hpx_agent_calls())) {
        say_left_out();
    }
    if (d->snapshot == NULL && d->calls == NULL) {
        return;
    }
    uint64_t refused = output.now->out.refused;
    hpx_report_text(output.text, &d->report);
    hpx_stream_dump(output.now, d->snapshot, d->calls, &d->wish, output.text);
    if (hpx_out_section(&output.now->out, true) == 0 && hpx_agent.opt.verbose && !d->wish.answer) {
        say_done(d, output.now->out.refused - refused);
    }
    hpx_snapshot_destroy(d->snapshot);
    hpx_call_snapshot_destroy(d->calls);
}

static void dump(struct msg_dump *d)
{
    output.now = output.now != NULL ? output.now : &output.main;
    if (hpx_net_is()) {
        hpx_net_before_dump();
    }
    if (d->wish.traces && d->snapshot != NULL) {
        hpx_stream_traces(output.now, d->snapshot);
        hpx_snapshot_destroy(d->snapshot);
    } else {
        write_dump(d);
    }
    if (output.now == &output.split) {
        hpx_stream_end(&output.split);
        output.split_lost += output.split.out.lost;
        note_error(&output.split.out);
        output.now = &output.main;
    }
    if (d->wish.done != NULL) {
        d->wish.done(d->wish.arg);
    }
}

/* What comes until the next dump is for a file of its own. Where none can be made the dump is for the common one, which knows
 * already what is told again. */
static void begin_split(const struct msg_split *m)
{
    static char name[PATH_MAX];
    static struct hpx_err err;
    int n = snprintf(name, sizeof name, "%s.%u", hpx_out_file_name(&output.main.out), ++output.nsplit);
    struct hpx_out_file_opts opts = {.name = name, .force = hpx_agent.opt.force, .text = !hpx_agent.opt.binary};
    output.now = &output.split;
    if (n < 0 || (size_t)n >= sizeof name || hpx_out_file_open(&output.split.out, &opts, &err) != 0) {
        hpx_warn("split=y: %s: this dump goes to %s", n < 0 || (size_t)n >= sizeof name ? "the name is too long" : err.msg,
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
    hpx_living_end(free_start);
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

static void write_journal(const struct msg_journal *j)
{
    hpx_journal_table(j->samples, j->calls);
    atomic_store_explicit(&output.journal_waits, false, memory_order_relaxed);
    hpx_snapshot_destroy(j->samples);
    hpx_call_snapshot_destroy(j->calls);
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
    output.wall = (struct timespec){.tv_sec = hpx_agent.start};
    output.mono = hpx_clock_mono();
    if (hpx_agent.opt.binary) {
        clock_gettime(CLOCK_REALTIME, &output.wall);
    }
    hpx_stream_begin(&output.main, output.wall, output.mono);
}

static void *run(void *unused)
{
    (void)unused;
    hpx_self = &hpx_ours;
    atomic_store_explicit(&output.tid, hpx_spawn_enter("hprofx-out"), memory_order_relaxed);
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
        hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNTOLD, 1);
        return false;
    }
    char *at = m->text;
    m->rec = (struct hpx_thread_rec){.serial = rec->serial, .object = rec->object};
    m->at = hpx_agent.opt.binary ? hpx_clock_mono() : 0;
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
        hpx_count(&hpx_agent.counters, HPX_C_CLASSES_UNTOLD, 1);
        return false;
    }
    char *at = m->text;
    m->at = hpx_clock_mono();
    m->rec = *rec;
    m->rec.name = keep(&at, rec->name);
    post(&m->m, false);
    return true;
}

/* Before a dump's message, which must come: what stands between the two is the split file's. */
static void post_split(void)
{
    struct msg_split *m = hpx_msg_new(MSG_SPLIT, sizeof *m);
    if (m == NULL) {
        hpx_warn("split=y: no memory for a file of its own: this dump goes to %s", hpx_agent.opt.file);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &m->wall);
    m->mono = hpx_clock_mono();
    post(&m->m, false);
    (void)hpx_model_retell(hpx_agent.model);
}

bool hpx_output_dump(struct hpx_snapshot *s, struct hpx_call_snapshot *calls, const struct hpx_report *r, const struct hpx_dump_wish *wish)
{
    struct msg_dump *m = hpx_msg_new(MSG_DUMP, sizeof *m);
    if (m == NULL && wish == NULL) {
        m = output.spare;
        output.spare = NULL;
    }
    if (m == NULL) {
        return false;
    }
    m->snapshot = s;
    m->calls = calls;
    m->wish = wish != NULL ? *wish : (struct hpx_dump_wish){.cutoff = hpx_agent.opt.cutoff};
    m->report = *r;
    if (wish != NULL && hpx_agent.opt.split) {
        post_split();
    }
    post(&m->m, true);
    return true;
}

void hpx_output_leave_out(struct hpx_snapshot *s, struct hpx_call_snapshot *calls, const struct hpx_dump_wish *wish)
{
    say_left_out();
    hpx_snapshot_destroy(s);
    hpx_call_snapshot_destroy(calls);
    if (wish != NULL && wish->done != NULL) {
        wish->done(wish->arg);
    }
}

void hpx_output_journal(struct hpx_snapshot *samples, struct hpx_call_snapshot *calls, bool whole)
{
    bool any = (samples != NULL && samples->nrows > 0) || (calls != NULL && calls->nrows > 0);
    struct msg_journal *m = any ? hpx_msg_new(MSG_JOURNAL, sizeof *m) : NULL;
    struct hpx_msg *begin = m != NULL && whole ? hpx_msg_new(MSG_JOURNAL_BEGIN, sizeof *begin) : NULL;
    if (m == NULL || (whole && begin == NULL)) {
        if (any) {
            hpx_journal_no_memory();
        } else if (whole) {
            hpx_journal_want_anew();
        }
        hpx_snapshot_destroy(samples);
        hpx_call_snapshot_destroy(calls);
        free(m);
        return;
    }
    if (whole) {
        post(begin, false);
        (void)hpx_model_retell(hpx_agent.model);
    }
    m->samples = samples;
    m->calls = calls;
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
        uint64_t until = hpx_clock_mono() + 50ull * 1000 * 1000;
        struct timespec ts = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
        if (sem_clockwait(&output.done, CLOCK_MONOTONIC, &ts) == 0) {
            return true;
        }
        uint64_t now = atomic_load_explicit(&output.steps, memory_order_relaxed) +
                       atomic_load_explicit(&output.main.out.progress, memory_order_relaxed) +
                       atomic_load_explicit(&output.split.out.progress, memory_order_relaxed) + hpx_journal_progress();
        if (now != before) {
            before = now;
            moved = hpx_clock_mono();
        } else if (hpx_clock_mono() - moved > stall_ns) {
            hpx_warn(
                "%s=%s: the output does not move: the program ends without the rest of it (is there a reader, is the file system alive?)%s",
                hpx_net_is() ? "net" : "file", hpx_net_is() ? hpx_agent.opt.net : hpx_agent.opt.file,
                hpx_journal_on() && hpx_journal_progress() > 0 ? "; hprofx-read --recover makes it of the journal" : "");
            return false;
        }
    }
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
    pid_t tid = atomic_load_explicit(&output.tid, memory_order_relaxed);
    return tid ? hpx_clock_tid_cpu(tid) : 0;
}
