/* SPDX-License-Identifier: BSD-2-Clause */
/* class_load.h: CLASS_LOAD of one class. */
#ifndef HPX_JVMPI_CLASS_LOAD_H
#define HPX_JVMPI_CLASS_LOAD_H

#include "shim.h"

/* Sends CLASS_LOAD of a class under `id`. event_type: with or without JVMPI_REQUESTED_EVENT. A class that is not prepared, an array's or a
 * primitive's has no members. false: the VM or the process has no memory for it, nothing was sent. JVMTI's phase START or LIVE, an
 * attached thread. */
bool hpx_jvmpi_class_load_send(jclass klass, jobjectID id, jint event_type);

#endif
