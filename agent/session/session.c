/* SPDX-License-Identifier: BSD-2-Clause */
/* session.c: the options and modes of session.h, and the parts of a dump. */
#include "session.h"
#include "options.h"
#include <stdio.h>
#include <string.h>

static HPX_OF_SESSION struct hpx_options given; /* hpx_session.opt */
struct hpx_session hpx_session = {.opt = &given};
_Atomic uint32_t hpx_session_number;

int hpx_session_parse(const char *java_hprof_options, const char *hprofx_options, const char *command_line, struct hpx_err *err)
{
    int rc = hpx_options_parse(&given, java_hprof_options, hprofx_options, command_line, err);
    hpx_session.opt = &given;
    hpx_session.in_effect = (struct hpx_in_effect){
        .times = given.times,
        .sites = given.sites,
        .live = given.live && given.heap_sites,
        .owner = given.owner,
        .split = given.split,
        .gz = given.gz,
        .rewrites = true,
        .maxfile = given.maxfile == HPX_OPT_AUTO_BYTES ? 0 : given.maxfile,
    };
    return rc;
}

void hpx_session_forget_options(void)
{
    hpx_options_fini(&given);
}

static void name_modes(void)
{
    struct hpx_session *s = &hpx_session;
    size_t len = 0;
    s->names[0] = 0;
    for (uint32_t i = 0; i < s->nmodes; i++) {
        int n = snprintf(s->names + len, sizeof s->names - len, "%s%s", len > 0 ? "," : "", s->modes[i]->name);
        len += n > 0 && (size_t)n < sizeof s->names - len ? (size_t)n : 0;
    }
}

void hpx_session_choose(const struct hpx_mode *const *all)
{
    struct hpx_session *s = &hpx_session;
    s->nmodes = 0;
    for (; *all != NULL; all++) {
        if ((*all)->load.wanted(s->opt) && s->nmodes < HPX_MODES_MAX) {
            s->modes[s->nmodes++] = *all;
        }
    }
    name_modes();
    atomic_store_explicit(&s->depth, s->opt->depth, memory_order_relaxed);
}

void hpx_session_drop(const struct hpx_mode *mode)
{
    struct hpx_session *s = &hpx_session;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->nmodes; i++) {
        if (s->modes[i] != mode) {
            s->modes[kept++] = s->modes[i];
        }
    }
    s->nmodes = kept;
    name_modes();
}

struct each {
    const struct hpx_mode *mode;
    void (*fn)(void *ctx, struct hpx_thread *t);
    void *ctx;
};

static void if_its(void *ctx, struct hpx_thread *t)
{
    const struct each *e = ctx;
    if (t->mode == e->mode) {
        e->fn(e->ctx, t);
    }
}

void hpx_session_each(const struct hpx_mode *mode, void (*fn)(void *ctx, struct hpx_thread *t), void *ctx)
{
    struct each e = {mode, fn, ctx};
    hpx_aggregator_each(&hpx_session.aggregator, if_its, &e);
}

void hpx_parts_destroy(struct hpx_parts *p)
{
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        hpx_session.modes[i]->section->destroy(p->of[i]);
        p->of[i] = NULL;
    }
}

bool hpx_session_bare(void)
{
    bool bare = !hpx_session.opt->binary && hpx_session.opt->net == NULL && hpx_session.nmodes > 0;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        bare = bare && hpx_session.modes[i]->section->bare;
    }
    return bare;
}

bool hpx_parts_any(const struct hpx_parts *p)
{
    bool any = false;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        const struct hpx_section *s = hpx_session.modes[i]->section;
        any = any || (p->of[i] != NULL && hpx_section_is_shown(s) && !s->empty(p->of[i]));
    }
    return any;
}

bool hpx_parts_all(const struct hpx_parts *p)
{
    bool all = true;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        all = all && (p->of[i] != NULL || !hpx_parts_has(p, i));
    }
    return all;
}
