/* SPDX-License-Identifier: BSD-2-Clause */
/* timeline_vm.c: timeline=y in the JVM: the pauses of the garbage collector. The other modes have the threads. */
#include "clock.h"
#include "pauses.h"
#include "timeline.h"
#include "vm_mode.h"

static HPX_OF_SESSION jvmtiEventGarbageCollectionFinish other; /* of a mode before; constant from load on */

static void capabilities(jvmtiCapabilities *want)
{
    want->can_generate_garbage_collection_events = 1;
}

/* In a pause: no lock, no memory, no call of the JVM. */
static void JNICALL begins(jvmtiEnv *jvmti)
{
    (void)jvmti;
    hpx_pauses_begin(hpx_clock_mono());
}

static void JNICALL ends(jvmtiEnv *jvmti)
{
    hpx_pauses_end(hpx_clock_mono());
    if (other != NULL) {
        other(jvmti);
    }
}

static void callbacks(union hpx_event_callbacks *all)
{
    other = all->known.GarbageCollectionFinish;
    all->known.GarbageCollectionStart = begins;
    all->known.GarbageCollectionFinish = ends;
}

const struct hpx_vm_mode hpx_timeline_vm = {
    .on_live = {JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH},
    .capabilities = capabilities,
    .callbacks = callbacks,
};
