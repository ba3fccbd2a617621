/* SPDX-License-Identifier: BSD-2-Clause */
/* sites.c: registers heap=sites as a mode: dump, report, commands of a peer. */
#include "sites.h"
#include "allocation.h"
#include "class_number.h"
#include "classes.h"
#include "counting.h"
#include "downcall.h"
#include "hprof_sites.h"
#include "kept_states.h"
#include "log.h"
#include "looking.h"
#include "new_class.h"
#include "peer.h"
#include "quiet_stack.h"
#include "report.h"
#include "service.h"
#include "site_table.h"
#include "site_thread.h"
#include "survivors.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static HPX_OF_SESSION struct {
    struct hpx_sites *table; /* the aggregator's */
    bool prepared;           /* the aggregator's: the end's barrier */
} sites;

static bool wanted(const struct hpx_options *o)
{
    bool tracks = o->heap_dump && (o->sites == HPX_SITES_EXACT || o->sites == HPX_SITES_SAMPLED); /* for the traces of objects */
    return tracks || (o->heap_sites && o->sites != HPX_SITES_OFF);
}

static void begin(void)
{
    sites.prepared = false;
    const struct hpx_site_options table = {.ids = &hpx_ids,
                                           .interval = hpx_allocation_interval(),
                                           .live = hpx_session.in_effect.live,
                                           .looks = hpx_sites_looks(),
                                           .counts = hpx_sites_counts()};
    sites.table = hpx_sites_create(hpx_session.model, &table);
    if (sites.table == NULL) {
        hpx_warn("heap=sites: no memory for the table of sites; no allocation is counted; raise the limit of the process's memory");
    }
}

static void fini(void)
{
    hpx_site_ids_fini(&hpx_ids);
    hpx_survivors_fini();
    hpx_late_tags_fini(NULL);
    hpx_counting_fini();
    sites.table = NULL;
}

static void gone(struct hpx_thread *t)
{
    struct hpx_site_thread *s = HPX_CONTAINER_OF(t, struct hpx_site_thread, s.base);
    s->late = NULL;
    s->inside = true; /* a probe that finds it in a later session takes its slow way */
    if (!hpx_gate_own_wait(&s->in_probe, 0)) {
        return; /* the thread is stopped inside, and will write its ring: everything stays */
    }
    if (sites.table != NULL) {
        hpx_counting_add_up(sites.table, s, true);
    }
    hpx_counting_destroy(s);
    hpx_kept_states_give(&s->s);
}

static void quiesce(void *until, struct hpx_thread *t)
{
    hpx_counting_quiesce(HPX_CONTAINER_OF(t, struct hpx_site_thread, s.base), *(const uint64_t *)until);
}

/* Allocation events run inside the session's gate, which is closed by now. Probes of sites=counts have a separate gate. */
static void stop(uint64_t until_ns)
{
    if (hpx_sites_counts()) {
        hpx_counting_close();
        hpx_session_each(&hpx_sites_mode, quiesce, &until_ns);
    }
    hpx_classes_close_and_wait();
}

static const struct hpx_service_task survivors_task =
    HPX_SERVICE_TASK(hpx_sites_look_at_survivors, "heap=sites: samples that have died are found at the next dump");
static HPX_OF_SESSION struct hpx_service_work survivors;

static void look(void)
{
    if (!sites.prepared && hpx_sites_counts()) {
        hpx_counting_prepare();
    }
    sites.prepared = true;
    if (survivors.asked || (hpx_sites_follows() && hpx_survivors_due())) {
        (void)hpx_service_prepare(&survivors, &survivors_task);
    }
}

/* ---- a dump ---- */

static const struct hpx_service_task flush_task = HPX_SERVICE_TASK(hpx_sites_flush, "heap=sites: no garbage was collected before a dump");
static HPX_OF_SESSION struct hpx_service_work flush;

static bool prepare(enum hpx_why why)
{
    bool needed = hpx_sites_looks() || hpx_sites_follows() || hpx_session.opt->gc || hpx_sites_counts();
    if (why != HPX_WHY_REQUEST || !needed) {
        return true;
    }
    if (!hpx_sites_looks()) {
        return hpx_service_prepare(&flush, &flush_task);
    }
    if (!atomic_load(&hpx_session.gate.open)) {
        return true; /* the end looks */
    }
    hpx_looking_expect(sites.table != NULL ? hpx_sites_recorded_objects(sites.table) : 0);
    return !hpx_looking_walks() && hpx_service_prepare(&flush, &flush_task) && hpx_looking_idle();
}

/* A collection takes seconds in a large heap. A look makes progress or is given up. */
static uint64_t patience(void)
{
    return (hpx_sites_looks() ? UINT64_C(3600) : hpx_session.opt->gc ? 60 : 5) * 1000 * 1000 * 1000;
}

static void add_running(void *unused, struct hpx_thread *t)
{
    (void)unused;
    hpx_counting_add_up(sites.table, HPX_CONTAINER_OF(t, struct hpx_site_thread, s.base), false);
}

/* The counters of the threads that run. */
static void read_counters(void)
{
    if (sites.table != NULL && hpx_sites_counts()) {
        hpx_sites_forget_running(sites.table);
        hpx_session_each(&hpx_sites_mode, add_running, NULL);
    }
}

/* The journal has no sites: the profile of a killed run lacks them. */
static void *snapshot(enum hpx_take take)
{
    if (take == HPX_TAKE_NEW || take == HPX_TAKE_ALL || sites.table == NULL || !hpx_session.opt->heap_sites) {
        struct hpx_site_snapshot *none = calloc(1, sizeof *none);
        if (none != NULL) {
            none->flags = HPX_SITES_NOTHING;
        }
        return none;
    }
    hpx_service_forget(&flush); /* a flush that was not waited for is not the next dump's */
    read_counters();
    return hpx_sites_snapshot(sites.table);
}

const struct hpx_trace_rec **hpx_sites_all_traces(uint32_t *n)
{
    *n = 0;
    return sites.table != NULL ? hpx_sites_traces(sites.table, n) : NULL;
}

static bool is_shown(void)
{
    return hpx_session.opt->heap_sites;
}

static bool empty(const void *rows)
{
    return ((const struct hpx_site_snapshot *)rows)->nrows == 0;
}

static void destroy(void *rows)
{
    hpx_site_snapshot_destroy(rows);
}

static void choose(void *rows, uint16_t flags)
{
    ((struct hpx_site_snapshot *)rows)->flags = flags;
    if ((flags & HPX_SITES_SUMMARY) != 0 && sites.table != NULL) {
        hpx_sites_not_listed(sites.table);
    }
}

static void text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_sites(to, rows, cutoff, time(NULL));
}

static void binary(struct hpx_binary *to, void *rows, double cutoff)
{
    hpx_binary_sites(to, rows, cutoff);
}

/* ---- commands ---- */

static bool control(const struct hpx_command *c)
{
    switch (c->control) {
    case HPX_CONTROL_ALLOC_ON:
    case HPX_CONTROL_ALLOC_OFF:
        hpx_allocation_switch(c->control == HPX_CONTROL_ALLOC_ON);
        return true;
    case HPX_CONTROL_CLEAR_SITES:
        hpx_allocation_clear();
        if (sites.table != NULL) {
            read_counters();
            hpx_sites_clear(sites.table);
        }
        return true;
    case HPX_CONTROL_DEPTH:
        atomic_store_explicit(&hpx_session.depth, c->depth, memory_order_relaxed);
        return true;
    default:
        return false;
    }
}

/* ---- the report ---- */

struct figures {
    struct hpx_site_snapshot rows; /* without its rows */
    uint64_t objects, bytes;       /* recorded */
    uint64_t sites;
    uint64_t error; /* of the bytes, millionths */
    struct hpx_look_facts look;
    bool in_dump;
};
HPX_FIGURES_FIT(struct figures);

static uint64_t error_of(const struct hpx_site_snapshot *s)
{
    double variance = 0;
    for (uint32_t i = 0; i < s->nrows; i++) {
        variance += s->rows[i].variance;
    }
    return s->bytes > 0 ? (uint64_t)(1e6 * sqrt(variance) / (double)s->bytes) : 0;
}

static void collect(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    const struct hpx_site_snapshot *s = rows;
    struct figures g = {.in_dump = s != NULL};
    (void)total;
    if (sites.table != NULL) {
        g.objects = hpx_sites_recorded_objects(sites.table);
        g.bytes = hpx_sites_recorded_bytes(sites.table);
        g.sites = hpx_sites_counts() && s != NULL ? s->nrows : hpx_sites_count(sites.table);
    }
    if (s != NULL && hpx_sites_looks()) {
        g.look = hpx_looking_facts();
    }
    if (s != NULL) {
        g.rows = *s;
        g.error = error_of(s);
    } else {
        read_counters();
        g.rows.objects = sites.table != NULL ? hpx_sites_counted_objects(sites.table) : 0;
    }
    HPX_FIGURES_PUT(f, g);
}

static void live_lines(struct hpx_lines *to, const struct figures *g)
{
    const struct hpx_look_facts *look = &g->look;
    if (hpx_sites_looks() && g->in_dump && !look->looked) {
        hpx_lines_add(to, "hprofx: live: not in this dump: %s\n", look->why);
        return;
    }
    hpx_lines_add(to, "hprofx: live: %" PRIu64 " objects, %" PRIu64 " bytes, as of the last collection%s\n", g->rows.live_objects,
                  g->rows.live_bytes, hpx_allocation_interval() > 0 ? ", estimated" : "");
    if (look->looked) {
        hpx_lines_add(to, "hprofx: live walk: %s, program stopped %.1f ms, %.1f ms in all\n", look->forked ? "fork" : "walk",
                      hpx_lines_ms(look->stopped_ns), hpx_lines_ms(look->ns));
    }
    if (look->looked && look->why[0] != 0) {
        hpx_lines_add(to, "hprofx: live walk not forked: %s\n", look->why);
    }
}

#define DISTANCE (512u << 10) /* bytes between two samples, on average, that the VM draws when nobody has set another interval */

/* A thread that ran before the session first uses up the distance that its sampler had drawn then. */
static void unseen_line(struct hpx_lines *to)
{
    uint32_t before = hpx_sites_threads_before();
    if (!hpx_sites_counts() && before > 0 && hpx_allocation_interval() < DISTANCE) {
        hpx_lines_add(to, "hprofx: not seen: what %s on %u thread%s that ran before, until each had allocated about 512 KB\n",
                      hpx_sites_has_probes() ? "the VM and native code (JNI) allocated" : "was allocated", before, before == 1 ? "" : "s");
    }
}

static uint64_t own_cpu(const struct hpx_counters *total)
{
    (void)total;
    return hpx_looking_cpu();
}

static void lines(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    const struct hpx_options *o = hpx_session.opt;
    bool live = hpx_session.in_effect.live;
    struct figures g;
    HPX_FIGURES_GET(f, g);
    hpx_lines_add(to, "hprofx: sites: %s\n", hpx_sites_engine());
    if (hpx_sites_counts()) {
        hpx_lines_add(to, "hprofx: allocations: %" PRIu64 " objects, %" PRIu64 " bytes, counted by probes\n", g.rows.objects, g.rows.bytes);
        if (live || g.rows.missed_objects > 0) { /* samples estimate both; without live figures there are none */
            hpx_lines_add(to, "hprofx: not counted by probes: about %" PRIu64 " objects, %" PRIu64 " bytes\n", g.rows.missed_objects,
                          g.rows.missed_bytes);
        } else {
            hpx_lines_add(
                to,
                "hprofx: not counted by probes: objects of the VM, also where it replaces chains of StringBuilder.append by its own code, "
                "of native code (JNI) and of hidden classes; how many is not known\n");
        }
        hpx_lines_add(to, "hprofx: removed by the compiler: objects that need no memory once their code is compiled are counted, too\n");
        if (g.rows.unsized > 0) {
            hpx_lines_add(to, "hprofx: objects of unknown size: %" PRIu64 "\n", g.rows.unsized);
        }
    } else if (hpx_allocation_interval() > 0) {
        hpx_lines_add(to, "hprofx: allocations: estimated from %" PRIu64 " samples (one every %" PRIu64 " bytes)\n", g.objects,
                      o->sample_bytes);
        hpx_lines_add(to, "hprofx: standard error: %.2f %% of all allocated bytes\n", (double)g.error / 1e4);
    } else {
        hpx_lines_add(to, "hprofx: allocations: %" PRIu64 " objects, %" PRIu64 " bytes\n", g.objects, g.bytes);
        if (hpx_sites_lacks_event()) {
            hpx_lines_add(to, "hprofx: not counted by probes: objects that the VM makes where it replaces a method by its own code "
                              "(chains of StringBuilder.append), on JDK 8 also those of JNI functions; how many is not known\n");
        }
    }
    unseen_line(to);
    uint32_t repairs = atomic_load_explicit(&hpx_new_class_repairs, memory_order_relaxed);
    if (repairs > 0) {
        hpx_lines_add(to, "hprofx: classes repaired: %" PRIu32 ", by a collection each, because ZGC collected while they were made\n",
                      repairs);
    }
    if (live) {
        live_lines(to, &g);
    }
    uint64_t values = hpx_counter_get(&r->total, HPX_C_VALUES);
    if (values > 0) { /* the VM tells no object of them: equal ones would be one */
        hpx_lines_add(to, "hprofx: allocations of value objects: %" PRIu64 "%s, not among live objects\n", values,
                      hpx_allocation_interval() > 0 ? " samples" : "");
    }
    if (o->heap_sites) {
        hpx_lines_add(to, "hprofx: allocation sites: %" PRIu64 "\n", g.sites);
    }
    hpx_quiet_stack_lines(&hpx_sites_mode, to, &r->total);
    const bool calls = (hpx_session.opt->cpu & (HPX_CPU_TIMES | HPX_CPU_OLD)) != 0; /* reported there */
    if (hpx_sites_counts() && (!calls || !hpx_options_follow_calls(hpx_session.opt))) {
        const char *why = hpx_classes_no_downcalls();
        hpx_lines_add(to, calls ? "hprofx: probes of allocations: %s%s\n" : "hprofx: probes: %s%s\n",
                      why == NULL ? "critical downcalls" : "JNI natives: ", why == NULL ? "" : why);
    }
    if (!calls) {
        struct hpx_classes_figures made;
        hpx_classes_figures(&made);
        hpx_classes_left_lines(to, &made);
    }
}

/* Only a snapshot finds the sites. With doe=n there may be none; then, with cpu=times, drainers may also hold a part of the counts. */
static void summary(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    uint64_t lost = hpx_counter_get(&r->total, HPX_C_LOST_WAIT) + hpx_counter_get(&r->total, HPX_C_SITES_FULL);
    bool sampled = hpx_allocation_interval() > 0 && !hpx_sites_counts();
    struct figures g;
    HPX_FIGURES_GET(f, g);
    hpx_lines_add(to, "hprofx: sites: ");
    if (g.in_dump || !hpx_sites_counts() || hpx_classes_get_note() == NULL) {
        hpx_lines_add(to, "%" PRIu64 " allocations %s, ", hpx_sites_counts() ? g.rows.objects : g.objects, sampled ? "sampled" : "counted");
    }
    hpx_lines_add(to, "%" PRIu64 " lost", sampled ? hpx_report_lost(r) : lost);
    if (!hpx_session.opt->heap_sites) {
        hpx_lines_add(to, "\n"); /* they are the traces of a heap dump */
    } else if (g.in_dump) {
        hpx_lines_add(to, ", at %" PRIu64 " sites\n", g.sites);
    } else {
        hpx_lines_add(to, "; no profile at exit\n");
    }
}

static const struct hpx_section section = {.settings = HPX_SETTING_ALLOC,
                                           .title = "allocation sites",
                                           .lasting = true,
                                           .shown = is_shown,
                                           .empty = empty,
                                           .destroy = destroy,
                                           .choose = choose,
                                           .text = text,
                                           .binary = binary};

const struct hpx_mode hpx_sites_mode = {
    .name = "heap=sites",
    .vm = &hpx_sites_vm,
    .section = &section,
    .load = {.wanted = wanted, .begin = begin},
    .pass = {.look = look, .gone = gone},
    .dump = {.prepare = prepare, .patience = patience, .snapshot = snapshot},
    .peer = {.listed_by = HPX_COMMAND_ALLOC_SITES, .control = control},
    .end = {.stop = stop, .fini = fini},
    .report = {.names_classes = true, .collect = collect, .own_cpu = own_cpu, .lines = lines, .summary = summary},
};
