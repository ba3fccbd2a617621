/* SPDX-License-Identifier: BSD-2-Clause */
/* vm_mode.h: the JVM side of a mode; mode.h is the other half.
 *
 * Every function may be NULL, except ring_bytes, begin, adopted and disarm of a mode that has states. The comment names the calling JVM
 * thread; calls between VMInit and VMDeath are inside the gate (VMDeath, recheck and forget run outside it). No call comes from a signal
 * handler. */
#ifndef HPX_VM_MODE_H
#define HPX_VM_MODE_H

#include "mode.h"
#include "mode_thread.h"
#include "session.h"
#include "vm.h"

/* Events that headers of older JDKs lack. */
#define HPX_EVENT_VIRTUAL_THREAD_START 87
#define HPX_EVENT_VIRTUAL_THREAD_END   88
typedef void(JNICALL *hpx_virtual_event)(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);

/* The callbacks by number, as the VM reads them: the length of a header's struct depends on its release. */
union hpx_event_callbacks {
    jvmtiEventCallbacks known;
    hpx_virtual_event of[HPX_EVENT_VIRTUAL_THREAD_END - JVMTI_MIN_EVENT_TYPE_VAL + 1];
};
_Static_assert(offsetof(jvmtiEventCallbacks, VMObjectAlloc) ==
                   (JVMTI_EVENT_VM_OBJECT_ALLOC - JVMTI_MIN_EVENT_TYPE_VAL) * sizeof(hpx_virtual_event),
               "the callbacks of a header are in the order of their events");
_Static_assert(sizeof(jvmtiEventCallbacks) <= sizeof(union hpx_event_callbacks), "the header's last event is known");

struct hpx_vm_mode {
    /* ---- what it needs ---- */
    bool names;            /* its events have jmethodIDs whose class and method names are needed (names.h) */
    bool lists;            /* it looks at threads by thread_list.h */
    bool finds_itself;     /* its events occur on the thread itself, which calls hpx_threads_find_self() */
    jvmtiEvent on_load[6]; /* enabled from load to VMDeath; ends with 0. Events of threads and class names need no entry */
    jvmtiEvent on_live[8]; /* enabled from VMInit to VMDeath; ends with 0 */
    /* Adds the capabilities that the mode cannot run without. At load. */
    void (*capabilities)(jvmtiCapabilities *want);
    /* Adds capabilities that this VM may lack; features that need them are then off, with a message. At load, after the required ones. */
    void (*optional)(jvmtiEnv *jvmti);
    void (*callbacks)(union hpx_event_callbacks *all); /* sets the callbacks of its events. At load */

    /* ---- at load, in this order ---- */
    void (*options)(void);            /* before the session begins: replaces options that do not work here, with a message */
    int (*load)(struct hpx_err *err); /* before its first event. 0, or an error: profiling is off */
    void (*loaded)(void);             /* all modes and the output are prepared. Not of a session that begins while the program runs */
    void (*disable)(void);            /* undoes load; the program continues without profiling */

    /* ---- VMInit, in this order ---- */
    void (*ready)(JNIEnv *env); /* this thread has its state, and no clock runs. Prepares what the clocks of threads that start need */
    void (*classes)(jvmtiEnv *jvmti, JNIEnv *env); /* handles the classes loaded before */
    void (*live)(jvmtiEnv *jvmti, JNIEnv *env);    /* before the clock of this thread runs */
    void (*open)(jvmtiEnv *jvmti);                 /* when all threads have their states */
    void (*begun)(jvmtiEnv *jvmti);                /* outside the gate: may collect, and never return if the VM ends meanwhile */

    /* ---- while the program runs ---- */
    void (*prepared)(jvmtiEnv *jvmti); /* a thread has prepared a class */
    void (*recheck)(void);             /* the service thread, every 10 s */
    void (*forget)(void);              /* in the child of a fork; async-signal-safe */

    /* ---- VMDeath, in this order ---- */
    void (*leave)(void);            /* its threads leave the JVM; bounded */
    void (*close)(jvmtiEnv *jvmti); /* the gate is closed, its events are off */
    void (*over)(void);             /* everything is written */

    /* ---- a session that ends while the program runs on (run.h): after over, on the thread that ends it ---- */
    bool (*left)(uint64_t until_ns); /* its threads have left the JVM, and threads of the program its hooks, for which it waits until then;
                                        false: they use the session */
    void (*restore)(jvmtiEnv *jvmti, JNIEnv *env); /* the classes get their old code back */
    void (*unload)(JNIEnv *env);                   /* its environment is gone: deletes references */

    /* ---- threads: called on the thread itself unless stated otherwise ---- */
    size_t state_bytes;           /* of a state, which begins with its struct hpx_mode_thread; 0: the mode has none */
    uint32_t (*ring_bytes)(void); /* of its ring, a power of two */
    /* A state is zeroed, and has no ring yet. Another thread may be about to look at it (kept_states.h): it must take its slow way. */
    void (*made)(struct hpx_mode_thread *s);
    void (*unmake)(struct hpx_mode_thread *s); /* a state that was never announced goes: undoes `made` */
    /* The thread starts: env, tid and stack are set. For threads older than VMInit, VMInit's thread calls `adopt` instead. */
    void (*begin)(struct hpx_mode_thread *s, JNIEnv *env, jthread self);
    void (*adopt)(struct hpx_mode_thread *s);
    void (*adopted)(struct hpx_mode_thread *s); /* an adopted thread runs now: env, tid and stack are set */
    void (*arm)(
        struct hpx_mode_thread *s); /* the state is announced: its clock may start. Also VMInit, for adopted threads whose tid is known */
    void (*disarm)(struct hpx_mode_thread *s); /* the thread ends: stops its clock */
    void (*ended)(void); /* then, or instead if VMInit's thread has its states: no handler and no probe finds them after this */
    void (*end)(struct hpx_mode_thread *s, JNIEnv *env); /* then: puts pending events into the ring */
    /* VMInit's thread, instead of disarm and end: an adopted thread has ended before it was published. Stops its clock
     * and flushes. false: its handler is still inside, so the state must not retire. */
    bool (*abandon)(struct hpx_mode_thread *s);
    /* A mode that has no states of its own: a thread whose states other modes have made is announced, and its clock may run; it ends, and
     * they will retire. The thread itself, or VMInit's thread for an adopted one. */
    void (*came)(struct hpx_mode_thread *first, JNIEnv *env, jthread thread);
    void (*went)(struct hpx_mode_thread *first);
};

static inline const struct hpx_vm_mode *hpx_vm_mode_of(const struct hpx_mode_thread *s)
{
    return ((const struct hpx_mode *)s->base.mode)->vm;
}

#endif
