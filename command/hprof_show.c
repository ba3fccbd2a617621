/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_show.c: reads a file once, and shows what hprof_show.h says. */
#include "hprof_show.h"
#include "gunzip.h"
#include "show.h"
#include <stdlib.h>
#include <unistd.h>

static void show(const struct hpx_view *a, const struct hpx_report *r)
{
    if (a->json) {
        hpx_report_json(r);
    } else if (a->check) {
        hpx_report_check(r);
    } else if (a->verdict != NULL) {
        hpx_verdict_say(r->to, a->verdict, r->profile);
        hpx_report_tables(r);
    } else {
        hpx_report_view(r);
    }
}

int hpx_view(const struct hpx_view *a, const char *file, int fd)
{
    struct hpx_source s;
    struct hpx_check c;
    static struct hpx_profile p;
    static struct hpx_gunzip g;
    bool summary = a->json || !a->check;
    hpx_gunzip_init(&g, fd);
    if (hpx_source_init(&s, hpx_gunzip_read, &g) != 0 || (summary && hpx_profile_init(&p) != 0)) {
        fprintf(stderr, "%s: no memory\n", a->program);
        return HPX_VIEW_UNUSABLE;
    }
    p.defined.whole = a->verdict != NULL;
    hpx_check_init(&c);
    struct hpx_reader r = {.source = &s,
                           .sinks = {hpx_check_event, summary ? hpx_profile_event : NULL},
                           .ctx = {&c, &p},
                           .strict = a->strict,
                           .judge_ours = true,
                           .unfinished = a->part};
    int result = hpx_reader_run(&r);
    if (g.cut && result == HPX_RD_SOUND && !a->part) {
        result = hpx_reader_break(&r, r.end, 0, "the compressed data end too early");
    }
    if (summary) {
        hpx_profile_finish(&p);
    }
    if (result == HPX_RD_FAILED) {
        fprintf(stderr, "%s: %s: %s\n", a->program, file, g.fault != NULL ? g.fault : r.why);
    } else {
        struct hpx_report report = {
            .to = a->to != NULL ? a->to : stdout, .file = file, .reader = &r, .check = &c, .profile = summary ? &p : NULL};
        report.bold = a->to == NULL && isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
        show(a, &report);
    }
    if (summary) {
        hpx_profile_fini(&p);
    }
    hpx_check_fini(&c);
    hpx_source_fini(&s);
    hpx_gunzip_fini(&g);
    return result == HPX_RD_FAILED ? HPX_VIEW_UNUSABLE : result == HPX_RD_SOUND ? HPX_VIEW_SOUND : HPX_VIEW_BROKEN;
}
