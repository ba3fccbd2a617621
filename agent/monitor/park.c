/* SPDX-License-Identifier: BSD-2-Clause */
/* park.c: see park.h. */
#include "park.h"
#include "clock.h"
#include "log.h"
#include "places.h"
#include "threads.h"
#include "virtuals.h"
#include <string.h>

#define CAN_EARLY_VMSTART 41 /* bit of can_generate_early_vmstart (JVMTI 9): else a method has no name when Unsafe.park is bound */

typedef void(JNICALL *park_fn)(JNIEnv *env, jobject unsafe, jboolean absolute, jlong time);

static struct {
    _Atomic(park_fn) vms; /* the VM's. release: the event that replaces it; acquire: park() */
    atomic_bool live;     /* release: VMInit; acquire: park() */
} parks;

/* What is parked, and where. */
struct parked {
    struct hpx_block_thread *t;
    uint32_t session;
    jthread self;
    bool virtual;
    struct hpx_place_of of;
    uint32_t id, pinned_id;
    uint64_t since;
};

static bool exact(void)
{
    return hpx_session.opt->stacks == HPX_STACKS_EXACT;
}

static uint32_t take(const struct parked *p, enum hpx_block_part part)
{
    struct hpx_place_of of = p->of;
    of.part = part;
    return exact() ? hpx_places_take(p->t, hpx_vm.jvmti, &of, true) : 0;
}

/* No exception is pending: Java code calls park(). false: not recorded. */
static bool begin(struct parked *p, JNIEnv *env)
{
    if (!atomic_load_explicit(&parks.live, memory_order_acquire) || !hpx_gate_enter(&hpx_session.gate)) { /* partner: hpx_park_live() */
        return false;
    }
    jvmtiEnv *jvmti = hpx_vm.jvmti; /* inside: it is of this session */
    *p = (struct parked){.t = hpx_block_find_self(env), .since = hpx_clock_mono()};
    p->session = p->t != NULL ? p->t->s.session : 0;
    if (p->t != NULL && (*jvmti)->GetCurrentThread(jvmti, &p->self) == JVMTI_ERROR_NONE && p->self != NULL) {
        p->virtual = hpx_virtuals_is(env, p->self);
        if (!p->virtual && !hpx_session.opt->locks) {
            (*env)->DeleteLocalRef(env, p->self);
            p->self = NULL;
            hpx_gate_leave(&hpx_session.gate);
            return false;
        }
        jobject blocker = (*env)->GetObjectField(env, p->self, hpx_vm_fields.blocker);
        p->of = (struct hpx_place_of){.thread = p->self, .klass = hpx_places_class(jvmti, env, blocker), .part = HPX_BLOCK_PARK};
        (*env)->DeleteLocalRef(env, blocker);
        if (p->virtual && hpx_session.opt->thread) {
            p->of.serial = hpx_virtuals_serial(jvmti, env, p->self);
        }
        p->id = hpx_session.opt->locks ? take(p, HPX_BLOCK_PARK) : 0;
        p->pinned_id = hpx_session.opt->pinned && p->virtual ? take(p, HPX_BLOCK_PINNED) : 0;
    }
    hpx_gate_leave(&hpx_session.gate); /* a thread may be parked for ever */
    return p->self != NULL;
}

static void end(struct parked *p, JNIEnv *env)
{
    uint64_t ns = hpx_clock_mono() - p->since;
    if (hpx_gate_enter(&hpx_session.gate)) {
        bool same = hpx_session_is(p->session); /* else it was parked in an earlier one */
        if (same && hpx_session.opt->locks) {
            hpx_places_blocked(p->t, hpx_vm.jvmti, &p->of, p->id, ns, true);
        }
        if (same && hpx_session.opt->pinned && p->virtual) {
            p->of.part = HPX_BLOCK_PINNED;
            hpx_places_blocked(p->t, hpx_vm.jvmti, &p->of, p->pinned_id, ns, true);
        }
        hpx_gate_leave(&hpx_session.gate);
    }
    (*env)->DeleteLocalRef(env, p->self);
}

static void JNICALL park(JNIEnv *env, jobject unsafe, jboolean absolute, jlong time)
{
    struct parked p;
    bool recorded = begin(&p, env);
    atomic_load_explicit(&parks.vms, memory_order_acquire)(env, unsafe, absolute, time); /* partner: on_bind() */
    if (recorded) {
        end(&p, env);
    }
}

static bool is_park(jvmtiEnv *jvmti, jmethodID method)
{
    char *name = NULL, *signature = NULL, *of = NULL;
    jclass klass = NULL;
    bool is = (*jvmti)->GetMethodName(jvmti, method, &name, &signature, NULL) == JVMTI_ERROR_NONE && strcmp(name, "park") == 0 &&
              strcmp(signature, "(ZJ)V") == 0 && (*jvmti)->GetMethodDeclaringClass(jvmti, method, &klass) == JVMTI_ERROR_NONE &&
              (*jvmti)->GetClassSignature(jvmti, klass, &of, NULL) == JVMTI_ERROR_NONE &&
              (strcmp(of, "Ljdk/internal/misc/Unsafe;") == 0 || strcmp(of, "Lsun/misc/Unsafe;") == 0);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)of);
    return is;
}

static void JNICALL on_bind(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method, void *address, void **replacement)
{
    (void)env, (void)thread;
    if (!is_park(jvmti, method)) {
        return;
    }
    park_fn fn;
    memcpy(&fn, &address, sizeof fn);
    atomic_store_explicit(&parks.vms, fn, memory_order_release); /* partner: park() */
    *replacement = (void *)(uintptr_t)park;
    (void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_NATIVE_METHOD_BIND, NULL);
}

void hpx_park_load(void)
{
    jvmtiEnv *jvmti = hpx_monitor_env;
    jvmtiCapabilities bind = {.can_generate_native_method_bind_events = 1};
    jvmtiEventCallbacks callbacks = {.NativeMethodBind = on_bind};
    if (jvmti == NULL || (*jvmti)->AddCapabilities(jvmti, &bind) != JVMTI_ERROR_NONE) {
        return;
    }
    (void)hpx_vm_capability(jvmti, CAN_EARLY_VMSTART); /* JDK 8 has no such phase, and needs none */
    (void)(*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof callbacks);
    (void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_NATIVE_METHOD_BIND, NULL);
}

void hpx_park_live(void)
{
    if (hpx_vm_fields.blocker == NULL || atomic_load_explicit(&parks.vms, memory_order_relaxed) == NULL) {
        hpx_warn("locks=y, pinned=y: the VM does not let hprofx see Unsafe.park; parked time is not counted; load hprofx alone");
        return;
    }
    atomic_store_explicit(&parks.live, true, memory_order_release); /* partner: park() */
}

void hpx_park_close(void)
{
    atomic_store_explicit(&parks.live, false, memory_order_relaxed);
}
