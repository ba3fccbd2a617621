/* SPDX-License-Identifier: BSD-2-Clause */
/* source.h: the bytes of a file, forward only, through one buffer: files of any size, pipes.
 *
 * One thread. Memory: the buffer, 256 KiB; it grows to what a caller asks to have in one piece (hpx_source_ahead), at most HPX_SOURCE_MAX.
 */
#ifndef HPX_READ_SOURCE_H
#define HPX_READ_SOURCE_H

#include "compiler.h"
#include <sys/types.h>

#define HPX_SOURCE_MAX ((size_t)16 << 20)

struct hpx_source {
    ssize_t (*read)(void *ctx, void *to, size_t n); /* as read(2) */
    void *ctx;
    char *buf;
    size_t cap, at, end;
    uint64_t base; /* where buf[0] is in the file */
    bool ended;
    int error; /* errno of a read that failed, ENOMEM; the source has ended then */
};

/* 0, -HPX_E_NOMEM. */
int hpx_source_init(struct hpx_source *s, ssize_t (*read)(void *, void *, size_t), void *ctx);
void hpx_source_fini(struct hpx_source *s);

/* Reads on until n bytes (n <= HPX_SOURCE_MAX) stand at s->buf + s->at, or the file ends: how many do. */
size_t hpx_source_more(struct hpx_source *s, size_t n);

static inline size_t hpx_source_ahead(struct hpx_source *s, size_t n)
{
    size_t have = s->end - s->at;
    return hpx_likely(have >= n) ? have : hpx_source_more(s, n);
}

static inline const char *hpx_source_bytes(const struct hpx_source *s)
{
    return s->buf + s->at;
}

static inline uint64_t hpx_source_offset(const struct hpx_source *s)
{
    return s->base + s->at;
}

/* Goes on by n bytes, which the caller saw. */
static inline void hpx_source_take(struct hpx_source *s, size_t n)
{
    assert(n <= s->end - s->at);
    s->at += n;
}

#endif
