/* SPDX-License-Identifier: BSD-2-Clause */
/* refs.c: global and weak references of JNI. */
#include "shim.h"

static jint switched(jint event, bool on, void *arg)
{
    (void)event, (void)on, (void)arg;
    return JVMPI_NOT_AVAILABLE;
}

const struct hpx_jvmpi_source hpx_jvmpi_refs = {
    .events = (const jint[]){JVMPI_EVENT_JNI_GLOBALREF_ALLOC, JVMPI_EVENT_JNI_GLOBALREF_FREE, JVMPI_EVENT_JNI_WEAK_GLOBALREF_ALLOC,
                             JVMPI_EVENT_JNI_WEAK_GLOBALREF_FREE, 0},
    .switched = switched,
};
