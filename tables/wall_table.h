/* SPDX-License-Identifier: BSD-2-Clause */
/* wall_table.h: a table of the model: the time of threads by state, class of what they wait for, and stack (wall=).
 *
 * A watched thread is somewhere (HPX_EV_WALL_DEF), and gets its time there (HPX_EV_WALL). A virtual thread tells of a wait when it is
 * over (HPX_EV_WALL_VIRTUAL). Time on a CPU comes from the samples of the model: each adds its intervals to the state running of its
 * stack, whatever else becomes of the samples. Time without a CPU (HPX_EV_WALL_READY) goes to the last sampled stack of its thread. In a
 * snapshot the method on top decides between io and native.
 * Owner: the aggregator. */
#ifndef HPX_WALL_TABLE_H
#define HPX_WALL_TABLE_H

#include "model.h"

struct hpx_walls;
/* Adds itself to the model, which owns it and has one at most. Without a sample table in the model there is no running time. interval_ns:
 * of a sample. NULL without memory. */
struct hpx_walls *hpx_walls_create(struct hpx_model *m, uint64_t interval_ns);

/* Rows with equal printed forms, states and classes are one. NULL without memory: nothing was reset. */
struct hpx_wall_snapshot *hpx_walls_snapshot(struct hpx_walls *w, enum hpx_take take);

/* ns since the start, by state: io is part of native. */
struct hpx_wall_totals {
    uint64_t ns[HPX_WALL_STATES];
    uint64_t unknown_ns; /* of them, without a stack; not of threads that have no Java frames */
};
struct hpx_wall_totals hpx_walls_totals(const struct hpx_walls *w);

/* Whether this native method reads, writes, or waits for a socket or a file. Class in Java form. */
bool hpx_walls_is_io(struct hpx_text class_name, struct hpx_text name);

#endif
