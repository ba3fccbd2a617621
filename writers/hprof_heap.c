/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_heap.c: see hprof_heap.h. A segment is put together in a buffer, so its length is known before it is written. */
#include "hprof_heap.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { TAG_SEGMENT = 0x1C, TAG_DUMP_END = 0x2C };

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
        put_head(h, TAG_SEGMENT, (uint32_t)h->used);
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
        put_head(h, TAG_SEGMENT, n);
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
    put_head(h, TAG_DUMP_END, 0);
    (void)hpx_binary_end_record(h->w);
    free(h->buffer);
    h->buffer = NULL;
}

void hpx_heap_root(struct hpx_heap *h, enum hpx_heap_root kind, uint64_t object, uint64_t a, uint32_t b)
{
    uint8_t sub[HPX_BINARY_SMALL], *at = hpx_binary_id(h->w, hpx_be1(sub, (uint8_t)kind), object);
    switch (kind) {
    case HPX_ROOT_JNI_GLOBAL:
        at = hpx_binary_id(h->w, at, a);
        break;
    case HPX_ROOT_JNI_LOCAL:
    case HPX_ROOT_JAVA_FRAME:
    case HPX_ROOT_THREAD_OBJECT:
        at = hpx_be4(hpx_be4(at, (uint32_t)a), b);
        break;
    case HPX_ROOT_NATIVE_STACK:
    case HPX_ROOT_THREAD_BLOCK:
        at = hpx_be4(at, (uint32_t)a);
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
    return hpx_heap_size_of(type, h->w->id_size);
}

static uint8_t *put_value(const struct hpx_heap *h, uint8_t *at, const struct hpx_heap_value *v)
{
    uint32_t size = size_of(h, v->type);
    (void)hpx_be8(at, v->value << (64 - 8 * size)); /* the last bytes are written over */
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
    add_to(h, sub, hpx_be2(sub, n));
}

void hpx_heap_class(struct hpx_heap *h, const struct hpx_heap_class *c)
{
    uint8_t sub[HPX_BINARY_SMALL], *at;
    uint32_t ids = h->w->id_size;
    uint32_t n = 1 + 7 * ids + 8 + values_size(h, c->constants, c->nconstants, 2) + values_size(h, c->statics, c->nstatics, ids) + 2 +
                 c->nfields * (ids + 1);
    begin_sub(h, n);
    at = hpx_be4(hpx_binary_id(h->w, hpx_be1(sub, HPX_HEAP_SUB_CLASS), c->object), c->trace);
    const uint64_t others[] = {c->super, c->loader, c->signers, c->domain, 0, 0};
    for (size_t i = 0; i < HPX_ARRAY_LEN(others); i++) {
        at = hpx_binary_id(h->w, at, others[i]);
    }
    add_to(h, sub, hpx_be4(at, c->instance_size));
    add_count(h, c->nconstants);
    for (uint32_t i = 0; i < c->nconstants; i++) {
        at = hpx_be1(hpx_be2(sub, (uint16_t)c->constants[i].name), c->constants[i].type);
        add_to(h, sub, put_value(h, at, &c->constants[i]));
    }
    add_count(h, c->nstatics);
    for (uint32_t i = 0; i < c->nstatics; i++) {
        at = hpx_be1(hpx_binary_id(h->w, sub, c->statics[i].name), c->statics[i].type);
        add_to(h, sub, put_value(h, at, &c->statics[i]));
    }
    add_count(h, c->nfields);
    for (uint32_t i = 0; i < c->nfields; i++) {
        add_to(h, sub, hpx_be1(hpx_binary_id(h->w, sub, c->fields[i].name), c->fields[i].type));
    }
}

/* ---- what the spool has behind the objects ---- */

static bool read_at(int fd, void *to, size_t n, uint64_t at)
{
    for (size_t done = 0; done < n;) {
        ssize_t k = pread(fd, (char *)to + done, n - done, (off_t)(at + done));
        if (k <= 0 && !(k < 0 && errno == EINTR)) {
            return false;
        }
        done += k > 0 ? (size_t)k : 0;
    }
    return true;
}

/* Facts come in the order of the walk; those of no class of the dump go behind all others. */
static bool order_facts(struct hpx_heap_facts *f, const struct hpx_heap_image *i, const struct hpx_heap_fact *from)
{
    f->first = calloc((size_t)i->nclasses + 3, sizeof(*f->first));
    f->facts = calloc(i->nfacts + 1, sizeof(*f->facts));
    if (f->first == NULL || f->facts == NULL) {
        return false;
    }
    for (uint64_t k = 0; k < i->nfacts; k++) {
        f->first[2 + (from[k].klass < i->nclasses ? from[k].klass : i->nclasses)]++;
    }
    for (uint32_t k = 0; k <= i->nclasses + 1; k++) {
        f->first[k + 1] += f->first[k];
    }
    for (uint64_t k = 0; k < i->nfacts; k++) { /* first[c + 1] grows from the beginning of the facts of c to their end */
        f->facts[f->first[1 + (from[k].klass < i->nclasses ? from[k].klass : i->nclasses)]++] = from[k];
    }
    return true;
}

int hpx_heap_facts_read(struct hpx_heap_facts *f, const struct hpx_heap_image *i)
{
    *f = (struct hpx_heap_facts){.facts = NULL};
    struct hpx_heap_fact *facts = calloc(i->nfacts + 1, sizeof(*facts));
    f->roots = calloc(i->nroots + 1, sizeof(*f->roots));
    int rc = facts != NULL && f->roots != NULL ? 0 : -HPX_E_NOMEM;
    if (rc == 0 && (!read_at(i->spool, facts, i->nfacts * sizeof(*facts), i->facts_at) ||
                    !read_at(i->spool, f->roots, i->nroots * sizeof(*f->roots), i->roots_at))) {
        rc = -HPX_E_IO;
    }
    if (rc == 0 && !order_facts(f, i, facts)) {
        rc = -HPX_E_NOMEM;
    }
    free(facts);
    if (rc != 0) {
        hpx_heap_facts_free(f);
    }
    return rc;
}

void hpx_heap_facts_free(struct hpx_heap_facts *f)
{
    free(f->facts);
    free(f->roots);
    free(f->first);
    *f = (struct hpx_heap_facts){.facts = NULL};
}

const struct hpx_heap_thread *hpx_heap_thread_of(const struct hpx_heap_image *i, uint64_t object)
{
    uint32_t low = 0, high = i->nthreads; /* ordered by object */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (i->threads[middle].object < object) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < i->nthreads && i->threads[low].object == object ? &i->threads[low] : NULL;
}

/* The stack was taken before the walk, and the thread may have called or returned since: the same method at the same depth, or the nearest
 * such frame. */
int32_t hpx_heap_frame(const struct hpx_heap_thread *t, const struct hpx_heap_root_fact *r)
{
    int64_t n = t != NULL ? t->nframes : 0;
    if (r->depth < 0 || r->method == 0) {
        return -1;
    }
    for (int64_t away = 0; away < n; away++) {
        int64_t below = r->depth - away, above = r->depth + away;
        if (below >= 0 && below < n && t->methods[below] == r->method) {
            return (int32_t)below;
        }
        if (above < n && t->methods[above] == r->method) {
            return (int32_t)above;
        }
    }
    return -1;
}

/* ---- the objects ---- */

#define READ_BUFFER ((size_t)1 << 20)

int hpx_heap_reader_init(struct hpx_heap_reader *r, const struct hpx_heap_image *i)
{
    *r = (struct hpx_heap_reader){.image = i, .buffer = malloc(READ_BUFFER), .size = READ_BUFFER};
    return r->buffer != NULL ? 0 : -HPX_E_NOMEM;
}

void hpx_heap_reader_fini(struct hpx_heap_reader *r)
{
    free(r->buffer);
    r->buffer = NULL;
}

/* Moves what is unread to the front and fills the rest. */
static void fill(struct hpx_heap_reader *r)
{
    size_t left = r->have - r->used, room = r->size - left;
    uint64_t rest = r->image->objects_end - r->offset;
    memmove(r->buffer, r->buffer + r->used, left);
    r->used = 0;
    r->have = left;
    room = rest < room ? (size_t)rest : room;
    if (room > 0 && r->error == 0 && !read_at(r->image->spool, r->buffer + left, room, r->offset)) {
        r->error = -HPX_E_IO;
        return;
    }
    r->have += r->error == 0 ? room : 0;
    r->offset += r->error == 0 ? room : 0;
#ifdef FALLOC_FL_PUNCH_HOLE /* dump and spool then need the disk once; where this fails they need it twice */
    if (r->image->once && room > 0) {
        (void)fallocate(r->image->spool, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(r->offset - room), (off_t)room);
    }
#endif
}

const uint8_t *hpx_heap_reader_next(struct hpx_heap_reader *r, size_t n)
{
    if (r->have - r->used < n) {
        fill(r);
    }
    if (r->have - r->used < n) {
        return NULL;
    }
    r->used += n;
    return r->buffer + r->used - n;
}

const uint8_t *hpx_heap_reader_some(struct hpx_heap_reader *r, uint64_t n, size_t *got)
{
    if (r->have == r->used) {
        fill(r);
    }
    size_t there = r->have - r->used;
    *got = n < there ? (size_t)n : there;
    r->used += *got;
    return r->buffer + r->used - *got;
}

/* Length of the sub-record at p, of which n bytes are there; 0: too few to tell. */
static uint64_t sub_length(uint32_t ids, const uint8_t *p, size_t n)
{
    uint32_t count;
    size_t head = n == 0 ? 1 : p[0] == HPX_HEAP_SUB_PRIMITIVES ? 10 + ids : 9 + 2 * ids;
    if (n < head) {
        return 0;
    }
    memcpy(&count, p + 5 + (p[0] == HPX_HEAP_SUB_INSTANCE ? 2 * ids : ids), sizeof(count));
    uint64_t each = p[0] == HPX_HEAP_SUB_INSTANCE ? 1 : p[0] == HPX_HEAP_SUB_OBJECTS ? ids : hpx_heap_size_of(p[9 + ids], ids);
    return head + be32toh(count) * each;
}

/* The trace of an object, whose sub-record has the site's id. */
static void put_trace(const struct hpx_heap *h, const struct hpx_heap_image *i, uint8_t *sub)
{
    uint8_t *at = sub + 1 + h->w->id_size;
    uint32_t site;
    memcpy(&site, at, sizeof(site));
    site = be32toh(site);
    const struct hpx_trace_rec *t = site < i->nsites ? i->sites[site] : NULL;
    (void)hpx_be4(at, t != NULL && hpx_binary_has_trace(h->w, t) ? t->serial : HPX_SERIAL_TRACE);
}

/* Writes the sub-record at the front of the buffer, which is longer than the buffer, as its own segment. */
static void copy_long(struct hpx_heap *h, struct hpx_heap_reader *r, uint64_t length)
{
    put_head(h, TAG_SEGMENT, (uint32_t)length);
    put_trace(h, r->image, r->buffer + r->used);
    while (length > 0) {
        size_t got;
        const uint8_t *p = hpx_heap_reader_some(r, length, &got);
        if (got == 0) {
            return; /* r->error */
        }
        hpx_out_bytes(h->w->out, p, got);
        length -= got;
    }
    end_segment(h);
}

/* A segment is the complete sub-records of a full buffer. */
static int copy_objects(struct hpx_heap *h, struct hpx_heap_reader *r)
{
    const struct hpx_heap_image *i = r->image;
    for (bool more = true; more;) {
        size_t whole = 0;
        fill(r);
        uint64_t length = sub_length(h->w->id_size, r->buffer, r->have);
        if (length > r->have + (i->objects_end - r->offset)) {
            break; /* the spool was cut */
        }
        if (length > r->have) {
            copy_long(h, r, length);
            more = r->error == 0;
            continue;
        }
        while (length > 0 && whole + length <= r->have) {
            put_trace(h, i, r->buffer + whole);
            whole += (size_t)length;
            length = sub_length(h->w->id_size, r->buffer + whole, r->have - whole);
        }
        more = whole > 0;
        if (more) {
            put_head(h, TAG_SEGMENT, (uint32_t)whole);
            hpx_out_bytes(h->w->out, r->buffer, whole);
            r->used = whole;
            end_segment(h);
        }
    }
    return r->error != 0 || r->have == r->used ? r->error : -HPX_E_IO;
}

/* ---- an image ---- */

/* What the dump names, and the memory to build a class. */
struct image {
    struct hpx_heap h;
    const struct hpx_heap_image *i;
    struct hpx_heap_facts facts;
    struct hpx_heap_reader objects;
    struct hpx_heap_value *values; /* UINT16_MAX of each kind */
};

static void put_names(struct hpx_binary *w, const struct hpx_heap_image *i)
{
    for (uint32_t n = 0; n < i->nclasses; n++) {
        const struct hpx_heap_klass *c = i->classes[n];
        if (c == NULL) {
            continue;
        }
        (void)hpx_binary_class(w, HPX_SERIAL_CLASS + n, c->name);
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
        if (i->sites[n] != NULL) {
            (void)hpx_binary_trace(w, i->sites[n]);
        }
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

static uint64_t id_of(uint32_t klass)
{
    return klass != 0 ? HPX_CLASS_OBJECT_FIRST + (uint64_t)klass : 0;
}

/* Static fields and constants of a class that its facts do not tell are null or 0. */
static void put_class(struct image *m, const struct hpx_heap_klass *c)
{
    struct hpx_heap_value *constants = m->values, *statics = constants + UINT16_MAX, *fields = statics + UINT16_MAX;
    struct hpx_heap_class to = {.object = id_of(c->number),
                                .super = id_of(c->super),
                                .trace = HPX_SERIAL_TRACE,
                                .instance_size = c->instance_size,
                                .constants = constants,
                                .statics = statics,
                                .fields = fields};
    const uint32_t from = m->facts.first[c->number], end = m->facts.first[c->number + 1];
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
                constants[to.nconstants++] = (struct hpx_heap_value){f->index, HPX_HEAP_OBJECT, f->value};
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
    put_names(m->h.w, m->i);
    put_roots(m, true);
    put_roots(m, false);
    for (uint32_t n = 0; n < m->i->nclasses; n++) {
        if (m->i->classes[n] != NULL) {
            put_class(m, m->i->classes[n]);
        }
    }
    put_segment(&m->h);
    return copy_objects(&m->h, &m->objects);
}

/* All the memory that the dump needs of itself. */
static int begin_image(struct image *m, struct hpx_binary *w)
{
    m->values = malloc(3 * (size_t)UINT16_MAX * sizeof(*m->values));
    int rc = m->values != NULL ? hpx_heap_facts_read(&m->facts, m->i) : -HPX_E_NOMEM;
    rc = rc != 0 ? rc : hpx_heap_reader_init(&m->objects, m->i);
    return rc != 0 ? rc : hpx_heap_begin(&m->h, w);
}

int hpx_heap_binary(struct hpx_binary *w, const struct hpx_heap_image *i)
{
    struct image m = {.i = i};
    int rc = begin_image(&m, w);
    if (rc == 0) {
        rc = write_image(&m);
        hpx_heap_end(&m.h);
    }
    hpx_heap_reader_fini(&m.objects);
    hpx_heap_facts_free(&m.facts);
    free(m.values);
    return rc;
}
