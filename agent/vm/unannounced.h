/* SPDX-License-Identifier: BSD-2-Clause */
/* unannounced.h: finds methods that nobody announced: of classes without a ClassPrepare, and old versions that run on.
 *
 * JDK 21 raises no ClassPrepare for a class that is loaded while a virtual thread is in a transition. When a class is redefined, the new
 * version of a method takes the jmethodID, and the old one has none until JVMTI finds it in a stack. So a look takes the stacks of
 * the platform threads, in which old versions get jmethodIDs of their own, lists the loaded classes, and takes the stacks again.
 *
 * A jmethodID is followed only if it is in a stack before and after the list: then its class is in the list, whose references keep it
 * alive, however many classes the program loads meanwhile. */
#ifndef HPX_UNANNOUNCED_H
#define HPX_UNANNOUNCED_H

#include "vm.h"

/* HPX_MSG_LOOK (model_msg.h): announces what is found and posts the message back. env NULL: no access to the JVM. The service thread. */
void hpx_unannounced_serve(jvmtiEnv *jvmti, JNIEnv *env, struct hpx_msg_look *m);
/* A session begins, and has announced the loaded classes: announces the methods that run on in versions which an earlier session has
 * rewritten. The thread that begins it. */
void hpx_unannounced_begin(jvmtiEnv *jvmti, JNIEnv *env);
/* hprofx rewrites classes of this process. Any thread. */
void hpx_unannounced_note_rewriting(void);

#endif
