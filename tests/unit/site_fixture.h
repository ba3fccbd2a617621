/* SPDX-License-Identifier: BSD-2-Clause */
/* site_fixture.h: a table of sites under test, on a model of model_fixture.h: its messages and events in short form. */
#ifndef HPX_SITE_FIXTURE_H
#define HPX_SITE_FIXTURE_H

#include "model_fixture.h"
#include "site_table.h"

static struct fx f;
static struct hpx_site_ids ids;
static struct hpx_sites *sites;

/* cfg as in fx_begin(). sites is NULL without memory. */
static void begin(const struct hpx_model_config *cfg, uint64_t interval, bool live)
{
    const struct hpx_site_options o = {.ids = &ids, .interval = interval, .live = live};
    fx_begin(&f, cfg);
    sites = f.m ? hpx_sites_create(f.m, &o) : NULL;
}

static int end(void **state)
{
    (void)state;
    if (f.m) {
        fx_end(&f);
    }
    hpx_site_ids_fini(&ids);
    f.m = NULL;
    sites = NULL;
    return 0;
}

/* The id of the n-th site, HPX_SITE_NONE without memory. */
static uint32_t id_of(uint32_t n)
{
    bool fresh;
    return hpx_site_ids_get(&ids, (uint64_t)n + 1, &fresh);
}

/* A class of objects; method: one that it declares, 0: none. false without memory. */
static bool object_class(uint32_t number, uint64_t method, const char *signature)
{
    struct hpx_msg_site_class *m = hpx_msg_site_class_new((uint32_t)strlen(signature));
    if (!m) {
        return false;
    }
    m->number.v = number;
    m->method = method;
    memcpy(m->signature, signature, strlen(signature) + 1);
    fx_message(&f, m);
    return true;
}

/* The definition of an id, and its first object. sampled: the size of all its objects, or 0. */
static void define(struct hpx_thread *t, uint32_t id, uint32_t klass, uint64_t bytes, uint64_t sampled, const struct fx_frame *frames,
                   uint32_t n)
{
    struct {
        struct hpx_ev_head head;
        struct hpx_ev_hash hash;
        struct hpx_ev_site site;
        struct hpx_ev_frame frames[FX_FRAMES];
    } d;
    struct fx_def as_sample;
    fx_fill_def(&as_sample, 0, 0, frames, n);
    memcpy(d.frames, as_sample.frames, sizeof(d.frames));
    d.hash = as_sample.hash;
    d.site = (struct hpx_ev_site){.klass = {klass}, .bytes = sampled};
    d.head = (struct hpx_ev_head){HPX_EV_SITE_DEF, (uint16_t)(n + 3), id, bytes};
    hpx_model_events(f.m, t, &d.head, HPX_EV_SITE_BYTES(n));
}

static inline void allocate(struct hpx_thread *t, uint32_t id, uint64_t bytes)
{
    fx_event(&f, t, HPX_EV_ALLOC, id, bytes);
}

static inline void free_object(uint32_t id, uint64_t bytes)
{
    hpx_site_ids_freed(&ids, hpx_site_tag(id, bytes));
}

/* Methods 8, 16, 24 of class p.C. */
static inline void give_class(void)
{
    fx_class(&f, 1, 8, 3, FX_TEXT("Lp/C;\0C.java\0a\0()V\0b\0()V\0c\0()V"));
}

/* A snapshot that must be there, with this number of rows, whose totals are the sums of its rows. */
static inline struct hpx_site_snapshot *take(uint32_t rows)
{
    struct hpx_site_snapshot *s = hpx_sites_snapshot(sites);
    uint64_t objects = 0, bytes = 0, live_objects = 0, live_bytes = 0;
    assert_non_null(s);
    for (uint32_t i = 0; i < s->nrows; i++) {
        objects += s->rows[i].objects;
        bytes += s->rows[i].bytes;
        live_objects += s->rows[i].live_objects;
        live_bytes += s->rows[i].live_bytes;
    }
    assert_int_equal(s->objects, objects);
    assert_int_equal(s->bytes, bytes);
    assert_int_equal(s->live_objects, live_objects);
    assert_int_equal(s->live_bytes, live_bytes);
    assert_int_equal(s->nrows, rows);
    return s;
}

/* The row of this class whose trace has this method on top (NULL: any); NULL: there is none. */
static inline const struct hpx_site_row *find_row(const struct hpx_site_snapshot *s, const char *class_name, const char *method)
{
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct hpx_site_row *r = &s->rows[i];
        if (fx_text_is(r->class_name, class_name) &&
            (!method || (r->trace->nframes > 0 && fx_text_is(r->trace->frames[0].method->name, method)))) {
            return r;
        }
    }
    return NULL;
}

static inline const struct hpx_site_row *row(const struct hpx_site_snapshot *s, const char *class_name, const char *method)
{
    const struct hpx_site_row *r = find_row(s, class_name, method);
    if (!r) {
        fail_msg("no row of %s at %s", class_name, method ? method : "any");
    }
    return r;
}

static inline void assert_row(const struct hpx_site_row *r, uint64_t objects, uint64_t bytes, uint64_t live_objects, uint64_t live_bytes)
{
    assert_int_equal(r->objects, objects);
    assert_int_equal(r->bytes, bytes);
    assert_int_equal(r->live_objects, live_objects);
    assert_int_equal(r->live_bytes, live_bytes);
}

#endif
