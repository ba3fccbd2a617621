/* SPDX-License-Identifier: BSD-2-Clause */
/* classfile.h: builds class files for tests of bci/, odd ones too: nothing is checked, everything is written as told. */
#ifndef HPX_TEST_CLASSFILE_H
#define HPX_TEST_CLASSFILE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that grow; ends the test program without memory. */
struct cf_bytes {
    uint8_t *p;
    size_t n, cap;
};

void cf_u1(struct cf_bytes *b, uint32_t v);
void cf_u2(struct cf_bytes *b, uint32_t v);
void cf_u4(struct cf_bytes *b, uint32_t v);
void cf_put(struct cf_bytes *b, const void *p, size_t n);
void cf_free(struct cf_bytes *b);

struct cf_class {
    uint16_t major, minor, access, this_class, super_class;
    uint32_t cp_n; /* constant_pool_count: 1 more than the constants */
    struct cf_bytes cp, fields, methods, attrs;
    uint32_t field_n, method_n, attr_n;
};

/* A class `T` that extends java/lang/Object, version major.0 (45: 45.3). */
void cf_init(struct cf_class *c, uint16_t major);
void cf_fini(struct cf_class *c);
/* The whole file; the caller frees. */
struct cf_bytes cf_finish(const struct cf_class *c);

/* New constants; each call adds. */
uint16_t cf_utf8(struct cf_class *c, const char *s);
uint16_t cf_ref(struct cf_class *c, uint8_t tag, uint16_t a);              /* one index: Class, String, Module, ... */
uint16_t cf_pair(struct cf_class *c, uint8_t tag, uint16_t a, uint16_t b); /* two: NameAndType, Methodref, ... */
uint16_t cf_class_ref(struct cf_class *c, const char *name);
uint16_t cf_method_ref(struct cf_class *c, const char *owner, const char *name, const char *desc);

/* An attribute appended to b. */
void cf_attribute(struct cf_class *c, struct cf_bytes *b, const char *name, const struct cf_bytes *content);

/* A method being made: fill code, handlers (8 bytes each), frames (their bytes), attrs (whole attributes), then cf_method. */
struct cf_code {
    uint16_t max_stack, max_locals;
    struct cf_bytes code, handlers, frames, attrs;
    uint32_t frame_n, attr_n;
    struct cf_bytes beside; /* whole attributes of the method, which stand before Code */
    uint32_t beside_n;
};

/* Instructions. */
void cf_ops(struct cf_code *m, const char *hex);               /* "2a b7 0001" */
void cf_op2(struct cf_code *m, uint8_t op, uint32_t operand);  /* op and u2 */
void cf_branch(struct cf_code *m, uint8_t op, int32_t target); /* 16 bits, or 32 for goto_w and jsr_w; target: a pc */
void cf_pad(struct cf_code *m, uint8_t op, size_t n);          /* n times op */
void cf_handler(struct cf_code *m, uint32_t start, uint32_t end, uint32_t handler, uint16_t type);
/* Adds the method and frees what it holds. A StackMapTable is written if frame_n > 0. */
void cf_method(struct cf_class *c, uint16_t access, const char *name, const char *desc, struct cf_code *m);

#endif
