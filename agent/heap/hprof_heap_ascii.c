/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_heap_ascii.c: HEAP DUMP of the text format.
 *
 * Of a line about an object only the figures are formatted for it: all names are made ready once, before the dump. */
#include "arena.h"
#include "digits.h"
#include "heap_reader.h"
#include "hprof_heap.h"
#include "text.h"
#include <inttypes.h>
#include <stdlib.h>

/* Text whose copy may read 15 bytes behind it. */
struct label {
    const char *text;
    size_t len;
};

/* A field that refers to an object. */
struct reference {
    struct label label; /* the line up to the id */
    uint32_t back;      /* bytes from the field to the end of an instance of its class */
};

/* The text of a class. */
struct class
{
    const struct class *above; /* the nearest superclass with references */
    struct reference *references;
    uint32_t nreferences;
    uint32_t instance_size, vm_size;
    struct label size; /* of a line OBJ, between id and trace */
    struct label name; /* with the id, until the end of the line */
};

struct text {
    struct hpx_ascii *w;
    struct hpx_out *o;
    const struct hpx_heap_image *i;
    struct hpx_heap_facts facts;
    struct hpx_arena arena;
    struct class *classes; /* by number */
    uint64_t *order;       /* superclasses first, from `first` on; the lower half is the number of the class */
    uint32_t first;
    const struct class **chain; /* room for the longest chain of superclasses */
    struct hpx_heap_reader r;
    const char *last; /* the last place in the output's buffer where a line may begin */
};

/* So that nothing of what the dump names is left out for want of it. */
static bool reserve_marks(struct hpx_ascii *w, const struct hpx_heap_image *i)
{
    bool good = true;
    for (uint32_t n = 0; good && n < i->nthreads; n++) {
        good = hpx_ascii_reserve(w, i->threads[n].serial, i->threads[n].trace);
    }
    for (uint32_t n = 0; good && n < i->nsites; n++) {
        good = hpx_ascii_reserve(w, 0, i->sites[n]);
    }
    return good;
}

static void put_traces(struct hpx_ascii *w, const struct hpx_heap_image *i)
{
    for (uint32_t n = 0; n < i->nthreads; n++) {
        const struct hpx_heap_thread *t = &i->threads[n];
        if (!hpx_ascii_has_thread(w, t->serial, t->known)) {
            const struct hpx_thread_rec rec = {.serial = t->serial, .object = (uint32_t)t->object, .name = t->name};
            hpx_ascii_thread_found(w, &rec);
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
    const struct hpx_heap_thread *thread;
    const struct hpx_heap_klass *c = hpx_heap_class_of(t->i, r->object);
    uint32_t kind = hpx_heap_kind_of_root(t->i, r, &thread);
    kind = kind == HPX_ROOT_STICKY_CLASS && c == NULL ? HPX_ROOT_UNKNOWN : kind;
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
        for (uint64_t k = 0; k < t->i->found.nroots; k++) {
            const struct hpx_heap_root_fact *r = &t->facts.roots[k];
            if ((r->kind == HPX_ROOT_THREAD_OBJECT) == (threads == 1)) {
                put_root(t, r, &references);
            }
        }
    }
}

/* ---- names ---- */

/* A text behind a position; the position behind it. */
#define PUT(at, s) ((char *)memcpy(at, s, sizeof(s) - 1) + sizeof(s) - 1)

#define SPARE 16u /* bytes behind a label */

/* The arena's bytes are the caller's to fill. */
static char *label_room(struct text *t, size_t names)
{
    return hpx_arena_alloc(&t->arena, 6 * names + 64 + SPARE, 1);
}

static bool set_names(struct text *t, struct class *c, const struct hpx_heap_klass *klass)
{
    char *size = label_room(t, 0), *name = label_room(t, klass->name.len);
    if (size == NULL || name == NULL) {
        return false;
    }
    char *at = hpx_digits_decimal(PUT(size, " (sz="), c->vm_size);
    at = PUT(at, ", trace=");
    c->size = (struct label){size, (size_t)(at - size)};
    at = name + hpx_text_escape(name, klass->name, false);
    at = hpx_digits_hex(PUT(at, "@"), hpx_heap_class_id(klass->number));
    at = PUT(at, ")\n");
    c->name = (struct label){name, (size_t)(at - name)};
    return true;
}

static bool set_references(struct text *t, struct class *c, const struct hpx_heap_klass *klass)
{
    c->references = hpx_arena_alloc(&t->arena, klass->nfields * sizeof(*c->references), _Alignof(struct reference));
    if (c->references == NULL) {
        return false;
    }
    for (uint32_t n = 0; n < klass->nfields; n++) {
        const struct hpx_heap_field *f = &klass->fields[n];
        if (f->is_static || f->type != HPX_TYPE_OBJECT) {
            continue;
        }
        char *label = label_room(t, f->name.len);
        if (label == NULL) {
            return false;
        }
        label[0] = '\t';
        size_t len = 1 + hpx_text_escape(label + 1, f->name, false);
        for (int tabs = f->name.len < 8 ? 2 : 1; tabs > 0; tabs--) {
            label[len++] = '\t';
        }
        c->references[c->nreferences++] = (struct reference){{label, len}, klass->instance_size - f->offset};
    }
    return true;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A class in the order of the dump: by the length of the chain of superclasses, then by number. */
#define PLACE(depth, number) ((uint64_t)(depth) << 32 | (number))

/* Places by class number, 0: no class. A chain is followed as far as it has none yet. Returns the length of the longest. */
static uint32_t set_places(const struct hpx_heap_image *i, uint64_t *places)
{
    uint32_t most = 0;
    for (uint32_t n = 0; n < i->nclasses; n++) {
        uint32_t depth = 0;
        const struct hpx_heap_klass *c = i->classes[n];
        for (; c != NULL && places[c->number.v] == 0; c = c->above) {
            depth++;
        }
        depth += c != NULL ? (uint32_t)(places[c->number.v] >> 32) : 0;
        most = depth > most ? depth : most;
        for (c = i->classes[n]; c != NULL && places[c->number.v] == 0; c = c->above) {
            places[c->number.v] = PLACE(depth--, c->number.v);
        }
    }
    return most;
}

static bool set_order(struct text *t)
{
    const uint32_t n = t->i->nclasses;
    t->order = calloc((size_t)n + 1, sizeof(*t->order));
    const uint32_t most = t->order != NULL ? set_places(t->i, t->order) : 0;
    t->chain = hpx_arena_alloc(&t->arena, ((size_t)most + 1) * sizeof(struct class *), _Alignof(struct class *));
    if (t->order == NULL || t->chain == NULL) {
        return false;
    }
    qsort(t->order, n, sizeof(*t->order), by_value);
    while (t->first < n && t->order[t->first] == 0) {
        t->first++;
    }
    return true;
}

/* All that the dump needs of the classes. false: no memory. */
static bool set_classes(struct text *t)
{
    struct class *classes = calloc((size_t)t->i->nclasses + 1, sizeof(*classes));
    t->classes = classes;
    if (classes == NULL || !set_order(t)) {
        return false;
    }
    for (uint64_t n = 0; n < t->i->found.nfacts; n++) {
        const struct hpx_heap_fact *f = &t->facts.facts[n];
        if (f->kind == HPX_HEAP_VM_SIZE && f->klass.v < t->i->nclasses) {
            classes[f->klass.v].vm_size = hpx_fit4(f->value);
        }
    }
    for (uint32_t n = t->first; n < t->i->nclasses; n++) {
        const struct hpx_heap_klass *klass = t->i->classes[(uint32_t)t->order[n]];
        struct class *c = &classes[klass->number.v];
        const struct class *above = klass->above != NULL ? &classes[klass->above->number.v] : NULL;
        c->above = above != NULL && above->nreferences == 0 ? above->above : above;
        c->instance_size = klass->instance_size;
        if (!set_names(t, c, klass) || !set_references(t, c, klass)) {
            return false;
        }
    }
    return true;
}

/* ---- lines ---- */

#define LINE 512u /* more than a line about an object without a long label */
#define LONG 128u /* of a label */

/* Lines are put into the output's buffer from begin_lines() to end_lines(); other functions of the output are called outside of these. */
static char *begin_lines(struct text *t)
{
    char *at = hpx_out_piece(t->o);
    t->last = at + HPX_OUT_PIECE - LINE;
    return at;
}

static void end_lines(struct text *t, const char *at)
{
    hpx_out_filled(t->o, at);
}

/* Space for LINE bytes. */
static char *line(struct text *t, char *at)
{
    if (hpx_likely(at <= t->last)) {
        return at;
    }
    end_lines(t, at);
    return begin_lines(t);
}

static char *put_label(struct text *t, char *at, const struct label *l)
{
    if (hpx_unlikely(l->len > LONG)) {
        end_lines(t, at);
        hpx_out_bytes(t->o, l->text, l->len);
        return begin_lines(t);
    }
    for (size_t n = 0; n < l->len; n += SPARE) { /* shorter than a call of memcpy() */
        memcpy(at + n, l->text + n, SPARE);
    }
    return at + l->len;
}

/* Name, id and the end of the line. */
static char *put_class_name(struct text *t, char *at, uint64_t id)
{
    const struct hpx_heap_klass *c = hpx_heap_class_of(t->i, id);
    if (hpx_likely(c != NULL)) {
        return put_label(t, at, &t->classes[c->number.v].name);
    }
    at = hpx_digits_hex(PUT(at, "hprofx.unknown@"), id);
    return PUT(at, ")\n");
}

/* ---- objects ---- */

static uint64_t id_at(uint32_t ids, const uint8_t *p)
{
    return hpx_likely(ids == 8) ? hpx_get_be8(p) : hpx_get_be4(p);
}

/* The fields of the superclasses first. end: of the instance. */
static char *put_fields(struct text *t, char *at, const struct class *c, const uint8_t *end)
{
    const uint32_t ids = t->i->id_size;
    uint32_t n = 0;
    for (; c != NULL; c = c->above) {
        t->chain[n++] = c;
    }
    while (n > 0) {
        const struct class *of = t->chain[--n];
        for (uint32_t k = 0; k < of->nreferences; k++) {
            uint64_t id = id_at(ids, end - of->references[k].back);
            if (id != 0) {
                at = hpx_digits_hex(put_label(t, line(t, at), &of->references[k].label), id);
                *at++ = '\n';
            }
        }
    }
    return at;
}

static char *put_instance(struct text *t, char *at, const uint8_t *sub, uint32_t trace)
{
    const uint32_t ids = t->i->id_size;
    uint64_t klass = id_at(ids, sub + 5 + ids);
    uint32_t n = hpx_get_be4(sub + 5 + 2 * (size_t)ids);
    const struct hpx_heap_klass *k = hpx_heap_class_of(t->i, klass);
    const struct class *c = k != NULL ? &t->classes[k->number.v] : NULL;
    at = hpx_digits_hex(PUT(at, "OBJ "), id_at(ids, sub + 1));
    at = c != NULL ? put_label(t, at, &c->size) : PUT(at, " (sz=0, trace=");
    at = put_class_name(t, PUT(hpx_digits_decimal(at, trace), ", class="), klass);
    return c != NULL && n >= c->instance_size ? put_fields(t, at, c, sub + 9 + 2 * (size_t)ids + c->instance_size) : at;
}

/* n elements from the index `from` on. */
static char *put_elements(struct text *t, char *at, uint32_t from, const uint8_t *elements, uint32_t n)
{
    const uint32_t ids = t->i->id_size;
    for (uint32_t k = 0; k < n; k++) {
        uint64_t id = id_at(ids, elements + (size_t)k * ids);
        if (id != 0) {
            at = PUT(line(t, at), "\t[");
            at = hpx_digits_hex(PUT(hpx_digits_decimal(at, from + k), "]\t\t"), id);
            *at++ = '\n';
        }
    }
    return at;
}

static char *put_objects(struct text *t, char *at, const uint8_t *sub, uint32_t trace)
{
    const uint32_t ids = t->i->id_size, n = hpx_get_be4(sub + 5 + ids);
    const size_t head = 9 + 2 * (size_t)ids;
    uint64_t size = t->i->array_base + (uint64_t)n * t->i->reference_size;
    at = hpx_digits_hex(PUT(at, "ARR "), id_at(ids, sub + 1));
    at = hpx_digits_decimal(PUT(at, " (sz="), (size + 7) & ~UINT64_C(7));
    at = hpx_digits_decimal(PUT(at, ", trace="), trace);
    at = hpx_digits_decimal(PUT(at, ", nelems="), n);
    at = put_class_name(t, PUT(at, ", elem type="), id_at(ids, sub + 9 + ids));
    if (t->r.rest == 0) {
        return put_elements(t, at, 0, sub + head, n);
    }
    uint32_t done = (uint32_t)((t->r.have - head) / ids);
    at = put_elements(t, at, 0, sub + head, done);
    while (hpx_heap_reader_more(&t->r)) {
        at = put_elements(t, at, done, hpx_heap_reader_body(&t->r), (uint32_t)(t->r.have / ids));
        done += (uint32_t)(t->r.have / ids);
    }
    return at;
}

static char *put_primitives(const struct text *t, char *at, const uint8_t *sub, uint32_t trace)
{
    const uint32_t ids = t->i->id_size, n = hpx_get_be4(sub + 5 + ids);
    const uint8_t type = sub[9 + ids];
    const char *name = type >= HPX_TYPE_BOOLEAN && type <= HPX_TYPE_LONG ? hpx_type_name(type) : "?";
    at = hpx_digits_hex(PUT(at, "ARR "), id_at(ids, sub + 1));
    at = hpx_digits_decimal(PUT(at, " (sz="), (uint64_t)n * hpx_type_size(type, ids));
    at = hpx_digits_decimal(PUT(at, ", trace="), trace);
    at = hpx_digits_decimal(PUT(at, ", nelems="), n);
    at = PUT(at, ", elem type=");
    while (*name != '\0') {
        *at++ = *name++;
    }
    return PUT(at, "[])\n");
}

static char *put_object(struct text *t, char *at, const uint8_t *sub)
{
    uint32_t site = hpx_heap_site_at(sub + 1 + t->i->id_size), trace = serial_of(site < t->i->nsites ? t->i->sites[site] : NULL);
    switch (sub[0]) {
    case HPX_SUB_INSTANCE:
        return put_instance(t, at, sub, trace);
    case HPX_SUB_OBJECTS:
        return put_objects(t, at, sub, trace);
    default:
        return put_primitives(t, at, sub, trace);
    }
}

/* The objects of a segment. false: they do not fill it. */
static bool put_segment(struct text *t)
{
    const uint8_t *sub = hpx_heap_reader_body(&t->r), *end = sub + t->r.have;
    const bool whole = t->r.rest == 0;
    char *at = begin_lines(t);
    while (sub < end) {
        uint64_t length = hpx_heap_sub_length(t->i->id_size, sub, (size_t)(end - sub));
        if (length == 0 || (whole && length > (size_t)(end - sub))) {
            break;
        }
        at = put_object(t, line(t, at), sub);
        sub = whole ? sub + length : end;
        if (hpx_unlikely(t->o->part != NULL)) {
            end_lines(t, at);
            hpx_out_part(t->o, false);
            at = begin_lines(t);
        }
    }
    end_lines(t, at);
    return sub == end;
}

/* ---- classes ---- */

/* The end of a line. */
static void put_id(struct text *t, uint64_t id)
{
    char *at = hpx_digits_hex(hpx_out_piece(t->o), id);
    *at++ = '\n';
    hpx_out_filled(t->o, at);
}

static void put_reference(struct text *t, const char *label, uint64_t id)
{
    if (id != 0) {
        hpx_out_str(t->o, label);
        put_id(t, id);
    }
}

static void put_class(struct text *t, const struct hpx_heap_klass *c)
{
    const struct hpx_heap_fact *facts = t->facts.facts;
    uint32_t from = t->facts.first[c->number.v], end = t->facts.first[c->number.v + 1];
    hpx_out_printf(t->o, "CLS %" PRIx64 " (name=", hpx_heap_class_id(c->number));
    hpx_text_put(t->o, c->name, false);
    hpx_out_printf(t->o, ", trace=%u)\n", HPX_SERIAL_TRACE);
    put_reference(t, "\tsuper\t\t", c->above != NULL ? hpx_heap_class_id(c->above->number) : 0);
    put_reference(t, "\tloader\t\t", hpx_heap_fact_of(&t->facts, c->number, HPX_HEAP_LOADER, 0));
    put_reference(t, "\tsigners\t\t", hpx_heap_fact_of(&t->facts, c->number, HPX_HEAP_SIGNERS, 0));
    put_reference(t, "\tdomain\t\t", hpx_heap_fact_of(&t->facts, c->number, HPX_HEAP_DOMAIN, 0));
    for (uint32_t n = from; n < end; n++) {
        if (facts[n].kind == HPX_HEAP_STATIC && facts[n].type == HPX_TYPE_OBJECT && facts[n].value != 0 && facts[n].index < c->nfields) {
            hpx_out_str(t->o, "\tstatic ");
            hpx_text_put(t->o, c->fields[facts[n].index].name, false);
            put_reference(t, "\t", facts[n].value);
        }
    }
    for (uint32_t n = end; n > from; n--) {
        if (facts[n - 1].kind == HPX_HEAP_CONSTANT) {
            hpx_out_printf(t->o, "\tconstant pool entry %" PRIu32 "\t", facts[n - 1].index);
            put_id(t, facts[n - 1].value);
        }
    }
}

static void put_all(struct text *t, time_t now)
{
    put_traces(t->w, t->i); /* stay: the writer knows them to be in the file */
    (void)hpx_out_point(t->o);
    hpx_out_room_parts(t->o, SIZE_MAX);
    hpx_out_printf(t->o, "HEAP DUMP BEGIN (%" PRIu64 " objects, %" PRIu64 " bytes) ", t->i->found.objects,
                   t->i->found.bytes - t->i->found.heads);
    hpx_ascii_date(t->o, now);
    put_roots(t);
    while (hpx_heap_reader_next(&t->r)) {
        if (!put_segment(t)) {
            t->r.error = -HPX_E_IO;
        }
    }
    for (uint32_t n = t->first; n < t->i->nclasses; n++) {
        put_class(t, t->i->classes[(uint32_t)t->order[n]]);
    }
    hpx_out_part(t->o, true);
    hpx_out_str(t->o, "HEAP DUMP END\n");
    (void)hpx_out_record(t->o);
    if (t->r.error != 0) {
        hpx_out_take_back(t->o);
    }
}

int hpx_heap_ascii(struct hpx_ascii *w, const struct hpx_heap_image *i, time_t now)
{
    struct text t = {.w = w, .o = w->out, .i = i};
    hpx_arena_init(&t.arena);
    int rc = hpx_heap_facts_read(&t.facts, i);
    rc = rc == 0 && (!set_classes(&t) || !reserve_marks(w, i)) ? -HPX_E_NOMEM : rc;
    rc = rc == 0 ? hpx_heap_reader_init(&t.r, i) : rc;
    if (rc == 0) {
        put_all(&t, now);
        rc = t.r.error;
    }
    hpx_heap_reader_fini(&t.r);
    hpx_heap_facts_free(&t.facts);
    free(t.classes);
    free(t.order);
    hpx_arena_fini(&t.arena);
    return rc;
}
