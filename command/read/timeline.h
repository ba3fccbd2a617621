/* SPDX-License-Identifier: BSD-2-Clause */
/* timeline.h: the lines of TIMELINE (hprof_format.h), the same in text and binary files. No state; any thread. */
#ifndef HPX_READ_TIMELINE_H
#define HPX_READ_TIMELINE_H

#include "events.h"

/* Takes an event, of which it sets where it stands. An enum hpx_rd_result: not HPX_RD_SOUND ends the line. */
typedef int hpx_rd_take(void *ctx, struct hpx_rd_event *ev);

#define HPX_TIMELINE_NO_MATCH (-1) /* the line is none of TIMELINE; a part of it may have been told */

/* TIMELINE, PLACE, MOMENT for each event of the line, or TIMELINE_END. *end: whether it is the last line. */
int hpx_timeline_line(struct hpx_rd_text line, hpx_rd_take *take, void *ctx, bool *end);

#endif
