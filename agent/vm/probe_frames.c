/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_frames.c: see probe_frames.h. */
#include "probe_frames.h"
#include <stdatomic.h>

#define METHODS 32u /* of all classes together */

static struct {
    _Atomic uint32_t n; /* release: hpx_probe_frames_add(); acquire: is_probe() */
    uint64_t methods[METHODS];
    uint64_t least, largest; /* of them */
} known = {.least = UINT64_MAX};

bool hpx_probe_frames_add(jvmtiEnv *jvmti, jclass tracker)
{
    uint32_t at = atomic_load_explicit(&known.n, memory_order_relaxed);
    jmethodID *methods = NULL;
    jint n = 0;
    if ((*jvmti)->GetClassMethods(jvmti, tracker, &n, &methods) != JVMTI_ERROR_NONE) {
        return false;
    }
    bool fits = (uint32_t)n <= METHODS - at;
    for (jint i = 0; fits && i < n; i++) {
        uint64_t method = (uint64_t)(uintptr_t)methods[i];
        known.methods[at++] = method;
        known.least = method < known.least ? method : known.least;
        known.largest = method > known.largest ? method : known.largest;
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    atomic_store_explicit(&known.n, at, memory_order_release); /* partner: is_probe() */
    return fits;
}

uint32_t hpx_probe_frames_most(void)
{
    return atomic_load_explicit(&known.n, memory_order_relaxed) > 0 ? HPX_PROBE_FRAMES : 0;
}

static bool is_probe(uint64_t method)
{
    uint32_t n = atomic_load_explicit(&known.n, memory_order_acquire); /* partner: hpx_probe_frames_add() */
    if (n == 0 || method < known.least || method > known.largest) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (known.methods[i] == method) {
            return true;
        }
    }
    return false;
}

/* One step down the stack from frame i, of which `last` says how many frames are the probe's. false: what is below is the program's. The
 * frame on top may be of the JDK, as MethodHandle.linkToNative, or the probe's, and stand below once more. */
static bool goes_on(uint32_t i, uint64_t method, uint32_t *last)
{
    bool probe = i <= HPX_PROBE_FRAMES && is_probe(method);
    *last = probe ? i + 1 : *last;
    return probe || i == 0;
}

uint32_t hpx_probe_frames(const struct hpx_ev_frame *frames, int n)
{
    uint32_t last = 0;
    for (uint32_t i = 0; (int)i < n && goes_on(i, frames[i].method, &last); i++) {
    }
    return last;
}

bool hpx_probe_frames_astray(const struct hpx_ev_frame *frames, int n)
{
    for (int i = (int)hpx_probe_frames(frames, n); i < n; i++) {
        if (is_probe(frames[i].method)) {
            return true;
        }
    }
    return false;
}

uint32_t hpx_probe_frames_vm(const jvmtiFrameInfo *frames, jint n)
{
    uint32_t last = 0;
    for (uint32_t i = 0; (jint)i < n && goes_on(i, (uint64_t)(uintptr_t)frames[i].method, &last); i++) {
    }
    return last;
}
