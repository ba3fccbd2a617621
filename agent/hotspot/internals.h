/* SPDX-License-Identifier: BSD-2-Clause */
/* internals.h: which of the VM's structures are read, and if not, why. Touches nothing: a leaf that readers ask and checks write.
 *
 * A part is read from its checks at VMInit on (checks.h) until something contradicts it, and then never again in the session. A part that
 * is left takes those with it that need it. All reasons are here, as constant texts; the first reason of a part stays. */
#ifndef HPX_INTERNALS_H
#define HPX_INTERNALS_H

#include "compiler.h"

enum hpx_internals_part {
    HPX_INTERNALS_CODE,     /* the code cache (code_cache.h) */
    HPX_INTERNALS_ANCHORS,  /* of threads (frame_anchor.h); needs the code cache */
    HPX_INTERNALS_RAW,      /* raw walks (raw_walk.h); needs anchors */
    HPX_INTERNALS_NAMES,    /* names of their frames (frame_names.h); needs raw walks */
    HPX_INTERNALS_EVENTS,   /* stacks of events (quiet_stack.h); needs raw walks */
    HPX_INTERNALS_MONITORS, /* classes of monitors (waited_monitor.h); needs anchors */
    HPX_INTERNALS_IDS,      /* kernel ids (thread_id.h); needs nothing else */
    HPX_INTERNALS_PARTS
};

#define HPX_INTERNALS_MISREAD "a read of the VM's structures faulted"

/* NULL: hprofx may read the VM's structures. Else what forbids it; constant. From load on; any thread but in handlers. */
const char *hpx_internals_closed(void);
/* The part has passed its checks; EVENTS and IDS have none: they are asked by hpx_internals_why() alone. */
void hpx_internals_turn_on(enum hpx_internals_part part);
/* true if the part, and what it needs, may be read. Async-signal-safe. */
bool hpx_internals_on_sig(enum hpx_internals_part part);
/* The part is left for good. `why` is a constant, the first one stays; NULL: nothing happens. Async-signal-safe. */
void hpx_internals_leave_sig(enum hpx_internals_part part, const char *why);
/* Why the part is not read, though what it needs is; NULL: it is, or it is not checked or compared yet. Any thread. */
const char *hpx_internals_without(enum hpx_internals_part part);
/* The same, but also if what it needs is not read. */
const char *hpx_internals_why(enum hpx_internals_part part);

#endif
