/* SPDX-License-Identifier: BSD-2-Clause */
/* protobuf.c: see protobuf.h. */
#include "protobuf.h"
#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

void hpx_pb_free(struct hpx_pb *m)
{
    free(m->bytes);
    *m = (struct hpx_pb){0};
}

void hpx_pb_append(struct hpx_pb *m, const void *p, size_t n)
{
    if (m->cap - m->len < n) {
        size_t cap = 2 * m->cap + n + 256;
        uint8_t *grown = realloc(m->bytes, cap);
        if (grown == NULL) {
            m->no_memory = true;
            return;
        }
        m->bytes = grown;
        m->cap = cap;
    }
    if (n > 0) {
        memcpy(m->bytes + m->len, p, n);
    }
    m->len += n;
}

void hpx_pb_raw(struct hpx_pb *m, uint64_t v)
{
    uint8_t b[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7) {
        b[n++] = (uint8_t)(v | 0x80);
    }
    b[n++] = (uint8_t)v;
    hpx_pb_append(m, b, n);
}

static void head(struct hpx_pb *m, unsigned field, unsigned wire)
{
    hpx_pb_raw(m, (uint64_t)field << 3 | wire);
}

void hpx_pb_number(struct hpx_pb *m, unsigned field, uint64_t v)
{
    if (v != 0) {
        head(m, field, VARINT);
        hpx_pb_raw(m, v);
    }
}

void hpx_pb_fixed64(struct hpx_pb *m, unsigned field, uint64_t v)
{
    if (v != 0) {
        uint8_t b[8];
        for (unsigned i = 0; i < 8; i++) {
            b[i] = (uint8_t)(v >> (8 * i));
        }
        head(m, field, FIXED64);
        hpx_pb_append(m, b, sizeof b);
    }
}

void hpx_pb_element(struct hpx_pb *m, unsigned field, const void *p, size_t n)
{
    head(m, field, BYTES);
    hpx_pb_raw(m, n);
    hpx_pb_append(m, p, n);
}

void hpx_pb_bytes(struct hpx_pb *m, unsigned field, const void *p, size_t n)
{
    if (n > 0) {
        hpx_pb_element(m, field, p, n);
    }
}

void hpx_pb_text(struct hpx_pb *m, unsigned field, const char *text)
{
    hpx_pb_bytes(m, field, text, strlen(text));
}

void hpx_pb_message(struct hpx_pb *m, unsigned field, struct hpx_pb *of)
{
    hpx_pb_element(m, field, of->bytes, of->len);
    m->no_memory |= of->no_memory;
    of->len = 0;
}

bool hpx_pb_varint(struct hpx_pb_in *m, uint64_t *v)
{
    *v = 0;
    for (unsigned shift = 0; m->at < m->end && shift < 64; shift += 7) {
        uint8_t b = *m->at++;
        *v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) {
            return true;
        }
        m->broken = m->broken || m->at == m->end || shift == 63;
    }
    return false;
}

static bool fixed(struct hpx_pb_in *m, struct hpx_pb_field *f, size_t n)
{
    if ((size_t)(m->end - m->at) < n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        f->v |= (uint64_t)m->at[i] << (8 * i);
    }
    m->at += n;
    return true;
}

static bool bytes(struct hpx_pb_in *m, struct hpx_pb_field *f)
{
    uint64_t n;
    if (!hpx_pb_varint(m, &n) || n > (uint64_t)(m->end - m->at)) {
        return false;
    }
    f->is_bytes = true;
    f->bytes = (struct hpx_pb_in){.at = m->at, .end = m->at + n};
    m->at += n;
    return true;
}

bool hpx_pb_next(struct hpx_pb_in *m, struct hpx_pb_field *f)
{
    uint64_t key;
    *f = (struct hpx_pb_field){0};
    if (m->broken || m->at == m->end) {
        return false;
    }
    bool whole = hpx_pb_varint(m, &key) && key >> 3 != 0 && key >> 3 < 1u << 29;
    f->number = whole ? (unsigned)(key >> 3) : 0;
    switch (whole ? key & 7 : 7) {
    case VARINT:
        whole = hpx_pb_varint(m, &f->v);
        break;
    case FIXED64:
        whole = fixed(m, f, 8);
        break;
    case FIXED32:
        whole = fixed(m, f, 4);
        break;
    case BYTES:
        whole = bytes(m, f);
        break;
    default: /* groups, which nobody writes any more, too */
        whole = false;
    }
    m->broken = m->broken || !whole;
    return whole;
}
