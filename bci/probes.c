/* SPDX-License-Identifier: BSD-2-Clause */
/* probes.c: numbers, measures, writes and reports the probes of SITES and OBJECTS. */
#include "rewriter.h"

static uint32_t site_id(const struct hpx_code *m, const struct hpx_event *e)
{
    return m->first_site + e->target;
}

/* The first id that needs a constant. */
static uint32_t first_constant(const struct hpx_code *m)
{
    return m->first_site > HPX_PUSH_MAX ? m->first_site : HPX_PUSH_MAX + 1u;
}

/* The constant with the id; only ids above HPX_PUSH_MAX have one. */
static uint16_t site_constant(const struct hpx_code *m, uint32_t id)
{
    return id > HPX_PUSH_MAX ? (uint16_t)(m->site_integer + (id - first_constant(m))) : 0;
}

int hpx_sites_number(struct hpx_class *c, struct hpx_code *m)
{
    m->first_site = c->opts->sites != NULL ? c->opts->sites(c->opts->ctx, m->site_n) : c->next_site;
    if (m->first_site > INT32_MAX - (m->site_n - 1)) {
        return HPX_LEAVE(IDS);
    }
    c->next_site = m->first_site + m->site_n;
    int left = 0;
    for (uint32_t id = first_constant(m); left == 0 && id < c->next_site; id++) {
        uint16_t index;
        uint8_t *p = hpx_pool_add(c, 3, 4, &index, &left);
        if (p != NULL) {
            hpx_put4(p, id);
            m->site_integer = id == first_constant(m) ? index : m->site_integer;
        }
    }
    return left;
}

/* hpx_code_scan() has made events only of instructions that allocate. */
static bool has_site(const struct hpx_code *m)
{
    return (m->m.probes & HPROFX_BCI_SITES) != 0;
}

static bool has_object(const struct hpx_class *c, const struct hpx_code *m, const uint8_t *op)
{
    return (m->m.probes & HPROFX_BCI_OBJECTS) && *op != HPX_OP_NEW && hpx_made_by(c, op) != HPX_MADE_CONSTRUCTED;
}

uint32_t hpx_probe_len(const struct hpx_class *c, const struct hpx_code *m, const struct hpx_event *e)
{
    const uint8_t *op = c->in + m->at + e->pc;
    uint32_t len = has_object(c, m, op) ? 1u + (hpx_object_call(*op, hpx_made_by(c, op)) == HPX_MULTI) + HPX_CALL_LEN : 0;
    if (has_site(m)) {
        uint32_t id = site_id(m, e);
        enum hpx_injected call = hpx_site_call(*op);
        len += (call == HPX_ALLOC ? 0u : call == HPX_MULTI ? 1u : 2u) + hpx_push_len(id, site_constant(m, id)) + HPX_CALL_LEN;
    }
    return len;
}

static uint8_t *put_call(const struct hpx_class *c, uint8_t *p, enum hpx_injected which)
{
    *p = HPX_OP_INVOKESTATIC;
    hpx_put2(p + 1, c->added.ref[which]);
    return p + HPX_CALL_LEN;
}

uint8_t *hpx_probe_put(const struct hpx_class *c, const struct hpx_code *m, uint8_t *p, const struct hpx_event *e)
{
    const uint8_t *op = c->in + m->at + e->pc;
    if (has_site(m)) {
        uint32_t id = site_id(m, e);
        enum hpx_injected call = hpx_site_call(*op);
        if (call != HPX_ALLOC) {
            *p++ = HPX_OP_DUP;
        }
        if (call == HPX_ARRAY) {
            *p++ = HPX_OP_ARRAYLENGTH;
        }
        p = put_call(c, hpx_push_put(p, id, site_constant(m, id)), call);
    }
    if (has_object(c, m, op)) {
        enum hpx_injected call = hpx_object_call(*op, hpx_made_by(c, op));
        *p++ = HPX_OP_DUP;
        if (call == HPX_MULTI) {
            *p++ = HPX_OP_ICONST_0;
        }
        p = put_call(c, p, call);
    }
    return p;
}

uint8_t *hpx_root_put(const struct hpx_class *c, uint8_t *p)
{
    *p++ = HPX_OP_ALOAD_0;
    return put_call(c, p, HPX_OBJECT);
}

/* Sets lines[pc] for every pc where a line begins, and HPX_F_LINE. hpx_tables_emit() has checked the tables. */
static void mark_lines(struct hpx_class *c, const struct hpx_code *m, uint16_t *lines)
{
    size_t at = m->attrs;
    for (uint32_t i = 0; i < m->attr_n; i++) {
        size_t end = at + 6 + hpx_u4(c->in + at + 2);
        if (hpx_name_is(hpx_utf8(c, hpx_u2(c->in + at)), "LineNumberTable")) {
            for (at += 8; at < end; at += 4) {
                uint32_t pc = hpx_u2(c->in + at);
                lines[pc] = hpx_u2(c->in + at + 2);
                c->flags[pc] |= HPX_F_LINE;
                c->steps++;
            }
        }
        at = end;
    }
    c->steps += m->attr_n;
}

int hpx_sites_note(struct hpx_class *c, const struct hpx_code *m, uint32_t method)
{
    c->scratch.n = 0;
    if (hpx_buf_reserve(&c->scratch, m->len * sizeof(uint16_t)) != 0 ||
        hpx_buf_reserve(&c->sites, m->site_n * sizeof(struct hpx_site)) != 0) {
        return HPX_NO_MEMORY;
    }
    uint16_t *lines = (uint16_t *)(void *)c->scratch.p, line = 0;
    mark_lines(c, m, lines);
    uint32_t pc = 0;
    for (const struct hpx_event *e = c->events, *end = e + m->event_n; e < end; e++) {
        for (; pc < m->len && pc <= e->pc; pc++) {
            line = c->flags[pc] & HPX_F_LINE ? lines[pc] : line;
        }
        if (e->kind == HPX_K_ALLOC && has_site(m)) {
            struct hpx_site s = {.id = site_id(m, e), .method = method, .at = (uint32_t)m->at + e->pc, .bci = e->pc, .line = line};
            memcpy(c->sites.p + c->sites.n, &s, sizeof(s));
            c->sites.n += sizeof(s);
        }
    }
    c->steps += pc + m->event_n;
    return 0;
}

static struct hprofx_bci_name operand(const struct hpx_class *c, const uint8_t *p)
{
    static const char elements[] = "ZCFDBSIJ";
    if (*p == HPX_OP_NEWARRAY) {
        return p[1] >= 4 && p[1] <= 11 ? (struct hprofx_bci_name){elements + (p[1] - 4), 1} : (struct hprofx_bci_name){NULL, 0};
    }
    return hpx_class_name(c, hpx_u2(p + 1)); /* absent for a maker: its operand is a method */
}

void hpx_sites_tell(const struct hpx_class *c, const struct hprofx_bci_method *methods)
{
    for (size_t at = 0; at < c->sites.n; at += sizeof(struct hpx_site)) {
        struct hpx_site s;
        memcpy(&s, c->sites.p + at, sizeof(s));
        struct hprofx_bci_site told = {.id = s.id, .bci = s.bci, .line = s.line, .opcode = c->in[s.at]};
        told.operand = operand(c, c->in + s.at);
        enum hpx_made made = hpx_made_by(c, c->in + s.at);
        told.arrays = made == HPX_MADE_MANY;
        told.cloned = made == HPX_MADE_CLONED;
        told.method = &methods[s.method];
        c->opts->site(c->opts->ctx, &told);
    }
}
