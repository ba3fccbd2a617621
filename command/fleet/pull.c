/* SPDX-License-Identifier: BSD-2-Clause */
/* pull.c: see pull.h. */
#include "pull.h"
