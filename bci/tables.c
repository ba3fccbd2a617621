/* SPDX-License-Identifier: BSD-2-Clause */
/* tables.c: the attributes of Code, with their references to bytecode moved. */
#include "rewriter.h"

enum attribute { UNKNOWN, IGNORED, FRAMES, LINES, VARIABLES, ANNOTATIONS };

static enum attribute attribute_of(const struct hpx_class *c, uint32_t index)
{
    struct hprofx_bci_name name = hpx_utf8(c, index);
    switch (name.len) {
    case 8:
        return hpx_name_is(name, "StackMap") ? IGNORED : UNKNOWN; /* from another edition of Java; no JVM reads it */
    case 13:
        return !hpx_name_is(name, "StackMapTable") ? UNKNOWN : c->major >= 50 ? FRAMES : IGNORED;
    case 15:
        return hpx_name_is(name, "LineNumberTable") ? LINES : UNKNOWN;
    case 18:
        return hpx_name_is(name, "LocalVariableTable") ? VARIABLES : UNKNOWN;
    case 22:
        return hpx_name_is(name, "LocalVariableTypeTable") ? VARIABLES : UNKNOWN;
    case 29:
        return hpx_name_is(name, "RuntimeVisibleTypeAnnotations") ? ANNOTATIONS : UNKNOWN;
    case 31:
        return hpx_name_is(name, "RuntimeInvisibleTypeAnnotations") ? ANNOTATIONS : UNKNOWN;
    default:
        return UNKNOWN;
    }
}

/* Whether the attribute is a count and that many entries of `size` bytes, and nothing else. */
static bool fits(const struct hpx_class *c, size_t at, size_t end, uint32_t size, uint32_t *n)
{
    if (end - at < 2) {
        return false;
    }
    *n = hpx_u2(c->in + at);
    return end - at == 2 + (size_t)*n * size;
}

/* A range that begins at 0 includes the entry call. */
static uint32_t moved_start(const struct hpx_class *c, uint32_t pc)
{
    return pc == 0 ? 0 : c->map[pc];
}

static int move_lines(struct hpx_class *c, struct hpx_code *m, size_t at, size_t end, uint8_t *p)
{
    uint32_t n;
    if (!fits(c, at, end, 4, &n)) {
        return HPX_LEAVE(MALFORMED);
    }
    for (uint32_t i = 0; i < n; i++) {
        p = p + (i == 0 ? 2 : 4);
        uint32_t pc = hpx_u2(p), line = hpx_u2(p + 2);
        if (pc >= m->len) {
            return HPX_LEAVE(MALFORMED);
        }
        hpx_put2(p, moved_start(c, pc));
        if (m->m.first_line == 0 || line < m->m.first_line) {
            m->m.first_line = (uint16_t)line;
        }
    }
    c->steps += n;
    return 0;
}

static int move_variables(struct hpx_class *c, const struct hpx_code *m, size_t at, size_t end, uint8_t *p)
{
    uint32_t n;
    if (!fits(c, at, end, 10, &n)) {
        return HPX_LEAVE(MALFORMED);
    }
    for (uint32_t i = 0; i < n; i++) {
        p = p + (i == 0 ? 2 : 10);
        uint32_t start = hpx_u2(p), stop = start + hpx_u2(p + 2);
        if (start >= m->len || stop > m->len) {
            return HPX_LEAVE(MALFORMED);
        }
        hpx_put2(p, moved_start(c, start));
        hpx_put2(p + 2, (stop == start ? moved_start(c, start) : c->map[stop]) - moved_start(c, start));
    }
    c->steps += n;
    return 0;
}

/* Appends one attribute. The caller has checked that the name and length at `at` exist. */
static int put_attribute(struct hpx_class *c, struct hpx_code *m, size_t at, size_t end)
{
    enum attribute kind = attribute_of(c, hpx_u2(c->in + at));
    if (kind == UNKNOWN) {
        return HPX_LEAVE(ATTRIBUTE);
    }
    if (kind == FRAMES) {
        return 0; /* appended last */
    }
    int left = hpx_buf_reserve(&c->body, end - at);
    if (left != 0) {
        return left;
    }
    uint8_t *p = c->body.p + c->body.n;
    if (kind == ANNOTATIONS) {
        memcpy(p, c->in + at, 6);
        c->body.n += 6;
        return hpx_annotations_emit(c, m, at + 6, end);
    }
    memcpy(p, c->in + at, end - at);
    c->body.n += end - at;
    c->steps += (end - at) / 16;
    return kind == LINES ? move_lines(c, m, at + 6, end, p + 6) : kind == VARIABLES ? move_variables(c, m, at + 6, end, p + 6) : 0;
}

/* Finds the StackMapTable; checks that the attributes end where Code ends. */
static int find_frames(struct hpx_class *c, struct hpx_code *m)
{
    size_t at = m->attrs;
    for (uint32_t i = 0; i < m->attr_n; i++) {
        if (m->end - at < 6 || hpx_u4(c->in + at + 2) > m->end - at - 6) {
            return HPX_LEAVE(MALFORMED);
        }
        size_t end = at + 6 + hpx_u4(c->in + at + 2);
        if (attribute_of(c, hpx_u2(c->in + at)) == FRAMES) {
            if (m->frames != 0 || end - at < 8) {
                return HPX_LEAVE(MALFORMED);
            }
            m->frame_n = hpx_u2(c->in + at + 6);
            m->frames = at + 8;
            m->frames_name = hpx_u2(c->in + at);
            m->frames_end = end;
        }
        at = end;
    }
    c->steps += m->attr_n;
    return at == m->end ? 0 : HPX_LEAVE(MALFORMED);
}

int hpx_code_read(struct hpx_class *c, struct hpx_code *m, size_t code, size_t end)
{
    if (end - code < 6 + 12) {
        return HPX_LEAVE(MALFORMED);
    }
    const uint8_t *p = c->in + code + 6;
    m->max_stack = hpx_u2(p);
    m->max_locals = hpx_u2(p + 2);
    m->len = hpx_u4(p + 4);
    m->at = code + 14;
    m->end = end;
    if (m->len == 0 || m->len > HPX_CODE_MAX || m->len > end - m->at - 4) {
        return HPX_LEAVE(MALFORMED);
    }
    m->m.code_length = (uint16_t)m->len;
    m->handlers = m->at + m->len + 2;
    m->handler_n = hpx_u2(c->in + m->handlers - 2);
    if (8 * (size_t)m->handler_n + 2 > end - m->handlers) {
        return HPX_LEAVE(MALFORMED);
    }
    m->attrs = m->handlers + 8 * (size_t)m->handler_n + 2;
    m->attr_n = hpx_u2(c->in + m->attrs - 2);
    return find_frames(c, m);
}

int hpx_tables_emit(struct hpx_class *c, struct hpx_code *m)
{
    bool frames = c->major >= 50 && (m->frames != 0 || m->handler != 0);
    uint32_t attr_n = m->attr_n + (frames && m->frames == 0);
    int left = attr_n > 65535 ? HPX_LEAVE(LIMIT) : hpx_buf_reserve(&c->body, 2);
    if (left != 0) {
        return left;
    }
    hpx_put2(c->body.p + c->body.n, attr_n);
    c->body.n += 2;
    size_t at = m->attrs;
    for (uint32_t i = 0; left == 0 && i < m->attr_n; i++) {
        size_t end = at + 6 + hpx_u4(c->in + at + 2);
        left = put_attribute(c, m, at, end);
        at = end;
    }
    c->steps += m->attr_n;
    return left != 0 || !frames ? left : hpx_frames_emit(c, m);
}
