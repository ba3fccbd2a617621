/* SPDX-License-Identifier: BSD-2-Clause */
/* patterns.c: the matching of patterns.h. It remembers only the last '*', so matching takes at most pattern length times name length. */
#include "patterns.h"
#include <string.h>

bool hpx_patterns_valid(const char *list)
{
    size_t n = 0;
    for (const char *p = list;; p++) {
        if (*p == ':' || *p == 0) {
            if (n == 0) {
                return false;
            }
            n = 0;
        } else if (*p == '/') {
            return false;
        } else {
            n++;
        }
        if (*p == 0) {
            return true;
        }
    }
}

static bool same(char pattern, char name)
{
    return pattern == name || (pattern == '.' && name == '/');
}

bool hpx_pattern_fits(const char *p, size_t np, const char *name, size_t len, const char *ends)
{
    size_t i = 0, at = 0, star = np, back = 0;
    while (at < len) {
        if (i < np && p[i] == '*') {
            star = i++;
            back = at;
        } else if (i < np && same(p[i], name[at])) {
            i++;
            at++;
        } else if (i == np && star == np && strchr(ends, name[at]) != NULL && name[at] != 0) {
            return true; /* the pattern names an outer class or a package of the class */
        } else if (star < np) {
            i = star + 1;
            at = ++back;
        } else {
            return false;
        }
    }
    while (i < np && p[i] == '*') {
        i++;
    }
    return i == np;
}

bool hpx_patterns_match(const char *list, const char *name, size_t len)
{
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ":");
        if (hpx_pattern_fits(p, n, name, len, "/$")) {
            return true;
        }
        p += n + (p[n] != 0);
    }
    return false;
}

bool hpx_patterns_want(const char *include, const char *exclude, const char *name, size_t len)
{
    if (exclude != NULL && hpx_patterns_match(exclude, name, len)) {
        return false;
    }
    return include == NULL || hpx_patterns_match(include, name, len);
}
