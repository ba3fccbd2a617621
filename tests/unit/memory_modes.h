/* SPDX-License-Identifier: BSD-2-Clause */
/* memory_modes.h: the modes of test_no_memory.c: the agent's tables, snapshots and sections, without a JVM. */
#ifndef HPX_MEMORY_MODES_H
#define HPX_MEMORY_MODES_H

#include "every_event.h"
#include "hprof_blocks.h"
#include "hprof_sites.h"
#include "hprof_wall.h"
#include "report.h"
#include <inttypes.h>

static const struct variant {
    const char *name, *options;
    const struct hpx_mode *const *modes;
    uint32_t n;    /* of each kind */
    uint32_t step; /* between two allocations that fail; 0: 1 */
    uint32_t maps; /* how many mappings fail */
    bool journals; /* what the journal has is all of it */
    bool sampled, ticks, owners;
} * now;

static bool always(const struct hpx_options *o)
{
    (void)o;
    return true;
}

static void gone(struct hpx_thread *t)
{
    hpx_ring_fini(&t->ring);
}

static bool is_empty(const void *rows)
{
    return rows == NULL;
}

static void no_lines(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    (void)to, (void)r, (void)f;
}

static void no_figures(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    (void)f, (void)total, (void)rows;
}

static struct hpx_samples *samples;
static struct hpx_walls *walls;
static struct hpx_call_rows *calls;
static struct hpx_sites *sites;
static struct hpx_blocks *blocks;

static bool samples_tables(struct hpx_model *m)
{
    return (samples = hpx_samples_create(m)) != NULL;
}

static bool walls_tables(struct hpx_model *m)
{
    return (walls = hpx_walls_create(m, MS)) != NULL;
}

static bool calls_tables(struct hpx_model *m)
{
    const struct hpx_call_options o = {.depth = 3, .times_from_ticks = now->ticks};
    return (calls = hpx_call_rows_create(m, &o)) != NULL;
}

static bool sites_tables(struct hpx_model *m)
{
    const struct hpx_site_options o = {.ids = &ids, .live = true};
    return (sites = hpx_sites_create(m, &o)) != NULL;
}

static bool counts_tables(struct hpx_model *m)
{
    const struct hpx_site_options o = {.ids = &ids, .counts = true};
    return (sites = hpx_sites_create(m, &o)) != NULL;
}

static bool blocks_tables(struct hpx_model *m)
{
    const struct hpx_block_options o = {.interval_ns = now->sampled ? MS : 0, .owners = now->owners};
    return (blocks = hpx_blocks_create(m, &o)) != NULL;
}

static void *samples_snapshot(enum hpx_take take)
{
    return hpx_samples_snapshot(samples, take);
}

static void *walls_snapshot(enum hpx_take take)
{
    return hpx_walls_snapshot(walls, take);
}

static void *calls_snapshot(enum hpx_take take)
{
    return hpx_call_rows_snapshot(calls, take);
}

static void *sites_snapshot(enum hpx_take take)
{
    if (take < HPX_TAKE_NEW) {
        return hpx_sites_snapshot(sites);
    }
    struct hpx_site_snapshot *none = calloc(1, sizeof *none);
    if (none != NULL) {
        none->flags = HPX_SITES_NOTHING;
    }
    return none;
}

#define COUNTED 5u /* by a counter of a thread that runs */

static void *counts_snapshot(enum hpx_take take)
{
    hpx_sites_forget_running(sites);
    hpx_sites_add_counter(sites, 1, COUNTED, 80, false);
    return sites_snapshot(take);
}

static void *blocks_snapshot(enum hpx_take take)
{
    return take < HPX_TAKE_NEW ? hpx_blocks_snapshot(blocks, take == HPX_TAKE_KEEP) : calloc(1, sizeof(struct hpx_block_snapshot));
}

static void samples_destroy(void *rows)
{
    hpx_snapshot_destroy(rows);
}

static void walls_destroy(void *rows)
{
    hpx_wall_snapshot_destroy(rows);
}

static void calls_destroy(void *rows)
{
    hpx_call_snapshot_destroy(rows);
}

static void sites_destroy(void *rows)
{
    hpx_site_snapshot_destroy(rows);
}

static void blocks_destroy(void *rows)
{
    hpx_block_snapshot_destroy(rows);
}

static void samples_text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_cpu_samples(to, rows, cutoff, 0);
}

static void walls_text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_wall_clock(to, rows, cutoff, 0);
}

static void calls_text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_cpu_times(to, rows, cutoff, 0);
}

static void sites_text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_sites(to, rows, cutoff, 0);
}

static void blocks_text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_report(to, "MONITOR DUMP"); /* each dump has it, and so a report */
    for (uint32_t i = 0; i < HPX_BLOCK_PARTS; i++) {
        hpx_bound_part(to->bound, to->out, HPX_BLOCK_PARTS - i);
        hpx_ascii_block_table(to, (enum hpx_block_part)i, &((struct hpx_block_snapshot *)rows)->of[i], cutoff, 0);
    }
}

static void samples_binary(struct hpx_binary *to, void *rows, double cutoff)
{
    hpx_binary_cpu_samples(to, rows, cutoff);
}

static void walls_binary(struct hpx_binary *to, void *rows, double cutoff)
{
    hpx_binary_wall_clock(to, rows, cutoff);
}

static void sites_binary(struct hpx_binary *to, void *rows, double cutoff)
{
    hpx_binary_sites(to, rows, cutoff);
}

/* Calls that are in no row, as the agent's report has them; objects that no row has. */
static void calls_collect(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    const struct hpx_call_snapshot *s = rows;
    (void)total;
    f->v[0] = s != NULL ? s->open_calls + s->lost_calls : 0;
}

static void sites_collect(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    const struct hpx_site_snapshot *s = rows;
    (void)total;
    f->v[0] = s != NULL ? s->missed_objects : 0;
}

#define ROWLESS "hprofx: in no row"

static void rowless(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    (void)r;
    hpx_lines_add(to, ROWLESS ": %" PRIu64 "\n", f->v[0]);
}

#define SECTION(of, ...)                                                                                                                   \
    {                                                                                                                                      \
        .title = #of, .empty = is_empty, .destroy = of##_destroy, .text = of##_text, __VA_ARGS__                                           \
    }
#define MODE(of, with_snapshot, with_tables, figures, ...)                                                                                 \
    {                                                                                                                                      \
        .name = #of, .section = &of##_section, .load = {.wanted = always, .tables = (with_tables)}, .pass = {.gone = gone},                \
        .dump = {.snapshot = (with_snapshot)}, .report = {                                                                                 \
            .collect = (figures),                                                                                                          \
            .summary = no_lines,                                                                                                           \
            __VA_ARGS__                                                                                                                    \
        }                                                                                                                                  \
    }
static const struct hpx_section samples_section = SECTION(samples, .binary = samples_binary),
                                walls_section = SECTION(walls, .binary = walls_binary), calls_section = SECTION(calls, .binary = NULL),
                                sites_section = SECTION(sites, .binary = sites_binary, .lasting = true),
                                blocks_section = SECTION(blocks, .binary = NULL);
static const struct hpx_mode samples_mode = MODE(samples, samples_snapshot, samples_tables, no_figures, .lines = no_lines),
                             walls_mode = MODE(walls, walls_snapshot, walls_tables, no_figures, .lines = no_lines),
                             calls_mode = MODE(calls, calls_snapshot, calls_tables, calls_collect, .lines = rowless),
                             sites_mode = MODE(sites, sites_snapshot, sites_tables, no_figures, .lines = no_lines),
                             counts_mode = MODE(sites, counts_snapshot, counts_tables, sites_collect, .lines = rowless),
                             blocks_mode = MODE(blocks, blocks_snapshot, blocks_tables, no_figures, .lines = no_lines);

static bool has(const struct hpx_mode *mode)
{
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        if (hpx_session.modes[i] == mode) {
            return true;
        }
    }
    return false;
}

#endif
