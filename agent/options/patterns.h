/* SPDX-License-Identifier: BSD-2-Clause */
/* patterns.h: which classes include= and exclude= name. No JVM. Any thread; nothing is kept. */
#ifndef HPX_PATTERNS_H
#define HPX_PATTERNS_H

#include "compiler.h"

/* A list is patterns with ':' between: Java names in which '*' stands for any characters; one without '*' names a class, with its nested
 * ones, or a package, with all below it. */

/* A list that can be used: no empty pattern, no '/'. */
bool hpx_patterns_valid(const char *list);
/* One of the list's patterns fits the class. name: len bytes, in the VM's form ("java/util/Map$Entry"). */
bool hpx_patterns_match(const char *list, const char *name, size_t len);
/* What the options say: not excluded, and included or nothing is. NULL: no list. */
bool hpx_patterns_want(const char *include, const char *exclude, const char *name, size_t len);

#endif
