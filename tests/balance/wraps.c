/* SPDX-License-Identifier: BSD-2-Clause */
/* wraps.c: the allocating functions of libc as the agent's code calls them, by the linker's --wrap: each call is counted and passed on. */
#include "balance.h"
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HERE __builtin_frame_address(0)

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
int __real_posix_memalign(void **to, size_t alignment, size_t n);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t n);
void *__real_mremap(void *at, size_t n, size_t wanted, int flags, void *to);
int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **to);
void __real_freeaddrinfo(struct addrinfo *list);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t n);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
int __wrap_posix_memalign(void **to, size_t alignment, size_t n);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t n);
void *__wrap_mremap(void *at, size_t n, size_t wanted, int flags, void *to);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **to);
void __wrap_freeaddrinfo(struct addrinfo *list);

void *__wrap_malloc(size_t n)
{
    void *p = __real_malloc(n);
    hpx_balance_add(HPX_BALANCE_HEAP, p, n, HERE);
    return p;
}

void *__wrap_calloc(size_t count, size_t n)
{
    void *p = __real_calloc(count, n);
    hpx_balance_add(HPX_BALANCE_HEAP, p, count * n, HERE);
    return p;
}

/* The old address may be another thread's as soon as realloc returns, so it leaves the table before; on failure it comes back under the
 * caller of this. */
void *__wrap_realloc(void *p, size_t n)
{
    hpx_balance_remove(HPX_BALANCE_HEAP, p);
    void *moved = __real_realloc(p, n);
    hpx_balance_add(HPX_BALANCE_HEAP, moved != NULL ? moved : p, n, HERE);
    return moved;
}

void __wrap_free(void *p)
{
    hpx_balance_remove(HPX_BALANCE_HEAP, p);
    __real_free(p);
}

char *__wrap_strdup(const char *s)
{
    char *p = __real_strdup(s);
    hpx_balance_add(HPX_BALANCE_HEAP, p, strlen(s) + 1, HERE);
    return p;
}

char *__wrap_strndup(const char *s, size_t n)
{
    char *p = __real_strndup(s, n);
    hpx_balance_add(HPX_BALANCE_HEAP, p, p != NULL ? strlen(p) + 1 : 0, HERE);
    return p;
}

int __wrap_posix_memalign(void **to, size_t alignment, size_t n)
{
    int rc = __real_posix_memalign(to, alignment, n);
    if (rc == 0) {
        hpx_balance_add(HPX_BALANCE_HEAP, *to, n, HERE);
    }
    return rc;
}

void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
    void *p = __real_mmap(at, n, prot, flags, fd, offset);
    if (p != MAP_FAILED) {
        hpx_balance_add(HPX_BALANCE_MAPPING, p, n, HERE);
    }
    return p;
}

int __wrap_munmap(void *at, size_t n)
{
    hpx_balance_remove(HPX_BALANCE_MAPPING, at);
    return __real_munmap(at, n);
}

/* `to` counts only with MREMAP_FIXED, and is what was in the register else: the call is the same. What was mapped there is replaced. */
void *__wrap_mremap(void *at, size_t n, size_t wanted, int flags, void *to)
{
    void *p = __real_mremap(at, n, wanted, flags, to);
    if (p != MAP_FAILED) {
        hpx_balance_remove(HPX_BALANCE_MAPPING, at);
        hpx_balance_add(HPX_BALANCE_MAPPING, p, wanted, HERE);
    }
    return p;
}

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **to)
{
    int rc = __real_getaddrinfo(node, service, hints, to);
    if (rc == 0) {
        hpx_balance_add(HPX_BALANCE_HEAP, *to, sizeof **to, HERE);
    }
    return rc;
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
    hpx_balance_remove(HPX_BALANCE_HEAP, list);
    __real_freeaddrinfo(list);
}
