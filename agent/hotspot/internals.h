/* SPDX-License-Identifier: BSD-2-Clause */
/* internals.h: whether the VM's structures are read, and if not, why. Touches nothing: a leaf that readers ask and checks write.
 *
 * They are read from the checks at VMInit on (checks.h) until something contradicts them, and then never again in the session. All reasons
 * are here, as constant texts; the first reason stays. */
#ifndef HPX_INTERNALS_H
#define HPX_INTERNALS_H

#include "compiler.h"

/* NULL: hprofx may read the VM's structures. Else what forbids it; constant. From load on; any thread but in handlers. */
const char *hpx_internals_closed(void);
/* true if structures may be read. Async-signal-safe. */
bool hpx_internals_on_sig(void);
/* VMInit: they have passed its checks. */
void hpx_internals_turn_on(void);
/* They are left for good. `why` is a constant. Any thread, not in handlers. */
void hpx_internals_leave(const char *why);
#define HPX_INTERNALS_MISREAD "a read of the VM's structures faulted"
/* Why the structures are not read; NULL: they are. Any thread. */
const char *hpx_internals_off(void);

/* ---- parts that are left without the rest ---- */

enum hpx_internals_part {
    HPX_INTERNALS_ANCHORS,  /* of threads (frame_anchor.h) */
    HPX_INTERNALS_RAW,      /* raw walks (raw_walk.h), which need anchors */
    HPX_INTERNALS_NAMES,    /* names of their frames (frame_names.h), which need raw walks */
    HPX_INTERNALS_EVENTS,   /* stacks of events (quiet_stack.h), which need raw walks */
    HPX_INTERNALS_MONITORS, /* classes of monitors (waited_monitor.h), which need anchors */
    HPX_INTERNALS_IDS,      /* kernel ids (thread_id.h), which need nothing else */
    HPX_INTERNALS_PARTS
};
/* true if the part, and what it needs, may be read. Async-signal-safe. */
bool hpx_internals_anchors_sig(void);
bool hpx_internals_raw_sig(void);
bool hpx_internals_names_sig(void);
/* VMInit: where a thread's anchor is, is known. */
void hpx_internals_turn_anchors_on(void);
/* Raw walks have passed their checks. */
void hpx_internals_turn_raw_on(void);
/* The part is left for good. `why` is a constant, the first one stays; NULL: nothing happens. Async-signal-safe. */
void hpx_internals_leave_part_sig(enum hpx_internals_part part, const char *why);
/* Why the part is not read, though what it needs is; NULL: it is, or it is not checked or compared yet. Any thread. */
const char *hpx_internals_without(enum hpx_internals_part part);
/* The same, but also if what it needs is not read. */
const char *hpx_internals_why(enum hpx_internals_part part);

#endif
