/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_heap_ascii.c: HEAP DUMP of the text format. */
#include "big_endian.h"
#include "hprof_heap.h"
#include "text.h"
#include <inttypes.h>
#include <stdlib.h>

struct text {
    struct hpx_ascii *w;
    struct hpx_out *o;
    const struct hpx_heap_image *i;
    struct hpx_heap_facts facts;
    uint32_t *vm_size; /* of an instance, by class number */
    struct hpx_heap_reader r;
};

static void put_traces(struct hpx_ascii *w, const struct hpx_heap_image *i)
{
    for (uint32_t n = 0; n < i->nthreads; n++) {
        const struct hpx_heap_thread *t = &i->threads[n];
        if (!hpx_ascii_has_thread(w, t->serial, t->known)) {
            const struct hpx_thread_rec rec = {.serial = t->serial, .object = (uint32_t)t->object, .name = t->name};
            hpx_ascii_thread_start(w, &rec);
        }
    }
    for (uint32_t n = 0; n < i->nsites; n++) {
        (void)hpx_ascii_thread(w, i->sites[n] != NULL ? i->sites[n]->thread : 0);
    }
    for (uint32_t n = 0; n < i->nthreads; n++) {
        if (i->threads[n].trace != NULL) {
            (void)hpx_ascii_trace(w, i->threads[n].trace);
        }
    }
    for (uint32_t n = 0; n < i->nsites; n++) {
        if (i->sites[n] != NULL) {
            (void)hpx_ascii_trace(w, i->sites[n]);
        }
    }
}

static uint32_t serial_of(const struct hpx_trace_rec *t)
{
    return t != NULL ? t->serial : HPX_SERIAL_TRACE;
}

/* ---- roots ---- */

static void put_root(struct text *t, const struct hpx_heap_root_fact *r, uint32_t *references)
{
    const struct hpx_heap_thread *thread = hpx_heap_thread_of(t->i, r->kind == HPX_ROOT_THREAD_OBJECT ? r->object : r->thread);
    const struct hpx_heap_klass *c = hpx_heap_class_of(t->i, r->object);
    uint32_t kind = r->kind;
    bool of_thread = kind == HPX_ROOT_THREAD_OBJECT || kind == HPX_ROOT_JNI_LOCAL || kind == HPX_ROOT_JAVA_FRAME;
    if ((of_thread && thread == NULL) || (kind == HPX_ROOT_STICKY_CLASS && c == NULL)) {
        kind = HPX_ROOT_UNKNOWN; /* a thread that has started since the threads were listed; not a class */
    }
    hpx_out_printf(t->o, "ROOT %" PRIx64 " (kind=", r->object);
    switch (kind) {
    case HPX_ROOT_THREAD_OBJECT:
        hpx_out_printf(t->o, "<thread>, id=%" PRIu32 ", trace=%" PRIu32 ")\n", thread->serial, serial_of(thread->trace));
        hpx_out_printf(t->o, "ROOT %" PRIx64 " (kind=<thread block>, thread=%" PRIu32 ")\n", r->object, thread->serial);
        break;
    case HPX_ROOT_JNI_GLOBAL:
        hpx_out_printf(t->o, "<JNI global ref>, id=%" PRIx32 ", trace=%u)\n", ++*references, HPX_SERIAL_TRACE);
        break;
    case HPX_ROOT_JNI_LOCAL:
    case HPX_ROOT_JAVA_FRAME:
        hpx_out_printf(t->o, "<%s>, thread=%" PRIu32 ", frame=%" PRId32 ")\n", kind == HPX_ROOT_JNI_LOCAL ? "JNI local ref" : "Java stack",
                       thread->serial, hpx_heap_frame(thread, r));
        break;
    case HPX_ROOT_STICKY_CLASS:
        hpx_out_str(t->o, "<system class>, name=");
        hpx_text_put(t->o, c->name, false);
        hpx_out_str(t->o, ")\n");
        break;
    case HPX_ROOT_MONITOR_USED:
        hpx_out_str(t->o, "<busy monitor>)\n");
        break;
    default:
        hpx_out_str(t->o, "<unknown>)\n");
        break;
    }
}

static void put_roots(struct text *t)
{
    uint32_t references = 0;
    for (int threads = 1; threads >= 0; threads--) {
        for (uint64_t k = 0; k < t->i->nroots; k++) {
            const struct hpx_heap_root_fact *r = &t->facts.roots[k];
            if ((r->kind == HPX_ROOT_THREAD_OBJECT) == (threads == 1)) {
                put_root(t, r, &references);
            }
        }
    }
}

/* ---- objects ---- */

static uint64_t id_at(const struct text *t, const uint8_t *p)
{
    uint64_t wide;
    uint32_t narrow;
    if (t->i->id_size == 8) {
        memcpy(&wide, p, sizeof(wide));
        return be64toh(wide);
    }
    memcpy(&narrow, p, sizeof(narrow));
    return be32toh(narrow);
}

static uint32_t u4_at(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return be32toh(v);
}

static void put_class_name(struct text *t, uint64_t id)
{
    static const struct hpx_text unknown = {"hprofx.unknown", 14};
    const struct hpx_heap_klass *c = hpx_heap_class_of(t->i, id);
    hpx_text_put(t->o, c != NULL ? c->name : unknown, false);
}

/* The reference fields of the superclasses first. start: where the fields of `c` begin in the record. */
static void put_fields(struct text *t, const struct hpx_heap_klass *c, const uint8_t *values)
{
    const struct hpx_heap_klass *chain[256];
    uint32_t n = 0, from = 0;
    for (; c != NULL && n < HPX_ARRAY_LEN(chain); c = c->above) {
        chain[n++] = c;
    }
    for (uint32_t k = n; k > 0; k--) {
        const struct hpx_heap_klass *of = chain[k - 1];
        from = chain[0]->instance_size - of->instance_size; /* the fields of a class come before those of its superclasses */
        for (uint32_t f = 0; f < of->nfields; f++) {
            const struct hpx_heap_field *field = &of->fields[f];
            uint64_t id = !field->is_static && field->type == HPX_HEAP_OBJECT ? id_at(t, values + from + field->offset) : 0;
            if (id != 0) {
                hpx_out_char(t->o, '\t');
                hpx_text_put(t->o, field->name, false);
                hpx_out_printf(t->o, "%s%" PRIx64 "\n", field->name.len < 8 ? "\t\t" : "\t", id);
            }
        }
    }
}

/* An instance is longer than the reader's buffer only with 65,535 fields in each of many classes. */
static bool put_instance(struct text *t, const uint8_t *head, uint64_t id, uint32_t trace)
{
    uint64_t klass = id_at(t, head);
    uint32_t n = u4_at(head + t->i->id_size);
    const struct hpx_heap_klass *c = hpx_heap_class_of(t->i, klass);
    hpx_out_printf(t->o, "OBJ %" PRIx64 " (sz=%" PRIu32 ", trace=%" PRIu32 ", class=", id, c != NULL ? t->vm_size[c->number] : 0, trace);
    put_class_name(t, klass);
    hpx_out_printf(t->o, "@%" PRIx64 ")\n", klass);
    const uint8_t *values = hpx_heap_reader_next(&t->r, n);
    if (values != NULL && c != NULL) {
        put_fields(t, c, values);
    }
    return values != NULL;
}

static bool put_objects(struct text *t, const uint8_t *head, uint64_t id, uint32_t trace)
{
    uint32_t n = u4_at(head);
    uint64_t klass = id_at(t, head + 4), size = t->i->array_base + (uint64_t)n * t->i->reference_size;
    hpx_out_printf(t->o, "ARR %" PRIx64 " (sz=%" PRIu64 ", trace=%" PRIu32 ", nelems=%" PRIu32 ", elem type=", id,
                   (size + 7) & ~UINT64_C(7), trace, n);
    put_class_name(t, klass);
    hpx_out_printf(t->o, "@%" PRIx64 ")\n", klass);
    for (uint32_t k = 0; k < n; k++) {
        const uint8_t *p = hpx_heap_reader_next(&t->r, t->i->id_size);
        if (p == NULL) {
            return false;
        }
        if (id_at(t, p) != 0) {
            hpx_out_printf(t->o, "\t[%" PRIu32 "]\t\t%" PRIx64 "\n", k, id_at(t, p));
        }
    }
    return true;
}

static bool put_primitives(struct text *t, const uint8_t *head, uint64_t id, uint32_t trace)
{
    static const char *const names[] = {
        [HPX_HEAP_BOOLEAN] = "boolean", [HPX_HEAP_CHAR] = "char",   [HPX_HEAP_FLOAT] = "float", [HPX_HEAP_DOUBLE] = "double",
        [HPX_HEAP_BYTE] = "byte",       [HPX_HEAP_SHORT] = "short", [HPX_HEAP_INT] = "int",     [HPX_HEAP_LONG] = "long"};
    uint32_t n = u4_at(head);
    uint8_t type = head[4];
    uint64_t bytes = (uint64_t)n * hpx_heap_size_of(type, t->i->id_size);
    hpx_out_printf(t->o, "ARR %" PRIx64 " (sz=%" PRIu64 ", trace=%" PRIu32 ", nelems=%" PRIu32 ", elem type=%s[])\n", id, bytes, trace, n,
                   type >= HPX_HEAP_BOOLEAN && type <= HPX_HEAP_LONG ? names[type] : "?");
    for (size_t got = 1; bytes > 0 && got > 0; bytes -= got) {
        (void)hpx_heap_reader_some(&t->r, bytes, &got);
    }
    return bytes == 0;
}

/* false: the end, or an error. */
static bool put_object(struct text *t)
{
    uint32_t ids = t->i->id_size;
    const uint8_t *p = hpx_heap_reader_next(&t->r, 1);
    uint8_t sub = p != NULL ? *p : 0;
    uint32_t head = sub == HPX_HEAP_SUB_INSTANCE || sub == HPX_HEAP_SUB_OBJECTS ? 8 + 2 * ids : 9 + ids;
    p = p != NULL ? hpx_heap_reader_next(&t->r, head) : NULL;
    if (p == NULL) {
        return false;
    }
    uint64_t id = id_at(t, p);
    uint32_t site = u4_at(p + ids), trace = serial_of(site < t->i->nsites ? t->i->sites[site] : NULL);
    uint8_t rest[32];
    memcpy(rest, p + ids + 4, head - ids - 4); /* the next read may move the buffer */
    switch (sub) {
    case HPX_HEAP_SUB_INSTANCE:
        return put_instance(t, rest, id, trace);
    case HPX_HEAP_SUB_OBJECTS:
        return put_objects(t, rest, id, trace);
    default:
        return put_primitives(t, rest, id, trace);
    }
}

/* ---- classes ---- */

static void put_reference(struct text *t, const char *label, uint64_t id)
{
    if (id != 0) {
        hpx_out_printf(t->o, "\t%s\t\t%" PRIx64 "\n", label, id);
    }
}

static uint64_t fact_of(const struct text *t, uint32_t klass, uint8_t kind)
{
    for (uint32_t n = t->facts.first[klass]; n < t->facts.first[klass + 1]; n++) {
        if (t->facts.facts[n].kind == kind) {
            return t->facts.facts[n].value;
        }
    }
    return 0;
}

static void put_class(struct text *t, const struct hpx_heap_klass *c)
{
    const struct hpx_heap_fact *facts = t->facts.facts;
    uint32_t from = t->facts.first[c->number], end = t->facts.first[c->number + 1];
    hpx_out_printf(t->o, "CLS %" PRIx64 " (name=", (uint64_t)HPX_CLASS_OBJECT_FIRST + c->number);
    hpx_text_put(t->o, c->name, false);
    hpx_out_printf(t->o, ", trace=%u)\n", HPX_SERIAL_TRACE);
    put_reference(t, "super", c->super != 0 ? (uint64_t)HPX_CLASS_OBJECT_FIRST + c->super : 0);
    put_reference(t, "loader", fact_of(t, c->number, HPX_HEAP_LOADER));
    put_reference(t, "signers", fact_of(t, c->number, HPX_HEAP_SIGNERS));
    put_reference(t, "domain", fact_of(t, c->number, HPX_HEAP_DOMAIN));
    for (uint32_t n = from; n < end; n++) {
        if (facts[n].kind == HPX_HEAP_STATIC && facts[n].type == HPX_HEAP_OBJECT && facts[n].value != 0 && facts[n].index < c->nfields) {
            hpx_out_str(t->o, "\tstatic ");
            hpx_text_put(t->o, c->fields[facts[n].index].name, false);
            hpx_out_printf(t->o, "\t%" PRIx64 "\n", facts[n].value);
        }
    }
    for (uint32_t n = end; n > from; n--) {
        if (facts[n - 1].kind == HPX_HEAP_CONSTANT) {
            hpx_out_printf(t->o, "\tconstant pool entry %" PRIu32 "\t%" PRIx64 "\n", facts[n - 1].index, facts[n - 1].value);
        }
    }
}

/* Superclasses first: by the length of the chain of superclasses. */
static void put_classes(struct text *t)
{
    bool more = true;
    for (uint32_t depth = 0; more; depth++) {
        more = false;
        for (uint32_t n = 0; n < t->i->nclasses; n++) {
            uint32_t above = 0;
            for (const struct hpx_heap_klass *c = t->i->classes[n]; c != NULL && c->above != NULL; c = c->above) {
                above++;
            }
            if (t->i->classes[n] != NULL && above == depth) {
                put_class(t, t->i->classes[n]);
            }
            more = more || (t->i->classes[n] != NULL && above > depth);
        }
    }
}

static void put_all(struct text *t, time_t now)
{
    for (uint64_t n = 0; n < t->i->nfacts; n++) {
        const struct hpx_heap_fact *f = &t->facts.facts[n];
        if (f->kind == HPX_HEAP_VM_SIZE && f->klass < t->i->nclasses) {
            t->vm_size[f->klass] = hpx_fit4(f->value);
        }
    }
    put_traces(t->w, t->i);
    hpx_out_room_parts(t->o, SIZE_MAX);
    hpx_out_printf(t->o, "HEAP DUMP BEGIN (%" PRIu64 " objects, %" PRIu64 " bytes) ", t->i->objects, t->i->shown_bytes);
    hpx_ascii_date(t->o, now);
    put_roots(t);
    while (put_object(t)) {
        hpx_out_part(t->o, false);
    }
    put_classes(t);
    hpx_out_part(t->o, true);
    hpx_out_str(t->o, "HEAP DUMP END\n");
    (void)hpx_out_record(t->o);
}

int hpx_heap_ascii(struct hpx_ascii *w, const struct hpx_heap_image *i, time_t now)
{
    struct text t = {.w = w, .o = w->out, .i = i, .vm_size = calloc((size_t)i->nclasses + 1, sizeof(*t.vm_size))};
    int rc = t.vm_size != NULL ? hpx_heap_facts_read(&t.facts, i) : -HPX_E_NOMEM;
    if (rc == 0) {
        rc = hpx_heap_reader_init(&t.r, i);
        if (rc == 0) {
            put_all(&t, now);
            rc = t.r.error != 0 ? t.r.error : t.r.have != t.r.used ? -HPX_E_IO : 0;
            hpx_heap_reader_fini(&t.r);
        }
        hpx_heap_facts_free(&t.facts);
    }
    free(t.vm_size);
    return rc;
}
