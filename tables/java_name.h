/* SPDX-License-Identifier: BSD-2-Clause */
/* java_name.h: a class's JVM signature as Java spells it: Lp/C$D; -> p.C$D, [[I -> int[][]. Pure; any thread. */
#ifndef HPX_JAVA_NAME_H
#define HPX_JAVA_NAME_H

#include "compiler.h"

/* Room that any signature of n bytes needs. */
#define HPX_JAVA_NAME_MAX(n) (2 * (n) + 8)

/* Writes at most HPX_JAVA_NAME_MAX(n) bytes, without a terminator; returns their number. Other text is copied, with '.' for '/'. */
size_t hpx_java_name(char *to, const char *signature, size_t n);

#endif
