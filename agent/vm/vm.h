/* SPDX-License-Identifier: BSD-2-Clause */
/* vm.h: the JVM that the agent is loaded into.
 *
 * Set by who begins a session; constant from then on. */
#ifndef HPX_VM_H
#define HPX_VM_H

#include "session.h"
#include <jvmti.h>

struct hpx_vm {
    JavaVM *java;
    jvmtiEnv *jvmti; /* the session's; it is disposed of with the session */
    bool late;       /* the session begins in a JVM that runs */
};

extern struct hpx_vm hpx_vm;

/* Fields of java.lang.Thread; NULL: not there. Constant once a session has begun. */
struct hpx_vm_fields {
    jfieldID tid;        /* Thread.getId() */
    jfieldID blocker;    /* parkBlocker */
    jfieldID name;       /* a String */
    jfieldID own_status; /* JDK 8 to 18: threadStatus (thread_info.h) */
    /* JDK 19 and later; `holder` is NULL unless all are there, and `name` (thread_info.h) */
    jfieldID holder, status, group, group_name, group_parent;
};
extern struct hpx_vm_fields hpx_vm_fields;

/* The release of the JDK: 8, 11, ... From load on; any attached thread. */
jint hpx_vm_release(void);
/* Whether this is a virtual thread. Any attached thread. */
bool hpx_vm_is_virtual(JNIEnv *env, jthread thread);
/* JNI of the calling thread; NULL: it is not attached. */
JNIEnv *hpx_vm_env(void);
/* For an event: enters the gate. false: it is closed, or the environment is not the session's: the VM was about to tell of the event when
 * the session of that one ended. It tells the environments one after the other, this session's last. Any thread. */
bool hpx_vm_enter(struct hpx_gate *g, jvmtiEnv *jvmti);
/* The same for an event of another environment of the session, which is read inside the gate. */
bool hpx_vm_enter_for(struct hpx_gate *g, const jvmtiEnv *jvmti, jvmtiEnv *const *own);
/* A further JVMTI environment with these capabilities; NULL: the VM refuses. */
jvmtiEnv *hpx_vm_environment(const jvmtiCapabilities *want);
/* Makes one JVMTI environment without events or capabilities, at the first call; it stays as long as the JVM. Before a session enables an
 * event: HotSpot (8 to 28) has a state for every thread from then on, and forgets to delete it when a thread ends while no environment is
 * left; the next event that anybody enables writes through it to the memory of the ended thread. false: the VM gives none. */
bool hpx_vm_keep_environment(void);
/* That environment: for a call that may come when the session's own is gone. Any thread, from the first session on. */
jvmtiEnv *hpx_vm_kept(void);
/* Adds a capability by its number in the VM's struct: headers of older JDKs lack its name. */
jvmtiError hpx_vm_capability(jvmtiEnv *jvmti, unsigned bit);
/* Switches events of all threads; the list ends with 0. The first error, if any; the others are switched in any case. */
jvmtiError hpx_vm_events(jvmtiEventMode mode, const jvmtiEvent *events);
/* A field of an object; klass may be NULL. NULL: not there. No exception stays pending. */
jfieldID hpx_vm_field(JNIEnv *env, jclass klass, const char *name, const char *signature);
/* When a session begins, by VMInit, a command, or VMDeath before VMInit; before a thread of hprofx runs: looks for the fields. */
void hpx_vm_live(JNIEnv *env);
/* The name of a JVMTI error for a message; constant. */
const char *hpx_jvmti_error(jvmtiError e);

#endif
