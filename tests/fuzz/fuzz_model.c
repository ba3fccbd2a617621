/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_model.c: what the JVM may tell of classes, methods, lines and threads, with any bytes as their names, broken messages too, and
 * samples between; then the text file. No sample is lost or counted twice, and no name makes a line of the file that the writer did not
 * mean. */
#include "../unit/sink.h"
#include "../unit/text_check.h"
#include "fuzz.h"
#include "hash.h"
#include "hprof_ascii.h"
#include "sample_table.h"
#include <math.h>
#include <string.h>

enum { THREADS = 4, WAITING = 64, FRAMES = 8, SERIALS = 1 << 16 };

struct run {
    const uint8_t *at, *end;
    struct hpx_model *model;
    struct hpx_samples *samples;
    struct hpx_thread threads[THREADS];
    struct hpx_msg *waiting[WAITING]; /* the service thread's, in order */
    uint32_t nwaiting;
    struct hpx_out out;
    struct hpx_ascii ascii;
    struct sink text; /* what was written */
    uint64_t sent, shown, traces, starts, ends;
    bool written[SERIALS];
};

static uint32_t byte(struct run *r)
{
    return r->at < r->end ? *r->at++ : 0;
}

/* n bytes of the input, as many as there are. */
static const char *bytes(struct run *r, uint32_t *n)
{
    const char *s = (const char *)r->at;
    if (*n > (size_t)(r->end - r->at)) {
        *n = (uint32_t)(r->end - r->at);
    }
    r->at += *n;
    return s;
}

static void request(void *ctx, struct hpx_msg *m)
{
    struct run *r = ctx;
    if (m->kind == HPX_MSG_DROP || r->nwaiting == WAITING) {
        free(m);
    } else {
        r->waiting[r->nwaiting++] = m;
    }
}

static bool thread_event(void *ctx, const struct hpx_thread_rec *rec, enum hpx_thread_event what)
{
    struct run *r = ctx;
    if (what == HPX_THREAD_RENAMED) {
        hpx_ascii_thread_name(&r->ascii, rec);
    } else if (what == HPX_THREAD_ENDS) {
        hpx_ascii_thread_end(&r->ascii, rec);
        r->ends++;
    } else {
        hpx_ascii_thread_start(&r->ascii, rec);
        r->starts++;
    }
    return true;
}

/* ---- what may come ---- */

static void message(struct run *r, void *m)
{
    require(m != NULL && hpx_model_message(r->model, m), "a message of the model's is refused");
}

static void class_prepared(struct run *r)
{
    uint32_t n = byte(r) % 6, ref = byte(r), first = byte(r), len = byte(r);
    const char *text = bytes(r, &len);
    struct hpx_msg_class *m = hpx_msg_class_new(n, len);
    require(m != NULL, "no memory");
    m->ref = ref;
    m->named = len > 0;
    memcpy(m->text, text, len);
    for (uint32_t i = 0; i < n; i++) {
        m->ids[i] = 8 * (uint64_t)(first + i + 1);
    }
    message(r, m);
}

static void thread_started(struct run *r)
{
    uint32_t which = byte(r) % (2 * THREADS), len = byte(r);
    const char *text = bytes(r, &len);
    struct hpx_msg_thread_start *m = hpx_msg_thread_start_new(len);
    require(m != NULL, "no memory");
    m->key = which;
    m->nthreads = which < THREADS && r->threads[which].serial == 0;
    m->threads[0] = &r->threads[which % THREADS];
    memcpy(m->text, text, len);
    message(r, m);
}

static void thread_ended(struct run *r)
{
    uint32_t which = byte(r) % (2 * THREADS);
    struct hpx_msg_thread_end *m = hpx_msg_new(HPX_MSG_THREAD_END, sizeof *m);
    require(m != NULL, "no memory");
    m->key = which;
    message(r, m);
    if (which < THREADS) {
        hpx_model_thread_gone(r->model, &r->threads[which]);
        memset(&r->threads[which], 0, sizeof r->threads[which]);
    }
}

static void sampled(struct run *r)
{
    struct {
        struct hpx_ev_head head;
        struct hpx_ev_hash hash;
        struct hpx_ev_frame frames[FRAMES];
    } ev;
    memset(&ev, 0, sizeof ev);
    uint32_t kind = byte(r), n = kind / 4 % (FRAMES + 1);
    struct hpx_thread *t = &r->threads[byte(r) % THREADS];
    ev.head = (struct hpx_ev_head){.id = byte(r) * (kind >= 128 ? 1 : 3), .stamp = byte(r), .units = 1};
    switch (kind % 4) {
    case 0:
        ev.head.kind = HPX_EV_SAMPLE;
        break;
    case 1:
        ev.head.kind = kind >= 128 ? HPX_EV_SAMPLE_STALLED : HPX_EV_SAMPLE_UNKNOWN;
        break;
    default:
        ev.head.kind = HPX_EV_SAMPLE_DEF;
        ev.head.units = (uint16_t)(n + 2);
        for (uint32_t i = 0; i < n; i++) {
            ev.frames[i].method = 8 * (uint64_t)byte(r);
            ev.frames[i].bci = (int32_t)byte(r) - 1;
        }
        struct hpx_hash128 h = hpx_hash128(ev.frames, n * sizeof ev.frames[0]);
        ev.hash = (struct hpx_ev_hash){h.lo, h.hi};
        break;
    }
    r->sent += ev.head.stamp;
    hpx_model_events(r->model, t, &ev.head, ev.head.units * HPX_EV_UNIT);
}

static void resolved(struct run *r, struct hpx_msg_resolve *asked)
{
    uint32_t how = byte(r), n = how / 2 % 8, len = byte(r);
    const char *text = bytes(r, &len);
    if (how & 1) {
        message(r, &asked->m);
        return;
    }
    struct hpx_msg_resolved *m = hpx_msg_resolved_new(n, len);
    require(m != NULL, "no memory");
    m->method = asked->method;
    m->named = len > 0;
    memcpy(m->text, text, len);
    for (uint32_t i = 0; i < n; i++) {
        m->lines[i] = (struct hpx_line){(uint16_t)byte(r), (uint16_t)(byte(r) * 257)};
    }
    free(asked);
    message(r, m);
}

static void answered(struct run *r)
{
    if (r->nwaiting == 0) {
        return;
    }
    struct hpx_msg *m = r->waiting[0];
    memmove(r->waiting, r->waiting + 1, --r->nwaiting * sizeof r->waiting[0]);
    if (m->kind == HPX_MSG_SWEEP) {
        struct hpx_msg_sweep *s = (struct hpx_msg_sweep *)m;
        uint32_t mask = byte(r);
        for (uint32_t i = 0; i < s->n; i++) {
            s->of[i].gone = (s->of[i].ref & mask) != 0;
        }
        m->kind = HPX_MSG_SWEPT;
        message(r, m);
    } else if (m->kind == HPX_MSG_LOOK) {
        message(r, m);
    } else {
        resolved(r, (struct hpx_msg_resolve *)m);
    }
}

static void dumped(struct run *r)
{
    struct hpx_snapshot *s = hpx_samples_snapshot(r->samples, HPX_TAKE_RESET);
    require(s != NULL, "no snapshot");
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->nrows; i++) {
        uint32_t number = s->rows[i].trace->serial - HPX_SERIAL_TRACE;
        sum += s->rows[i].count;
        require(number < SERIALS, "more traces than events");
        r->traces += !r->written[number]; /* once a file */
        r->written[number] = true;
    }
    require(sum == s->total, "the rows are not the total");
    r->shown += sum;
    hpx_ascii_cpu_samples(&r->ascii, s, NAN, 0);
    hpx_snapshot_destroy(s);
}

/* ---- what must hold ---- */

static void check_text(const struct run *r)
{
    uint64_t traces = 0, starts = 0, ends = 0;
    for (const char *at = (const char *)r->text.bytes, *end = at + r->text.len, *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        require(stop != NULL, "the last line has no end");
        size_t n = (size_t)(stop - at), tab = n > 0 && *at == '\t';
        const char *fault = text_fault(at + tab, n - tab, false);
        require(fault == NULL, fault);
        traces += n > 6 && memcmp(at, "TRACE ", 6) == 0;
        starts += n > 13 && memcmp(at, "THREAD START ", 13) == 0;
        ends += n > 11 && memcmp(at, "THREAD END ", 11) == 0;
    }
    require(starts == r->starts && ends == r->ends, "a forged line of a thread");
    require(traces == r->traces, "a forged TRACE");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const steps[])(struct run *) = {class_prepared, thread_started, thread_ended, sampled, sampled, answered, dumped};
    static struct run run; /* libFuzzer calls from one thread */
    struct run *r = &run;
    memset(r, 0, sizeof *r);
    r->at = data;
    r->end = data + size;
    uint32_t choice = byte(r);
    struct hpx_model_config cfg = {.thread_in_traces = choice & 1,
                                   .lines = choice & 2,
                                   .signatures = choice & 4,
                                   .ctx = r,
                                   .request = request,
                                   .thread_event = thread_event};
    r->model = hpx_model_create(&cfg);
    r->samples = r->model != NULL ? hpx_samples_create(r->model) : NULL;
    require(r->samples != NULL && sink_open(&r->out, &r->text) == 0, "no memory");
    hpx_ascii_init(&r->ascii, &r->out);
    while (r->at < r->end) {
        uint32_t step = byte(r);
        steps[step % HPX_ARRAY_LEN(steps)](r);
        for (int i = 0; step >= 128 && i < 3 && hpx_model_pass_end(r->model); i++) {
        }
    }
    hpx_symbols_give_up(hpx_model_symbols(r->model));
    dumped(r);
    require(r->shown == hpx_samples_count(r->samples), "shown is not what was applied");
    require(r->shown + hpx_counter_get(hpx_model_counters(r->model), HPX_C_LOST_NO_MEMORY) == r->sent, "samples lost or counted twice");
    hpx_ascii_fini(&r->ascii);
    require(hpx_out_close(&r->out) == 0, "close");
    check_text(r);
    for (uint32_t i = 0; i < THREADS; i++) {
        hpx_model_thread_gone(r->model, &r->threads[i]);
    }
    for (uint32_t i = 0; i < r->nwaiting; i++) {
        free(r->waiting[i]);
    }
    hpx_model_destroy(r->model);
    free(r->text.bytes);
    return 0;
}
