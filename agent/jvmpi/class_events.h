/* SPDX-License-Identifier: BSD-2-Clause */
/* class_events.h: what modules of classes and objects tell each other. */
#ifndef HPX_JVMPI_CLASS_EVENTS_H
#define HPX_JVMPI_CLASS_EVENTS_H

#include "shim.h"

/* An object with an id was freed. Sends CLASS_UNLOAD if it was a class. Any thread, also at a safepoint: calls the VM not at all. */
void hpx_jvmpi_class_events_freed(jobjectID id);

/* objects.c: the type that a signature's first letter means: JVMPI_CLASS is a reference. Any thread. */
jint hpx_jvmpi_type_of(char letter);
/* objects.c: the class of the elements of an array of objects. NULL: an exception is pending, or the VM has no answer. An attached thread.
 */
jobjectID hpx_jvmpi_element_id(JNIEnv *env, jclass klass);

#endif
