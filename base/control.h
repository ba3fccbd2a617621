/* SPDX-License-Identifier: BSD-2-Clause */
/* control.h: the words by which a command steers a session in a JVM that runs (docs/attach.md). Both ends include it.
 *
 * Unix stream socket /tmp/.hprofx-PID, PID as the JVM sees its own. Lines of text that end with '\n'. The agent greets with "hprofx 1
 * RELEASE"; then each request, one line, is answered by lines "KEY: VALUE" and a last one: "ok", or "error CODE TEXT" (err.h).
 *
 *   start MS OPTIONS   begins a session, "session: NUMBER"; after MS milliseconds it ends by itself, 0: never
 *   hold MS OPTIONS    the same; it also ends when this connection does
 *   stop [NUMBER]      ends it and writes its profile; with a number no other
 *                      all three: "classes: N of M" every second while classes are rewritten, the first with about how long and what
 *                      include= would save, else "working: S s" every tenth. Another line of this connection, or its end, before a
 *                      session has begun undoes the session: it is answered by an error, then the line is
 *   dump [NUMBER]      requests a profile, as SIGQUIT does; with a number of no other session
 *   status             lines: what runs, since when, who began it; or why it does not end
 *
 * No state; any thread. */
#ifndef HPX_CONTROL_H
#define HPX_CONTROL_H

#include "err.h"
#include <stddef.h>

#define HPX_CONTROL_GREETING "hprofx 1 "
#define HPX_CONTROL_NAME     ".hprofx-%d" /* of the socket, in /tmp */
#define HPX_CONTROL_LINE     8192         /* longest line with its end */
#define HPX_CONTROL_REFUSED  100          /* what Agent_OnAttach returns: this and the number of the error; JNI's own errors are negative */
#define HPX_CONTROL_UNDONE   "the session was undone while it began: all classes have their old code"

enum hpx_control_verb { HPX_CONTROL_START, HPX_CONTROL_HOLD, HPX_CONTROL_STOP, HPX_CONTROL_DUMP, HPX_CONTROL_STATUS };

struct hpx_control_request {
    enum hpx_control_verb verb;
    uint64_t ms;         /* start, hold: 0: without end */
    uint64_t session;    /* stop, dump: its number; 0: whatever runs */
    const char *options; /* start, hold: in the line */
};

/* Takes a line without its end apart; it must live as long as *r. The bytes are hostile. 0; -HPX_E_OPT: no such request. */
int hpx_control_parse(const char *line, struct hpx_control_request *r, struct hpx_err *err);

#endif
