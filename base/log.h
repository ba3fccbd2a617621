/* SPDX-License-Identifier: BSD-2-Clause */
/* log.h: messages on standard error, the only place where hprofx prints messages to the user.
 *
 * One call writes one whole line by one write(2) (more only after a short write), so lines of threads and of the program do not mix.
 * Controls in the text are replaced by '?', so that a name from the program cannot forge a line or drive a terminal. A failed write is
 * ignored. Any thread; not in signal handlers or GC callbacks (formatting). No locks, no allocation; lines over 4 KiB are cut. */
#ifndef HPX_LOG_H
#define HPX_LOG_H

#include "compiler.h"
#include <stdatomic.h>

/* "hprofx: " text "\n": warnings and losses; not silenced by verbose=n. */
void hpx_warn(const char *fmt, ...) HPX_PRINTF(1, 2);

/* As hpx_warn(), but only once per flag (exchange, relaxed: only "was I first" matters). */
#define hpx_warn_once(flag, ...)                                                                                                           \
    do {                                                                                                                                   \
        if (!atomic_exchange_explicit((flag), true, memory_order_relaxed)) {                                                               \
            hpx_warn(__VA_ARGS__);                                                                                                         \
        }                                                                                                                                  \
    } while (0)

/* The text and "\n", without prefix: lines in HPROF's form ("HPROF ERROR: ...", "Dumping ... done."). */
void hpx_say(const char *fmt, ...) HPX_PRINTF(1, 2);

/* Sets the descriptor of later lines (tests; 2 at start). */
void hpx_log_set_fd(int fd);

#endif
