/* SPDX-License-Identifier: BSD-2-Clause */
/* batch.h: profiles as the body of one request to an engine. One thread.
 *
 * OTLP: opentelemetry's ProfilesData, gzip. ClickHouse: rows of HPX_BATCH_COLUMNS in RowBinary, gzip; lines and threads do not part rows.
 * Pyroscope: push.v1.PushRequest, a series for each family of values, each with a pprof. */
#ifndef HPX_FLEET_BATCH_H
#define HPX_FLEET_BATCH_H

#include "otlp.h"

enum hpx_engine { HPX_OTLP, HPX_CLICKHOUSE, HPX_PYROSCOPE };

#define HPX_BATCH_COLUMNS                                                                                                                  \
    "ts, duration_ms, service, version, host, container, pid, profile, kind, row, stack, value" /* of the table, in this order */
#define HPX_BATCH_ID    (2 * HPX_PROFILE_ID + 1)                                                /* hex digits with their 0 */
#define HPX_BATCH_KINDS 40 /* more than the views have; those of other profilers beyond count as "other" */

/* What a batch holds: it stands before the body in a file of the spool. */
struct hpx_batch_head {
    uint64_t profiles;
    uint64_t oldest_ms; /* when the first of them was read, since 1970 */
    size_t nkinds;
    struct hpx_batch_kind {
        char name[40];
        uint64_t sum; /* of the values of all stacks */
    } kinds[HPX_BATCH_KINDS];
};

/* A head as a line of text, and back. Texts from a file may be anything. false: no such line. */
#define HPX_BATCH_LINE 4096 /* bytes of every line, filled with blanks */
void hpx_batch_head_write(const struct hpx_batch_head *h, char line[HPX_BATCH_LINE]);
bool hpx_batch_head_read(struct hpx_batch_head *h, const char line[HPX_BATCH_LINE]);
/* Adds the sums of a finished tree. */
void hpx_batch_count(struct hpx_batch_head *h, const struct hpx_tree *t);

struct hpx_batch {
    enum hpx_engine engine;
    FILE *to; /* of the caller's descriptor */
    struct hpx_otlp otlp;
    struct hpx_batch_head head;
    uint64_t bytes; /* about, before they are packed */
    bool no_memory;
    int error; /* errno of the first write that failed; 0: none did */
};

/* Begins a batch whose body goes to the open file, from where it stands; the file stays the caller's. false: no memory; nothing to end. */
bool hpx_batch_begin(struct hpx_batch *b, enum hpx_engine engine, int fd);
/* Adds a finished tree with its origin. */
void hpx_batch_add(struct hpx_batch *b, const struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID]);
/* Writes what is left, and ends the batch; its head stays. false: the body is not whole: errno; ENOMEM, or that of a write. */
bool hpx_batch_end(struct hpx_batch *b);
void hpx_batch_id(const uint8_t id[HPX_PROFILE_ID], char to[HPX_BATCH_ID]);

/* ---- rows.c, push.c: false: no memory ---- */

/* Adds rows to a body. The number of a row is that of its column and of the row in it, so that a kind which is missing when a profile is
 * sent again moves no row of another. */
bool hpx_batch_rows(FILE *to, const struct hpx_tree *t, const char *id, uint64_t *bytes);
bool hpx_batch_push(FILE *to, const struct hpx_tree *t, const char *id, uint64_t *bytes);

#endif
