/* SPDX-License-Identifier: BSD-2-Clause */
/* output.c: the writer's thread of output.h; output_post.c posts to it. */
#include "clock.h"
#include "journal.h"
#include "life.h"
#include "live_threads.h"
#include "log.h"
#include "net.h"
#include "origin.h"
#include "out_file.h"
#include "out_gzip.h"
#include "out_name.h"
#include "output_internal.h"
#include "peer.h"
#include "rotate.h"
#include "spawn.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AWAY_NS     (1000ull * 1000 * 1000)
#define WORK_MAX_NS (300ull * 1000 * 1000 * 1000) /* at the end, without a byte that is written */

HPX_OF_SESSION struct hpx_output hpx_output;

int hpx_output_name(char *buf, size_t n, uint32_t number)
{
    return hpx_session.opt->net != NULL ? -HPX_E_IO : hpx_name_number(buf, n, hpx_output.pattern, number);
}

static struct hpx_out_file_opts opts_of(const char *name)
{
    return (struct hpx_out_file_opts){
        .name = name, .force = hpx_session.opt->force, .gzip = hpx_session.in_effect.gz, .text = !hpx_session.opt->binary};
}

/* The file of the profile at exit has no number yet if others come before it. */
static bool first_name(char *buf, size_t n)
{
    return hpx_name_expand(hpx_output.pattern, sizeof hpx_output.pattern, hpx_session.opt->file, hpx_session.start) == 0 &&
           hpx_output_name(buf, n, hpx_session.in_effect.split ? 0 : 1) == 0;
}

/* A full disk costs the oldest profiles, then the journal. */
static bool make_room(void)
{
    return hpx_rotate_make_room() || hpx_journal_give_up();
}

int hpx_output_init(struct hpx_err *err)
{
    static char name[PATH_MAX];
    if (hpx_session.opt->net == NULL && !first_name(name, sizeof name)) {
        return hpx_err_set(err, HPX_E_IO, "can't create profile file: %s", hpx_session.opt->file);
    }
    struct hpx_out_file_opts opts = opts_of(name);
    sem_init(&hpx_output.done, 0, 0);
    hpx_lane_init(&hpx_output.lane);
    hpx_output.end = hpx_msg_new(MSG_END, sizeof *hpx_output.end);
    hpx_output.spare = hpx_msg_new(MSG_DUMP, sizeof *hpx_output.spare);
    if (hpx_output.end == NULL || hpx_output.spare == NULL) {
        return hpx_err_set(err, HPX_E_NOMEM, "no memory for the output");
    }
    hpx_output.now = &hpx_output.main;
    if (hpx_session.opt->net != NULL) {
        if (hpx_session.in_effect.split) {
            hpx_warn("split=y: %s is not a regular file; all dumps go there", hpx_session.opt->net);
            hpx_session.in_effect.split = false;
        }
        if (hpx_session.in_effect.gz) {
            hpx_warn("gz=y: %s is not a file; the output is not compressed", hpx_session.opt->net);
            hpx_session.in_effect.gz = false;
        }
        const struct hpx_net_owner owner = {&hpx_output.main, &hpx_output.lane.wake, hpx_output_behind, hpx_peer_command};
        return hpx_net_open(&owner, err);
    }
    int rc = hpx_out_file_open(&hpx_output.main.out, &opts, err);
    if (rc == 0 && hpx_session.in_effect.split && hpx_output.main.out.ops->publish == NULL) {
        hpx_warn("split=y: %s is not a regular file; all dumps go there", hpx_session.opt->file);
        hpx_session.in_effect.split = false;
    }
    if (rc == 0 && hpx_output.main.out.ops->publish != NULL) {
        hpx_output.main.out.make_room = make_room;
        hpx_output.main.out.remedy = hpx_journal_remedy;
        hpx_journal_init(hpx_out_file_name(&hpx_output.main.out));
        if (hpx_journal_on()) {
            hpx_model_keep_journal(hpx_session.model);
        }
    }
    return rc;
}

uint64_t hpx_output_behind(void)
{
    uint64_t done = atomic_load_explicit(&hpx_output.steps, memory_order_relaxed);
    uint64_t posted = atomic_load_explicit(&hpx_output.posted, memory_order_relaxed);
    return posted > done ? posted - done : 0;
}

static void say_left_out(void)
{
    atomic_store_explicit(&hpx_output.lacks, true, memory_order_relaxed);
    hpx_warn("%s: no memory for a dump; it is not written; raise the memory limit of the process or lower depth=", hpx_session_modes());
}

static void note_error(const struct hpx_out *o)
{
    if (o->error != 0) {
        atomic_store_explicit(&hpx_output.lacks, true, memory_order_relaxed);
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
        int n = shown && hpx_section_is_shown(section) ? snprintf(what + len, sizeof what - len, " %s ...", section->title) : 0;
        len += n > 0 && (size_t)n < sizeof what - len ? (size_t)n : 0;
        missing = missing || (d->parts.of[i] != NULL && !shown);
    }
    if (missing && len == 0) {
        return;
    }
    if (refused == 0) {
        hpx_say("Dumping%s done.", what);
    } else {
        hpx_say("Dumping%s incomplete: net=%s: %llu of its records were not sent.", what, hpx_session.opt->net,
                (unsigned long long)refused);
    }
}

static void say_lines(const char *text)
{
    for (const char *line = text, *stop; *line; line = stop) {
        stop = line;
        while (*stop && *stop != '\n') {
            stop++;
        }
        hpx_say("%.*s", (int)(stop - line), line);
        stop += *stop != 0;
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

/* Once in a session it is said: the report of the file has it. */
static void note_summed(struct hpx_report *r, const struct hpx_bound *b)
{
    static HPX_OF_SESSION atomic_bool said;
    r->summed = b->summed;
    r->summed_below = b->below;
    if (b->summed > 0) {
        hpx_warn_once(&said,
                      "file=%.1500s: the profile would be larger than maxfile= lets it become: the %" PRIu64
                      " smallest rows are one, hprofx.summed, and the largest of them has %.4f %%; raise maxfile=, or lower depth=",
                      hpx_session.opt->file, b->summed, b->below * 100);
    }
}

/* What the dumps so far lack for want of memory. */
static void count_unwritten(struct hpx_counters *to)
{
    const struct hpx_stream *main = &hpx_output.main, *split = hpx_output.now == &hpx_output.split ? hpx_output.now : NULL;
    hpx_count(to, HPX_C_ROWS_UNWRITTEN, hpx_output.split_unwritten + main->unwritten + (split != NULL ? split->unwritten : 0));
    hpx_count(to, HPX_C_ROWS_UNWRITTEN, hpx_output.now != NULL ? hpx_output.now->lacks : 0);
}

static void write_dump(struct msg_dump *d)
{
    if (!hpx_parts_all(&d->parts)) {
        say_left_out();
    }
    if (!has_part(d)) {
        return;
    }
    uint64_t refused = hpx_output.now->out.refused;
    hpx_rotate_count(&d->report.total);
    bool reports = hpx_stream_dump(hpx_output.now, &d->parts, &d->request, d->last || hpx_output.now == &hpx_output.split);
    count_unwritten(&d->report.total);
    note_summed(&d->report, &hpx_output.now->bound);
    hpx_report_text(hpx_output.text, &d->report);
    if (reports) {
        hpx_stream_report(hpx_output.now, hpx_output.text);
    }
    if (hpx_out_section(&hpx_output.now->out, true) == 0 && hpx_session.opt->verbose && !d->request.answer) {
        say_done(d, hpx_output.now->out.refused - refused);
        if (hpx_session_bare()) { /* the file cannot have it */
            say_lines(hpx_output.text);
        }
    }
    hpx_parts_destroy(&d->parts);
}

/* Before the file of the profile at exit gets its name: %n is the number of the profile in it. */
static void number_main(uint32_t number)
{
    static char name[PATH_MAX];
    struct hpx_out_file_opts opts = opts_of(name);
    if (hpx_session.in_effect.split && hpx_name_is_numbered(hpx_output.pattern) && hpx_output_name(name, sizeof name, number) == 0) {
        hpx_out_file_rename(&hpx_output.main.out, &opts);
    }
}

static void end_split(void)
{
    hpx_stream_end(&hpx_output.split);
    hpx_output.split_lost += hpx_output.split.out.lost;
    hpx_output.split_unwritten += hpx_output.split.unwritten;
    note_error(&hpx_output.split.out);
    if (hpx_output.split.out.published && hpx_output.split.out.error == 0) {
        hpx_rotate_add(hpx_out_file_name(&hpx_output.split.out));
    }
    hpx_output.now = &hpx_output.main;
}

static void dump(struct msg_dump *d)
{
    hpx_output.now = hpx_output.now != NULL ? hpx_output.now : &hpx_output.main;
    if (d->report.period.number > 0 && d->traces == NULL) {
        hpx_output.last = d->report.period.number;
    }
    if (hpx_output.now == &hpx_output.main) {
        number_main(hpx_output.last);
    }
    if (hpx_net_is()) {
        hpx_net_before_dump();
    }
    if (d->traces != NULL) {
        hpx_stream_traces(hpx_output.now, d->traces);
        hpx_snapshot_destroy(d->traces);
    } else if (d->request.traces) {
        say_left_out();
    } else {
        write_dump(d);
    }
    if (hpx_output.now == &hpx_output.split) {
        end_split();
    }
    if (d->request.done != NULL) {
        d->request.done(d->request.arg);
    }
}

/* With a number in NAME nothing is appended. */
static int split_name(char *buf, size_t n, uint32_t number)
{
    if (hpx_name_is_numbered(hpx_output.pattern)) {
        return hpx_output_name(buf, n, number);
    }
    int len = snprintf(buf, n, "%s.%u", hpx_out_file_name(&hpx_output.main.out), number);
    return len >= 0 && (size_t)len < n ? 0 : -HPX_E_RANGE;
}

static bool open_split(const char *name, struct hpx_err *err)
{
    const struct hpx_out_file_opts opts = opts_of(name);
    for (;;) {
        int rc = hpx_out_file_open(&hpx_output.split.out, &opts, err);
        bool full = rc == -HPX_E_IO && (errno == ENOSPC || errno == EDQUOT);
        if (!full || !hpx_rotate_make_room()) {
            return rc == 0;
        }
    }
}

/* Messages up to the next dump go to a new file. If it cannot be created, the dump goes to the common file, which already has the
 * replayed messages. */
static void begin_split(const struct msg_split *m)
{
    static char name[PATH_MAX];
    static struct hpx_err err;
    bool fits = split_name(name, sizeof name, m->number) == 0;
    hpx_output.now = &hpx_output.split;
    if (!fits || !open_split(name, &err)) {
        hpx_warn("split=y: %s; this dump goes to %s", fits ? err.msg : "the file name is too long",
                 hpx_out_file_name(&hpx_output.main.out));
        hpx_output.now = NULL;
        return;
    }
    hpx_output.split.out.make_room = hpx_output.main.out.make_room;
    hpx_output.split.out.remedy = hpx_output.main.out.remedy;
    hpx_stream_begin(&hpx_output.split, m->wall, m->mono);
    hpx_output.split.ascii.late = !hpx_session.opt->binary;
    hpx_out_flush(&hpx_output.split.out); /* a kill from here on leaves a header, without which a reader refuses the file */
}

static void free_start(void *rec)
{
    free((char *)rec - offsetof(struct msg_thread, rec));
}

static void end_main(void)
{
    const struct hpx_out *o = &hpx_output.main.out;
    number_main(hpx_output.last + 1); /* without a profile at exit */
    hpx_stream_end(&hpx_output.main);
    note_error(o);
    if (hpx_session.opt->doe && o->published && o->error == 0) {
        hpx_rotate_add(hpx_out_file_name(o));
    }
}

static void end(struct msg_end *e)
{
    end_main();
    hpx_journal_end(atomic_load_explicit(&hpx_output.lacks, memory_order_relaxed));
    hpx_live_threads_clear(free_start);
    hpx_net_said(&e->report.total);
    hpx_rotate_count(&e->report.total);
    count_unwritten(&e->report.total);
    uint64_t lost = hpx_output.main.out.lost + hpx_output.split_lost;
    if (lost > 0) {
        hpx_warn("%s: %llu", hpx_counter_infos[HPX_C_OUTPUT_BYTES].key, (unsigned long long)lost);
    }
    if (!e->reported) {
        return;
    }
    hpx_report_summary(hpx_output.text, &e->report);
    say_lines(hpx_output.text);
}

static void write_journal(struct msg_journal *j)
{
    hpx_journal_table(&j->parts);
    atomic_store_explicit(&hpx_output.journal_waits, false, memory_order_relaxed);
    hpx_parts_destroy(&j->parts);
}

/* true: t was kept. */
static bool net_thread(const struct msg_thread *t)
{
    const struct hpx_thread_rec *before;
    bool kept = hpx_net_thread(t->at, &t->rec, t->what, &before);
    if (before != NULL) {
        free_start((void *)(uintptr_t)before);
    }
    return kept;
}

/* Threads and classes with net=; true: m was kept. */
static bool to_net(const struct hpx_msg *m)
{
    const struct msg_class *c = (const struct msg_class *)(const void *)m;
    if (m->kind == MSG_THREAD) {
        return net_thread((const struct msg_thread *)(const void *)m);
    }
    hpx_net_class(c->at, &c->rec, m->kind == MSG_CLASS_UNLOAD);
    return false;
}

/* The writer has come to m, which is freed or, of threads with net=, kept as one of those that live. */
static void make_room_for_events(const struct hpx_msg *m)
{
    if (m->kind <= MSG_LINE && !((const struct msg_event *)(const void *)m)->replayed) {
        atomic_fetch_sub_explicit(&hpx_output.waiting, m->size, memory_order_relaxed);
    }
}

/* false: that was the end. */
static bool carry_out(struct hpx_msg *m)
{
    bool more = true;
    make_room_for_events(m);
    if (hpx_net_is() && m->kind <= MSG_CLASS_UNLOAD) {
        if (!to_net(m)) {
            free(m);
        }
        atomic_fetch_add_explicit(&hpx_output.steps, 1, memory_order_relaxed);
        return true;
    }
    switch (m->kind) {
    case MSG_THREAD:
        if (hpx_output.now != NULL) {
            const struct msg_thread *t = (struct msg_thread *)m;
            hpx_stream_thread(hpx_output.now, t->at, &t->rec, t->what);
        }
        if (hpx_output.now == &hpx_output.main && hpx_journal_stream() != NULL) {
            const struct msg_thread *t = (struct msg_thread *)m;
            hpx_stream_thread(hpx_journal_stream(), t->at, &t->rec, t->what);
        }
        break;
    case MSG_CLASS_LOAD:
    case MSG_CLASS_UNLOAD:
        if (hpx_output.now != NULL) {
            const struct msg_class *c = (struct msg_class *)m;
            hpx_stream_class(hpx_output.now, c->at, &c->rec, m->kind == MSG_CLASS_UNLOAD);
        }
        if (hpx_output.now == &hpx_output.main && hpx_journal_stream() != NULL) {
            const struct msg_class *c = (struct msg_class *)m;
            hpx_stream_class(hpx_journal_stream(), c->at, &c->rec, m->kind == MSG_CLASS_UNLOAD);
        }
        break;
    case MSG_LINE:
        if (hpx_output.now != NULL) {
            const struct msg_line *l = (struct msg_line *)m;
            l->mode->section->line(&hpx_output.now->ascii, l->data);
        }
        break;
    case MSG_JOURNAL_BEGIN:
        hpx_output.now = hpx_journal_begin(hpx_output.wall, hpx_output.mono);
        break;
    case MSG_JOURNAL:
        hpx_output.now = &hpx_output.main;
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
    atomic_fetch_add_explicit(&hpx_output.steps, 1, memory_order_relaxed);
    return more;
}

static void begin(void)
{
    hpx_origin_look_for_container(NULL);
    if (hpx_net_is()) {
        hpx_net_begin();
        return;
    }
    hpx_output.wall = (struct timespec){.tv_sec = hpx_session.start};
    hpx_output.mono = hpx_clock_mono();
    if (hpx_session.opt->binary) {
        clock_gettime(CLOCK_REALTIME, &hpx_output.wall);
    }
    hpx_stream_begin(&hpx_output.main, hpx_output.wall, hpx_output.mono);
}

static void *run(void *unused)
{
    (void)unused;
    hpx_spawn_enter("hprofx-out", &hpx_output.thread);
    begin();
    for (bool more = true; more;) {
        uint32_t seen = hpx_wake_value(&hpx_output.lane.wake);
        struct hpx_msg *m = hpx_lane_splice(&hpx_output.lane);
        if (hpx_net_is()) {
            (void)hpx_net_turn();
        }
        if (m == NULL) {
            hpx_wake_wait(&hpx_output.lane.wake, seen, UINT64_C(1000000000));
            continue;
        }
        for (struct hpx_msg *next; m != NULL && more; m = next) {
            next = m->next;
            more = carry_out(m);
        }
        if (more) {
            hpx_out_flush(&hpx_output.main.out);
        }
    }
    hpx_spawn_leave(&hpx_output.thread);
    hpx_tsan_release(&hpx_output.done); /* which does not know sem_clockwait() */
    sem_post(&hpx_output.done);
    return NULL;
}

int hpx_output_start(struct hpx_err *err)
{
    int rc = hpx_net_is() ? hpx_net_start(err) : 0;
    rc = rc != 0 ? rc : hpx_spawn(run, "hprofx-out", err);
    if (rc != 0 && !hpx_net_is() && hpx_output.main.out.ops->publish == NULL) {
        hpx_out_abandon(&hpx_output.main.out); /* a FIFO or device: a write would wait for its reader */
    } else if (rc != 0) {
        begin(); /* the file says at least when it was made, and gets its name */
        hpx_stream_end(&hpx_output.main);
    }
    return rc;
}

/* What there was when VMDeath looked last. */
struct look {
    uint64_t moved;              /* messages and bytes, and the post of the end */
    uint64_t taking, formatting; /* CPU time of aggregator and writer, in units of HPX_OUTPUT_WORK_NS */
};

/* A thread that waits polls, which costs CPU time and is no progress: the aggregator's counts while it has the end to post and waits for
 * no gate. */
static struct look look_again(const struct look *before)
{
    pid_t aggregator = hpx_session.aggregator.tid;
    bool ends = atomic_load_explicit(&hpx_output.ends, memory_order_relaxed);
    struct look now = *before;
    now.moved = ends + atomic_load_explicit(&hpx_output.steps, memory_order_relaxed) +
                atomic_load_explicit(&hpx_output.main.out.progress, memory_order_relaxed) +
                atomic_load_explicit(&hpx_output.split.out.progress, memory_order_relaxed) + hpx_journal_progress();
    if (aggregator != 0 && !ends && !hpx_gate_waits()) {
        now.taking = hpx_clock_tid_cpu(aggregator) / HPX_OUTPUT_WORK_NS;
    }
    now.formatting = hpx_output_cpu() / HPX_OUTPUT_WORK_NS;
    return now;
}

static void say_stalled(bool works)
{
    bool goes_on = hpx_life_goes_on(); /* then the end is waited for again */
    const char *remedy = hpx_journal_on() && hpx_journal_progress() > 0 && !goes_on ? "; rebuild it with hprofx recover" : "";
    const char *what = goes_on ? "the session has not ended" : "the program ends and the profile is incomplete";
    if (!works && atomic_load_explicit(&hpx_output.ends, memory_order_relaxed)) {
        hpx_output.stands = "its output does not move";
        hpx_warn("%s=%s: the output is stalled; %s; check the reader or the file system%s", hpx_net_is() ? "net" : "file",
                 hpx_net_is() ? hpx_session.opt->net : hpx_session.opt->file, what, remedy);
        return;
    }
    hpx_output.stands = works              ? "nothing was written for 5 minutes"
                        : hpx_gate_waits() ? "a callback of the profiler does not return"
                                           : "a thread of the profiler makes no progress";
    hpx_warn("%s: the dump at exit is stalled: %s; %s%s", hpx_session_modes(), hpx_output.stands, what, remedy);
}

const char *hpx_output_stands(void)
{
    return hpx_output.stands;
}

bool hpx_output_wait(uint64_t stall_ns)
{
    struct look last = {.moved = UINT64_MAX};
    uint64_t moved = 0, lived = 0, looked = hpx_clock_mono();
    for (;;) {
        if (hpx_spawn_wait(&hpx_output.done, hpx_clock_mono() + 50ull * 1000 * 1000)) {
            hpx_tsan_acquire(&hpx_output.done);
            return true;
        }
        struct look is = look_again(&last);
        uint64_t now = hpx_clock_mono(), away = now - looked;
        lived += away > AWAY_NS ? away : 0; /* the process was stopped, and nothing of it could move */
        looked = now;
        moved = is.moved != last.moved ? now : moved;
        lived = memcmp(&is, &last, sizeof is) != 0 ? now : lived;
        last = is;
        if (now - lived > stall_ns || now - moved > WORK_MAX_NS) {
            say_stalled(now - lived <= stall_ns);
            return false;
        }
    }
}

void hpx_output_fini(void)
{
    free(hpx_output.end);
    free(hpx_output.spare);
    free(hpx_output.next);
    sem_destroy(&hpx_output.done);
    memset(&hpx_output, 0, sizeof hpx_output);
}

void hpx_output_forget(void)
{
    if (hpx_net_is()) {
        hpx_net_forget();
        return;
    }
    hpx_out_file_forget(&hpx_output.main.out);
    hpx_out_file_forget(&hpx_output.split.out);
    hpx_journal_forget();
}

uint64_t hpx_output_cpu(void)
{
    return hpx_spawn_cpu(&hpx_output.thread) + hpx_gzip_workers_cpu();
}
