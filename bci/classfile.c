/* SPDX-License-Identifier: BSD-2-Clause */
/* classfile.c: the constant pool, read and extended. */
#include "rewriter.h"
#include <stdlib.h>

enum {
    UTF8 = 1,
    INTEGER = 3,
    FLOAT = 4,
    LONG = 5,
    DOUBLE = 6,
    CLASS = 7,
    STRING = 8,
    FIELD = 9,
    METHOD = 10,
    INTERFACE_METHOD = 11,
    NAME_AND_TYPE = 12,
    METHOD_HANDLE = 15,
    METHOD_TYPE = 16,
    DYNAMIC = 17,
    INVOKE_DYNAMIC = 18,
    MODULE = 19,
    PACKAGE = 20,
};

/* Bytes behind the tag; 0: unknown. Utf8 is longer by its length. */
static const uint8_t constant_len[] = {
    [UTF8] = 2,          [INTEGER] = 4,       [FLOAT] = 4,       [LONG] = 8,    [DOUBLE] = 8,
    [CLASS] = 2,         [STRING] = 2,        [FIELD] = 4,       [METHOD] = 4,  [INTERFACE_METHOD] = 4,
    [NAME_AND_TYPE] = 4, [METHOD_HANDLE] = 3, [METHOD_TYPE] = 2, [DYNAMIC] = 4, [INVOKE_DYNAMIC] = 4,
    [MODULE] = 2,        [PACKAGE] = 2,
};

int hpx_buf_reserve(struct hpx_buf *b, size_t k)
{
    if (hpx_likely(k <= b->cap - b->n)) {
        return 0;
    }
    if (b->n > b->limit || k > b->limit - b->n) {
        return HPX_LEAVE(LIMIT);
    }
    size_t cap = b->cap * 2;
    cap = cap < b->n + k ? b->n + k : cap;
    cap = cap > b->limit ? b->limit : cap;
    uint8_t *p = realloc(b->p, cap);
    if (p == NULL) {
        return HPX_NO_MEMORY;
    }
    b->p = p;
    b->cap = cap;
    return 0;
}

static int refuse(struct hpx_class *c, int how, const char *why)
{
    c->why = why;
    return how;
}

/* Are the indices in a constant those of others? What is added would else fill the gap. */
static bool names_constants(const struct hpx_class *c, uint8_t tag, const uint8_t *p)
{
    switch (tag) {
    case CLASS:
    case STRING:
    case METHOD_TYPE:
    case MODULE:
    case PACKAGE:
        return hpx_u2(p) < c->cp_count;
    case FIELD:
    case METHOD:
    case INTERFACE_METHOD:
    case NAME_AND_TYPE:
        return hpx_u2(p) < c->cp_count && hpx_u2(p + 2) < c->cp_count;
    case METHOD_HANDLE:
        return hpx_u2(p + 1) < c->cp_count;
    case DYNAMIC:
    case INVOKE_DYNAMIC:
        return hpx_u2(p + 2) < c->cp_count;
    default:
        return true;
    }
}

int hpx_pool_read(struct hpx_class *c)
{
    size_t at = 10;
    for (uint32_t i = 1; i < c->cp_count; i++) {
        if (at >= c->n) {
            return refuse(c, 2, "the constant pool is cut off");
        }
        uint8_t tag = c->in[at];
        size_t len = tag < sizeof(constant_len) ? constant_len[tag] : 0;
        if (len == 0) {
            return c->major > HPROFX_BCI_NEWEST ? refuse(c, 1, "a constant of a kind that is not known yet")
                                                : refuse(c, 2, "a constant of an unknown kind");
        }
        if (len > c->n - at - 1) {
            return refuse(c, 2, "the constant pool is cut off");
        }
        if (tag == UTF8) {
            len += hpx_u2(c->in + at + 1);
            if (len > c->n - at - 1) {
                return refuse(c, 2, "the constant pool is cut off");
            }
        }
        if (!names_constants(c, tag, c->in + at + 1)) {
            return refuse(c, 2, "a constant that refers to none");
        }
        c->cp[i] = (uint32_t)at;
        if (tag == LONG || tag == DOUBLE) {
            i++;
            if (i >= c->cp_count) {
                return refuse(c, 2, "the last constant takes two places");
            }
            c->cp[i] = 0;
        }
        at += len + 1;
    }
    c->steps += c->cp_count;
    c->cp_end = at;
    c->pool_count = c->cp_count;
    return 0;
}

/* The bytes behind the tag, NULL if there is no such constant. */
static const uint8_t *constant(const struct hpx_class *c, uint32_t index, uint8_t tag)
{
    if (index == 0 || index >= c->cp_count || c->cp[index] == 0 || c->in[c->cp[index]] != tag) {
        return NULL;
    }
    return c->in + c->cp[index] + 1;
}

struct hprofx_bci_name hpx_utf8(const struct hpx_class *c, uint32_t index)
{
    const uint8_t *p = constant(c, index, UTF8);
    if (p == NULL) {
        return (struct hprofx_bci_name){NULL, 0};
    }
    return (struct hprofx_bci_name){(const char *)p + 2, hpx_u2(p)};
}

struct hprofx_bci_name hpx_class_name(const struct hpx_class *c, uint32_t index)
{
    const uint8_t *p = constant(c, index, CLASS);
    return hpx_utf8(c, p == NULL ? 0 : hpx_u2(p));
}

bool hpx_name_is(struct hprofx_bci_name name, const char *s)
{
    return name.at != NULL && name.len == strlen(s) && memcmp(name.at, s, name.len) == 0;
}

bool hpx_is_init(const struct hpx_class *c, uint32_t index)
{
    const uint8_t *p = constant(c, index, METHOD);
    p = p == NULL ? NULL : constant(c, hpx_u2(p + 2), NAME_AND_TYPE);
    return p != NULL && hpx_name_is(hpx_utf8(c, hpx_u2(p)), "<init>");
}

uint8_t *hpx_pool_add(struct hpx_class *c, uint8_t tag, size_t n, uint16_t *index, int *left)
{
    if (c->pool_count >= 65535) {
        *left = HPX_LEAVE(POOL_FULL);
        return NULL;
    }
    *left = hpx_buf_reserve(&c->pool, n + 1);
    if (*left != 0) {
        return NULL;
    }
    uint8_t *p = c->pool.p + c->pool.n;
    c->pool.n += n + 1;
    *index = (uint16_t)c->pool_count++;
    *p = tag;
    return p + 1;
}

static int add_utf8(struct hpx_class *c, const char *s, uint16_t *index)
{
    size_t n = strlen(s);
    int left = HPX_LEAVE(POOL_FULL);
    uint8_t *p = n > 65535 ? NULL : hpx_pool_add(c, UTF8, n + 2, index, &left);
    if (p != NULL) {
        hpx_put2(p, (uint32_t)n);
        memcpy(p + 2, s, n); /* NOLINT(bugprone-not-null-terminated-result): a constant has no 0 behind it */
    }
    return left;
}

static int add_refs(struct hpx_class *c, uint8_t tag, uint16_t a, uint16_t b, uint16_t *index)
{
    int left;
    uint8_t *p = hpx_pool_add(c, tag, tag == CLASS ? 2 : 4, index, &left);
    if (p != NULL) {
        hpx_put2(p, a);
        if (tag != CLASS) {
            hpx_put2(p + 2, b);
        }
    }
    return left;
}

static int add_class(struct hpx_class *c, const char *name, uint16_t *index)
{
    uint16_t utf8 = 0;
    int left = add_utf8(c, name, &utf8);
    return left != 0 ? left : add_refs(c, CLASS, utf8, 0, index);
}

static int add_call(struct hpx_class *c, struct hpx_call *call, const char *name, uint16_t tracker, uint16_t descriptor)
{
    uint16_t utf8 = 0, name_and_type = 0;
    int left = add_utf8(c, name, &utf8);
    left = left != 0 ? left : add_refs(c, NAME_AND_TYPE, utf8, descriptor, &name_and_type);
    return left != 0 ? left : add_refs(c, METHOD, tracker, name_and_type, &call->ref);
}

int hpx_pool_extend(struct hpx_class *c)
{
    static const char *const names[HPX_CALLS] = {"enter", "exit", "thrown"};
    const struct hprofx_bci_call *wanted[HPX_CALLS] = {&c->opts->enter, &c->opts->exit, &c->opts->thrown};
    uint16_t tracker = 0, numbered = 0, plain = 0;
    int left = add_class(c, c->opts->tracker != NULL ? c->opts->tracker : HPROFX_BCI_TRACKER, &tracker);
    left = left != 0 ? left : add_utf8(c, "(I)V", &numbered);
    left = left != 0 ? left : add_utf8(c, "()V", &plain);
    for (int i = 0; left == 0 && i < HPX_CALLS; i++) {
        c->calls[i].plain = wanted[i]->plain;
        left =
            add_call(c, &c->calls[i], wanted[i]->name != NULL ? wanted[i]->name : names[i], tracker, wanted[i]->plain ? plain : numbered);
    }
    if (left == 0 && c->major >= 50) {
        left = add_class(c, "java/lang/Throwable", &c->throwable);
        left = left != 0 ? left : add_utf8(c, "StackMapTable", &c->stack_map);
    }
    return left;
}
