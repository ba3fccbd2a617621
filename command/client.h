/* SPDX-License-Identifier: BSD-2-Clause */
/* client.h: speaks with the agent in a JVM over the socket of base/control.h; has the library loaded if nothing is listening. */
#ifndef HPX_COMMAND_CLIENT_H
#define HPX_COMMAND_CLIENT_H

#include "target.h"

struct hpx_client {
    int fd;
    const struct hpx_target *target; /* that hpx_client_open() got; it stays open while requests are sent */
    bool silent;                     /* the agent did not answer in time */
    bool undone;                     /* hpx_client_begin(): the session was undone, or ended at once */
    size_t len;                      /* of what was received and not yet taken */
    char got[8192];
};

/* Whether the library, our file `agent`, could be loaded into an open target where nobody listens; only looks. *copies: a copy would be
 * made. HPX_OK; HPX_REFUSED; HPX_FAILED: our file cannot be read, or its /tmp not be written to. */
enum hpx_status hpx_client_lets_load(const struct hpx_target *t, const char *agent, bool *copies, struct hpx_err *err);
/* The agent, or what has ended without removing it, has a socket in an open target; only looks. */
bool hpx_client_listens(const struct hpx_target *t);
/* Connects to the agent in an open target; has it load `agent`, our file of the library, if need be: as the target sees it, or as a copy
 * that is removed again. seconds: as hpx_attach_load(). A JVM that is starting is
 * waited for (starting.h). HPX_OK, or its errors; HPX_REFUSED: the agent listens, and is busy or stopped. */
enum hpx_status hpx_client_open(struct hpx_target *t, const char *agent, unsigned seconds, struct hpx_client *c, struct hpx_err *err);
void hpx_client_close(struct hpx_client *c);
/* Sends a line and waits for its end; calls `line` (may be NULL) for each "KEY: VALUE". Sends it again while the JVM is starting. HPX_OK;
 * HPX_REFUSED, HPX_FAILED: the agent's own sentence; HPX_FAILED, c->silent: it did not answer for minutes; HPX_NO_JVM: the JVM has ended.
 */
enum hpx_status hpx_client_ask(struct hpx_client *c, const char *request, void (*line)(void *ctx, const char *text), void *ctx,
                               struct hpx_err *err);
/* As ask, for a session that begins; `line` takes its number from the answer. Once `interrupted` is true, the agent is asked to undo what
 * it has done, and a session that has begun all the same ends: HPX_FAILED, c->undone; not if the agent had refused it, or says that it
 * cannot end it. */
enum hpx_status hpx_client_begin(struct hpx_client *c, const char *request, void (*line)(void *number, const char *text), unsigned *number,
                                 bool (*interrupted)(void), struct hpx_err *err);
/* As ask. Once `interrupted` is true, the answer is not waited for: HPX_FAILED. */
enum hpx_status hpx_client_ask_while(struct hpx_client *c, const char *request, void (*line)(void *ctx, const char *text), void *ctx,
                                     bool (*interrupted)(void), struct hpx_err *err);
/* Waits until the JVM ends, a signal comes, or ms are over. true: it has ended, or has sent data without a request. */
bool hpx_client_wait(const struct hpx_client *c, int ms);

#endif
