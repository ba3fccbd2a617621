/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_names.h: newest names of threads that rename themselves. JVMTI tells of no such event, so threads are asked: all before a dump,
 * and each at its own end. Only where known_threads.h keeps references: with thread=y, monitor=y and heap=dump; elsewhere nothing shows a
 * name. */
#ifndef HPX_THREAD_NAMES_H
#define HPX_THREAD_NAMES_H

#include "vm.h"

/* At load, before the first thread: keeps references of threads if the options show their names. */
void hpx_thread_names_load(void);
/* What hpx_known_threads_rename() compares. NULL: no name. */
uint64_t hpx_thread_names_hash(const char *name);
/* Asks all announced threads, and tells the model about those with another name than before. Any attached thread, outside locks. */
void hpx_thread_names_ask(jvmtiEnv *jvmti, JNIEnv *env);
/* The same for the calling thread, which ends; number: Thread.getId(). */
void hpx_thread_names_end(jvmtiEnv *jvmti, JNIEnv *env, uint64_t number);

#endif
