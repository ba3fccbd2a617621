/* SPDX-License-Identifier: BSD-2-Clause */
/* gunzip.h: the bytes of a file, uncompressed if it is gzip of one or more members (gz=y), else as they are. For struct hpx_source.
 *
 * Why not gzread() of zlib: bytes behind a member that are no gzip end the file for it, without an error: a damaged file would be sound. */
#ifndef HPX_READ_GUNZIP_H
#define HPX_READ_GUNZIP_H

#include "compiler.h"
#include <sys/types.h>
#define ZLIB_CONST
#include <zlib.h>

struct hpx_gunzip {
    int fd;            /* the caller's */
    bool known;        /* whether it is gzip */
    bool gzip;         /* it is */
    bool inside;       /* a member has begun and not ended */
    bool cut;          /* the file ends inside a member, which is an end as any other for the reader */
    const char *fault; /* why a read failed with EBADMSG; NULL: it did not */
    z_stream z;
    unsigned char in[1 << 16];
};

void hpx_gunzip_init(struct hpx_gunzip *g, int fd);
/* As read(2); ctx: struct hpx_gunzip; n: 1 to UINT32_MAX. */
ssize_t hpx_gunzip_read(void *ctx, void *to, size_t n);
void hpx_gunzip_fini(struct hpx_gunzip *g);

#endif
