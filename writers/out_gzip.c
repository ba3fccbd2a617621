/* SPDX-License-Identifier: BSD-2-Clause */
/* out_gzip.c: the blocks of out_gzip.h, by zlib. */
#include "out_gzip.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

#define LEVEL  1  /* level 6 takes two to five times as long and saves 14 % (heap dump) to 31 % (text) */
#define WINDOW 31 /* 15 bits, in gzip's format */
#define MEMORY 8  /* zlib's default */
#define UNIX   3
#define PACKED (64u << 10)

/* Of the library; NULL: not loaded. The versions that zlib.h's macros call. */
static struct {
    __typeof__(&deflateInit2_) init;
    __typeof__(&deflateSetHeader) set_header;
    __typeof__(&deflate) deflate;
    __typeof__(&deflateReset) reset;
    __typeof__(&deflateCopy) copy;
    __typeof__(&deflateEnd) end;
} zlib;

struct hpx_gzip {
    const struct hpx_out_ops *to;
    void *ctx;
    z_stream streams[2];
    z_stream *z;      /* one of them; the other one is as it was at the last point */
    gz_header header; /* of the first block; zlib keeps the pointer */
    char comment[32];
    uint32_t block;
    uint32_t in;   /* uncompressed bytes in the current block */
    bool any;      /* a block is complete */
    uint64_t done; /* compressed bytes in the output */
    uint64_t mark; /* of these, up to the end of the last section */
    struct {
        uint64_t done;
        uint32_t in;
        bool any;
    } point; /* as they were there */
    size_t sent, held;
    unsigned char packed[PACKED]; /* [sent, held): not yet in the output */
};

/* zlib would call malloc from its own library, where neither tests make it fail nor balance counts it. */
static void *allocate(void *unused, uInt n, uInt size)
{
    (void)unused;
    return calloc(n, size);
}

static void release(void *unused, void *p)
{
    (void)unused;
    free(p);
}

int hpx_gzip_load(struct hpx_err *err)
{
    void *lib = zlib.end != NULL ? NULL : dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (lib != NULL) {
        *(void **)&zlib.init = dlsym(lib, "deflateInit2_");
        *(void **)&zlib.set_header = dlsym(lib, "deflateSetHeader");
        *(void **)&zlib.deflate = dlsym(lib, "deflate");
        *(void **)&zlib.reset = dlsym(lib, "deflateReset");
        *(void **)&zlib.copy = dlsym(lib, "deflateCopy");
        *(void **)&zlib.end = dlsym(lib, "deflateEnd");
    }
    if (zlib.init == NULL || zlib.set_header == NULL || zlib.deflate == NULL || zlib.reset == NULL || zlib.copy == NULL ||
        zlib.end == NULL) {
        const char *why = dlerror(); /* names the library */
        zlib.end = NULL;
        return hpx_err_set(err, HPX_E_SYS, "gz=y: cannot load %s; install zlib (Debian: zlib1g)", why != NULL ? why : "libz.so.1");
    }
    return 0;
}

struct hpx_gzip *hpx_gzip_new(const struct hpx_out_ops *to, void *ctx, uint32_t block)
{
    struct hpx_gzip *z = calloc(1, sizeof(*z));
    if (z == NULL) {
        return NULL;
    }
    z->to = to;
    z->ctx = ctx;
    z->block = block;
    snprintf(z->comment, sizeof(z->comment), "HPROF BLOCKSIZE=%u", block);
    z->z = &z->streams[0];
    *z->z = (z_stream){.zalloc = allocate, .zfree = release};
    z->header = (gz_header){.os = UNIX, .comment = (Bytef *)z->comment};
    if (zlib.init(z->z, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY, ZLIB_VERSION, (int)sizeof(*z->z)) != Z_OK) {
        free(z);
        return NULL;
    }
    (void)zlib.set_header(z->z, &z->header);
    return z;
}

static int drain(struct hpx_gzip *z)
{
    while (z->sent < z->held) {
        ssize_t n = z->to->write(z->ctx, z->packed + z->sent, z->held - z->sent);
        if (n <= 0) {
            errno = n < 0 ? errno : EIO;
            return -1;
        }
        z->sent += (size_t)n;
        z->done += (uint64_t)n;
    }
    z->sent = z->held = 0;
    return 0;
}

/* Compresses until the input or the buffer ends. 1: the block is complete; -1: errno. */
static int compress_some(struct hpx_gzip *z, int flush)
{
    if (z->held == PACKED && drain(z) != 0) {
        return -1;
    }
    z->z->next_out = z->packed + z->held;
    z->z->avail_out = (uInt)(PACKED - z->held);
    int rc = zlib.deflate(z->z, flush);
    z->held = PACKED - z->z->avail_out;
    if (rc == Z_STREAM_ERROR) {
        errno = EIO;
        return -1;
    }
    return rc == Z_STREAM_END;
}

/* Can be repeated after an error. */
static int end_block(struct hpx_gzip *z)
{
    int ended = 0;
    z->z->avail_in = 0;
    while (ended == 0) {
        ended = compress_some(z, Z_FINISH);
    }
    if (ended < 0) {
        return -1;
    }
    (void)zlib.reset(z->z);
    (void)zlib.set_header(z->z, Z_NULL);
    z->in = 0;
    z->any = true;
    return 0;
}

ssize_t hpx_gzip_write(struct hpx_gzip *z, const void *p, size_t n)
{
    if (z->in == z->block && end_block(z) != 0) {
        return -1;
    }
    uint32_t room = z->block - z->in;
    uint32_t k = n < room ? (uint32_t)n : room;
    z->z->next_in = p;
    z->z->avail_in = k;
    int rc = 0;
    while (z->z->avail_in > 0 && rc == 0) {
        rc = compress_some(z, Z_NO_FLUSH);
    }
    uint32_t taken = k - z->z->avail_in;
    z->in += taken;
    return taken > 0 ? (ssize_t)taken : -1; /* after some bytes the error comes with the next call */
}

int hpx_gzip_section(struct hpx_gzip *z)
{
    if (((z->in > 0 || !z->any) && end_block(z) != 0) || drain(z) != 0) {
        return -1;
    }
    z->mark = z->done;
    return 0;
}

int hpx_gzip_truncate(struct hpx_gzip *z)
{
    return z->to->truncate(z->ctx, (off_t)z->mark);
}

static z_stream *other(struct hpx_gzip *z)
{
    return z->z == &z->streams[0] ? &z->streams[1] : &z->streams[0];
}

/* No state: no effect. */
static void drop(z_stream *z)
{
    if (z->state != NULL) {
        (void)zlib.end(z);
    }
    *z = (z_stream){.state = NULL};
}

int hpx_gzip_point(struct hpx_gzip *z)
{
    drop(other(z));
    if (drain(z) != 0) {
        return -1;
    }
    if (zlib.copy(other(z), z->z) != Z_OK) {
        *other(z) = (z_stream){.state = NULL}; /* without memory it may have the state of z->z */
        errno = ENOMEM;
        return -1;
    }
    z->point.done = z->done;
    z->point.in = z->in;
    z->point.any = z->any;
    return 0;
}

int hpx_gzip_back(struct hpx_gzip *z)
{
    if (z->to->truncate(z->ctx, (off_t)z->point.done) != 0) {
        return -1;
    }
    z_stream *before = other(z);
    drop(z->z);
    z->z = before;
    z->done = z->point.done;
    z->in = z->point.in;
    z->any = z->point.any;
    z->sent = z->held = 0;
    return 0;
}

void hpx_gzip_free(struct hpx_gzip *z)
{
    if (z != NULL) {
        drop(z->z);
        drop(other(z));
        free(z);
    }
}
