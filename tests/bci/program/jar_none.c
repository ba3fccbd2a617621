/* SPDX-License-Identifier: BSD-2-Clause */
/* jar_none.c: --jar in a program that was built without libarchive. */
#include "program.h"
#include <stdio.h>

int hpx_jar_rewrite(const struct hprofx_bci_opts *opts, const char *in, const char *out, bool verbose)
{
    (void)opts, (void)in, (void)out, (void)verbose;
    fprintf(stderr, "hprofx-bci: --jar: built without libarchive\n");
    return HPX_EXIT_USAGE;
}
