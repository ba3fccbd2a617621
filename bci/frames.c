/* SPDX-License-Identifier: BSD-2-Clause */
/* frames.c: reads the StackMapTable and writes it with every frame at its new position. */
#include "rewriter.h"

enum {
    SAME_LAST = 63,
    SAME_1_LAST = 127,
    EARLY_LARVAL = 246,
    SAME_1_EXT = 247,
    CHOP_FIRST = 248,
    SAME_EXT = 251,
    APPEND_LAST = 254,
    FULL = 255
};
enum { TYPE_OBJECT = 7, TYPE_UNINITIALIZED = 8 };

size_t hpx_type_len(const struct hpx_class *c, size_t p, size_t end)
{
    if (p >= end) {
        return 0;
    }
    uint8_t tag = c->in[p];
    size_t len = tag < TYPE_OBJECT ? 1 : tag <= TYPE_UNINITIALIZED ? 3 : 0;
    return len <= end - p ? len : 0;
}

static bool is_new(const struct hpx_class *c, const struct hpx_code *m, uint32_t pc)
{
    return pc < m->len && (c->flags[pc] & HPX_F_START) && c->in[m->at + pc] == HPX_OP_NEW;
}

/* Skips n types at f->end. */
static int skip_types(const struct hpx_class *c, const struct hpx_code *m, struct hpx_frame *f, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        size_t len = hpx_type_len(c, f->end, m->frames_end);
        if (len == 0) {
            return f->end >= m->frames_end || c->in[f->end] <= TYPE_UNINITIALIZED ? HPX_LEAVE(MALFORMED) : HPX_LEAVE(FRAME);
        }
        uint8_t tag = c->in[f->end];
        if (len == 3 && (tag == TYPE_OBJECT ? hpx_u2(c->in + f->end + 1) >= c->cp_count : !is_new(c, m, hpx_u2(c->in + f->end + 1)))) {
            return HPX_LEAVE(MALFORMED);
        }
        f->end += len;
    }
    return 0;
}

/* Reads a u2 at f->end and skips it. */
static bool take(const struct hpx_class *c, const struct hpx_code *m, struct hpx_frame *f, uint32_t *v)
{
    if (m->frames_end - f->end < 2) {
        return false;
    }
    *v = hpx_u2(c->in + f->end);
    f->end += 2;
    return true;
}

/* Reads the types after the offset, according to the frame's type. */
static int read_types(const struct hpx_class *c, const struct hpx_code *m, struct hpx_frame *f)
{
    f->local_n = f->stack_n = 0;
    if (f->type == FULL) {
        if (!take(c, m, f, &f->local_n)) {
            return HPX_LEAVE(MALFORMED);
        }
    } else if (f->type > SAME_EXT) {
        f->local_n = f->type - (uint32_t)SAME_EXT;
    }
    f->locals = f->end;
    int left = skip_types(c, m, f, f->local_n);
    if (left != 0) {
        return left;
    }
    if (f->type == FULL) {
        if (!take(c, m, f, &f->stack_n)) {
            return HPX_LEAVE(MALFORMED);
        }
    } else if ((f->type > SAME_LAST && f->type <= SAME_1_LAST) || f->type == SAME_1_EXT) {
        f->stack_n = 1;
    }
    f->stack = f->end;
    return skip_types(c, m, f, f->stack_n);
}

int hpx_frame_next(const struct hpx_class *c, const struct hpx_code *m, struct hpx_frame *f)
{
    uint32_t delta, n;
    f->at = f->end;
    if (f->end < m->frames_end && c->in[f->end] == EARLY_LARVAL) {
        f->end++;
        if (!take(c, m, f, &n) || (m->frames_end - f->end) / 2 < n) {
            return HPX_LEAVE(MALFORMED);
        }
        f->end += 2 * (size_t)n;
    }
    f->base = f->end;
    if (f->end >= m->frames_end) {
        return HPX_LEAVE(MALFORMED);
    }
    f->type = c->in[f->end++];
    if (f->type <= SAME_1_LAST) {
        delta = f->type & 63u;
    } else if (f->type < SAME_1_EXT) {
        return HPX_LEAVE(FRAME);
    } else if (!take(c, m, f, &delta)) {
        return HPX_LEAVE(MALFORMED);
    }
    f->pc += delta + 1;
    if (f->pc >= m->len || !(c->flags[f->pc] & HPX_F_START)) {
        return HPX_LEAVE(MALFORMED);
    }
    return read_types(c, m, f);
}

int hpx_frames_mark(struct hpx_class *c, const struct hpx_code *m)
{
    struct hpx_frame f = {.pc = UINT32_MAX, .end = m->frames};
    for (uint32_t i = 0; i < m->frame_n; i++) {
        int left = hpx_frame_next(c, m, &f);
        if (left != 0) {
            return left;
        }
        c->flags[f.pc] |= HPX_F_FRAME;
    }
    c->steps += m->frames_end - m->frames;
    return 0;
}

/* Writer of frames: output, count, position of the last frame. */
struct out {
    uint8_t *p;
    uint32_t n, last;
};

static uint32_t delta_to(struct out *o, uint32_t at)
{
    uint32_t delta = at - o->last - 1;
    o->last = at;
    o->n++;
    return delta;
}

/* Copies the types in [from, to) of the input; offsets of `new` instructions are moved. */
static uint8_t *put_types(const struct hpx_class *c, uint8_t *p, size_t from, size_t to)
{
    while (from < to) {
        size_t len = hpx_type_len(c, from, to);
        memcpy(p, c->in + from, len);
        if (*p == TYPE_UNINITIALIZED) {
            hpx_put2(p + 1, c->map[hpx_u2(p + 1)]);
        }
        from += len;
        p += len;
    }
    return p;
}

static void put_full(const struct hpx_class *c, struct out *o, uint32_t delta, const struct hpx_tramp *t)
{
    *o->p = FULL;
    hpx_put2(o->p + 1, delta);
    memcpy(o->p + 3, c->scratch.p + t->types, t->types_len);
    o->p += 3 + t->types_len;
}

/* Writes the frame at its new position. A type that includes its delta grows to the extended form if the delta no longer fits. */
static void put_moved(struct hpx_class *c, struct out *o, const struct hpx_frame *f, bool behind)
{
    uint32_t delta = delta_to(o, c->map[f->pc]);
    size_t prefix = f->base - f->at, body = f->base + (f->type <= SAME_1_LAST ? 1 : 3);
    memcpy(o->p, c->in + f->at, prefix);
    o->p += prefix;
    if (behind) {
        const struct hpx_tramp *t = c->tramps;
        while (t->place != HPX_NO_PLACE || t->target != f->pc) {
            t++;
            c->steps++;
        }
        put_full(c, o, delta, t);
        return;
    }
    if (f->type <= SAME_1_LAST && delta <= SAME_LAST) {
        *o->p++ = (uint8_t)((f->type & 64u) | delta);
    } else {
        *o->p = f->type <= SAME_LAST ? SAME_EXT : f->type <= SAME_1_LAST ? SAME_1_EXT : f->type;
        hpx_put2(o->p + 1, delta);
        o->p += 3;
    }
    if (f->type != FULL) {
        o->p = put_types(c, o->p, body, f->end);
        return;
    }
    hpx_put2(o->p, f->local_n);
    o->p = put_types(c, o->p + 2, f->locals, f->stack - 2);
    hpx_put2(o->p, f->stack_n);
    o->p = put_types(c, o->p + 2, f->stack, f->end);
}

static int put_trampolines(struct hpx_class *c, struct out *o, const struct hpx_event *place)
{
    uint32_t index = (uint32_t)(place - c->events);
    for (uint32_t slot = 0; slot < place->target; slot++) {
        const struct hpx_tramp *t = c->tramps;
        while (t->place != index || t->slot != slot) {
            t++;
            c->steps++;
        }
        put_full(c, o, delta_to(o, hpx_tramp_new(c, t)), t);
    }
    return c->steps > c->steps_max ? HPX_LEAVE(LIMIT) : 0;
}

/* Writes the frames of the trampolines of all places up to pc, from *e on. */
static int put_places(struct hpx_class *c, const struct hpx_code *m, struct out *o, const struct hpx_event **e, uint32_t pc)
{
    const struct hpx_event *end = c->events + m->event_n;
    int left = 0;
    for (; left == 0 && *e < end && (*e)->pc <= pc; ++*e) {
        if ((*e)->kind == HPX_K_PLACE && (*e)->target > 0) {
            left = put_trampolines(c, o, *e);
        }
    }
    return left;
}

/* The handler's frame: no locals, because an exception may come from anywhere; the stack has the exception. */
static void put_handler(const struct hpx_class *c, const struct hpx_code *m, struct out *o)
{
    *o->p = FULL;
    hpx_put2(o->p + 1, delta_to(o, m->handler));
    hpx_put2(o->p + 3, 0);
    hpx_put2(o->p + 5, 1);
    o->p[7] = TYPE_OBJECT;
    hpx_put2(o->p + 8, c->added.throwable);
    o->p += 10;
}

int hpx_frames_emit(struct hpx_class *c, const struct hpx_code *m)
{
    size_t tramps = 0;
    for (uint32_t i = 0; i < c->tramp_n; i++) {
        tramps += 3 + c->tramps[i].types_len;
    }
    int left = hpx_buf_reserve(&c->body, 8 + (m->frames_end - m->frames) * 3 + tramps + 10);
    if (left != 0) {
        return left;
    }
    uint8_t *start = c->body.p + c->body.n;
    struct out o = {start + 8, 0, UINT32_MAX};
    struct hpx_frame f = {.pc = UINT32_MAX, .end = m->frames};
    const struct hpx_event *e = c->events;
    for (uint32_t i = 0; left == 0 && i < m->frame_n; i++) {
        left = hpx_frame_next(c, m, &f);
        uint32_t before = o.n;
        if (left == 0 && c->tramp_n > 0) {
            left = put_places(c, m, &o, &e, f.pc);
        }
        if (left == 0) {
            put_moved(c, &o, &f, o.n > before && f.type != FULL);
        }
    }
    if (left == 0 && c->tramp_n > 0) {
        left = put_places(c, m, &o, &e, UINT32_MAX);
    }
    if (left != 0 || f.end != m->frames_end) {
        return left != 0 ? left : HPX_LEAVE(MALFORMED);
    }
    c->steps += m->frames_end - m->frames;
    if (m->handler != 0) {
        put_handler(c, m, &o);
    }
    if (o.n > 65535) {
        return HPX_LEAVE(LIMIT);
    }
    hpx_put2(start, c->added.stack_map != 0 ? c->added.stack_map : m->frames_name);
    hpx_put4(start + 2, (uint32_t)(o.p - start) - 6);
    hpx_put2(start + 6, o.n);
    c->body.n += (size_t)(o.p - start);
    return 0;
}
