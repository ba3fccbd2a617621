/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_timeline.h: TIMELINE, when everything was that the tables count (timeline=y), as text and binary: the same lines in both.
 *
 * hprof_format.h has the lines. In binary they are the body of UTF8 records that nothing names, each of whole lines and with a first line
 * of its own, HPX_TIMELINE_NOTE, because there are readers that refuse unknown tags. Times are in steps of HPX_TIMELINE_STEP, and in order
 * but for events that came some seconds too late. maxfile= does not count the section. The writer's thread only. */
#ifndef HPX_HPROF_TIMELINE_H
#define HPX_HPROF_TIMELINE_H

#include "hprof_ascii.h"
#include "hprof_binary.h"
#include "timeline_snapshot.h"

/* The traces of the places that are not in the file yet, then the section. No rows: nothing. */
void hpx_ascii_timeline(struct hpx_ascii *w, struct hpx_timeline_snapshot *s);
void hpx_binary_timeline(struct hpx_binary *w, struct hpx_timeline_snapshot *s);

#endif
