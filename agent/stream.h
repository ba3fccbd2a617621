/* SPDX-License-Identifier: BSD-2-Clause */
/* stream.h: one output in the format that the options ask for: header, threads, classes, dumps. Each is sound by itself: what it names it
 * defines. The writer's thread. */
#ifndef HPX_STREAM_H
#define HPX_STREAM_H

#include "agent.h"
#include "dump.h"
#include "hprof_ascii.h"
#include "hprof_binary.h"
#include "out.h"

struct hpx_stream {
    struct hpx_out out; /* opened by the owner */
    struct hpx_ascii ascii;
    struct hpx_binary binary;
};

/* Before a restart: nothing is written. */
void hpx_stream_init(struct hpx_stream *s);
/* The header. wall, mono_ns: now, by both clocks; nothing that comes is older. */
void hpx_stream_begin(struct hpx_stream *s, struct timespec wall, uint64_t mono_ns);
/* Forgets what was defined: a header begins it anew. The output must be able to refuse records. */
void hpx_stream_restart(struct hpx_stream *s, struct timespec wall, uint64_t mono_ns);
/* at: hpx_clock_mono(). */
void hpx_stream_thread(struct hpx_stream *s, uint64_t at, const struct hpx_thread_rec *rec, bool ended);
void hpx_stream_class(struct hpx_stream *s, uint64_t at, const struct hpx_class_rec *rec, bool unloaded);
/* The sections of those that are not NULL, then the report's lines. Sorts the rows. */
void hpx_stream_dump(struct hpx_stream *s, struct hpx_snapshot *samples, struct hpx_call_snapshot *calls, const struct hpx_dump_wish *wish,
                     const char *report);
/* The traces alone. */
void hpx_stream_traces(struct hpx_stream *s, struct hpx_snapshot *traces);
/* Closes the output; what the formats hold is freed. */
void hpx_stream_end(struct hpx_stream *s);

#endif
