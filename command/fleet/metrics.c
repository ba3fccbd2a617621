/* SPDX-License-Identifier: BSD-2-Clause */
/* metrics.c: see metrics.h. */
#include "metrics.h"
