/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_dump.c: the heap dump, levels 0 to 2. */
#include "shim.h"

static jint switched(jint event, bool on, void *arg)
{
    (void)event, (void)on, (void)arg;
    return JVMPI_NOT_AVAILABLE;
}

const struct hpx_jvmpi_source hpx_jvmpi_heap_dump = {
    .events = (const jint[]){JVMPI_EVENT_HEAP_DUMP, 0},
    .switched = switched,
};
