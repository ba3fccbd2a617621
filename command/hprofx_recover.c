/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_recover.c: hprofx recover: what a killed run left is made whole (read/recover.h). */
#include "beside.h"
#include "recover.h"
#include "subcommands.h"
#include <stdio.h>

static int recover(const char *name)
{
    struct hpx_err said;
    int rc = hpx_recover(name, &said);
    (void)fprintf(rc == 0 ? stdout : stderr, "%s%s\n", rc == 0 ? "" : "hprofx: ", said.msg);
    hpx_beside_say(name, hpx_recover_base(name), stdout);
    return rc == 0 ? HPX_OK : rc == -HPX_E_RANGE ? HPX_PARTIAL : HPX_FAILED;
}

int hpx_recover_file(struct hpx_arguments *a)
{
    const char *name = NULL;
    size_t names = 0;
    for (int next; (next = hpx_arguments_next(a)) != HPX_ARGUMENTS_LAST; names++) {
        if (next == HPX_ARGUMENTS_ENDS) {
            return a->status;
        }
        name = a->value;
    }
    return names == 1 ? recover(name) : hpx_arguments_misuse(a, "recover takes one name");
}
