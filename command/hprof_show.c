/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_show.c: reads a file once, and shows what hprof_show.h says. */
#include "hprof_show.h"
#include "budget.h"
#include "formats.h"
#include "gunzip.h"
#include "memory.h"
#include "outfile.h"
#include "show.h"
#include "view.h"
#include <stdlib.h>
#include <unistd.h>

struct shown {
    const struct hpx_view *asked;
    const char *file;
    struct hpx_reader *reader;
    const struct hpx_check *check;
    const struct hpx_gunzip *zip;
    enum hpx_status status; /* of its tables */
    struct hpx_err err;
};

static void note_cut(const struct shown *s)
{
    if (s->zip->cut && s->reader->result == HPX_RD_SOUND && !s->asked->part) {
        (void)hpx_reader_break(s->reader, s->reader->end, 0, "the compressed data end too early");
    }
}

/* A hpx_tree_profile: nothing comes any more. */
static void show(void *ctx, struct hpx_tree *t, struct hpx_profile *p)
{
    struct shown *s = ctx;
    struct hpx_json j = {.to = stdout};
    note_cut(s);
    const struct hpx_report r = {.to = stdout,
                                 .file = s->file,
                                 .reader = s->reader,
                                 .check = s->check,
                                 .profile = p,
                                 .bold = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL};
    hpx_tree_finish(t);
    if (s->asked->json) {
        hpx_json_open(&j, NULL, '{');
        hpx_report_json(&j, &r);
        s->status = hpx_look_members(&j, t) ? HPX_OK : hpx_fail(&s->err, HPX_FAILED, "no memory");
        hpx_json_close(&j, '}');
        (void)putchar('\n');
    } else {
        struct hpx_tree_column any[HPX_VIEWS * HPX_TREE_VALUES];
        hpx_report_facts(&r);
        bool has = t->no_memory || t->empty != 0 || t->states != NULL || hpx_tree_columns(t, any) > 0;
        s->status = has ? hpx_look_all(stdout, t, true, &s->err) : HPX_OK;
        hpx_report_faults(&r);
    }
}

static enum hpx_status read_and_show(struct shown *s)
{
    struct hpx_tree t;
    struct hpx_reader *r = s->reader;
    if (s->asked->check && !s->asked->json) {
        if (hpx_reader_run(r) != HPX_RD_FAILED) {
            note_cut(s);
            hpx_report_check(&(struct hpx_report){.to = stdout, .file = s->file, .reader = r, .check = s->check, .notes = s->asked->notes});
        }
    } else {
        enum hpx_tree_read done =
            hpx_tree_init(&t) ? hpx_tree_run_hprof(&t, r, show, s, &s->err) : (enum hpx_tree_read)(r->result = HPX_RD_FAILED);
        s->status = done == HPX_TREE_FAILED ? HPX_FAILED : s->status;
        hpx_tree_fini(&t);
    }
    if (r->result == HPX_RD_FAILED) {
        s->status = hpx_fail(&s->err, HPX_FAILED, "%s: %s", s->file, s->zip->fault != NULL ? s->zip->fault : r->why);
    }
    return s->status != HPX_OK ? (enum hpx_status)hpx_complain(s->status, &s->err) : r->result == HPX_RD_SOUND ? HPX_OK : HPX_PARTIAL;
}

enum hpx_status hpx_view(const struct hpx_view *a, const char *file, int fd)
{
    struct hpx_source source;
    struct hpx_check c;
    struct hpx_err err;
    struct hpx_budget budget;
    static struct hpx_gunzip g;
    hpx_gunzip_init(&g, fd);
    hpx_budget_begin(&budget, hpx_memory_for_file(fd), NULL);
    if (hpx_source_init(&source, hpx_gunzip_read, &g) != 0) {
        hpx_budget_end(&budget);
        return (enum hpx_status)hpx_complain(hpx_fail(&err, HPX_FAILED, "no memory"), &err);
    }
    hpx_check_init(&c);
    struct hpx_reader r = {.source = &source, .sinks = {hpx_check_event}, .ctx = {&c}, .strict = a->strict, .unfinished = a->part};
    struct shown s = {.asked = a, .file = file, .reader = &r, .check = &c, .zip = &g};
    enum hpx_status status = read_and_show(&s);
    hpx_check_fini(&c);
    hpx_source_fini(&source);
    hpx_gunzip_fini(&g);
    hpx_budget_end(&budget);
    return status;
}
