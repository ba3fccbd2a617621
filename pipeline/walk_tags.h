/* SPDX-License-Identifier: BSD-2-Clause */
/* walk_tags.h: tags of objects during a walk of the heap (heap dump).
 *
 * A walk gives every object that it meets an ordinal, and the tag of an object holds the ordinal instead of the site (site_ids.h). The tag
 * that the object had is kept here, with the length of an array, until the walk restores it; a free that the VM reports meanwhile finds it.
 *
 * One writer: the thread that walks, or the child that walks its own copy. Memory is mapped, never allocated: the writer may run in a VM
 * operation or in the child of a fork. */
#ifndef HPX_WALK_TAGS_H
#define HPX_WALK_TAGS_H

#include "compiler.h"
#include <stdatomic.h>

#define HPX_WALK_TAG   (UINT64_C(1) << 62) /* with HPX_SITE_CLASS_TAG the tag is that of a class */
#define HPX_WALK_KEEP  (UINT64_C(1) << 61) /* redact=: its contents stay readable */
#define HPX_WALK_BITS  20u
#define HPX_WALK_PAGES (1u << 13) /* times 2^20 objects */

struct hpx_walk_page {
    uint64_t tag[1u << HPX_WALK_BITS];    /* 0: it had none */
    uint32_t length[1u << HPX_WALK_BITS]; /* of an array, or 0 */
};

struct hpx_walk_tags {
    /* release: the writer, which maps the page; acquire: a thread that reports a free */
    _Atomic(struct hpx_walk_page *) pages[HPX_WALK_PAGES];
    uint64_t n; /* ordinals given out; the writer's */
};

static inline bool hpx_walk_is(uint64_t tag)
{
    return tag >> 62 == 1; /* without the bit of classes */
}
static inline uint64_t hpx_walk_ordinal(uint64_t tag)
{
    return tag & (HPX_WALK_KEEP - 1);
}
/* The writer: page of an ordinal that hpx_walk_new() returned. */
static inline struct hpx_walk_page *hpx_walk_page_of(struct hpx_walk_tags *w, uint64_t ordinal)
{
    return atomic_load_explicit(&w->pages[ordinal >> HPX_WALK_BITS], memory_order_relaxed);
}
#define HPX_WALK_SLOT(ordinal) ((ordinal) & ((1u << HPX_WALK_BITS) - 1))

/* Maps the page of this ordinal. false: no memory, or too many objects. The writer. */
bool hpx_walk_map(struct hpx_walk_tags *w, uint64_t ordinal);
/* The next ordinal, for an object with this tag so far. UINT64_MAX: no memory, or too many objects. The writer. */
static inline uint64_t hpx_walk_new(struct hpx_walk_tags *w, uint64_t tag)
{
    uint64_t ordinal = w->n;
    if (hpx_unlikely(HPX_WALK_SLOT(ordinal) == 0) && !hpx_walk_map(w, ordinal)) {
        return UINT64_MAX;
    }
    if (tag != 0) { /* untouched pages cost nothing */
        hpx_walk_page_of(w, ordinal)->tag[HPX_WALK_SLOT(ordinal)] = tag;
    }
    w->n++;
    return ordinal;
}
/* The tag that an object with this tag had before the walk: `tag` itself if it is not a walk's. Any thread; async-signal-safe. */
uint64_t hpx_walk_plain(const struct hpx_walk_tags *w, uint64_t tag);
/* Before a walk, when no object has a tag of the last one: forgets it and gives the memory back, but not the addresses. The writer. */
void hpx_walk_begin(struct hpx_walk_tags *w);
/* Unmaps all pages. No other thread uses w any more. */
void hpx_walk_tags_fini(struct hpx_walk_tags *w);
/* Bytes mapped. Any thread. */
size_t hpx_walk_bytes(const struct hpx_walk_tags *w);

#endif
