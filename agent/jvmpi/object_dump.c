/* SPDX-License-Identifier: BSD-2-Clause */
/* object_dump.c: the dump of one object. */
#include "shim.h"

static jint switched(jint event, bool on, void *arg)
{
    (void)event, (void)on, (void)arg;
    return JVMPI_NOT_AVAILABLE;
}

const struct hpx_jvmpi_source hpx_jvmpi_object_dump = {
    .events = (const jint[]){JVMPI_EVENT_OBJECT_DUMP, 0},
    .switched = switched,
};
