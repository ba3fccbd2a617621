/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c: hprofx-ship, which `hprofx ship`, `hprofx watch` and `hprofx fetch` run. */
#include "ship.h"
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static struct hpx_ship_asked asked;
    const char *verb = argc > 1 ? argv[1] : "";
    if (strcmp(verb, "ship") == 0 || strcmp(verb, "watch") == 0) {
        int status = hpx_ship_options(argc - 1, argv + 1, &asked);
        return status >= 0 ? status : hpx_ship(&asked);
    }
    if (strcmp(verb, "--version") == 0) {
        (void)puts("hprofx-ship " HPX_VERSION);
        return HPX_OK;
    }
    (void)fputs("hprofx-ship does the work of `hprofx ship`, `hprofx watch` and `hprofx fetch`; `hprofx ship --help` shows how\n", stderr);
    return HPX_USAGE;
}
