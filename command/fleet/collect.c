/* SPDX-License-Identifier: BSD-2-Clause */
/* collect.c: see collect.h. */
#include "collect.h"
