/* SPDX-License-Identifier: BSD-2-Clause */
/* wall_vm.c: wall= in the JVM. It has no states of threads: cpu=samples has them, which wall= turns on. */
#include "carrier.h"
#include "log.h"
#include "quiet_stack.h"
#include "session.h"
#include "virtual_waits.h"
#include "vm.h"
#include "vm_mode.h"
#include "wait_class.h"
#include "wall.h"
#include "watch.h"
#include "watched.h"
#include <string.h>

#define CARRIERS 21 /* the release from which on the scheduler's threads have a class of their own */

static int load(struct hpx_err *err)
{
    (void)err;
    hpx_quiet_stack_load(&hpx_wall_mode);
    hpx_virtual_waits_load();
    return 0;
}

static void callbacks(union hpx_event_callbacks *all)
{
    hpx_quiet_stack_callbacks(&all->known);
}

static void ready(JNIEnv *env)
{
    hpx_quiet_stack_ready(hpx_vm.jvmti, env, &hpx_session.counters);
}

/* The VM's own scheduler has threads of this class alone, and only if the program has virtual threads. */
static bool is_carrier(JNIEnv *env, jthread thread)
{
    char *name = NULL;
    if (thread == NULL || hpx_vm_release() < CARRIERS) {
        return false;
    }
    jclass klass = (*env)->GetObjectClass(env, thread);
    bool is = (*hpx_vm.jvmti)->GetClassSignature(hpx_vm.jvmti, klass, &name, NULL) == JVMTI_ERROR_NONE &&
              !strcmp(name, "Ljdk/internal/misc/CarrierThread;");
    (*hpx_vm.jvmti)->Deallocate(hpx_vm.jvmti, (unsigned char *)name);
    (*env)->DeleteLocalRef(env, klass);
    return is;
}

static void came(struct hpx_mode_thread *first, JNIEnv *env, jthread thread)
{
    hpx_watched_add(first);
    if (is_carrier(env, thread)) {
        hpx_watched_carrier();
        hpx_virtual_waits_carrier();
    }
}

static void live(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti;
    hpx_virtual_waits_live(env);
}

static void restore(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)jvmti;
    hpx_virtual_waits_restore(env);
}

static void open_watch(jvmtiEnv *jvmti)
{
    struct hpx_err err = {0};
    (void)jvmti;
    if (hpx_watch_start(&err) != 0) {
        hpx_warn("wall=: %s; WALL CLOCK will show only running threads", err.msg);
    }
}

static bool left(uint64_t until_ns)
{
    return hpx_looker_left(&hpx_looking_thread, until_ns);
}

static void leave(void)
{
    hpx_looker_stop(&hpx_looking_thread);
    if (!left(0)) { /* the gate closes before its last round */
        hpx_count(&hpx_session.counters, HPX_C_WALL_UNWRITTEN, hpx_watched_figures().threads);
    }
}

const struct hpx_vm_mode hpx_wall_vm = {
    .names = true,
    .lists = true,
    .optional = hpx_wait_class_load,
    .callbacks = callbacks,
    .load = load,
    .ready = ready,
    .live = live,
    .open = open_watch,
    .leave = leave,
    .left = left,
    .restore = restore,
    .disable = hpx_virtual_waits_unload,
    .over = hpx_quiet_stack_over,
    .unload = hpx_wait_class_forget,
    .came = came,
    .went = hpx_watched_remove,
    .ended = hpx_carrier_end,
};
