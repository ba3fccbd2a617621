/* SPDX-License-Identifier: BSD-2-Clause */
/* shim.h: what the modules of libhprofx-jvmpi.so know of each other. It stands between JVMTI and one agent that speaks JVMPI (jvmpi.h).
 *
 * Threads: an event is delivered on the thread that caused it, inside the callback of JVMTI, without queues. From JDK 16 on OBJECT_FREE and
 * CLASS_UNLOAD come on a thread of ours, which looks what has died (frees.h).
 * Locks: the agent may have suspended any thread, also one inside these functions. A thread stops only where it enters the VM, so no lock
 * of ours is held across a call of JVMTI or JNI, but for the lock of ids, which knows of suspensions (ids.c), and that of switches
 * (switch.c), for which only other switches wait. No other lock of ours is held while the agent is called.
 *
 * Capabilities. Load takes what costs the program nothing while no event is enabled, because an agent may enable events at any time, and
 * some can be had at load only: can_tag_objects, can_suspend, can_get_source_file_name, can_get_line_numbers, can_signal_thread,
 * can_get_current_thread_cpu_time, can_get_thread_cpu_time, can_get_monitor_info, can_get_current_contended_monitor,
 * can_generate_monitor_events, can_generate_garbage_collection_events, and what the modules name in `capabilities`. What costs something is
 * taken when an event is switched on: hpx_jvmpi_need(). */
#ifndef HPX_JVMPI_SHIM_H
#define HPX_JVMPI_SHIM_H

#include "compiler.h"
#include "jvmpi.h"
#include "table.h"
#include <jvmti.h>
#include <stdatomic.h>

enum hpx_jvmpi_phase { HPX_JVMPI_LOADING, HPX_JVMPI_LIVE, HPX_JVMPI_DEAD };

struct hpx_jvmpi {
    JavaVM *vm;                /* the VM's own; constant from Agent_OnLoad on, as jvmti and jdk */
    jvmtiEnv *jvmti;           /* ours */
    int jdk;                   /* 8 to 28: java.vm.specification.version; set at load */
    JVMPI_Interface interface; /* what the agent has; it writes NotifyEvent, so read that by hpx_jvmpi_notify() alone */
    /* Relaxed: an event beside a switch may come or not; nothing else is ordered by it. */
    atomic_bool on[JVMPI_MAX_EVENT_TYPE_VAL + 1];
    _Atomic(enum hpx_jvmpi_phase) phase; /* LIVE before JVM_INIT_DONE is sent, DEAD behind JVM_SHUT_DOWN; relaxed */
    atomic_int gc_disabled;              /* DisableGC() without EnableGC(), of all threads; relaxed: a count */
};
extern struct hpx_jvmpi hpx_jvmpi;

/* One module. Every JVMTI event has one owner, who sets its callback:
 *   load.c VMInit, VMDeath; java_threads.c ThreadStart, ThreadEnd; vm_events.c DataDumpRequest, GarbageCollectionStart/Finish; monitors.c
 * the four of monitors; class_events.c ClassFileLoadHook, ClassLoad, ClassPrepare; methods.c CompiledMethodLoad/Unload, NativeMethodBind,
 *   MethodEntry/Exit; objects.c SampledObjectAlloc, VMObjectAlloc, ObjectFree (to JDK 15). */
struct hpx_jvmpi_source {
    const jint *events; /* that it can switch or send on request; ends with 0 */
    /* EnableEvent()/DisableEvent(): called once for every change, serialised. on: hpx_jvmpi_on(event) is already true; off: already false.
     * Phase LOADING or LIVE, an attached thread or the one that loads. arg: the agent's. JVMPI_SUCCESS; else the flag is taken back and the
     * agent gets the value. NULL: the flag is all. */
    jint (*switched)(jint event, bool on, void *arg);
    /* RequestEvent(), of the events that can be requested: sends it on the calling thread before it returns, with JVMPI_REQUESTED_EVENT.
     * NULL: JVMPI_NOT_AVAILABLE. Phase LIVE, an attached thread, not in a handler of a collection. */
    jint (*requested)(jint event, void *arg);
    void (*callbacks)(jvmtiEventCallbacks *set);     /* at load; may be NULL, as all that follow */
    void (*capabilities)(jvmtiCapabilities *wanted); /* at load: the free ones. Those that this VM lacks are dropped silently */
    void (*live)(JNIEnv *env, jthread thread);       /* in VMInit, before JVM_INIT_DONE */
    void (*death)(JNIEnv *env);                      /* in VMDeath, behind JVM_SHUT_DOWN */
};
extern const struct hpx_jvmpi_source hpx_jvmpi_threads, hpx_jvmpi_vm_events, hpx_jvmpi_monitors, hpx_jvmpi_raw_monitors,
    hpx_jvmpi_class_events, hpx_jvmpi_methods, hpx_jvmpi_objects, hpx_jvmpi_refs, hpx_jvmpi_heap_dump, hpx_jvmpi_object_dump,
    hpx_jvmpi_monitor_dump;
/* load.c: all of them; ends with NULL. */
extern const struct hpx_jvmpi_source *const hpx_jvmpi_sources[];

/* ---- events ---- */

/* Does the agent want it? Any thread, also in callbacks of a collection. */
static inline bool hpx_jvmpi_on(jint event)
{
    return atomic_load_explicit(&hpx_jvmpi.on[event], memory_order_relaxed);
}

/* Calls the agent. The caller has set event_type (with JVMPI_REQUESTED_EVENT if it was requested), env_id and u, which the agent may read
 * until the call returns; the agent must not see NULL where the manual has a string. Does not ask hpx_jvmpi_on(). Not sent: behind
 * JVM_SHUT_DOWN, on a thread that works for us (hpx_jvmpi_own_begin), if the agent has no NotifyEvent;
 * calls, allocations and monitors of a thread before its THREAD_START and behind its THREAD_END. Any thread. */
void hpx_jvmpi_notify(JVMPI_Event *event);

/* The calling thread works for us: what it does in the VM (allocates, calls methods, makes references) is no event of the program. Nests.
 * hpx_jvmpi_notify() sends nothing between begin and end, so end before you send. Any thread; async-signal-safe. */
void hpx_jvmpi_own_begin(void);
void hpx_jvmpi_own_end(void);
bool hpx_jvmpi_own(void);

/* The mode, as the manual calls it, in which the calling thread is: the innermost handler's, FREE outside of handlers. */
enum hpx_jvmpi_mode { HPX_JVMPI_FREE, HPX_JVMPI_HELD, HPX_JVMPI_STOP };
enum hpx_jvmpi_mode hpx_jvmpi_mode(void);
/* The calling thread is the VM's, in a handler, and every thread of Java stands still that is not in native code. */
bool hpx_jvmpi_world_is_stopped(void);
/* Has the calling thread, or DisableGC() on any thread, disabled collections? */
bool hpx_jvmpi_gc_is_disabled(void);

/* Frees what a function of JVMTI allocated; NULL: nothing. Any thread. */
static inline void hpx_jvmpi_give_back(void *p)
{
    (void)(*hpx_jvmpi.jvmti)->Deallocate(hpx_jvmpi.jvmti, p);
}
/* SetEventNotificationMode() for all threads. false: refused; the reason is not said. */
bool hpx_jvmpi_listen(jvmtiEvent event, bool on);
/* Takes capabilities later than at load. false: this VM does not give them (now). */
bool hpx_jvmpi_need(const jvmtiCapabilities *wanted);

/* The agent's functions EnableEvent, DisableEvent, RequestEvent (switch.c). */
jint hpx_jvmpi_enable(jint event, void *arg);
jint hpx_jvmpi_disable(jint event, void *arg);
jint hpx_jvmpi_request(jint event, void *arg);
bool hpx_jvmpi_switch_init(void);

/* ---- ids (ids.c): a jobjectID is the tag of the object, counted from 1, and never used again ---- */

/* The id of an object or class; it gets one if it has none. NULL: object is NULL or gone, or the VM refuses. An attached thread, phase
 * START of JVMTI on; object: any reference. */
jobjectID hpx_jvmpi_id_of(jobject object);
/* As id_of(), for an object that only the calling thread knows yet: without the lock, until there are walks over the heap. */
jobjectID hpx_jvmpi_id_of_new(jobject object);
/* There are walks over the heap from now on, which give ids to new objects too. Well before the first one. Any thread. */
void hpx_jvmpi_ids_walk(void);
/* A new local reference; NULL: freed. Takes the time of a walk over all tags. An attached thread. */
jobject hpx_jvmpi_object_of(jobjectID id);
/* A number for a tag that the caller sets itself, in a walk over the heap, say. Any thread, also at a safepoint. */
jlong hpx_jvmpi_id_mint(void);
static inline jobjectID hpx_jvmpi_id(jlong tag)
{
    return (jobjectID)(uintptr_t)tag; /* 64-bit, as all of hprofx */
}
static inline jlong hpx_jvmpi_tag(jobjectID id)
{
    return (jlong)(uintptr_t)id;
}
/* Whoever sets tags in a walk over the heap holds this meanwhile, else id_of() on another thread writes over a tag that was 0 when it
 * looked. Not recursive; nothing else of ids.c may be called meanwhile but id_mint(). An attached thread. */
void hpx_jvmpi_ids_lock(void);
void hpx_jvmpi_ids_unlock(void);

/* ---- threads (java_threads.c): the agent knows a thread by its JNIEnv ----
 * A virtual thread has none: it uses its carrier's, so the agent sees the carrier. */

/* Of the calling thread. NULL: not attached, or a thread of the VM itself. Also in callbacks of a collection. */
JNIEnv *hpx_jvmpi_env(void);
/* Of any platform thread; NULL: it has ended or not begun, or is not known. An attached thread. */
JNIEnv *hpx_jvmpi_env_of(jthread thread);
/* A new local reference of the calling thread; NULL: no living thread has this JNIEnv. Until hpx_jvmpi_let_go() the thread does not end:
 * for one question. An attached thread. */
struct hpx_jvmpi_thread;
jthread hpx_jvmpi_hold(JNIEnv *env, struct hpx_jvmpi_thread **held);
void hpx_jvmpi_let_go(jthread thread, struct hpx_jvmpi_thread *held);
/* The agent's status (JVMPI_THREAD_*) of JVMTI's state of a thread; 0: it does not live. Any thread. */
jint hpx_jvmpi_status_from(jint state);
/* The line of the last entry at or before a location, whatever their order. Any thread. */
#define HPX_JVMPI_LINE_UNKNOWN (-1)
jint hpx_jvmpi_line_at(const jvmtiLineNumberEntry *lines, jint n, jlocation at);
/* Frames as the agent has them, without that of a probe on top: at most n, how many is the result. An attached thread. */
jint hpx_jvmpi_frames_from(const jvmtiFrameInfo *from, jint n, JVMPI_CallFrame *to);

/* ---- functions.c, raw_monitors.c ---- */

/* Writes every function of the interface but NotifyEvent. At load. */
void hpx_jvmpi_fill(JVMPI_Interface *i);

/* One raw monitor for MONITOR_DUMP. Calls `each` for every one that exists; owner NULL: nobody. The callee must not call the VM. */
struct hpx_jvmpi_raw {
    JVMPI_RawMonitor id;
    const char *name;
    JNIEnv *owner;
    jint entries, enterers, waiters;
    JNIEnv *const *entering, *const *waiting;
};
/* Around a handler that runs while the world is stopped. false: it must not run, because it could wait for a raw monitor for ever: one has
 * an owner, and the VM does not show whether that stands still. */
bool hpx_jvmpi_raw_stop(void);
void hpx_jvmpi_raw_go_on(void);
/* The calling thread leaves the VM: its state can no longer be read. */
void hpx_jvmpi_raw_detach(void);
void hpx_jvmpi_raw_each(void (*each)(void *ctx, const struct hpx_jvmpi_raw *raw), void *ctx);

/* ---- rules (rules.c) ---- */

/* Every function of the interface, as HPX_JVMPI_F_ and its name. */
#define HPX_JVMPI_F(name, class, when, sentence) HPX_JVMPI_F_##name,
enum hpx_jvmpi_function { HPX_JVMPI_FUNCTIONS(HPX_JVMPI_F) HPX_JVMPI_F_COUNT };
#undef HPX_JVMPI_F
/* Each function of the interface calls this first: is it allowed in the mode of the calling thread? */
void hpx_jvmpi_called(enum hpx_jvmpi_function f);
/* Threads that the agent has suspended; relaxed: a count. */
extern atomic_int hpx_jvmpi_suspended;
void hpx_jvmpi_rules_init(void);
/* The agent broke a rule of the manual: one line, "hprofx: jvmpi: " and the text, every rule once. Does nothing in a release build without
 * HPROFX_JVMPI_RULES=1 in the environment. rule: a constant text. Any thread. */
void hpx_jvmpi_rule(const char *rule);

#endif
