/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c: hprofx-ship, which `hprofx ship`, `hprofx watch` and `hprofx fetch` run. */
#include "fetch.h"
#include "ship.h"
#include <stdio.h>
#include <string.h>

static int ship(struct hpx_arguments *args)
{
    static struct hpx_ship_asked asked;
    int status = hpx_ship_options(args, &asked);
    return status >= 0 ? status : hpx_ship(&asked);
}

int main(int argc, char **argv)
{
    const struct hpx_verb *verb = argc > 1 ? hpx_verb_of(argv[1]) : NULL;
    if (verb != NULL && verb->fleet) {
        struct hpx_arguments args = hpx_arguments_of(verb, argv + 1);
        return strcmp(verb->name, "fetch") == 0 ? hpx_fetch(&args) : ship(&args);
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        (void)puts("hprofx-ship " HPX_VERSION);
        return HPX_OK;
    }
    (void)fputs("hprofx: hprofx-ship does the work of `hprofx ship`, `hprofx watch` and `hprofx fetch`; `hprofx ship --help` shows how\n",
                stderr);
    return HPX_USAGE;
}
