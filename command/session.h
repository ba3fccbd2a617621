/* SPDX-License-Identifier: BSD-2-Clause */
/* session.h: what all that steer a session in a JVM share: to reach it, to begin, to wait, and the profile in the JVM's /tmp. One thread;
 * one at a time. */
#ifndef HPX_COMMAND_SESSION_H
#define HPX_COMMAND_SESSION_H

#include "asked.h"
#include "client.h"
#include "target.h"

#define HPX_LIVE_KEPT ".kept" /* ends the name of the profile of a session that "stop" shows */

struct hpx_live {
    struct hpx_target target;
    struct hpx_client client;
    struct hpx_err err;
    char profile[64]; /* of the file in the JVM's /tmp: nobody else's, and none of an earlier command */
};

/* Finds the JVM of the word; from then on the first SIGINT, SIGTERM or SIGHUP is noted, the second ends the command. hpx_live_leave() in
 * any case. */
enum hpx_status hpx_live_find(struct hpx_live *l, const char *word);
/* Connects to the agent in it, which is loaded if need be. */
enum hpx_status hpx_live_reach(struct hpx_live *l, const struct hpx_asked *a);
/* What is asked for, as far as this JVM has it; what it lacks is said on stderr. The JVM was found. */
struct hpx_asked hpx_live_fitting(const struct hpx_live *l, const struct hpx_asked *a);
/* Lets go of the JVM and says what failed. Returns the status. */
int hpx_live_leave(struct hpx_live *l, enum hpx_status s);
/* A signal was noted. */
bool hpx_live_interrupted(void);

/* Begins a session that writes to `file`, a name of the JVM as file= takes it. A signal has it undone: l->client.undone. verb: of
 * control.h, "start" or "hold"; limit: seconds, 0: none. */
enum hpx_status hpx_live_begin(struct hpx_live *l, const struct hpx_asked *a, const char *verb, double limit, const char *file,
                               unsigned *number);
/* The file that the session of the JVM writes; "": there is none, or it writes none. */
enum hpx_status hpx_live_output(struct hpx_live *l, char to[static PATH_MAX]);
/* Names the profile as that of a session which "stop" shows: after the JVM, which later commands find it by. The JVM was found. */
void hpx_live_keep(struct hpx_live *l);
/* Of a session without -o that has ended by itself, the newest profile in the JVM's /tmp becomes l->profile. false: there is none. */
bool hpx_live_kept(struct hpx_live *l);
/* The session as it was begun, and no other. */
enum hpx_status hpx_live_stop(struct hpx_live *l, unsigned number);
/* true: the JVM has ended; false: the time is over, or a signal was noted. */
bool hpx_live_wait(const struct hpx_live *l, double seconds);

/* The file in the JVM's /tmp whose name is that of the profile and `behind`, if it is the JVM's own; -1: there is none. The caller closes
 * it. */
int hpx_live_open(const struct hpx_live *l, const char *behind);
/* Removes it. */
void hpx_live_remove(const struct hpx_live *l, const char *behind);
/* Removes the profile, and what the agent writes before it is one. */
void hpx_live_clean(const struct hpx_live *l);
/* The same when the session has ended: a profile that is open stays readable, and the next signal ends the command, as nothing is left to
 * undo. HPX_FAILED: a signal was noted. */
enum hpx_status hpx_live_forget(struct hpx_live *l);

#endif
