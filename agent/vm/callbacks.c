/* SPDX-License-Identifier: BSD-2-Clause */
/* callbacks.c: JVMTI events shared by all modes, handled inside the gate; the order of VMInit and VMDeath. */
#include "callbacks.h"
#include "clock.h"
#include "dump.h"
#include "dump_request.h"
#include "known_threads.h"
#include "life.h"
#include "log.h"
#include "names.h"
#include "net.h"
#include "origin.h"
#include "output.h"
#include "service.h"
#include "thread_list.h"
#include "thread_names.h"
#include "threads.h"
#include "unannounced.h"
#include "vm_mode.h"
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OUTPUT_STALL_NS  (5ull * 1000 * 1000 * 1000) /* an output that does not move for so long is given up at the end */
#define SERVICE_WAIT_NS  (300ull * 1000 * 1000)
#define SERVICE_LEAVE_NS (10ull * 1000 * 1000 * 1000) /* while the program runs on, nobody waits for it */
#define SERVE_WAIT_NS    (2000ull * 1000 * 1000)
#define START_WAIT_NS    (2ull * 1000 * 1000 * 1000)  /* VMDeath comes on another thread while VMInit runs */
#define END_WAIT_NS      (60ull * 1000 * 1000 * 1000) /* or while a session ends, which gives up an output that does not move */

/* Lists end with 0. */
static const jvmtiEvent always[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, 0};
static const jvmtiEvent from_init[] = {JVMTI_EVENT_DATA_DUMP_REQUEST, 0};
static const jvmtiEvent of_threads[] = {JVMTI_EVENT_THREAD_END, JVMTI_EVENT_THREAD_START, 0}; /* who starts with the event has an end */
static const jvmtiEvent of_names[] = {JVMTI_EVENT_CLASS_PREPARE, 0};

static HPX_OF_SESSION bool writes; /* the writer's thread was started. life.h orders it */

/* CPU time of the threads that begin and end the session: the profiler's own, also on a thread of the program. One works at a time, which
 * life.h orders but for VMDeath, whose work does not count while the session is beginning. relaxed: a report that falls between two of
 * them lacks the last one once. */
static HPX_OF_SESSION struct {
    _Atomic uint64_t before, from; /* ns: of those that are over; of the thread, when it began this work */
    _Atomic pid_t tid;             /* 0: none works */
} own_work;

static void work_begins(void)
{
    atomic_store_explicit(&own_work.from, hpx_clock_thread_cpu(), memory_order_relaxed);
    atomic_store_explicit(&own_work.tid, (pid_t)syscall(SYS_gettid), memory_order_relaxed);
}

static void work_is_over(void)
{
    uint64_t now = hpx_clock_thread_cpu(), from = atomic_load_explicit(&own_work.from, memory_order_relaxed);
    atomic_store_explicit(&own_work.tid, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&own_work.before, now > from ? now - from : 0, memory_order_relaxed);
}

uint64_t hpx_callbacks_cpu(void)
{
    uint64_t before =
        atomic_load_explicit(&own_work.before, memory_order_acquire); /* the loads below stay behind it, or work counts twice */
    pid_t tid = atomic_load_explicit(&own_work.tid, memory_order_relaxed);
    uint64_t from = atomic_load_explicit(&own_work.from, memory_order_relaxed), now = tid != 0 ? hpx_clock_tid_cpu(tid) : 0;
    return before + (now > from ? now - from : 0);
}

void hpx_callbacks_begin(void)
{
    hpx_session.start_cpu = hpx_clock_process_cpu();
    work_begins();
}

static bool needs_names(void)
{
    bool needs = false;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        needs = needs || hpx_session.modes[i]->vm->names;
    }
    return needs;
}

/* The first error. */
static jvmtiError load_events(jvmtiEventMode mode)
{
    jvmtiError first = JVMTI_ERROR_NONE;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        jvmtiError e = hpx_vm_events(mode, hpx_session.modes[i]->vm->on_load);
        first = first != JVMTI_ERROR_NONE ? first : e;
    }
    return first;
}

/* All but those of threads. */
static jvmtiError live_events(jvmtiEventMode mode)
{
    jvmtiError first = hpx_vm_events(mode, from_init);
    jvmtiError e = needs_names() ? hpx_vm_events(mode, of_names) : JVMTI_ERROR_NONE;
    first = first != JVMTI_ERROR_NONE ? first : e;
    for (uint32_t i = 0; i < hpx_session.nmodes; i++) {
        e = hpx_vm_events(mode, hpx_session.modes[i]->vm->on_live);
        first = first != JVMTI_ERROR_NONE ? first : e;
    }
    return first;
}

static void begin_early(jvmtiEnv *jvmti, JNIEnv *env);

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)thread;
    if (hpx_vm_enter(&hpx_session.gate, jvmti)) {
        hpx_threads_begin(jvmti, env, true);
        hpx_gate_leave(&hpx_session.gate);
    }
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)thread;
    if (hpx_vm_enter(&hpx_session.gate, jvmti)) {
        hpx_threads_end(jvmti, env);
        hpx_gate_leave(&hpx_session.gate);
    }
}

static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass klass)
{
    (void)thread;
    begin_early(jvmti, env);
    if (!hpx_names_ignored() && hpx_vm_enter(&hpx_session.gate, jvmti)) {
        hpx_names_class(jvmti, env, klass, HPX_NAMES_ALL);
        HPX_EACH_MODE(vm->prepared, (jvmti));
        hpx_gate_leave(&hpx_session.gate);
    }
}

/* SIGQUIT: on a thread of the VM, before or after it prints its own thread dump. */
static void JNICALL on_data_dump_request(jvmtiEnv *jvmti)
{
    if (hpx_vm_enter(&hpx_session.gate, jvmti)) {
        hpx_dump_request_signal();
        hpx_gate_leave(&hpx_session.gate);
    }
}

void hpx_callbacks_disable(void)
{
    if (hpx_vm.jvmti != NULL) { /* first: events fill what the modes free */
        load_events(JVMTI_DISABLE);
        hpx_vm_events(JVMTI_DISABLE, of_names);
    }
    HPX_EACH_MODE(vm->disable, ());
}

void hpx_callbacks_give_up(const struct hpx_err *err)
{
    hpx_callbacks_disable();
    hpx_warn("%s is off: %s", hpx_session_modes(), err->msg);
}

static bool start_threads(struct hpx_err *err)
{
    if (hpx_output_start(err) == 0) {
        writes = true;
        if (hpx_service_start(err) == 0) {
            if (hpx_aggregator_start(&hpx_session.aggregator, err) == 0) {
                return true;
            }
            hpx_service_quit();
        }
        hpx_output_end(NULL);
    }
    hpx_callbacks_give_up(err);
    return false;
}

static void warn_refused(jvmtiError e)
{
    if (e != JVMTI_ERROR_NONE) {
        hpx_warn("%s: the VM refuses an event (%s); the profile is incomplete", hpx_session_modes(), hpx_jvmti_error(e));
    }
}

/* From here on threads begin and end by themselves, and clocks run. */
static void watch_threads(void)
{
    hpx_threads_expect_others();
    warn_refused(hpx_vm_events(JVMTI_ENABLE, of_threads));
}

static void begin_modes(jvmtiEnv *jvmti, JNIEnv *env)
{
    HPX_EACH_MODE(vm->classes, (jvmti, env));
    if (needs_names()) {
        hpx_names_loaded(jvmti, env);
        hpx_unannounced_begin(jvmti, env);
    }
    HPX_EACH_MODE(vm->live, (jvmti, env));
    if (hpx_vm.late) { /* the program's threads start all the time: none has a state while probes are calibrated */
        watch_threads();
    }
    bool left = hpx_threads_leave(env);
    hpx_threads_adopt_others(jvmti, env);
    if (!left) { /* last: to begin is not the program's work, whoever does it */
        hpx_threads_arm_self();
    }
    HPX_EACH_MODE(vm->open, (jvmti));
    if (hpx_vm.late) {
        hpx_origin_recorded_all();
    }
    atomic_store_explicit(&hpx_session.answers, true, memory_order_relaxed);
}

/* false: another thread begins it or has begun it, or VMDeath has it: then err is empty; or one of its threads could not be started. */
static bool go_live(JNIEnv *env, struct hpx_err *err)
{
    enum hpx_life was;
    err->msg[0] = 0;
    if (!hpx_life_tell(HPX_LIFE_START, &was)) {
        return false;
    }
    hpx_vm_live(env);
    if (!start_threads(err)) {
        (void)hpx_life_tell(HPX_LIFE_NOT_STARTED, &was); /* last: a command may undo it at once */
        return false;
    }
    if (!hpx_vm.late) {
        hpx_callbacks_begin();
    }
    hpx_session.start_mono = hpx_clock_mono();
    hpx_origin_recorded(hpx_vm.late);
    hpx_gate_open(&hpx_session.gate);
    if (hpx_life_tell(HPX_LIFE_STARTED, &was)) {
        return true;
    }
    hpx_gate_close(&hpx_session.gate); /* VMDeath has stopped waiting and is over */
    hpx_dump_request_final();
    return false;
}

static void live(jvmtiEnv *jvmti, JNIEnv *env)
{
    if (!hpx_gate_enter(&hpx_session.gate)) {
        return; /* VMDeath has already happened, on another thread */
    }
    hpx_threads_begin(jvmti, env, false); /* main first: its START is the first in the file */
    if (!needs_names()) {                 /* for begin_early() */
        hpx_vm_events(JVMTI_DISABLE, of_names);
    }
    warn_refused(live_events(JVMTI_ENABLE));
    HPX_EACH_MODE(vm->ready, (env));
    if (!hpx_vm.late) {
        watch_threads();
    }
    begin_modes(jvmti, env);
    hpx_gate_leave(&hpx_session.gate);
    work_is_over();
    HPX_EACH_MODE(vm->begun, (jvmti));
    enum hpx_life was;
    (void)hpx_life_tell(HPX_LIFE_BEGUN, &was); /* now it may be taken apart */
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
    (void)thread;
    struct hpx_err said;
    if (go_live(env, &said)) {
        live(jvmti, env);
    }
}

static HPX_OF_SESSION struct {
    pthread_t thread; /* that starts the JVM and gets VMInit */
    bool may;         /* the session is to begin with the JVM */
} start;

/* VMInit reaches agents in the order of the command line, and one before us may run a program of its own in it: premain of a Java agent.
 * The first class that it loads begins the session. Other threads do not: VMInit's thread is the first in the file. */
static void begin_early(jvmtiEnv *jvmti, JNIEnv *env)
{
    jvmtiPhase now;
    struct hpx_err said;
    if (start.may && hpx_life_now() == HPX_LIFE_READY && pthread_equal(pthread_self(), start.thread) &&
        (*jvmti)->GetPhase(jvmti, &now) == JVMTI_ERROR_NONE && now == JVMTI_PHASE_LIVE && go_live(env, &said)) {
        live(jvmti, env);
    }
}

bool hpx_callbacks_go_live(JNIEnv *env, struct hpx_err *err)
{
    bool is = go_live(env, err);
    if (is) {
        live(hpx_vm.jvmti, env);
    }
    return is;
}

/* For VMDeath: waits for a thread that begins or ends the session, but not for ever. true: the session is VMDeath's, and was in this state.
 */
static bool take_over(JNIEnv *env, enum hpx_life *was)
{
    uint64_t from = hpx_clock_mono();
    struct hpx_err said;
    for (;;) {
        (void)go_live(env, &said); /* if VMInit has not happened: the output still gets its end */
        if (hpx_life_tell(HPX_LIFE_DIE, was)) {
            return true;
        }
        uint64_t waited_ns = hpx_clock_mono() - from;
        bool starts = *was == HPX_LIFE_STARTING, ends = *was == HPX_LIFE_ENDING || *was == HPX_LIFE_UNDOING;
        if (starts && waited_ns >= START_WAIT_NS && hpx_life_tell(HPX_LIFE_DIE_ANYWAY, was)) {
            return false; /* go_live() winds up */
        }
        if (!starts && *was != HPX_LIFE_READY && !(ends && waited_ns < END_WAIT_NS)) {
            return false;
        }
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

/* What the end has waited for, and must not wait for again: each is posted once. The thread's that ends or undoes the session; life.h
 * orders it. */
static HPX_OF_SESSION struct {
    bool written, service, net;
} waited;

/* true: everything is written. */
static bool await_written(void)
{
    if (!waited.written && hpx_output_wait(OUTPUT_STALL_NS)) {
        waited.written = true;
        HPX_EACH_MODE(vm->over, ());
    }
    return waited.written;
}

/* true: everything is written. */
static bool wind_up(jvmtiEnv *jvmti, JNIEnv *env)
{
    hpx_thread_names_ask(jvmti, env);
    hpx_net_end();
    HPX_EACH_MODE(vm->leave, ());
    hpx_gate_close(&hpx_session.gate);
    (void)hpx_dump_await_served(hpx_clock_mono() + SERVE_WAIT_NS); /* its rows are as before the end */
    live_events(JVMTI_DISABLE);
    hpx_vm_events(JVMTI_DISABLE, of_threads);
    load_events(JVMTI_DISABLE);
    HPX_EACH_MODE(vm->close, (jvmti));
    hpx_dump_request_final();
    return await_written();
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
    enum hpx_life was;
    if (!take_over(env, &was)) {
        return;
    }
    if (was != HPX_LIFE_BEGINNING) { /* else another thread works */
        work_begins();
    }
    if ((was == HPX_LIFE_UNSTARTED || was == HPX_LIFE_STUCK) && writes && !waited.written) {
        waited.written = hpx_output_wait(OUTPUT_STALL_NS);
    }
    if (was == HPX_LIFE_BEGINNING || was == HPX_LIFE_RUNNING) {
        (void)wind_up(jvmti, env);
    }
    if (was == HPX_LIFE_STALLED) { /* the output may have moved since */
        (void)await_written();
    }
    if (was != HPX_LIFE_PREPARING && was != HPX_LIFE_UNSTARTED && was != HPX_LIFE_STUCK && !waited.service) {
        (void)hpx_service_stop(SERVICE_WAIT_NS);
    }
}

/* What does not leave. */
static const char in_vm[] = "a thread of the profiler is still in the VM, perhaps suspended by a debugger",
                  looks_up[] = "the address of its peer is still being looked up",
                  in_profiler[] = "a thread is still in the profiler, perhaps suspended by a debugger";

static bool modes_have_left(void)
{
    bool left = true;
    uint64_t until = hpx_clock_mono() + SERVICE_LEAVE_NS;
    for (uint32_t i = 0; i < hpx_session.nmodes && left; i++) {
        left = hpx_session.modes[i]->vm->left == NULL || hpx_session.modes[i]->vm->left(until);
    }
    return left;
}

const char *hpx_callbacks_undo(void)
{
    hpx_net_end(); /* its thread may have been the only one that could be started */
    waited.written = waited.written || !writes || hpx_output_wait(OUTPUT_STALL_NS);
    waited.service = waited.service || (waited.written && (!writes || hpx_service_stop(SERVICE_LEAVE_NS)));
    waited.net = waited.net || (waited.service && hpx_net_wait(hpx_clock_mono() + SERVICE_LEAVE_NS));
    /* last: the class hook is closed, but a thread of the program may still be inside */
    return !waited.written      ? hpx_output_stands()
           : !waited.service    ? in_vm
           : !waited.net        ? looks_up
           : !modes_have_left() ? in_profiler
                                : NULL;
}

bool hpx_callbacks_are_over(void)
{
    return hpx_life_now() == HPX_LIFE_DYING && waited.written;
}

/* NULL: everything is written, and no thread of the session is in the JVM. Else what does not move. */
static const char *has_left(void)
{
    if (!await_written()) {
        return hpx_output_stands();
    }
    waited.service = waited.service || hpx_service_stop(SERVICE_LEAVE_NS);
    waited.net = waited.net || (waited.service && hpx_net_wait(hpx_clock_mono() + SERVICE_LEAVE_NS));
    return !waited.service ? in_vm : !waited.net ? looks_up : !modes_have_left() ? in_profiler : NULL;
}

static void take_apart(JNIEnv *env)
{
    HPX_EACH_MODE(vm->restore, (hpx_vm.jvmti, env));
    hpx_aggregator_stop(&hpx_session.aggregator);
    (void)(*hpx_vm.jvmti)->DisposeEnvironment(hpx_vm.jvmti);
    hpx_names_forget(env);
    hpx_service_fini();
    hpx_known_threads_forget(env);
    hpx_thread_list_forget(env);
    HPX_EACH_MODE(vm->unload, (env));
}

const char *hpx_callbacks_end(JNIEnv *env, bool again)
{
    work_begins();
    const char *stands = again || wind_up(hpx_vm.jvmti, env) ? has_left() : hpx_output_stands();
    work_is_over();
    if (stands == NULL) {
        take_apart(env);
    }
    return stands;
}

void hpx_callbacks_forget(void)
{
    hpx_life_forget();
    HPX_EACH_MODE(vm->forget, ());
}

static jvmtiError add_capabilities(const struct hpx_vm_mode *m)
{
    jvmtiCapabilities want;
    memset(&want, 0, sizeof want);
    if (m->names) {
        want.can_get_source_file_name = 1;
        want.can_get_line_numbers = 1;
    }
    if (m->capabilities != NULL) {
        m->capabilities(&want);
    }
    jvmtiError e = (*hpx_vm.jvmti)->AddCapabilities(hpx_vm.jvmti, &want);
    if (e == JVMTI_ERROR_NONE && m->optional != NULL) {
        m->optional(hpx_vm.jvmti);
    }
    return e;
}

int hpx_callbacks_capabilities(struct hpx_err *err)
{
    for (uint32_t i = 0; i < hpx_session.nmodes;) {
        const struct hpx_mode *m = hpx_session.modes[i];
        jvmtiError e = add_capabilities(m->vm);
        if (e == JVMTI_ERROR_NONE) {
            i++;
            continue;
        }
        if (hpx_session.nmodes == 1) {
            return hpx_err_set(err, HPX_E_VM, "the VM refuses a capability or event that hprofx needs: %s", hpx_jvmti_error(e));
        }
        hpx_warn("%s is off: the VM refuses a capability that it needs: %s; the other modes continue", m->name, hpx_jvmti_error(e));
        hpx_session_drop(m);
    }
    return 0;
}

static jvmtiError set_callbacks(void)
{
    union hpx_event_callbacks all;
    memset(&all, 0, sizeof all);
    all.known.VMInit = on_vm_init;
    all.known.VMDeath = on_vm_death;
    all.known.ThreadStart = on_thread_start;
    all.known.ThreadEnd = on_thread_end;
    all.known.ClassPrepare = on_class_prepare;
    all.known.DataDumpRequest = on_data_dump_request;
    HPX_EACH_MODE(vm->callbacks, (&all));
    return (*hpx_vm.jvmti)->SetEventCallbacks(hpx_vm.jvmti, &all.known, (jint)sizeof all);
}

int hpx_callbacks_init(struct hpx_err *err)
{
    jvmtiError e = set_callbacks();
    if (e == JVMTI_ERROR_NONE) {
        e = hpx_vm_events(JVMTI_ENABLE, always);
    }
    if (e == JVMTI_ERROR_NONE) {
        e = load_events(JVMTI_ENABLE);
    }
    if (e == JVMTI_ERROR_NONE && !hpx_vm.late) {
        start.thread = pthread_self();
        start.may = true;
        e = hpx_vm_events(JVMTI_ENABLE, of_names);
    }
    if (e != JVMTI_ERROR_NONE) {
        hpx_vm_events(JVMTI_DISABLE, always);
        return hpx_err_set(err, HPX_E_VM, "the VM refuses a capability or event that hprofx needs: %s", hpx_jvmti_error(e));
    }
    return 0;
}
