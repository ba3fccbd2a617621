/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_events.c: events of the VM as a whole: start, end, SIGQUIT, collections. */
#include "frees.h"
#include "shim.h"

static void JNICALL data_dump(jvmtiEnv *jvmti)
{
    (void)jvmti;
    if (hpx_jvmpi_on(JVMPI_EVENT_DATA_DUMP_REQUEST)) {
        hpx_jvmpi_notify(&(JVMPI_Event){.event_type = JVMPI_EVENT_DATA_DUMP_REQUEST, .env_id = hpx_jvmpi_env()});
    }
}

/* Both come on a thread of the VM, which has no JNIEnv and must not call JNI, nor JVMTI but for very little: no sizes can be asked for. */
static void JNICALL collection_start(jvmtiEnv *jvmti)
{
    (void)jvmti;
    if (hpx_jvmpi_on(JVMPI_EVENT_GC_START)) {
        hpx_jvmpi_notify(&(JVMPI_Event){.event_type = JVMPI_EVENT_GC_START});
    }
}

static void JNICALL collection_finish(jvmtiEnv *jvmti)
{
    (void)jvmti;
    hpx_jvmpi_frees_collected();
    if (hpx_jvmpi_on(JVMPI_EVENT_GC_FINISH)) {
        hpx_jvmpi_notify(&(JVMPI_Event){.event_type = JVMPI_EVENT_GC_FINISH});
    }
}

static jint switched(jint event, bool on, void *arg)
{
    jvmtiEvent vm;
    (void)arg;
    switch (event) {
    case JVMPI_EVENT_DATA_DUMP_REQUEST:
        vm = JVMTI_EVENT_DATA_DUMP_REQUEST;
        break;
    case JVMPI_EVENT_GC_START:
        vm = JVMTI_EVENT_GARBAGE_COLLECTION_START;
        break;
    case JVMPI_EVENT_GC_FINISH:
        vm = JVMTI_EVENT_GARBAGE_COLLECTION_FINISH;
        on = on || hpx_jvmpi_frees_need_collections();
        break;
    default: /* VMInit and VMDeath are always on (load.c) */
        return JVMPI_SUCCESS;
    }
    return hpx_jvmpi_listen(vm, on) ? JVMPI_SUCCESS : JVMPI_FAIL;
}

static void callbacks(jvmtiEventCallbacks *set)
{
    set->DataDumpRequest = data_dump;
    set->GarbageCollectionStart = collection_start;
    set->GarbageCollectionFinish = collection_finish;
}

const struct hpx_jvmpi_source hpx_jvmpi_vm_events = {
    .events = (const jint[]){JVMPI_EVENT_JVM_INIT_DONE, JVMPI_EVENT_JVM_SHUT_DOWN, JVMPI_EVENT_DATA_DUMP_REQUEST, JVMPI_EVENT_GC_START,
                             JVMPI_EVENT_GC_FINISH, 0},
    .switched = switched,
    .callbacks = callbacks,
};
