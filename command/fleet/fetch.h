/* SPDX-License-Identifier: BSD-2-Clause */
/* fetch.h: hprofx fetch: profiles of a fleet out of the engine that keeps them, as one file. */
#ifndef HPX_FLEET_FETCH_H
#define HPX_FLEET_FETCH_H

/* argv[0] is the verb. The command's status. */
int hpx_fetch(int argc, char **argv);

#endif
