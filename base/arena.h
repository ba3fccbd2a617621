/* SPDX-License-Identifier: BSD-2-Clause */
/* arena.h: memory that only grows, in chunks that never move. One owner thread; readers may read what they received by their own
 * release/acquire pair. Not for signal handlers. */
#ifndef HPX_ARENA_H
#define HPX_ARENA_H

#include "compiler.h"

struct hpx_arena_chunk;

struct hpx_arena {
    struct hpx_arena_chunk *chunks; /* newest first */
    size_t used, capacity;          /* of the newest chunk */
    size_t bytes;                   /* of all chunks, for the memory report */
    size_t next;                    /* size of the next chunk: 16 KiB first, doubling to 1 MiB */
};

void hpx_arena_init(struct hpx_arena *a);
/* Frees all chunks. */
void hpx_arena_fini(struct hpx_arena *a);
/* n bytes, aligned to `align` (a power of two <= 16), not cleared; NULL without memory (the arena stays usable). A request above a
 * quarter of the next chunk gets its own chunk. n == 0 gives a valid pointer. */
void *hpx_arena_alloc(struct hpx_arena *a, size_t n, size_t align);
/* A copy of n bytes with a terminating 0. */
char *hpx_arena_copy(struct hpx_arena *a, const char *s, size_t n);

#endif
