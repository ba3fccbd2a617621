/* SPDX-License-Identifier: BSD-2-Clause */
/* unwind_table.c: runs the programs of .eh_frame once, for unwind_table.h. Source: the DWARF standard, 6.4; the Linux Standard Base for
 * .eh_frame_hdr. */
#include "unwind_table.h"
#include "compiler.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FIRST     0x8000u /* of an index: a function begins at the row */
#define RULES     0x8000u /* most rules of a table */
#define SLOTS     ((size_t)2 * RULES)
#define SAVED     8   /* states that a program may keep */
#define PADDING   16u /* bytes between two functions that nobody executes */
#define CIE_BYTES 4096u

#define LEAST_BITS 4u /* of answers */
#define MOST_BITS  11u

/* An answer that was given: the same address is asked for again and again, and a search of a large table misses the processor's caches at
 * each step. value: the function and the index of the rule; check: that and the address, which tells whether two handlers have written to
 * the entry at the same time. */
struct answer {
    _Atomic uint64_t check, value; /* relaxed: see is_answer() */
};

struct hpx_unwind_table {
    struct answer *answers; /* 1 << bits */
    unsigned bits;
    uint32_t n, nrules;
    uint32_t *offsets; /* n, ascending */
    uint16_t *indices; /* n, of rules, with FIRST */
    struct hpx_unwind_rule *rules;
};

/* ---- bytes ---- */

struct cursor {
    const uint8_t *at, *end;
    bool bad; /* something was behind the end */
};

static uint64_t fixed(struct cursor *c, size_t n)
{
    uint64_t v = 0;
    if ((size_t)(c->end - c->at) < n) {
        c->bad = true;
        c->at = c->end;
        return 0;
    }
    memcpy(&v, c->at, n); /* both processors are little endian */
    c->at += n;
    return v;
}

static uint64_t leb(struct cursor *c, bool is_signed)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = (uint8_t)fixed(c, 1);
        v |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        shift += 7;
    } while ((byte & 0x80) != 0 && !c->bad);
    if (is_signed && shift < 64 && (byte & 0x40) != 0) {
        v |= UINT64_MAX << shift;
    }
    return v;
}

static uint64_t uleb(struct cursor *c)
{
    return leb(c, false);
}

static int64_t sleb(struct cursor *c)
{
    return (int64_t)leb(c, true);
}

static void skip(struct cursor *c, uint64_t n)
{
    if ((uint64_t)(c->end - c->at) < n) {
        c->bad = true;
        c->at = c->end;
    } else {
        c->at += n;
    }
}

/* The part of the next n bytes, behind which c stands. */
static struct cursor part(struct cursor *c, uint64_t n)
{
    struct cursor p = {c->at, c->at, false};
    skip(c, n);
    p.end = c->at;
    p.bad = c->bad;
    return p;
}

static struct cursor cursor_at(const struct hpx_unwind_bytes *from, uint64_t address)
{
    uint64_t i = address - from->at;
    bool bad = i >= from->size;
    return (struct cursor){from->bytes + (bad ? from->size : i), from->bytes + from->size, bad};
}

static uint64_t address_of(const struct hpx_unwind_bytes *from, const struct cursor *c)
{
    return from->at + (uint64_t)(c->at - from->bytes);
}

/* How a pointer is written (DW_EH_PE): its size and sign, and what it is relative to. */
enum { PE_ABSOLUTE = 0, PE_PC = 0x10, PE_DATA = 0x30, PE_OMITTED = 0xff };

static uint64_t pointer(const struct hpx_unwind_bytes *from, struct cursor *c, unsigned as)
{
    uint64_t here = address_of(from, c), v = 0;
    switch (as & 0x0f) {
    case 0x00: /* of the size of an address */
    case 0x04:
    case 0x0c:
        v = fixed(c, 8);
        break;
    case 0x01:
        v = uleb(c);
        break;
    case 0x02:
        v = fixed(c, 2);
        break;
    case 0x03:
        v = fixed(c, 4);
        break;
    case 0x09:
        v = (uint64_t)sleb(c);
        break;
    case 0x0a:
        v = (uint64_t)(int64_t)(int16_t)fixed(c, 2);
        break;
    case 0x0b:
        v = (uint64_t)(int64_t)(int32_t)fixed(c, 4);
        break;
    default:
        c->bad = true;
    }
    switch (as & 0xf0) {
    case PE_ABSOLUTE:
        return v;
    case PE_PC:
        return v + here;
    case PE_DATA:
        return v + from->header;
    default: /* of what only a linker knows, or indirect */
        c->bad = true;
        return 0;
    }
}

/* ---- a table that is being made ---- */

struct making {
    const struct hpx_unwind_bytes *from;
    struct hpx_unwind_table *t;
    uint32_t room, rules_room;
    uint16_t *slots; /* SLOTS, by hash: index of a rule + 1; 0: none */
    uint64_t budget; /* bytes of programs that may still be run: no two functions share theirs, and many have the CIE of the one before */
    bool full;       /* no memory */
};

static uint32_t hash(const struct hpx_unwind_rule *r)
{
    uint64_t h = (uint64_t)(uint32_t)r->cfa << 32 | (uint32_t)(uint16_t)r->ra << 16 | (uint16_t)r->fp;
    h = (h ^ (uint16_t)r->base) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ (uint64_t)r->how << 27 ^ h >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)((h >> 40) % SLOTS);
}

static bool is_same(const struct hpx_unwind_rule *a, const struct hpx_unwind_rule *b)
{
    return a->how == b->how && a->cfa == b->cfa && a->ra == b->ra && a->fp == b->fp && a->base == b->base;
}

/* The first rule is HPX_UNWIND_UNKNOWN: where a table has too many, it stands for all others. */
static uint16_t index_of(struct making *m, struct hpx_unwind_rule r)
{
    struct hpx_unwind_table *t = m->t;
    uint32_t slot = hash(&r);
    while (m->slots[slot] != 0 && !is_same(&t->rules[m->slots[slot] - 1], &r)) {
        slot = (uint32_t)((slot + 1) % SLOTS);
    }
    if (m->slots[slot] == 0 && t->nrules == RULES) {
        return 0;
    }
    if (m->slots[slot] == 0 && t->nrules == m->rules_room) {
        uint32_t room = m->rules_room != 0 ? 2 * m->rules_room : 64;
        void *p = realloc(t->rules, room * sizeof *t->rules);
        m->full |= p == NULL;
        t->rules = p != NULL ? p : t->rules;
        m->rules_room = p != NULL ? room : m->rules_room;
    }
    if (m->full) {
        return 0;
    }
    if (m->slots[slot] == 0) {
        t->rules[t->nrules++] = r;
        m->slots[slot] = (uint16_t)t->nrules;
    }
    return (uint16_t)(m->slots[slot] - 1);
}

static void add_row(struct making *m, uint32_t offset, struct hpx_unwind_rule r, bool first)
{
    struct hpx_unwind_table *t = m->t;
    if (t->n == m->room) {
        uint32_t room = m->room != 0 ? m->room + m->room / 2 : 1024;
        void *o = realloc(t->offsets, room * sizeof *t->offsets);
        t->offsets = o != NULL ? o : t->offsets;
        void *i = realloc(t->indices, room * sizeof *t->indices);
        t->indices = i != NULL ? i : t->indices;
        m->full |= o == NULL || i == NULL;
        m->room = m->full ? m->room : room;
    }
    uint16_t index = index_of(m, r);
    if (m->full) {
        return;
    }
    if (!first && t->n > 0 && t->offsets[t->n - 1] == offset) { /* several programs' steps at one address: the last one holds */
        t->indices[t->n - 1] = (uint16_t)((t->indices[t->n - 1] & FIRST) | index);
    } else if (first || t->n == 0 || (t->indices[t->n - 1] & ~FIRST) != index) {
        t->offsets[t->n] = offset;
        t->indices[t->n++] = (uint16_t)(index | (first ? FIRST : 0));
    }
}

/* ---- programs ---- */

enum place { IN_REGISTER, IN_FRAME, NOWHERE, AT_ITSELF, ELSEWHERE };

struct state {
    enum hpx_unwind_how how;
    int64_t cfa;
    struct saved {
        enum place in;
        int64_t at; /* bytes from the end of the frame */
    } ra, fp, base;
};

struct cie {
    uint64_t at; /* 0: none is read yet */
    uint64_t code;
    int64_t data;
    unsigned as;
    bool sized, signal, good;
    struct state begin;
};

static unsigned fp_of(const struct hpx_unwind_bytes *from)
{
    return from->link ? 29 : 6;
}

static unsigned sp_of(const struct hpx_unwind_bytes *from)
{
    return from->link ? 31 : 7;
}

static unsigned base_of(const struct hpx_unwind_bytes *from)
{
    return from->link ? UINT32_MAX : 3;
}

static unsigned ra_of(const struct hpx_unwind_bytes *from)
{
    return from->link ? 30 : 16;
}

static void cfa_is(const struct hpx_unwind_bytes *from, struct state *s, uint64_t reg, int64_t offset)
{
    s->how = reg == sp_of(from)     ? HPX_UNWIND_SP
             : reg == fp_of(from)   ? HPX_UNWIND_FP
             : reg == base_of(from) ? HPX_UNWIND_BASE
                                    : HPX_UNWIND_UNKNOWN;
    s->cfa = offset;
}

/* Two expressions are used in practice: where a function has aligned its stack, and in a PLT. */
static void cfa_is_expression(const struct hpx_unwind_bytes *from, struct state *s, struct cursor e)
{
    enum { BREG = 0x70, DEREF = 0x06, LIT = 0x30 };
    static const uint8_t plt[] = {BREG + 7, 8, BREG + 16, 0, LIT + 15, 0x1a, 0, 0x2a, LIT + 3, 0x24, 0x22};
    const size_t n = (size_t)(e.end - e.at), lit = 6;
    s->how = HPX_UNWIND_UNKNOWN;
    if (n == sizeof plt && !from->link && memcmp(e.at, plt, lit) == 0 && memcmp(e.at + lit + 1, plt + lit + 1, n - lit - 1) == 0) {
        s->how = HPX_UNWIND_PLT;
        s->cfa = (e.at[lit] - LIT) & 15;
        return;
    }
    unsigned op = (unsigned)fixed(&e, 1);
    int64_t offset = sleb(&e);
    bool deref = fixed(&e, 1) == DEREF;
    if (!e.bad && e.at == e.end && deref && op >= BREG && (op - BREG == sp_of(from) || op - BREG == fp_of(from))) {
        s->how = op - BREG == sp_of(from) ? HPX_UNWIND_AT_SP : HPX_UNWIND_AT_FP;
        s->cfa = offset;
    }
}

/* Where a state has a register; NULL: nobody asks. */
static struct saved *saved_of(const struct hpx_unwind_bytes *from, struct state *s, uint64_t reg)
{
    return reg == ra_of(from) ? &s->ra : reg == fp_of(from) ? &s->fp : reg == base_of(from) ? &s->base : NULL;
}

static void register_is(const struct hpx_unwind_bytes *from, struct state *s, uint64_t reg, enum place in, int64_t offset)
{
    struct saved *to = saved_of(from, s, reg);
    if (to != NULL) {
        *to = (struct saved){in, offset};
    }
}

static void register_is_expression(const struct hpx_unwind_bytes *from, struct state *s, uint64_t reg, struct cursor e)
{
    bool itself = e.end - e.at == 2 && e.at[0] == 0x70 + fp_of(from) && e.at[1] == 0 && reg == fp_of(from);
    register_is(from, s, reg, itself ? AT_ITSELF : ELSEWHERE, 0);
}

static void register_begins(const struct hpx_unwind_bytes *from, struct state *s, struct state begin, uint64_t reg)
{
    const struct saved *was = saved_of(from, &begin, reg);
    if (was != NULL) {
        register_is(from, s, reg, was->in, was->at);
    }
}

/* false: a rule cannot say it. */
static bool is_words(const struct saved *s, int16_t *to)
{
    const int64_t to_words = s->in == IN_FRAME ? s->at / 8 : s->in == AT_ITSELF ? HPX_UNWIND_AT_FP_ITSELF : HPX_UNWIND_KEPT;
    *to = (int16_t)to_words;
    return s->in == IN_REGISTER || s->in == AT_ITSELF || (s->in == IN_FRAME && s->at % 8 == 0 && s->at / 8 < 0 && s->at / 8 > INT16_MIN);
}

static struct hpx_unwind_rule rule_of(const struct hpx_unwind_bytes *from, const struct cie *c, const struct state *s)
{
    struct hpx_unwind_rule r = {.how = s->how, .cfa = (int32_t)s->cfa};
    if (c->signal || s->ra.in == NOWHERE) {
        return (struct hpx_unwind_rule){.how = c->signal ? HPX_UNWIND_SIGNAL : HPX_UNWIND_END};
    }
    if (s->cfa != r.cfa || !is_words(&s->ra, &r.ra) || (s->ra.in == IN_REGISTER && !from->link) || !is_words(&s->fp, &r.fp)) {
        return (struct hpx_unwind_rule){.how = HPX_UNWIND_UNKNOWN};
    }
    if (!is_words(&s->base, &r.base)) {
        r.base = HPX_UNWIND_KEPT; /* whoever needs it is not found */
    }
    return r.how != HPX_UNWIND_UNKNOWN ? r : (struct hpx_unwind_rule){.how = HPX_UNWIND_UNKNOWN};
}

/* Where the rows of a program go. */
struct function {
    struct making *m; /* NULL: it is that of a CIE, which has no rows */
    uint64_t at, end;
    bool first;
};

static void emit(struct function *f, struct hpx_unwind_rule r)
{
    if (f->m != NULL && f->at < f->end) {
        add_row(f->m, (uint32_t)(f->at - f->m->from->base), r, f->first);
        f->first = false;
    }
}

/* A program that runs: its operations change the state, in one of these three ways. */
struct program {
    const struct hpx_unwind_bytes *from;
    const struct cie *cie;
    struct cursor at;
    struct state *s;
    struct function *f;
    struct state saved[SAVED];
    unsigned nsaved;
};

static int64_t scaled(const struct program *p, uint64_t n)
{
    return (int64_t)(n * (uint64_t)p->cie->data);
}

/* The state is that of the rows up to the address `to`, which must not be below them. */
static bool goes_to(struct program *p, uint64_t to)
{
    emit(p->f, rule_of(p->from, p->cie, p->s));
    p->at.bad |= to < p->f->at;
    p->f->at = to < p->f->at ? p->f->at : to;
    return true;
}

/* To another address. false: it is another operation. */
static bool moves(struct program *p, unsigned op)
{
    enum { ADVANCE = 0x40, SET = 0x01, ADVANCE_1 = 0x02, ADVANCE_4 = 0x04 };
    if ((op & 0xc0) == ADVANCE) {
        return goes_to(p, p->f->at + (op & 0x3f) * p->cie->code);
    }
    if (op >= ADVANCE_1 && op <= ADVANCE_4) {
        return goes_to(p, p->f->at + fixed(&p->at, (size_t)1 << (op - ADVANCE_1)) * p->cie->code);
    }
    return op == SET && goes_to(p, pointer(p->from, &p->at, p->cie->as));
}

/* Another place of a register. */
static bool saves(struct program *p, unsigned op)
{
    struct cursor *c = &p->at;
    uint64_t reg = op & 0x3f;
    switch (op & 0xc0) {
    case 0x80: /* DW_CFA_offset */
        register_is(p->from, p->s, reg, IN_FRAME, scaled(p, uleb(c)));
        return true;
    case 0xc0: /* DW_CFA_restore */
        register_begins(p->from, p->s, p->cie->begin, reg);
        return true;
    default:
        break;
    }
    switch (op) {
    case 0x05: /* DW_CFA_offset_extended */
        reg = uleb(c);
        register_is(p->from, p->s, reg, IN_FRAME, scaled(p, uleb(c)));
        return true;
    case 0x06: /* DW_CFA_restore_extended */
        register_begins(p->from, p->s, p->cie->begin, uleb(c));
        return true;
    case 0x07: /* DW_CFA_undefined */
        register_is(p->from, p->s, uleb(c), NOWHERE, 0);
        return true;
    case 0x08: /* DW_CFA_same_value */
        register_is(p->from, p->s, uleb(c), IN_REGISTER, 0);
        return true;
    case 0x09: /* DW_CFA_register */
        reg = uleb(c);
        (void)uleb(c);
        register_is(p->from, p->s, reg, ELSEWHERE, 0);
        return true;
    case 0x10: /* DW_CFA_expression */
        reg = uleb(c);
        register_is_expression(p->from, p->s, reg, part(c, uleb(c)));
        return true;
    case 0x11: /* DW_CFA_offset_extended_sf */
        reg = uleb(c);
        register_is(p->from, p->s, reg, IN_FRAME, scaled(p, (uint64_t)sleb(c)));
        return true;
    case 0x16: /* DW_CFA_val_expression */
        reg = uleb(c);
        skip(c, uleb(c));
        register_is(p->from, p->s, reg, ELSEWHERE, 0);
        return true;
    default:
        return false;
    }
}

/* Another end of the frame, or a whole state. false: nobody knows the operation, and so its length; or there is no state to restore. */
static bool ends(struct program *p, unsigned op)
{
    struct cursor *c = &p->at;
    uint64_t reg;
    switch (op) {
    case 0x00: /* DW_CFA_nop */
    case 0x2d: /* DW_CFA_AARCH64_negate_ra_state: whoever reads a return address takes its signature off */
        return true;
    case 0x0a: /* DW_CFA_remember_state */
        if (p->nsaved < SAVED) {
            p->saved[p->nsaved] = *p->s;
        }
        return p->nsaved++ < SAVED;
    case 0x0b: /* DW_CFA_restore_state */
        if (p->nsaved > 0) {
            *p->s = p->saved[--p->nsaved];
            return true;
        }
        return false;
    case 0x0c: /* DW_CFA_def_cfa */
        reg = uleb(c);
        cfa_is(p->from, p->s, reg, (int64_t)uleb(c));
        return true;
    case 0x0d: /* DW_CFA_def_cfa_register */
        cfa_is(p->from, p->s, uleb(c), p->s->cfa);
        return true;
    case 0x0e: /* DW_CFA_def_cfa_offset */
        p->s->cfa = (int64_t)uleb(c);
        return true;
    case 0x0f: /* DW_CFA_def_cfa_expression */
        cfa_is_expression(p->from, p->s, part(c, uleb(c)));
        return true;
    case 0x12: /* DW_CFA_def_cfa_sf */
        reg = uleb(c);
        cfa_is(p->from, p->s, reg, scaled(p, (uint64_t)sleb(c)));
        return true;
    case 0x13: /* DW_CFA_def_cfa_offset_sf */
        p->s->cfa = scaled(p, (uint64_t)sleb(c));
        return true;
    case 0x2e: /* DW_CFA_GNU_args_size */
        (void)uleb(c);
        return true;
    default:
        return false;
    }
}

/* false: from where it could not go on nothing is known. */
static bool run(const struct hpx_unwind_bytes *from, const struct cie *cie, struct cursor bytes, struct state *s, struct function *f)
{
    struct program p = {.from = from, .cie = cie, .at = bytes, .s = s, .f = f};
    bool known = true;
    while (p.at.at < p.at.end && !p.at.bad && known) {
        unsigned op = (unsigned)fixed(&p.at, 1);
        known = moves(&p, op) || saves(&p, op) || ends(&p, op);
    }
    known = known && !p.at.bad;
    emit(f, known ? rule_of(from, cie, s) : (struct hpx_unwind_rule){.how = HPX_UNWIND_UNKNOWN});
    return known;
}

/* ---- entries ---- */

/* An entry of .eh_frame at this address: its bytes behind the length; empty: there is none. */
static struct cursor entry_at(const struct hpx_unwind_bytes *from, uint64_t at)
{
    struct cursor c = cursor_at(from, at);
    uint64_t n = fixed(&c, 4);
    if (c.bad || n == UINT32_MAX) { /* of 64-bit DWARF, which no linker writes here */
        return (struct cursor){c.end, c.end, true};
    }
    return part(&c, n);
}

static void read_cie(struct making *m, uint64_t at, struct cie *to)
{
    const struct hpx_unwind_bytes *from = m->from;
    *to = (struct cie){.at = at, .begin = {.how = HPX_UNWIND_UNKNOWN}};
    struct cursor c = entry_at(from, at);
    const uint64_t length = (uint64_t)(c.end - c.at);
    if (c.bad || length > CIE_BYTES || length > m->budget) {
        return;
    }
    m->budget -= length;
    uint64_t id = fixed(&c, 4), version = fixed(&c, 1);
    const char *text = (const char *)c.at;
    const uint8_t *zero = memchr(c.at, 0, (size_t)(c.end - c.at));
    if (c.bad || id != 0 || (version != 1 && version != 3 && version != 4) || zero == NULL) {
        return;
    }
    c.at = zero + 1;
    skip(&c, version == 4 ? 2 : 0); /* sizes of an address and of a segment */
    to->code = uleb(&c);
    to->data = sleb(&c);
    uint64_t ra = version == 1 ? fixed(&c, 1) : uleb(&c);
    struct cursor more = {c.at, c.at, false};
    if (text[0] == 'z') {
        uint64_t n = uleb(&c);
        more = part(&c, n);
        to->sized = true;
    } else if (text[0] != 0) {
        return;
    }
    for (const char *p = text + to->sized; *p != 0 && !more.bad; p++) {
        switch (*p) {
        case 'R':
            to->as = (unsigned)fixed(&more, 1);
            break;
        case 'L':
            (void)fixed(&more, 1);
            break;
        case 'P': {
            unsigned as = (unsigned)fixed(&more, 1);
            (void)pointer(from, &more, as & 0x0f);
            break;
        }
        case 'S':
            to->signal = true;
            break;
        case 'B': /* which key signs return addresses */
        case 'G': /* the stack is tagged */
            break;
        default:
            return;
        }
    }
    struct function none = {0};
    struct state s = to->begin;
    to->good = ra == ra_of(from) && !more.bad && !c.bad && run(from, to, c, &s, &none);
    to->begin = s;
}

/* The rows of a function that the header says to begin at `start`; the address behind it, or `start`: there is nothing to be used. */
static uint64_t read_function(struct making *m, uint64_t start, uint64_t at, struct cie *cie)
{
    const struct hpx_unwind_bytes *from = m->from;
    struct cursor c = entry_at(from, at);
    const uint64_t pointer_at = address_of(from, &c), back = fixed(&c, 4);
    if (c.bad || back == 0) {
        return start;
    }
    if (cie->at != pointer_at - back) {
        read_cie(m, pointer_at - back, cie);
    }
    if (!cie->good) {
        return start;
    }
    const uint64_t begin = pointer(from, &c, cie->as), size = pointer(from, &c, cie->as & 0x0f);
    skip(&c, cie->sized ? uleb(&c) : 0);
    const uint64_t length = (uint64_t)(c.end - c.at);
    if (c.bad || begin != start || size == 0 || size > UINT32_MAX - (start - from->base) || length > m->budget) {
        return start;
    }
    m->budget -= length;
    struct function f = {m, start, start + size, true};
    struct state s = cie->begin;
    if (!run(from, cie, c, &s, &f) && f.first) {
        return start;
    }
    return start + size;
}

static void read_all(struct making *m, struct cursor table, uint64_t n)
{
    const struct hpx_unwind_bytes *from = m->from;
    (void)index_of(m, (struct hpx_unwind_rule){.how = HPX_UNWIND_UNKNOWN});
    struct cie cie = {0};
    uint64_t covered = 0; /* up to this address */
    for (uint64_t i = 0; i < n && !table.bad && !m->full; i++) {
        uint64_t start = from->header + (uint64_t)(int64_t)(int32_t)fixed(&table, 4);
        uint64_t at = from->header + (uint64_t)(int64_t)(int32_t)fixed(&table, 4);
        if (table.bad || start < covered || start < from->base || start - from->base >= UINT32_MAX) {
            continue;
        }
        const uint32_t before = m->t->n;
        const uint64_t gap = start - covered;
        if (covered != 0 && gap >= PADDING) {
            add_row(m, (uint32_t)(covered - from->base), (struct hpx_unwind_rule){.how = HPX_UNWIND_NONE}, true);
        }
        uint64_t end = read_function(m, start, at, &cie);
        if (end == start) {
            m->t->n = before;
        } else {
            covered = end;
        }
    }
    if (covered != 0) {
        add_row(m, (uint32_t)(covered - from->base), (struct hpx_unwind_rule){.how = HPX_UNWIND_NONE}, true);
    }
}

/* Without memory for answers there is no table. */
static bool finish(struct hpx_unwind_table *t)
{
    t->bits = LEAST_BITS;
    while (t->bits < MOST_BITS && (UINT32_C(1) << t->bits) < t->n / 16) {
        t->bits++;
    }
    t->answers = calloc((size_t)1 << t->bits, sizeof *t->answers);
    void *o = realloc(t->offsets, t->n * sizeof *t->offsets);
    t->offsets = o != NULL ? o : t->offsets;
    void *i = realloc(t->indices, t->n * sizeof *t->indices);
    t->indices = i != NULL ? i : t->indices;
    return t->answers != NULL;
}

bool hpx_unwind_table_make(const struct hpx_unwind_bytes *from, struct hpx_unwind_table **to)
{
    enum { FOUR_SIGNED = 0x0b, FOUR = 0x03 };
    struct cursor c = cursor_at(from, from->header);
    const unsigned version = (unsigned)fixed(&c, 1), frame_as = (unsigned)fixed(&c, 1), count_as = (unsigned)fixed(&c, 1);
    const unsigned table_as = (unsigned)fixed(&c, 1);
    *to = NULL;
    if (c.bad || version != 1 || count_as != FOUR || table_as != (PE_DATA | FOUR_SIGNED)) {
        return true;
    }
    (void)pointer(from, &c, frame_as);
    uint64_t n = fixed(&c, 4);
    n = n < (uint64_t)(c.end - c.at) / 8 ? n : (uint64_t)(c.end - c.at) / 8;
    struct making m = {.from = from, .budget = (uint64_t)8 * from->size};
    m.t = calloc(1, sizeof *m.t);
    m.slots = calloc(SLOTS, sizeof *m.slots);
    m.full = m.t == NULL || m.slots == NULL;
    if (!m.full && !c.bad) {
        read_all(&m, c, n);
    }
    free(m.slots);
    const bool any = !m.full && m.t->n > 0, made = any && finish(m.t);
    if (made) {
        *to = m.t;
    } else {
        hpx_unwind_table_free(m.t);
    }
    return made || (!any && !m.full);
}

void hpx_unwind_table_free(struct hpx_unwind_table *t)
{
    if (t != NULL) {
        free(t->offsets);
        free(t->indices);
        free(t->rules);
        free(t->answers);
        free(t);
    }
}

size_t hpx_unwind_table_bytes(const struct hpx_unwind_table *t)
{
    return sizeof *t + t->n * (sizeof *t->offsets + sizeof *t->indices) + t->nrules * sizeof *t->rules +
           ((size_t)1 << t->bits) * sizeof *t->answers;
}

/* A bijection, so that no two addresses have the same. */
static uint64_t key_of(uint32_t offset)
{
    return (offset + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
}

static bool find_answer(const struct answer *a, uint64_t key, uint64_t *value)
{
    *value = atomic_load_explicit(&a->value, memory_order_relaxed);
    return (atomic_load_explicit(&a->check, memory_order_relaxed) ^ *value) == key;
}

static struct hpx_unwind_rule search(const struct hpx_unwind_table *t, uint32_t offset, uint32_t *function, uint16_t *index)
{
    uint32_t low = 0, high = t->n; /* rows below `low` begin at or below offset, those from `high` on above it */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->offsets[middle] <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return (struct hpx_unwind_rule){.how = HPX_UNWIND_NONE};
    }
    *index = t->indices[low - 1] & (uint16_t)~FIRST;
    const struct hpx_unwind_rule r = t->rules[*index];
    if (r.how != HPX_UNWIND_NONE) {
        while (low > 1 && (t->indices[low - 1] & FIRST) == 0) {
            low--;
        }
        *function = t->offsets[low - 1];
    }
    return r;
}

struct hpx_unwind_rule hpx_unwind_table_find_sig(const struct hpx_unwind_table *t, uint32_t offset, uint32_t *function)
{
    const uint64_t key = key_of(offset);
    struct answer *a = &t->answers[key >> (64 - t->bits)];
    uint64_t value;
    uint16_t index = 0;
    if (find_answer(a, key, &value)) {
        *function = (uint32_t)(value >> 32);
        return t->rules[(uint16_t)value];
    }
    const struct hpx_unwind_rule r = search(t, offset, function, &index);
    if (r.how != HPX_UNWIND_NONE) {
        value = (uint64_t)*function << 32 | index;
        atomic_store_explicit(&a->value, value, memory_order_relaxed);
        atomic_store_explicit(&a->check, value ^ key, memory_order_relaxed);
    }
    return r;
}
