/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.c: what the agent calls, as far as no other file has it. */
#include "functions.h"
#include "boot_class.h"
#include "java_threads.h"
#include "log.h"
#include "probes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- call traces ---- */

#define FRAMES_HERE 128  /* of JVMTI, on the stack; deeper traces take memory of the heap */
#define LINE_NATIVE (-3) /* the number that HPROF's binary format has for it */

jint hpx_jvmpi_line_at(const jvmtiLineNumberEntry *lines, jint n, jlocation at)
{
    jint line = HPX_JVMPI_LINE_UNKNOWN;
    jlocation best = -1;
    for (jint i = 0; i < n; i++) {
        if (lines[i].start_location <= at && lines[i].start_location > best) {
            best = lines[i].start_location;
            line = lines[i].line_number;
        }
    }
    return line;
}

static jint line_of(const jvmtiFrameInfo *f)
{
    jint n = 0;
    jvmtiLineNumberEntry *lines = NULL;
    if (f->location < 0) {
        return LINE_NATIVE;
    }
    if ((*hpx_jvmpi.jvmti)->GetLineNumberTable(hpx_jvmpi.jvmti, f->method, &n, &lines) != JVMTI_ERROR_NONE) {
        return HPX_JVMPI_LINE_UNKNOWN;
    }
    jint line = hpx_jvmpi_line_at(lines, n, f->location);
    hpx_jvmpi_give_back(lines);
    return line;
}

jint hpx_jvmpi_frames_from(const jvmtiFrameInfo *from, jint n, JVMPI_CallFrame *to)
{
    jint probe = n > 0 && hpx_jvmpi_probes_is_probe(from[0].method);
    for (jint i = probe; i < n; i++) {
        to[i - probe] = (JVMPI_CallFrame){.lineno = line_of(&from[i]), .method_id = from[i].method};
    }
    return n - probe;
}

static void fill_trace(jthread thread, JVMPI_CallTrace *trace, jvmtiFrameInfo *frames, jint depth)
{
    jint n = 0;
    if ((*hpx_jvmpi.jvmti)->GetStackTrace(hpx_jvmpi.jvmti, thread, 0, depth, frames, &n) != JVMTI_ERROR_NONE) {
        return;
    }
    if (n > 0 && hpx_jvmpi_probes_is_probe(frames[0].method) &&
        (*hpx_jvmpi.jvmti)->GetStackTrace(hpx_jvmpi.jvmti, thread, 1, depth, frames, &n) != JVMTI_ERROR_NONE) {
        return;
    }
    trace->num_frames = hpx_jvmpi_frames_from(frames, n, trace->frames);
}

/* At most depth frames; trace->frames is the caller's. thread: NULL is the calling one. */
static void take_trace(jthread thread, JVMPI_CallTrace *trace, jint depth)
{
    jvmtiFrameInfo here[FRAMES_HERE];
    jint count = 0;
    trace->num_frames = 0;
    if (depth <= 0 || trace->frames == NULL) {
        return;
    }
    if (depth <= FRAMES_HERE) {
        fill_trace(thread, trace, here, depth);
        return;
    }
    /* The agent may ask for more than any stack has. */
    if ((*hpx_jvmpi.jvmti)->GetFrameCount(hpx_jvmpi.jvmti, thread, &count) != JVMTI_ERROR_NONE || count <= 0) {
        return;
    }
    jint room = count < depth ? count : depth;
    jvmtiFrameInfo *frames = room <= FRAMES_HERE ? here : malloc((size_t)room * sizeof(*frames));
    if (frames != NULL) {
        fill_trace(thread, trace, frames, room);
    }
    if (frames != here) {
        free(frames);
    }
}

static void get_call_trace(JVMPI_CallTrace *trace, jint depth)
{
    hpx_jvmpi_called(HPX_JVMPI_F_GetCallTrace);
    JNIEnv *caller = hpx_jvmpi_env();
    if (trace == NULL) {
        return;
    }
    trace->num_frames = 0;
    if (caller == NULL) {
        return;
    }
    hpx_jvmpi_vm_begin();
    struct hpx_jvmpi_thread *held = NULL;
    jthread thread = trace->env_id == caller ? NULL : hpx_jvmpi_hold(trace->env_id, &held);
    if (thread != NULL || trace->env_id == caller) {
        take_trace(thread, trace, depth);
    }
    if (thread != NULL) {
        hpx_jvmpi_let_go(thread, held);
    }
    hpx_jvmpi_vm_end();
}

/* ---- threads ---- */

static jlong current_cpu_time(void)
{
    struct timespec t = {0};
    hpx_jvmpi_called(HPX_JVMPI_F_GetCurrentThreadCpuTime);
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (jlong)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *get_storage(JNIEnv *env)
{
    hpx_jvmpi_called(HPX_JVMPI_F_GetThreadLocalStorage);
    struct hpx_jvmpi_thread *t = hpx_jvmpi_self();
    if (t != NULL && t->env == env) {
        return atomic_load_explicit(&t->tls, memory_order_relaxed);
    }
    t = hpx_jvmpi_pin(env);
    if (t == NULL) {
        return NULL;
    }
    void *p = atomic_load_explicit(&t->tls, memory_order_relaxed);
    hpx_jvmpi_unpin(t);
    return p;
}

static void set_storage(JNIEnv *env, void *p)
{
    hpx_jvmpi_called(HPX_JVMPI_F_SetThreadLocalStorage);
    struct hpx_jvmpi_thread *t = hpx_jvmpi_pin(env);
    if (t == NULL) {
        hpx_jvmpi_rule("SetThreadLocalStorage was called with a JNIEnv of no living thread");
        return;
    }
    atomic_store_explicit(&t->tls, p, memory_order_relaxed);
    hpx_jvmpi_unpin(t);
}

static jobjectID get_thread_object(JNIEnv *env)
{
    hpx_jvmpi_called(HPX_JVMPI_F_GetThreadObject);
    jobjectID id = NULL;
    hpx_jvmpi_vm_begin();
    struct hpx_jvmpi_thread *held;
    jthread thread = hpx_jvmpi_hold(env, &held);
    if (thread != NULL) {
        id = hpx_jvmpi_id_of(thread);
        hpx_jvmpi_let_go(thread, held);
    }
    hpx_jvmpi_vm_end();
    return id;
}

static void JNICALL run_system_thread(jvmtiEnv *jvmti, JNIEnv *env, void *arg)
{
    void (*f)(void *);
    (void)jvmti, (void)env;
    memcpy(&f, &arg, sizeof(f)); /* C has no cast from an object to a function */
    f(NULL);
}

/* A java.lang.Thread that has not begun; NULL: no memory, or an exception, which is cleared. */
static jthread make_thread(JNIEnv *env, const char *name)
{
    jint n = 0;
    jthreadGroup *groups = NULL, group = NULL;
    jthread thread = NULL;
    if ((*hpx_jvmpi.jvmti)->GetTopThreadGroups(hpx_jvmpi.jvmti, &n, &groups) == JVMTI_ERROR_NONE) {
        group = n > 0 ? groups[0] : NULL;
        hpx_jvmpi_give_back(groups);
    }
    jclass class = hpx_boot_class(env, "java/lang/Thread");
    jmethodID init = class == NULL ? NULL : (*env)->GetMethodID(env, class, "<init>", "(Ljava/lang/ThreadGroup;Ljava/lang/String;)V");
    jstring text = init == NULL ? NULL : (*env)->NewStringUTF(env, name);
    if (text != NULL) {
        thread = (*env)->NewObject(env, class, init, group, text);
    }
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        thread = NULL;
    }
    return thread;
}

static jint create_system_thread(char *name, jint priority, void (*f)(void *))
{
    hpx_jvmpi_called(HPX_JVMPI_F_CreateSystemThread);
    JNIEnv *env = hpx_jvmpi_env();
    void *arg;
    if (atomic_load_explicit(&hpx_jvmpi.phase, memory_order_relaxed) != HPX_JVMPI_LIVE) {
        hpx_jvmpi_rule("CreateSystemThread was called before JVM_INIT_DONE or after JVM_SHUT_DOWN");
        return JNI_ERR;
    }
    if (env == NULL || f == NULL || priority < JVMPI_MINIMUM_PRIORITY || priority > JVMPI_MAXIMUM_PRIORITY) {
        return JNI_ERR;
    }
    memcpy(&arg, &f, sizeof(arg));
    hpx_jvmpi_vm_begin();
    jint rc = JNI_ERR;
    if ((*env)->PushLocalFrame(env, 8) == 0) {
        jthread thread = make_thread(env, name == NULL ? "" : name);
        if (thread != NULL &&
            (*hpx_jvmpi.jvmti)->RunAgentThread(hpx_jvmpi.jvmti, thread, run_system_thread, arg, priority) == JVMTI_ERROR_NONE) {
            rc = JNI_OK;
        }
        (void)(*env)->PopLocalFrame(env, NULL);
    } else {
        (*env)->ExceptionClear(env);
    }
    hpx_jvmpi_vm_end();
    return rc;
}

/* ---- collections ---- */

static void disable_gc(void)
{
    hpx_jvmpi_called(HPX_JVMPI_F_DisableGC);
    (void)atomic_fetch_add_explicit(&hpx_jvmpi.gc_disabled, 1, memory_order_relaxed);
}

static void enable_gc(void)
{
    hpx_jvmpi_called(HPX_JVMPI_F_EnableGC);
    int n = atomic_load_explicit(&hpx_jvmpi.gc_disabled, memory_order_relaxed);
    while (n > 0 && !atomic_compare_exchange_weak_explicit(&hpx_jvmpi.gc_disabled, &n, n - 1, memory_order_relaxed, memory_order_relaxed)) {
    }
    if (n == 0) {
        hpx_jvmpi_rule("EnableGC was called without DisableGC");
    } else if (n == 1 && atomic_load_explicit(&hpx_jvmpi_suspended, memory_order_relaxed) > 0) {
        hpx_jvmpi_rule("EnableGC was called before all suspended threads were resumed");
    }
}

static void run_gc(void)
{
    hpx_jvmpi_called(HPX_JVMPI_F_RunGC);
    if (hpx_jvmpi_env() != NULL) {
        hpx_jvmpi_vm_begin();
        (void)(*hpx_jvmpi.jvmti)->ForceGarbageCollection(hpx_jvmpi.jvmti);
        hpx_jvmpi_vm_end();
    }
}

/* ---- ids ---- */

static jobjectID get_method_class(jmethodID method)
{
    hpx_jvmpi_called(HPX_JVMPI_F_GetMethodClass);
    JNIEnv *env = hpx_jvmpi_env();
    jclass class = NULL;
    jobjectID id = NULL;
    hpx_jvmpi_vm_begin();
    if (env != NULL && method != NULL && (*hpx_jvmpi.jvmti)->GetMethodDeclaringClass(hpx_jvmpi.jvmti, method, &class) == JVMTI_ERROR_NONE) {
        id = hpx_jvmpi_id_of(class);
        (*env)->DeleteLocalRef(env, class);
    }
    hpx_jvmpi_vm_end();
    return id;
}

static jobject id_to_object(jobjectID id)
{
    hpx_jvmpi_called(HPX_JVMPI_F_jobjectID2jobject);
    hpx_jvmpi_vm_begin();
    jobject object = hpx_jvmpi_env() == NULL ? NULL : hpx_jvmpi_object_of(id);
    hpx_jvmpi_vm_end();
    return object;
}

static jobjectID object_to_id(jobject object)
{
    hpx_jvmpi_called(HPX_JVMPI_F_jobject2jobjectID);
    hpx_jvmpi_vm_begin();
    jobjectID id = hpx_jvmpi_env() == NULL ? NULL : hpx_jvmpi_id_of(object);
    hpx_jvmpi_vm_end();
    return id;
}

/* ---- the end ---- */

/* Works in any handler, also in a collection, where the VM cannot be asked to end. No handler begins after it. */
static void profiler_exit(jint code)
{
    hpx_jvmpi_called(HPX_JVMPI_F_ProfilerExit);
    atomic_store_explicit(&hpx_jvmpi.phase, HPX_JVMPI_DEAD, memory_order_relaxed);
    exit(code);
}

/* RequestEvent() and the switches may enter the VM as well. */
static jint enable(jint event, void *arg)
{
    hpx_jvmpi_vm_begin();
    jint rc = hpx_jvmpi_enable(event, arg);
    hpx_jvmpi_vm_end();
    return rc;
}

static jint disable(jint event, void *arg)
{
    hpx_jvmpi_vm_begin();
    jint rc = hpx_jvmpi_disable(event, arg);
    hpx_jvmpi_vm_end();
    return rc;
}

static jint request(jint event, void *arg)
{
    hpx_jvmpi_vm_begin();
    jint rc = hpx_jvmpi_request(event, arg);
    hpx_jvmpi_vm_end();
    return rc;
}

void hpx_jvmpi_fill(JVMPI_Interface *i)
{
    *i = (JVMPI_Interface){
        .version = JVMPI_VERSION_1_2,
        .EnableEvent = enable,
        .DisableEvent = disable,
        .RequestEvent = request,
        .GetCallTrace = get_call_trace,
        .ProfilerExit = profiler_exit,
        .RawMonitorCreate = hpx_jvmpi_raw_create,
        .RawMonitorEnter = hpx_jvmpi_raw_enter,
        .RawMonitorExit = hpx_jvmpi_raw_exit,
        .RawMonitorWait = hpx_jvmpi_raw_wait,
        .RawMonitorNotifyAll = hpx_jvmpi_raw_notify_all,
        .RawMonitorDestroy = hpx_jvmpi_raw_destroy,
        .GetCurrentThreadCpuTime = current_cpu_time,
        .SuspendThread = hpx_jvmpi_suspend,
        .ResumeThread = hpx_jvmpi_resume,
        .GetThreadStatus = hpx_jvmpi_status,
        .ThreadHasRun = hpx_jvmpi_has_run,
        .CreateSystemThread = create_system_thread,
        .GetThreadLocalStorage = get_storage,
        .SetThreadLocalStorage = set_storage,
        .DisableGC = disable_gc,
        .EnableGC = enable_gc,
        .RunGC = run_gc,
        .GetThreadObject = get_thread_object,
        .GetMethodClass = get_method_class,
        .jobjectID2jobject = id_to_object,
        .jobject2jobjectID = object_to_id,
        .SuspendThreadList = hpx_jvmpi_suspend_list,
        .ResumeThreadList = hpx_jvmpi_resume_list,
    };
}
