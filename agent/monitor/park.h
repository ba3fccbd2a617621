/* SPDX-License-Identifier: BSD-2-Clause */
/* park.h: locks=y and pinned=y: the time in Unsafe.park, under every lock of java.util.concurrent.
 *
 * The JVM lets an agent replace a native method when it is bound. No class of the JDK is changed. */
#ifndef HPX_PARK_H
#define HPX_PARK_H

#include "vm.h"

/* At load. hpx_virtuals_load() came before. */
void hpx_park_load(void);
/* VMInit: parks are recorded from now on. If the VM has not let us, a line says so. */
void hpx_park_live(void);

/* The end of a session in a JVM that runs on. The replaced function stays, and calls the VM's. */
void hpx_park_close(void);

#endif
