/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs.h: the names of all subcommands. No state; any thread. */
#ifndef HPX_COMMAND_VERBS_H
#define HPX_COMMAND_VERBS_H

#include <stdbool.h>

bool hpx_verb_is(const char *word);
/* The one that is spelt nearly so; NULL: none is near. */
const char *hpx_verb_nearest(const char *word);

#endif
