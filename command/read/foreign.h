/* SPDX-License-Identifier: BSD-2-Clause */
/* foreign.h: files that people take for HPROF, by their first bytes: of JFR, which hpx_tree_read() reads, and of what hprofx does not read.
 * No state; any thread. */
#ifndef HPX_READ_FOREIGN_H
#define HPX_READ_FOREIGN_H

#include <stddef.h>

#define HPX_FOREIGN_BYTES 64 /* that are looked at */

/* "a JFR recording; ..."; NULL: no kind that is known here. */
const char *hpx_foreign(const char *bytes, size_t n);

#endif
