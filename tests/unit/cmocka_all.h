/* SPDX-License-Identifier: BSD-2-Clause */
/* cmocka_all.h: cmocka with the headers that it wants before itself. */
#ifndef HPX_CMOCKA_ALL_H
#define HPX_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#endif
