/* SPDX-License-Identifier: BSD-2-Clause */
/* class_events.c: classes that are loaded and unloaded, and the hook. */
#include "shim.h"

static jint switched(jint event, bool on, void *arg)
{
    (void)event, (void)on, (void)arg;
    return JVMPI_NOT_AVAILABLE;
}

const struct hpx_jvmpi_source hpx_jvmpi_class_events = {
    .events = (const jint[]){JVMPI_EVENT_CLASS_LOAD, JVMPI_EVENT_CLASS_UNLOAD, JVMPI_EVENT_CLASS_LOAD_HOOK, 0},
    .switched = switched,
};
