/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.c: see pack.h. */
#include "pack.h"
#include <stdlib.h>
#include <string.h>

static void encode(FILE *to, const uint8_t *p, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)p[i] << 16 | (uint32_t)(i + 1 < n ? p[i + 1] : 0) << 8 | (i + 2 < n ? p[i + 2] : 0);
        (void)putc_unlocked(digits[three >> 18], to);
        (void)putc_unlocked(digits[three >> 12 & 63], to);
        (void)putc_unlocked(i + 1 < n ? digits[three >> 6 & 63] : '=', to);
        (void)putc_unlocked(i + 2 < n ? digits[three & 63] : '=', to);
    }
}

static void empty(struct hpx_pack *p)
{
    p->z.next_out = p->out;
    p->z.avail_out = sizeof p->out;
}

static void deflate_all(struct hpx_pack *p, int flush)
{
    int done;
    bool full;
    p->z.next_in = p->in;
    p->z.avail_in = (uInt)p->n;
    p->n = 0;
    do {
        done = deflate(&p->z, flush);
        full = p->z.avail_out == 0;
        if (full || done == Z_STREAM_END) {
            encode(p->to, p->out, sizeof p->out - p->z.avail_out);
            empty(p);
        }
    } while (full && done != Z_STREAM_END);
}

struct hpx_pack *hpx_pack_create(FILE *to)
{
    struct hpx_pack *p = calloc(1, sizeof *p);
    if (p == NULL || deflateInit(&p->z, Z_DEFAULT_COMPRESSION) != Z_OK) {
        free(p);
        return NULL;
    }
    p->to = to;
    empty(p);
    return p;
}

void hpx_pack_bytes(struct hpx_pack *p, const void *bytes, size_t n)
{
    for (const uint8_t *at = bytes; n > 0;) {
        size_t room = sizeof p->in - p->n, k = n < room ? n : room;
        memcpy(p->in + p->n, at, k);
        p->n += k;
        at += k;
        n -= k;
        if (p->n == sizeof p->in) {
            deflate_all(p, Z_NO_FLUSH);
        }
    }
}

void hpx_pack_number(struct hpx_pack *p, uint64_t v)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; v > 127; v >>= 7) {
        bytes[n++] = (uint8_t)(v | 128);
    }
    bytes[n++] = (uint8_t)v;
    hpx_pack_bytes(p, bytes, n);
}

void hpx_pack_signed(struct hpx_pack *p, int64_t v)
{
    hpx_pack_number(p, v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1);
}

void hpx_pack_destroy(struct hpx_pack *p)
{
    deflate_all(p, Z_FINISH);
    (void)deflateEnd(&p->z);
    free(p);
}
