/* SPDX-License-Identifier: BSD-2-Clause */
/* parse.c: reads dumps. Contract: parse.h. */
#include "parse.h"
#include <string.h>

struct cursor {
    const char *at, *end;
    bool short_; /* something ended early */
};

static const char *take(struct cursor *c, size_t n)
{
    if ((size_t)(c->end - c->at) < n) {
        c->short_ = true;
        c->at = c->end;
        return NULL;
    }
    c->at += n;
    return c->at - n;
}

static uint64_t number(struct cursor *c, size_t n)
{
    uint64_t v = 0; /* a number of the machine, which is little-endian as all that hprofx runs on */
    const char *p = take(c, n);
    if (p != NULL) {
        memcpy(&v, p, n);
    }
    return v;
}

static jobjectID id(struct cursor *c)
{
    return (jobjectID)(uintptr_t)number(c, sizeof(jobjectID));
}

static const struct {
    char letter;
    unsigned char size;
} types[] = {[JVMPI_BOOLEAN] = {'Z', 1}, [JVMPI_CHAR] = {'C', 2}, [JVMPI_FLOAT] = {'F', 4},
             [JVMPI_DOUBLE] = {'D', 8},  [JVMPI_BYTE] = {'B', 1}, [JVMPI_SHORT] = {'S', 2},
             [JVMPI_INT] = {'I', 4},     [JVMPI_LONG] = {'J', 8}, [JVMPI_CLASS] = {'L', sizeof(jobjectID)}};
#define NTYPES ((jint)(sizeof(types) / sizeof(types[0])))

static size_t size_of(jint type)
{
    return type > 0 && type < NTYPES ? types[type].size : 0;
}

static size_t size_of_letter(char letter)
{
    for (jint t = 0; t < NTYPES; t++) {
        if (types[t].letter == letter) {
            return types[t].size;
        }
    }
    return sizeof(jobjectID); /* L and [ */
}

/* false: no root. */
static bool root(struct cursor *c, int kind)
{
    static const unsigned char behind[256] = {[JVMPI_GC_ROOT_UNKNOWN] = 1,           [JVMPI_GC_ROOT_JNI_GLOBAL] = 1 + 8,
                                              [JVMPI_GC_ROOT_JNI_LOCAL] = 1 + 8 + 4, [JVMPI_GC_ROOT_JAVA_FRAME] = 1 + 8 + 4,
                                              [JVMPI_GC_ROOT_NATIVE_STACK] = 1 + 8,  [JVMPI_GC_ROOT_STICKY_CLASS] = 1,
                                              [JVMPI_GC_ROOT_THREAD_BLOCK] = 1 + 8,  [JVMPI_GC_ROOT_MONITOR_USED] = 1};
    if (behind[kind] == 0) {
        return false;
    }
    (void)id(c);
    (void)take(c, behind[kind] - 1u);
    return true;
}

static const char *class_dump(struct cursor *c, jint level, const struct book_class *(*class_of)(jobjectID id), struct parse_object *o)
{
    o->id = id(c);
    const struct book_class *k = class_of(o->id);
    if (k == NULL) {
        return "a class that CLASS_LOAD does not tell of";
    }
    (void)take(c, 5 * sizeof(jobjectID) + sizeof(void *)); /* super, loader, signers, domain, name; reserved */
    o->length = (uint32_t)number(c, 4);
    (void)take(c, (size_t)k->ninterfaces * sizeof(jobjectID));
    for (uint64_t n = number(c, 2); n > 0 && !c->short_; n--) {
        (void)number(c, 2);
        size_t size = size_of((jint)number(c, 1));
        if (size == 0) {
            return "a constant of no type";
        }
        (void)take(c, size);
    }
    for (const char *s = k->statics; *s != '\0'; s++) {
        bool object = *s == 'L' || *s == '[';
        (void)take(c, object || level == JVMPI_DUMP_LEVEL_2 ? size_of_letter(*s) : 0);
    }
    return NULL;
}

static const char *array(struct cursor *c, jint level, struct parse_object *o)
{
    o->id = id(c);
    o->length = (uint32_t)number(c, 4);
    size_t size = sizeof(jobjectID);
    if (o->kind == JVMPI_GC_OBJ_ARRAY_DUMP) {
        o->class_id = id(c);
    } else {
        o->type = (jint)number(c, 1);
        size = size_of(o->type);
        if (size == 0 || o->type == JVMPI_CLASS) {
            return "an array of no type";
        }
    }
    if (level == JVMPI_DUMP_LEVEL_2 || o->kind == JVMPI_GC_OBJ_ARRAY_DUMP) {
        o->data = take(c, size * o->length);
    }
    return NULL;
}

static const char *record(struct cursor *c, jint level, const struct book_class *(*class_of)(jobjectID id),
                          void (*each)(const struct parse_object *o))
{
    struct parse_object o = {.kind = (int)number(c, 1)};
    const char *wrong = NULL;
    if (level == JVMPI_DUMP_LEVEL_0) {
        o.id = id(c);
    } else if (root(c, o.kind)) {
        return NULL;
    } else if (o.kind == JVMPI_GC_CLASS_DUMP) {
        wrong = class_dump(c, level, class_of, &o);
    } else if (o.kind == JVMPI_GC_INSTANCE_DUMP) {
        o.id = id(c);
        o.class_id = id(c);
        o.length = (uint32_t)number(c, 4);
        o.data = take(c, o.length);
    } else if (o.kind == JVMPI_GC_OBJ_ARRAY_DUMP || o.kind == JVMPI_GC_PRIM_ARRAY_DUMP) {
        wrong = array(c, level, &o);
    } else {
        return "a record of no kind";
    }
    if (wrong == NULL && !c->short_) {
        each(&o);
    }
    return c->short_ ? "a record ends early" : wrong;
}

const char *parse_heap(const char *begin, const char *end, jint level, const struct book_class *(*class_of)(jobjectID id),
                       void (*each)(const struct parse_object *o))
{
    struct cursor c = {.at = begin, .end = end};
    const char *wrong = NULL;
    while (wrong == NULL && c.at < c.end) {
        wrong = record(&c, level, class_of, each);
    }
    return wrong;
}
