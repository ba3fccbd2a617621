/* SPDX-License-Identifier: BSD-2-Clause */
/* gunzip.c: a read(2) that uncompresses. */
#include "gunzip.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define WINDOW 31 /* any window, gzip's format */

void hpx_gunzip_init(struct hpx_gunzip *g, int fd)
{
    memset(g, 0, sizeof(*g));
    g->fd = fd;
}

void hpx_gunzip_fini(struct hpx_gunzip *g)
{
    (void)inflateEnd(&g->z);
}

/* Reads until `want` bytes are there. 1; 0: the file ends before; -1: errno. */
static int fill(struct hpx_gunzip *g, uInt want)
{
    while (g->z.avail_in < want) { /* at g->in: more than one byte is wanted only at the start */
        ssize_t got = read(g->fd, g->in + g->z.avail_in, sizeof(g->in) - g->z.avail_in);
        if (got <= 0) {
            return (int)got;
        }
        g->z.next_in = g->in;
        g->z.avail_in += (uInt)got;
    }
    return 1;
}

static int find_out(struct hpx_gunzip *g)
{
    int rc = fill(g, 2);
    g->gzip = rc > 0 && g->in[0] == 0x1f && g->in[1] == 0x8b;
    if (g->gzip && inflateInit2(&g->z, WINDOW) != Z_OK) {
        errno = ENOMEM;
        rc = -1;
    }
    g->known = rc >= 0;
    return rc < 0 ? -1 : 0;
}

static ssize_t read_plain(struct hpx_gunzip *g, void *to, size_t n)
{
    if (g->z.avail_in == 0) {
        return read(g->fd, to, n);
    }
    n = n < g->z.avail_in ? n : g->z.avail_in;
    memcpy(to, g->z.next_in, n);
    g->z.next_in += n;
    g->z.avail_in -= (uInt)n;
    return (ssize_t)n;
}

ssize_t hpx_gunzip_read(void *ctx, void *to, size_t n)
{
    struct hpx_gunzip *g = ctx;
    if (!g->known && find_out(g) != 0) {
        return -1;
    }
    if (!g->gzip) {
        return read_plain(g, to, n);
    }
    g->z.next_out = to;
    while (g->z.next_out == to) {
        int rc = fill(g, 1);
        if (rc <= 0) {
            g->cut = rc == 0 && g->inside;
            return rc;
        }
        g->z.avail_out = (uInt)n;
        rc = inflate(&g->z, Z_NO_FLUSH);
        g->inside = rc != Z_STREAM_END;
        if (rc == Z_STREAM_END) {
            (void)inflateReset(&g->z);
        } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
            g->fault = rc == Z_MEM_ERROR ? "no memory" : "the compressed data are damaged";
            errno = EBADMSG;
            return -1;
        }
    }
    return (ssize_t)(n - g->z.avail_out);
}
