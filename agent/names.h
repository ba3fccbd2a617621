/* SPDX-License-Identifier: BSD-2-Clause */
/* names.h: from classes and methods of the VM to messages for the model.
 *
 * JVM threads only (each call enters JVMTI). A jmethodID is used only while its class is alive: in the callback that hands the class over,
 * or under a local reference made from the class's weak reference. */
#ifndef HPX_NAMES_H
#define HPX_NAMES_H

#include "agent.h"

/* Tells the model of a class: its jmethodIDs (which must exist before AsyncGetCallTrace can name a method) and a weak reference; what
 * else is said. A class that cannot be listed is counted. ClassPrepare and VMInit. */
enum hpx_names_said {
    HPX_NAMES_NONE,  /* asked for when sampled */
    HPX_NAMES_CLASS, /* its own name; its methods' are asked for when sampled */
    HPX_NAMES_ALL
};
void hpx_names_class(jvmtiEnv *jvmti, JNIEnv *env, jclass klass, enum hpx_names_said said);

/* Answers a request on the control lane and frees it. The service thread. */
void hpx_names_resolve(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_msg_resolve *r);

/* The same where the JVM cannot be asked: the class counts as gone. Any thread. */
void hpx_names_refuse(struct hpx_msg_resolve *r);

/* HPX_MSG_SWEEP and HPX_MSG_DROP (model.h). env NULL: the JVM cannot be asked, so no class is said to be gone. The service thread. */
void hpx_names_sweep(JNIEnv *env, struct hpx_msg_sweep *s);
void hpx_names_drop(JNIEnv *env, struct hpx_msg_sweep *s);

#endif
