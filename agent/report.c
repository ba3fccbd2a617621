/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c: the lines of report.h. */
#include "report.h"
#include "call_table.h"
#include "clock.h"
#include "company.h"
#include "downcall.h"
#include "handshake.h"
#include "hprofx_bci.h"
#include "inlines.h"
#include "instrument.h"
#include "net.h"
#include "output.h"
#include "sampler.h"
#include "service.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add_thread(void *ctx, struct hpx_thread *t)
{
    hpx_counters_add(ctx, &t->counters);
}

void hpx_report_collect(struct hpx_report *r, const struct hpx_call_snapshot *calls)
{
    memset(r, 0, sizeof *r);
    hpx_counters_add(&r->total, &hpx_agent.counters);
    hpx_counters_add(&r->total, hpx_model_counters(hpx_agent.model));
    hpx_aggregator_each(&hpx_agent.aggregator, add_thread, &r->total);
    hpx_count(&r->total, HPX_C_SIGNAL_TAKEN, hpx_company_unsampled_ms());
    hpx_count(&r->total, HPX_C_THREADS_UNSAMPLED, hpx_agent.aggregator.untaken);
    hpx_net_count(&r->total);
    if (calls != NULL) {
        const struct hpx_calltab *table = hpx_model_calltab(hpx_agent.model);
        r->calls = (struct hpx_call_figures){.calls = calls->all_calls,
                                             .self_ns = calls->self_ns,
                                             .open_calls = calls->open_calls,
                                             .open_ns = calls->open_ns,
                                             .probes_ns = calls->probes_ns,
                                             .ticks = calls->ticks,
                                             .ticks_ns = calls->ticks_ns,
                                             .outside_ns = calls->outside_ns,
                                             .lost_calls = calls->lost_calls,
                                             .lost_events = calls->lost_events,
                                             .resynced = calls->resynced,
                                             .stray = calls->stray,
                                             .inner_ns = table->cfg.inner,
                                             .outer_ns = table->cfg.outer};
    }
    r->samples = hpx_model_samples(hpx_agent.model);
    for (int i = 0; i < HPX_UNKNOWN_COUNT; i++) {
        r->unknown[i] = hpx_model_unknown(hpx_agent.model, (enum hpx_unknown)i);
        r->unknown_all += r->unknown[i];
    }
    uint64_t measured = hpx_counter_get(&r->total, HPX_C_HANDLER_MEASURED);
    r->signal_ns = measured ? hpx_counter_get(&r->total, HPX_C_HANDLER_NS) / measured : 0;
    r->own_cpu_ns = r->signal_ns * hpx_counter_get(&r->total, HPX_C_SIGNALS) + hpx_clock_tid_cpu(hpx_agent.aggregator.tid) +
                    hpx_agent.shard.cpu_ns + hpx_output_cpu() + hpx_net_cpu() + hpx_service_cpu() + hpx_handshake_cpu();
    uint64_t all = hpx_clock_process_cpu() - hpx_agent.start_cpu;
    r->program_cpu_ns = all > r->own_cpu_ns ? all - r->own_cpu_ns : 0;
    r->table_bytes = hpx_model_bytes(hpx_agent.model);
    r->trace_bytes = hpx_model_trace_bytes(hpx_agent.model);
    r->classes = hpx_model_classes(hpx_agent.model);
}

struct text {
    char *s;
    size_t len;
};

static void add(struct text *t, const char *fmt, ...) HPX_PRINTF(2, 3);
static void add(struct text *t, const char *fmt, ...)
{
    size_t room = HPX_REPORT_TEXT - t->len;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(t->s + t->len, room, fmt, ap);
    va_end(ap);
    t->len += n > 0 && (size_t)n < room ? (size_t)n : 0;
    t->s[t->len] = 0; /* no half line */
}

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static const char *const unknown_names[] = {
#define NAME(sym, name) name,
    HPX_UNKNOWNS(NAME)
#undef NAME
};

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static uint64_t lost(const struct hpx_report *r)
{
    return hpx_counter_get(&r->total, HPX_C_LOST_RING_FULL) + hpx_counter_get(&r->total, HPX_C_LOST_NESTED) +
           hpx_counter_get(&r->total, HPX_C_LOST_NO_MEMORY);
}

static void add_losses(struct text *t, const struct hpx_report *r)
{
    for (int i = 0; i < HPX_C_COUNT; i++) {
        uint64_t n = hpx_counter_get(&r->total, (enum hpx_counter)i);
        if (hpx_counter_infos[i].kind == HPX_COUNTER_LOSS && n > 0) {
            add(t, "hprofx: %s: %" PRIu64 " (%s)\n", hpx_counter_infos[i].key, n, hpx_counter_infos[i].text);
        }
    }
}

static void add_signals(struct text *t, const struct hpx_report *r)
{
    uint64_t signals = hpx_counter_get(&r->total, HPX_C_SIGNALS);
    double told = hpx_agent_samples() ? ms(hpx_agent.opt.interval_ns) * (double)(r->samples + lost(r)) : ms(r->calls.ticks_ns);
    add(t, "hprofx: signals: %" PRIu64 "\n", signals);
    if (signals > 0 && !hpx_handshake_polls()) { /* their samples come without signals */
        add(t, "hprofx: effective interval: %.6g ms\n", told / (double)signals);
    }
    if (signals > 0 && r->signal_ns > 0) {
        add(t, "hprofx: handler: %.2f us a signal\n", (double)r->signal_ns / 1e3);
    }
}

static void add_samples(struct text *t, const struct hpx_report *r)
{
    add(t, "hprofx: sampler: %s\n", hpx_sampler_name());
    add(t, "hprofx: samples: %" PRIu64 " (each %.6g ms of CPU time of a Java thread)\n", r->samples, ms(hpx_agent.opt.interval_ns));
    add_signals(t, r);
    add(t, "hprofx: stacks sent whole: %" PRIu64 "\n", hpx_counter_get(&r->total, HPX_C_DEFINITIONS));
    if (hpx_sampler_engine() == HPX_ENGINE_ASYNC) {
        add(t, "hprofx: walked after a retry: %" PRIu64 "\n", hpx_counter_get(&r->total, HPX_C_RETRIED));
    } else {
        add(t, "hprofx: stacks taken: %" PRIu64 "\n", hpx_counter_get(&r->total, HPX_C_TAKEN));
    }
    if (hpx_inlines_enabled()) {
        add(t, "hprofx: drifted: %" PRIu64 "\n", hpx_counter_get(&r->total, HPX_C_DRIFTED));
        add(t, "hprofx: inlined methods: %zu KiB\n", hpx_inlines_bytes() >> 10);
    }
    add(t, "hprofx: without a stack: %" PRIu64 " (%.2f %%)\n", r->unknown_all, percent(r->unknown_all, r->samples));
    for (int i = 0; i < HPX_UNKNOWN_COUNT; i++) {
        if (r->unknown[i] > 0) {
            add(t, "hprofx: without a stack, %s: %" PRIu64 "\n", unknown_names[i], r->unknown[i]);
        }
    }
}

static void add_times(struct text *t, const struct hpx_report *r)
{
    const struct hpx_call_figures *c = &r->calls;
    if (!hpx_agent_sampled()) {
        add(t, "hprofx: times: %s%s%s\n", hpx_cpuclock_name(), hpx_cpuclock_reason()[0] ? ": " : "", hpx_cpuclock_reason());
        return;
    }
    add(t, "hprofx: times: sampled by %s, each %.6g ms\n", hpx_sampler_tick_name(), ms(hpx_agent.opt.interval_ns));
    if (!hpx_agent_samples()) {
        add_signals(t, r);
    }
    add(t, "hprofx: ticks: %" PRIu64 ", %.3f ms\n", c->ticks, ms(c->ticks_ns));
    add(t, "hprofx: ticks outside of counted methods: %.3f ms\n", ms(c->outside_ns));
}

/* One line for all reasons: a key of the report is there once. */
static void add_left(struct text *t, const struct hpx_instrument_figures *f)
{
    const char *between = "hprofx: left alone: ";
    for (int i = 0; i < HPROFX_BCI_LEFT_COUNT; i++) {
        if (f->left[i] > 0) {
            add(t, "%s%" PRIu64 " methods, %s", between, f->left[i], hprofx_bci_left_text((enum hprofx_bci_left)i));
            between = "; ";
        }
    }
    if (between[0] == ';') {
        add(t, "\n");
    }
    if (f->refused + f->untold > 0) {
        add(t, "hprofx: classes left alone: %" PRIu64 " that the VM or the rewriter refused, %" PRIu64 " for want of memory\n", f->refused,
            f->untold);
    }
}

static void add_calls(struct text *t, const struct hpx_report *r)
{
    struct hpx_instrument_figures f;
    const struct hpx_call_figures *c = &r->calls;
    const char *down = hpx_downcall_reason();
    hpx_instrument_figures(&f);
    add_times(t, r);
    add(t, "hprofx: probes: %s%s\n", down == NULL ? "critical downcalls" : "JNI natives: ", down == NULL ? "" : down);
    add(t, "hprofx: instrumented: %" PRIu64 " methods of %" PRIu64 " classes\n", f.methods, f.classes);
    add_left(t, &f);
    if (f.bare > 0) {
        add(t, "hprofx: exits by exception not told: %" PRIu64 " methods\n", f.bare);
    }
    add(t, "hprofx: calls: %" PRIu64 " returned, %.3f ms of self time in this table\n", c->calls, ms(c->self_ns));
    add(t, "hprofx: open calls: %" PRIu64 ", %.3f ms\n", c->open_calls, ms(c->open_ns));
    if (!hpx_agent_sampled()) {
        add(t, "hprofx: taken off for the probes: %.3f ms (%" PRIu32 " + %" PRIu32 " ns a call)\n", ms(c->probes_ns), c->inner_ns,
            c->outer_ns);
    }
    add(t, "hprofx: exits not seen: %" PRIu64 "\n", c->resynced);
    add(t, "hprofx: exits without an entry: %" PRIu64 "\n", c->stray);
    if (hpx_agent.shard.most > 0) {
        add(t, "hprofx: drainers: %u beside the aggregator, %.3f ms; threads given to them: %" PRIu64 "\n", hpx_agent.shard.most,
            ms(hpx_agent.shard.cpu_ns), hpx_agent.shard.given);
    }
    if (c->lost_events > 0) {
        add(t, "hprofx: incomplete: %" PRIu64 " events lost, with %" PRIu64 " whole calls\n", c->lost_events, c->lost_calls);
    }
}

void hpx_report_text(char to[static HPX_REPORT_TEXT], const struct hpx_report *r)
{
    struct text t = {to, 0};
    add(&t, "hprofx: version: %s\n", HPX_VERSION);
    if (hpx_agent_samples()) {
        add_samples(&t, r);
    }
    if (hpx_agent_calls()) {
        add_calls(&t, r);
    }
    add(&t, "hprofx: lost: %" PRIu64 "\n", lost(r));
    add_losses(&t, r);
    add(&t, "hprofx: own CPU time: %.3f ms (%.2f %% of the program's)\n", ms(r->own_cpu_ns), percent(r->own_cpu_ns, r->program_cpu_ns));
    if (hpx_agent_samples()) { /* probes name methods by numbers, without their classes */
        add(&t, "hprofx: classes: %" PRIu32 " held, %" PRIu64 " unloaded and forgotten\n", r->classes,
            hpx_counter_get(&r->total, HPX_C_CLASSES_UNLOADED));
    }
    add(&t, "hprofx: tables: %zu KiB, %zu KiB of them for traces\n", r->table_bytes >> 10, r->trace_bytes >> 10);
}

void hpx_report_summary(char to[static HPX_REPORT_TEXT], const struct hpx_report *r)
{
    struct text t = {to, 0};
    to[0] = 0;
    if (hpx_agent.opt.verbose && hpx_agent_samples()) {
        add(&t, "hprofx: samples: %" PRIu64 " taken, %" PRIu64 " lost, %.2f %% without a stack; own CPU time %.2f %% of the program's\n",
            r->samples, lost(r), percent(r->unknown_all, r->samples), percent(r->own_cpu_ns, r->program_cpu_ns));
    }
    if (hpx_agent.opt.verbose && hpx_agent_calls()) {
        add(&t, "hprofx: calls: %" PRIu64 ", %" PRIu64 " events lost; own CPU time %.2f %% of the program's\n", r->calls.calls,
            r->calls.lost_events, percent(r->own_cpu_ns, r->program_cpu_ns));
    }
    add_losses(&t, r);
}
