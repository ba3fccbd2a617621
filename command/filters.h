/* SPDX-License-Identifier: BSD-2-Clause */
/* filters.h: the options of a command line that are filters (filter.h) or choose a part of the time (window.h). */
#ifndef HPX_COMMAND_FILTERS_H
#define HPX_COMMAND_FILTERS_H

#include "filter.h"
#include "verbs.h"

#define HPX_FILTERS_NO_TIME "--from, --to and --around want a time: 90s or 1m30s from the start, or 14:03:20"
/* Whether the option chooses a part of the time. --to is the suffix of a format, too, which begins with no digit. */
bool hpx_filters_is_time(int option, const char *value);
/* Whether the option (enum hpx_option_id) is a filter or chooses a part of the time; then it is added. *wrong: NULL, or what is wrong with
 * its value. */
bool hpx_filters_option(struct hpx_filter *f, int option, const char *value, const char **wrong);

#endif
