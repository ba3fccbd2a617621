/* SPDX-License-Identifier: BSD-2-Clause */
/* pages.c: mappings for large tables, calloc for small ones. */
#include "pages.h"
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096u /* a smaller page than the system's only makes madvise refuse: the memory then stays until the free */

void *hpx_pages_new(size_t n)
{
    if (n < HPX_PAGES_MAP) {
        return calloc(1, n);
    }
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return NULL;
    }
    (void)madvise(p, n, MADV_NOHUGEPAGE);
    return p;
}

void hpx_pages_free(void *p, size_t n)
{
    if (n < HPX_PAGES_MAP) {
        free(p);
    } else {
        (void)munmap(p, n);
    }
}

void hpx_pages_drop(void *p, size_t n, size_t from, size_t to)
{
    if (n < HPX_PAGES_MAP) {
        return;
    }
    from = (from + PAGE - 1) & ~(size_t)(PAGE - 1);
    to &= ~(size_t)(PAGE - 1);
    if (from < to) {
        (void)madvise((char *)p + from, to - from, MADV_DONTNEED);
    }
}
