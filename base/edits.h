/* SPDX-License-Identifier: BSD-2-Clause */
/* edits.h: how far a word is from another, for messages that name the nearest one. Any thread. */
#ifndef HPX_EDITS_H
#define HPX_EDITS_H

#define HPX_EDITS_MOST 31u /* bytes of a word */

/* Letters that are put in, left out, changed or swapped with the next one, from a to b; capitals are as small ones. UINT_MAX: one of them
 * is longer than HPX_EDITS_MOST. */
unsigned hpx_edits(const char *a, const char *b);

#endif
