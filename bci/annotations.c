/* SPDX-License-Identifier: BSD-2-Clause */
/* annotations.c: type annotations inside Code. No JVM reads them when it loads a class, so a position outside the code is copied
 * unchanged. And the annotations of a method, which stay as they are. */
#include "rewriter.h"

enum { LOCAL = 0x40, RESOURCE = 0x41, CATCH = 0x42, FIRST_OFFSET = 0x43, LAST_OFFSET = 0x46, LAST_ARGUMENT = 0x4B };
enum { DEPTH = 32 }; /* limit of nested values; a method with deeper ones stays unchanged */

struct cursor {
    const uint8_t *in;
    size_t at, end;
    bool bad;
};

static uint32_t take(struct cursor *r, size_t n)
{
    if (r->bad || n > r->end - r->at) {
        r->bad = true;
        return 0;
    }
    const uint8_t *p = r->in + r->at;
    r->at += n;
    return n == 1 ? *p : n >= 2 ? hpx_u2(p) : 0;
}

static void skip_pairs(struct cursor *r, int depth);

static void skip_value(struct cursor *r, int depth)
{
    uint32_t tag = take(r, 1), n;
    if (depth >= DEPTH) {
        r->bad = true;
        return;
    }
    switch (tag) {
    case 'e':
        (void)take(r, 4);
        return;
    case '@':
        (void)take(r, 2);
        skip_pairs(r, depth + 1);
        return;
    case '[':
        n = take(r, 2);
        for (uint32_t i = 0; i < n && !r->bad; i++) {
            skip_value(r, depth + 1);
        }
        return;
    default:
        r->bad = r->bad || tag == 0 || strchr("BCDFIJSZsc", (int)tag) == NULL;
        (void)take(r, 2);
        return;
    }
}

static void skip_pairs(struct cursor *r, int depth)
{
    uint32_t n = take(r, 2);
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        (void)take(r, 2);
        skip_value(r, depth);
    }
}

static void move(const struct hpx_class *c, const struct hpx_code *m, uint8_t *p)
{
    uint32_t pc = hpx_u2(p);
    if (pc < m->len) {
        hpx_put2(p, c->map[pc]);
    }
}

/* Moves the ranges of a local variable: u2 start, u2 length, u2 index. out: the copy of r->in. */
static void move_ranges(struct hpx_class *c, const struct hpx_code *m, struct cursor *r, uint8_t *out)
{
    uint32_t n = take(r, 2);
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        uint8_t *p = out + r->at;
        uint32_t start = take(r, 2), length = take(r, 2);
        (void)take(r, 2);
        if (!r->bad && start < m->len && start + length <= m->len) {
            uint32_t first = start == 0 ? 0 : c->map[start];
            hpx_put2(p, first);
            hpx_put2(p + 2, (length == 0 ? first : c->map[start + length]) - first);
        }
    }
}

int hpx_annotations_emit(struct hpx_class *c, const struct hpx_code *m, size_t at, size_t end)
{
    uint8_t *out = c->body.p + c->body.n;
    struct cursor r = {c->in + at, 0, end - at, false};
    memcpy(out, c->in + at, end - at);
    c->body.n += end - at;
    c->steps += end - at;
    uint32_t n = take(&r, 2);
    for (uint32_t i = 0; i < n && !r.bad; i++) {
        uint32_t target = take(&r, 1);
        uint8_t *p = out + r.at;
        if (target == LOCAL || target == RESOURCE) {
            move_ranges(c, m, &r, out);
        } else if (target >= CATCH && target <= LAST_ARGUMENT) {
            (void)take(&r, 2);
            if (target != CATCH && !r.bad) {
                move(c, m, p);
            }
            (void)take(&r, target > LAST_OFFSET ? 1 : 0);
        } else {
            return HPX_LEAVE(ATTRIBUTE);
        }
        uint32_t path = take(&r, 1);
        (void)take(&r, 2 * (size_t)path);
        (void)take(&r, 2);
        skip_pairs(&r, 0);
    }
    return r.bad || r.at != r.end ? HPX_LEAVE(ATTRIBUTE) : 0;
}

/* Whether one of the annotations in [at, end) is of one of these types. What follows something malformed is not read. */
static bool has_type(struct hpx_class *c, size_t at, size_t end, const char *const *types, size_t ntypes)
{
    struct cursor r = {c->in + at, 0, end - at, false};
    uint32_t n = take(&r, 2);
    bool has = false;
    c->steps += end - at;
    for (uint32_t i = 0; i < n && !r.bad && !has; i++) {
        struct hprofx_bci_name type = hpx_utf8(c, take(&r, 2));
        skip_pairs(&r, 0);
        for (size_t k = 0; k < ntypes && !r.bad; k++) {
            has = has || hpx_name_is(type, types[k]);
        }
    }
    return has;
}

bool hpx_is_intrinsic(struct hpx_class *c, size_t at, size_t end)
{
    static const char *const types[] = {"Ljdk/internal/vm/annotation/IntrinsicCandidate;", /* JDK 16 and later */
                                        "Ljdk/internal/HotSpotIntrinsicCandidate;"};       /* JDK 9 to 15 */
    bool is = false;
    for (at += 8; end - at >= 6 && !is;) {
        size_t next = at + 6 + hpx_u4(c->in + at + 2);
        is = hpx_name_is(hpx_utf8(c, hpx_u2(c->in + at)), "RuntimeVisibleAnnotations") &&
             has_type(c, at + 6, next, types, HPX_ARRAY_LEN(types));
        at = next;
    }
    return is;
}
