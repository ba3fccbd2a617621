/* SPDX-License-Identifier: BSD-2-Clause */
/* wall.c: registers wall= as a mode: its rows, its part of the report. */
#include "wall.h"
#include "carrier.h"
#include "hprof_wall.h"
#include "log.h"
#include "quiet_stack.h"
#include "report.h"
#include "session.h"
#include "virtual_waits.h"
#include "wait_class.h"
#include "wall_table.h"
#include "watch.h"
#include "watched.h"
#include <inttypes.h>

/* The aggregator's. */
static HPX_OF_SESSION struct {
    struct hpx_walls *table;
    uint64_t asked; /* number of the round that a dump waits for; 0: none */
} wall;

static bool wanted(const struct hpx_options *o)
{
    return o->wall_ns > 0;
}

static void begin(void)
{
    wall.table = hpx_walls_create(hpx_session.model, hpx_session.opt->interval_ns);
    hpx_carrier_begin(&hpx_wall_mode);
    bool lists = hpx_watched_begin(&hpx_wall_mode) == 0; /* before the test: threads are listed even if the table fails */
    if (wall.table == NULL || !lists) {
        hpx_warn("wall=: no memory for the table of time; WALL CLOCK is empty or incomplete; raise the limit of the process's memory");
    }
}

static void fini(void)
{
    wall.table = NULL;
    hpx_wait_class_fini();
    hpx_watched_fini();
}

/* ---- a dump ---- */

static bool prepare(enum hpx_why why)
{
    if (why == HPX_WHY_OTHERS) {
        return true;
    }
    if (wall.asked == 0) {
        wall.asked = hpx_watch_ask(why == HPX_WHY_REQUEST);
    }
    bool done = hpx_watch_done() >= wall.asked;
    wall.asked = done ? 0 : wall.asked;
    return done;
}

static void *snapshot(enum hpx_take take)
{
    wall.asked = 0;
    return wall.table != NULL ? hpx_walls_snapshot(wall.table, take) : NULL;
}

static bool empty(const void *rows)
{
    return ((const struct hpx_wall_snapshot *)rows)->nrows == 0;
}

static void destroy(void *rows)
{
    hpx_wall_snapshot_destroy(rows);
}

static void text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_wall_clock(to, rows, cutoff, time(NULL));
}

static void binary(struct hpx_binary *to, void *rows, double cutoff)
{
    hpx_binary_wall_clock(to, rows, cutoff);
}

/* ---- the report ---- */

enum { THREADS, UNSEEN, ROUNDS, LOOKS, STACKS, WALKED, MOVED, CARRIERS, MEAN_NS, MOVED_NS, IDLE_NS, BYTES, UNKNOWN_NS, WAITS, LONGER, NS };
static_assert(NS + HPX_WALL_STATES <= HPX_MODE_VALUES, "the figures have room for all states");

static void collect(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    struct hpx_watch_figures w = hpx_watch_figures();
    struct hpx_watched_figures l = hpx_watched_figures();
    struct hpx_virtual_waits_figures v = hpx_virtual_waits_figures();
    (void)total, (void)rows;
    f->v[THREADS] = l.threads;
    f->v[UNSEEN] = l.unseen;
    f->v[ROUNDS] = w.rounds;
    f->v[LOOKS] = l.looks;
    f->v[STACKS] = l.stacks;
    f->v[MOVED] = l.moved;
    f->v[WALKED] = l.walked;
    f->v[CARRIERS] = l.carriers;
    f->v[MEAN_NS] = w.mean_ns;
    f->v[MOVED_NS] = l.moved_ns;
    f->v[IDLE_NS] = l.idle_ns;
    f->v[BYTES] = l.bytes;
    f->v[WAITS] = v.waits;
    f->v[LONGER] = v.longer;
    if (wall.table != NULL) {
        struct hpx_wall_totals t = hpx_walls_totals(wall.table);
        f->v[UNKNOWN_NS] = t.unknown_ns;
        for (int i = 0; i < HPX_WALL_STATES; i++) {
            f->v[NS + i] = t.ns[i];
        }
    }
}

static uint64_t own_cpu(const struct hpx_counters *total)
{
    (void)total;
    return hpx_watch_figures().cpu_ns;
}

static uint64_t all_ns(const struct hpx_figures *f)
{
    uint64_t ns = 0;
    for (int i = 0; i < HPX_WALL_STATES; i++) {
        ns += f->v[NS + i];
    }
    return ns;
}

static void virtual_lines(struct hpx_lines *to, const struct hpx_figures *f)
{
    struct hpx_virtual_waits_figures v = hpx_virtual_waits_figures();
    const char *why_not = v.why_not;
    if (why_not != NULL) {
        hpx_lines_add(
            to, "hprofx: wall clock, virtual threads: on %" PRIu64 " carriers; waits of unmounted virtual threads are not shown: %s\n",
            f->v[CARRIERS], why_not);
    } else {
        hpx_lines_add(to,
                      "hprofx: wall clock, virtual threads: on %" PRIu64 " carriers; %" PRIu64 " waits recorded, %" PRIu64
                      " of them in full; waits that are not over are not shown%s%s\n",
                      f->v[CARRIERS], f->v[WAITS], f->v[LONGER], v.no_monitors != NULL ? "; nor are those for monitors: " : "",
                      v.no_monitors != NULL ? v.no_monitors : "");
    }
}

static void lines(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    hpx_lines_add(to, "hprofx: wall clock: %.0f ms of %" PRIu64 " threads alive and of those that have ended\n", hpx_lines_ms(all_ns(f)),
                  f->v[THREADS]);
    hpx_lines_add(to, "hprofx: wall clock, rounds: %" PRIu64 ", every %.3g ms\n", f->v[ROUNDS], hpx_lines_ms(f->v[MEAN_NS]));
    hpx_lines_add(to,
                  "hprofx: wall clock, looks: %" PRIu64 ", %" PRIu64 " stacks taken, %" PRIu64 " of them without the VM, %" PRIu64
                  " thrown away\n",
                  f->v[LOOKS], f->v[STACKS], f->v[WALKED], f->v[MOVED]);
    hpx_lines_add(to, "hprofx: wall clock, time per look: %.3g ms of threads that ran, %.3g ms of others\n", hpx_lines_ms(f->v[MOVED_NS]),
                  hpx_lines_ms(f->v[IDLE_NS]));
    hpx_lines_add(to, "hprofx: wall clock, without a stack: %.0f ms (%.2f %%)\n", hpx_lines_ms(f->v[UNKNOWN_NS]),
                  hpx_lines_percent(f->v[UNKNOWN_NS], all_ns(f)));
    if (f->v[UNSEEN] > 0) {
        hpx_lines_add(to, "hprofx: wall clock, threads not seen: %" PRIu64 "\n", f->v[UNSEEN]);
    }
    if (hpx_wait_class_unread() != NULL) {
        hpx_lines_add(to, "hprofx: wall clock, monitors not told: %s\n", hpx_wait_class_unread());
    }
    hpx_lines_add(to, "hprofx: wall clock, list of threads: %" PRIu64 " KiB\n", f->v[BYTES] >> 10);
    if (f->v[CARRIERS] > 0) {
        virtual_lines(to, f);
    }
    hpx_quiet_stack_lines(&hpx_wall_mode, to, &r->total);
}

static void summary(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    (void)r;
    hpx_lines_add(to, "hprofx: wall clock: %.0f ms of threads, %.2f %% of them running\n", hpx_lines_ms(all_ns(f)),
                  hpx_lines_percent(f->v[NS + HPX_WALL_RUNNING], all_ns(f)));
}

static const struct hpx_section section = {
    .title = "time of threads by state", .empty = empty, .destroy = destroy, .text = text, .binary = binary};

const struct hpx_mode hpx_wall_mode = {
    .name = "wall",
    .vm = &hpx_wall_vm,
    .section = &section,
    .load = {.wanted = wanted, .begin = begin},
    .pass = {.gone = hpx_watched_gone},
    .dump = {.prepare = prepare, .snapshot = snapshot},
    .end = {.fini = fini},
    .report = {.collect = collect, .own_cpu = own_cpu, .lines = lines, .summary = summary},
};
