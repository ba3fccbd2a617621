/* SPDX-License-Identifier: BSD-2-Clause */
/* probes.h: the rewriting of the program's classes, so that their methods call natives of methods.c and objects.c.
 *
 * A separate JVMTI environment does it. It can retransform, so its hook comes after that of CLASS_LOAD_HOOK (class_events.c), and what
 * the agent made of a class there stays when the class is retransformed. Classes that a session changes keep their probes: an event that is
 * disabled costs a call that returns at once. The tracker class (tracker_class.h) is the only one that the program sees more. */
#ifndef HPX_JVMPI_PROBES_H
#define HPX_JVMPI_PROBES_H

#include "shim.h"

/* Makes the environment and takes its capabilities; at load, more than once is harmless. */
void hpx_jvmpi_probes_load(void);

/* Has all classes that can be changed carry the probes of all events that are on, also those that are loaded. The first call that needs
 * probes defines the tracker class. false: the VM refuses; a line says so. Phase LIVE, an attached thread, serialised by the caller. */
bool hpx_jvmpi_probes_update(JNIEnv *env);

/* The environment of the probes, whose tags mark objects that OBJECT_ALLOC was sent for (objects.c). NULL: there is none. */
jvmtiEnv *hpx_jvmpi_probes_env(void);

/* What methods.c knows of a method that has a probe. number: as the probe passes it. NULL: no such number. Any thread. */
struct hpx_jvmpi_method {
    _Atomic(jmethodID) id; /* relaxed: its value is all; NULL: no probe has asked yet */
    /* Constant before the class can run. */
    bool object; /* it has an object: not static */
    bool direct; /* a constructor that runs nothing before that of its superclass, or another of its class */
    bool root;   /* the constructor of java.lang.Object */
};
struct hpx_jvmpi_method *hpx_jvmpi_probes_method(jint number);

/* Is it a method of the tracker class? A thread that is in a probe has one as its innermost frame, which is not of the program. Any thread.
 */
bool hpx_jvmpi_probes_is_probe(jmethodID method);

/* objects.c: OBJECT_ALLOC is on, and this VM needs probes for it. Phase LIVE. */
bool hpx_jvmpi_objects_by_probes(void);

/* objects.c: sends OBJECT_ALLOC for an object of a constructor that begins, if probes have not sent it yet. Any thread in a probe. */
void hpx_jvmpi_objects_announce(JNIEnv *env, jobject object);

/* Natives of the tracker class: methods.c and objects.c. Exceptions that the agent's handler leaves are cleared. */
void JNICALL hpx_jvmpi_on_enter(JNIEnv *env, jclass tracker, jint number);
void JNICALL hpx_jvmpi_on_self(JNIEnv *env, jclass tracker, jobject object, jint number);
void JNICALL hpx_jvmpi_on_exit(JNIEnv *env, jclass tracker, jint number);
void JNICALL hpx_jvmpi_on_object(JNIEnv *env, jclass tracker, jobject object);
void JNICALL hpx_jvmpi_on_multi(JNIEnv *env, jclass tracker, jobject array, jint unused);

#endif
