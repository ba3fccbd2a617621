/* SPDX-License-Identifier: BSD-2-Clause */
/* expand.c: writes the frames of trampolines: the frame of the target, with every local and stack type written out.
 *
 * A compressed frame refers to the locals of the frame before it, and the first one to the locals at the method's entry. Those are in no
 * table: they are derived from the descriptor, and Class constants are added for its classes. */
#include "rewriter.h"
#include <stdlib.h>

enum { EARLY_LARVAL = 246, CHOP_FIRST = 248, CHOP_LAST = 250, FULL = 255 };
enum { TYPE_INT = 1, TYPE_FLOAT = 2, TYPE_DOUBLE = 3, TYPE_LONG = 4, TYPE_OBJECT = 7, TYPE_UNINITIALIZED = 8 };
enum { CLASS = 7, UTF8 = 1 };

#define MADE 0x80000000u /* a derived type, which is in no table: MADE | tag << 16 | class */

struct locals {
    uint32_t *at; /* offset of the type in the input, or MADE */
    uint32_t n, cap;
};

static int push(struct locals *l, uint32_t type)
{
    if (l->n >= l->cap) {
        return HPX_LEAVE(MALFORMED);
    }
    l->at[l->n++] = type;
    return 0;
}

/* Index of a Class constant with a name of n bytes. */
static int add_class(struct hpx_class *c, const char *name, uint32_t n, uint32_t *class)
{
    uint16_t utf8, index;
    int left;
    uint8_t *p = hpx_pool_add(c, UTF8, n + 2, &utf8, &left);
    if (p == NULL) {
        return left;
    }
    hpx_put2(p, n);
    memcpy(p + 2, name, n);
    p = hpx_pool_add(c, CLASS, 2, &index, &left);
    if (p == NULL) {
        return left;
    }
    hpx_put2(p, utf8);
    *class = index;
    return 0;
}

/* Adds the type of the parameter at desc[*i]. */
static int push_parameter(struct hpx_class *c, struct hprofx_bci_name desc, uint32_t *i, struct locals *l)
{
    static const char letters[] = "ZBCSIFDJ";
    static const uint8_t tags[] = {TYPE_INT, TYPE_INT, TYPE_INT, TYPE_INT, TYPE_INT, TYPE_FLOAT, TYPE_DOUBLE, TYPE_LONG};
    uint32_t start = *i, class = 0;
    while (*i < desc.len && desc.at[*i] == '[') {
        ++*i;
    }
    if (*i >= desc.len) {
        return HPX_LEAVE(MALFORMED);
    }
    bool array = *i > start;
    if (desc.at[*i] == 'L') {
        const char *semicolon = memchr(desc.at + *i, ';', desc.len - *i);
        if (semicolon == NULL) {
            return HPX_LEAVE(MALFORMED);
        }
        *i = (uint32_t)(semicolon - desc.at);
    } else {
        const char *letter = memchr(letters, desc.at[*i], sizeof(letters) - 1);
        if (letter == NULL) {
            return HPX_LEAVE(MALFORMED);
        }
        if (!array) {
            ++*i;
            return push(l, MADE | (uint32_t)tags[letter - letters] << 16);
        }
    }
    ++*i;
    uint32_t from = array ? start : start + 1, to = array ? *i : *i - 1;
    int left = add_class(c, desc.at + from, to - from, &class);
    return left != 0 ? left : push(l, MADE | (uint32_t)TYPE_OBJECT << 16 | class);
}

static int push_entry(struct hpx_class *c, const struct hpx_code *m, struct locals *l)
{
    struct hprofx_bci_name desc = m->m.desc;
    int left = 0;
    if (!(m->m.access & 0x0008)) {
        left = push(l, MADE | (uint32_t)TYPE_OBJECT << 16 | c->this_class);
    }
    uint32_t i = 1;
    while (left == 0 && i < desc.len && desc.at[i] != ')') {
        left = push_parameter(c, desc, &i, l);
    }
    c->steps += i;
    return left;
}

/* Updates the locals with a frame of the table. */
static int apply(struct hpx_class *c, const struct hpx_code *m, const struct hpx_frame *f, struct locals *l)
{
    if (f->type == FULL) {
        l->n = 0;
    } else if (f->type >= CHOP_FIRST && f->type <= CHOP_LAST) {
        uint32_t gone = 251u - f->type;
        if (l->n < gone) {
            return HPX_LEAVE(MALFORMED);
        }
        l->n -= gone;
    }
    size_t at = f->locals;
    int left = 0;
    for (uint32_t i = 0; left == 0 && i < f->local_n; i++) {
        left = push(l, (uint32_t)at);
        at += hpx_type_len(c, at, m->frames_end);
    }
    return left;
}

static uint8_t *put_type(const struct hpx_class *c, uint8_t *p, uint32_t type)
{
    if (type & MADE) {
        *p++ = (uint8_t)(type >> 16 & 0xFF);
        if ((type >> 16 & 0xFF) == TYPE_OBJECT) {
            hpx_put2(p, type & 0xFFFF);
            p += 2;
        }
        return p;
    }
    size_t len = hpx_type_len(c, type, c->n);
    memcpy(p, c->in + type, len);
    if (*p == TYPE_UNINITIALIZED) {
        hpx_put2(p + 1, c->map[hpx_u2(p + 1)]);
    }
    return p + len;
}

/* Expands the frame and gives it to the trampolines that lead to it. */
static int write_out(struct hpx_class *c, const struct hpx_code *m, const struct hpx_frame *f, const struct locals *l)
{
    if (c->in[f->at] == EARLY_LARVAL && (c->flags[f->pc] & HPX_F_TRAMP)) {
        return HPX_LEAVE(BRANCH);
    }
    int left = hpx_buf_reserve(&c->scratch, 4 + 3 * ((size_t)l->n + f->stack_n));
    if (left != 0) {
        return left;
    }
    uint8_t *start = c->scratch.p + c->scratch.n, *p = start;
    hpx_put2(p, l->n);
    p += 2;
    for (uint32_t i = 0; i < l->n; i++) {
        p = put_type(c, p, l->at[i]);
    }
    hpx_put2(p, f->stack_n);
    p += 2;
    size_t at = f->stack;
    for (uint32_t i = 0; i < f->stack_n; i++) {
        p = put_type(c, p, (uint32_t)at);
        at += hpx_type_len(c, at, m->frames_end);
    }
    for (uint32_t i = 0; i < c->tramp_n; i++) {
        if (c->tramps[i].target == f->pc) {
            c->tramps[i].types = (uint32_t)c->scratch.n;
            c->tramps[i].types_len = (uint32_t)(p - start);
        }
    }
    c->scratch.n += (size_t)(p - start);
    c->steps += (uint64_t)l->n + f->stack_n + c->tramp_n;
    return 0;
}

/* Whether trampolines are placed right before the frame. Their frames then come between it and the frame that it builds on. *e: event to
 * continue from. */
static bool behind_trampolines(const struct hpx_class *c, const struct hpx_code *m, const struct hpx_frame *f, uint32_t *e)
{
    bool behind = false;
    for (; *e < m->event_n && c->events[*e].pc <= f->pc; ++*e) {
        behind = behind || (c->events[*e].kind == HPX_K_PLACE && c->events[*e].target > 0);
    }
    return behind && f->type != FULL;
}

int hpx_tramps_expand(struct hpx_class *c, const struct hpx_code *m)
{
    c->scratch.n = 0;
    struct locals l = {malloc((m->max_locals + 1) * sizeof(uint32_t)), 0, m->max_locals};
    if (l.at == NULL) {
        return HPX_NO_MEMORY;
    }
    struct hpx_frame f = {.pc = UINT32_MAX, .end = m->frames};
    int left = push_entry(c, m, &l);
    uint32_t e = 0;
    for (uint32_t i = 0; left == 0 && i < m->frame_n; i++) {
        left = hpx_frame_next(c, m, &f);
        left = left != 0 ? left : apply(c, m, &f, &l);
        bool behind = left == 0 && behind_trampolines(c, m, &f, &e);
        if (behind) {
            c->tramps[c->tramp_n++] = (struct hpx_tramp){.place = HPX_NO_PLACE, .target = (uint16_t)f.pc};
        }
        if (left == 0 && (behind || (c->flags[f.pc] & HPX_F_TRAMP))) {
            left = write_out(c, m, &f, &l);
        }
        if (left == 0 && c->steps > c->steps_max) {
            left = HPX_LEAVE(LIMIT);
        }
    }
    c->steps += m->frames_end - m->frames;
    free(l.at);
    return left;
}
