/* SPDX-License-Identifier: BSD-2-Clause */
/* child_memory.c: the allocator of child_memory.h.
 *
 * Blocks come from one range of addresses, which tells own blocks from foreign ones. It consists of runs; its first bytes say what begins
 * in each of them: blocks of one size, or one block of 2^k runs. Pages are the kernel's until they are touched. */
#include "child_memory.h"
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>

#define RUN      ((size_t)64 << 10)
#define SMALL    ((size_t)8192)      /* the largest block that shares a run */
#define MOST     ((size_t)256 << 30) /* bytes of the range; less where the process may not have that */
#define LEAST    ((size_t)64 << 20)  /* the same */
#define STEP     ((size_t)32 << 20)  /* by which it becomes writable */
#define NONE     0                   /* kinds of blocks: nothing begins here; */
#define LINEAR   64                  /* steps of 16 bytes up to 1024; then 2048, 4096, 8192; */
#define LARGE    (LINEAR + 4)        /* a run, and its doubles up to MOST */
#define KINDS    (LARGE + 23)
#define RETURNED (LARGE + 4) /* blocks from 1 MiB on have no memory while they are free */

struct block {
    struct block *next;
};

static struct {
    char *base;
    size_t size, used, writable;    /* bytes of the range, from its base on */
    struct block *unused[KINDS];    /* what was freed */
    char *bump[LARGE], *end[LARGE]; /* the rest of the last run of these blocks */
} heap;

/* ---- runs ---- */

static bool reserve(void)
{
    char *at = MAP_FAILED;
    size_t size = 2 * MOST;
    while (at == MAP_FAILED && size > LEAST) {
        size /= 2;
        at = mmap(NULL, size + RUN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (at == MAP_FAILED) {
        return false;
    }
    heap.base = at + (-(uintptr_t)at & (RUN - 1));
    heap.size = size;
    heap.used = (size / RUN + RUN - 1) & ~(RUN - 1); /* a byte per run */
    return true;
}

/* What begins in the run of p; foreign blocks have none. */
static uint8_t *kind_at(const void *p)
{
    size_t offset = (uintptr_t)p - (uintptr_t)heap.base;
    return heap.base != NULL && offset < heap.used ? (uint8_t *)heap.base + offset / RUN : NULL;
}

static void *runs(size_t n, size_t kind)
{
    if ((heap.base == NULL && !reserve()) || n > heap.size - heap.used) {
        return NULL;
    }
    size_t want = (heap.used + n + STEP - 1) & ~(STEP - 1);
    want = want < heap.size ? want : heap.size;
    if (want > heap.writable) {
        if (mprotect(heap.base + heap.writable, want - heap.writable, PROT_READ | PROT_WRITE) != 0) {
            return NULL;
        }
        heap.writable = want;
    }
    char *p = heap.base + heap.used;
    heap.used += n;
    *kind_at(p) = (uint8_t)kind;
    return p;
}

/* ---- sizes ---- */

static size_t kind_size(size_t kind)
{
    return kind <= LINEAR ? kind * 16 : kind < LARGE ? (size_t)1024 << (kind - LINEAR) : RUN << (kind - LARGE);
}

/* Of n bytes; KINDS: too many. */
static size_t kind_of(size_t n)
{
    if (n <= 1024) {
        return (n + 15 + (n == 0)) / 16;
    }
    size_t kind = n > SMALL ? LARGE : LINEAR + 1;
    while (kind < KINDS && kind_size(kind) < n) {
        kind++;
    }
    return kind;
}

/* ---- the functions ---- */

static void *small(size_t kind)
{
    size_t size = kind_size(kind);
    if ((size_t)(heap.end[kind] - heap.bump[kind]) < size) {
        char *run = runs(RUN, kind);
        if (run == NULL) {
            return NULL;
        }
        heap.bump[kind] = run;
        heap.end[kind] = run + RUN;
    }
    void *p = heap.bump[kind];
    heap.bump[kind] += size;
    return p;
}

void *hpx_child_malloc(size_t n)
{
    size_t kind = kind_of(n);
    void *p = NULL;
    if (kind < KINDS && heap.unused[kind] != NULL) {
        p = heap.unused[kind];
        heap.unused[kind] = heap.unused[kind]->next;
    } else if (kind < KINDS) {
        p = kind < LARGE ? small(kind) : runs(kind_size(kind), kind);
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
    if (p != NULL) { /* of a block without memory only the link is not clear */
        memset(p, 0, kind_of(all) < RETURNED ? all : sizeof(struct block));
    }
    return p;
}

void hpx_child_free(void *p)
{
    const uint8_t *kind = kind_at(p);
    struct block *b = p;
    if (kind == NULL || *kind == NONE) {
        return; /* foreign: its allocator may be locked */
    }
    if (*kind >= RETURNED) {
        madvise(p, kind_size(*kind), MADV_DONTNEED);
    }
    b->next = heap.unused[*kind];
    heap.unused[*kind] = b;
}

size_t hpx_child_usable(void *p)
{
    const uint8_t *kind = kind_at(p);
    return kind != NULL ? kind_size(*kind) : malloc_usable_size(p);
}

void *hpx_child_realloc(void *p, size_t n)
{
    size_t has = p != NULL ? hpx_child_usable(p) : 0;
    if (p != NULL && n <= has && n >= has / 2 && kind_at(p) != NULL) {
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
    if (align > RUN || (align & (align - 1)) != 0 || n > MOST) {
        errno = ENOMEM;
        return NULL;
    }
    /* Runs are aligned, and blocks whose size is a multiple of the alignment, too. */
    return hpx_child_malloc(align > 16 ? (n + (n == 0) + align - 1) & ~(align - 1) : n);
}

int hpx_child_posix_memalign(void **p, size_t align, size_t n)
{
    void *q = hpx_child_memalign(align, n);
    *p = q != NULL ? q : *p;
    return q != NULL ? 0 : ENOMEM;
}
