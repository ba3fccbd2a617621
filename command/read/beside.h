/* SPDX-License-Identifier: BSD-2-Clause */
/* beside.h: further files that killed runs left beside NAME, which recovering NAME does not touch. */
#ifndef HPX_READ_BESIDE_H
#define HPX_READ_BESIDE_H

#include <stddef.h>
#include <stdio.h>

/* One line for each NAME.k.part (a dump of split=y that was not complete) in the order of k, and one for what an earlier killed run left
 * under NAME.killed, with the command that recovers it. name, n: NAME without a suffix. A folder that cannot be read has none. */
void hpx_beside_say(const char *name, size_t n, FILE *to);

#endif
