/* SPDX-License-Identifier: BSD-2-Clause */
/* timeline.c: registers timeline=y as a mode: its rows, its part of the report. */
#include "timeline.h"
#include "clock.h"
#include "hprof_timeline.h"
#include "origin.h"
#include "pauses.h"
#include "report.h"
#include "session.h"
#include "timeline_table.h"
#include <inttypes.h>

static struct hpx_timeline *table(void)
{
    return hpx_timeline_of(hpx_session.model);
}

/* What has no times needs no section. */
static bool wanted(const struct hpx_options *o)
{
    bool sites = o->heap_sites && (o->sites == HPX_SITES_SAMPLED || o->sites == HPX_SITES_COUNTS);
    return o->timeline && ((o->cpu & HPX_CPU_SAMPLES) != 0 || o->wall_ns > 0 || o->monitor || sites);
}

static bool tables(struct hpx_model *m)
{
    uint64_t now = hpx_clock_mono();
    return hpx_timeline_create(m, now, hpx_origin_wall_ms()) != NULL;
}

static void look(void)
{
    uint64_t end_ns, ns;
    while (hpx_pauses_take(&end_ns, &ns)) {
        hpx_timeline_at(table(), end_ns, HPX_TIME_GC, ns);
    }
}

/* ---- a dump ---- */

static void *snapshot(enum hpx_take take)
{
    look();
    return hpx_timeline_snapshot(table(), take, hpx_clock_mono());
}

static bool empty(const void *rows)
{
    return !((const struct hpx_timeline_snapshot *)rows)->taken;
}

static void destroy(void *rows)
{
    hpx_timeline_snapshot_destroy(rows);
}

static void text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)cutoff, (void)answer;
    hpx_ascii_timeline(to, rows);
}

static void binary(struct hpx_binary *to, void *rows, double cutoff)
{
    (void)cutoff;
    hpx_binary_timeline(to, rows);
}

/* ---- the report ---- */

struct figures {
    struct hpx_timeline_figures of;
    uint64_t pauses_lost;
};
HPX_FIGURES_FIT(struct figures);

static void collect(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    struct figures now = {.of = hpx_timeline_figures(table()), .pauses_lost = hpx_pauses_lost()};
    (void)total, (void)rows;
    HPX_FIGURES_PUT(f, now);
}

static void lines(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    struct figures now;
    (void)r;
    HPX_FIGURES_GET(f, now);
    hpx_lines_add(to, "hprofx: timeline: %" PRIu64 " events, %" PRIu64 " KiB\n", now.of.events, now.of.bytes >> 10);
    if (now.of.coarse_ms > 0) {
        hpx_lines_add(to, "hprofx: timeline, by the second or coarser: up to %" PRIu64 " s\n", now.of.coarse_ms / 1000);
    }
    if (now.of.lost > 0) {
        hpx_lines_add(to, "hprofx: timeline, without a time: %" PRIu64 "\n", now.of.lost);
    }
    if (now.pauses_lost > 0) {
        hpx_lines_add(to, "hprofx: timeline, collections without a time: %" PRIu64 "\n", now.pauses_lost);
    }
}

static void summary(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    (void)to, (void)r, (void)f;
}

static const struct hpx_section section = {.title = "times of samples", .empty = empty, .destroy = destroy, .text = text, .binary = binary};

const struct hpx_mode hpx_timeline_mode = {
    .name = "timeline",
    .vm = &hpx_timeline_vm,
    .section = &section,
    .load = {.wanted = wanted, .tables = tables},
    .pass = {.look = look},
    .dump = {.snapshot = snapshot},
    .report = {.collect = collect, .lines = lines, .summary = summary},
};
