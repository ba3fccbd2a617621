/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_heap.c: see hprof_heap.h. A segment is put together in a buffer, so its length is known before it is written. */
#include "hprof_heap.h"
#include "heap_reader.h"
#include <stdlib.h>

static void put(struct hpx_binary *w, const uint8_t *record, const uint8_t *end)
{
    hpx_out_bytes(w->out, record, (size_t)(end - record));
}

/* ---- segments ---- */

static void put_head(struct hpx_heap *h, uint8_t tag, uint32_t length)
{
    uint8_t record[HPX_BINARY_SMALL];
    hpx_out_room(h->w->out, (size_t)9 + length);
    put(h->w, record, hpx_binary_head(h->w, record, tag, length));
}

static void end_segment(struct hpx_heap *h)
{
    h->refused += !hpx_binary_end_record(h->w);
}

static void put_segment(struct hpx_heap *h)
{
    if (h->used > 0) { /* readers take an empty one for damage */
        put_head(h, HPX_TAG_SEGMENT, (uint32_t)h->used);
        hpx_out_bytes(h->w->out, h->buffer, h->used);
        h->used = 0;
        end_segment(h);
    }
}

/* What follows is one sub-record of n bytes. */
static void begin_sub(struct hpx_heap *h, uint32_t n)
{
    if (n > HPX_HEAP_SEGMENT - h->used) {
        put_segment(h);
    }
    if (n > HPX_HEAP_SEGMENT) {
        h->direct = n;
        put_head(h, HPX_TAG_SEGMENT, n);
    }
}

static void add(struct hpx_heap *h, const void *p, size_t n)
{
    if (h->direct > 0) {
        hpx_out_bytes(h->w->out, p, n);
        h->direct -= (uint32_t)n;
        if (h->direct == 0) {
            end_segment(h);
        }
    } else if (n > 0) {
        memcpy(h->buffer + h->used, p, n);
        h->used += n;
    }
}

static void add_to(struct hpx_heap *h, const uint8_t *from, const uint8_t *end)
{
    add(h, from, (size_t)(end - from));
}

int hpx_heap_begin(struct hpx_heap *h, struct hpx_binary *w)
{
    *h = (struct hpx_heap){.w = w, .buffer = malloc(HPX_HEAP_SEGMENT)};
    return h->buffer != NULL ? 0 : -HPX_E_NOMEM;
}

void hpx_heap_end(struct hpx_heap *h)
{
    put_segment(h);
    put_head(h, HPX_TAG_HEAP_END, 0);
    (void)hpx_binary_end_record(h->w);
    free(h->buffer);
    h->buffer = NULL;
}

void hpx_heap_root(struct hpx_heap *h, enum hpx_root kind, uint64_t object, uint64_t a, uint32_t b)
{
    uint8_t sub[HPX_BINARY_SMALL], *at = hpx_binary_id(h->w, hpx_put_be1(sub, (uint8_t)kind), object);
    switch (kind) {
    case HPX_ROOT_JNI_GLOBAL:
        at = hpx_binary_id(h->w, at, a);
        break;
    case HPX_ROOT_JNI_LOCAL:
    case HPX_ROOT_JAVA_FRAME:
    case HPX_ROOT_THREAD_OBJECT:
        at = hpx_put_be4(hpx_put_be4(at, (uint32_t)a), b);
        break;
    case HPX_ROOT_NATIVE_STACK:
    case HPX_ROOT_THREAD_BLOCK:
        at = hpx_put_be4(at, (uint32_t)a);
        break;
    default:
        break;
    }
    begin_sub(h, (uint32_t)(at - sub));
    add_to(h, sub, at);
}

/* ---- classes ---- */

static uint32_t size_of(const struct hpx_heap *h, uint8_t type)
{
    return hpx_type_size(type, h->w->id_size);
}

static uint8_t *put_value(const struct hpx_heap *h, uint8_t *at, const struct hpx_heap_value *v)
{
    uint32_t size = size_of(h, v->type);
    (void)hpx_put_be8(at, v->value << (64 - 8 * size)); /* the last bytes are written over */
    return at + size;
}

static uint32_t values_size(const struct hpx_heap *h, const struct hpx_heap_value *v, uint32_t n, uint32_t head)
{
    uint32_t sum = 2; /* 2 + 65535 x (8 + 1 + 8): three of them are far from 2^32 */
    for (uint32_t i = 0; i < n; i++) {
        sum += head + 1 + size_of(h, v[i].type);
    }
    return sum;
}

static void add_count(struct hpx_heap *h, uint16_t n)
{
    uint8_t sub[2];
    add_to(h, sub, hpx_put_be2(sub, n));
}

void hpx_heap_class(struct hpx_heap *h, const struct hpx_heap_class *c)
{
    uint8_t sub[HPX_BINARY_SMALL], *at;
    uint32_t ids = h->w->id_size;
    uint32_t n = 1 + 7 * ids + 8 + values_size(h, c->constants, c->nconstants, 2) + values_size(h, c->statics, c->nstatics, ids) + 2 +
                 c->nfields * (ids + 1);
    begin_sub(h, n);
    at = hpx_put_be4(hpx_binary_id(h->w, hpx_put_be1(sub, HPX_SUB_CLASS), c->object), c->trace);
    const uint64_t others[] = {c->super, c->loader, c->signers, c->domain, 0, 0};
    for (size_t i = 0; i < HPX_ARRAY_LEN(others); i++) {
        at = hpx_binary_id(h->w, at, others[i]);
    }
    add_to(h, sub, hpx_put_be4(at, c->instance_size));
    add_count(h, c->nconstants);
    for (uint32_t i = 0; i < c->nconstants; i++) {
        at = hpx_put_be1(hpx_put_be2(sub, (uint16_t)c->constants[i].name), c->constants[i].type);
        add_to(h, sub, put_value(h, at, &c->constants[i]));
    }
    add_count(h, c->nstatics);
    for (uint32_t i = 0; i < c->nstatics; i++) {
        at = hpx_put_be1(hpx_binary_id(h->w, sub, c->statics[i].name), c->statics[i].type);
        add_to(h, sub, put_value(h, at, &c->statics[i]));
    }
    add_count(h, c->nfields);
    for (uint32_t i = 0; i < c->nfields; i++) {
        add_to(h, sub, hpx_put_be1(hpx_binary_id(h->w, sub, c->fields[i].name), c->fields[i].type));
    }
}

/* ---- objects ---- */

/* What the dump names, and the memory to build a class. */
struct image {
    struct hpx_heap h;
    const struct hpx_heap_image *i;
    struct hpx_heap_facts facts;
    struct hpx_heap_reader objects;
    struct hpx_heap_value *values; /* UINT16_MAX of each kind */
    uint32_t *serials;             /* of the traces by site: three random accesses less for every object */
};

/* Replaces sites by traces. false: the sub-records do not fill the segment. */
static bool put_traces(const struct image *m, const struct hpx_heap_reader *r)
{
    const uint32_t ids = m->h.w->id_size;
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

/* The rest of an array whose beginning is in the output: it keeps the length that its head says. */
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

static void copy_mapped(struct hpx_out *o, struct hpx_heap_reader *r)
{
    size_t n = 0, done = 0;
    do {
        const void *p = hpx_heap_reader_map(r, &n);
        done = hpx_out_mapped(o, p, n);
        hpx_heap_reader_skip(r, done);
    } while (n > 0 && done == n);
}

/* Its beginning is read before its head is written: where nothing can be read the output has nothing of it. */
static bool copy_read(struct image *m, struct hpx_heap_reader *r)
{
    struct hpx_out *o = m->h.w->out;
    if (!hpx_heap_reader_more(r) || (r->sites && !put_traces(m, r))) {
        return false;
    }
    put_head(&m->h, HPX_TAG_SEGMENT, r->length);
    hpx_out_bytes(o, hpx_heap_reader_body(r), r->have);
    copy_mapped(o, r);
    copy_rest(o, r);
    return true;
}

/* A segment without sites is in the file as it is in the spool, but for its TIME. A read error may leave it with half of a sub-record: the
 * output takes back the dump. */
static bool copy_whole(struct image *m, struct hpx_heap_reader *r)
{
    struct hpx_out *o = m->h.w->out;
    put_head(&m->h, HPX_TAG_SEGMENT, r->length);
    copy_mapped(o, r);
    if (r->rest == 0) {
        return true;
    }
    if (!hpx_heap_reader_more(r)) {
        return false;
    }
    hpx_out_bytes(o, hpx_heap_reader_body(r), r->have);
    return true;
}

static int copy_objects(struct image *m)
{
    struct hpx_heap_reader *r = &m->objects;
    const bool plain = m->h.w->out->plain;
    while (hpx_heap_reader_head(r)) {
        bool whole = plain && !r->sites && hpx_heap_reader_fits(r);
        if (!(whole ? copy_whole(m, r) : copy_read(m, r))) {
            return -HPX_E_IO;
        }
        end_segment(&m->h);
    }
    return r->error;
}

/* ---- an image ---- */

static void put_names(struct image *m)
{
    struct hpx_binary *w = m->h.w;
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

/* threads: the roots of threads; they come before those of their frames. */
static void put_roots(struct image *m, bool threads)
{
    uint32_t references = 0;
    for (uint64_t k = 0; k < m->i->nroots; k++) {
        const struct hpx_heap_root_fact *r = &m->facts.roots[k];
        const struct hpx_heap_thread *t = hpx_heap_thread_of(m->i, r->kind == HPX_ROOT_THREAD_OBJECT ? r->object : r->thread);
        if ((r->kind == HPX_ROOT_THREAD_OBJECT) != threads) {
            continue;
        }
        switch (r->kind) {
        case HPX_ROOT_THREAD_OBJECT:
            if (t == NULL) { /* it has started since the threads were listed */
                hpx_heap_root(&m->h, HPX_ROOT_UNKNOWN, r->object, 0, 0);
            } else {
                hpx_heap_root(&m->h, HPX_ROOT_THREAD_OBJECT, r->object, t->serial, trace_of(m->h.w, t));
            }
            break;
        case HPX_ROOT_JNI_LOCAL:
        case HPX_ROOT_JAVA_FRAME:
            if (t == NULL) {
                hpx_heap_root(&m->h, HPX_ROOT_UNKNOWN, r->object, 0, 0);
            } else {
                hpx_heap_root(&m->h, r->kind, r->object, t->serial,
                              trace_of(m->h.w, t) != HPX_SERIAL_TRACE ? (uint32_t)hpx_heap_frame(t, r) : UINT32_MAX);
            }
            break;
        case HPX_ROOT_JNI_GLOBAL:
            hpx_heap_root(&m->h, HPX_ROOT_JNI_GLOBAL, r->object, ++references, 0);
            break;
        default:
            hpx_heap_root(&m->h, r->kind, r->object, 0, 0);
            break;
        }
    }
}

/* Static fields and constants of a class that its facts do not tell are null or 0. */
static void put_class(struct image *m, const struct hpx_heap_klass *c)
{
    struct hpx_heap_value *constants = m->values, *statics = constants + UINT16_MAX, *fields = statics + UINT16_MAX;
    struct hpx_heap_class to = {.object = hpx_heap_class_id(c->number),
                                .super = c->above != NULL ? hpx_heap_class_id(c->above->number) : 0,
                                .trace = HPX_SERIAL_TRACE,
                                .instance_size = c->instance_size,
                                .constants = constants,
                                .statics = statics,
                                .fields = fields};
    const uint32_t from = m->facts.first[c->number.v], end = m->facts.first[c->number.v + 1];
    for (uint32_t k = 0; k < c->nfields; k++) {
        const struct hpx_heap_field *f = &c->fields[k];
        struct hpx_heap_value v = {hpx_binary_string(m->h.w, f->name), f->type, 0};
        for (uint32_t n = from; f->is_static && n < end; n++) {
            if (m->facts.facts[n].kind == HPX_HEAP_STATIC && m->facts.facts[n].index == k) {
                v.value = m->facts.facts[n].value;
            }
        }
        if (f->is_static && to.nstatics < UINT16_MAX) {
            statics[to.nstatics++] = v;
        } else if (!f->is_static && to.nfields < UINT16_MAX) {
            fields[to.nfields++] = v;
        }
    }
    for (uint32_t n = from; n < end; n++) {
        const struct hpx_heap_fact *f = &m->facts.facts[n];
        switch (f->kind) {
        case HPX_HEAP_LOADER:
            to.loader = f->value;
            break;
        case HPX_HEAP_SIGNERS:
            to.signers = f->value;
            break;
        case HPX_HEAP_DOMAIN:
            to.domain = f->value;
            break;
        case HPX_HEAP_CONSTANT:
            if (to.nconstants < UINT16_MAX) {
                constants[to.nconstants++] = (struct hpx_heap_value){f->index, HPX_TYPE_OBJECT, f->value};
            }
            break;
        default:
            break;
        }
    }
    hpx_heap_class(&m->h, &to);
}

static int write_image(struct image *m)
{
    put_names(m); /* stays: the writer knows it to be in the file */
    (void)hpx_out_point(m->h.w->out);
    put_roots(m, true);
    put_roots(m, false);
    for (uint32_t n = 0; n < m->i->nclasses; n++) {
        if (m->i->classes[n] != NULL) {
            put_class(m, m->i->classes[n]);
        }
    }
    put_segment(&m->h);
    return copy_objects(m);
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
static int begin_image(struct image *m, struct hpx_binary *w)
{
    m->values = malloc(3 * (size_t)UINT16_MAX * sizeof(*m->values));
    m->serials = malloc(((size_t)m->i->nsites + 1) * sizeof(*m->serials));
    int rc = m->values != NULL && m->serials != NULL ? hpx_heap_facts_read(&m->facts, m->i) : -HPX_E_NOMEM;
    rc = rc != 0 ? rc : hpx_heap_reader_init(&m->objects, m->i);
    rc = rc != 0 || reserve_marks(w, m->i) ? rc : -HPX_E_NOMEM;
    return rc != 0 ? rc : hpx_heap_begin(&m->h, w);
}

int hpx_heap_binary(struct hpx_binary *w, const struct hpx_heap_image *i)
{
    struct image m = {.i = i};
    int rc = begin_image(&m, w);
    if (rc == 0) {
        rc = write_image(&m);
        hpx_heap_end(&m.h);
        if (rc != 0) {
            hpx_out_take_back(w->out);
        }
    }
    hpx_heap_reader_fini(&m.objects);
    hpx_heap_facts_free(&m.facts);
    free(m.values);
    free(m.serials);
    return rc;
}
