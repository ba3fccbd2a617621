/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor_text.h: MONITOR DUMP, DEADLOCKS and the lines of waits as text. docs/formats.md has the formats. The writer's thread only. */
#ifndef HPX_MONITOR_TEXT_H
#define HPX_MONITOR_TEXT_H

#include "hprof_ascii.h"
#include "monitor_image.h"

/* One line of an Object.wait: WAIT when it begins, WAITED when it is over. */
struct hpx_wait_line {
    struct hpx_text signature; /* of the monitor's class, JVM form; len 0: unknown */
    int64_t ms;                /* WAIT: the timeout, 0: none. WAITED: the time waited */
    uint32_t thread;           /* serial; HPX_SERIAL_THREAD: unknown */
    bool waited;
};
void hpx_ascii_wait(struct hpx_ascii *w, const struct hpx_wait_line *l);

/* The traces that are not in the file yet, then MONITOR DUMP, then DEADLOCKS if there are any. Threads are sorted by serial, an unknown one
 * first; monitors those with waiters first. */
void hpx_ascii_monitor_dump(struct hpx_ascii *w, struct hpx_monitor_image *i);

#endif
