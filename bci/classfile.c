/* SPDX-License-Identifier: BSD-2-Clause */
/* classfile.c: reads and extends the constant pool. */
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

/* Bytes after the tag; 0: unknown tag. A Utf8 constant has its length in addition. */
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

/* Whether the indices in a constant refer to constants of the input. An index past the end would otherwise refer to an added constant. */
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

/* The bytes after the tag; NULL: no such constant. */
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

bool hpx_is_field(const struct hpx_class *c, uint32_t index, const char *name)
{
    const uint8_t *p = constant(c, index, FIELD);
    p = p == NULL ? NULL : constant(c, hpx_u2(p + 2), NAME_AND_TYPE);
    return p != NULL && hpx_name_is(hpx_utf8(c, hpx_u2(p)), name);
}

bool hpx_method_names(const struct hpx_class *c, uint32_t index, struct hprofx_bci_name *owner, struct hprofx_bci_name *name,
                      struct hprofx_bci_name *desc)
{
    const uint8_t *ref = constant(c, index, METHOD), *p = ref == NULL ? NULL : constant(c, hpx_u2(ref + 2), NAME_AND_TYPE);
    if (p == NULL) {
        return false;
    }
    *owner = hpx_class_name(c, hpx_u2(ref));
    *name = hpx_utf8(c, hpx_u2(p));
    *desc = hpx_utf8(c, hpx_u2(p + 2));
    return true;
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
        memcpy(p + 2, s, n); /* NOLINT(bugprone-not-null-terminated-result): constants are not terminated by 0 */
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

static int add_member(struct hpx_class *c, uint8_t tag, enum hpx_injected call, const char *name, uint16_t descriptor)
{
    uint16_t utf8 = 0, name_and_type = 0;
    int left = add_utf8(c, name, &utf8);
    left = left != 0 ? left : add_refs(c, NAME_AND_TYPE, utf8, descriptor, &name_and_type);
    return left != 0 ? left : add_refs(c, tag, c->added.tracker, name_and_type, &c->added.ref[call]);
}

static int add_call(struct hpx_class *c, enum hpx_injected call, const char *name, uint16_t descriptor)
{
    return add_member(c, METHOD, call, name, descriptor);
}

static const char *const names[HPX_CALLS] = {"enter", "exit", "thrown", "alloc", "array", "multi", "object", "stored", NULL};

/* With hprofx_bci_opts.kept. */
static int extend_kept(struct hpx_class *c)
{
    uint16_t descriptor = 0;
    int left = add_utf8(c, "J", &descriptor);
    left = left != 0 ? left : add_member(c, FIELD, HPX_ENTER, c->opts->kept, descriptor);
    left = left != 0 ? left : add_utf8(c, "(J)V", &descriptor);
    left = left != 0 ? left : add_call(c, HPX_EXIT, c->opts->exit.name != NULL ? c->opts->exit.name : names[HPX_EXIT], descriptor);
    return left != 0 || c->major < 50 ? left : add_utf8(c, "StackMapTable", &c->added.stack_map);
}

static int extend_calls(struct hpx_class *c)
{
    const struct hprofx_bci_call *wanted[] = {&c->opts->enter, &c->opts->exit, &c->opts->thrown};
    uint16_t plain = 0;
    int left = add_utf8(c, "()V", &plain);
    for (int i = 0; left == 0 && i <= (c->opts->no_exit ? HPX_ENTER : HPX_THROWN); i++) {
        left = add_call(c, (enum hpx_injected)i, wanted[i]->name != NULL ? wanted[i]->name : names[i],
                        wanted[i]->plain ? plain : c->added.numbered);
    }
    if (left == 0 && c->opts->self != NULL) {
        uint16_t descriptor = 0;
        left = add_utf8(c, "(Ljava/lang/Object;I)V", &descriptor);
        left = left != 0 ? left : add_call(c, HPX_SELF, c->opts->self, descriptor);
    }
    if (left == 0 && c->major >= 50 && !c->opts->no_exit) {
        left = add_class(c, "java/lang/Throwable", &c->added.throwable);
        left = left != 0 ? left : add_utf8(c, "StackMapTable", &c->added.stack_map);
    }
    return left;
}

static int extend_instructions(struct hpx_class *c, const struct hpx_code *m)
{
    static const char *const descriptors[HPX_CALLS] = {
        [HPX_ARRAY] = "(II)V", [HPX_MULTI] = "(Ljava/lang/Object;I)V", [HPX_OBJECT] = "(Ljava/lang/Object;)V", [HPX_STORED] = "()V"};
    int left = 0;
    for (int i = HPX_ALLOC; left == 0 && i <= HPX_STORED; i++) {
        if ((m->needs >> i & 1) && c->added.ref[i] == 0) {
            uint16_t descriptor = c->added.numbered;
            left = i == HPX_ALLOC ? 0 : add_utf8(c, descriptors[i], &descriptor);
            left = left != 0 ? left : add_call(c, (enum hpx_injected)i, names[i], descriptor);
        }
    }
    return left;
}

int hpx_pool_extend(struct hpx_class *c, const struct hpx_code *m)
{
    bool calls = (m->m.probes & HPROFX_BCI_CALLS) != 0;
    int left = 0;
    if (c->added.tracker == 0) {
        left = add_class(c, c->opts->tracker != NULL ? c->opts->tracker : HPROFX_BCI_TRACKER, &c->added.tracker);
    }
    if (left == 0 && c->added.numbered == 0 && (calls || (m->needs >> HPX_ALLOC & 1))) {
        left = add_utf8(c, "(I)V", &c->added.numbered);
    }
    if (left == 0 && calls && c->added.ref[HPX_ENTER] == 0) {
        left = c->opts->kept != NULL ? extend_kept(c) : extend_calls(c);
    }
    return left != 0 ? left : extend_instructions(c, m);
}

size_t hpx_pool_extension(const struct hpx_class *c)
{
    const char *const given[] = {c->opts->tracker,     c->opts->enter.name, c->opts->exit.name,
                                 c->opts->thrown.name, c->opts->self,       c->opts->kept};
    size_t n = 512; /* bytes; all constants with their usual names need fewer */
    for (size_t i = 0; i < HPX_ARRAY_LEN(given); i++) {
        n += given[i] != NULL ? strlen(given[i]) : 0;
    }
    return n;
}
