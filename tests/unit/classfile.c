/* SPDX-License-Identifier: BSD-2-Clause */
/* classfile.c: the builder of class files for tests. */
#include "classfile.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cf_put(struct cf_bytes *b, const void *p, size_t n)
{
    if (n > b->cap - b->n) {
        b->cap = 2 * (b->n + n) + 64;
        b->p = realloc(b->p, b->cap);
        if (b->p == NULL) {
            fprintf(stderr, "classfile: no memory\n");
            exit(99);
        }
    }
    if (n > 0) {
        memcpy(b->p + b->n, p, n);
        b->n += n;
    }
}

void cf_u1(struct cf_bytes *b, uint32_t v)
{
    uint8_t p[1] = {(uint8_t)v};
    cf_put(b, p, 1);
}

void cf_u2(struct cf_bytes *b, uint32_t v)
{
    cf_u1(b, v >> 8);
    cf_u1(b, v);
}

void cf_u4(struct cf_bytes *b, uint32_t v)
{
    cf_u2(b, v >> 16);
    cf_u2(b, v);
}

void cf_free(struct cf_bytes *b)
{
    free(b->p);
    memset(b, 0, sizeof(*b));
}

uint16_t cf_utf8(struct cf_class *c, const char *s)
{
    cf_u1(&c->cp, 1);
    cf_u2(&c->cp, (uint32_t)strlen(s));
    cf_put(&c->cp, s, strlen(s));
    return (uint16_t)c->cp_n++;
}

uint16_t cf_ref(struct cf_class *c, uint8_t tag, uint16_t a)
{
    cf_u1(&c->cp, tag);
    cf_u2(&c->cp, a);
    return (uint16_t)c->cp_n++;
}

uint16_t cf_pair(struct cf_class *c, uint8_t tag, uint16_t a, uint16_t b)
{
    cf_u1(&c->cp, tag);
    cf_u2(&c->cp, a);
    cf_u2(&c->cp, b);
    return (uint16_t)c->cp_n++;
}

uint16_t cf_class_ref(struct cf_class *c, const char *name)
{
    return cf_ref(c, 7, cf_utf8(c, name));
}

uint16_t cf_method_ref(struct cf_class *c, const char *owner, const char *name, const char *desc)
{
    uint16_t class = cf_class_ref(c, owner), utf8 = cf_utf8(c, name);
    return cf_pair(c, 10, class, cf_pair(c, 12, utf8, cf_utf8(c, desc)));
}

void cf_init(struct cf_class *c, uint16_t major)
{
    memset(c, 0, sizeof(*c));
    c->major = major;
    c->minor = major == 45 ? 3 : 0;
    c->access = 0x21;
    c->cp_n = 1;
    c->this_class = cf_class_ref(c, "T");
    c->super_class = cf_class_ref(c, "java/lang/Object");
}

void cf_fini(struct cf_class *c)
{
    cf_free(&c->cp);
    cf_free(&c->fields);
    cf_free(&c->methods);
    cf_free(&c->attrs);
}

struct cf_bytes cf_finish(const struct cf_class *c)
{
    struct cf_bytes b = {0};
    cf_u4(&b, 0xCAFEBABE);
    cf_u2(&b, c->minor);
    cf_u2(&b, c->major);
    cf_u2(&b, c->cp_n);
    cf_put(&b, c->cp.p, c->cp.n);
    cf_u2(&b, c->access);
    cf_u2(&b, c->this_class);
    cf_u2(&b, c->super_class);
    cf_u2(&b, 0);
    cf_u2(&b, c->field_n);
    cf_put(&b, c->fields.p, c->fields.n);
    cf_u2(&b, c->method_n);
    cf_put(&b, c->methods.p, c->methods.n);
    cf_u2(&b, c->attr_n);
    cf_put(&b, c->attrs.p, c->attrs.n);
    return b;
}

void cf_attribute(struct cf_class *c, struct cf_bytes *b, const char *name, const struct cf_bytes *content)
{
    cf_u2(b, cf_utf8(c, name));
    cf_u4(b, (uint32_t)content->n);
    cf_put(b, content->p, content->n);
}

void cf_ops(struct cf_code *m, const char *hex)
{
    unsigned v;
    int n;
    for (; sscanf(hex, " %2x%n", &v, &n) == 1; hex += n) {
        cf_u1(&m->code, v);
    }
}

void cf_op2(struct cf_code *m, uint8_t op, uint32_t operand)
{
    cf_u1(&m->code, op);
    cf_u2(&m->code, operand);
}

void cf_branch(struct cf_code *m, uint8_t op, int32_t target)
{
    uint32_t offset = (uint32_t)target - (uint32_t)m->code.n;
    cf_u1(&m->code, op);
    if (op == 0xC8 || op == 0xC9) {
        cf_u4(&m->code, offset);
    } else {
        cf_u2(&m->code, offset);
    }
}

void cf_pad(struct cf_code *m, uint8_t op, size_t n)
{
    for (; n > 0; n--) {
        cf_u1(&m->code, op);
    }
}

void cf_handler(struct cf_code *m, uint32_t start, uint32_t end, uint32_t handler, uint16_t type)
{
    cf_u2(&m->handlers, start);
    cf_u2(&m->handlers, end);
    cf_u2(&m->handlers, handler);
    cf_u2(&m->handlers, type);
}

void cf_method(struct cf_class *c, uint16_t access, const char *name, const char *desc, struct cf_code *m)
{
    struct cf_bytes code = {0}, frames = {0};
    if (m->frame_n > 0) {
        cf_u2(&frames, m->frame_n);
        cf_put(&frames, m->frames.p, m->frames.n);
        cf_attribute(c, &m->attrs, "StackMapTable", &frames);
        m->attr_n++;
    }
    cf_u2(&code, m->max_stack);
    cf_u2(&code, m->max_locals);
    cf_u4(&code, (uint32_t)m->code.n);
    cf_put(&code, m->code.p, m->code.n);
    cf_u2(&code, (uint32_t)(m->handlers.n / 8));
    cf_put(&code, m->handlers.p, m->handlers.n);
    cf_u2(&code, m->attr_n);
    cf_put(&code, m->attrs.p, m->attrs.n);
    cf_u2(&c->methods, access);
    cf_u2(&c->methods, cf_utf8(c, name));
    cf_u2(&c->methods, cf_utf8(c, desc));
    cf_u2(&c->methods, 1 + m->beside_n);
    cf_put(&c->methods, m->beside.p, m->beside.n);
    cf_attribute(c, &c->methods, "Code", &code);
    c->method_n++;
    cf_free(&code);
    cf_free(&frames);
    cf_free(&m->code);
    cf_free(&m->handlers);
    cf_free(&m->frames);
    cf_free(&m->attrs);
    cf_free(&m->beside);
    memset(m, 0, sizeof(*m));
}
