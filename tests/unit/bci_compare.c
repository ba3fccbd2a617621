/* SPDX-License-Identifier: BSD-2-Clause */
/* bci_compare.c: two classes side by side. It expects what the rewriter's header promises, and knows nothing of how it is done. */
#include "bci_compare_sides.h"
#include <stdarg.h>
#include <stdio.h>

const char *bci_compare_fail(struct both *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(s->r->fault, sizeof(s->r->fault), format, args);
    va_end(args);
    return s->r->fault;
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

/* Bytes of a push of a number at pc of the new code, 0: there is none. */
static uint32_t push_at(const struct side *b, uint32_t pc, uint32_t *number)
{
    uint32_t op = be(b, b->code + pc, 1);
    if (op >= 3 && op <= 8) {
        *number = op - 3;
        return 1;
    }
    if (op == 0x10 || op == 0x11) {
        *number = be(b, b->code + pc + 1, op - 0x0F);
        return op - 0x0E;
    }
    if (op == 0x12 || op == 0x13) {
        uint32_t index = be(b, b->code + pc + 1, op - 0x11);
        *number = index < b->cp_n && be(b, b->cp[index], 1) == 3 ? be(b, b->cp[index] + 1u, 4) : UINT32_MAX;
        return op - 0x10;
    }
    return 0;
}

/* Is there a call of the tracker's `name` at pc of the new code? */
static bool invokes(const struct both *s, uint32_t pc, const char *name, const char *descriptor)
{
    const struct side *b = &s->b;
    uint32_t ref = be(b, b->code + pc + 1, 2);
    return be(b, b->code + pc, 1) == 0xB8 && text_is(b, refer(b, refer(b, ref, 0), 0), s->asked->tracker) &&
           text_is(b, refer(b, refer(b, ref, 2), 0), name) && text_is(b, refer(b, refer(b, ref, 2), 2), descriptor);
}

/* Bytes of a push and a call of the tracker's `name` at pc of the new code, 0: there is none. */
static uint32_t call_at(struct both *s, uint32_t pc, const char *name)
{
    uint32_t number, len = push_at(&s->b, pc, &number);
    if (len == 0 || !invokes(s, pc + len, name, "(I)V") || (s->numbered && number != s->number)) {
        return 0;
    }
    s->number = number;
    s->numbered = true;
    return len + 3;
}

/* Steps *pb over the site's probe behind the allocation `op`; calls have that of 0xC5. */
static const char *walk_site(struct both *s, uint32_t pa, uint32_t op, uint32_t *pb)
{
    struct side *b = &s->b;
    uint32_t id, len;
    bool good = true;
    if (op != 0xBB) {
        good = be(b, b->code + (*pb)++, 1) == 0x59;
    }
    if (op == 0xBC || op == 0xBD) {
        good = good && be(b, b->code + (*pb)++, 1) == 0xBE;
    }
    len = push_at(b, *pb, &id);
    good = good && len > 0 &&
           invokes(s, *pb + len,
                   op == 0xBB   ? "alloc"
                   : op == 0xC5 ? "multi"
                                : "array",
                   op == 0xBB   ? "(I)V"
                   : op == 0xC5 ? "(Ljava/lang/Object;I)V"
                                : "(II)V");
    if (!good || id < s->site || (s->numbered_site && id != s->site)) {
        return fail(s, "no probe of the site at %u", pa);
    }
    s->site = id + 1;
    s->numbered_site = true;
    s->r->sites++;
    *pb += len + 3;
    return NULL;
}

static const char *walk_object(struct both *s, uint32_t pa, uint32_t op, bool multi, uint32_t *pb)
{
    bool good = be(&s->b, s->b.code + *pb, 1) == op && (!multi || be(&s->b, s->b.code + *pb + 1, 1) == 0x03);
    if (!good ||
        !(multi ? invokes(s, *pb + 2, "multi", "(Ljava/lang/Object;I)V") : invokes(s, *pb + 1, "object", "(Ljava/lang/Object;)V"))) {
        return fail(s, "no probe of the object at %u", pa);
    }
    s->r->objects++;
    *pb += multi ? 5 : 4;
    return NULL;
}

#define ACCESSOR "newInstance0", "(Ljava/lang/reflect/Constructor;[Ljava/lang/Object;)Ljava/lang/Object;"

/* Methods that return a new object, with the opcodes that call them. */
static const struct {
    const char *owner, *name, *desc;
    bool arrays, constructed, virtual, special, is_static;
} makers[] = {
    {"java/lang/Object", "clone", "()Ljava/lang/Object;", .virtual = true, .special = true},
    {"jdk/internal/misc/Unsafe", "allocateInstance", "(Ljava/lang/Class;)Ljava/lang/Object;", .virtual = true, .constructed = true},
    {"sun/misc/Unsafe", "allocateInstance", "(Ljava/lang/Class;)Ljava/lang/Object;", .virtual = true},
    {"jdk/internal/misc/Unsafe", "allocateUninitializedArray0", "(Ljava/lang/Class;I)Ljava/lang/Object;", .virtual = true, .special = true},
    {"java/lang/reflect/Array", "newInstance", "(Ljava/lang/Class;I)Ljava/lang/Object;", .is_static = true},
    {"java/lang/reflect/Array", "newInstance", "(Ljava/lang/Class;[I)Ljava/lang/Object;", .is_static = true, .arrays = true},
    {"java/util/Arrays", "copyOf", "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;", .is_static = true},
    {"java/util/Arrays", "copyOfRange", "([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;", .is_static = true},
    {"sun/reflect/NativeConstructorAccessorImpl", ACCESSOR, .is_static = true, .constructed = true},
    {"jdk/internal/reflect/NativeConstructorAccessorImpl", ACCESSOR, .is_static = true, .constructed = true},
    {"jdk/internal/reflect/DirectConstructorHandleAccessor$NativeAccessor", ACCESSOR, .is_static = true, .constructed = true},
};

/* Constant i if it is of this kind, else 0, which is none. */
static uint32_t of_kind(const struct side *c, uint32_t i, uint32_t tag)
{
    return i < c->cp_n && c->cp[i] != 0 && be(c, c->cp[i], 1) == tag ? i : 0;
}

/* What a call of the old class makes: 0 nothing, 1 an object, 2 an array that may hold new arrays, 3 an object whose constructor has run.
 */
static int makes(const struct side *a, uint32_t op, uint32_t ref)
{
    if (op < 0xB6 || op > 0xB8 || of_kind(a, ref, 10) == 0) {
        return 0;
    }
    uint32_t class = refer(a, of_kind(a, refer(a, ref, 0), 7), 0), call = of_kind(a, refer(a, ref, 2), 12), name = refer(a, call, 0),
             desc = refer(a, call, 2);
    bool array = class != 0 && be(a, a->cp[class] + 1u, 2) > 0 && be(a, a->cp[class] + 3u, 1) == '[';
    if (op == 0xB6 && array && text_is(a, name, "clone") && text_is(a, desc, "()Ljava/lang/Object;")) {
        return 1;
    }
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        bool called = op == 0xB6 ? makers[i].virtual : op == 0xB7 ? makers[i].special : makers[i].is_static;
        if (called && text_is(a, class, makers[i].owner) && text_is(a, name, makers[i].name) && text_is(a, desc, makers[i].desc)) {
            return makers[i].arrays ? 2 : makers[i].constructed ? 3 : 1;
        }
    }
    return 0;
}

/* Whether a method is one of them: its own code has no such probes. */
static bool is_maker(const struct side *a, uint32_t this_class, uint32_t name, uint32_t desc)
{
    uint32_t class = refer(a, this_class, 0);
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        if (text_is(a, class, makers[i].owner) && text_is(a, name, makers[i].name) && text_is(a, desc, makers[i].desc)) {
            return true;
        }
    }
    return false;
}

static bool is_store(const struct both *s, uint32_t pa)
{
    const struct side *a = &s->a;
    uint32_t ref = of_kind(a, be(a, a->code + pa + 1, 2), 9);
    return s->asked->stores != NULL && text_is(a, refer(a, of_kind(a, refer(a, ref, 2), 12), 0), s->asked->stores);
}

/* The probes behind the instruction at pa. */
static const char *walk_behind(struct both *s, uint32_t pa, uint32_t op, uint32_t *pb)
{
    bool array = op == 0xBC || op == 0xBD || op == 0xC5;
    int made = op >= 0xB6 && op <= 0xB8 ? makes(&s->a, op, be(&s->a, s->a.code + pa + 1, 2)) : 0;
    if ((s->probes & BCI_SITES) && (op == 0xBB || array || made > 0)) {
        TRY(walk_site(s, pa, made > 0 ? 0xC5 : op, pb));
    }
    if ((s->probes & BCI_OBJECTS) && (array || made == 1 || made == 2)) {
        TRY(walk_object(s, pa, 0x59, op == 0xC5 || made == 2, pb));
    }
    if ((s->probes & BCI_STORES) && op == 0xB5 && is_store(s, pa)) {
        if (!invokes(s, *pb, "stored", "()V")) {
            return fail(s, "no probe of the store at %u", pa);
        }
        s->r->stores++;
        *pb += 3;
    }
    return NULL;
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
    uint32_t pb = s->probes & BCI_CALLS ? call_at(s, 0, "enter") : 0, lb, call;
    bool ended = false;
    memset(s->label, -1, (a->len + 1) * sizeof(s->label[0]));
    memset(s->insn, -1, (a->len + 1) * sizeof(s->insn[0]));
    memset(s->hop, -1, (b->len + 1) * sizeof(s->hop[0]));
    if (pb == 0 && (s->probes & BCI_CALLS)) {
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
        if (op >= 0xAC && op <= 0xB1 && s->root && (s->probes & BCI_OBJECTS)) {
            TRY(walk_object(s, pa, 0x2A, false, &pb));
        }
        if (op >= 0xAC && op <= 0xB1 && (s->probes & BCI_CALLS)) {
            call = call_at(s, pb, "exit");
            if (call == 0) {
                return fail(s, "no exit call before %u", pa);
            }
            pb += call;
        }
        s->insn[pa] = (int32_t)pb;
        TRY(same_instruction(s, pa, pb, (uint32_t)la, &lb));
        ended = ends(op, be(a, a->code + pa + 1, 1));
        pb += lb;
        TRY(walk_behind(s, pa, op, &pb));
        pa += (uint32_t)la;
    }
    s->stop[a->len] = (int32_t)pb;
    pb = hops(s, a->len, pb);
    s->label[a->len] = (int32_t)pb;
    s->handler = -1;
    if (pb < b->len && (s->probes & BCI_CALLS)) {
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

/* Marks what a catch-all may not cover: each exit call with its return. Returns how many there are. */
static uint32_t mark_exits(struct both *s)
{
    struct side *a = &s->a;
    uint32_t returns = 0;
    memset(s->exit, 0, s->b.len + 1);
    for (uint32_t pa = 0; pa < a->len; pa += (uint32_t)length_of(a, pa)) {
        uint32_t op = be(a, a->code + pa, 1);
        if (op >= 0xAC && op <= 0xB1) {
            memset(s->exit + s->label[pa], 1, (size_t)(s->insn[pa] + 1 - s->label[pa]));
            returns++;
        }
    }
    return returns;
}

/* What the added entries cover: no exit call, nothing twice; in a method that is no constructor all else but trampolines behind returns. */
static const char *walk_added(struct both *s, bool constructor)
{
    struct side *a = &s->a, *b = &s->b;
    uint32_t returns = mark_exits(s);
    int32_t at = s->label[0], stop = s->handler;
    bool whole = returns + a->handler_n + 8 > 65535; /* then exit calls may be covered: the table would be full */
    for (uint32_t i = a->handler_n; i <= b->handler_n; i++) {
        size_t hb = b->handlers + 8 * (size_t)i;
        bool past = i == b->handler_n;
        int32_t start = past ? stop : (int32_t)be(b, hb, 2), end = past ? stop : (int32_t)be(b, hb + 2, 2);
        if (!past && ((int32_t)be(b, hb + 4, 2) != s->handler || be(b, hb + 6, 2) != 0 || start < at || start >= end || end > stop)) {
            return fail(s, "added handler %u is wrong", i);
        }
        for (; at < start; at++) {
            if (!constructor && !s->exit[at] && !(s->hop[at] >= 0)) {
                return fail(s, "new %d is covered by no handler", at);
            }
            at += s->hop[at] >= 0 ? 4 : 0;
        }
        for (; at < end && !whole; at++) {
            if (s->exit[at]) {
                return fail(s, "an exit call at new %d is covered", at);
            }
        }
        at = end;
    }
    return NULL;
}

static const char *walk_handlers(struct both *s, bool constructor)
{
    struct side *a = &s->a, *b = &s->b;
    if (b->handler_n < a->handler_n || (b->handler_n > a->handler_n) != (s->handler >= 0)) {
        return fail(s, "%u handlers became %u", a->handler_n, b->handler_n);
    }
    for (uint32_t i = 0; i < a->handler_n; i++) {
        size_t ha = a->handlers + 8 * (size_t)i, hb = b->handlers + 8 * (size_t)i;
        int32_t start = (int32_t)be(b, hb, 2), end = (int32_t)be(b, hb + 2, 2), handler = (int32_t)be(b, hb + 4, 2);
        uint32_t sa = be(a, ha, 2), ea = be(a, ha + 2, 2);
        if (start != s->label[sa] || end != s->stop[ea] || handler != s->label[be(a, ha + 4, 2)] || be(a, ha + 6, 2) != be(b, hb + 6, 2)) {
            return fail(s, "handler %u differs", i);
        }
    }
    s->r->handlers += s->handler >= 0;
    return s->handler < 0 ? NULL : walk_added(s, constructor);
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
    bool constructor = text_is(a, be(a, method + 2, 2), "<init>");
    open_code(a, at);
    open_code(b, bt);
    if (a->len > 65535 || b->len > 65535 || a->attrs > a->end || b->attrs > b->end || a->locals != b->locals || b->stack < a->stack ||
        b->stack > a->stack + 2) {
        return fail(s, "Code does not fit");
    }
    bool empty_finalizer =
        a->len == 1 && be(a, a->code, 1) == 0xB1 && text_is(a, be(a, method + 2, 2), "finalize") && text_is(a, be(a, method + 4, 2), "()V");
    bool accessor = s->major <= 52 && text_is(a, refer(a, this_class, 0), "java/lang/ref/Reference") &&
                    text_is(a, be(a, method + 2, 2), "get") && text_is(a, be(a, method + 4, 2), "()Ljava/lang/Object;");
    if (a->len < s->asked->min || empty_finalizer || accessor) {
        s->probes &= ~(unsigned)BCI_CALLS;
    }
    if (is_maker(a, this_class, be(a, method + 2, 2), be(a, method + 4, 2))) {
        s->probes &= BCI_CALLS | BCI_STORES;
    }
    s->root = constructor && s->super == 0;
    s->numbered = s->numbered_site = false;
    TRY(walk_code(s));
    TRY(walk_targets(s));
    TRY(walk_handlers(s, constructor));
    TRY(bci_compare_attributes(s, &fa, &fb));
    if (s->major >= 50) {
        TRY(bci_compare_frames(s, method, this_class, fa, fb));
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
    s->super = be(a, a->at + 4, 2);
    s->site = 0;
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
            s->probes = methods && s->asked->chosen != NULL ? s->asked->chosen[i] : s->asked->probes;
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

const char *bci_compare(const uint8_t *in, size_t n, const uint8_t *out, size_t m, const struct bci_asked *asked, struct bci_compared *r)
{
    static struct both all; /* some MB: neither the stack's nor worth clearing for each class */
    struct both *s = &all;
    memset(r, 0, sizeof(*r));
    s->a.p = in;
    s->a.n = n;
    s->b.p = out;
    s->b.n = m;
    s->r = r;
    s->asked = asked;
    return compare(s);
}
