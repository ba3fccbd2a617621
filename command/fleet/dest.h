/* SPDX-License-Identifier: BSD-2-Clause */
/* dest.h: a destination of profiles: an engine that gets them by HTTP through a spool, or a folder of pprof files. Each engine has a thread
 * that sends the oldest batch until the engine takes it: at least once. A batch that an engine will never take (400, 413, 422) is dropped
 * and counted, and so is what an OTLP engine says that it rejected of a batch; after every other failure it is sent again, after
 * Retry-After or 1 s, doubled up to 60 s, with jitter.
 *
 * The functions are for one thread. */
#ifndef HPX_FLEET_DEST_H
#define HPX_FLEET_DEST_H

#include "batch.h"
#include "http.h"
#include "status.h"

struct hpx_dest;

/* What the user gave for it; the texts outlive the destination. */
struct hpx_dest_asked {
    const char *url; /* "otlp:http://HOST:4318", "clickhouse:http://HOST:8123/DB.TABLE", "pyroscope:http://HOST:4040", "pprof:FOLDER" */
    struct hpx_http_how how;
};

/* The word begins as a URL of a destination. */
bool hpx_dest_is_url(const char *word);
/* spool: the folder of all spools; most: bytes of this one. NULL: err; *status: HPX_USAGE or HPX_FAILED. */
struct hpx_dest *hpx_dest_open(const struct hpx_dest_asked *asked, int spool, uint64_t most, enum hpx_status *status, struct hpx_err *err);
/* Adds a finished tree without threads, with its origin, to the open batch. */
void hpx_dest_add(struct hpx_dest *d, const struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID]);
/* Bytes of the open batch, about. */
uint64_t hpx_dest_bytes(const struct hpx_dest *d);
/* Seals the open batch: from now on it survives the shipper, but not a power failure, as nothing is synced. */
void hpx_dest_flush(struct hpx_dest *d);
/* Everything that was sealed has been sent or dropped. Sets the gauges of metrics.h, too. */
bool hpx_dest_look(struct hpx_dest *d);
/* Ends the thread within a second or two; what was not sent stays in the spool. */
void hpx_dest_close(struct hpx_dest *d);

/* ---- parts without effects ---- */

/* How a destination is spoken to. */
struct hpx_dest_way {
    enum hpx_engine engine;
    char request[2048]; /* the URL of a request */
    char label[300];    /* for people and metrics: without query */
    const char *headers[3];
    const char *folder; /* of pprof files; NULL: an engine */
};
bool hpx_dest_way(const char *url, struct hpx_dest_way *way, struct hpx_err *err);
/* What an answer means. */
enum hpx_dest_fate { HPX_DEST_TAKEN, HPX_DEST_REFUSED, HPX_DEST_AGAIN };
enum hpx_dest_fate hpx_dest_fate(long status);
/* What an OTLP engine did not take of a body that it took: ExportProfilesServiceResponse.partial_success. It counts columns of our profiles
 * as profiles. Bytes that are no such message say nothing. */
struct hpx_dest_partial {
    uint64_t rejected;
    char why[256]; /* printable ASCII; with rejected 0 a warning; "" */
};
struct hpx_dest_partial hpx_dest_partial(const void *body, size_t n);
/* Milliseconds until the next try. failures: in a row; chance: 0 to 1. */
uint64_t hpx_dest_pause(unsigned retry_after, unsigned failures, double chance);

#endif
