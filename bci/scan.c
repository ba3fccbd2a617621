/* SPDX-License-Identifier: BSD-2-Clause */
/* scan.c: the instructions of a method: where each starts, and an event for each that changes size or holds a target. */
#include "rewriter.h"

#define K(kind, n) (HPX_K_##kind << 3 | (n))
#define P(n)       K(PLAIN, n)
#define X(n)       K(POOL, n)
#define C          K(COND, 3)
#define R          K(RETURN, 1)
#define P4         P(1), P(1), P(1), P(1)
#define P8         P4, P4
#define P16        P8, P8

/* clang-format off */
const uint8_t hpx_opcodes[256] = {
    P16,                                                                        /* 00 constants */
    P(2), P(3), X(2), X(3), X(3), P(2), P(2), P(2), P(2), P(2), P4, P(1), P(1), /* 10 pushes; 12 ldc; 15 loads */
    P16,                                                                        /* 20 */
    P4, P(1), P(1), P(2), P(2), P(2), P(2), P(2), P4, P(1),                     /* 30; 36 stores */
    P16, P16, P16, P16,                                                         /* 40 to 7f */
    P4, P(3), P8, P(1), P(1), P(1),                                             /* 80; 84 iinc */
    P8, P(1), C, C, C, C, C, C, C,                                              /* 90; 99 branches */
    C, C, C, C, C, C, C, K(GOTO, 3), K(JSR, 3), K(STOP, 2), K(TABLE, 1), K(LOOKUP, 1), R, R, R, R,
    R, R, X(3), X(3), X(3), X(3), X(3), X(3), X(3), X(5), X(5), X(3), P(2), X(3), P(1), K(STOP, 1), /* b0; b2 fields, calls; bb new */
    X(3), X(3), P(1), P(1), K(WIDE, 1), X(4), C, C, K(GOTO_W, 5), K(JSR_W, 5),  /* c0 */
};
/* clang-format on */

#undef C
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

/* Bytes of the switch at pc, 0 if it does not fit into the code. */
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

/* Bytes of the instruction at pc; 0: it does not fit; -1: unknown opcode behind `wide`. */
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

/* The events' targets, now that it is known where instructions start. */
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

/* Does the operand name a constant? One behind the pool would else name one that is added. */
static bool in_pool(const struct hpx_class *c, const uint8_t *p, uint32_t len, uint32_t rest)
{
    return len <= rest && (len == 2 ? p[1] : hpx_u2(p + 1)) < c->cp_count;
}

int hpx_code_scan(struct hpx_class *c, struct hpx_code *m, bool places)
{
    const uint8_t *code = c->in + m->at;
    struct hpx_event *e = c->events;
    enum hpx_kind kind = HPX_K_PLAIN;
    uint32_t pc = 0, count = 0;
    memset(c->flags, 0, m->len);
    m->places = places;
    while (pc < m->len) {
        uint8_t info = hpx_opcodes[code[pc]];
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
            *e++ = (struct hpx_event){.pc = (uint16_t)pc, .kind = (uint8_t)kind};
            m->returns = m->returns || kind == HPX_K_RETURN;
        }
        pc += len;
        if (places && ends_flow(kind)) {
            *e++ = (struct hpx_event){.pc = (uint16_t)pc, .kind = HPX_K_PLACE};
        }
    }
    m->event_n = (uint32_t)(e - c->events);
    c->steps += count;
    /* From version 50 on nothing may run off the end; before, dead code could. */
    if (pc != m->len || (c->major >= 50 && !ends_flow(kind))) {
        return HPX_LEAVE(MALFORMED);
    }
    return check_targets(c, m);
}
