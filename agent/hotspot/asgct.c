/* SPDX-License-Identifier: BSD-2-Clause */
/* asgct.c: calls AsyncGetCallTrace. */
#include "asgct.h"
#include "libjvm.h"
#include <string.h>

/* Layout of HotSpot's forte.cpp, the caller's side. */
struct call_trace {
    void *env;
    jint num_frames;
    struct hpx_ev_frame *frames;
};

/* Constant after init. */
static void (*async_get_call_trace)(struct call_trace *, jint, void *);
static HPX_OF_SESSION bool zero;

const char *hpx_asgct_init(jvmtiEnv *jvmti)
{
    char *name = NULL;
    if ((*jvmti)->GetSystemProperty(jvmti, "java.vm.name", &name) != JVMTI_ERROR_NONE) {
        name = NULL;
    }
    bool known = name != NULL && (strstr(name, "OpenJDK") != NULL || strstr(name, "HotSpot") != NULL);
    zero = name != NULL && strstr(name, "Zero") != NULL;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    void *symbol = known ? hpx_libjvm_symbol("AsyncGetCallTrace") : NULL;
    if (symbol == NULL) {
        return known ? "this JVM has no AsyncGetCallTrace" : "AsyncGetCallTrace is not known to work on this VM";
    }
    memcpy(&async_get_call_trace, &symbol, sizeof symbol); /* ISO C has no cast from object to function pointer */
    return hpx_guard_forbidden() != NULL ? "AsyncGetCallTrace may fault, and -Xcheck:jni reports handlers of faults" : NULL;
}

bool hpx_asgct_guardable(void)
{
    return !zero;
}

struct question {
    struct call_trace t;
    jint depth;
    void *context;
};

static int ask(void *arg)
{
    struct question *q = arg;
    async_get_call_trace(&q->t, q->depth, q->context);
    return q->t.num_frames;
}

int hpx_asgct_take_sig(void *env, struct hpx_ev_frame *frames, uint32_t depth, void *context)
{
    struct question q = {{env, 0, frames}, (jint)depth, context};
    int n = 0;
    if (!hpx_guard_run_sig(ask, &q, &n)) {
        return -(int)HPX_UNKNOWN_FAULT;
    }
    for (int i = 0; i < n; i++) {
        frames[i].pad = 0;
    }
    return n > -(int)HPX_UNKNOWN_THREAD_ENDED ? n : -(int)HPX_UNKNOWN_OTHER;
}
