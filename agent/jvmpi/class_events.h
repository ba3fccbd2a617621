/* SPDX-License-Identifier: BSD-2-Clause */
/* class_events.h: what objects.c tells class_events.c. */
#ifndef HPX_JVMPI_CLASS_EVENTS_H
#define HPX_JVMPI_CLASS_EVENTS_H

#include "shim.h"

/* An object with an id was freed. Sends CLASS_UNLOAD if it was a class. Any thread, also at a safepoint: calls the VM not at all. */
void hpx_jvmpi_class_events_freed(jobjectID id);

#endif
