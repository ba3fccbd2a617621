/* SPDX-License-Identifier: BSD-2-Clause */
/* bci_compare.c: two classes side by side. It expects what the rewriter's header promises, and knows nothing of how it is done. */
#include "bci_compare.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
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
    const char *tracker;
    int32_t label[SIDE + 1], insn[SIDE + 1],
        stop[SIDE + 1];    /* of a's pc: where branches go; the instruction; where ranges may end as well */
    int32_t hop[SIDE + 1]; /* of b's pc: a trampoline's target, else -1 */
    uint32_t number;
    bool numbered;
    int32_t handler;
    uint16_t major;
};

static const char *fail(struct both *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(s->r->fault, sizeof(s->r->fault), format, args);
    va_end(args);
    return s->r->fault;
}

#define TRY(call)                                                                                                                          \
    do {                                                                                                                                   \
        const char *fault_ = (call);                                                                                                       \
        if (fault_ != NULL) {                                                                                                              \
            return fault_;                                                                                                                 \
        }                                                                                                                                  \
    } while (0)

/* Big-endian number of k bytes at `at`; 0 behind the end. */
static uint32_t be(const struct side *c, size_t at, int k)
{
    uint32_t v = 0;
    for (int i = 0; i < k; i++) {
        v = v << 8 | (at + (size_t)i < c->n ? c->p[at + (size_t)i] : 0u);
    }
    return v;
}

static uint32_t next(struct side *c, int k)
{
    uint32_t v = be(c, c->at, k);
    c->at += (size_t)k;
    return v;
}

static bool read_pool(struct side *c)
{
    static const char sizes[] = "?2?4488224444??324422"; /* digit: bytes behind the tag; index: the tag, from 0 */
    c->at = 8;
    c->cp_n = next(c, 2);
    memset(c->cp, 0, (c->cp_n + 2) * sizeof(c->cp[0]));
    for (uint32_t i = 1; i < c->cp_n; i++) {
        uint32_t tag = be(c, c->at, 1);
        if (tag >= sizeof(sizes) - 1 || c->at >= c->n) {
            return false;
        }
        c->cp[i] = (uint32_t)c->at;
        size_t size = tag == 1 ? 2 + (size_t)be(c, c->at + 1, 2) : (size_t)(sizes[tag] - '0');
        c->at += 1 + size;
        i += tag == 5 || tag == 6;
    }
    return c->at <= c->n;
}

/* The text of Utf8 constant i, or of what constant i names at `skip` bytes behind its tag. */
static bool text_is(const struct side *c, uint32_t i, const char *s)
{
    size_t n = strlen(s), at = i < c->cp_n ? c->cp[i] : 0;
    return at != 0 && be(c, at, 1) == 1 && be(c, at + 1, 2) == n && at + 3 + n <= c->n && memcmp(c->p + at + 3, s, n) == 0;
}

static uint32_t refer(const struct side *c, uint32_t i, int skip)
{
    return i < c->cp_n && c->cp[i] != 0 ? be(c, c->cp[i] + 1u + (size_t)skip, 2) : 0;
}

static int length_of(const struct side *c, uint32_t pc)
{
    static const char lengths[] = "1111111111111111232332222211111111111111111111111111112222211111"
                                  "1111111111111111111111111111111111111111111111111111111111111111"
                                  "1111311111111111111111111333333333333333320011111133333335532311"
                                  "3311?43355";
    uint32_t op = be(c, c->code + pc, 1), word = (pc + 4) / 4 * 4;
    if (op == 0xAA) {
        return (int)(word - pc + 12 + 4 * (be(c, c->code + word + 8, 4) - be(c, c->code + word + 4, 4) + 1));
    }
    if (op == 0xAB) {
        return (int)(word - pc + 8 + 8 * be(c, c->code + word + 4, 4));
    }
    if (op == 0xC4) {
        return be(c, c->code + pc + 1, 1) == 0x84 ? 6 : 4;
    }
    return op < sizeof(lengths) - 1 ? lengths[op] - '0' : 0;
}

/* Bytes of a push and a call of the tracker's `name` at pc of the new code, 0: there is none. */
static uint32_t call_at(struct both *s, uint32_t pc, const char *name)
{
    struct side *b = &s->b;
    uint32_t op = be(b, b->code + pc, 1), number, len;
    if (op >= 3 && op <= 8) {
        number = op - 3, len = 1;
    } else if (op == 0x10) {
        number = be(b, b->code + pc + 1, 1), len = 2;
    } else if (op == 0x11) {
        number = be(b, b->code + pc + 1, 2), len = 3;
    } else if (op == 0x12 || op == 0x13) {
        uint32_t index = be(b, b->code + pc + 1, op == 0x12 ? 1 : 2);
        number = index < b->cp_n ? be(b, b->cp[index] + 1u, 4) : 0, len = op == 0x12 ? 2 : 3;
    } else {
        return 0;
    }
    uint32_t ref = be(b, b->code + pc + len + 1, 2);
    if (be(b, b->code + pc + len, 1) != 0xB8 || !text_is(b, refer(b, refer(b, ref, 0), 0), s->tracker) ||
        !text_is(b, refer(b, refer(b, ref, 2), 0), name) || !text_is(b, refer(b, refer(b, ref, 2), 2), "(I)V") ||
        (s->numbered && number != s->number)) {
        return 0;
    }
    s->number = number;
    s->numbered = true;
    return len + 3;
}

static bool is_cond(uint32_t op)
{
    return (op >= 0x99 && op <= 0xA6) || op == 0xC6 || op == 0xC7;
}

static bool ends(uint32_t op, uint32_t second)
{
    return op == 0xA7 || (op >= 0xA9 && op <= 0xB1) || op == 0xBF || op == 0xC8 || (op == 0xC4 && second == 0xA9);
}

/* Trampolines at b's pc, where a's code goes on at pa. */
static uint32_t hops(struct both *s, uint32_t pa, uint32_t pb)
{
    struct side *a = &s->a, *b = &s->b;
    uint32_t have = 0, want = 0, op;
    /* Jumps in a row in both; what b has more are trampolines, of which the first place has all. */
    for (uint32_t at = pa; at < a->len && ((op = be(a, a->code + at, 1)) == 0xC8 || op == 0xA7); want++) {
        at += op == 0xC8 ? 5 : 3;
    }
    for (uint32_t at = pb; at < b->len && ((op = be(b, b->code + at, 1)) == 0xC8 || op == 0xA7); have++) {
        at += op == 0xC8 ? 5 : 3;
    }
    for (uint32_t i = 0; i + want < have && be(b, b->code + pb, 1) == 0xC8; i++, pb += 5) {
        s->hop[pb] = (int32_t)(pb + be(b, b->code + pb + 1, 4));
        s->r->trampolines++;
    }
    return pb;
}

/* The instruction at pa and that at pb, without targets. Sets *lb. */
static const char *same_instruction(struct both *s, uint32_t pa, uint32_t pb, uint32_t la, uint32_t *lb)
{
    struct side *a = &s->a, *b = &s->b;
    uint32_t opa = be(a, a->code + pa, 1), opb = be(b, b->code + pb, 1);
    *lb = la;
    if (opa == 0xAA || opa == 0xAB) {
        *lb = (uint32_t)length_of(b, pb);
        uint32_t wa = (pa + 4) / 4 * 4, wb = (pb + 4) / 4 * 4;
        bool same = opa == opb && la - (wa - pa) == *lb - (wb - pb) &&
                    memcmp(a->p + a->code + wa + 4, b->p + b->code + wb + 4, opa == 0xAA ? 8 : 4) == 0;
        for (uint32_t i = 8; same && opa == 0xAB && i + wa - pa < la; i += 8) {
            same = be(a, a->code + wa + i, 4) == be(b, b->code + wb + i, 4);
        }
        for (uint32_t i = pb + 1; i < wb; i++) {
            same = same && be(b, b->code + i, 1) == 0;
        }
        return same ? NULL : fail(s, "switch at %u differs", pa);
    }
    if (opa == 0xA7 || opa == 0xA8) {
        *lb = opb == opa ? 3 : 5;
        s->r->wide += opb != opa;
        return opb == opa || opb == opa + 0x21 ? NULL : fail(s, "jump at %u became %u", pa, opb);
    }
    if (is_cond(opa)) {
        uint32_t inverse = opa >= 0xC6 ? 0xC6 + 0xC7 - opa : opa % 2 ? opa + 1 : opa - 1;
        if (opb == opa) {
            return NULL;
        }
        *lb = 8;
        s->r->inverted++;
        return opb == inverse && be(b, b->code + pb + 1, 3) == 0x0008C8 ? NULL : fail(s, "branch at %u became %u", pa, opb);
    }
    if (opa == 0xC8 || opa == 0xC9) {
        return opa == opb ? NULL : fail(s, "jump at %u became %u", pa, opb);
    }
    return pb + la <= b->len && memcmp(a->p + a->code + pa, b->p + b->code + pb, la) == 0 ? NULL : fail(s, "instruction at %u differs", pa);
}

static const char *walk_code(struct both *s)
{
    struct side *a = &s->a, *b = &s->b;
    uint32_t pb = call_at(s, 0, "enter"), lb, call;
    bool ended = false;
    memset(s->label, -1, (a->len + 1) * sizeof(s->label[0]));
    memset(s->insn, -1, (a->len + 1) * sizeof(s->insn[0]));
    memset(s->hop, -1, (b->len + 1) * sizeof(s->hop[0]));
    if (pb == 0) {
        return fail(s, "no entry call");
    }
    for (uint32_t pa = 0; pa < a->len;) {
        int la = length_of(a, pa);
        uint32_t op = be(a, a->code + pa, 1);
        if (la <= 0 || pa + (uint32_t)la > a->len) {
            return fail(s, "no instruction at %u", pa);
        }
        s->stop[pa] = (int32_t)pb;
        pb = ended ? hops(s, pa, pb) : pb;
        s->label[pa] = (int32_t)pb;
        if (op >= 0xAC && op <= 0xB1) {
            call = call_at(s, pb, "exit");
            if (call == 0) {
                return fail(s, "no exit call before %u", pa);
            }
            pb += call;
        }
        s->insn[pa] = (int32_t)pb;
        TRY(same_instruction(s, pa, pb, (uint32_t)la, &lb));
        ended = ends(op, be(a, a->code + pa + 1, 1));
        pa += (uint32_t)la;
        pb += lb;
    }
    s->stop[a->len] = (int32_t)pb;
    pb = hops(s, a->len, pb);
    s->label[a->len] = (int32_t)pb;
    s->handler = -1;
    if (pb < b->len) {
        s->handler = (int32_t)pb;
        call = call_at(s, pb, "thrown");
        pb += call + 1;
        if (call == 0 || be(b, b->code + pb - 1, 1) != 0xBF) {
            return fail(s, "no handler at the end");
        }
    }
    return pb == b->len ? NULL : fail(s, "code ends at %u of %u", pb, b->len);
}

static const char *same_target(struct both *s, uint32_t pc, uint32_t ta, uint32_t tb)
{
    if (ta >= s->a.len || tb >= s->b.len) {
        return fail(s, "target of %u outside", pc);
    }
    if (s->hop[tb] >= 0 && s->label[ta] != (int32_t)tb) {
        tb = (uint32_t)s->hop[tb];
    }
    return s->label[ta] == (int32_t)tb ? NULL : fail(s, "branch at %u led to %u, now to %u instead of %d", pc, ta, tb, s->label[ta]);
}

static const char *walk_targets(struct both *s)
{
    struct side *a = &s->a, *b = &s->b;
    for (uint32_t pa = 0; pa < a->len; pa += (uint32_t)length_of(a, pa)) {
        uint32_t pb = (uint32_t)s->insn[pa], opa = be(a, a->code + pa, 1), opb = be(b, b->code + pb, 1);
        if (is_cond(opa) || opa == 0xA7 || opa == 0xA8) {
            uint32_t ta = pa + (uint32_t)(int16_t)be(a, a->code + pa + 1, 2), tb = pb + (uint32_t)(int16_t)be(b, b->code + pb + 1, 2);
            if (opa != opb) {
                tb = is_cond(opa) ? pb + 3 + be(b, b->code + pb + 4, 4) : pb + be(b, b->code + pb + 1, 4);
            }
            TRY(same_target(s, pa, ta, tb));
        } else if (opa == 0xC8 || opa == 0xC9) {
            TRY(same_target(s, pa, pa + be(a, a->code + pa + 1, 4), pb + be(b, b->code + pb + 1, 4)));
        } else if (opa == 0xAA || opa == 0xAB) {
            uint32_t wa = (pa + 4) / 4 * 4, wb = (pb + 4) / 4 * 4, end = pa + (uint32_t)length_of(a, pa) - wa;
            for (uint32_t i = 0; i < end; i = i == 0 ? 12 : i + (opa == 0xAA ? 4 : 8)) {
                TRY(same_target(s, pa, pa + be(a, a->code + wa + i, 4), pb + be(b, b->code + wb + i, 4)));
            }
        }
    }
    return NULL;
}

static const char *walk_handlers(struct both *s, bool constructor)
{
    struct side *a = &s->a, *b = &s->b;
    if (b->handler_n < a->handler_n || (b->handler_n > a->handler_n) != (s->handler >= 0)) {
        return fail(s, "%u handlers became %u", a->handler_n, b->handler_n);
    }
    for (uint32_t i = 0; i < b->handler_n; i++) {
        size_t ha = a->handlers + 8 * (size_t)i, hb = b->handlers + 8 * (size_t)i;
        int32_t start = (int32_t)be(b, hb, 2), end = (int32_t)be(b, hb + 2, 2), handler = (int32_t)be(b, hb + 4, 2);
        if (i >= a->handler_n) {
            bool whole = start == s->label[0] && end == s->handler;
            if (handler != s->handler || be(b, hb + 6, 2) != 0 || start >= end || end > handler || (!constructor && !whole)) {
                return fail(s, "added handler %u is wrong", i);
            }
            continue;
        }
        uint32_t sa = be(a, ha, 2), ea = be(a, ha + 2, 2);
        if (start != s->label[sa] || (end != s->label[ea] && end != s->stop[ea]) || handler != s->label[be(a, ha + 4, 2)] ||
            be(a, ha + 6, 2) != be(b, hb + 6, 2)) {
            return fail(s, "handler %u differs", i);
        }
    }
    s->r->handlers += s->handler >= 0;
    return NULL;
}

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
    const uint8_t *p = utf8(c, refer(c, i, 0), &n);
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

static const char *walk_attributes(struct both *s, size_t *fa, size_t *fb)
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

static void open_code(struct side *c, size_t at)
{
    c->at = at + 2;
    c->end = next(c, 4);
    c->end += c->at;
    c->stack = next(c, 2);
    c->locals = next(c, 2);
    c->len = next(c, 4);
    c->code = c->at;
    c->handler_n = be(c, c->code + c->len, 2);
    c->handlers = c->code + c->len + 2;
    c->attrs = c->handlers + 8 * (size_t)c->handler_n + 2;
    c->attr_n = be(c, c->attrs - 2, 2);
}

static const char *compare_code(struct both *s, size_t at, size_t bt, size_t method, uint32_t this_class)
{
    struct side *a = &s->a, *b = &s->b;
    size_t fa, fb;
    uint32_t access = be(a, method, 2), descriptor = be(a, method + 4, 2);
    bool constructor = text_is(a, be(a, method + 2, 2), "<init>");
    open_code(a, at);
    open_code(b, bt);
    if (a->len > 65535 || b->len > 65535 || a->attrs > a->end || b->attrs > b->end || a->locals != b->locals || b->stack < a->stack ||
        b->stack > a->stack + 2) {
        return fail(s, "Code does not fit");
    }
    s->numbered = false;
    TRY(walk_code(s));
    TRY(walk_targets(s));
    TRY(walk_handlers(s, constructor));
    TRY(walk_attributes(s, &fa, &fb));
    if (s->major >= 50) {
        entry_locals(a, access, this_class, descriptor, constructor);
        TRY(walk_frames(s, a, fa));
        entry_locals(b, access, this_class, descriptor, constructor);
        TRY(walk_frames(s, b, fb));
        TRY(compare_frames(s));
    }
    s->r->methods++;
    return NULL;
}

static bool same_bytes(const struct side *a, size_t at, const struct side *b, size_t bt, size_t n)
{
    return at <= a->n && bt <= b->n && n <= a->n - at && n <= b->n - bt && memcmp(a->p + at, b->p + bt, n) == 0;
}

/* A member's attributes, from their count on; method 0: of a class or field. */
static const char *compare_attributes(struct both *s, size_t method, uint32_t this_class)
{
    struct side *a = &s->a, *b = &s->b;
    uint32_t n = next(a, 2);
    if (next(b, 2) != n) {
        return fail(s, "number of attributes differs");
    }
    for (; n > 0; n--) {
        size_t at = a->at, bt = b->at, la = 6 + (size_t)be(a, at + 2, 4), lb = 6 + (size_t)be(b, bt + 2, 4);
        if (la > a->n - at || lb > b->n - bt) {
            return fail(s, "an attribute is cut off");
        }
        if (la != lb || !same_bytes(a, at, b, bt, la)) {
            bool code = method != 0 && be(a, at, 2) == be(b, bt, 2) && text_is(a, be(a, at, 2), "Code");
            TRY(code ? compare_code(s, at, bt, method, this_class) : fail(s, "an attribute outside Code differs"));
        }
        a->at = at + la;
        b->at = bt + lb;
    }
    return NULL;
}

static const char *compare(struct both *s)
{
    struct side *a = &s->a, *b = &s->b;
    if (a->n < 10 || b->n < 10 || !read_pool(a) || !read_pool(b) || !same_bytes(a, 0, b, 0, 8) || !same_bytes(a, 10, b, 10, a->at - 10)) {
        return fail(s, "version or constants differ");
    }
    s->major = (uint16_t)be(a, 6, 2);
    uint32_t this_class = be(a, a->at + 2, 2);
    size_t head = 8 + 2 * (size_t)be(a, a->at + 6, 2);
    if (!same_bytes(a, a->at, b, b->at, head)) {
        return fail(s, "access, names or interfaces differ");
    }
    a->at += head;
    b->at += head;
    for (int methods = 0; methods < 2; methods++) {
        uint32_t n = next(a, 2);
        if (next(b, 2) != n) {
            return fail(s, "number of members differs");
        }
        for (uint32_t i = 0; i < n; i++) {
            size_t method = methods ? a->at : 0;
            if (!same_bytes(a, a->at, b, b->at, 6)) {
                return fail(s, "member %u differs", i);
            }
            a->at += 6;
            b->at += 6;
            const char *fault = compare_attributes(s, method, this_class);
            if (fault != NULL) {
                size_t len = strlen(fault);
                (void)snprintf(s->r->fault + len, sizeof(s->r->fault) - len, " (member %u)", i);
                return fault;
            }
        }
    }
    TRY(compare_attributes(s, 0, 0));
    return a->at == a->n && b->at == b->n ? NULL : fail(s, "something follows the class");
}

const char *bci_compare(const uint8_t *in, size_t n, const uint8_t *out, size_t m, const char *tracker, struct bci_compared *r)
{
    static struct both all; /* some MB: neither the stack's nor worth clearing for each class */
    struct both *s = &all;
    memset(r, 0, sizeof(*r));
    s->a.p = in;
    s->a.n = n;
    s->b.p = out;
    s->b.n = m;
    s->r = r;
    s->tracker = tracker;
    return compare(s);
}
