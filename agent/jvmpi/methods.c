/* SPDX-License-Identifier: BSD-2-Clause */
/* methods.c: calls of methods, and compiled code. */
#include "shim.h"

static jint switched(jint event, bool on, void *arg)
{
    (void)event, (void)on, (void)arg;
    return JVMPI_NOT_AVAILABLE;
}

const struct hpx_jvmpi_source hpx_jvmpi_methods = {
    .events = (const jint[]){JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_METHOD_ENTRY2, JVMPI_EVENT_METHOD_EXIT, JVMPI_EVENT_COMPILED_METHOD_LOAD,
                             JVMPI_EVENT_COMPILED_METHOD_UNLOAD, 0},
    .switched = switched,
};
