/* SPDX-License-Identifier: BSD-2-Clause */
/* spool.h: the bodies that wait for a destination, as files of a folder: they survive the shipper. A file is a line (batch.h) and the body;
 * its name is a number that grows. Beyond a bound, or if the disk is full, the oldest go.
 *
 * One thread adds, one takes. Files have mode 0600. */
#ifndef HPX_FLEET_SPOOL_H
#define HPX_FLEET_SPOOL_H

#include "batch.h"
#include "err.h"

struct hpx_spool;

/* Told of a batch that is dropped: on the thread that adds. cause: "spool full", "broken" (perhaps nothing is known of it), or that of
 * hpx_spool_cause(). */
typedef void hpx_spool_dropped(void *ctx, const struct hpx_batch_head *head, const char *cause);

/* The folder `name` below dir, which is made if it is missing, with what an earlier shipper left in it; what is broken there is dropped.
 * most: bytes. One object for a folder at a time. NULL: err. */
struct hpx_spool *hpx_spool_open(int dir, const char *name, uint64_t most, hpx_spool_dropped *dropped, void *ctx, struct hpx_err *err);
void hpx_spool_close(struct hpx_spool *s);

/* ---- the thread that adds ---- */

/* An open file for the next body, with its place behind the line; one of the next two closes it. -1: errno. */
int hpx_spool_begin(struct hpx_spool *s);
/* The body is whole: the file gets its line and its name. false: it cannot be; it was dropped, and told. */
bool hpx_spool_add(struct hpx_spool *s, int fd, const struct hpx_batch_head *head);
/* Removes it. What is lost with it the caller counts. */
void hpx_spool_abort(struct hpx_spool *s, int fd);
/* Makes room by dropping the oldest that is not being sent. false: there is none. */
bool hpx_spool_drop(struct hpx_spool *s, const char *cause);

/* ---- the thread that takes ---- */

struct hpx_spool_item {
    uint64_t number;
    struct hpx_batch_head head;
    char *body; /* freed by hpx_spool_done() and hpx_spool_later() */
    size_t n;
};

/* The oldest, which the other thread then does not drop. Waits ms for one to come; 0: does not. false: there is none. */
bool hpx_spool_take(struct hpx_spool *s, struct hpx_spool_item *item, unsigned ms);
/* Reads its line and body, once. false: errno; EINVAL: it is broken; another: it may be read later. */
bool hpx_spool_read(struct hpx_spool *s, struct hpx_spool_item *item);
/* Removes it. */
void hpx_spool_done(struct hpx_spool *s, struct hpx_spool_item *item);
/* It stays the oldest. */
void hpx_spool_later(struct hpx_spool *s, struct hpx_spool_item *item);

/* ---- any thread ---- */

struct hpx_spool_state {
    size_t batches;
    uint64_t bytes, oldest_ms; /* oldest_ms: since 1970; 0: there is none */
};
void hpx_spool_look(struct hpx_spool *s, struct hpx_spool_state *to);
/* The disk, or a quota, is full. */
bool hpx_spool_is_full(int error);
/* "no memory", "disk full", "spool cannot be written". */
const char *hpx_spool_cause(int error);
/* Ends every wait in hpx_spool_take(), also those to come. */
void hpx_spool_wake(struct hpx_spool *s);

#endif
