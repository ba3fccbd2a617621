/* SPDX-License-Identifier: BSD-2-Clause */
/* methods.c: calls of methods, and compiled code.
 *
 * A rewritten method calls a native of ours with its number (probes.c). The first call of a number asks the VM which method has called, so
 * the agent gets the jmethodID that CLASS_LOAD named. Calls that a handler of the agent makes itself are not sent: a handler that calls
 * Java would never end. */
#include "nested.h"
#include "probes.h"
#include <stdlib.h>
#include <string.h>

/* The frames of a thread in a native of the tracker class: 0 the native, 1 the method. */
enum { CALLER = 1 };

static atomic_bool locals; /* relaxed: the VM gives the object of a method that cannot pass it */

/* NULL: the VM does not say. */
static jmethodID id_of(jint number)
{
    struct hpx_jvmpi_method *m = hpx_jvmpi_probes_method(number);
    jmethodID id = m != NULL ? atomic_load_explicit(&m->id, memory_order_relaxed) : NULL;
    jlocation at;
    if (hpx_likely(id != NULL)) {
        return id;
    }
    if ((*hpx_jvmpi.jvmti)->GetFrameLocation(hpx_jvmpi.jvmti, NULL, CALLER, &id, &at) != JVMTI_ERROR_NONE) {
        return NULL;
    }
    if (m != NULL) {
        atomic_store_explicit(&m->id, id, memory_order_relaxed);
    }
    return id;
}

static void send_entry2(JNIEnv *env, jmethodID id, jobject of)
{
    if (of != NULL) {
        hpx_jvmpi_objects_announce(env, of);
    }
    JVMPI_Event event = {.event_type = JVMPI_EVENT_METHOD_ENTRY2,
                         .u.method_entry2 = {.method_id = id, .obj_id = of != NULL ? hpx_jvmpi_id_of(of) : NULL}};
    hpx_jvmpi_nested_notify(env, &event);
}

/* ---- ENTRY2 of constructors ----
 *
 * A constructor may not pass its object before super(...) returns, and to ask the VM for it costs a safepoint (docs/jvmpi.md). But most of
 * them run nothing before super(...), so the next call of the thread is one on the same object, and the last of the chain is the
 * constructor of java.lang.Object, which passes it. Until then their entries wait. */

#define CHAIN 64 /* entries that wait; a longer chain asks the VM */

static __thread struct {
    jmethodID ids[CHAIN]; /* outermost first */
    unsigned n;
} waiting;

static jobject object_at(jint depth)
{
    jobject object = NULL;
    return atomic_load_explicit(&locals, memory_order_relaxed) &&
                   (*hpx_jvmpi.jvmti)->GetLocalInstance(hpx_jvmpi.jvmti, NULL, depth, &object) == JVMTI_ERROR_NONE
               ? object
               : NULL;
}

static void flush(JNIEnv *env, jobject object)
{
    const unsigned n = waiting.n;
    waiting.n = 0;
    for (unsigned i = 0; i < n; i++) {
        send_entry2(env, waiting.ids[i], object);
    }
}

/* Something else has come, in a constructor of a class that could not be rewritten: looks whether the innermost pending one still has a
 * frame. If it has none, it ended by an exception that has no exit either. */
static void settle(JNIEnv *env)
{
    enum { NEAR = 64 };
    jvmtiFrameInfo frames[NEAR];
    jint n = 0;
    jmethodID last = waiting.ids[waiting.n - 1];
    if (!hpx_jvmpi_nested_may(JVMPI_EVENT_METHOD_ENTRY2) ||
        (*hpx_jvmpi.jvmti)->GetStackTrace(hpx_jvmpi.jvmti, NULL, 0, NEAR, frames, &n) != JVMTI_ERROR_NONE) {
        n = 0;
    }
    for (jint i = CALLER + 1; i < n; i++) {
        if (frames[i].method == last) {
            jobject object = object_at(i);
            flush(env, object);
            (*env)->DeleteLocalRef(env, object);
            return;
        }
    }
    waiting.n = 0;
}

/* object: NULL if the probe did not pass it. */
static void entered2(JNIEnv *env, const struct hpx_jvmpi_method *m, jmethodID id, jobject object)
{
    if (object == NULL && m->direct && waiting.n < CHAIN) {
        waiting.ids[waiting.n++] = id;
        return;
    }
    const bool asked = object == NULL && m->object;
    jobject of = asked ? object_at(CALLER) : object;
    if (waiting.n > 0 && (asked || m->root)) {
        flush(env, of);
    } else if (waiting.n > 0) {
        settle(env);
    }
    send_entry2(env, id, of);
    if (asked) {
        (*env)->DeleteLocalRef(env, of);
    }
}

/* ---- calls ---- */

static void entered(JNIEnv *env, jint number, jobject object)
{
    const bool plain = hpx_jvmpi_nested_may(JVMPI_EVENT_METHOD_ENTRY), self = hpx_jvmpi_nested_may(JVMPI_EVENT_METHOD_ENTRY2);
    const struct hpx_jvmpi_method *m = plain || self ? hpx_jvmpi_probes_method(number) : NULL;
    jmethodID id = m != NULL ? id_of(number) : NULL;
    if (id != NULL && plain) {
        JVMPI_Event event = {.event_type = JVMPI_EVENT_METHOD_ENTRY, .u.method.method_id = id};
        hpx_jvmpi_nested_notify(env, &event);
    }
    if (id != NULL && self) {
        entered2(env, m, id, object);
    }
}

void JNICALL hpx_jvmpi_on_enter(JNIEnv *env, jclass tracker, jint number)
{
    (void)tracker;
    entered(env, number, NULL);
}

void JNICALL hpx_jvmpi_on_self(JNIEnv *env, jclass tracker, jobject object, jint number)
{
    (void)tracker;
    entered(env, number, object);
}

void JNICALL hpx_jvmpi_on_exit(JNIEnv *env, jclass tracker, jint number)
{
    (void)tracker;
    if (waiting.n > 0) {
        settle(env);
    }
    jmethodID id = hpx_jvmpi_nested_may(JVMPI_EVENT_METHOD_EXIT) ? id_of(number) : NULL;
    if (id != NULL) {
        JVMPI_Event event = {.event_type = JVMPI_EVENT_METHOD_EXIT, .u.method.method_id = id};
        hpx_jvmpi_nested_notify(env, &event);
    }
}

/* ---- compiled code ---- */

/* Entries of the code's map that have a line. to: room for n; returns how many. */
static jint turn_lines(jmethodID method, const void *code, jint n, const jvmtiAddrLocationMap *map, JVMPI_Lineno *to)
{
    jvmtiEnv *jvmti = hpx_jvmpi.jvmti;
    jvmtiLineNumberEntry *lines = NULL;
    jint known = 0, used = 0;
    if (n <= 0 || to == NULL || map == NULL || (*jvmti)->GetLineNumberTable(jvmti, method, &known, &lines) != JVMTI_ERROR_NONE) {
        return 0;
    }
    for (jint i = 0; i < n; i++) {
        jint line = hpx_jvmpi_line_at(lines, known, map[i].location);
        if (line > 0) {
            to[used++] = (JVMPI_Lineno){(jint)((const char *)map[i].start_address - (const char *)code), line};
        }
    }
    hpx_jvmpi_give_back(lines);
    return used;
}

static void JNICALL on_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *code, jint n, const jvmtiAddrLocationMap *map,
                                const void *more)
{
    (void)jvmti, (void)more;
    if (!hpx_jvmpi_on(JVMPI_EVENT_COMPILED_METHOD_LOAD)) {
        return;
    }
    JVMPI_Lineno *lines = n > 0 ? malloc((size_t)n * sizeof *lines) : NULL; /* NULL for lack of memory: without lines */
    JVMPI_Event event = {.event_type = JVMPI_EVENT_COMPILED_METHOD_LOAD,
                         .env_id = hpx_jvmpi_env(),
                         .u.compiled_method_load = {.method_id = method,
                                                    .code_addr = (void *)(uintptr_t)code,
                                                    .code_size = size,
                                                    .lineno_table_size = turn_lines(method, code, n, map, lines),
                                                    .lineno_table = lines}};
    hpx_jvmpi_notify(&event);
    free(lines);
}

static void JNICALL on_compiled_gone(jvmtiEnv *jvmti, jmethodID method, const void *code)
{
    (void)jvmti, (void)code;
    if (hpx_jvmpi_on(JVMPI_EVENT_COMPILED_METHOD_UNLOAD)) {
        JVMPI_Event event = {
            .event_type = JVMPI_EVENT_COMPILED_METHOD_UNLOAD, .env_id = hpx_jvmpi_env(), .u.compiled_method_unload.method_id = method};
        hpx_jvmpi_notify(&event);
    }
}

/* ---- the module ---- */

static void callbacks(jvmtiEventCallbacks *set)
{
    set->CompiledMethodLoad = on_compiled;
    set->CompiledMethodUnload = on_compiled_gone;
}

static void capabilities(jvmtiCapabilities *wanted)
{
    wanted->can_generate_compiled_method_load_events = 1;
    hpx_jvmpi_probes_load();
}

/* object_at() needs it, and HotSpot gives it at load alone. It takes optimisations from compiled code, so only who asks pays for it. */
static void need_locals(void)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_access_local_variables = 1;
    if (hpx_jvmpi_need(&wanted)) {
        atomic_store_explicit(&locals, true, memory_order_relaxed);
    }
}

static jint switched(jint event, bool on, void *arg)
{
    (void)arg;
    switch (event) {
    case JVMPI_EVENT_COMPILED_METHOD_LOAD:
        return hpx_jvmpi_listen(JVMTI_EVENT_COMPILED_METHOD_LOAD, on) ? JVMPI_SUCCESS : JVMPI_FAIL;
    case JVMPI_EVENT_COMPILED_METHOD_UNLOAD:
        return hpx_jvmpi_listen(JVMTI_EVENT_COMPILED_METHOD_UNLOAD, on) ? JVMPI_SUCCESS : JVMPI_FAIL;
    default:
        break;
    }
    if (on && event == JVMPI_EVENT_METHOD_ENTRY2) {
        need_locals();
    }
    const bool now = on && atomic_load_explicit(&hpx_jvmpi.phase, memory_order_relaxed) == HPX_JVMPI_LIVE; /* else live() does it */
    JNIEnv *env = now ? hpx_jvmpi_env() : NULL;
    return !now || (env != NULL && hpx_jvmpi_probes_update(env)) ? JVMPI_SUCCESS : JVMPI_FAIL;
}

static void live(JNIEnv *env, jthread thread)
{
    (void)thread;
    (void)hpx_jvmpi_probes_update(env);
}

const struct hpx_jvmpi_source hpx_jvmpi_methods = {
    .events = (const jint[]){JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_METHOD_ENTRY2, JVMPI_EVENT_METHOD_EXIT, JVMPI_EVENT_COMPILED_METHOD_LOAD,
                             JVMPI_EVENT_COMPILED_METHOD_UNLOAD, 0},
    .switched = switched,
    .callbacks = callbacks,
    .capabilities = capabilities,
    .live = live,
};
