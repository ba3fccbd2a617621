/* SPDX-License-Identifier: BSD-2-Clause */
/* stream.h: one output in the format of the options: header, threads, classes, dumps. Every stream is self-contained: it defines what it
 * names. The writer's thread. */
#ifndef HPX_STREAM_H
#define HPX_STREAM_H

#include "dump_request.h"
#include "hprof_ascii.h"
#include "hprof_binary.h"
#include "out.h"
#include "session.h"

struct hpx_stream {
    struct hpx_out out; /* opened by the owner */
    struct hpx_ascii ascii;
    struct hpx_binary binary;
    struct hpx_bound bound; /* of its tables */
    uint64_t unwritten;     /* what the rows of its dumps stand for that were left out for want of memory, and that no later one has */
    uint64_t lacks;         /* the same of the last dump's rows that a later one may have */
};

/* Before hpx_stream_restart(). Writes nothing. */
void hpx_stream_init(struct hpx_stream *s);
/* Writes the header. wall, mono_ns: now, by both clocks; no later record is older. */
void hpx_stream_begin(struct hpx_stream *s, struct timespec wall, uint64_t mono_ns);
/* Forgets all definitions and writes a new header. The output must be able to refuse records. */
void hpx_stream_restart(struct hpx_stream *s, struct timespec wall, uint64_t mono_ns);
/* at: hpx_clock_mono(). Of a start with a newest name both are written. */
void hpx_stream_thread(struct hpx_stream *s, uint64_t at, const struct hpx_thread_rec *rec, enum hpx_thread_event what);
void hpx_stream_class(struct hpx_stream *s, uint64_t at, const struct hpx_class_rec *rec, bool unloaded);
/* Writes the sections of all parts that are not NULL; sorts the rows. last: no other dump follows in this output. s->bound has what was
 * summed. false: there is nothing to report. hpx_stream_report() follows. */
bool hpx_stream_dump(struct hpx_stream *s, const struct hpx_parts *parts, const struct hpx_dump_request *request, bool last);
/* The end of a dump: its report, if it has one and the output is not bare. */
void hpx_stream_report(struct hpx_stream *s, const char *report);
/* Writes only the traces. */
void hpx_stream_traces(struct hpx_stream *s, struct hpx_snapshot *traces);
/* Closes the output and frees the formats' memory. */
void hpx_stream_end(struct hpx_stream *s);

#endif
