/* SPDX-License-Identifier: BSD-2-Clause */
/* otlp.h: profiles of many processes as one ProfilesData of OpenTelemetry, whose dictionary they share. One thread.
 *
 * Memory: the dictionary, and 16 bytes for each row. */
#ifndef HPX_TREE_OTLP_H
#define HPX_TREE_OTLP_H

#include "tree.h"
#include <stdio.h>

#define HPX_PROFILE_ID 16 /* bytes */

struct hpx_otlp_row {
    uint32_t node, thread; /* of the dictionary; thread: a name, 0: not told */
    uint64_t value;
};

/* A Profile: one column of a process. */
struct hpx_otlp_profile {
    const char *name; /* of the measure; that of another profiler's measure is `kept` */
    char *kept;
    enum hpx_tree_unit unit;
    bool cpu;             /* its values are samples, or the time that these stand for */
    struct hpx_list rows; /* struct hpx_otlp_row */
    uint64_t size;        /* of the message, once it is known */
    uint8_t id[HPX_PROFILE_ID];
    bool has_id;
};

/* A process, as OpenTelemetry's resource, with its profiles. */
struct hpx_otlp_part {
    char *host, *service, *version, *container; /* NULL: unknown */
    uint64_t pid;                               /* 0: unknown */
    uint64_t start_ms, duration_ms, interval_ns;
    uint32_t lost, own, filtered, unfiltered; /* names of the dictionary */
    struct hpx_list profiles;                 /* struct hpx_otlp_profile */
};

struct hpx_otlp {
    struct hpx_tree dictionary; /* names, frames and nodes; it has no samples */
    struct hpx_list parts;      /* struct hpx_otlp_part */
    size_t rows;
    bool no_memory;
};

/* false: no memory. hpx_otlp_fini() in any case. */
bool hpx_otlp_init(struct hpx_otlp *o);
void hpx_otlp_fini(struct hpx_otlp *o);
/* Adds a finished tree: its samples without threads, its origin as the resource. Each of its columns is a Profile, whose id is made of `id`
 * and the name of the column. Without memory o->no_memory is set, and nothing of o may be written. */
void hpx_otlp_add(struct hpx_otlp *o, const struct hpx_tree *t, const uint8_t id[HPX_PROFILE_ID]);
/* false: no memory. The caller looks for errors of the stream. */
bool hpx_otlp_write(const struct hpx_otlp *o, FILE *to);

/* ---- for write_otlp.c ---- */

/* Writes these parts, whose nodes and names are those of t. */
bool hpx_otlp_write_parts(const struct hpx_tree *t, struct hpx_otlp_part *parts, size_t n, FILE *to);

#endif
