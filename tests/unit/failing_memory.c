/* SPDX-License-Identifier: BSD-2-Clause */
/* failing_memory.c: functions of libc that give no memory when a test says so. */
#include "failing_memory.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
int __real_posix_memalign(void **to, size_t alignment, size_t n);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
int __wrap_posix_memalign(void **to, size_t alignment, size_t n);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);

/* Relaxed: another thread may allocate meanwhile; what a test expects of it, the test itself orders. */
static _Atomic uint64_t calls, first_failing = MEMORY_NEVER, last_failing;
static _Atomic uint32_t failing_maps;

void memory_fail(uint64_t first, uint64_t last)
{
    atomic_store_explicit(&first_failing, MEMORY_NEVER, memory_order_relaxed);
    atomic_store_explicit(&calls, 0, memory_order_relaxed);
    atomic_store_explicit(&last_failing, last, memory_order_relaxed);
    atomic_store_explicit(&first_failing, first, memory_order_relaxed);
}

void memory_refuse(void)
{
    memory_fail(0, UINT64_MAX);
}

void memory_allow(void)
{
    atomic_store_explicit(&first_failing, MEMORY_NEVER, memory_order_relaxed);
}

uint64_t memory_calls(void)
{
    return atomic_load_explicit(&calls, memory_order_relaxed);
}

void memory_fail_maps(uint32_t n)
{
    atomic_store_explicit(&failing_maps, n, memory_order_relaxed);
}

uint32_t memory_maps_left(void)
{
    return atomic_load_explicit(&failing_maps, memory_order_relaxed);
}

/* Of HPX_FAULTS. */
static uint64_t in_turn(uint64_t *turn)
{
    const char *text = getenv("HPX_FAULTS");
    char *end = NULL;
    uint64_t n = text ? strtoull(text, &end, 10) : 1;
    *turn = end && *end == ':' ? strtoull(end + 1, NULL, 10) : 0;
    return n > 0 ? n : 1;
}

uint64_t memory_first_fault(void)
{
    uint64_t turn, n = in_turn(&turn);
    return 1 + turn % n;
}

uint64_t memory_fault_step(void)
{
    uint64_t turn;
    return in_turn(&turn);
}

static bool fails(void)
{
    uint64_t call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
    return call >= atomic_load_explicit(&first_failing, memory_order_relaxed) &&
           call <= atomic_load_explicit(&last_failing, memory_order_relaxed);
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}

int __wrap_posix_memalign(void **to, size_t alignment, size_t n)
{
    return fails() ? ENOMEM : __real_posix_memalign(to, alignment, n);
}

void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    uint32_t left = memory_maps_left();
    memory_fail_maps(left > 0 ? left - 1 : 0);
    if (fails() || left > 0) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(at, n, prot, flags, fd, offset);
}
