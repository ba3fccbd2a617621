/* SPDX-License-Identifier: BSD-2-Clause */
/* arena.c: chunks from malloc, newest first. */
#include "arena.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CHUNK ((size_t)16 << 10)
#define LAST_CHUNK  ((size_t)1 << 20)
#define MAX_ALIGN   16u

struct hpx_arena_chunk {
    struct hpx_arena_chunk *older;
    HPX_ALIGNED(MAX_ALIGN) char bytes[];
};

void hpx_arena_init(struct hpx_arena *a)
{
    *a = (struct hpx_arena){.next = FIRST_CHUNK};
}

void hpx_arena_fini(struct hpx_arena *a)
{
    while (a->chunks) {
        struct hpx_arena_chunk *c = a->chunks;
        a->chunks = c->older;
        free(c);
    }
    hpx_arena_init(a);
}

static struct hpx_arena_chunk *new_chunk(struct hpx_arena *a, size_t capacity)
{
    struct hpx_arena_chunk *c = malloc(sizeof(*c) + capacity);
    if (!c) {
        return NULL;
    }
    a->bytes += sizeof(*c) + capacity;
    return c;
}

/* A chunk for this request alone goes behind the newest one, whose free end stays in use. */
static void *alloc_alone(struct hpx_arena *a, size_t n)
{
    struct hpx_arena_chunk *c = new_chunk(a, n);
    if (!c) {
        return NULL;
    }
    if (a->chunks) {
        c->older = a->chunks->older;
        a->chunks->older = c;
    } else {
        c->older = NULL;
        a->chunks = c;
        a->used = a->capacity = n;
    }
    return c->bytes;
}

void *hpx_arena_alloc(struct hpx_arena *a, size_t n, size_t align)
{
    assert(align && align <= MAX_ALIGN && !(align & (align - 1)));
    size_t at = (a->used + align - 1) & ~(align - 1);
    if (hpx_unlikely(!a->chunks || at > a->capacity || n > a->capacity - at)) {
        if (n > SIZE_MAX - sizeof(struct hpx_arena_chunk)) {
            return NULL;
        }
        if (n > a->next / 4) {
            return alloc_alone(a, n);
        }
        struct hpx_arena_chunk *c = new_chunk(a, a->next);
        if (!c) {
            return NULL;
        }
        c->older = a->chunks;
        a->chunks = c;
        a->capacity = a->next;
        a->next = a->next < LAST_CHUNK ? a->next * 2 : LAST_CHUNK;
        at = 0;
    }
    a->used = at + n;
    return a->chunks->bytes + at;
}

char *hpx_arena_copy(struct hpx_arena *a, const char *s, size_t n)
{
    char *to = n < SIZE_MAX ? hpx_arena_alloc(a, n + 1, 1) : NULL;
    if (!to) {
        return NULL;
    }
    if (n) {
        memcpy(to, s, n);
    }
    to[n] = 0;
    return to;
}
