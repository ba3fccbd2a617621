/* SPDX-License-Identifier: BSD-2-Clause */
/* foreign.h: files that people take for profiles and that hprofx does not read, by their first bytes. No state; any thread. */
#ifndef HPX_READ_FOREIGN_H
#define HPX_READ_FOREIGN_H

#include <stddef.h>

#define HPX_FOREIGN_BYTES 64 /* that are looked at */

/* "a JFR recording; ..."; NULL: no kind that is known here. */
const char *hpx_foreign(const char *bytes, size_t n);

#endif
