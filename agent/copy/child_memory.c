/* SPDX-License-Identifier: BSD-2-Clause */
/* child_memory.c: the allocator of child_memory.h.
 *
 * Memory comes in chunks, aligned to their size, so that the address of a block leads to its chunk and a table of all chunks tells own
 * blocks from foreign ones. A chunk consists of runs; its first one says what begins in each of the others: blocks of one size, or one
 * block of 2^k runs. A larger block has its own mapping, laid out as a chunk with one block. */
#include "child_memory.h"
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>

#define RUN     ((size_t)64 << 10)
#define CHUNK   ((size_t)32 << 20)
#define RUNS    (CHUNK / RUN)
#define SMALL   ((size_t)8192) /* the largest block that shares a run */
#define CLASSES 67             /* steps of 16 bytes up to 1024, then 2048, 4096, 8192 */
#define ORDERS  9              /* up to 2^8 runs: 16 MiB */
#define TABLE   8192           /* chunks, at most: 256 GiB; a power of two */
#define GONE    1              /* an entry of the table whose mapping is gone */

enum { KIND_NONE, KIND_SMALL, KIND_RUNS = KIND_SMALL + CLASSES, KIND_HUGE = KIND_RUNS + ORDERS };

struct chunk {
    uint8_t kind[RUNS]; /* of what begins in the run: KIND_ + class or order */
    size_t mapped;      /* KIND_HUGE: bytes of the mapping */
};

struct block {
    struct block *next;
};

static struct {
    uintptr_t table[TABLE];
    struct chunk *chunk; /* where runs come from */
    size_t next;         /* its first run that was never used */
    struct block *runs[ORDERS];
    struct block *small[CLASSES];
    char *bump[CLASSES], *end[CLASSES];
} heap;

/* ---- chunks ---- */

static uintptr_t *find(uintptr_t base, bool add)
{
    size_t at = base / CHUNK * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    for (size_t i = 0; i < TABLE; i++) {
        uintptr_t *e = &heap.table[(at + i) % TABLE];
        if (*e == base || *e == 0 || (add && *e == GONE)) {
            return add || *e == base ? e : NULL;
        }
    }
    return NULL;
}

static struct chunk *chunk_of(const void *p)
{
    uintptr_t base = (uintptr_t)p & ~(CHUNK - 1);
    return base != 0 && find(base, false) != NULL ? (struct chunk *)base : NULL;
}

static struct chunk *map_chunk(size_t size)
{
    char *at = mmap(NULL, size + CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    size_t before = -(uintptr_t)at & (CHUNK - 1);
    struct chunk *c = (struct chunk *)(void *)(at + before);
    if (before > 0) {
        munmap(at, before);
    }
    munmap((char *)c + size, CHUNK - before);
    uintptr_t *entry = find((uintptr_t)c, true);
    if (entry == NULL) {
        munmap(c, size);
        return NULL;
    }
    *entry = (uintptr_t)c;
    return c;
}

static void *huge(size_t n)
{
    if (n > SIZE_MAX / 2) {
        return NULL;
    }
    size_t size = (n + RUN + RUN - 1) & ~(RUN - 1);
    struct chunk *c = map_chunk(size);
    if (c == NULL) {
        return NULL;
    }
    c->kind[1] = KIND_HUGE;
    c->mapped = size;
    return (char *)c + RUN;
}

static void *runs(size_t order, uint8_t kind)
{
    struct block *b = heap.runs[order];
    if (b != NULL) {
        heap.runs[order] = b->next;
    } else {
        if (heap.chunk == NULL || heap.next + ((size_t)1 << order) > RUNS) {
            struct chunk *c = map_chunk(CHUNK);
            if (c == NULL) {
                return NULL;
            }
            heap.chunk = c;
            heap.next = 1; /* the first run holds struct chunk */
        }
        b = (struct block *)(void *)((char *)heap.chunk + heap.next * RUN);
        heap.next += (size_t)1 << order;
    }
    chunk_of(b)->kind[(uintptr_t)b % CHUNK / RUN] = kind;
    return b;
}

/* ---- sizes ---- */

static size_t class_of(size_t n)
{
    return n <= 1024 ? (n + 15 + (n == 0)) / 16 - 1 : n <= 2048 ? 64 : n <= 4096 ? 65 : 66;
}

static size_t class_size(size_t class)
{
    return class < 64 ? (class + 1) * 16 : (size_t)2048 << (class - 64);
}

static size_t order_of(size_t n)
{
    size_t order = 0;
    while (RUN << order < n) {
        order++;
    }
    return order;
}

static size_t kind_size(const struct chunk *c, uint8_t kind)
{
    return kind == KIND_NONE   ? 0
           : kind < KIND_RUNS  ? class_size(kind - KIND_SMALL)
           : kind == KIND_HUGE ? c->mapped - RUN
                               : RUN << (kind - KIND_RUNS);
}

/* ---- the functions ---- */

static void *small(size_t class)
{
    struct block *b = heap.small[class];
    if (b != NULL) {
        heap.small[class] = b->next;
        return b;
    }
    size_t size = class_size(class);
    if (heap.bump[class] == NULL || (size_t)(heap.end[class] - heap.bump[class]) < size) {
        char *run = runs(0, (uint8_t)(KIND_SMALL + class));
        if (run == NULL) {
            return NULL;
        }
        heap.bump[class] = run;
        heap.end[class] = run + RUN;
    }
    void *p = heap.bump[class];
    heap.bump[class] += size;
    return p;
}

void *hpx_child_malloc(size_t n)
{
    void *p;
    if (n <= SMALL) {
        p = small(class_of(n));
    } else if (n <= RUN << (ORDERS - 1)) {
        size_t order = order_of(n);
        p = runs(order, (uint8_t)(KIND_RUNS + order));
    } else {
        p = huge(n);
    }
    if (p == NULL) {
        errno = ENOMEM;
    }
    return p;
}

void *hpx_child_calloc(size_t n, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(n, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    void *p = hpx_child_malloc(all);
    if (p != NULL && all <= RUN << (ORDERS - 1)) { /* a mapping of its own is clear */
        memset(p, 0, all);
    }
    return p;
}

void hpx_child_free(void *p)
{
    struct chunk *c = chunk_of(p);
    uint8_t kind = c != NULL ? c->kind[(uintptr_t)p % CHUNK / RUN] : KIND_NONE;
    struct block *b = p;
    if (kind == KIND_NONE) {
        return; /* foreign: its allocator may be locked */
    }
    if (kind == KIND_HUGE) {
        *find((uintptr_t)c, false) = GONE;
        munmap(c, c->mapped);
        return;
    }
    struct block **list = kind < KIND_RUNS ? &heap.small[kind - KIND_SMALL] : &heap.runs[kind - KIND_RUNS];
    b->next = *list;
    *list = b;
}

size_t hpx_child_usable(void *p)
{
    const struct chunk *c = chunk_of(p);
    return c != NULL ? kind_size(c, c->kind[(uintptr_t)p % CHUNK / RUN]) : malloc_usable_size(p);
}

void *hpx_child_realloc(void *p, size_t n)
{
    size_t has = p != NULL ? hpx_child_usable(p) : 0;
    if (p != NULL && n <= has && n >= has / 2 && chunk_of(p) != NULL) {
        return p;
    }
    void *q = hpx_child_malloc(n);
    if (q != NULL && p != NULL) {
        memcpy(q, p, has < n ? has : n);
        hpx_child_free(p);
    }
    return q;
}

char *hpx_child_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = hpx_child_malloc(n);
    return p != NULL ? memcpy(p, s, n) : NULL;
}

void *hpx_child_memalign(size_t align, size_t n)
{
    if (align > RUN || (align & (align - 1)) != 0 || n > RUN << (ORDERS - 1)) {
        errno = ENOMEM;
        return NULL;
    }
    /* Runs are aligned, and a class whose size is a multiple of the alignment has only aligned blocks. */
    return hpx_child_malloc(align > 16 ? (n + (n == 0) + align - 1) & ~(align - 1) : n);
}

int hpx_child_posix_memalign(void **p, size_t align, size_t n)
{
    void *q = hpx_child_memalign(align, n);
    *p = q != NULL ? q : *p;
    return q != NULL ? 0 : ENOMEM;
}
