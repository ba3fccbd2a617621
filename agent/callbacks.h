/* SPDX-License-Identifier: BSD-2-Clause */
/* callbacks.h: the JVMTI events of the active mode. */
#ifndef HPX_CALLBACKS_H
#define HPX_CALLBACKS_H

#include "agent.h"

/* Asks for the capabilities and events of cpu=samples and no others. At load. 0, -HPX_E_VM (JVMTI's error name in the text). */
int hpx_callbacks_init(struct hpx_err *err);

#endif
