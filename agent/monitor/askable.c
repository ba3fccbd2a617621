/* SPDX-License-Identifier: BSD-2-Clause */
/* askable.c: see askable.h. */
#include "askable.h"
#include "boot_class.h"
#include "releases.h"

struct hpx_askable hpx_askable;

static bool get(jvmtiEnv *jvmti, const jvmtiCapabilities *want)
{
    return (*jvmti)->AddCapabilities(jvmti, want) == JVMTI_ERROR_NONE;
}

bool hpx_askable_load(jvmtiEnv *jvmti)
{
    const jvmtiCapabilities owned = {.can_get_owned_monitor_info = 1}, contended = {.can_get_current_contended_monitor = 1},
                            usage = {.can_get_monitor_info = 1};
    jint release = hpx_vm_release();
    /* Escape analysis: JDK 8 keeps it, from 16 on the VM undoes its work where a question needs that, between them it turns it off. */
    hpx_askable.owned_slows = release > 8 && release < 16;
    hpx_askable.owned_stops = release < 16;
    hpx_askable.biased = release < 15;
    hpx_askable.virtual_threads = release >= HPX_RELEASE_VIRTUAL;
    hpx_askable.owned = !hpx_askable.owned_slows && get(jvmti, &owned);
    hpx_askable.contended = get(jvmti, &contended);
    hpx_askable.usage = get(jvmti, &usage);
    return hpx_askable.usage;
}

void hpx_askable_live(JNIEnv *env)
{
    if (hpx_askable.synchronizer != NULL) {
        return;
    }
    jclass synchronizer = hpx_boot_class(env, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
    hpx_askable.owner = hpx_vm_field(env, synchronizer, "exclusiveOwnerThread", "Ljava/lang/Thread;");
    hpx_askable.synchronizer = synchronizer != NULL ? (*env)->NewGlobalRef(env, synchronizer) : NULL;
    if (hpx_askable.synchronizer == NULL) {
        hpx_askable.owner = NULL;
    }
    (*env)->DeleteLocalRef(env, synchronizer);
}
