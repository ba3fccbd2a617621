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
    if (g->gzip) {
        (void)inflateEnd(&g->z);
        g->gzip = false;
    }
}

/* Reads on behind what is left. 1; 0: the file ends; -1: errno. */
static int fill(struct hpx_gunzip *g)
{
    if (g->z.avail_in > 0) {
        memmove(g->in, g->z.next_in, g->z.avail_in);
    }
    g->z.next_in = g->in;
    ssize_t got;
    do {
        got = read(g->fd, g->in + g->z.avail_in, sizeof(g->in) - g->z.avail_in);
    } while (got < 0 && errno == EINTR);
    g->z.avail_in += got > 0 ? (uInt)got : 0;
    return got > 0 ? 1 : (int)got;
}

static int find_out(struct hpx_gunzip *g)
{
    int rc = 1;
    while (g->z.avail_in < 2 && rc > 0) {
        rc = fill(g);
    }
    if (rc < 0) {
        return -1;
    }
    if (g->z.avail_in >= 2 && g->in[0] == 0x1f && g->in[1] == 0x8b) {
        if (inflateInit2(&g->z, WINDOW) != Z_OK) {
            errno = ENOMEM;
            return -1;
        }
        g->gzip = true;
    }
    g->known = true;
    return 0;
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
    g->z.avail_out = n < UINT32_MAX ? (uInt)n : UINT32_MAX;
    const uInt room = g->z.avail_out;
    while (g->z.avail_out == room && !g->ended) {
        int rc = g->z.avail_in > 0 ? 1 : fill(g);
        if (rc < 0) {
            return -1;
        }
        if (rc == 0) {
            g->ended = true;
            g->cut = g->inside;
            break;
        }
        g->inside = true;
        rc = inflate(&g->z, Z_NO_FLUSH);
        if (rc == Z_STREAM_END) {
            g->inside = false;
            (void)inflateReset(&g->z);
        } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
            g->fault = rc == Z_MEM_ERROR ? "no memory" : "the compressed data are damaged";
            errno = EBADMSG;
            return -1;
        }
    }
    return (ssize_t)(room - g->z.avail_out);
}
