/* SPDX-License-Identifier: BSD-2-Clause */
/* snapshot.h: the writers' view: rows with copied counts, and constant records that the rows refer to.
 *
 * Records (strings, symbolized methods, traces) never move or change once published, so the writer's thread reads them while the
 * aggregator adds others; a thread's record is valid only during the call that announces it. Numbers as in the original: trace serials
 * from 300000 (300000 itself: the empty trace; 299999: rows that were summed), threads from 200000 (200000: the unknown thread). A serial
 * never changes its meaning. */
#ifndef HPX_SNAPSHOT_H
#define HPX_SNAPSHOT_H

#include "class_ids.h"

#define HPX_SERIAL_TRACE  300000u
#define HPX_SERIAL_SUMMED 299999u /* of the trace that stands for those of summed rows (writers/bound.h) */
#define HPX_SERIAL_THREAD 200000u

#define HPX_CLASS_OBJECT_FIRST 0x10000000u /* id of the object of the class with the serial HPX_SERIAL_CLASS */
#define HPX_OBJECT_FIRST       0x50000001u /* of the thread with the serial HPX_SERIAL_THREAD + 1 */

struct hpx_text { /* modified UTF-8 of the JVM, not terminated for the reader's purposes */
    const char *bytes;
    uint32_t len;
};

/* A class that was loaded or unloaded, if the model announces classes (binary). */
struct hpx_class_rec {
    struct hpx_class_serial serial; /* never given twice */
    struct hpx_text name;           /* in Java form (p.C$D, int[][]); at the end empty */
    bool in_traces;                 /* at unload: later traces may have frames of it */
};

/* A method as it is printed. Class names in Java form. */
struct hpx_method_rec {
    struct hpx_text class_name, name, signature, source; /* source, signature: len 0 = none */
    struct hpx_class_serial klass;
    uint32_t number; /* from 1, dense, unique; 0: none */
};

#define HPX_LINE_UNKNOWN (-1)
#define HPX_LINE_NATIVE  (-3) /* a native method, if classes are announced; else unknown */

struct hpx_frame_rec {
    const struct hpx_method_rec *method;
    int32_t line;    /* > 0, or one of those above: "Unknown line" */
    uint32_t number; /* from 1, the same for the same method and line; 0: classes are not announced, or no memory */
};

struct hpx_trace_rec {
    uint32_t serial;
    uint32_t thread; /* thread serial with thread=y, else 0 */
    uint32_t nframes;
    struct hpx_frame_rec frames[]; /* leaf first */
};

struct hpx_thread_rec {
    uint32_t serial, object; /* object: unique per thread, from 0x50000001 */
    struct hpx_text name, group, parent_group;
    struct hpx_text newest; /* the name that it has given itself since its start; without one: none */
};
/* What a record is about. ENDS: it has only serial and object. */
enum hpx_thread_event { HPX_THREAD_STARTS, HPX_THREAD_RENAMED, HPX_THREAD_ENDS };

struct hpx_row {
    const struct hpx_trace_rec *trace;
    uint64_t count; /* samples by weight */
};

/* Why a method of a stack has no name; of several the innermost counts. X(SYMBOL, name in the report). */
#define HPX_NAMELESS_OF(X)                                                                                                                 \
    X(UNANNOUNCED, "class not announced") /* or an old version of the method, after its class was redefined */                             \
    X(UNLOADED, "class unloaded")         /* before its names were read, or there was no memory for them */                                \
    X(UNANSWERED, "not answered in time")
enum hpx_nameless {
#define HPX_NAMELESS_ENUM(sym, name) HPX_NAMELESS_##sym,
    HPX_NAMELESS_OF(HPX_NAMELESS_ENUM)
#undef HPX_NAMELESS_ENUM
        HPX_NAMELESS_COUNT
};

struct hpx_snapshot {
    uint64_t total;                        /* sum of the counts of all rows */
    uint64_t effective;                    /* samples of equal weight whose shares would be as certain as these. 0: not known (journal) */
    uint64_t nameless[HPX_NAMELESS_COUNT]; /* counts of all rows whose stack has a method without a name */
    uint32_t nrows;
    struct hpx_row *rows; /* the reader may sort them; every count is > 0 */
};

void hpx_snapshot_destroy(struct hpx_snapshot *s);

/* Exact calls. Times are ns of CPU time, never below 0. */
struct hpx_call_row {
    const struct hpx_trace_rec *trace;
    uint64_t calls;             /* calls that returned, > 0 */
    uint64_t self_ns, total_ns; /* total: with inner calls */
};

#define HPX_REPLACED_NAMED 24u

struct hpx_call_snapshot {
    uint64_t self_ns, calls; /* of all rows */
    /* now */
    uint64_t open_calls, open_ns; /* calls that have not returned, and their self time */
    /* since the start */
    uint64_t all_calls, probes_ns; /* counted calls; probe time that was subtracted */
    uint64_t ticks, ticks_ns;      /* times=sampled: signals recorded, and the time they stand for */
    uint64_t outside_ns;           /* the part of it outside calls */
    uint64_t lost_calls;           /* begun and returned where events were lost: in no row */
    uint64_t lost_events;          /* not 0: rows of calls that were open then are approximate */
    uint64_t resynced, stray;      /* calls without an exit, closed by a later one; exits without an enter */
    /* Methods of the rows that the VM can replace (struct hpx_numbered), and those of them that have the most calls. */
    uint32_t nreplaced;
    const struct hpx_method_rec *replaced[HPX_REPLACED_NAMED];
    uint32_t nrows;
    struct hpx_call_row *rows; /* the reader may sort them */
};

void hpx_call_snapshot_destroy(struct hpx_call_snapshot *s);

/* Allocation sites. */
struct hpx_site_row {
    const struct hpx_trace_rec *trace;
    struct hpx_text class_name; /* in Java form */
    struct hpx_class_serial klass;
    uint8_t array; /* type of the elements as in PRIMITIVE ARRAY DUMP, 2: objects; 0: no array */
    bool changed;  /* since the snapshot before */
    uint64_t live_bytes, live_objects, bytes, objects;
    double variance; /* of `bytes`, estimated; 0: exact */
};

/* What a listing of sites shall contain: the flags of the command ALLOC SITES. */
enum {
    HPX_SITES_CHANGED = 1,
    HPX_SITES_BY_ALLOCATED = 2,
    HPX_SITES_COLLECT = 4,
    HPX_SITES_SUMMARY = 0x100 /* ours: HEAP SUMMARY alone */,
    HPX_SITES_NOTHING = 0x200 /* ours: no section */
};

struct hpx_site_snapshot {
    uint64_t live_bytes, live_objects, bytes, objects; /* of all rows */
    uint64_t interval;                                 /* of the sampling, bytes; 0: exact */
    bool live;                                         /* what lives is known; else the live columns are 0 */
    bool counts;                                       /* sites=counts: allocations are exact, live figures are estimates */
    uint64_t missed_objects, missed_bytes;             /* sites=counts: estimates of allocations without a probe */
    uint64_t unsized;                                  /* sites=counts: objects of unknown size; `bytes` is without them */
    uint16_t flags;                                    /* the listing's */
    uint32_t nrows;
    struct hpx_site_row *rows; /* the reader may sort them; none without an object */
};

void hpx_site_snapshot_destroy(struct hpx_site_snapshot *s);

/* Time that threads were blocked. One table each. */
enum hpx_block_part {
    HPX_BLOCK_ENTER,  /* for a monitor that another thread owns */
    HPX_BLOCK_OWNERS, /* the same, by the stack of the owner (owner=y) */
    HPX_BLOCK_WAIT,   /* in Object.wait */
    HPX_BLOCK_PARK,   /* in LockSupport.park, by the class of the blocker */
    HPX_BLOCK_PINNED, /* of virtual threads that kept their carrier */
    HPX_BLOCK_PARTS
};

struct hpx_block_row {
    const struct hpx_trace_rec *trace; /* of the blocked thread; the empty trace: not known */
    const struct hpx_trace_rec *owner; /* HPX_BLOCK_OWNERS; else NULL */
    struct hpx_text class_name;        /* of the monitor or blocker, in Java form */
    uint64_t count, ns;                /* count > 0 */
};

struct hpx_block_table {
    uint64_t count, ns; /* of all rows */
    uint32_t nrows;
    struct hpx_block_row *rows; /* the reader may sort them */
};

struct hpx_block_snapshot {
    struct hpx_block_table of[HPX_BLOCK_PARTS];
};

void hpx_block_snapshot_destroy(struct hpx_block_snapshot *s);

/* What a thread does, of wall=; X(SYMBOL, name). */
#define HPX_WALL_STATES_OF(X)                                                                                                              \
    X(RUNNING, "running")   /* on a CPU: a sample of CPU time stands for its interval */                                                   \
    X(RUNNABLE, "runnable") /* ready to run, and waits for a CPU */                                                                        \
    X(BLOCKED, "blocked")   /* waits to enter a monitor that another thread owns */                                                        \
    X(WAITING, "waiting")   /* in Object.wait */                                                                                           \
    X(PARKED, "parked")     /* in LockSupport.park */                                                                                      \
    X(SLEEPING, "sleeping") /* in Thread.sleep */                                                                                          \
    X(IO, "io")             /* waits in a native method that reads, writes or polls a socket or file */                                    \
    X(NATIVE, "native")     /* waits in another native method, or in the VM */

enum hpx_wall_state {
#define HPX_WALL_ENUM(sym, name) HPX_WALL_##sym,
    HPX_WALL_STATES_OF(HPX_WALL_ENUM)
#undef HPX_WALL_ENUM
        HPX_WALL_STATES
};

struct hpx_wall_row {
    const struct hpx_trace_rec *trace;
    enum hpx_wall_state state;
    uint64_t ns;                /* > 0 */
    struct hpx_text class_name; /* of the monitor or blocker that it waits for, in Java form; len 0: none, or unknown */
};

struct hpx_wall_snapshot {
    uint64_t ns; /* of all rows */
    uint32_t nrows;
    struct hpx_wall_row *rows; /* the reader may sort them */
};

const char *hpx_wall_state_name(enum hpx_wall_state state);
void hpx_wall_snapshot_destroy(struct hpx_wall_snapshot *s);

#endif
