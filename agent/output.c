/* SPDX-License-Identifier: BSD-2-Clause */
/* output.c: the writer's thread of output.h. */
#include "output.h"
#include "clock.h"
#include "hprof_ascii.h"
#include "log.h"
#include "out_file.h"
#include "spawn.h"
#include <errno.h>
#include <limits.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

enum { MSG_THREAD_START = 1, MSG_THREAD_END, MSG_DUMP, MSG_END };

struct msg_thread {
    struct hpx_msg m;
    struct hpx_thread_rec rec; /* its texts: behind */
    char text[];
};
struct msg_dump {
    struct hpx_msg m;
    struct hpx_snapshot *snapshot;
    struct hpx_call_snapshot *calls;
    struct hpx_report report;
};
struct msg_end {
    struct hpx_msg m;
    bool reported;
    struct hpx_report report;
};

static struct {
    struct hpx_lane lane;
    struct hpx_out out;         /* the thread's, once it runs */
    struct hpx_ascii ascii;     /* the thread's */
    struct msg_end *end;        /* the aggregator's: made at load, as the end must always come */
    struct msg_dump *spare;     /* the aggregator's: for a dump when there is no memory for a message */
    char text[HPX_REPORT_TEXT]; /* the thread's */
    sem_t done;                 /* posted after MSG_END was carried out */
    _Atomic uint64_t steps;     /* relaxed: messages carried out, for who waits for the end */
    _Atomic pid_t tid;          /* relaxed: for the CPU clock only */
} output;

int hpx_output_init(struct hpx_err *err)
{
    static char name[PATH_MAX];
    if (hpx_name_expand(name, sizeof name, hpx_agent.opt.file, hpx_agent.start) != 0) {
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
    return hpx_out_file_open(&output.out, &opts, err);
}

static void say_left_out(void)
{
    hpx_warn("%s: no memory for a dump: it is left out; raise the limit of the process's memory, or lower depth=", hpx_agent_mode());
}

static void dump(struct msg_dump *d)
{
    bool old = hpx_agent.opt.cpu & HPX_CPU_OLD;
    if ((d->snapshot == NULL && hpx_agent_samples()) || (d->calls == NULL && hpx_agent_calls())) {
        say_left_out();
    }
    if (d->snapshot == NULL && d->calls == NULL) {
        return;
    }
    if (d->snapshot != NULL) {
        hpx_ascii_cpu_samples(&output.ascii, d->snapshot, hpx_agent.opt.cutoff, time(NULL));
    }
    if (d->calls != NULL && old) {
        hpx_ascii_cpu_old(&output.ascii, d->calls);
    } else if (d->calls != NULL) {
        hpx_ascii_cpu_times(&output.ascii, d->calls, hpx_agent.opt.cutoff, time(NULL));
    }
    hpx_report_text(output.text, &d->report);
    hpx_ascii_report(&output.ascii, output.text);
    if (hpx_out_section(&output.out, true) == 0 && hpx_agent.opt.verbose) {
        hpx_say("Dumping%s%s done.", d->snapshot != NULL ? " CPU usage by sampling running threads ..." : "",
                d->calls == NULL ? ""
                : old            ? " CPU usage in old prof format ..."
                                 : " CPU usage by timing methods ...");
    }
    hpx_snapshot_destroy(d->snapshot);
    hpx_call_snapshot_destroy(d->calls);
}

static void end(struct msg_end *e)
{
    hpx_out_close(&output.out);
    if (output.out.lost > 0) {
        hpx_warn("%s: %llu", hpx_counter_infos[HPX_C_OUTPUT_BYTES].key, (unsigned long long)output.out.lost);
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

/* false: that was the end. */
static bool carry_out(struct hpx_msg *m)
{
    bool more = true;
    switch (m->kind) {
    case MSG_THREAD_START:
        hpx_ascii_thread_start(&output.ascii, &((struct msg_thread *)m)->rec);
        break;
    case MSG_THREAD_END:
        hpx_ascii_thread_end(&output.ascii, &((struct msg_thread *)m)->rec);
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
    hpx_ascii_init(&output.ascii, &output.out);
    hpx_ascii_header(&output.ascii, hpx_agent.start);
    hpx_out_section(&output.out, false); /* a reader of NAME.part finds a whole header */
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
        if (m == NULL) {
            hpx_wake_wait(&output.lane.wake, seen, UINT64_C(1000000000));
            continue;
        }
        for (struct hpx_msg *next; m != NULL && more; m = next) {
            next = m->next;
            more = carry_out(m);
        }
        hpx_out_flush(&output.out);
    }
    hpx_ascii_fini(&output.ascii);
    sem_post(&output.done);
    return NULL;
}

int hpx_output_start(struct hpx_err *err)
{
    int rc = hpx_spawn(run, "hprofx-out", err);
    if (rc != 0) {
        begin(); /* the file says at least when it was made, and gets its name */
        hpx_out_close(&output.out);
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
    size_t text = (size_t)rec->name.len + rec->group.len;
    struct msg_thread *m = hpx_msg_new(ended ? MSG_THREAD_END : MSG_THREAD_START, sizeof *m + text);
    if (m == NULL) {
        hpx_count(&hpx_agent.counters, HPX_C_THREADS_UNTOLD, 1);
        return false;
    }
    char *at = m->text;
    m->rec = (struct hpx_thread_rec){.serial = rec->serial, .object = rec->object};
    m->rec.name = keep(&at, rec->name);
    m->rec.group = keep(&at, rec->group);
    hpx_lane_post(&output.lane, &m->m, false);
    return true;
}

void hpx_output_dump(struct hpx_snapshot *s, struct hpx_call_snapshot *calls, const struct hpx_report *r)
{
    struct msg_dump *m = hpx_msg_new(MSG_DUMP, sizeof *m);
    if (m == NULL) {
        m = output.spare;
        output.spare = NULL;
    }
    if (m == NULL) {
        say_left_out();
        hpx_snapshot_destroy(s);
        hpx_call_snapshot_destroy(calls);
        return;
    }
    m->snapshot = s;
    m->calls = calls;
    m->report = *r;
    hpx_lane_post(&output.lane, &m->m, true);
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
    hpx_lane_post(&output.lane, &m->m, true);
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
        uint64_t now =
            atomic_load_explicit(&output.steps, memory_order_relaxed) + atomic_load_explicit(&output.out.progress, memory_order_relaxed);
        if (now != before) {
            before = now;
            moved = hpx_clock_mono();
        } else if (hpx_clock_mono() - moved > stall_ns) {
            hpx_warn(
                "file=%s: the output does not move: the program ends without the rest of it (is there a reader, is the file system alive?)",
                hpx_agent.opt.file);
            return false;
        }
    }
}

void hpx_output_forget(void)
{
    hpx_out_file_forget(&output.out);
}

uint64_t hpx_output_cpu(void)
{
    pid_t tid = atomic_load_explicit(&output.tid, memory_order_relaxed);
    return tid ? hpx_clock_tid_cpu(tid) : 0;
}
