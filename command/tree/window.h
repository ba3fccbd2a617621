/* SPDX-License-Identifier: BSD-2-Clause */
/* window.h: the part of a run that --from, --to and --around ask for. One for the process, as the command line is; one thread.
 *
 * A time is an offset from the begin of the session (90s, 1m30s, 500ms, 90), or a time of day of this machine's clock (14:03:20, 14:03). */
#ifndef HPX_TREE_WINDOW_H
#define HPX_TREE_WINDOW_H

#include "tree.h"

enum hpx_window_end { HPX_WINDOW_FROM, HPX_WINDOW_TO, HPX_WINDOW_AROUND, HPX_WINDOW_ENDS };
#define HPX_WINDOW_AROUND_MS 5000u /* before and behind */
/* Of a file that a window cannot be taken of. */
#define HPX_WINDOW_NO_TIMES "it has no times of samples; those of a session with timeline=y have"

/* false: it is no time. The text must outlive the window. */
bool hpx_window_set(enum hpx_window_end end, const char *text);
/* Forgets it. */
void hpx_window_clear(void);
bool hpx_window_is_set(void);
/* What is wrong with all of it together; NULL: nothing. */
const char *hpx_window_wrong(void);

/* In ms since the time 0 of a file, from it up to and without the end. */
struct hpx_window {
    uint64_t from, to;
};
/* zero_ms: since 1970; end_ms: the length of what the file has, for times of day: the first one of it counts. */
struct hpx_window hpx_window_of(uint64_t zero_ms, uint64_t end_ms);

/* For readers: makes the views of a tree of its moments in the window alone. What they were before stays in it, as of a filter, and facts
 * that are about all of the time shrink or go. The tree was read with `timed`, and is not finished; timed: whether its moments are wanted
 * still. Waits count by the part of them in the window, and so do moments of a coarse unit. */
void hpx_window_apply(struct hpx_tree *t, uint64_t zero_ms, uint64_t end_ms, bool timed);

#endif
