/* SPDX-License-Identifier: BSD-2-Clause */
/* walk_tags.c: the pages of walk_tags.h. */
#include "walk_tags.h"
#include <string.h>
#include <sys/mman.h>

bool hpx_walk_map(struct hpx_walk_tags *w, uint64_t ordinal)
{
    uint64_t at = ordinal >> HPX_WALK_BITS;
    if (at >= HPX_WALK_PAGES) {
        return false;
    }
    if (atomic_load_explicit(&w->pages[at], memory_order_relaxed) != NULL) {
        return true;
    }
    void *p = mmap(NULL, sizeof(struct hpx_walk_page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        return false;
    }
    atomic_store_explicit(&w->pages[at], p, memory_order_release); /* partner: hpx_walk_plain() */
    return true;
}

uint64_t hpx_walk_plain(const struct hpx_walk_tags *w, uint64_t tag)
{
    uint64_t at = hpx_walk_ordinal(tag) >> HPX_WALK_BITS;
    if (!hpx_walk_is(tag)) {
        return tag;
    }
    const struct hpx_walk_page *p =
        at < HPX_WALK_PAGES ? atomic_load_explicit(&w->pages[at], memory_order_acquire) : NULL; /* partner: hpx_walk_map() */
    return p != NULL ? p->tag[HPX_WALK_SLOT(hpx_walk_ordinal(tag))] : 0;
}

/* The pages stay mapped: the VM may be reporting a free with a tag of the last walk, which then stands for no tag. */
void hpx_walk_begin(struct hpx_walk_tags *w)
{
    for (uint32_t i = 0; i < HPX_WALK_PAGES; i++) {
        struct hpx_walk_page *p = atomic_load_explicit(&w->pages[i], memory_order_relaxed);
        if (p == NULL) {
            break;
        }
        if (madvise(p, sizeof *p, MADV_DONTNEED) != 0) {
            memset(p, 0, sizeof *p);
        }
    }
    w->n = 0;
}

void hpx_walk_tags_fini(struct hpx_walk_tags *w)
{
    for (uint32_t i = 0; i < HPX_WALK_PAGES; i++) {
        struct hpx_walk_page *p = atomic_load_explicit(&w->pages[i], memory_order_relaxed);
        if (p == NULL) {
            break;
        }
        atomic_store_explicit(&w->pages[i], NULL, memory_order_relaxed);
        munmap(p, sizeof *p);
    }
    w->n = 0;
}

size_t hpx_walk_bytes(const struct hpx_walk_tags *w)
{
    size_t n = 0;
    while (n < HPX_WALK_PAGES && atomic_load_explicit(&w->pages[n], memory_order_relaxed) != NULL) {
        n++;
    }
    return n * sizeof(struct hpx_walk_page);
}
