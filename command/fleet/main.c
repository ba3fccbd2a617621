/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c: hprofx-ship, which `hprofx ship`, `hprofx watch` and `hprofx fetch` run. */
#include "status.h"
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)fprintf(stderr, "hprofx-ship: %s\n", argc > 1 ? argv[1] : "");
    return HPX_USAGE;
}
