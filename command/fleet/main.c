/* SPDX-License-Identifier: BSD-2-Clause */
/* main.c: hprofx-ship, which `hprofx ship`, `hprofx watch` and `hprofx fetch` run. */
#include "fetch.h"
#include "ship.h"
#include <stdio.h>
#include <string.h>

static int ship(int argc, char **argv)
{
    static struct hpx_ship_asked asked;
    int status = hpx_ship_options(argc, argv, &asked);
    return status >= 0 ? status : hpx_ship(&asked);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *verb;
        int (*run)(int argc, char **argv);
    } verbs[] = {{"ship", ship}, {"watch", ship}, {"fetch", hpx_fetch}};
    const char *verb = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < HPX_ARRAY_LEN(verbs); i++) {
        if (strcmp(verbs[i].verb, verb) == 0) {
            return verbs[i].run(argc - 1, argv + 1);
        }
    }
    if (strcmp(verb, "--version") == 0) {
        (void)puts("hprofx-ship " HPX_VERSION);
        return HPX_OK;
    }
    (void)fputs("hprofx-ship does the work of `hprofx ship`, `hprofx watch` and `hprofx fetch`; `hprofx ship --help` shows how\n", stderr);
    return HPX_USAGE;
}
