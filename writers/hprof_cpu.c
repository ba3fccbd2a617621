/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_cpu.c: CPU SAMPLES, CPU TIME (ms) and the table of cpu=old as text. Contract: hprof_ascii.h. */
#include "hprof_table.h"
#include "text.h"
#include <inttypes.h>
#include <math.h>

#define CPU_COLUMNS "rank   self  accum   count trace method\n"

/* Their two first columns behind the shares, and the method. */
static void put_row(struct hpx_ascii *w, uint64_t count, const struct hpx_trace_rec *t)
{
    hpx_out_printf(w->out, "%7" PRIu64 " %5" PRIu32 " ", count, t->serial);
    hpx_ascii_method(w, t);
}

static int by_count(const void *a, const void *b)
{
    const struct hpx_row *x = a, *y = b;
    int order = hpx_order(y->count, x->count);
    return order != 0 ? order : hpx_order(x->trace->serial, y->trace->serial);
}

static void put_sample(struct hpx_ascii *w, const void *row)
{
    const struct hpx_row *r = row;
    put_row(w, r->count, r->trace);
}

const struct hpx_table hpx_table_samples = {.title = "CPU SAMPLES",
                                            .columns = CPU_COLUMNS,
                                            .positive = true,
                                            .digits = 4,
                                            .row = sizeof(struct hpx_row),
                                            .value = offsetof(struct hpx_row, count),
                                            .count = offsetof(struct hpx_row, count),
                                            .order = by_count,
                                            .percent = hpx_percent,
                                            .put = put_sample,
                                            .sums = {offsetof(struct hpx_row, count)}};

void hpx_ascii_cpu_samples(struct hpx_ascii *w, struct hpx_snapshot *s, double cutoff, time_t now)
{
    struct hpx_ranked r = hpx_table_rank(&hpx_table_samples, s->rows, s->nrows, s->total, cutoff);
    hpx_ascii_table(w, &hpx_table_samples, r, now, "total = %" PRIu64, s->total);
}

static int by_calls(const void *a, const void *b)
{
    const struct hpx_call_row *x = a, *y = b;
    int order = hpx_order(y->calls, x->calls);
    return order != 0 ? order : hpx_order(x->trace->serial, y->trace->serial);
}

static int by_self(const void *a, const void *b)
{
    const struct hpx_call_row *x = a, *y = b;
    int order = hpx_order(y->self_ns, x->self_ns);
    return order != 0 ? order : by_calls(a, b);
}

#define CALL_SUMS offsetof(struct hpx_call_row, calls), offsetof(struct hpx_call_row, self_ns), offsetof(struct hpx_call_row, total_ns)

static void put_calls(struct hpx_ascii *w, const void *row)
{
    const struct hpx_call_row *r = row;
    put_row(w, r->calls, r->trace);
}

void hpx_ascii_cpu_times(struct hpx_ascii *w, struct hpx_call_snapshot *s, double cutoff, time_t now)
{
    static const struct hpx_table times = {.title = "CPU TIME (ms)",
                                           .columns = CPU_COLUMNS,
                                           .exact = true,
                                           .digits = 4,
                                           .row = sizeof(struct hpx_call_row),
                                           .value = offsetof(struct hpx_call_row, self_ns),
                                           .count = offsetof(struct hpx_call_row, calls),
                                           .order = by_self,
                                           .percent = hpx_percent,
                                           .put = put_calls,
                                           .sums = {CALL_SUMS}};
    struct hpx_ranked r = hpx_table_rank(&times, s->rows, s->nrows, s->self_ns, cutoff);
    hpx_ascii_table(w, &times, r, now, "total = %" PRIu64, hpx_whole_ms(s->self_ns));
}

void hpx_ascii_calls(struct hpx_ascii *w, struct hpx_call_snapshot *s, double cutoff, time_t now)
{
    static const struct hpx_table calls = {.title = "METHOD CALLS",
                                           .columns = CPU_COLUMNS,
                                           .positive = true,
                                           .digits = 4,
                                           .row = sizeof(struct hpx_call_row),
                                           .value = offsetof(struct hpx_call_row, calls),
                                           .count = offsetof(struct hpx_call_row, calls),
                                           .order = by_calls,
                                           .percent = hpx_percent,
                                           .put = put_calls,
                                           .sums = {CALL_SUMS}};
    struct hpx_ranked r = hpx_table_rank(&calls, s->rows, s->nrows, s->calls, cutoff);
    hpx_ascii_table(w, &calls, r, now, "total = %" PRIu64, s->calls);
}

static void put_callable(struct hpx_out *o, const struct hpx_trace_rec *t, uint32_t frame, const char *missing)
{
    if (frame < t->nframes) {
        hpx_ascii_name(o, t->frames[frame].method);
        hpx_text_put(o, t->frames[frame].method->signature, false);
    } else {
        hpx_out_str(o, missing);
    }
}

static size_t callable_len(const struct hpx_trace_rec *t, uint32_t frame)
{
    const struct hpx_method_rec *m = frame < t->nframes ? t->frames[frame].method : NULL;
    return m != NULL ? m->class_name.len + m->name.len + m->signature.len + 1 : sizeof "<unknown callee>";
}

/* How many rows it has: those beyond the bound are summed. */
static uint32_t rank_old(const struct hpx_ascii *w, struct hpx_call_snapshot *s)
{
    static const struct hpx_table old = {
        .row = sizeof(struct hpx_call_row), .value = offsetof(struct hpx_call_row, calls), .order = by_calls, .sums = {CALL_SUMS}};
    struct hpx_ranked r = hpx_table_rank(&old, s->rows, s->nrows, s->calls, NAN);
    uint64_t cost = HPX_ROW_ROOM;
    uint32_t i = 0;
    for (; i < r.ranked && !hpx_bound_reached(w->bound, w->out, cost); i++) {
        cost += 20 + callable_len(s->rows[i].trace, 0) + callable_len(s->rows[i].trace, 1);
    }
    return hpx_table_sum(&old, &r, i, i, w->bound);
}

void hpx_ascii_cpu_old(struct hpx_ascii *w, struct hpx_call_snapshot *s)
{
    struct hpx_out *o = w->out;
    (void)hpx_out_record(o); /* a section before it */
    uint32_t n = rank_old(w, s);
    hpx_out_room_parts(o, HPX_SECTION_ROOM + (size_t)n * 2 * HPX_ROW_ROOM);
    hpx_out_str(o, "count callee caller time\n");
    for (uint32_t i = 0; i < n; i++) {
        const struct hpx_call_row *r = &s->rows[i];
        hpx_out_printf(o, "%" PRIu64 " ", r->calls);
        put_callable(o, r->trace, 0, "<unknown callee>");
        hpx_out_char(o, ' ');
        put_callable(o, r->trace, 1, "<unknown caller>");
        hpx_out_printf(o, " %" PRIu64 "\n", hpx_whole_ms(r->total_ns));
        hpx_out_part(w->out, i + 1 == n);
    }
}

void hpx_ascii_traces(struct hpx_ascii *w, struct hpx_snapshot *s)
{
    (void)hpx_table_rank(&hpx_table_samples, s->rows, s->nrows, s->total, NAN); /* equal counts: by serial */
    for (uint32_t i = 0; i < s->nrows; i++) {
        (void)hpx_ascii_thread(w, s->rows[i].trace->thread);
    }
    for (uint32_t i = 0; i < s->nrows; i++) {
        (void)hpx_ascii_trace(w, s->rows[i].trace);
    }
}
