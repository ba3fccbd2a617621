/* SPDX-License-Identifier: BSD-2-Clause */
/* window.h: the part of a run that --from, --to and --around ask for. One for the process, as the command line is; one thread.
 *
 * A time is an offset from the begin of the session (90s, 1m30s, 500ms, 90), or a time of day of this machine's clock (14:03:20, 14:03). */
#ifndef HPX_TREE_WINDOW_H
#define HPX_TREE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hpx_window_end { HPX_WINDOW_FROM, HPX_WINDOW_TO, HPX_WINDOW_AROUND, HPX_WINDOW_ENDS };
#define HPX_WINDOW_AROUND_MS 5000u /* before and behind */

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
/* "--from 90s --to 2m (14:03:10 to 14:03:40)". */
void hpx_window_words(char *to, size_t n, uint64_t zero_ms, struct hpx_window w);

/* The part of ns, which end at `end` ms, that lies in the window. */
uint64_t hpx_window_part(struct hpx_window w, uint64_t end_ms, uint64_t ns);

#endif
