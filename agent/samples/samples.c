/* SPDX-License-Identifier: BSD-2-Clause */
/* samples.c: registers cpu=samples as a mode: rows, figures, commands of a peer. */
#include "samples.h"
#include "c_frames.h"
#include "certainty.h"
#include "code_source.h"
#include "engine.h"
#include "inlines.h"
#include "kept_states.h"
#include "model_table.h"
#include "net.h"
#include "peer.h"
#include "probe_frames.h"
#include "report.h"
#include "sample_table.h"
#include "sampler.h"
#include "signal_watch.h"
#include "stack_thread.h"
#include <inttypes.h>
#include <stdio.h>

static struct hpx_sample_thread *state(struct hpx_thread *t)
{
    return HPX_CONTAINER_OF(t, struct hpx_sample_thread, s.base);
}

static struct hpx_samples *table(void)
{
    return hpx_model_table(hpx_session.model, HPX_EV_SAMPLE);
}

static bool tables(struct hpx_model *m)
{
    return hpx_samples_create(m) != NULL;
}

static bool wanted(const struct hpx_options *o)
{
    return (o->cpu & HPX_CPU_SAMPLES) || o->wall_ns > 0; /* wall= takes its running time from the samples */
}

/* ---- threads ---- */

static void gone(struct hpx_thread *t)
{
    if (!hpx_gate_own_wait(&state(t)->tick.in_handler, 0)) {
        return; /* the thread is stopped inside, and will write its ring: everything stays */
    }
    hpx_kept_states_give(&state(t)->s);
}

static HPX_OF_SESSION bool stopped_inside; /* the end's: a thread is stopped in its handler */

bool hpx_samples_inside(void)
{
    return stopped_inside;
}

static void rest_of(void *ctx, struct hpx_thread *t)
{
    (void)ctx;
    stopped_inside |= !hpx_gate_own_wait(&state(t)->tick.in_handler, 0);
    hpx_sampler_flush(state(t));
}

static void stop(uint64_t until_ns)
{
    hpx_ticks_stop(until_ns);
    hpx_session_each(&hpx_samples, rest_of, NULL);
}

/* ---- rows ---- */

static void *snapshot(enum hpx_take take)
{
    return hpx_samples_snapshot(table(), take);
}

/* With wall= alone the samples are only counted. */
static bool is_shown(void)
{
    return (hpx_session.opt->cpu & HPX_CPU_SAMPLES) != 0;
}

static bool empty(const void *rows)
{
    return ((const struct hpx_snapshot *)rows)->nrows == 0;
}

static void destroy(void *rows)
{
    hpx_snapshot_destroy(rows);
}

static void text(struct hpx_ascii *to, void *rows, double cutoff, bool answer)
{
    (void)answer;
    hpx_ascii_cpu_samples(to, rows, cutoff, time(NULL));
}

static void binary(struct hpx_binary *to, void *rows, double cutoff)
{
    hpx_binary_cpu_samples(to, rows, cutoff);
}

/* ---- commands ---- */

struct choice {
    uint32_t serial; /* 0: all */
    bool on, found;
};

static void choose(void *ctx, struct hpx_thread *t)
{
    struct choice *choice = ctx;
    choice->found |= hpx_samples_choose(table(), t, choice->serial, choice->on);
}

static void choose_threads(const struct hpx_command *c)
{
    struct choice choice = {.on = c->control == HPX_CONTROL_CPU_ON};
    if (c->thread != 0) {
        uint64_t n = c->thread - HPX_OBJECT_FIRST; /* below it: a large one */
        choice.serial = n < UINT32_MAX - HPX_SERIAL_THREAD ? HPX_SERIAL_THREAD + 1 + (uint32_t)n : UINT32_MAX;
    } else {
        hpx_samples_choose_new(table(), choice.on);
    }
    hpx_session_each(&hpx_samples, choose, &choice);
    if (c->thread != 0 && !choice.found) {
        hpx_peer_leave_out(c, "no live thread has this id");
    }
}

static void set_depth(const struct hpx_command *c)
{
    if (hpx_session.opt->depth == 0) {
        hpx_peer_leave_out(c, "the program was started with depth=0, which disables sampling");
        return;
    }
    atomic_store_explicit(&hpx_session.depth, c->depth, memory_order_relaxed);
    if (c->depth == 0) {
        hpx_net_complain("command %s, serial %u: depth 0 stops sampling until a command sets another depth", hpx_command_name(c->tag),
                         c->serial);
    }
}

static bool control(const struct hpx_command *c)
{
    switch (c->control) {
    case HPX_CONTROL_CPU_ON:
    case HPX_CONTROL_CPU_OFF:
        choose_threads(c);
        return true;
    case HPX_CONTROL_CLEAR_CPU:
        hpx_samples_clear(table());
        return true;
    case HPX_CONTROL_DEPTH:
        set_depth(c);
        return true;
    default:
        return false;
    }
}

/* ---- the report ---- */

enum {
    SAMPLES,
    STALLS,
    STALLED,
    LONGEST,
    EFFECTIVE,
    TOTAL,
    LARGEST,
    CLOSE,
    NAMELESS,
    UNKNOWN_ALL = NAMELESS + HPX_NAMELESS_COUNT,
    UNKNOWN
};
static_assert(UNKNOWN + HPX_UNKNOWN_COUNT <= HPX_MODE_VALUES, "the figures have room for all causes");

static const char *const unknown_names[] = {
#define NAME(sym, name) name,
    HPX_UNKNOWNS(NAME)
#undef NAME
};

static const char *const nameless_names[] = {
#define NAME(sym, name) name,
    HPX_NAMELESS_OF(NAME)
#undef NAME
};

/* Figures of the rows of this dump, which are not sorted yet. */
static void certainty(struct hpx_figures *f, const struct hpx_snapshot *s)
{
    uint64_t top[HPX_CERTAINTY_ROWS + 1] = {0}; /* descending; the last: room for one that falls out */
    if (s == NULL) {
        return;
    }
    uint32_t listed = 0;
    for (uint32_t i = 0; i < s->nrows; i++) {
        uint32_t at = HPX_CERTAINTY_ROWS;
        listed += !((double)s->rows[i].count < hpx_session.opt->cutoff * (double)s->total); /* nan lists all */
        for (; at > 0 && top[at - 1] < s->rows[i].count; at--) {
            top[at] = top[at - 1];
        }
        top[at] = s->rows[i].count;
    }
    f->v[EFFECTIVE] = s->effective;
    f->v[TOTAL] = s->total;
    f->v[LARGEST] = top[0];
    for (int i = 0; i < HPX_NAMELESS_COUNT; i++) {
        f->v[NAMELESS + i] = s->nameless[i];
    }
    f->v[CLOSE] = hpx_certainty_close(top, listed, s->total, s->effective);
}

static void collect(struct hpx_figures *f, struct hpx_counters *total, const void *rows)
{
    const struct hpx_stalls *stalls = hpx_samples_stalls(table());
    hpx_ticks_collect(&hpx_samples, total);
    certainty(f, rows);
    f->v[STALLS] = stalls->count;
    f->v[STALLED] = stalls->intervals;
    f->v[LONGEST] = hpx_clocks_stall_ns(stalls->longest);
    f->v[SAMPLES] = hpx_samples_count(table());
    for (int i = 0; i < HPX_UNKNOWN_COUNT; i++) {
        f->v[UNKNOWN + i] = hpx_samples_unknown(table(), (enum hpx_unknown)i);
        f->v[UNKNOWN_ALL] += f->v[UNKNOWN + i];
    }
}

static uint64_t own_cpu(const struct hpx_counters *total)
{
    return hpx_ticks_cpu(&hpx_samples, total) + hpx_spawn_cpu(&hpx_sampling_thread.thread) + hpx_c_frames_cpu();
}

static void lines_of_stalls(struct hpx_lines *to, const struct hpx_figures *f)
{
    if (f->v[STALLS] > 0) {
        hpx_lines_add(to, "hprofx: stalls: %" PRIu64 ", %.6g ms in hprofx.stalled\n", f->v[STALLS],
                      hpx_lines_ms(f->v[STALLED] * hpx_session.opt->interval_ns));
        hpx_lines_add(to, "hprofx: longest stall: %.6g ms\n", hpx_lines_ms(f->v[LONGEST]));
    }
}

static void lines_of_certainty(struct hpx_lines *to, const struct hpx_figures *f)
{
    char rows[HPX_CERTAINTY_TEXT];
    hpx_lines_add(to, "hprofx: effective samples: %" PRIu64 "\n", f->v[EFFECTIVE]);
    if (f->v[EFFECTIVE] > 0) {
        hpx_lines_add(to, "hprofx: largest row: %.2f %% +- %.2f points\n", hpx_lines_percent(f->v[LARGEST], f->v[TOTAL]),
                      hpx_certainty_points(f->v[LARGEST], f->v[TOTAL], f->v[EFFECTIVE]));
    }
    if (f->v[CLOSE] != 0) {
        hpx_lines_add(to, "hprofx: too few samples for the order: rows %s\n", hpx_certainty_rows(rows, (uint32_t)f->v[CLOSE]));
    }
}

static void lines_of_nameless(struct hpx_lines *to, const struct hpx_figures *f)
{
    for (int i = 0; i < HPX_NAMELESS_COUNT; i++) {
        if (f->v[NAMELESS + i] > 0) {
            hpx_lines_add(to, "hprofx: without a name, %s: %" PRIu64 " (%.2f %%)\n", nameless_names[i], f->v[NAMELESS + i],
                          hpx_lines_percent(f->v[NAMELESS + i], f->v[TOTAL]));
        }
    }
}

static void lines(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    double interval = hpx_lines_ms(hpx_session.opt->interval_ns);
    hpx_lines_add(to, "hprofx: sampler: %s\n", hpx_sampler_name());
    hpx_lines_add(to, "hprofx: samples: %" PRIu64 " (one per %.6g ms of CPU time of a Java thread)\n", f->v[SAMPLES], interval);
    /* polled clocks give samples without signals */
    hpx_ticks_lines(to, r, hpx_stack_thread_polls() ? -1 : interval * (double)(f->v[SAMPLES] + hpx_report_lost(r)));
    lines_of_certainty(to, f);
    lines_of_stalls(to, f);
    hpx_lines_add(to, "hprofx: new stacks: %" PRIu64 "\n", hpx_counter_get(&r->total, HPX_C_DEFINITIONS));
    if (!hpx_engine_in_handler(hpx_engine_now())) {
        hpx_lines_add(to, "hprofx: stacks taken: %" PRIu64 "\n", hpx_counter_get(&r->total, HPX_C_TAKEN));
    }
    if (hpx_engine_takes_stacks()) {
        hpx_sampler_lines(to, &r->total, f->v[SAMPLES]);
    }
    if (hpx_engine_takes_stacks() && hpx_engine_now() != HPX_ENGINE_POLL) {
        hpx_code_source_lines(to);
    }
    if (hpx_inlines_enabled()) {
        hpx_lines_add(to, "hprofx: drifted: %" PRIu64 "\n", hpx_counter_get(&r->total, HPX_C_DRIFTED));
        hpx_lines_add(to, "hprofx: inlined methods: %zu KiB\n", hpx_inlines_bytes() >> 10);
    }
    if (hpx_probe_frames_most() > 0) {
        uint64_t inside = hpx_counter_get(&r->total, HPX_C_IN_PROBES);
        hpx_lines_add(to, "hprofx: inside probes: %" PRIu64 " (%.2f %%)\n", inside, hpx_lines_percent(inside, f->v[SAMPLES]));
    }
    lines_of_nameless(to, f);
    hpx_lines_add(to, "hprofx: without a stack: %" PRIu64 " (%.2f %%)\n", f->v[UNKNOWN_ALL],
                  hpx_lines_percent(f->v[UNKNOWN_ALL], f->v[SAMPLES]));
    for (int i = 0; i < HPX_UNKNOWN_COUNT; i++) {
        if (f->v[UNKNOWN + i] > 0) {
            hpx_lines_add(to, "hprofx: without a stack, %s: %" PRIu64 "\n", unknown_names[i], f->v[UNKNOWN + i]);
        }
    }
}

static void summary(struct hpx_lines *to, const struct hpx_report *r, const struct hpx_figures *f)
{
    char stalled[40] = "";
    if (f->v[STALLS] > 0) {
        snprintf(stalled, sizeof stalled, ", %.2f %% stalled", hpx_lines_percent(f->v[STALLED], f->v[SAMPLES]));
    }
    hpx_lines_add(
        to, "hprofx: samples: %" PRIu64 " taken, %" PRIu64 " lost, %.2f %% without a stack%s; own CPU time %.2f %% of the program's\n",
        f->v[SAMPLES], hpx_report_lost(r), hpx_lines_percent(f->v[UNKNOWN_ALL], f->v[SAMPLES]), stalled,
        hpx_lines_percent(r->own_cpu_ns, r->program_cpu_ns));
}

static const struct hpx_section section = {.settings = HPX_SETTING_CPU,
                                           .title = "CPU usage by sampling running threads",
                                           .shown = is_shown,
                                           .empty = empty,
                                           .destroy = destroy,
                                           .text = text,
                                           .binary = binary};

const struct hpx_mode hpx_samples = {
    .name = "cpu=samples",
    .vm = &hpx_samples_vm,
    .section = &section,
    .load = {.wanted = wanted, .tables = tables},
    .pass = {.look = hpx_sampler_look, .idle = hpx_signal_watch_look_own, .gone = gone},
    .dump = {.snapshot = snapshot},
    .peer = {.listed_by = HPX_COMMAND_CPU_SAMPLES, .control = control},
    .end = {.stop = stop},
    .report = {.names_classes = true, .collect = collect, .own_cpu = own_cpu, .lines = lines, .summary = summary},
};
