/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor_dump.c: the monitor dump. */
#include "shim.h"

static jint switched(jint event, bool on, void *arg)
{
    (void)event, (void)on, (void)arg;
    return JVMPI_NOT_AVAILABLE;
}

const struct hpx_jvmpi_source hpx_jvmpi_monitor_dump = {
    .events = (const jint[]){JVMPI_EVENT_MONITOR_DUMP, 0},
    .switched = switched,
};
