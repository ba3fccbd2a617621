/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_check.c: hprofx check: whether an HPROF file is sound. The rules are those of read/check.h. */
#include "subcommands.h"

int hpx_check_file(struct hpx_arguments *a)
{
    return hpx_examine(a, true);
}
