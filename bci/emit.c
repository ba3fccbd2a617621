/* SPDX-License-Identifier: BSD-2-Clause */
/* emit.c: writes the new code and its exception table. */
#include "rewriter.h"

static inline __attribute__((always_inline)) uint8_t *push_put(uint8_t *p, uint32_t number, uint16_t constant)
{
    if (number <= 5) {
        *p++ = (uint8_t)(HPX_OP_ICONST_0 + number);
    } else if (number <= 127) {
        *p++ = HPX_OP_BIPUSH;
        *p++ = (uint8_t)number;
    } else if (number <= 32767) {
        *p++ = HPX_OP_SIPUSH;
        hpx_put2(p, number);
        p += 2;
    } else if (constant <= 255) {
        *p++ = HPX_OP_LDC;
        *p++ = (uint8_t)constant;
    } else {
        *p++ = HPX_OP_LDC_W;
        hpx_put2(p, constant);
        p += 2;
    }
    return p;
}

static_assert(HPX_PUSH_MAX == 32767, "what sipush takes");

uint8_t *hpx_push_put(uint8_t *p, uint32_t number, uint16_t constant)
{
    return push_put(p, number, constant);
}

static uint8_t *put_variable(const struct hpx_code *m, uint8_t *p, uint8_t op, uint8_t first)
{
    if (m->variable <= 3) {
        *p++ = (uint8_t)(first + m->variable);
    } else {
        *p++ = op;
        *p++ = (uint8_t)m->variable;
    }
    return p;
}

/* With hprofx_bci_opts.kept. */
static uint8_t *put_kept(const struct hpx_class *c, const struct hpx_code *m, uint8_t *p, enum hpx_injected which)
{
    const bool enter = which == HPX_ENTER;
    p = enter ? p : put_variable(m, p, HPX_OP_LLOAD, HPX_OP_LLOAD_0);
    *p = enter ? HPX_OP_GETSTATIC : HPX_OP_INVOKESTATIC;
    hpx_put2(p + 1, c->added.ref[which]);
    p += HPX_CALL_LEN;
    return enter ? put_variable(m, p, HPX_OP_LSTORE, HPX_OP_LSTORE_0) : p;
}

static uint8_t *put_call(const struct hpx_class *c, const struct hpx_code *m, uint8_t *p, enum hpx_injected which)
{
    if (c->call_len[which] == 0) {
        return p;
    }
    if (c->opts->kept != NULL) {
        return put_kept(c, m, p, which);
    }
    const bool self = which == HPX_ENTER && m->self;
    if (self) {
        *p++ = HPX_OP_ALOAD_0;
    }
    if (c->call_len[which] > HPX_CALL_LEN) {
        p = push_put(p, m->passed, m->integer);
    }
    *p = HPX_OP_INVOKESTATIC;
    hpx_put2(p + 1, c->added.ref[self ? HPX_SELF : which]);
    return p + HPX_CALL_LEN;
}

static uint8_t *put_branch(const struct hpx_class *c, uint8_t *p, const struct hpx_event *e, uint8_t op)
{
    uint32_t at = c->map[e->pc], target = c->map[e->target];
    switch (e->width) {
    case HPX_W_WIDE:
        *p = (uint8_t)(op + (HPX_OP_GOTO_W - 0xA7));
        hpx_put4(p + 1, target - at);
        return p + 5;
    case HPX_W_INVERT:
        *p = (uint8_t)(op >= HPX_OP_IFNULL ? op ^ 1u : ((op + 1u) ^ 1u) - 1u);
        hpx_put2(p + 1, 8);
        p[3] = HPX_OP_GOTO_W;
        hpx_put4(p + 4, target - (at + 3));
        return p + 8;
    case HPX_W_TRAMP:
        target = hpx_tramp_new(c, &c->tramps[e->tramp]);
        break;
    default:
        break;
    }
    *p = op;
    hpx_put2(p + 1, target - at);
    return p + 3;
}

static uint8_t *put_switch(struct hpx_class *c, const struct hpx_code *m, uint8_t *p, const struct hpx_event *e)
{
    const uint8_t *code = c->in + m->at;
    uint32_t word, target, at = c->map[e->pc];
    uint32_t n = hpx_switch_targets(c, m, e->pc, &word);
    bool table = e->kind == HPX_K_TABLE;
    *p++ = code[e->pc];
    for (uint32_t pad = ~at & 3u; pad > 0; pad--) {
        *p++ = 0;
    }
    (void)hpx_target(c, m, e->pc, hpx_u4(code + word), &target);
    hpx_put4(p, c->map[target] - at);
    memcpy(p + 4, code + word + 4, table ? 8 : 4);
    p += table ? 12 : 8;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t from = word + 12 + (i - 1) * (table ? 4u : 8u);
        if (!table) {
            memcpy(p, code + from - 4, 4);
            p += 4;
        }
        (void)hpx_target(c, m, e->pc, hpx_u4(code + from), &target);
        hpx_put4(p, c->map[target] - at);
        p += 4;
    }
    c->steps += n;
    return p;
}

static uint8_t *put_trampolines(struct hpx_class *c, uint8_t *p, uint32_t place)
{
    uint32_t n = c->events[place].target;
    for (uint32_t slot = 0; slot < n; slot++) {
        const struct hpx_tramp *t = c->tramps;
        while (t->place != place || t->slot != slot) {
            t++;
            c->steps++;
        }
        *p = HPX_OP_GOTO_W;
        hpx_put4(p + 1, (uint32_t)c->map[t->target] - hpx_tramp_new(c, t));
        p += 5;
    }
    return p;
}

/* Writes the event's instruction. *from: position in the old code after it. */
static uint8_t *put_event(struct hpx_class *c, const struct hpx_code *m, uint8_t *p, const struct hpx_event *e, uint32_t *from)
{
    const uint8_t *code = c->in + m->at;
    uint32_t word;
    switch (e->kind) {
    case HPX_K_RETURN:
        p = m->root ? hpx_root_put(c, p) : p;
        p = put_call(c, m, p, HPX_EXIT);
        *p++ = code[e->pc];
        *from = e->pc + 1u;
        return p;
    case HPX_K_ALLOC:
        *from = e->pc + (hpx_opcodes[code[e->pc]] & 7u);
        memcpy(p, code + e->pc, *from - e->pc);
        return hpx_probe_put(c, m, p + (*from - e->pc), e);
    case HPX_K_STORE:
        *from = e->pc + 3u;
        memcpy(p, code + e->pc, 3);
        p[3] = HPX_OP_INVOKESTATIC;
        hpx_put2(p + 4, c->added.ref[HPX_STORED]);
        return p + 3 + HPX_CALL_LEN;
    case HPX_K_COND:
    case HPX_K_GOTO:
    case HPX_K_JSR:
        *from = e->pc + 3u;
        return put_branch(c, p, e, code[e->pc]);
    case HPX_K_GOTO_W:
    case HPX_K_JSR_W:
        *p = code[e->pc];
        hpx_put4(p + 1, (uint32_t)c->map[e->target] - c->map[e->pc]);
        *from = e->pc + 5u;
        return p + 5;
    case HPX_K_TABLE:
        *from = hpx_switch_targets(c, m, e->pc, &word) * 4;
        *from += word + 8;
        return put_switch(c, m, p, e);
    case HPX_K_LOOKUP:
        *from = hpx_switch_targets(c, m, e->pc, &word) * 8;
        *from += word;
        return put_switch(c, m, p, e);
    default:
        *from = e->pc;
        return put_trampolines(c, p, (uint32_t)(e - c->events));
    }
}

static void put_code(struct hpx_class *c, struct hpx_code *m)
{
    const uint8_t *code = c->in + m->at;
    uint8_t *start = c->body.p + c->body.n, *p = put_call(c, m, start, HPX_ENTER);
    uint32_t from = 0;
    for (const struct hpx_event *e = c->events, *end = e + m->event_n; e < end; e++) {
        memcpy(p, code + from, e->pc - from);
        p += e->pc - from;
        p = put_event(c, m, p, e, &from);
        m->widened += e->kind != HPX_K_PLACE && e->width != HPX_W_SHORT;
    }
    memcpy(p, code + from, m->len - from);
    p += m->len - from;
    if (m->handler != 0) {
        p = put_call(c, m, p, HPX_THROWN);
        *p++ = HPX_OP_ATHROW;
    }
    assert((size_t)(p - start) == m->new_len);
    c->body.n += m->new_len;
    c->steps += m->event_n;
}

/* New end of a range that ends at pc: before the trampolines there. */
static uint32_t range_end(const struct hpx_class *c, const struct hpx_code *m, uint32_t pc)
{
    uint32_t low = 0, high = c->tramp_n > 0 ? m->event_n : 0;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (c->events[middle].pc < pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool place = c->tramp_n > 0 && low < m->event_n && c->events[low].pc == pc && c->events[low].kind == HPX_K_PLACE;
    return c->map[pc] - (place ? 5u * c->events[low].target : 0);
}

static uint32_t put_entry(const struct hpx_class *c, const struct hpx_code *m, uint8_t *p, uint32_t start, uint32_t end)
{
    if (p != NULL && start < end) {
        hpx_put2(p, c->map[start]);
        hpx_put2(p + 2, c->map[end]);
        hpx_put2(p + 4, m->handler);
        hpx_put2(p + 6, 0);
    }
    return start < end;
}

uint32_t hpx_entries_put(struct hpx_class *c, const struct hpx_code *m, uint8_t *p)
{
    const struct hpx_event *e = c->events, *last = e + m->event_n;
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->range_n; i++) {
        uint32_t start = m->ranges[i].start, end = m->ranges[i].end;
        for (; !m->whole && e < last && e->pc < end; e++) {
            if (e->kind == HPX_K_RETURN && e->pc >= start) {
                n += put_entry(c, m, p == NULL ? NULL : p + (size_t)8 * n, start, e->pc);
                start = e->pc + 1u;
            }
        }
        n += put_entry(c, m, p == NULL ? NULL : p + (size_t)8 * n, start, end);
    }
    c->steps += m->range_n > 0 ? m->event_n : 0;
    return n;
}

static int put_handlers(struct hpx_class *c, const struct hpx_code *m)
{
    uint8_t *p = c->body.p + c->body.n;
    hpx_put2(p, m->handler_n + m->entry_n);
    p += 2;
    for (uint32_t i = 0; i < m->handler_n; i++) {
        const uint8_t *h = c->in + m->handlers + 8 * (size_t)i;
        uint32_t start = hpx_u2(h), end = hpx_u2(h + 2), handler = hpx_u2(h + 4);
        bool good = hpx_u2(h + 6) < c->cp_count && start < end && end <= m->len && handler < m->len &&
                    (c->flags[start] & c->flags[handler] & HPX_F_START) && (end == m->len || (c->flags[end] & HPX_F_START));
        if (!good) {
            return HPX_LEAVE(MALFORMED);
        }
        hpx_put2(p, c->map[start]);
        hpx_put2(p + 2, range_end(c, m, end));
        hpx_put2(p + 4, c->map[handler]);
        memcpy(p + 6, h + 6, 2);
        p += 8;
    }
    if (m->entry_n > 0) {
        p += (size_t)8 * hpx_entries_put(c, m, p);
    }
    c->steps += (uint64_t)(m->handler_n + m->entry_n) * (c->tramp_n > 0 ? 16 : 1);
    c->body.n = (size_t)(p - c->body.p);
    return 0;
}

int hpx_code_emit(struct hpx_class *c, struct hpx_code *m)
{
    int left = hpx_buf_reserve(&c->body, m->new_len + 2 + 8 * ((size_t)m->handler_n + m->entry_n));
    if (left != 0) {
        return left;
    }
    put_code(c, m);
    return put_handlers(c, m);
}
