/* SPDX-License-Identifier: BSD-2-Clause */
/* heap.c: registers heap=dump as a mode: dump, report, command of a peer. */
#include "heap.h"
#include "class_number.h"
#include "hprof_heap.h"
#include "log.h"
#include "report.h"
#include "service.h"
#include "sites.h"
#include "take.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a dump shows. */
struct rows {
    struct hpx_heap_take *take; /* NULL: nothing */
    bool incomplete;            /* it could not be written, or not to its end */
};

static HPX_OF_SESSION uint32_t written; /* the writer's thread: dumps with a heap */

static bool wanted(const struct hpx_options *o)
{
    return o->heap_dump;
}

static void begin(void)
{
    written = 0;
}

/* ---- a dump ---- */

static jvmtiError take(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (hpx_gate_enter(&hpx_session.gate)) {
        hpx_take_step(jvmti, env);
        hpx_gate_leave(&hpx_session.gate);
    }
    return JVMTI_ERROR_NONE;
}

static const struct hpx_service_task image_task = HPX_SERVICE_TASK(take, "heap dump");
static HPX_OF_SESSION struct hpx_service_work image;

static bool prepare(enum hpx_why why)
{
    if (why != HPX_WHY_REQUEST || !atomic_load(&hpx_session.gate.open)) {
        return true; /* VMDeath completes the image */
    }
    return !hpx_take_walks() && hpx_service_prepare(&image, &image_task) && hpx_take_idle();
}

/* A walk makes progress or is given up (take.c). */
static uint64_t patience(void)
{
    return UINT64_C(3600) * 1000 * 1000 * 1000;
}

static int by_object(const void *a, const void *b)
{
    const struct hpx_heap_thread *x = a;
    const struct hpx_heap_thread *y = b;
    return (x->object > y->object) - (x->object < y->object);
}

/* Names the stacks of the threads and the traces of the sites. */
static void name_traces(struct hpx_heap_take *t)
{
    struct hpx_heap_image *i = &t->image;
    struct hpx_symbols *symbols = hpx_model_symbols(hpx_session.model);
    for (uint32_t n = 0; n < i->nthreads; n++) {
        i->threads[n].trace = hpx_symbols_named_trace(symbols, t->layout.stacks[n].frames, t->layout.stacks[n].n);
    }
    qsort(i->threads, i->nthreads, sizeof *i->threads, by_object);
    i->sites = hpx_sites_all_traces(&i->nsites);
    i->nsites = i->sites != NULL ? i->nsites : 0;
}

static void *snapshot(enum hpx_take take)
{
    struct rows *r = calloc(1, sizeof *r);
    if (r == NULL || take == HPX_TAKE_NEW || take == HPX_TAKE_ALL) {
        return r; /* the journal has no heap */
    }
    hpx_service_forget(&image);
    r->take = hpx_take_get();
    if (r->take == NULL) {
        hpx_warn("heap dump: no image of the heap was taken for this dump; it has no heap; ask again");
    } else if (!r->take->failed && !r->take->named) {
        name_traces(r->take);
        r->take->named = true;
    }
    return r;
}

static bool empty(const void *rows)
{
    const struct rows *r = rows;
    return r->take == NULL || r->take->failed;
}

static bool missing(const void *rows)
{
    const struct rows *r = rows;
    return empty(rows) || r->incomplete;
}

static void destroy(void *rows)
{
    struct rows *r = rows;
    if (r != NULL && r->take != NULL) { /* a listing of other sections has no rows */
        hpx_take_drop(r->take);
    }
    free(r);
}

static void note(struct rows *r, int rc)
{
    if (rc != 0) {
        r->incomplete = true;
        hpx_warn("heap dump: %s; this dump has no complete heap; ask again",
                 rc == -HPX_E_NOMEM ? "no memory to write it" : "the file of its objects cannot be read");
    }
}

static void text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    struct rows *r = rows;
    (void)cutoff, (void)answer;
    if (!empty(rows)) {
        note(r, hpx_heap_ascii(to, &r->take->image, time(NULL)));
        hpx_bound_skip(to->bound, to->out);
    }
}

static void binary(struct hpx_binary *to, void *rows, double cutoff)
{
    struct rows *r = rows;
    (void)cutoff;
    if (empty(rows)) {
        return;
    }
    int rc = hpx_heap_binary(to, &r->take->image);
    hpx_bound_skip(to->bound, to->out);
    note(r, rc);
    written += rc == 0;
    if (rc == 0 && written == 2 && !hpx_session.in_effect.split && hpx_session.opt->net == NULL) {
        hpx_warn("the file has a second heap dump; many readers show only the first; use split=y for one file per dump");
    }
}

/* ---- the report ---- */

struct figures {
    enum { NO_DUMP, SHOWN, MISSING } dump;
    uint32_t classes;
    struct hpx_heap_found found;
    struct hpx_heap_course course;
};
HPX_FIGURES_FIT(struct figures);

static void collect(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    const struct rows *r = rows;
    const struct hpx_heap_take *t = r != NULL ? r->take : NULL;
    struct figures g = {.dump = r == NULL ? NO_DUMP : t != NULL && !t->failed ? SHOWN : MISSING, .course.why = "no image was taken"};
    (void)total;
    if (t != NULL) {
        g.classes = t->layout.loaded;
        g.found = t->image.found;
        g.course = t->course;
    }
    HPX_FIGURES_PUT(f, g);
}

static uint64_t own_cpu(const struct hpx_counters *total)
{
    (void)total;
    return hpx_take_cpu();
}

static void lines(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    struct figures g;
    (void)r;
    HPX_FIGURES_GET(f, g);
    if (g.dump == NO_DUMP) {
        return;
    }
    if (g.dump == MISSING) {
        hpx_lines_add(to, "hprofx: heap: not in this dump: %s\n", g.course.why);
        return;
    }
    hpx_lines_add(to, "hprofx: heap: %" PRIu64 " objects, %" PRIu64 " bytes, %" PRIu32 " classes\n", g.found.objects, g.found.bytes,
                  g.classes);
    char workers[32] = "";
    if (g.found.team > 1) {
        (void)snprintf(workers, sizeof workers, ", %" PRIu64 " workers", g.found.team);
    }
    hpx_lines_add(to, "hprofx: heap walk: %s%s, program stopped %.1f ms, %.1f ms in all\n",
                  g.course.traced   ? "fork, traced"
                  : g.course.forked ? "fork"
                                    : "walk",
                  workers, hpx_lines_ms(g.course.stopped_ns), hpx_lines_ms(g.course.ns));
    if (g.course.why[0] != 0) {
        hpx_lines_add(to, "hprofx: heap walk not forked: %s\n", g.course.why);
    }
    if (g.course.untraced != NULL && g.course.forked && !g.course.traced && g.course.doubt[0] == 0) {
        hpx_lines_add(to, "hprofx: heap walk not traced: %s (slower)\n", g.course.untraced);
    }
    if (g.course.doubt[0] != 0) {
        hpx_lines_add(to, "hprofx: heap walk by tags: %s (slower; objects have no allocation trace)\n", g.course.doubt);
    }
    if (g.found.unknown > 0) {
        hpx_lines_add(to, "hprofx: heap objects of classes loaded meanwhile: %" PRIu64 " (shown as java.lang.Object)\n", g.found.unknown);
    }
    if (g.found.cut > 0) {
        hpx_lines_add(to, "hprofx: heap arrays cut to 4 GiB: %" PRIu64 "\n", g.found.cut);
    }
}

static void summary(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    struct figures g;
    (void)r;
    HPX_FIGURES_GET(f, g);
    if (g.dump == SHOWN) {
        hpx_lines_add(to, "hprofx: heap: %" PRIu64 " objects, %" PRIu64 " bytes\n", g.found.objects, g.found.bytes);
    } else {
        hpx_lines_add(to, "hprofx: heap: no dump at exit\n");
    }
}

static void fini(void)
{
    hpx_take_fini();
    hpx_site_ids_fini(&hpx_ids);
}

static const struct hpx_section section = {.settings = HPX_SETTING_ALLOC,
                                           .title = "Java heap",
                                           .empty = empty,
                                           .missing = missing,
                                           .destroy = destroy,
                                           .text = text,
                                           .binary = binary};

const struct hpx_mode hpx_heap_mode = {
    .name = "heap=dump",
    .vm = &hpx_heap_vm,
    .section = &section,
    .load = {.wanted = wanted, .begin = begin},
    .dump = {.prepare = prepare, .patience = patience, .snapshot = snapshot},
    .peer = {.listed_by = HPX_COMMAND_DUMP_HEAP},
    .end = {.fini = fini},
    .report = {.collect = collect, .own_cpu = own_cpu, .lines = lines, .summary = summary},
};
