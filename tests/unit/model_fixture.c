/* SPDX-License-Identifier: BSD-2-Clause */
/* model_fixture.c: the calls of model_fixture.h. */
#include "model_fixture.h"

static void fx_request(void *ctx, struct hpx_msg *r)
{
    struct fx *f = ctx;
    struct hpx_msg_sweep *s = (struct hpx_msg_sweep *)(void *)r;
    if (r->kind == HPX_MSG_RESOLVE && f->nasked < FX_ASKED) {
        f->asked[f->nasked++] = (struct hpx_msg_resolve *)(void *)r;
        return;
    }
    if (r->kind == HPX_MSG_SWEEP) {
        f->sweep = s;
        f->nsweeps++;
        return;
    }
    if (r->kind == HPX_MSG_LOOK) {
        f->look = (struct hpx_msg_look *)(void *)r;
        return;
    }
    for (uint32_t i = 0; r->kind == HPX_MSG_DROP && i < s->n; i++) {
        f->dropped += s->of[i].ref;
        f->ndropped++;
    }
    free(r);
}

static bool fx_thread_event(void *ctx, const struct hpx_thread_rec *rec, enum hpx_thread_event what)
{
    struct fx *f = ctx;
    bool end = what == HPX_THREAD_ENDS;
    if (!end && f->nstarted < 16) {
        f->started[f->nstarted++] = rec->serial;
    } else if (end && f->nended < 16) {
        f->ended[f->nended++] = rec->serial;
    }
    return !f->deaf;
}

void fx_begin(struct fx *f, const struct hpx_model_config *cfg)
{
    struct hpx_model_config c = cfg ? *cfg : (struct hpx_model_config){.lines = true};
    *f = (struct fx){0};
    c.ctx = f;
    c.request = fx_request;
    c.thread_event = fx_thread_event;
    f->m = hpx_model_create(&c);
    f->samples = f->m ? hpx_samples_create(f->m) : NULL;
    if (f->samples) {
        f->symbols = hpx_model_symbols(f->m);
    } else {
        hpx_model_destroy(f->m);
        f->m = NULL;
    }
}

void fx_begin_calls(struct fx *f, const struct fx_calls *with)
{
    fx_begin(f, &with->model);
    f->calls = f->m ? hpx_call_rows_create(f->m, &with->calls) : NULL;
    if (!f->calls) {
        hpx_model_destroy(f->m);
        f->m = NULL;
    }
}

void fx_end(struct fx *f)
{
    hpx_model_thread_gone(f->m, &f->t);
    hpx_model_thread_gone(f->m, &f->u);
    for (uint32_t i = 0; i < f->nasked; i++) {
        free(f->asked[i]);
    }
    free(f->sweep);
    free(f->look);
    hpx_model_destroy(f->m);
}

int fx_setup(void **state)
{
    static struct fx f;
    fx_begin(&f, *state);
    *state = &f;
    return f.m ? 0 : -1;
}

int fx_setup_calls(void **state)
{
    static struct fx f;
    fx_begin_calls(&f, *state);
    *state = &f;
    return f.m ? 0 : -1;
}

int fx_teardown(void **state)
{
    fx_end(*state);
    return 0;
}

void fx_message(struct fx *f, void *msg)
{
    if (msg && !hpx_model_message(f->m, msg)) {
        free(msg);
        fail_msg("a message of the model was refused");
    }
}

/* text may be NULL without a length. */
static void copy_text(char *to, const char *text, uint32_t len)
{
    if (len > 0) {
        memcpy(to, text, len);
    }
}

void fx_class(struct fx *f, uint64_t ref, uint64_t first_id, uint32_t n, const char *text, uint32_t text_len)
{
    struct hpx_msg_class *c = hpx_msg_class_new(n, text_len);
    if (!c) {
        return;
    }
    c->ref = ref;
    c->named = text_len > 0;
    copy_text(c->text, text, text_len);
    for (uint32_t i = 0; i < n; i++) {
        c->ids[i] = first_id + 8u * i;
    }
    fx_message(f, c);
}

void fx_answer(struct fx *f, uint32_t i, const struct hpx_line *lines, uint32_t nlines, const char *text, uint32_t text_len)
{
    struct hpx_msg_resolved *r = hpx_msg_resolved_new(nlines, text_len);
    if (!r) {
        return;
    }
    r->method = f->asked[i]->method;
    r->named = text_len > 0;
    copy_text(r->text, text, text_len);
    if (nlines > 0) {
        memcpy(r->lines, lines, nlines * sizeof(*lines));
    }
    fx_message(f, r);
}

void fx_refuse(struct fx *f, uint32_t i)
{
    struct hpx_msg_resolve *r = f->asked[i];
    f->asked[i] = NULL;
    fx_message(f, r);
}

void fx_thread_start(struct fx *f, uint64_t key, struct hpx_thread *t, const char *text, uint32_t text_len)
{
    struct hpx_msg_thread_start *s = hpx_msg_thread_start_new(text_len);
    if (s) {
        s->key = key;
        s->threads[0] = t;
        s->nthreads = t != NULL;
        copy_text(s->text, text, text_len);
        fx_message(f, s);
    }
}

void fx_thread_end(struct fx *f, uint64_t key)
{
    struct hpx_msg_thread_end *e = hpx_msg_new(HPX_MSG_THREAD_END, sizeof(*e));
    if (e) {
        e->key = key;
        fx_message(f, e);
    }
}

void fx_event(struct fx *f, struct hpx_thread *t, enum hpx_ev_kind kind, uint32_t id, uint64_t weight)
{
    struct hpx_ev_head ev = {.kind = (uint16_t)kind, .units = 1, .id = id, .stamp = weight};
    f->sent += weight;
    hpx_model_events(f->m, t, &ev, sizeof(ev));
}

void fx_fill_def(struct fx_def *d, uint32_t slot, uint64_t weight, const struct fx_frame *frames, uint32_t n)
{
    memset(d, 0, sizeof(*d));
    for (uint32_t i = 0; i < n; i++) {
        d->frames[i].method = frames[i].method;
        d->frames[i].bci = frames[i].bci;
    }
    struct hpx_hash128 h = hpx_hash128(d->frames, n * sizeof(d->frames[0]));
    d->hash = (struct hpx_ev_hash){h.lo, h.hi};
    d->head = (struct hpx_ev_head){HPX_EV_SAMPLE_DEF, (uint16_t)(n + 2), slot, weight};
}

void fx_define(struct fx *f, struct hpx_thread *t, uint32_t slot, uint64_t weight, const struct fx_frame *frames, uint32_t n)
{
    struct fx_def d;
    fx_fill_def(&d, slot, weight, frames, n);
    f->sent += weight;
    hpx_model_events(f->m, t, &d.head, HPX_EV_SAMPLE_BYTES(n));
}

uint64_t fx_counter(struct fx *f, enum hpx_counter which)
{
    return hpx_counter_get(hpx_model_counters(f->m), which);
}

bool fx_text_is(struct hpx_text t, const char *s)
{
    return t.len == strlen(s) && memcmp(t.bytes, s, t.len) == 0;
}

void fx_assert_frame(const struct hpx_trace_rec *t, uint32_t i, const char *want)
{
    char got[512];
    assert_true(i < t->nframes);
    const struct hpx_method_rec *m = t->frames[i].method;
    (void)snprintf(got, sizeof(got), "%.*s.%.*s%.*s(%.*s:%d)", (int)m->class_name.len, m->class_name.bytes, (int)m->name.len, m->name.bytes,
                   (int)m->signature.len, m->signature.bytes, (int)m->source.len, m->source.bytes, t->frames[i].line);
    assert_string_equal(got, want);
}

const struct hpx_row *fx_row(const struct hpx_snapshot *s, uint32_t serial)
{
    for (uint32_t i = 0; i < s->nrows; i++) {
        if (s->rows[i].trace->serial == serial) {
            return &s->rows[i];
        }
    }
    fail_msg("no row of trace %u", serial);
    return NULL;
}

struct hpx_snapshot *fx_snapshot(struct fx *f, uint64_t total, uint32_t rows)
{
    struct hpx_snapshot *s = hpx_samples_snapshot(f->samples, HPX_TAKE_RESET);
    assert_non_null(s);
    assert_int_equal(s->total, total);
    assert_int_equal(s->nrows, rows);
    return s;
}
