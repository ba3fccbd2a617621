/* SPDX-License-Identifier: BSD-2-Clause */
/* site_counts_fixture.h: a table of sites=counts on a model of model_fixture.h: places, sizes, counts and rows in short form. */
#ifndef HPX_SITE_COUNTS_FIXTURE_H
#define HPX_SITE_COUNTS_FIXTURE_H

#include "call_rows.h"
#include "call_table.h"
#include "model_fixture.h"
#include "number_table.h"
#include "site_table.h"

enum { NEW = 187, NEWARRAY = 188, ANEWARRAY = 189, MULTIANEWARRAY = 197 };

static struct hpx_site_ids ids;
static struct hpx_sites *sites;
static struct fx f;

static inline void begin_with(const struct hpx_model_config *cfg, const struct hpx_site_options *o)
{
    fx_begin(&f, cfg);
    assert_non_null(f.m);
    sites = hpx_sites_create(f.m, o);
    assert_non_null(sites);
}

static inline int teardown(void **state)
{
    (void)state;
    fx_end(&f);
    hpx_site_ids_fini(&ids);
    memset(&ids, 0, sizeof(ids));
    return 0;
}

/* A place in p.A.run() of A.java. */
static inline void place(uint32_t id, uint16_t line, uint8_t opcode, const char *operand)
{
    char text[256] = "Lp/A;\0A.java\0run\0()V";
    uint32_t len = sizeof("Lp/A;\0A.java\0run\0()V");
    memcpy(text + len, operand, strlen(operand) + 1);
    len += (uint32_t)strlen(operand) + 1;
    struct hpx_msg_sites *m = hpx_msg_sites_new(1, len);
    assert_non_null(m);
    memcpy(m->text, text, len);
    m->of[0].id = id;
    m->of[0].line = line;
    m->of[0].opcode = opcode;
    fx_message(&f, m);
}

static inline void size(const char *name, uint64_t bytes)
{
    fx_message(&f, hpx_msg_site_size_new(name, bytes));
}

static inline void count(uint32_t id, uint64_t bytes, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        fx_event(&f, &f.t, HPX_EV_COUNT, id, bytes);
    }
}

/* The row of this class whose innermost frame is this one; NULL without. */
static inline const struct hpx_site_row *row_of(const struct hpx_site_snapshot *s, const char *klass, const char *frame)
{
    const struct hpx_site_row *found = NULL;
    for (uint32_t i = 0; i < s->nrows; i++) {
        char got[256] = "";
        const struct hpx_trace_rec *t = s->rows[i].trace;
        if (t->nframes > 0) {
            const struct hpx_method_rec *m = t->frames[0].method;
            (void)snprintf(got, sizeof(got), "%.*s.%.*s:%d", (int)m->class_name.len, m->class_name.bytes, (int)m->name.len, m->name.bytes,
                           t->frames[0].line);
        }
        if (fx_text_is(s->rows[i].class_name, klass) && strcmp(got, frame) == 0) {
            assert_null(found); /* no two rows print alike */
            found = &s->rows[i];
        }
    }
    return found;
}

static inline void assert_row(const struct hpx_site_snapshot *s, const char *klass, const char *frame, uint64_t objects, uint64_t bytes)
{
    const struct hpx_site_row *r = row_of(s, klass, frame);
    if (r == NULL) {
        fail_msg("no row of %s at %s", klass, frame);
        return;
    }
    assert_int_equal(r->objects, objects);
    assert_int_equal(r->bytes, bytes);
}

static inline struct hpx_site_snapshot *snapshot(uint32_t rows, uint64_t objects)
{
    struct hpx_site_snapshot *s = hpx_sites_snapshot(sites);
    assert_non_null(s);
    assert_int_equal(s->nrows, rows);
    assert_int_equal(s->objects, objects);
    assert_true(s->counts);
    return s;
}

#endif
