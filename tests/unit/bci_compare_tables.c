/* SPDX-License-Identifier: BSD-2-Clause */
/* bci_compare_tables.c: frames, line and variable tables, type annotations side by side. */
#include "bci_compare_sides.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
    return (h ^ v) * 0x9E3779B97F4A7C15u + (h >> 29);
}

static uint64_t name_hash(const uint8_t *p, size_t n)
{
    uint64_t h = 7;
    for (size_t i = 0; i < n; i++) {
        h = mix(h, p[i]);
    }
    return h | 0x100;
}

/* Utf8 constant i; NULL if it is none. */
static const uint8_t *utf8(const struct side *c, uint32_t i, uint32_t *n)
{
    size_t at = i < c->cp_n ? c->cp[i] : 0;
    *n = be(c, at + 1, 2);
    return at != 0 && be(c, at, 1) == 1 && at + 3 + *n <= c->n ? c->p + at + 3 : NULL;
}

static uint64_t class_hash(const struct side *c, uint32_t i)
{
    uint32_t n;
    bool class = i < c->cp_n && c->cp[i] != 0 && be(c, c->cp[i], 1) == 7;
    const uint8_t *p = class ? utf8(c, refer(c, i, 0), &n) : NULL; /* what is no class may read as if it named an added constant */
    return p == NULL ? 1 : name_hash(p, n);
}

/* The verification type at c->at, places in the new code. */
static uint64_t take_type(const struct both *s, struct side *c)
{
    uint32_t tag = next(c, 1);
    if (tag == 7) {
        return mix(7, class_hash(c, next(c, 2)));
    }
    if (tag == 8) {
        uint32_t pc = next(c, 2);
        return mix(8, c == &s->a ? (uint32_t)s->insn[pc] : pc);
    }
    return tag + 1;
}

/* The locals at the method's entry. */
static void entry_locals(struct side *c, uint32_t access, uint32_t this_class, uint32_t descriptor, bool constructor)
{
    uint32_t n;
    const uint8_t *d = utf8(c, descriptor, &n), *end = d == NULL ? NULL : d + n;
    c->local_n = 0;
    if (!(access & 8)) {
        c->local[c->local_n++] = constructor ? 6 + 1 : mix(7, class_hash(c, this_class));
    }
    if (d == NULL || n == 0) {
        return;
    }
    for (d++; d < end && *d != ')'; d++) {
        const uint8_t *start = d;
        while (d < end && *d == '[') {
            d++;
        }
        bool array = d > start;
        bool object = d < end && *d == 'L';
        while (object && d < end && *d != ';') {
            d++;
        }
        const uint8_t *from = object && !array ? start + 1 : start, *to = object && !array ? d : d + 1;
        uint32_t tag = *start == 'F' ? 2 : *start == 'D' ? 3 : *start == 'J' ? 4 : 1;
        c->local[c->local_n++] = array || object ? mix(7, name_hash(from, (size_t)(to - from))) : tag + 1;
    }
}

/* Hashes of all frames of one side, at places in the new code. */
static const char *walk_frames(struct both *s, struct side *c, size_t at)
{
    memset(c->frame, 0, (s->b.len + 1) * sizeof(c->frame[0]));
    c->frame_n = 0;
    if (at == 0) {
        return NULL;
    }
    c->at = at + 6;
    uint32_t n = next(c, 2), pc = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t h = 1, stack = 2;
        uint32_t type = next(c, 1), stack_n = 0;
        if (type == 246) {
            for (uint32_t k = next(c, 2); k > 0; k--) {
                h = mix(h, next(c, 2));
            }
            type = next(c, 1);
        }
        pc += 1 + (type < 128 ? type % 64 : next(c, 2));
        if (type >= 248 && type <= 250) {
            c->local_n -= c->local_n < 251 - type ? c->local_n : 251 - type;
        } else if (type >= 252 && type <= 254) {
            for (; type > 251; type--) {
                c->local[c->local_n++ % SIDE] = take_type(s, c);
            }
        } else if (type == 255) {
            c->local_n = next(c, 2);
            for (uint32_t k = 0; k < c->local_n; k++) {
                c->local[k] = take_type(s, c);
            }
            stack_n = next(c, 2);
        } else if (type == 247 || (type >= 64 && type < 128)) {
            stack_n = 1;
        }
        for (; stack_n > 0; stack_n--) {
            stack = mix(stack, take_type(s, c));
        }
        for (uint32_t k = 0; k < c->local_n; k++) {
            h = mix(h, c->local[k % SIDE]);
        }
        int32_t place = pc >= c->len ? -1 : c == &s->a ? s->label[pc] : (int32_t)pc;
        if (place < 0) {
            return fail(s, "frame at %u of %u", pc, c->len);
        }
        c->frame[place] = mix(mix(h, stack), c->local_n) | 1;
        c->frame_n++;
    }
    return NULL;
}

static const char *compare_frames(struct both *s)
{
    uint32_t expected = s->a.frame_n;
    for (uint32_t pc = 0; pc < s->b.len; pc++) {
        uint64_t want = s->a.frame[pc];
        if (s->hop[pc] >= 0) {
            want = s->a.frame[s->hop[pc]];
            expected++;
            if (want == 0) {
                return fail(s, "no frame at the trampoline's target %d", s->hop[pc]);
            }
        } else if ((int32_t)pc == s->handler) {
            want = mix(mix(1, mix(2, mix(7, name_hash((const uint8_t *)"java/lang/Throwable", 19)))), 0) | 1;
            expected++;
        }
        if (s->b.frame[pc] != want) {
            return fail(s, "frame at new %u %s", pc, want == 0 ? "is one too many" : s->b.frame[pc] == 0 ? "is missing" : "differs");
        }
    }
    return s->b.frame_n == expected ? NULL : fail(s, "%u frames became %u", s->a.frame_n, s->b.frame_n);
}

static int32_t moved(const struct both *s, uint32_t pc)
{
    return pc == 0 ? 0 : pc <= s->a.len ? s->label[pc] : -1;
}

/* Entries of a line or variable table. Places inside an instruction are not compared. */
static const char *compare_table(struct both *s, size_t at, size_t bt, uint32_t size)
{
    struct side *a = &s->a, *b = &s->b;
    uint32_t n = be(a, at + 6, 2);
    if (be(b, bt + 2, 4) != be(a, at + 2, 4) || be(b, bt + 6, 2) != n) {
        return fail(s, "table's size differs");
    }
    for (uint32_t i = 0; i < n; i++) {
        size_t ea = at + 8 + (size_t)i * size, eb = bt + 8 + (size_t)i * size;
        uint32_t pc = be(a, ea, 2), stop = pc + be(a, ea + 2, 2);
        int32_t from = moved(s, pc), to = stop == pc ? from : moved(s, stop);
        bool good = from < 0 || (int32_t)be(b, eb, 2) == from;
        if (size == 10) {
            good = good && (from < 0 || to < 0 || (int32_t)be(b, eb + 2, 2) == to - from);
        } else {
            good = good && be(a, ea + 2, 2) == be(b, eb + 2, 2);
        }
        if (!good || memcmp(a->p + ea + 4, b->p + eb + 4, size - 4) != 0) {
            return fail(s, "entry %u of a table of %u bytes each differs", i, size);
        }
    }
    return NULL;
}

/* Steps a->at over the values of one annotation. */
static void skip_values(struct side *a, uint32_t n, bool named)
{
    for (; n > 0 && a->at < a->n; n--) {
        a->at += named ? 2 : 0;
        uint32_t tag = next(a, 1);
        if (tag == '[') {
            skip_values(a, next(a, 2), false);
        } else if (tag == '@') {
            a->at += 2;
            skip_values(a, next(a, 2), true);
        } else {
            a->at += tag == 'e' ? 4 : 2;
        }
    }
}

static const char *compare_annotations(struct both *s, size_t at, size_t bt)
{
    struct side *a = &s->a, *b = &s->b;
    a->at = at + 6;
    size_t ahead = bt - at; /* modulo 2^n */
    for (uint32_t n = next(a, 2); n > 0; n--) {
        uint32_t target = next(a, 1);
        uint32_t ranges = target == 0x40 || target == 0x41 ? next(a, 2) : 0;
        for (; ranges > 0; ranges--) {
            uint32_t start = next(a, 2), stop = start + next(a, 2);
            int32_t from = moved(s, start), to = stop == start ? from : moved(s, stop);
            if (start < a->len && stop <= a->len && from >= 0 && to >= 0 &&
                ((int32_t)be(b, a->at - 4 + ahead, 2) != from || (int32_t)be(b, a->at - 2 + ahead, 2) != to - from)) {
                return fail(s, "range of a type annotation differs");
            }
            a->at += 2;
        }
        if (target >= 0x43) {
            uint32_t pc = next(a, 2);
            if (pc < a->len && s->label[pc] >= 0 && (int32_t)be(b, a->at - 2 + ahead, 2) != s->label[pc]) {
                return fail(s, "offset of a type annotation differs");
            }
            a->at += target >= 0x47;
        } else if (target == 0x42) {
            if (next(a, 2) != be(b, a->at - 2 + ahead, 2)) {
                return fail(s, "handler of a type annotation differs");
            }
        }
        size_t from = a->at;
        a->at += 2 * (size_t)be(a, a->at, 1) + 3;
        skip_values(a, next(a, 2), true);
        if (a->at > a->n || a->at + ahead > b->n || memcmp(a->p + from, b->p + from + ahead, a->at - from) != 0) {
            return fail(s, "a type annotation differs");
        }
    }
    return NULL;
}

/* The next attribute from *at on that is no StackMapTable; that one is noted. 0: none is left. */
static size_t next_attribute(const struct both *s, const struct side *c, size_t *at, size_t *frames)
{
    while (*at < c->end) {
        size_t here = *at;
        *at += 6 + (size_t)be(c, here + 2, 4);
        if (s->major < 50 || !text_is(c, be(c, here, 2), "StackMapTable")) {
            return here;
        }
        *frames = here;
    }
    return 0;
}

const char *bci_compare_attributes(struct both *s, size_t *fa, size_t *fb)
{
    struct side *a = &s->a, *b = &s->b;
    size_t ia = a->attrs, ib = b->attrs, at, bt;
    *fa = *fb = 0;
    do {
        at = next_attribute(s, a, &ia, fa);
        bt = next_attribute(s, b, &ib, fb);
        if ((at == 0) != (bt == 0) || be(a, at, 2) != be(b, bt, 2)) {
            return fail(s, "attributes of Code differ");
        }
        uint32_t name = be(a, at, 2);
        if (at == 0) {
            continue;
        }
        if (text_is(a, name, "LineNumberTable")) {
            TRY(compare_table(s, at, bt, 4));
        } else if (text_is(a, name, "LocalVariableTable") || text_is(a, name, "LocalVariableTypeTable")) {
            TRY(compare_table(s, at, bt, 10));
        } else if (text_is(a, name, "RuntimeVisibleTypeAnnotations") || text_is(a, name, "RuntimeInvisibleTypeAnnotations")) {
            TRY(compare_annotations(s, at, bt));
        } else if (ia - at != ib - bt || memcmp(a->p + at, b->p + bt, ia - at) != 0) {
            return fail(s, "an attribute of Code differs");
        }
    } while (at != 0);
    return b->attr_n == a->attr_n + (*fa == 0 && *fb != 0) ? NULL : fail(s, "%u attributes of Code became %u", a->attr_n, b->attr_n);
}

const char *bci_compare_frames(struct both *s, size_t method, uint32_t this_class, size_t fa, size_t fb)
{
    struct side *a = &s->a, *b = &s->b;
    uint32_t access = be(a, method, 2), descriptor = be(a, method + 4, 2);
    bool constructor = text_is(a, be(a, method + 2, 2), "<init>");
    entry_locals(a, access, this_class, descriptor, constructor);
    TRY(walk_frames(s, a, fa));
    entry_locals(b, access, this_class, descriptor, constructor);
    TRY(walk_frames(s, b, fb));
    return compare_frames(s);
}
