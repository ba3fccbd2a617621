/* SPDX-License-Identifier: BSD-2-Clause */
/* filters.h: the options of a command line that are filters (filter.h). No state; any thread. */
#ifndef HPX_COMMAND_FILTERS_H
#define HPX_COMMAND_FILTERS_H

#include "filter.h"
#include "verbs.h"

/* Whether the option (enum hpx_option_id) is a filter; then it is added. *wrong: NULL, or what is wrong with its value. */
bool hpx_filters_option(struct hpx_filter *f, int option, const char *value, const char **wrong);

#endif
