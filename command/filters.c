/* SPDX-License-Identifier: BSD-2-Clause */
/* filters.c: see filters.h. */
#include "filters.h"
#include "window.h"
#include <string.h>

bool hpx_filters_is_time(int option, const char *value)
{
    return option == HPX_O_FROM || option == HPX_O_TO_TIME || option == HPX_O_AROUND ||
           (option == HPX_O_TO && value != NULL && value[0] >= '0' && value[0] <= '9');
}

bool hpx_filters_option(struct hpx_filter *f, int option, const char *value, const char **wrong)
{
    static const struct {
        enum hpx_option_id option;
        enum hpx_filter_kind kind;
        const char *empty;
    } all[HPX_FILTERS] = {{HPX_O_INCLUDE, HPX_FILTER_INCLUDE, "--include wants a method, class, package or thread"},
                          {HPX_O_EXCLUDE, HPX_FILTER_EXCLUDE, "--exclude wants a method, class, package or thread"},
                          {HPX_O_THREAD, HPX_FILTER_THREAD, "--thread wants the name of a thread"},
                          {HPX_O_STATE, HPX_FILTER_STATE, "--state wants a state, such as blocked"},
                          {HPX_O_ROOT, HPX_FILTER_ROOT, "--root wants a method, class or package"},
                          {HPX_O_LEAF, HPX_FILTER_LEAF, "--leaf wants a method, class or package"}};
    *wrong = NULL;
    if (hpx_filters_is_time(option, value)) {
        enum hpx_window_end end = option == HPX_O_FROM ? HPX_WINDOW_FROM : option == HPX_O_AROUND ? HPX_WINDOW_AROUND : HPX_WINDOW_TO;
        bool taken = hpx_window_set(end, value);
        *wrong = taken ? hpx_window_wrong() : HPX_FILTERS_NO_TIME;
        return true;
    }
    for (size_t i = 0; i < HPX_FILTERS; i++) {
        if ((int)all[i].option == option) {
            *wrong = value[0] == '\0' ? all[i].empty : hpx_filter_add(f, all[i].kind, value) ? NULL : "no memory";
            return true;
        }
    }
    return false;
}
