/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot.h: what a writer sees: rows copied from the counters, and constant records that the rows refer to.
 *
 * Records (strings, shown methods, traces) never move and never change once handed out, so a writer's thread reads them while the
 * aggregator adds others; a thread's record is valid only while it is told of. Numbers as in the original: trace serials from 300000
 * (300000 itself: the empty trace), threads from 200000 (200000: the unknown thread). A serial never changes its meaning. */
#ifndef HPX_SNAPSHOT_H
#define HPX_SNAPSHOT_H

#include "compiler.h"

#define HPX_SERIAL_TRACE  300000u
#define HPX_SERIAL_THREAD 200000u
#define HPX_SERIAL_CLASS  100000u

struct hpx_text { /* modified UTF-8 of the JVM, not terminated for the reader's purposes */
    const char *bytes;
    uint32_t len;
};

/* A class that was loaded or unloaded: told where the model was asked to (binary). */
struct hpx_class_rec {
    uint32_t serial;      /* never given twice */
    struct hpx_text name; /* in Java form (p.C$D, int[][]); at the end empty */
    bool sampled;         /* at the end: traces that come later may have frames of it */
};

/* A method as it is shown. Class names in Java form. */
struct hpx_method_rec {
    struct hpx_text class_name, name, signature, source; /* source, signature: len 0 = none */
    uint32_t klass;                                      /* class serial; HPX_SERIAL_CLASS: hprofx.unknown; 0: classes are not told of */
    uint32_t number;                                     /* from 1, dense, this record's alone; 0: it has none */
};

#define HPX_LINE_UNKNOWN (-1)
#define HPX_LINE_NATIVE  (-3) /* of a native method, where classes are told of; else unknown */

struct hpx_frame_rec {
    const struct hpx_method_rec *method;
    int32_t line;    /* > 0, or one of those above: "Unknown line" */
    uint32_t number; /* from 1, the same for the same method and line; 0: classes are not told of, or no memory */
};

struct hpx_trace_rec {
    uint32_t serial;
    uint32_t thread; /* thread serial with thread=y, else 0 */
    uint32_t nframes;
    struct hpx_frame_rec frames[]; /* leaf first */
};

struct hpx_thread_rec {
    uint32_t serial, object; /* object: unique a thread, from 0x50000001 */
    struct hpx_text name, group, parent_group;
};

struct hpx_row {
    const struct hpx_trace_rec *trace;
    uint64_t count; /* samples by weight */
};

struct hpx_snapshot {
    uint64_t total; /* sum of the counts of all rows */
    uint32_t nrows;
    struct hpx_row *rows; /* the reader may sort them; count > 0 in each */
};

void hpx_snapshot_destroy(struct hpx_snapshot *s);

/* Exact calls. Times are ns of CPU time, never below 0. */
struct hpx_call_row {
    const struct hpx_trace_rec *trace;
    uint64_t calls;             /* > 0: that returned */
    uint64_t self_ns, total_ns; /* total: with the calls inside */
};

struct hpx_call_snapshot {
    uint64_t self_ns, calls; /* of all rows */
    /* now */
    uint64_t open_calls, open_ns; /* calls that have not returned, and their self time */
    /* since the start */
    uint64_t all_calls, probes_ns; /* counted; taken off for the probes */
    uint64_t ticks, ticks_ns;      /* times=sampled: signals told, and the time they stand for */
    uint64_t outside_ns;           /* that of them in no call */
    uint64_t lost_calls;           /* begun and returned where events were lost: in no row */
    uint64_t lost_events;          /* not 0: rows of calls that were open then are approximate */
    uint64_t resynced, stray;      /* calls whose exit was not seen, closed by a later one; exits of what was not entered */
    uint32_t nrows;
    struct hpx_call_row *rows; /* the reader may sort them */
};

void hpx_call_snapshot_destroy(struct hpx_call_snapshot *s);

#endif
