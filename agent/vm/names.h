/* SPDX-License-Identifier: BSD-2-Clause */
/* names.h: turns classes and methods of the VM into messages for the model.
 *
 * JVM threads only (every call enters JVMTI). A jmethodID is used only while its class is alive: in the callback that passes the class,
 * or while a local reference made from the class's weak reference exists. */
#ifndef HPX_NAMES_H
#define HPX_NAMES_H

#include "vm.h"

/* Announces a class to the model: its jmethodIDs (AsyncGetCallTrace cannot name a method without one), a weak reference, and the names
 * that `said` asks for. A class that cannot be listed is counted. ClassPrepare and VMInit. */
enum hpx_names_said {
    HPX_NAMES_NONE,  /* names are requested when a method is sampled */
    HPX_NAMES_CLASS, /* the class name; method names are requested when sampled */
    HPX_NAMES_ALL
};
void hpx_names_class(jvmtiEnv *jvmti, JNIEnv *env, jclass klass, enum hpx_names_said said);
/* The same for n methods of the class. looked_for: as in HPX_MSG_CLASS. Any attached thread. */
void hpx_names_methods(jvmtiEnv *jvmti, JNIEnv *env, jclass klass, const jmethodID *ids, jint n, enum hpx_names_said said, bool looked_for);
/* GetLoadedClasses. The caller deletes the references and frees *all by Deallocate. Any attached thread. */
jvmtiError hpx_names_list(jvmtiEnv *jvmti, JNIEnv *env, jint *n, jclass **all);
/* Announces all loaded classes. VMInit. */
void hpx_names_loaded(jvmtiEnv *jvmti, JNIEnv *env);

/* Answers a request on the control lane and frees the request; without memory for an answer refuses it. The service thread. */
void hpx_names_resolve(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_msg_resolve *r);

/* Posts the request back, which is the answer that there is none: no access to the JVM, a class that is unloaded, or no memory. Needs no
 * memory. Any thread. */
void hpx_names_refuse(struct hpx_msg_resolve *r);

/* HPX_MSG_SWEEP and HPX_MSG_DROP (model_msg.h). env NULL: no access to the JVM, so no class is reported as unloaded. The service thread. */
void hpx_names_sweep(JNIEnv *env, struct hpx_msg_sweep *s);
void hpx_names_drop(JNIEnv *env, struct hpx_msg_sweep *s);

/* Ignores ClassPrepare on the calling thread, until it is called with false: before JDK 21 the VM posts it for the temporary version of a
 * class that is retransformed. */
void hpx_names_ignore(bool on);
bool hpx_names_ignored(void);

/* The end of a session in a JVM that runs on: deletes the references of all classes. The aggregator has stopped. */
void hpx_names_forget(JNIEnv *env);

#endif
