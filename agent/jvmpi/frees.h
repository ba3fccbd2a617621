/* SPDX-License-Identifier: BSD-2-Clause */
/* frees.h: objects and classes that have died, for OBJECT_FREE and CLASS_UNLOAD.
 *
 * Up to JDK 15 the VM tells of them (ObjectFree, objects.c). From 17 on that event could keep a program from ending for ever: the VM waits
 * for the thread that posts it in a way that holds up the safepoint for which that thread waits. So from JDK 16 on an object that gets an
 * id has a weak reference, and a thread of ours looks after collections which of them were cleared. */
#ifndef HPX_JVMPI_FREES_H
#define HPX_JVMPI_FREES_H

#include "shim.h"

#define HPX_JVMPI_LOOKS_FROM 16 /* release of the JDK */

static inline bool hpx_jvmpi_frees_by_looks(void)
{
    return hpx_jvmpi.jdk >= HPX_JVMPI_LOOKS_FROM;
}

/* OBJECT_FREE or CLASS_UNLOAD is on from now on. Serialised, as hpx_jvmpi_source.switched. false: the VM or the system refuses. */
bool hpx_jvmpi_frees_begin(void);
/* Is hpx_jvmpi_frees_collected() to be called? */
bool hpx_jvmpi_frees_need_collections(void);
/* A collection is over. In its callback: takes no lock, allocates nothing. */
void hpx_jvmpi_frees_collected(void);
/* Follows the object with this id, or the class. An attached thread. false: no memory, which is said once; or no id. */
bool hpx_jvmpi_frees_follow(jobject object, jobjectID id, bool is_class);
/* In VMInit and in VMDeath. */
void hpx_jvmpi_frees_live(void);
void hpx_jvmpi_frees_last(JNIEnv *env);

/* objects.c: OBJECT_FREE of that object is sent. */
void hpx_jvmpi_objects_freed(jobjectID id);

#endif
