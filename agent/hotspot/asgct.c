/* SPDX-License-Identifier: BSD-2-Clause */
/* asgct.c: calls AsyncGetCallTrace. */
#include "asgct.h"
#include "structures.h"
#include <jvmti.h>
#include <string.h>

/* Layout of HotSpot's forte.cpp, the caller's side. */
struct call_trace {
    void *env;
    jint num_frames;
    struct hpx_ev_frame *frames;
};

/* Constant after init. */
static void (*async_get_call_trace)(struct call_trace *, jint, void *);
static bool (*is_astray)(const struct hpx_ev_frame *frames, int n);

int hpx_asgct_init(bool (*astray)(const struct hpx_ev_frame *frames, int n), struct hpx_err *err)
{
    void *sym = hpx_structures_symbol("AsyncGetCallTrace");
    if (sym == NULL) {
        return hpx_err_set(err, HPX_E_VM, "this JVM has no AsyncGetCallTrace");
    }
    memcpy(&async_get_call_trace, &sym, sizeof sym); /* ISO C has no cast from object to function pointer */
    is_astray = astray;
    return 0;
}

bool hpx_asgct_astray_sig(const struct hpx_ev_frame *frames, int n)
{
    return is_astray(frames, n);
}

int hpx_asgct_ask_sig(const struct hpx_asgct *w, struct hpx_ev_frame *frames, void *context)
{
    struct call_trace t = {w->env, 0, frames};
    async_get_call_trace(&t, (jint)w->depth, context);
    return is_astray(frames, t.num_frames) ? -(int)HPX_UNKNOWN_NOT_WALKABLE_JAVA : t.num_frames;
}
