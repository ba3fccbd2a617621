/* SPDX-License-Identifier: BSD-2-Clause */
/* out_gzip.h: gz=y: gzip in the block form of HotSpot's heap dumps, in which readers can seek.
 *
 * Every block is a gzip member with `block` uncompressed bytes; the last one of a section is shorter. The comment of the first one is
 * "HPROF BLOCKSIZE=N", which readers take for the most that a block has. No block is empty but that of an empty output: Eclipse MAT takes
 * it for the end.
 * One thread, the writer's. Bytes are held back until the next block is begun or the section ends.
 *
 * In a section of more than HPX_GZIP_LARGE blocks further threads compress, too: one for each spare CPU (cpus.h), HPX_GZIP_WORKERS at
 * most, of the least priority. The writer's thread alone writes, in order. It waits for the end of a worker only, not for blocks: it
 * compresses what they have not taken, and once more what they do not finish, so that a program that wants all CPUs delays the output
 * little. Without spare CPUs, threads or memory it does all. A worker ends when nothing is left to take; all have ended when a section
 * ends, is cut back, or the output is closed. Memory: two blocks, compressed and not, and 270 KiB of zlib, all of it from the start,
 * touched as it is used; in large sections two blocks and zlib more for each worker, and one block. */
#ifndef HPX_OUT_GZIP_H
#define HPX_OUT_GZIP_H

#include "out.h"

#define HPX_GZIP_BLOCK   (1u << 20)
#define HPX_GZIP_LARGE   4u
#define HPX_GZIP_WORKERS 4u

struct hpx_gzip;

/* Loads zlib, which stays loaded: a program without gz=y needs none. Before hpx_gzip_new(); one thread at a time; once loaded it does
 * nothing. 0; -HPX_E_SYS: zlib is missing. */
int hpx_gzip_load(struct hpx_err *err);
/* to, ctx: what takes the compressed bytes. NULL: no memory. */
struct hpx_gzip *hpx_gzip_new(const struct hpx_out_ops *to, void *ctx, uint32_t block);
/* As ops->write: may take less than n; -1 with errno of to->write: nothing was taken, and the call may be repeated. */
ssize_t hpx_gzip_write(struct hpx_gzip *z, const void *p, size_t n);
/* Ends the block and passes everything on; an output without a byte gets an empty block. 0; -1 as above. */
int hpx_gzip_section(struct hpx_gzip *z);
/* Drops what is held back and cuts the output back to the end of the last section. As to->truncate; -1 if that is NULL. */
int hpx_gzip_truncate(struct hpx_gzip *z);
/* A point of the current section, to which hpx_gzip_back() returns, once: it cuts the output, and what follows stands there. 0; -1: errno;
 * as before. */
int hpx_gzip_point(struct hpx_gzip *z);
int hpx_gzip_back(struct hpx_gzip *z);
void hpx_gzip_free(struct hpx_gzip *z); /* NULL: nothing */
/* CPU time of all workers of this session that have ended, in ns. Any thread. */
uint64_t hpx_gzip_workers_cpu(void);

#endif
