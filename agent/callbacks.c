/* SPDX-License-Identifier: BSD-2-Clause */
/* callbacks.c: JVMTI events: each body inside the gate, but the code events, which touch the code map alone and may come with VM locks
 * held. */
#include "callbacks.h"
#include "clock.h"
#include "codemap.h"
#include "downcall.h"
#include "dump.h"
#include "guard.h"
#include "handshake.h"
#include "inlines.h"
#include "instrument.h"
#include "log.h"
#include "names.h"
#include "net.h"
#include "output.h"
#include "sampler.h"
#include "service.h"
#include "threads.h"
#include "tracker.h"
#include "virtual.h"
#include <string.h>

#define OUTPUT_STALL_NS (5ull * 1000 * 1000 * 1000) /* an output that does not move for so long is given up at the end */
#define SERVICE_WAIT_NS (300ull * 1000 * 1000)
#define SAMPLER_WAIT_NS (300ull * 1000 * 1000)

/* Lists end with 0. From load to the end of the process; from load to VMDeath; from VMInit to VMDeath. The code events are enabled at load,
 * before anything is compiled. */
static const jvmtiEvent always[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, 0};
static const struct events {
    jvmtiEvent load[4], live[6];
} samples = {{JVMTI_EVENT_COMPILED_METHOD_LOAD, JVMTI_EVENT_COMPILED_METHOD_UNLOAD, JVMTI_EVENT_DYNAMIC_CODE_GENERATED, 0},
             {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE,
              JVMTI_EVENT_DATA_DUMP_REQUEST, 0}},
  calls = {{JVMTI_EVENT_VM_START, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, 0},
           {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_DATA_DUMP_REQUEST, 0}};

static jvmtiError set_events(jvmtiEventMode mode, const jvmtiEvent *events)
{
    jvmtiError first = JVMTI_ERROR_NONE;
    for (; *events != 0; events++) {
        jvmtiError e = (*hpx_agent.jvmti)->SetEventNotificationMode(hpx_agent.jvmti, mode, *events, NULL);
        first = first != JVMTI_ERROR_NONE ? first : e;
    }
    return first;
}

static jvmtiError of_modes(jvmtiEventMode mode, bool live)
{
    jvmtiError e = hpx_agent_samples() ? set_events(mode, live ? samples.live : samples.load) : JVMTI_ERROR_NONE;
    jvmtiError more = hpx_agent_calls() ? set_events(mode, live ? calls.live : calls.load) : JVMTI_ERROR_NONE;
    return e != JVMTI_ERROR_NONE ? e : more;
}

static jvmtiError load_events(jvmtiEventMode mode)
{
    return of_modes(mode, false);
}

static jvmtiError live_events(jvmtiEventMode mode)
{
    return of_modes(mode, true);
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)thread;
    if (hpx_gate_enter(&hpx_agent.gate)) {
        hpx_threads_begin(jvmti, env, true);
        hpx_gate_leave(&hpx_agent.gate);
    }
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)thread;
    if (hpx_gate_enter(&hpx_agent.gate)) {
        hpx_threads_end(jvmti, env);
        hpx_gate_leave(&hpx_agent.gate);
    }
}

/* AsyncGetCallTrace answers nothing unless somebody listens to this event. */
static void JNICALL on_class_load(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass klass)
{
    (void)jvmti, (void)env, (void)thread, (void)klass;
}

static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass klass)
{
    (void)thread;
    if (hpx_gate_enter(&hpx_agent.gate)) {
        hpx_names_class(jvmti, env, klass, HPX_NAMES_ALL);
        hpx_gate_leave(&hpx_agent.gate);
    }
}

static void JNICALL on_compiled_method_load(jvmtiEnv *jvmti, jmethodID method, jint size, const void *code, jint n,
                                            const jvmtiAddrLocationMap *map, const void *info)
{
    (void)jvmti, (void)n, (void)map;
    hpx_codemap_add(code, (size_t)size, (uint64_t)(uintptr_t)method);
    if (!hpx_inlines_add(method, code, (size_t)size, info)) {
        hpx_count(&hpx_agent.counters, HPX_C_INLINES_MISSED, 1);
    }
}

static void JNICALL on_compiled_method_unload(jvmtiEnv *jvmti, jmethodID method, const void *code)
{
    (void)jvmti;
    hpx_codemap_remove(code, (uint64_t)(uintptr_t)method);
    hpx_inlines_remove(method, code);
}

static void JNICALL on_dynamic_code(jvmtiEnv *jvmti, const char *name, const void *code, jint size)
{
    (void)jvmti, (void)name;
    hpx_codemap_add(code, (size_t)size, 0);
}

/* The program goes on without us, and without the price of our events. VMDeath still comes: the writer may not be done. */
static void give_up(const struct hpx_err *err)
{
    load_events(JVMTI_DISABLE);
    hpx_sampler_stay_out();
    hpx_warn("%s is off: %s", hpx_agent_mode(), err->msg);
}

/* SIGQUIT: on a thread of the VM's, before it prints its own dump of the threads, or after it. */
static void JNICALL on_data_dump_request(jvmtiEnv *jvmti)
{
    (void)jvmti;
    if (hpx_gate_enter(&hpx_agent.gate)) {
        hpx_dump_request_signal();
        hpx_gate_leave(&hpx_agent.gate);
    }
}

static void JNICALL on_virtual_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    hpx_virtual_start(jvmti, env, thread);
}

static void JNICALL on_virtual_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    hpx_virtual_end(jvmti, env, thread);
}

static void JNICALL on_vm_start(jvmtiEnv *jvmti, JNIEnv *env)
{
    static struct hpx_err err;
    (void)jvmti;
    if (hpx_tracker_define(env, &err) != 0) {
        give_up(&err);
    }
}

/* Also before VMInit, when no call is counted yet: what is instrumented then need not be retransformed. */
static void JNICALL on_class_file_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
                                       jobject protection_domain, jint n, const unsigned char *data, jint *new_n, unsigned char **new_data)
{
    (void)env, (void)redefined, (void)loader, (void)protection_domain;
    if (hpx_tracker_defined()) {
        hpx_instrument_class(jvmti, name, n, data, new_n, new_data);
    }
}

static bool ended_early; /* VMInit's and VMDeath's: the writer was told to end when a thread of ours could not start */

static bool start_threads(void)
{
    static struct hpx_err err;
    if (hpx_output_start(&err) != 0) {
        give_up(&err);
        return false;
    }
    if (hpx_service_start(&err) == 0) {
        if (hpx_aggregator_start(&hpx_agent.aggregator, &err) == 0) {
            return true;
        }
        hpx_service_quit();
    }
    hpx_output_end(NULL);
    ended_early = true;
    give_up(&err);
    return false;
}

static void record_loaded_classes(jvmtiEnv *jvmti, JNIEnv *env)
{
    jint n = 0;
    jclass *all = NULL;
    if ((*jvmti)->GetLoadedClasses(jvmti, &n, &all) != JVMTI_ERROR_NONE) {
        hpx_warn("cpu=samples: the classes loaded so far cannot be listed: their methods have no names");
        return;
    }
    if ((*env)->EnsureLocalCapacity(env, n + 64) != 0) { /* one local reference a class: -Xcheck:jni wants to be told */
        (*env)->ExceptionClear(env);
    }
    for (jint i = 0; i < n; i++) {
        hpx_names_class(jvmti, env, all[i], hpx_agent.opt.binary ? HPX_NAMES_CLASS : HPX_NAMES_NONE);
        (*env)->DeleteLocalRef(env, all[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)all);
}

/* Before the first call counts. */
static void calibrate(JNIEnv *env)
{
    uint32_t inner, outer;
    struct hpx_agent_thread *scratch = hpx_threads_scratch();
    if (scratch != NULL) {
        hpx_tracker_calibrate(env, scratch, &inner, &outer);
        hpx_model_calls_probes(hpx_agent.model, inner, outer);
        hpx_threads_release_scratch(scratch);
    }
}

static void begin_modes(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (hpx_agent_calls()) {
        hpx_instrument_loaded(jvmti, env);
    }
    if (hpx_agent_samples()) {
        record_loaded_classes(jvmti, env);
    }
    hpx_sampler_live(env);
    if (hpx_agent_calls()) {
        hpx_downcall_link(jvmti, env); /* before calibrate: which probes it measures */
    }
    if (hpx_tracker_reads_clock()) {
        calibrate(env); /* with another state than this thread's: before signals look for that */
    }
    hpx_threads_arm_self();
    hpx_threads_adopt_others(jvmti, env);
    if (hpx_agent_calls()) {
        hpx_tracker_open();
        hpx_virtual_enable(jvmti, true);
    }
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)thread;
    if (!hpx_agent.prepared || !start_threads()) {
        return;
    }
    hpx_agent.start_cpu = hpx_clock_process_cpu();
    hpx_agent.live = true;
    hpx_gate_open(&hpx_agent.gate);
    if (!hpx_gate_enter(&hpx_agent.gate)) {
        return; /* the end has come already, by another thread */
    }
    hpx_threads_begin(jvmti, env, false); /* main first: its START is the first in the file */
    hpx_threads_expect_others();
    jvmtiError e = live_events(JVMTI_ENABLE);
    if (e != JVMTI_ERROR_NONE) {
        hpx_warn("%s: the VM refused an event (%s): the profile is incomplete", hpx_agent_mode(), hpx_jvmti_error(e));
    }
    begin_modes(jvmti, env);
    hpx_gate_leave(&hpx_agent.gate);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)env;
    if (!hpx_agent.live) {
        if (ended_early) {
            hpx_output_wait(OUTPUT_STALL_NS);
        }
        return;
    }
    hpx_net_end();
    hpx_handshake_stop(SAMPLER_WAIT_NS);
    hpx_gate_shut(&hpx_agent.gate);
    live_events(JVMTI_DISABLE);
    load_events(JVMTI_DISABLE);
    hpx_virtual_enable(jvmti, false);
    hpx_dump_request_final();
    if (hpx_output_wait(OUTPUT_STALL_NS)) {
        hpx_guard_remove();
        hpx_agent.finished = true;
    }
    hpx_service_stop(SERVICE_WAIT_NS);
}

int hpx_callbacks_init(struct hpx_err *err)
{
    jvmtiCapabilities want;
    union hpx_event_callbacks all;
    memset(&want, 0, sizeof want);
    memset(&all, 0, sizeof all);
    if (hpx_agent_samples()) {
        want.can_get_source_file_name = 1;
        want.can_get_line_numbers = 1;
        /* While the event is enabled the JIT records debug information between safepoints: without it tiny inlined methods are blamed on
         * their callers. */
        want.can_generate_compiled_method_load_events = 1;
    }
    if (hpx_agent_calls()) {
        want.can_generate_all_class_hook_events = 1; /* classes of the boot loader, too */
        want.can_retransform_classes = 1;
    }
    jvmtiError e = (*hpx_agent.jvmti)->AddCapabilities(hpx_agent.jvmti, &want);
    if (hpx_agent_calls()) {
        hpx_virtual_init(hpx_agent.jvmti);
    }
    if (e == JVMTI_ERROR_NONE) {
        all.known.VMInit = on_vm_init;
        all.known.VMDeath = on_vm_death;
        all.known.VMStart = on_vm_start;
        all.known.ClassFileLoadHook = on_class_file_load;
        all.of[HPX_EVENT_VIRTUAL_THREAD_START - JVMTI_MIN_EVENT_TYPE_VAL] = on_virtual_thread_start;
        all.of[HPX_EVENT_VIRTUAL_THREAD_END - JVMTI_MIN_EVENT_TYPE_VAL] = on_virtual_thread_end;
        all.known.ThreadStart = on_thread_start;
        all.known.ThreadEnd = on_thread_end;
        all.known.ClassLoad = on_class_load;
        all.known.ClassPrepare = on_class_prepare;
        all.known.DataDumpRequest = on_data_dump_request;
        all.known.CompiledMethodLoad = on_compiled_method_load;
        all.known.CompiledMethodUnload = on_compiled_method_unload;
        all.known.DynamicCodeGenerated = on_dynamic_code;
        e = (*hpx_agent.jvmti)->SetEventCallbacks(hpx_agent.jvmti, &all.known, (jint)sizeof all);
    }
    if (e == JVMTI_ERROR_NONE) {
        e = set_events(JVMTI_ENABLE, always);
    }
    if (e == JVMTI_ERROR_NONE) {
        e = load_events(JVMTI_ENABLE);
    }
    if (e != JVMTI_ERROR_NONE) {
        set_events(JVMTI_DISABLE, always);
        load_events(JVMTI_DISABLE);
        return hpx_err_set(err, HPX_E_VM, "the VM refused what it needs: %s", hpx_jvmti_error(e));
    }
    return 0;
}
