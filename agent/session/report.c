/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c: the lines of report.h. */
#include "report.h"
#include "rotate.h"
#include <inttypes.h>

uint64_t hpx_report_lost(const struct hpx_report *r)
{
    return hpx_counter_get(&r->total, HPX_C_LOST_RING_FULL) + hpx_counter_get(&r->total, HPX_C_LOST_NESTED) +
           hpx_counter_get(&r->total, HPX_C_LOST_NO_MEMORY);
}

static void add_losses(struct hpx_lines *to, const struct hpx_report *r)
{
    for (int i = 0; i < HPX_C_COUNT; i++) {
        uint64_t n = hpx_counter_get(&r->total, (enum hpx_counter)i);
        if (hpx_counter_infos[i].kind == HPX_COUNTER_LOSS && n > 0) {
            hpx_lines_add(to, "hprofx: %s: %" PRIu64 " (%s)\n", hpx_counter_infos[i].key, n, hpx_counter_infos[i].text);
        }
    }
}

void hpx_report_text(char to[static HPX_REPORT_TEXT], const struct hpx_report *r)
{
    struct hpx_lines t = {to, 0};
    bool names_classes = false;
    hpx_lines_add(&t, "hprofx: version: %s\n", HPX_VERSION);
    if (!hpx_session_bare()) { /* stderr knows */
        hpx_origin_lines(&t, &r->period);
    }
    if (r->kept) {
        hpx_lines_add(&t, "hprofx: counts: go on: the next table has those of this one, too\n");
    }
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        hpx_session.modes[i]->report.lines(&t, r, &r->figures[i]);
        names_classes = names_classes || hpx_session.modes[i]->report.names_classes;
    }
    if (hpx_session.host->lines != NULL) {
        hpx_session.host->lines(&t);
    }
    hpx_rotate_lines(&t);
    if (r->summed > 0) {
        hpx_lines_add(&t, "hprofx: rows summed: %" PRIu64 ", each at most %.4f %% (maxfile=)\n", r->summed, r->summed_below * 100);
    }
    hpx_lines_add(&t, "hprofx: lost: %" PRIu64 "\n", hpx_report_lost(r));
    add_losses(&t, r);
    hpx_lines_add(&t, "hprofx: own CPU time: %.3f ms (%.2f %% of the program's)\n", hpx_lines_ms(r->own_cpu_ns),
                  hpx_lines_percent(r->own_cpu_ns, r->program_cpu_ns));
    if (names_classes) {
        hpx_lines_add(&t, "hprofx: classes: %" PRIu32 " known, %" PRIu64 " unloaded\n", r->classes,
                      hpx_counter_get(&r->total, HPX_C_CLASSES_UNLOADED));
    }
    hpx_lines_add(&t, "hprofx: tables: %zu KiB, of which %zu KiB for traces\n", r->table_bytes >> 10, r->trace_bytes >> 10);
}

void hpx_report_summary(char to[static HPX_REPORT_TEXT], const struct hpx_report *r)
{
    struct hpx_lines t = {to, 0};
    to[0] = 0;
    for (uint32_t i = 0; hpx_session.opt->verbose && i < hpx_session.nmodes; i++) {
        hpx_session.modes[i]->report.summary(&t, r, &r->figures[i]);
    }
    add_losses(&t, r);
}
