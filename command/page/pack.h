/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.h: bytes deflated (zlib), and in base64, as they come: the data of the page. One thread. */
#ifndef HPX_PAGE_PACK_H
#define HPX_PAGE_PACK_H

#include "compiler.h"
#include <stdio.h>
#include <zlib.h>

struct hpx_pack {
    FILE *to;
    z_stream z;
    size_t n; /* in `in` */
    uint8_t in[1 << 14];
    uint8_t out[3 << 12]; /* a multiple of 3: only the last one that is encoded is padded */
};

/* A stream to `to`, whose errors the caller looks for; NULL: no memory. */
struct hpx_pack *hpx_pack_create(FILE *to);
void hpx_pack_bytes(struct hpx_pack *p, const void *bytes, size_t n);
/* 7 bits a byte, the lowest first; the last one is below 128. */
void hpx_pack_number(struct hpx_pack *p, uint64_t v);
/* A number with a sign: twice its amount, less one if it is negative. */
void hpx_pack_signed(struct hpx_pack *p, int64_t v);
/* Writes what is left, and frees p. */
void hpx_pack_destroy(struct hpx_pack *p);

#endif
