/* SPDX-License-Identifier: BSD-2-Clause */
/* pages.h: zeroed memory whose pages come one by one when first touched, and go in pieces.
 *
 * Above HPX_PAGES_MAP bytes: a mapping of its own, small pages: clearing a huge page at one touch takes longer than a whole budget of an
 * insert. Below: calloc. Any thread, not in signal handlers. */
#ifndef HPX_PAGES_H
#define HPX_PAGES_H

#include "compiler.h"

#define HPX_PAGES_MAP  (64u << 10)
#define HPX_PAGES_DROP (64u << 10) /* give back in pieces of at least this size */

void *hpx_pages_new(size_t n); /* NULL without memory */
void hpx_pages_free(void *p, size_t n);
/* The bytes [from, to) of p, which was made with n bytes, will not be read again before the free. */
void hpx_pages_drop(void *p, size_t n, size_t from, size_t to);

#endif
