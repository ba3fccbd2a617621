/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor.c: registers monitor=y as a mode: dump, WAIT lines, report. */
#include "monitor.h"
#include "block_table.h"
#include "block_thread.h"
#include "class_number.h"
#include "hprof_blocks.h"
#include "kept_states.h"
#include "log.h"
#include "monitor_take.h"
#include "monitor_text.h"
#include "output.h"
#include "quiet_stack.h"
#include "report.h"
#include "service.h"
#include <inttypes.h>
#include <stdlib.h>

HPX_OF_SESSION struct hpx_monitor_shared hpx_monitor_shared;

#define DEADLOCKS_SAID 64u

/* What a dump shows. */
struct rows {
    struct hpx_monitor_take *take; /* NULL: no MONITOR DUMP */
    struct hpx_block_snapshot *blocks;
};

static HPX_OF_SESSION struct {
    struct hpx_blocks *table;             /* the aggregator's, as all below unless stated otherwise */
    uint64_t lines;                       /* WAIT lines so far */
    uint64_t unwritten;                   /* not written: waitlog= */
    uint32_t said[DEADLOCKS_SAID], nsaid; /* smallest serials of deadlocks that stderr has */
} monitor;

static bool wanted(const struct hpx_options *o)
{
    return o->monitor;
}

/* ---- WAIT lines ---- */

/* The limit is the output's: totals go on. */
static void stop_log(void)
{
    atomic_store_explicit(&hpx_monitor_shared.logs, false, memory_order_relaxed);
    if (hpx_session.opt->waitlog > 0) {
        hpx_warn("monitor=y: waitlog=%llu: no more WAIT lines are written; waits are only counted from here on; waitlog=-1 writes all",
                 (unsigned long long)hpx_session.opt->waitlog);
    }
}

static void put_line(struct hpx_text signature, int64_t ms, uint32_t thread, bool waited)
{
    const struct hpx_wait_line line = {signature, ms, thread, waited};
    if (monitor.lines >= hpx_session.opt->waitlog) {
        monitor.unwritten++;
        return;
    }
    monitor.lines++;
    if (!hpx_output_line(&hpx_monitor_mode, &line, sizeof line)) {
        hpx_count(&hpx_session.counters, HPX_C_WAITS_UNWRITTEN, 1);
    }
    if (monitor.lines == hpx_session.opt->waitlog) {
        stop_log();
    }
}

static void line(struct hpx_ascii *to, const void *data)
{
    hpx_ascii_wait(to, data);
}

/* ---- life ---- */

static void begin(void)
{
    const struct hpx_options *o = hpx_session.opt;
    const struct hpx_block_options table = {
        .interval_ns = o->stacks == HPX_STACKS_SAMPLED ? o->interval_ns : 0, .owners = hpx_session.in_effect.owner, .wait = put_line};
    monitor.nsaid = 0;
    monitor.lines = monitor.unwritten = 0;
    atomic_store_explicit(&hpx_monitor_shared.logs, o->waitlog > 0, memory_order_relaxed);
    monitor.table = hpx_blocks_create(hpx_session.model, &table);
    if (monitor.table == NULL) {
        hpx_warn("monitor=y: no memory for the table of blocked time; no contention is counted; raise the limit of the process's memory");
    }
}

static void fini(void)
{
    monitor.table = NULL;
    hpx_monitor_take_fini();
    hpx_site_ids_fini(&hpx_monitor_shared.places);
    hpx_site_ids_fini(&hpx_ids);
}

static void gone(struct hpx_thread *t)
{
    hpx_kept_states_give(HPX_CONTAINER_OF(t, struct hpx_mode_thread, base));
}

/* ---- a dump ---- */

static jvmtiError take(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (hpx_gate_enter(&hpx_session.gate)) {
        hpx_monitor_take_now(jvmti, env, false);
        hpx_gate_leave(&hpx_session.gate);
    }
    return JVMTI_ERROR_NONE;
}

static const struct hpx_service_task image_task = HPX_SERVICE_TASK(take, "monitor dump");
static HPX_OF_SESSION struct hpx_service_work image;

static bool prepare(enum hpx_why why)
{
    return why != HPX_WHY_REQUEST || hpx_service_prepare(&image, &image_task);
}

/* Thousands of threads with many monitors each are asked one by one. */
static uint64_t patience(void)
{
    return UINT64_C(30) * 1000 * 1000 * 1000;
}

/* true: stderr does not have it yet. */
static bool is_new(uint32_t smallest)
{
    for (uint32_t i = 0; i < monitor.nsaid; i++) {
        if (monitor.said[i] == smallest) {
            return false;
        }
    }
    if (monitor.nsaid < DEADLOCKS_SAID) {
        monitor.said[monitor.nsaid++] = smallest;
    }
    return true;
}

/* Tells the threads of one run apart. */
static uint32_t number_of(const struct hpx_deadlock_thread *t)
{
    return t->virtual_tid != 0 ? UINT32_C(1) << 31 | (uint32_t)t->virtual_tid : t->serial;
}

static void say_deadlocks(const struct hpx_monitor_image *i)
{
    for (uint32_t n = 0, next; n < i->ndeadlocks; n = next) {
        uint32_t smallest = number_of(&i->deadlocks[n]);
        for (next = n + 1; next < i->ndeadlocks && !i->deadlocks[next].first; next++) {
            const uint32_t number = number_of(&i->deadlocks[next]);
            smallest = number < smallest ? number : smallest;
        }
        if (is_new(smallest)) {
            const struct hpx_text first = i->deadlocks[n].name, second = i->deadlocks[next - 1].name;
            hpx_warn("deadlock: %u threads wait for each other, among them %.*s and %.*s; see DEADLOCKS in the output", next - n,
                     (int)first.len, first.bytes, (int)second.len, second.bytes);
        }
    }
}

/* The journal has neither the state of threads nor blocked time. */
static void *snapshot(enum hpx_take take)
{
    struct rows *r = calloc(1, sizeof *r);
    if (r == NULL || take == HPX_TAKE_NEW || take == HPX_TAKE_ALL) {
        return r;
    }
    r->blocks = monitor.table != NULL ? hpx_blocks_snapshot(monitor.table, take == HPX_TAKE_KEEP) : NULL;
    if (monitor.table != NULL && r->blocks == NULL) {
        free(r);
        return NULL;
    }
    hpx_service_forget(&image);
    r->take = hpx_monitor_take_get();
    if (r->take != NULL && r->take->failed == NULL) {
        hpx_monitor_take_name(r->take, hpx_model_symbols(hpx_session.model));
        say_deadlocks(&r->take->image);
    }
    return r;
}

static bool shown(const struct rows *r)
{
    return r->take != NULL && r->take->failed == NULL;
}

static bool empty(const void *rows)
{
    return ((const struct rows *)rows)->blocks == NULL; /* the journal's */
}

static bool missing(const void *rows)
{
    const struct rows *r = rows;
    return r->blocks != NULL && !shown(r);
}

static void destroy(void *rows)
{
    struct rows *r = rows;
    if (r != NULL) {
        hpx_block_snapshot_destroy(r->blocks);
        if (r->take != NULL) {
            hpx_monitor_take_drop(r->take);
        }
    }
    free(r);
}

static void text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    struct rows *r = rows;
    (void)answer;
    if (empty(rows)) {
        return;
    }
    if (shown(r)) {
        hpx_ascii_monitor_dump(to, &r->take->image);
    } else { /* readers know a dump by its sections */
        struct hpx_monitor_image none = {.notes = {r->take != NULL ? r->take->failed : "the JVM was not asked in time"}};
        hpx_ascii_monitor_dump(to, &none);
    }
    hpx_bound_skip(to->bound, to->out);
    for (uint32_t i = 0; i < HPX_BLOCK_PARTS; i++) {
        hpx_bound_part(to->bound, to->out, HPX_BLOCK_PARTS - i);
        hpx_ascii_block_table(to, (enum hpx_block_part)i, &r->blocks->of[i], cutoff, time(NULL));
    }
}

/* ---- the report ---- */

struct figures {
    struct hpx_block_totals all;
    uint64_t unwritten; /* WAIT lines */
    enum { NO_DUMP, SHOWN, MISSING } dump;
    uint32_t threads, monitors, questions; /* of the image */
    uint64_t longest_ns, ns, asked_ns;
    uint64_t virtuals, groups, copied_ns; /* virtual threads; the stops for their copy and before it */
};
HPX_FIGURES_FIT(struct figures);

static void collect(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    const struct rows *r = rows;
    const struct hpx_monitor_take *t = r != NULL ? r->take : NULL;
    struct figures g = {.unwritten = monitor.unwritten, .dump = r == NULL ? NO_DUMP : shown(r) ? SHOWN : MISSING};
    (void)total;
    if (monitor.table != NULL) {
        g.all = hpx_blocks_totals(monitor.table);
    }
    if (t != NULL) {
        g.threads = t->image.nthreads;
        g.monitors = t->image.nmonitors;
        g.questions = t->questions;
        g.longest_ns = t->longest_ns;
        g.ns = t->ns;
        g.asked_ns = t->asked_ns;
        if (t->census != NULL) {
            g.virtuals = t->census->threads;
            g.groups = t->census->ngroups;
            g.copied_ns = t->census->checked_ns + t->census->stop_ns;
        }
    }
    HPX_FIGURES_PUT(f, g);
}

static void lines(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    const struct hpx_options *o = hpx_session.opt;
    struct figures g;
    HPX_FIGURES_GET(f, g);
    hpx_lines_add(to, "hprofx: contentions: %" PRIu64 ", %.1f ms%s\n", g.all.count[HPX_BLOCK_ENTER],
                  hpx_lines_ms(g.all.ns[HPX_BLOCK_ENTER]), o->stacks == HPX_STACKS_SAMPLED ? ", by trace estimated" : "");
    if (hpx_session.in_effect.owner) {
        hpx_lines_add(to, "hprofx: contentions without an owner: %" PRIu64 "%s\n", g.all.unowned,
                      hpx_session.in_effect.owner == HPX_OWNER_SAMPLED ? " (owner=sampled asks for few)" : "");
    }
    hpx_lines_add(to, "hprofx: waits: %" PRIu64 ", %.1f ms\n", g.all.waits, hpx_lines_ms(g.all.wait_ns));
    if (o->locks) {
        hpx_lines_add(to, "hprofx: parked: %" PRIu64 ", %.1f ms\n", g.all.count[HPX_BLOCK_PARK], hpx_lines_ms(g.all.ns[HPX_BLOCK_PARK]));
    }
    hpx_quiet_stack_lines(&hpx_monitor_mode, to, &r->total);
    if (g.unwritten > 0 || (o->waitlog == 0 && g.all.waits > 0)) {
        hpx_lines_add(to, "hprofx: wait lines: only the first %" PRIu64 " (waitlog=)\n", o->waitlog);
    }
    if (g.dump == SHOWN) {
        hpx_lines_add(to,
                      "hprofx: monitor dump: %" PRIu32 " threads, %" PRIu32 " monitors, %.1f ms, %" PRIu32
                      " questions of %.1f ms, longest %.1f ms\n",
                      g.threads, g.monitors, hpx_lines_ms(g.ns), g.questions, hpx_lines_ms(g.asked_ns), hpx_lines_ms(g.longest_ns));
        if (g.virtuals > 0) {
            hpx_lines_add(to, "hprofx: virtual threads: %" PRIu64 " in %" PRIu64 " groups, stops of %.1f ms\n", g.virtuals, g.groups,
                          hpx_lines_ms(g.copied_ns));
        }
    } else if (g.dump == MISSING) {
        hpx_lines_add(to, "hprofx: monitor dump: not in this dump\n");
    }
}

static void summary(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    uint64_t lost = hpx_counter_get(&r->total, HPX_C_LOST_WAIT);
    struct figures g;
    HPX_FIGURES_GET(f, g);
    hpx_lines_add(to, "hprofx: contentions: %" PRIu64 ", %.1f ms, %" PRIu64 " lost%s\n", g.all.count[HPX_BLOCK_ENTER],
                  hpx_lines_ms(g.all.ns[HPX_BLOCK_ENTER]), lost, g.dump == NO_DUMP ? "; no profile at exit" : "");
}

static const struct hpx_section section = {
    .title = "contended monitor usage", .empty = empty, .missing = missing, .destroy = destroy, .line = line, .text = text};

const struct hpx_mode hpx_monitor_mode = {
    .name = "monitor=y",
    .vm = &hpx_monitor_vm,
    .section = &section,
    .load = {.wanted = wanted, .begin = begin},
    .pass = {.gone = gone},
    .dump = {.prepare = prepare, .patience = patience, .snapshot = snapshot},
    .end = {.fini = fini},
    .report = {.collect = collect, .lines = lines, .summary = summary},
};
