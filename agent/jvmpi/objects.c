/* SPDX-License-Identifier: BSD-2-Clause */
/* objects.c: objects that are allocated and freed. */
#include "shim.h"

static jint switched(jint event, bool on, void *arg)
{
    (void)event, (void)on, (void)arg;
    return JVMPI_NOT_AVAILABLE;
}

const struct hpx_jvmpi_source hpx_jvmpi_objects = {
    .events = (const jint[]){JVMPI_EVENT_OBJECT_ALLOC, JVMPI_EVENT_OBJECT_FREE, 0},
    .switched = switched,
};
