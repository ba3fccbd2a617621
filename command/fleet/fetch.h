/* SPDX-License-Identifier: BSD-2-Clause */
/* fetch.h: hprofx fetch: profiles of a fleet out of the engine that keeps them, as one file. */
#ifndef HPX_FLEET_FETCH_H
#define HPX_FLEET_FETCH_H

#include "arguments.h"

/* With its command line. The command's status. */
int hpx_fetch(struct hpx_arguments *args);

#endif
