/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_wall.h: WALL CLOCK, the time of threads by stack and state (wall=), as text and binary. docs/formats.md has the
 * formats. The writer's thread only. Both sort s->rows. */
#ifndef HPX_HPROF_WALL_H
#define HPX_HPROF_WALL_H

#include "hprof_ascii.h"
#include "hprof_binary.h"

/* The traces that are not in the file yet, then the table. The list stops at the first row whose share of the total is below cutoff (nan:
 * everything). The total is in whole ms, shares are computed from ns. */
void hpx_ascii_wall_clock(struct hpx_ascii *w, struct hpx_wall_snapshot *s, double cutoff, time_t now);
/* For every state, and class of what it waits for, with a row that is listed, a UTF8 record that names them, and a CPU SAMPLES. */
void hpx_binary_wall_clock(struct hpx_binary *w, struct hpx_wall_snapshot *s, double cutoff);

#endif
