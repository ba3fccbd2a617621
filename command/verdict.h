/* SPDX-License-Identifier: BSD-2-Clause */
/* verdict.h: what a profile means, in a few sentences. */
#ifndef HPX_COMMAND_VERDICT_H
#define HPX_COMMAND_VERDICT_H

#include "profile.h"
#include "usage.h"
#include <stdio.h>

struct hpx_verdict {
    const char *name;       /* of the program */
    struct hpx_usage usage; /* hpx_usage_between(); `at` 0: not known */
    bool bounded;           /* a longer -d is possible */
};

/* The places that it names are those of places.h. Sorts p->methods. */
void hpx_verdict_say(FILE *to, const struct hpx_verdict *v, struct hpx_profile *p);

#endif
