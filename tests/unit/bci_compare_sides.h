/* SPDX-License-Identifier: BSD-2-Clause */
/* bci_compare_sides.h: the two classes as bci_compare.c and bci_compare_tables.c see them. */
#ifndef HPX_BCI_COMPARE_SIDES_H
#define HPX_BCI_COMPARE_SIDES_H

#include "bci_compare.h"
#include <stdbool.h>
#include <string.h>

enum { SIDE = 65536 };

struct side {
    const uint8_t *p;
    size_t n, at; /* at: the reader's place */
    uint32_t cp_n;
    uint32_t cp[SIDE + 2];
    /* the method at hand */
    size_t code;
    uint32_t len, stack, locals, handler_n, attr_n;
    size_t handlers, attrs, end;
    uint64_t frame[SIDE]; /* by place in the new code: a hash of the frame there, 0: none */
    uint64_t local[SIDE];
    uint32_t local_n, frame_n;
};

struct both {
    struct side a, b;
    struct bci_compared *r;
    const struct bci_asked *asked;
    unsigned probes; /* of the method at hand */
    bool root;       /* it is the constructor of java.lang.Object */
    uint32_t site;   /* id that the next site must at least have */
    uint32_t super;
    int32_t label[SIDE + 1], insn[SIDE + 1],
        stop[SIDE + 1];     /* of a's pc: where branches go; the instruction; where ranges may end as well */
    int32_t hop[SIDE + 1];  /* of b's pc: a trampoline's target, else -1 */
    uint8_t exit[SIDE + 1]; /* of b's pc: belongs to an exit call or its return */
    uint32_t number;
    bool numbered, numbered_site; /* the method's number, its first id are known */
    int32_t handler;
    uint16_t major;
};

/* What differs, noted in s->r; returns it. */
const char *bci_compare_fail(struct both *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define fail bci_compare_fail

/* The attributes of Code but frames; *fa, *fb: where the StackMapTables are, 0: none. */
const char *bci_compare_attributes(struct both *s, size_t *fa, size_t *fb);
/* The frames; method: the old one's first byte. */
const char *bci_compare_frames(struct both *s, size_t method, uint32_t this_class, size_t fa, size_t fb);

#define TRY(call)                                                                                                                          \
    do {                                                                                                                                   \
        const char *fault_ = (call);                                                                                                       \
        if (fault_ != NULL) {                                                                                                              \
            return fault_;                                                                                                                 \
        }                                                                                                                                  \
    } while (0)

/* Big-endian number of k bytes at `at`; 0 behind the end. */
static inline uint32_t be(const struct side *c, size_t at, int k)
{
    uint32_t v = 0;
    for (int i = 0; i < k; i++) {
        v = v << 8 | (at + (size_t)i < c->n ? c->p[at + (size_t)i] : 0u);
    }
    return v;
}

static inline uint32_t next(struct side *c, int k)
{
    uint32_t v = be(c, c->at, k);
    c->at += (size_t)k;
    return v;
}

/* The text of Utf8 constant i, or of what constant i names at `skip` bytes behind its tag. */
static inline bool text_is(const struct side *c, uint32_t i, const char *s)
{
    size_t n = strlen(s), at = i < c->cp_n ? c->cp[i] : 0;
    return at != 0 && be(c, at, 1) == 1 && be(c, at + 1, 2) == n && at + 3 + n <= c->n && memcmp(c->p + at + 3, s, n) == 0;
}

static inline uint32_t refer(const struct side *c, uint32_t i, int skip)
{
    return i < c->cp_n && c->cp[i] != 0 ? be(c, c->cp[i] + 1u + (size_t)skip, 2) : 0;
}

#endif
