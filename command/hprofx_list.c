/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_list.c: see subcommands.h. */
#include "subcommands.h"
#include "target.h"
#include <stdio.h>

static bool list_one(void *ctx, const struct hpx_target *t)
{
    char name[256];
    (void)ctx;
    hpx_target_name(t, name, sizeof name);
    (void)printf("%7d  %-8u  %s%s\n", (int)t->pid, (unsigned)t->uid, name, t->library[0] != 0 ? "  (hprofx is loaded)" : "");
    return true;
}

int hpx_list(void)
{
    hpx_targets_each(list_one, NULL);
    return HPX_OK;
}
