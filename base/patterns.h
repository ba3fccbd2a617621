/* SPDX-License-Identifier: BSD-2-Clause */
/* patterns.h: matches names with the patterns of include= and exclude=, and of the filters of the command. Knows no JVM, keeps no state,
 * allocates nothing. Any thread. */
#ifndef HPX_PATTERNS_H
#define HPX_PATTERNS_H

#include "compiler.h"

/* A list is patterns separated by ':'. A pattern is a Java name in which '*' stands for any characters. A pattern without '*' names a class
 * with its nested classes, or a package with everything below it. */

/* true if the pattern, np bytes, matches the name; its '.' also stands for '/'. ends: the characters that end a class or a package in this
 * kind of names: a pattern without '*' also matches names that go on with one of them. "": only whole names. */
bool hpx_pattern_fits(const char *pattern, size_t np, const char *name, size_t len, const char *ends);
/* true if the list has no empty pattern and no '/'. */
bool hpx_patterns_valid(const char *list);
/* true if a pattern of the list matches the class. name: len bytes, in the VM's form ("java/util/Map$Entry"). */
bool hpx_patterns_match(const char *list, const char *name, size_t len);
/* true if the class is not excluded, and is included or there is no include list. NULL: no list. */
bool hpx_patterns_want(const char *include, const char *exclude, const char *name, size_t len);

#endif
