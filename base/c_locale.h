/* SPDX-License-Identifier: BSD-2-Clause */
/* c_locale.h: numbers and messages as in C, whatever locale the program has. */
#ifndef HPX_C_LOCALE_H
#define HPX_C_LOCALE_H

#include <locale.h>

/* glibc's own object, which it does not make: never NULL, never freed. */
static inline locale_t hpx_c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

#endif
