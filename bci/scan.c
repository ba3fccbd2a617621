/* SPDX-License-Identifier: BSD-2-Clause */
/* scan.c: decodes the instructions of a method: the start of every instruction, and an event for every instruction that changes size or has
 * a target. */
#include "rewriter.h"

#define K(kind, n) (HPX_K_##kind << 3 | (n))
#define P(n)       K(PLAIN, n)
#define X(n)       K(POOL, n)
#define C          K(COND, 3)
#define R          K(RETURN, 1)
#define P4         P(1), P(1), P(1), P(1)
#define P8         P4, P4
#define P16        P8, P8

/* Parameters: put: kind of putfield; invoke: of invokevirtual, invokespecial and invokestatic; alloc and prim: of instructions that
 * allocate, with and without a class in the constant pool. */
/* clang-format off */
#define OPCODES(put, invoke, alloc, prim) { \
    P16,                                                                        /* 00 constants */ \
    P(2), P(3), X(2), X(3), X(3), P(2), P(2), P(2), P(2), P(2), P4, P(1), P(1), /* 10 pushes; 12 ldc; 15 loads */ \
    P16,                                                                        /* 20 */ \
    P4, P(1), P(1), P(2), P(2), P(2), P(2), P(2), P4, P(1),                     /* 30; 36 stores */ \
    P16, P16, P16, P16,                                                         /* 40 to 7f */ \
    P4, P(3), P8, P(1), P(1), P(1),                                             /* 80; 84 iinc */ \
    P8, P(1), C, C, C, C, C, C, C,                                              /* 90; 99 branches */ \
    C, C, C, C, C, C, C, K(GOTO, 3), K(JSR, 3), K(STOP, 2), K(TABLE, 1), K(LOOKUP, 1), R, R, R, R, \
    R, R, X(3), X(3), X(3), K(put, 3), K(invoke, 3), K(invoke, 3), K(invoke, 3), X(5), X(5), K(alloc, 3), K(prim, 2), K(alloc, 3), P(1), K(STOP, 1), /* b0 */ \
    X(3), X(3), P(1), P(1), K(WIDE, 1), K(alloc, 4), C, C, K(GOTO_W, 5), K(JSR_W, 5),  /* c0 */ \
}
/* clang-format on */

const uint8_t hpx_opcodes[256] = OPCODES(POOL, POOL, POOL, PLAIN);
static const uint8_t probing[256] = OPCODES(STORE, INVOKE, ALLOC, ALLOC);

#undef C
#undef OPCODES
#undef P
#undef R
#undef X
#undef K

uint32_t hpx_switch_targets(const struct hpx_class *c, const struct hpx_code *m, uint32_t pc, uint32_t *word)
{
    const uint8_t *code = c->in + m->at;
    *word = (pc + 4) & ~3u;
    if (code[pc] == 0xAB) {
        return hpx_u4(code + *word + 4) + 1;
    }
    return hpx_u4(code + *word + 8) - hpx_u4(code + *word + 4) + 2;
}

/* Bytes of the switch at pc; 0: it exceeds the code. */
static uint32_t switch_len(const struct hpx_class *c, const struct hpx_code *m, uint32_t pc)
{
    const uint8_t *code = c->in + m->at;
    uint32_t word = (pc + 4) & ~3u;
    bool lookup = code[pc] == 0xAB;
    uint32_t fixed = lookup ? 8 : 12;
    if (word + fixed > m->len) {
        return 0;
    }
    uint32_t low = lookup ? 1 : hpx_u4(code + word + 4), high = hpx_u4(code + word + fixed - 4);
    if (lookup ? high > m->len : (int32_t)high < (int32_t)low || high - low >= m->len) {
        return 0;
    }
    uint64_t end = word + fixed + (uint64_t)(high - low + 1) * (lookup ? 8 : 4);
    return end > m->len ? 0 : (uint32_t)end - pc;
}

/* Bytes of the instruction at pc; 0: it exceeds the code; -1: unknown opcode after `wide`. */
static int odd_len(const struct hpx_class *c, const struct hpx_code *m, uint32_t pc, enum hpx_kind *kind)
{
    const uint8_t *code = c->in + m->at;
    if (*kind != HPX_K_WIDE) {
        return (int)switch_len(c, m, pc);
    }
    if (pc + 1 >= m->len) {
        return 0;
    }
    uint8_t op = code[pc + 1];
    *kind = op == HPX_OP_RET ? HPX_K_STOP : HPX_K_PLAIN;
    int len = op == HPX_OP_IINC ? 6 : (op >= 0x15 && op <= 0x19) || (op >= 0x36 && op <= 0x3A) || op == HPX_OP_RET ? 4 : -1;
    return len > 0 && pc + (uint32_t)len > m->len ? 0 : len;
}

static bool ends_flow(enum hpx_kind kind)
{
    return kind == HPX_K_STOP || kind == HPX_K_RETURN || kind == HPX_K_GOTO || kind == HPX_K_GOTO_W || kind == HPX_K_TABLE ||
           kind == HPX_K_LOOKUP;
}

/* Checks and sets the targets of events, now that all starts of instructions are known. */
static int check_targets(struct hpx_class *c, struct hpx_code *m)
{
    const uint8_t *code = c->in + m->at;
    for (struct hpx_event *e = c->events, *end = e + m->event_n; e < end; e++) {
        uint32_t target = 0, word, pc = e->pc;
        bool good = true;
        if (e->kind >= HPX_K_COND && e->kind <= HPX_K_JSR) {
            good = hpx_target(c, m, pc, (uint32_t)(int32_t)(int16_t)hpx_u2(code + pc + 1), &target);
        } else if (e->kind == HPX_K_GOTO_W || e->kind == HPX_K_JSR_W) {
            good = hpx_target(c, m, pc, hpx_u4(code + pc + 1), &target);
        } else if (e->kind == HPX_K_TABLE || e->kind == HPX_K_LOOKUP) {
            uint32_t n = hpx_switch_targets(c, m, pc, &word);
            uint32_t step = e->kind == HPX_K_TABLE ? 4 : 8, first = word + 12;
            good = hpx_target(c, m, pc, hpx_u4(code + word), &target);
            for (uint32_t i = 1; good && i < n; i++) {
                good = hpx_target(c, m, pc, hpx_u4(code + first + (size_t)(i - 1) * step), &target);
            }
            c->steps += n;
        }
        if (!good) {
            return HPX_LEAVE(MALFORMED);
        }
        if (e->kind >= HPX_K_COND && e->kind <= HPX_K_JSR_W) {
            e->target = (uint16_t)target;
        }
    }
    c->steps += m->event_n;
    return 0;
}

/* Whether the operand refers to a constant of the input. An index past its end would refer to an added constant. */
static bool in_pool(const struct hpx_class *c, const uint8_t *p, uint32_t len, uint32_t rest)
{
    return len <= rest && (len == 2 ? p[1] : hpx_u2(p + 1)) < c->cp_count;
}

/* Adds an event if the instruction at pc gets a probe. NULL: its operand refers to no constant. */
static struct hpx_event *add_allocation(const struct hpx_class *c, struct hpx_code *m, uint32_t pc, uint32_t len, struct hpx_event *e)
{
    const uint8_t *p = c->in + m->at + pc;
    if (*p == HPX_OP_NEWARRAY ? pc + len > m->len : !in_pool(c, p, len, m->len - pc)) {
        return NULL;
    }
    bool invoke = *p >= HPX_OP_INVOKEVIRTUAL && *p <= HPX_OP_INVOKESTATIC;
    enum hpx_made made = invoke ? hpx_made_by(c, p) : HPX_MADE_NONE;
    bool makes = !invoke || made != HPX_MADE_NONE;
    bool object = (m->m.probes & HPROFX_BCI_OBJECTS) && *p != HPX_OP_NEW && makes && made != HPX_MADE_CONSTRUCTED;
    bool site = (m->m.probes & HPROFX_BCI_SITES) && makes;
    if (site || object) {
        *e++ = (struct hpx_event){.pc = (uint16_t)pc, .kind = HPX_K_ALLOC, .target = (uint16_t)m->site_n};
    }
    m->needs |= (site ? 1u << hpx_site_call(*p) : 0) | (object ? 1u << hpx_object_call(*p, made) : 0);
    m->site_n += site;
    m->object_n += object;
    return e;
}

/* The same for a store. */
static struct hpx_event *add_store(const struct hpx_class *c, struct hpx_code *m, uint32_t pc, struct hpx_event *e)
{
    const uint8_t *p = c->in + m->at + pc;
    if (!in_pool(c, p, 3, m->len - pc)) {
        return NULL;
    }
    if ((m->m.probes & HPROFX_BCI_STORES) && c->opts->stores != NULL && hpx_is_field(c, hpx_u2(p + 1), c->opts->stores)) {
        *e++ = (struct hpx_event){.pc = (uint16_t)pc, .kind = HPX_K_STORE};
        m->needs |= 1u << HPX_STORED;
        m->store_n++;
    }
    return e;
}

/* Compiled once per table, so that CALLS alone do not pay for the other kinds. */
static inline __attribute__((always_inline)) int scan(struct hpx_class *c, struct hpx_code *m, bool places, const uint8_t *opcodes)
{
    const uint8_t *code = c->in + m->at;
    struct hpx_event *e = c->events;
    enum hpx_kind kind = HPX_K_PLAIN;
    uint32_t pc = 0, count = 0, returns = 0;
    memset(c->flags, 0, m->len);
    m->places = places;
    m->site_n = m->object_n = m->store_n = 0;
    m->needs = m->root ? 1u << HPX_OBJECT : 0;
    while (pc < m->len) {
        uint8_t info = opcodes[code[pc]];
        uint32_t len = info & 7u;
        kind = info >> 3;
        count++;
        c->flags[pc] = HPX_F_START;
        if (hpx_unlikely(kind == HPX_K_UNKNOWN)) {
            return HPX_LEAVE(OPCODE);
        }
        if (hpx_unlikely(kind == HPX_K_WIDE || kind >= HPX_K_TABLE)) {
            int odd = odd_len(c, m, pc, &kind);
            if (odd <= 0) {
                return odd < 0 ? HPX_LEAVE(OPCODE) : HPX_LEAVE(MALFORMED);
            }
            len = (uint32_t)odd;
        }
        if (kind == HPX_K_POOL && !in_pool(c, code + pc, len, m->len - pc)) {
            return HPX_LEAVE(MALFORMED);
        }
        if (kind >= HPX_K_RETURN) {
            if (opcodes != hpx_opcodes && kind >= HPX_K_INVOKE && kind <= HPX_K_STORE) {
                e = kind == HPX_K_STORE ? add_store(c, m, pc, e) : add_allocation(c, m, pc, len, e);
                if (e == NULL) {
                    return HPX_LEAVE(MALFORMED);
                }
            } else {
                *e++ = (struct hpx_event){.pc = (uint16_t)pc, .kind = (uint8_t)kind};
                returns += kind == HPX_K_RETURN;
            }
        }
        pc += len;
        if (places && ends_flow(kind)) {
            *e++ = (struct hpx_event){.pc = (uint16_t)pc, .kind = HPX_K_PLACE};
        }
    }
    m->event_n = (uint32_t)(e - c->events);
    m->returns = returns > 0;
    m->object_n += m->root ? returns : 0;
    c->steps += count;
    /* From version 50 on, control must not run off the end; before, dead code could. */
    if (pc != m->len || (c->major >= 50 && !ends_flow(kind))) {
        return HPX_LEAVE(MALFORMED);
    }
    return check_targets(c, m);
}

int hpx_code_scan(struct hpx_class *c, struct hpx_code *m, bool places)
{
    return m->m.probes & ~(unsigned)HPROFX_BCI_CALLS ? scan(c, m, places, probing) : scan(c, m, places, hpx_opcodes);
}
