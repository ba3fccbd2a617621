/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_info.h: what the VM knows of a platform thread: its name, its groups, whether it lives.
 *
 * From JDK 21 on each question of JVMTI about a thread walks all threads of the JVM (it forbids virtual threads to mount meanwhile), so who
 * asks for all of them would need quadratic time. There the fields of java.lang.Thread are read, which JVMTI reads, too. Elsewhere, and
 * where a field is missing, JVMTI is asked. Any attached thread; no lock is held. */
#ifndef HPX_THREAD_INFO_H
#define HPX_THREAD_INFO_H

#include "vm.h"

struct hpx_thread_info {
    char *name, *group, *parent; /* JVMTI's memory, modified UTF-8; NULL: none. parent: the group's */
    bool lives;
    bool untold; /* the VM does not tell, perhaps for lack of memory */
};

/* thread NULL: the calling one. parent: its group's parent is wanted. A thread that does not live has no group. hpx_thread_info_free()
 * ends it. */
struct hpx_thread_info hpx_thread_info_of(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, bool parent);
/* Its name alone, JVMTI's memory; NULL: none, or it is not to be had. Read from its field in every JDK: before a dump all threads are
 * asked, and of JVMTI a name takes several microseconds, with its groups. */
char *hpx_thread_info_name(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
void hpx_thread_info_free(jvmtiEnv *jvmti, const struct hpx_thread_info *i);
/* GetThreadState() of JVMTI; false: it fails. Read from a field where java.lang.Thread has it, without the bits that the thread is
 * suspended, interrupted, or in native code: before JDK 10 the VM takes a lock of its own thread for them, and if that has ended meanwhile
 * and is freed it may wait for ever, and with it the program at its next stop. */
bool hpx_thread_info_bits(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jint *bits);
/* GetStackTrace() of JVMTI, of another thread and from its top. Before JDK 10 that takes the same lock: there the question is
 * GetThreadListStackTraces(), which looks while all threads are stopped. */
jvmtiError hpx_thread_info_stack(jvmtiEnv *jvmti, jthread thread, jint most, jvmtiFrameInfo *frames, jint *n);
/* JVMTI's bits of the state of a thread that lives; those that it is suspended, interrupted, or in native code may be missing, and a
 * carrier has its own, where JVMTI says that it waits while it runs a virtual thread. 0: it has not begun, as one that is being attached,
 * which may have no name yet; or it has ended. HPX_STATE_UNTOLD: the VM does not tell. */
#define HPX_STATE_UNTOLD (-1)
jint hpx_thread_info_state(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);

#endif
