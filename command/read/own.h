/* SPDX-License-Identifier: BSD-2-Clause */
/* own.h: whose code a frame is: that of the JDK, of a known library, or of the program. One thread. */
#ifndef HPX_READ_OWN_H
#define HPX_READ_OWN_H

#include <stdbool.h>
#include <stddef.h>

enum hpx_whose {
    HPX_WHOSE_NONE, /* no method: what stands for stacks without frames, and the like */
    HPX_WHOSE_JDK,
    HPX_WHOSE_LIBRARY,
    HPX_WHOSE_OTHER, /* the program's, or that of a library that is not known */
    HPX_WHOSE_MINE,  /* of a prefix of hpx_own_mine() */
};

/* Of a method, "p.C.m", with dots or slashes. */
enum hpx_whose hpx_own(const char *method);
/* Whoever made the code: the first two parts of the package; 0: the class has none. */
size_t hpx_own_maker(const char *method);

/* --mine: a list of prefixes with commas between, "com.acme"; more calls add to it. false: one is empty or longer than a name may be, or
 * there are too many. */
bool hpx_own_mine(const char *prefixes);
/* Forgets them. */
void hpx_own_nobody(void);
/* There are some. */
bool hpx_own_is_told(void);

#endif
