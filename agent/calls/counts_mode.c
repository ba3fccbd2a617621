/* SPDX-License-Identifier: BSD-2-Clause */
/* counts_mode.c: see counts_mode.h. It has no states of threads: what a thread counts is in its block. */
#include "counts_mode.h"
#include "call_rows.h"
#include "classes.h"
#include "count_link.h"
#include "model_table.h"
#include "peer.h"
#include "report.h"
#include "tally.h"
#include "threads.h"
#include "tracker.h"
#include <inttypes.h>
#include <stdlib.h>

static bool wanted(const struct hpx_options *o)
{
    return (o->cpu & HPX_CPU_TIMES) && !hpx_options_follow_calls(o);
}

static struct hpx_call_rows *rows_of_session(void)
{
    return hpx_model_table(hpx_session.model, HPX_EV_ENTER);
}

static bool tables(struct hpx_model *m)
{
    const struct hpx_call_options o = {.depth = hpx_session.opt->depth > 0, .times_from_ticks = true, .counted = true};
    return hpx_call_rows_create(m, &o) != NULL;
}

/* ---- rows ---- */

static HPX_OF_SESSION struct hpx_tally_figures counted_by; /* the aggregator's */

/* Without memory the calls are in a later dump; of the last one it is not known how many are lost. */
static void add_up(bool last)
{
    uint32_t n = hpx_tally_end();
    uint64_t *sums = calloc(n > 0 ? n : 1, sizeof *sums);
    if (sums != NULL) {
        counted_by = hpx_tally_add_up(sums, n);
        hpx_call_rows_counted(rows_of_session(), sums, n, last);
    } else if (last) {
        hpx_count(&hpx_session.counters, HPX_C_LOST_NO_MEMORY, 1);
    }
    free(sums);
}

static void taken(enum hpx_why why)
{
    (void)why;
    add_up(false);
}

static void *snapshot(enum hpx_take take)
{
    return hpx_call_rows_snapshot(rows_of_session(), take);
}

static uint32_t waiting(void)
{
    return hpx_call_rows_waiting(rows_of_session());
}

static bool empty(const void *rows)
{
    return ((const struct hpx_call_snapshot *)rows)->nrows == 0;
}

static void destroy(void *rows)
{
    hpx_call_snapshot_destroy(rows);
}

static void text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_calls(to, rows, cutoff, time(NULL));
}

static bool control(const struct hpx_command *c)
{
    if (c->control == HPX_CONTROL_CLEAR_CPU) {
        add_up(false);
        hpx_call_rows_clear(rows_of_session());
    }
    return c->control == HPX_CONTROL_CLEAR_CPU;
}

/* ---- the end ---- */

static void stop(uint64_t until_ns)
{
    (void)until_ns;
    hpx_classes_close();
    hpx_tally_close();
    hpx_classes_close_and_wait();
}

static void ended(void)
{
    add_up(true);
}

/* ---- the report ---- */

struct figures {
    struct hpx_call_snapshot rows; /* without its rows */
    struct hpx_tally_figures tally;
};
HPX_FIGURES_FIT(struct figures);

static void collect(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    struct figures g = {.tally = counted_by};
    (void)total;
    if (rows != NULL) {
        g.rows = *(const struct hpx_call_snapshot *)rows;
    }
    HPX_FIGURES_PUT(f, g);
}

static uint64_t own_cpu(const struct hpx_counters *total)
{
    (void)total;
    return 0;
}

static void lines(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    struct hpx_classes_figures made;
    struct figures g;
    const char *no = hpx_classes_not_linked();
    (void)r;
    HPX_FIGURES_GET(f, g);
    hpx_classes_figures(&made);
    hpx_lines_add(to, "hprofx: probes: %s%s\n", no == NULL ? "counters in Java code" : "JNI natives: ", no == NULL ? "" : no);
    hpx_lines_add(to, "hprofx: instrumented: %" PRIu64 " methods of %" PRIu64 " classes\n", made.methods, made.classes);
    hpx_classes_left_lines(to, &made);
    hpx_lines_add(to, "hprofx: calls: %" PRIu64 " begun, %" PRIu64 " in this table\n", g.rows.all_calls, g.rows.calls);
    hpx_calls_replaced_lines(to, &g.rows);
    hpx_lines_add(to, "hprofx: counters: of %" PRIu64 " threads, %" PRIu64 " KiB\n", g.tally.blocks, g.tally.bytes / 1024);
    if (g.tally.apart > 0) {
        hpx_lines_add(to, "hprofx: threads that count by a native: %" PRIu64 "\n", g.tally.apart);
    }
}

static void summary(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    struct figures g;
    HPX_FIGURES_GET(f, g);
    hpx_lines_add(to, "hprofx: calls: %" PRIu64 "; own CPU time %.2f %% of the program's\n", g.rows.all_calls,
                  hpx_lines_percent(r->own_cpu_ns, r->program_cpu_ns));
}

/* ---- the JVM ---- */

/* Threads of hprofx, and what a thread does after its end, are not counted. */
static void JNICALL counted(JNIEnv *env, jclass tracker, jint number, jlong thread)
{
    (void)tracker;
    if (!hpx_threads_left() && !hpx_tally_count((uint32_t)number, hpx_count_thread(env, (uint64_t)thread))) {
        hpx_count(&hpx_session.counters, HPX_C_CALLS_UNCOUNTED, 1);
    }
}

static int load(struct hpx_err *err)
{
    static const struct hpx_class_counts counts = {.most = HPX_CALL_COUNTERS - 1, .table = hpx_tally_table, .reach = hpx_tally_reach};
    static const JNINativeMethod natives[] = {
        {(char *)(uintptr_t)HPX_TRACKER_COUNTED, (char *)(uintptr_t) "(IJ)V", (void *)(uintptr_t)counted}};
    static const struct hpx_class_user user = {
        .probes = HPROFX_BCI_CALLS, .wants = hpx_tracker_wants, .counts = &counts, .natives = natives, .nnatives = 1};
    (void)err;
    hpx_classes_use(&user);
    return 0;
}

static void open(jvmtiEnv *jvmti)
{
    (void)jvmti;
    hpx_tally_open();
}

static void close_hook(jvmtiEnv *jvmti)
{
    (void)jvmti;
    hpx_classes_close();
}

static void unload(JNIEnv *env)
{
    (void)env;
    hpx_tally_forget();
}

static const struct hpx_vm_mode vm_mode = {
    .on_load = {HPX_CLASSES_EVENTS, 0},
    .capabilities = hpx_classes_capabilities,
    .callbacks = hpx_classes_callbacks,
    .load = load,
    .classes = hpx_classes_loaded,
    .open = open,
    .close = close_hook,
    .disable = hpx_classes_close,
    .left = hpx_classes_left,
    .restore = hpx_classes_restore,
    .unload = unload,
    .forget = hpx_classes_close,
    .ended = hpx_tally_leave,
};

static const struct hpx_section section = {.title = "method calls", .empty = empty, .destroy = destroy, .text = text};

const struct hpx_mode hpx_counts_mode = {
    .name = "cpu=times",
    .vm = &vm_mode,
    .section = &section,
    .load = {.wanted = wanted, .tables = tables},
    .dump = {.taken = taken, .snapshot = snapshot, .waiting = waiting},
    .peer = {.listed_by = HPX_COMMAND_CPU_SAMPLES, .control = control},
    .end = {.stop = stop, .ended = ended},
    .report = {.collect = collect, .own_cpu = own_cpu, .lines = lines, .summary = summary},
};
