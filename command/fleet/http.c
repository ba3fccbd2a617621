/* SPDX-License-Identifier: BSD-2-Clause */
/* http.c: see http.h. */
#include "http.h"
