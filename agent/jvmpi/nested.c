/* SPDX-License-Identifier: BSD-2-Clause */
/* nested.c: see nested.h. */
#include "nested.h"

static __thread bool inside;

bool hpx_jvmpi_nested_may(jint event)
{
    return hpx_jvmpi_on(event) && !inside && !hpx_jvmpi_own() &&
           atomic_load_explicit(&hpx_jvmpi.phase, memory_order_relaxed) == HPX_JVMPI_LIVE;
}

/* What the handler throws is not the program's; what the program has pending stays. */
void hpx_jvmpi_nested_notify(JNIEnv *env, JVMPI_Event *event)
{
    const bool pending = (*env)->ExceptionCheck(env), outer = inside; /* a handler may request one */
    event->env_id = env;
    inside = true;
    hpx_jvmpi_notify(event);
    inside = outer;
    if (hpx_unlikely(!pending && (*env)->ExceptionCheck(env))) {
        (*env)->ExceptionClear(env);
    }
}
