/* SPDX-License-Identifier: BSD-2-Clause */
/* dump_read.c: reads dumps by the manual alone. */
#include "dump.h"
#include <stdlib.h>
#include <string.h>

static struct class_info *classes[4096];
struct heap heap;

static struct class_info **bucket(jobjectID id)
{
    return &classes[(uintptr_t)id % 4096];
}

struct class_info *class_of(jobjectID id)
{
    struct class_info *c = *bucket(id);
    while (c != NULL && c->id != id) {
        c = c->next;
    }
    return c;
}

void class_loaded(const JVMPI_Event *e)
{
    jobjectID id = e->u.class_load.class_id;
    struct class_info *c = class_of(id), *was = c;
    int n = e->u.class_load.num_static_fields + e->u.class_load.num_instance_fields;
    c = c == NULL ? calloc(1, sizeof *c) : c;
    c->id = id;
    c->name = strdup(e->u.class_load.class_name);
    c->ninterfaces = e->u.class_load.num_interfaces;
    c->nstatics = e->u.class_load.num_static_fields;
    c->nfields = e->u.class_load.num_instance_fields;
    c->names = calloc((size_t)n + 1, sizeof *c->names);
    c->letters = calloc((size_t)n + 1, 1);
    for (int i = 0; i < n; i++) {
        const JVMPI_Field *f = i < c->nstatics ? &e->u.class_load.statics[i] : &e->u.class_load.instances[i - c->nstatics];
        c->names[i] = strdup(f->field_name);
        c->letters[i] = f->field_signature[0];
    }
    if (was == NULL) {
        c->next = *bucket(id);
        *bucket(id) = c;
    }
}

void print_classes(void)
{
    for (size_t i = 0; i < sizeof classes / sizeof(*classes); i++) {
        for (const struct class_info *c = classes[i]; c != NULL; c = c->next) {
            if (c->objects > 0) {
                printf("of %s: %lu\n", c->name, c->objects);
            }
            if (c->arrays > 0) {
                printf(c->name[0] == '[' ? "of [%s: %lu\n" : "of [L%s;: %lu\n", c->name, c->arrays);
            }
        }
    }
}

size_t size_of(char letter, int level)
{
    switch (letter) {
    case 'L':
    case '[':
        return sizeof(jobjectID);
    case 'Z':
    case 'B':
        return level == 1 ? 0 : 1;
    case 'C':
    case 'S':
        return level == 1 ? 0 : 2;
    case 'I':
    case 'F':
        return level == 1 ? 0 : 4;
    default:
        return level == 1 ? 0 : 8;
    }
}

static size_t type_size(uint8_t type)
{
    static const uint8_t sizes[] = {[JVMPI_BOOLEAN] = 1, [JVMPI_CHAR] = 2,  [JVMPI_FLOAT] = 4, [JVMPI_DOUBLE] = 8,
                                    [JVMPI_BYTE] = 1,    [JVMPI_SHORT] = 2, [JVMPI_INT] = 4,   [JVMPI_LONG] = 8};
    return type < sizeof sizes ? sizes[type] : 0;
}

struct reader {
    const char *at, *end;
    bool bad;
};

static const char *skip(struct reader *r, size_t n)
{
    const char *from = r->at;
    if (r->bad || n > (size_t)(r->end - r->at)) {
        r->bad = true;
        return NULL;
    }
    r->at += n;
    return from;
}

static void get(struct reader *r, void *to, size_t n)
{
    const char *from = skip(r, n);
    memset(to, 0, n);
    if (from != NULL) {
        memcpy(to, from, n);
    }
}

static void read_class(struct reader *r, struct record *to, int level)
{
    void *reserved;
    get(r, &to->super, sizeof to->super);
    get(r, &to->loader, sizeof to->loader);
    get(r, &to->signers, sizeof to->signers);
    get(r, &to->domain, sizeof to->domain);
    get(r, &to->name, sizeof to->name);
    get(r, &reserved, sizeof reserved);
    get(r, &to->n, sizeof to->n);
    const struct class_info *c = class_of(to->object);
    if (c == NULL) {
        r->bad = true;
        return;
    }
    to->interfaces = skip(r, (size_t)c->ninterfaces * sizeof(jobjectID));
    get(r, &to->nconstants, sizeof to->nconstants);
    to->constants = r->at;
    for (int i = 0; i < to->nconstants; i++) {
        uint8_t type = 0;
        (void)skip(r, 2);
        get(r, &type, 1);
        (void)skip(r, type == JVMPI_CLASS ? sizeof(jobjectID) : type_size(type));
    }
    to->values = r->at;
    for (int i = 0; i < c->nstatics; i++) {
        (void)skip(r, size_of(c->letters[i], level));
    }
}

static void read_root(struct reader *r, struct record *to)
{
    jobject global;
    if (to->type == JVMPI_GC_ROOT_JNI_GLOBAL) {
        get(r, &global, sizeof global);
        return;
    }
    if (to->type == JVMPI_GC_ROOT_UNKNOWN || to->type == JVMPI_GC_ROOT_STICKY_CLASS || to->type == JVMPI_GC_ROOT_MONITOR_USED) {
        return;
    }
    get(r, &to->thread, sizeof(to->thread));
    if (to->type == JVMPI_GC_ROOT_JAVA_FRAME || to->type == JVMPI_GC_ROOT_JNI_LOCAL) {
        get(r, &to->frame, sizeof to->frame);
    }
}

static void read_body(struct reader *r, struct record *to, int level)
{
    switch (to->type) {
    case JVMPI_GC_CLASS_DUMP:
        read_class(r, to, level);
        break;
    case JVMPI_GC_INSTANCE_DUMP:
        get(r, &to->klass, sizeof to->klass);
        get(r, &to->n, sizeof to->n);
        to->values = skip(r, to->n);
        break;
    case JVMPI_GC_OBJ_ARRAY_DUMP:
        get(r, &to->n, sizeof to->n);
        get(r, &to->klass, sizeof to->klass);
        to->values = skip(r, to->n * sizeof(jobjectID));
        break;
    case JVMPI_GC_PRIM_ARRAY_DUMP:
        get(r, &to->n, sizeof to->n);
        get(r, &to->of, 1);
        r->bad = r->bad || type_size(to->of) == 0;
        to->values = skip(r, level == 1 ? 0 : to->n * type_size(to->of));
        break;
    case JVMPI_GC_ROOT_UNKNOWN:
    case JVMPI_GC_ROOT_JNI_GLOBAL:
    case JVMPI_GC_ROOT_JNI_LOCAL:
    case JVMPI_GC_ROOT_JAVA_FRAME:
    case JVMPI_GC_ROOT_NATIVE_STACK:
    case JVMPI_GC_ROOT_STICKY_CLASS:
    case JVMPI_GC_ROOT_THREAD_BLOCK:
    case JVMPI_GC_ROOT_MONITOR_USED:
        read_root(r, to);
        break;
    default:
        r->bad = true;
        break;
    }
}

const char *read_record(const char *at, const char *end, int level, struct record *to)
{
    struct reader r = {.at = at, .end = end};
    memset(to, 0, sizeof *to);
    to->begin = at;
    get(&r, level == 0 ? &to->of : &to->type, 1);
    get(&r, &to->object, sizeof to->object);
    if (level > 0) {
        read_body(&r, to, level);
    }
    to->end = r.at;
    return r.bad || to->object == NULL ? NULL : r.at;
}

void take_heap(const JVMPI_Event *e)
{
    for (int i = 0; i < heap.ntraces; i++) {
        free(heap.traces[i].frames);
    }
    free(heap.traces);
    free(heap.bytes);
    heap = (struct heap){
        .level = e->u.heap_dump.dump_level, .n = (size_t)(e->u.heap_dump.end - e->u.heap_dump.begin), .ntraces = e->u.heap_dump.num_traces};
    heap.bytes = malloc(heap.n);
    memcpy(heap.bytes, e->u.heap_dump.begin, heap.n);
    heap.traces = calloc((size_t)heap.ntraces + 1, sizeof *heap.traces);
    for (int i = 0; i < heap.ntraces; i++) {
        heap.traces[i] = e->u.heap_dump.traces[i];
        size_t n = (size_t)heap.traces[i].num_frames;
        heap.traces[i].frames = calloc(n + 1, sizeof(JVMPI_CallFrame));
        memcpy(heap.traces[i].frames, e->u.heap_dump.traces[i].frames, n * sizeof(JVMPI_CallFrame));
    }
}

bool find_record(jobjectID object, struct record *found)
{
    int n = 0;
    const char *end = heap.bytes + heap.n, *at = heap.bytes;
    while (at != NULL && at < end) {
        struct record r;
        at = read_record(at, end, heap.level, &r);
        if (at != NULL && r.object == object &&
            (heap.level == 0 || (r.type >= JVMPI_GC_CLASS_DUMP && r.type <= JVMPI_GC_PRIM_ARRAY_DUMP))) {
            *found = r;
            n++;
        }
    }
    CHECK(at == end);
    CHECK(n <= 1);
    return n == 1;
}

bool find_root(uint8_t type, jobjectID object, JNIEnv *thread, struct record *r)
{
    const char *end = heap.bytes + heap.n, *at = heap.bytes;
    while (at != NULL && at < end) {
        at = read_record(at, end, heap.level, r);
        if (at != NULL && r->object == object && r->type == type && (thread == NULL || r->thread == thread)) {
            return true;
        }
    }
    return false;
}
