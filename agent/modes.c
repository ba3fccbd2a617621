/* SPDX-License-Identifier: BSD-2-Clause */
/* modes.c: the list of modes.h. */
#include "modes.h"
#include "calls_mode.h"
#include "counts_mode.h"
#include "heap.h"
#include "monitor.h"
#include "samples.h"
#include "sites.h"
#include "timeline.h"
#include "wall.h"

const struct hpx_mode *const hpx_modes[] = {&hpx_monitor_mode, &hpx_heap_mode,      &hpx_sites_mode,  &hpx_samples,       &hpx_wall_mode,
                                            &hpx_calls_mode,   &hpx_calls_mode_old, &hpx_counts_mode, &hpx_timeline_mode, NULL};
