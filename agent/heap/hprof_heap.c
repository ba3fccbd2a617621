/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_heap.c: see hprof_heap.h. A segment is put together in a buffer, and the record of a class in another one, so their lengths are
 * known before they are written. */
#include "hprof_heap.h"
#include "heap_reader.h"
#include "heap_spool.h"
#include <errno.h>
#include <stdlib.h>

/* What the dump names, and the memory to build its records. */
struct image {
    struct hpx_binary *w;
    const struct hpx_heap_image *i;
    struct hpx_heap_facts facts;
    struct hpx_heap_reader objects;
    uint8_t *segment; /* of roots and classes */
    size_t used;
    uint8_t *record;   /* room for CLASS_MOST */
    uint32_t *serials; /* of the traces by site: three random accesses less for every object */
};

/* ---- segments ---- */

static void put_head(struct image *m, uint8_t tag, uint32_t length)
{
    uint8_t record[HPX_BINARY_SMALL];
    hpx_out_room(m->w->out, (size_t)9 + length);
    hpx_out_bytes(m->w->out, record, (size_t)(hpx_binary_head(m->w, record, tag, length) - record));
}

static void put_record(struct image *m, uint8_t tag, const uint8_t *body, size_t n)
{
    put_head(m, tag, (uint32_t)n);
    hpx_out_bytes(m->w->out, body, n);
    (void)hpx_binary_end_record(m->w);
}

static void end_segment(struct image *m)
{
    if (m->used > 0) { /* readers take an empty one for damage */
        put_record(m, HPX_TAG_SEGMENT, m->segment, m->used);
        m->used = 0;
    }
}

static void put_sub(struct image *m, const uint8_t *sub, const uint8_t *end)
{
    const size_t n = (size_t)(end - sub);
    if (n > HPX_HEAP_SEGMENT - m->used) {
        end_segment(m);
    }
    if (n > HPX_HEAP_SEGMENT) {
        put_record(m, HPX_TAG_SEGMENT, sub, n);
        return;
    }
    memcpy(m->segment + m->used, sub, n);
    m->used += n;
}

/* ---- objects ---- */

/* Replaces sites by traces. false: the sub-records do not fill the segment. */
static bool put_traces(const struct image *m, const struct hpx_heap_reader *r)
{
    const uint32_t ids = m->w->id_size;
    uint8_t *sub = hpx_heap_reader_body(r), *end = sub + r->have;
    while (sub < end) {
        uint64_t length = hpx_heap_sub_length(ids, sub, (size_t)(end - sub));
        if (length == 0 || (length > (size_t)(end - sub) && r->rest == 0)) {
            return false;
        }
        uint32_t site = hpx_heap_site_at(sub + 1 + ids);
        (void)hpx_put_be4(sub + 1 + ids, site < m->i->nsites ? m->serials[site] : HPX_SERIAL_TRACE);
        sub += length < (size_t)(end - sub) ? length : (size_t)(end - sub);
    }
    return true;
}

/* What is left of a segment: it keeps the length that its head says. After a read error it has zeros: an array without its end, or a
 * segment of an output that takes the dump back. */
static void copy_rest(struct hpx_out *o, struct hpx_heap_reader *r)
{
    while (hpx_heap_reader_more(r)) {
        hpx_out_bytes(o, hpx_heap_reader_body(r), r->have);
    }
    if (r->rest > 0) { /* a read error */
        memset(r->segment, 0, r->size);
    }
    while (r->rest > 0) {
        size_t n = r->rest < r->size ? r->rest : r->size;
        hpx_out_bytes(o, r->segment, n);
        hpx_heap_reader_skip(r, n);
    }
}

/* The beginning of a segment is read before its head is written: where nothing can be read the output has nothing of it. */
static bool copy_segment(struct image *m, struct hpx_heap_reader *r)
{
    if (!hpx_heap_reader_more(r) || (r->sites && !put_traces(m, r))) {
        return false;
    }
    put_head(m, HPX_TAG_SEGMENT, r->length);
    hpx_out_bytes(m->w->out, hpx_heap_reader_body(r), r->have);
    copy_rest(m->w->out, r);
    (void)hpx_binary_end_record(m->w);
    return true;
}

static void copy_objects(struct image *m)
{
    while (hpx_heap_reader_head(&m->objects)) {
        if (!copy_segment(m, &m->objects)) {
            m->objects.error = -HPX_E_IO;
        }
    }
}

/* Its segments get their TIME, then the spool becomes the output, without the roots and facts behind the objects: so no other dump may read
 * the image. A note of zeros fills the rest of the first bytes; it stands before the first segment, because readers refuse other records
 * between segments. false: the output needs a copy. */
static bool adopt_objects(struct image *m)
{
    struct hpx_heap_reader r = m->objects; /* a copy begins where this one stays */
    struct hpx_out *o = m->w->out;
    uint8_t head[HPX_BINARY_SMALL];
    const uint64_t zeros = m->i->head - hpx_bound_at(o) - HPX_RECORD_HEAD - m->w->id_size; /* wraps without room for them */
    uint8_t *end = o->adopt != NULL && m->i->once && zeros <= INT32_MAX ? hpx_binary_note_head(m->w, head, zeros) : NULL;
    int error = end != NULL ? hpx_heap_spool_write(m->i->spool, head, (size_t)(end - head), o->point_at) : ENOSPC;
    while (error == 0 && hpx_heap_reader_head(&r)) {
        (void)hpx_binary_head(m->w, head, HPX_TAG_SEGMENT, r.length);
        error = hpx_heap_spool_write(m->i->spool, head, HPX_RECORD_HEAD, r.offset - HPX_RECORD_HEAD);
    }
    return error == 0 && r.error == 0 && hpx_out_adopt(o, m->i->spool, m->i->head, m->i->found.objects_end);
}

/* ---- names and roots ---- */

static void put_names(struct image *m)
{
    struct hpx_binary *w = m->w;
    const struct hpx_heap_image *i = m->i;
    for (uint32_t n = 0; n < i->nclasses; n++) {
        const struct hpx_heap_klass *c = i->classes[n];
        if (c == NULL) {
            continue;
        }
        (void)hpx_binary_class(w, hpx_serial_of_class(c->number), c->name);
        for (uint32_t k = 0; k < c->nfields; k++) {
            (void)hpx_binary_string(w, c->fields[k].name);
        }
    }
    for (uint32_t n = 0; n < i->nthreads; n++) {
        const struct hpx_heap_thread *t = &i->threads[n];
        if (!hpx_binary_has_thread(w, t->serial)) { /* never announced, or it had ended when the file was begun */
            const struct hpx_thread_rec rec = {.serial = t->serial, .object = (uint32_t)t->object, .name = t->name};
            hpx_binary_thread_start(w, &rec);
        }
        if (t->trace != NULL) {
            (void)hpx_binary_trace(w, t->trace);
        }
    }
    for (uint32_t n = 0; n < i->nsites; n++) {
        m->serials[n] = i->sites[n] != NULL && hpx_binary_trace(w, i->sites[n]) ? i->sites[n]->serial : HPX_SERIAL_TRACE;
    }
}

static uint32_t trace_of(const struct hpx_binary *w, const struct hpx_heap_thread *t)
{
    return t != NULL && t->trace != NULL && hpx_binary_has_trace(w, t->trace) ? t->trace->serial : HPX_SERIAL_TRACE;
}

static void put_root(struct image *m, const struct hpx_heap_root_fact *r, uint32_t *references)
{
    const struct hpx_heap_thread *t;
    const uint32_t kind = hpx_heap_kind_of_root(m->i, r, &t), trace = trace_of(m->w, t);
    uint8_t sub[HPX_BINARY_SMALL], *at = hpx_binary_id(m->w, hpx_put_be1(sub, (uint8_t)kind), r->object);
    switch (kind) {
    case HPX_ROOT_THREAD_OBJECT:
        at = hpx_put_be4(hpx_put_be4(at, t->serial), trace);
        break;
    case HPX_ROOT_JNI_LOCAL:
    case HPX_ROOT_JAVA_FRAME:
        at = hpx_put_be4(hpx_put_be4(at, t->serial), trace != HPX_SERIAL_TRACE ? (uint32_t)hpx_heap_frame(t, r) : UINT32_MAX);
        break;
    case HPX_ROOT_JNI_GLOBAL:
        at = hpx_binary_id(m->w, at, ++*references);
        break;
    default:
        break;
    }
    put_sub(m, sub, at);
}

/* The roots of threads come before those of their frames. */
static void put_roots(struct image *m)
{
    uint32_t references = 0;
    for (int threads = 1; threads >= 0; threads--) {
        for (uint64_t k = 0; k < m->i->found.nroots; k++) {
            if ((m->facts.roots[k].kind == HPX_ROOT_THREAD_OBJECT) == (threads == 1)) {
                put_root(m, &m->facts.roots[k], &references);
            }
        }
    }
}

/* ---- classes ---- */

/* Bytes of the longest record of a class: constants, static fields, fields; and of what is written beyond its end. */
#define CLASS_MOST (1 + 7 * 8 + 8 + 3 * 2 + UINT16_MAX * (size_t)((2 + 1 + 8) + (8 + 1 + 8) + (8 + 1)) + 8)

static uint8_t *put_value(const struct image *m, uint8_t *at, uint8_t type, uint64_t value)
{
    const uint32_t size = hpx_type_size(type, m->w->id_size);
    at = hpx_put_be1(at, type);
    (void)hpx_put_be8(at, value << (64 - 8 * size)); /* the last bytes are written over */
    return at + size;
}

static uint8_t *put_constants(const struct image *m, uint8_t *count, const struct hpx_heap_klass *c)
{
    uint8_t *at = count + 2;
    uint16_t n = 0;
    for (uint32_t k = m->facts.first[c->number.v]; k < m->facts.first[c->number.v + 1] && n < UINT16_MAX; k++) {
        const struct hpx_heap_fact *f = &m->facts.facts[k];
        if (f->kind == HPX_HEAP_CONSTANT) {
            at = put_value(m, hpx_put_be2(at, (uint16_t)f->index), HPX_TYPE_OBJECT, f->value);
            n++;
        }
    }
    (void)hpx_put_be2(count, n);
    return at;
}

/* Static fields that no fact tells are null or 0. */
static uint8_t *put_fields(const struct image *m, uint8_t *count, const struct hpx_heap_klass *c, bool statics)
{
    uint8_t *at = count + 2;
    uint16_t n = 0;
    for (uint32_t k = 0; k < c->nfields && n < UINT16_MAX; k++) {
        const struct hpx_heap_field *f = &c->fields[k];
        if (f->is_static == statics) {
            at = hpx_binary_id(m->w, at, hpx_binary_string(m->w, f->name));
            at = statics ? put_value(m, at, f->type, hpx_heap_fact_of(&m->facts, c->number, HPX_HEAP_STATIC, k)) : hpx_put_be1(at, f->type);
            n++;
        }
    }
    (void)hpx_put_be2(count, n);
    return at;
}

static void put_class(struct image *m, const struct hpx_heap_klass *c)
{
    const uint64_t others[] = {c->above != NULL ? hpx_heap_class_id(c->above->number) : 0,
                               hpx_heap_fact_of(&m->facts, c->number, HPX_HEAP_LOADER, 0),
                               hpx_heap_fact_of(&m->facts, c->number, HPX_HEAP_SIGNERS, 0),
                               hpx_heap_fact_of(&m->facts, c->number, HPX_HEAP_DOMAIN, 0),
                               0,
                               0};
    uint8_t *at = hpx_binary_id(m->w, hpx_put_be1(m->record, HPX_SUB_CLASS), hpx_heap_class_id(c->number));
    at = hpx_put_be4(at, HPX_SERIAL_TRACE);
    for (size_t i = 0; i < HPX_ARRAY_LEN(others); i++) {
        at = hpx_binary_id(m->w, at, others[i]);
    }
    at = put_constants(m, hpx_put_be4(at, c->instance_size), c);
    put_sub(m, m->record, put_fields(m, put_fields(m, at, c, true), c, false));
}

/* ---- an image ---- */

static int write_image(struct image *m)
{
    struct hpx_heap_reader *r = &m->objects;
    put_names(m); /* stays: the writer knows it to be in the file */
    (void)hpx_out_point(m->w->out);
    put_roots(m);
    for (uint32_t n = 0; n < m->i->nclasses; n++) {
        if (m->i->classes[n] != NULL) {
            put_class(m, m->i->classes[n]);
        }
    }
    end_segment(m);
    if (!adopt_objects(m)) {
        copy_objects(m);
    }
    put_record(m, HPX_TAG_HEAP_END, NULL, 0);
    if (r->error != 0) {
        hpx_out_take_back(m->w->out);
    }
    return r->error;
}

/* The segments name classes without a look at each object: all of them must be in the file. */
static bool reserve_marks(struct hpx_binary *w, const struct hpx_heap_image *i)
{
    const struct hpx_class_serial none = {0};
    bool good = hpx_binary_reserve(w, hpx_serial_of_class((struct hpx_class_number){i->nclasses}), 0, NULL);
    for (uint32_t n = 0; good && n < i->nthreads; n++) {
        good = hpx_binary_reserve(w, none, i->threads[n].serial, i->threads[n].trace);
    }
    for (uint32_t n = 0; good && n < i->nsites; n++) {
        good = hpx_binary_reserve(w, none, 0, i->sites[n]);
    }
    return good;
}

/* All the memory that the dump needs of itself. */
static int begin_image(struct image *m)
{
    m->segment = malloc(HPX_HEAP_SEGMENT);
    m->record = malloc(CLASS_MOST);
    m->serials = malloc(((size_t)m->i->nsites + 1) * sizeof(*m->serials));
    int rc = m->segment != NULL && m->record != NULL && m->serials != NULL ? hpx_heap_facts_read(&m->facts, m->i) : -HPX_E_NOMEM;
    rc = rc != 0 ? rc : hpx_heap_reader_init(&m->objects, m->i);
    return rc != 0 || reserve_marks(m->w, m->i) ? rc : -HPX_E_NOMEM;
}

int hpx_heap_binary(struct hpx_binary *w, const struct hpx_heap_image *i)
{
    struct image m = {.w = w, .i = i};
    int rc = begin_image(&m);
    rc = rc != 0 ? rc : write_image(&m);
    hpx_heap_reader_fini(&m.objects);
    hpx_heap_facts_free(&m.facts);
    free(m.segment);
    free(m.record);
    free(m.serials);
    return rc;
}
