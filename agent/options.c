/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c: takes the option string apart. */
#include "options.h"

int hpx_options_parse(struct hpx_options *o, const char *java_hprof_options, const char *hprofx_options, const char *command_line,
                      struct hpx_err *err)
{
    (void)java_hprof_options;
    (void)hprofx_options;
    (void)command_line;
    *o = (struct hpx_options){0};
    return hpx_err_set(err, HPX_E_OPT, "options are not parsed yet");
}
