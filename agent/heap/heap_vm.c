/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_vm.c: heap=dump in the JVM: capabilities, OutOfMemoryError, the dump at exit. */
#include "clock.h"
#include "dump_request.h"
#include "heap.h"
#include "known_threads.h"
#include "log.h"
#include "spawn.h"
#include "take.h"
#include "vm_mode.h"

#define ERROR_WAIT_NS UINT64_C(60000000000)

static HPX_OF_SESSION bool oom_event; /* constant from load on */
static HPX_OF_SESSION sem_t dumped;   /* the dump of the OutOfMemoryError */

static void capabilities(jvmtiCapabilities *want)
{
    want->can_tag_objects = 1;
    want->can_get_source_file_name = 1;
    want->can_get_line_numbers = 1;
}

static void optional(jvmtiEnv *jvmti)
{
    jvmtiCapabilities want = {.can_generate_resource_exhaustion_heap_events = 1};
    jvmtiError e = hpx_session.opt->heapdump_oom ? (*jvmti)->AddCapabilities(jvmti, &want) : JVMTI_ERROR_NONE;
    oom_event = hpx_session.opt->heapdump_oom && e == JVMTI_ERROR_NONE;
    if (e != JVMTI_ERROR_NONE) {
        hpx_warn("heapdump=oom: the VM refuses the event (%s); no dump is made at an OutOfMemoryError; load hprofx alone",
                 hpx_jvmti_error(e));
    }
}

/* The writer's thread, or the aggregator. */
static void error_dumped(uint64_t unused)
{
    (void)unused;
    sem_post(&dumped);
}

/* The image is taken here, while the objects that fill the heap are still held. The thread then waits for the dump, but not for ever, and
 * the others go on: an error that ends the program would end it before VMDeath, which needs memory itself. */
static void JNICALL on_exhausted(jvmtiEnv *jvmti, JNIEnv *env, jint flags, const void *reserved, const char *description)
{
    static HPX_OF_SESSION atomic_bool once;
    (void)reserved, (void)description;
    if ((flags & JVMTI_RESOURCE_EXHAUSTED_JAVA_HEAP) == 0 || !hpx_vm_enter(&hpx_session.gate, jvmti)) {
        return;
    }
    if (atomic_exchange_explicit(&once, true, memory_order_relaxed)) {
        hpx_gate_leave(&hpx_session.gate);
        return;
    }
    hpx_say("OutOfMemoryError: dumping the Java heap ...");
    hpx_take_at_error(jvmti, env);
    const struct hpx_dump_request all = {.cutoff = hpx_session.opt->cutoff, .done = error_dumped};
    bool asked = hpx_dump_request(&all);
    hpx_gate_leave(&hpx_session.gate);
    if (asked && !hpx_spawn_is_ours()) {
        (void)hpx_spawn_wait(&dumped, hpx_clock_mono() + ERROR_WAIT_NS);
    }
}

static void callbacks(union hpx_event_callbacks *all)
{
    all->known.ResourceExhausted = on_exhausted;
}

static int load(struct hpx_err *err)
{
    (void)err;
    hpx_known_threads_keep(false);
    sem_init(&dumped, 0, 0);
    hpx_take_init();
    return 0;
}

static void live(jvmtiEnv *jvmti, JNIEnv *env)
{
    hpx_take_measure(jvmti, env);
    if (oom_event) {
        hpx_take_learn(jvmti, env);
    }
}

static void open_events(jvmtiEnv *jvmti)
{
    if (oom_event) {
        (void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_RESOURCE_EXHAUSTED, NULL);
    }
}

static void close_heap(jvmtiEnv *jvmti)
{
    JNIEnv *env = hpx_vm_env();
    if (oom_event) {
        (void)(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_RESOURCE_EXHAUSTED, NULL);
    }
    if (env != NULL) {
        /* the dump at exit shows the end, whatever waits */
        hpx_take_last(jvmti, env, hpx_session.opt->doe ? UINT32_MAX : hpx_dump_request_pending(&hpx_heap_mode));
    }
}

const struct hpx_vm_mode hpx_heap_vm = {
    .capabilities = capabilities,
    .optional = optional,
    .callbacks = callbacks,
    .load = load,
    .live = live,
    .open = open_events,
    .close = close_heap,
};
