/* SPDX-License-Identifier: BSD-2-Clause */
/* unwind_functions.h: see unwind_functions.c. */
#ifndef HPX_UNWIND_FUNCTIONS_H
#define HPX_UNWIND_FUNCTIONS_H

#include <stdio.h>

int pointers_all(int n);
int none_all(int n);

#endif
