/* SPDX-License-Identifier: BSD-2-Clause */
/* pages.h: zeroed memory that is allocated page by page on first touch and freed in pieces.
 *
 * Above HPX_PAGES_MAP bytes: a separate mapping with small pages, because clearing a huge page takes longer than the budget of an
 * insert. Below: calloc. Any thread, not in signal handlers. */
#ifndef HPX_PAGES_H
#define HPX_PAGES_H

#include "compiler.h"

#define HPX_PAGES_MAP  (64u << 10)
#define HPX_PAGES_DROP (64u << 10) /* give back in pieces of at least this size */

void *hpx_pages_new(size_t n); /* NULL without memory */
void hpx_pages_free(void *p, size_t n);
/* The caller no longer reads the bytes [from, to) of p, which has n bytes: frees their pages. */
void hpx_pages_drop(void *p, size_t n, size_t from, size_t to);

#endif
