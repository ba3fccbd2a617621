/* SPDX-License-Identifier: BSD-2-Clause */
/* init.c: finds the code of a constructor where `this` is surely initialized, without type inference.
 *
 * On a straight line of code, every `new` is followed by at most one constructor call on its object. If there were more constructor calls
 * than `new` instructions, one of them was super(...) or this(...). The count restarts at a stack map frame: the frame says whether `this`
 * is uninitialized, and which objects are. The result may be later than the true point, never earlier. */
#include "rewriter.h"

enum { CHOP_FIRST = 248, CHOP_LAST = 250, FULL = 255 };
enum { TYPE_UNINITIALIZED_THIS = 6, TYPE_UNINITIALIZED = 8 };
enum { DISTINCT = 16 };
enum { TAG_INTEGER = 3, TAG_CLASS = 7, TAG_STRING = 8 }; /* of constants */

struct state {
    bool uninit;      /* `this` may be uninitialized */
    uint32_t pending; /* uninitialized objects: an upper bound */
    /* Of the last frame: number of locals, uninitialized objects among them, whether local 0 is an uninitialized `this`. */
    uint32_t locals, locals_pending;
    bool frame_uninit;
};

/* Number of types in a method's descriptor. Stops above 255, the JVM's limit. */
static uint32_t parameters(struct hpx_class *c, struct hprofx_bci_name desc)
{
    uint32_t n = 0, i = 1;
    for (; i < desc.len && desc.at[i] != ')' && n <= 255; i++, n++) {
        while (i < desc.len && desc.at[i] == '[') {
            i++;
        }
        if (i < desc.len && desc.at[i] == 'L') {
            const char *semicolon = memchr(desc.at + i, ';', desc.len - i);
            i = semicolon == NULL ? desc.len : (uint32_t)(semicolon - desc.at);
        }
    }
    c->steps += i;
    return n;
}

/* Number of distinct uninitialized objects among n types; if there are too many to compare, every type counts. *this0: the first is an
 * uninitialized `this`. false: another one is. */
static bool count_types(struct hpx_class *c, size_t at, size_t end, uint32_t n, uint32_t *pending, bool *this0)
{
    uint16_t seen[DISTINCT];
    uint32_t seen_n = 0;
    *pending = 0;
    *this0 = false;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t tag = c->in[at];
        if (tag == TYPE_UNINITIALIZED_THIS) {
            if (i > 0) {
                return false;
            }
            *this0 = true;
        } else if (tag == TYPE_UNINITIALIZED) {
            uint16_t pc = hpx_u2(c->in + at + 1);
            bool known = false;
            for (uint32_t k = 0; k < seen_n; k++) {
                known = known || seen[k] == pc;
            }
            if (!known && seen_n < DISTINCT) {
                seen[seen_n++] = pc;
            }
            *pending += known ? 0 : 1;
        }
        at += hpx_type_len(c, at, end);
    }
    c->steps += n;
    return true;
}

/* Sets the state from a frame. false: unknown shape of frame. */
static bool at_frame(struct hpx_class *c, const struct hpx_frame *f, struct state *s)
{
    uint32_t pending;
    bool this0, ignored;
    if (f->type == FULL) {
        if (!count_types(c, f->locals, f->end, f->local_n, &s->locals_pending, &s->frame_uninit)) {
            return false;
        }
        s->locals = f->local_n;
    } else if (f->type >= CHOP_FIRST && f->type <= CHOP_LAST) {
        uint32_t gone = 251u - f->type;
        s->locals = s->locals > gone ? s->locals - gone : 0;
        s->frame_uninit = s->frame_uninit && s->locals > 0;
    } else if (f->local_n > 0) {
        if (!count_types(c, f->locals, f->end, f->local_n, &pending, &this0) || this0) {
            return false;
        }
        s->locals += f->local_n;
        s->locals_pending += pending;
    }
    /* An uninitialized `this` on the stack does not count as an object: the locals already show it. */
    size_t at = f->stack;
    uint32_t n = f->stack_n;
    while (n > 0 && c->in[at] == TYPE_UNINITIALIZED_THIS) {
        at++;
        n--;
    }
    if (!count_types(c, at, f->end, n, &pending, &ignored)) {
        return false;
    }
    s->uninit = s->frame_uninit;
    s->pending = s->locals_pending + pending;
    return true;
}

static void at_instruction(const struct hpx_class *c, const uint8_t *p, struct state *s)
{
    if (*p == HPX_OP_NEW) {
        s->pending++;
    } else if (*p == HPX_OP_INVOKESPECIAL && s->uninit && hpx_is_init(c, hpx_u2(p + 1))) {
        if (s->pending > 0) {
            s->pending--;
        } else {
            s->uninit = false;
        }
    }
}

static void add_pc(struct hpx_code *m, uint32_t pc, bool *open, bool covered)
{
    if (covered && !*open) {
        m->ranges[m->range_n].start = (uint16_t)pc;
    } else if (!covered && *open) {
        m->ranges[m->range_n++].end = (uint16_t)pc;
    }
    *open = covered;
}

/* Versions below 50 have no frames: only the straight line from the start is considered, and no handler may leave it. */
static void straight_ranges(struct hpx_class *c, struct hpx_code *m)
{
    const uint8_t *code = c->in + m->at;
    struct state s = {.uninit = true};
    uint32_t pc = 0;
    for (; pc < m->len && s.uninit; pc++) {
        if (c->flags[pc] & HPX_F_START) {
            enum hpx_kind kind = hpx_opcodes[code[pc]] >> 3;
            if (kind > HPX_K_WIDE) {
                return;
            }
            at_instruction(c, code + pc, &s);
        }
    }
    while (pc < m->len && !(c->flags[pc] & HPX_F_START)) {
        pc++;
    }
    c->steps += pc + m->handler_n;
    for (uint32_t i = 0; i < m->handler_n; i++) {
        if (hpx_u2(c->in + m->handlers + 8 * (size_t)i) < pc) {
            return;
        }
    }
    if (pc < m->len) {
        m->ranges[m->range_n++] = (struct hpx_range){(uint16_t)pc, (uint16_t)m->len};
    }
}

/* Every branch must lead to a frame; otherwise the straight line has another entry. */
static bool targets_have_frames(struct hpx_class *c, const struct hpx_code *m)
{
    const uint8_t *code = c->in + m->at;
    for (uint32_t i = 0; i < m->event_n; i++) {
        const struct hpx_event *e = &c->events[i];
        if (e->kind >= HPX_K_COND && e->kind <= HPX_K_JSR_W) {
            if (e->kind == HPX_K_JSR || e->kind == HPX_K_JSR_W || !(c->flags[e->target] & HPX_F_FRAME)) {
                return false;
            }
        } else if (e->kind == HPX_K_TABLE || e->kind == HPX_K_LOOKUP) {
            uint32_t word, target, n = hpx_switch_targets(c, m, e->pc, &word);
            uint32_t step = e->kind == HPX_K_TABLE ? 4 : 8;
            for (uint32_t k = 0; k < n; k++) {
                uint32_t at = k == 0 ? word : word + 12 + (k - 1) * step;
                if (!hpx_target(c, m, e->pc, hpx_u4(code + at), &target) || !(c->flags[target] & HPX_F_FRAME)) {
                    return false;
                }
            }
            c->steps += n;
        }
    }
    for (uint32_t i = 0; i < m->handler_n; i++) {
        uint32_t pc = hpx_u2(c->in + m->handlers + 8 * (size_t)i + 4);
        if (pc >= m->len || !(c->flags[pc] & HPX_F_FRAME)) {
            return false;
        }
    }
    c->steps += m->event_n + m->handler_n;
    return true;
}

int hpx_init_ranges(struct hpx_class *c, struct hpx_code *m)
{
    m->range_n = 0;
    if (!m->constructor) {
        m->ranges[m->range_n++] = (struct hpx_range){0, (uint16_t)m->len};
        return 0;
    }
    if (c->major < 50) {
        straight_ranges(c, m);
        return 0;
    }
    int left = hpx_frames_mark(c, m);
    if (left != 0 || !targets_have_frames(c, m)) {
        return left;
    }
    struct state s = {.uninit = true, .frame_uninit = true, .locals = 1 + parameters(c, m->m.desc)};
    struct hpx_frame f = {.pc = UINT32_MAX, .end = m->frames};
    uint32_t frame = 0;
    bool open = false;
    for (uint32_t pc = 0; pc < m->len; pc++) {
        if (!(c->flags[pc] & HPX_F_START)) {
            continue;
        }
        if (c->flags[pc] & HPX_F_FRAME) {
            left = frame++ < m->frame_n ? hpx_frame_next(c, m, &f) : HPX_LEAVE(MALFORMED);
            if (left != 0) {
                return left;
            }
            if (!at_frame(c, &f, &s)) {
                m->range_n = 0;
                return 0;
            }
        }
        if (open && s.uninit && m->range_n == HPX_RANGES - 1) {
            m->range_n = 0;
            return 0;
        }
        add_pc(m, pc, &open, !s.uninit);
        at_instruction(c, c->in + m->at + pc, &s);
    }
    if (open) {
        m->ranges[m->range_n++].end = (uint16_t)m->len;
    }
    c->steps += m->len;
    return 0;
}

/* Instructions that neither call nor load a class nor throw, so that the VM runs no method for them. putfield sets a field of `this` here.
 */
static bool is_quiet(const struct hpx_class *c, const uint8_t *p)
{
    const uint8_t op = *p;
    if (op >= HPX_OP_LDC && op <= HPX_OP_LDC2_W) {
        uint32_t index = op == HPX_OP_LDC ? p[1] : hpx_u2(p + 1);
        uint8_t tag = index < c->cp_count && c->cp[index] != 0 ? c->in[c->cp[index]] : 0;
        return tag >= TAG_INTEGER && tag <= TAG_STRING && tag != TAG_CLASS;
    }
    const bool divides = op == 0x6C || op == 0x6D || op == 0x70 || op == 0x71;
    return op <= HPX_OP_SIPUSH || (op >= 0x15 && op <= 0x2D) || (op >= 0x57 && op <= 0x83 && !divides) || (op >= 0x85 && op <= 0x93) ||
           op == 0xB5;
}

bool hpx_init_is_direct(struct hpx_class *c, const struct hpx_code *m)
{
    const uint8_t *code = c->in + m->at;
    uint32_t pc = 0;
    while (pc < m->len && is_quiet(c, code + pc)) {
        pc += hpx_opcodes[code[pc]] & 7u;
        c->steps++;
    }
    return pc + 2 < m->len && code[pc] == HPX_OP_INVOKESPECIAL && hpx_is_init(c, hpx_u2(code + pc + 1));
}
