/* SPDX-License-Identifier: BSD-2-Clause */
/* census_none.c: in place of census_read.c in a build that reads nothing of the VM's internals (-Dhotspot=false): nobody gets this far. */
#include "census_read.h"

const char *hpx_census_read_init(void)
{
    return "this build reads nothing of the VM's internals";
}

const char *hpx_census_read_off(void)
{
    return hpx_census_read_init();
}

enum hpx_census_end hpx_census_read(const struct hpx_census_plan *plan, struct hpx_census *to, _Atomic uint64_t *progress)
{
    (void)plan, (void)to, (void)progress;
    return HPX_CENSUS_STRANGE;
}
