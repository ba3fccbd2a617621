/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr.h: the events of a JFR recording that tell where time and memory went: of the JDK (8u262 to 28) and of async-profiler.
 *
 * A recording is a row of chunks, each with its own metadata and constants (jfr_types.h) anywhere in it, so a chunk is read into memory
 * first, and its events are told to the sink when all of its constants are known. What a chunk's head says about places in it is not used:
 * the events are walked, so a chunk that is cut off, or that is still being written, has what is complete in it.
 *
 * One thread. Memory: one chunk, and what jfr_types.h says, within the caller's budget. */
#ifndef HPX_READ_JFR_H
#define HPX_READ_JFR_H

#include "jfr_types.h"
#include "source.h"

#define HPX_JFR_MAGIC "FLR\0" /* the first four bytes */

enum hpx_jfr_kind {
    HPX_JFR_NONE,
    HPX_JFR_EXECUTION,  /* jdk.ExecutionSample */
    HPX_JFR_NATIVE,     /* jdk.NativeMethodSample */
    HPX_JFR_CPU_TIME,   /* jdk.CPUTimeSample */
    HPX_JFR_LOST,       /* jdk.CPUTimeSamplesLost */
    HPX_JFR_WALL,       /* profiler.WallClockSample */
    HPX_JFR_ALLOC,      /* jdk.ObjectAllocationSample */
    HPX_JFR_TLAB,       /* jdk.ObjectAllocationInNewTLAB, -OutsideTLAB */
    HPX_JFR_ENTER,      /* jdk.JavaMonitorEnter */
    HPX_JFR_WAIT,       /* jdk.JavaMonitorWait */
    HPX_JFR_PARK,       /* jdk.ThreadPark */
    HPX_JFR_SLEEP,      /* jdk.ThreadSleep */
    HPX_JFR_STATES,     /* hprofx.WallClock */
    HPX_JFR_SETTING,    /* jdk.ActiveSetting */
    HPX_JFR_JVM,        /* jdk.JVMInformation */
    HPX_JFR_COLLECTION, /* jdk.GarbageCollection */
    HPX_JFR_PAUSE,      /* jdk.GCPhasePause */
};

/* Fields of these events. */
enum hpx_jfr_slot {
    HPX_JFR_START,
    HPX_JFR_DURATION,
    HPX_JFR_THREAD,
    HPX_JFR_SAMPLED, /* thread, of jdk.ExecutionSample and others */
    HPX_JFR_STACK,
    HPX_JFR_STATE,
    HPX_JFR_OBJECT_CLASS,
    HPX_JFR_MONITOR_CLASS,
    HPX_JFR_PARKED_CLASS,
    HPX_JFR_WEIGHT, /* bytes */
    HPX_JFR_TLAB_SIZE,
    HPX_JFR_SIZE,
    HPX_JFR_PERIOD,
    HPX_JFR_SAMPLES,
    HPX_JFR_LOST_SAMPLES,
    HPX_JFR_NAME,
    HPX_JFR_VALUE,
    HPX_JFR_PID,
    HPX_JFR_ARGUMENTS,
    HPX_JFR_GC_ID,
    HPX_JFR_TIMED, /* of hprofx */
    HPX_JFR_SLOTS
};

struct hpx_jfr_event {
    enum hpx_jfr_kind kind;
    uint64_t at;                   /* ns since 1970: when it began */
    uint64_t ns;                   /* how long it was; HPX_JFR_CPU_TIME: the CPU time that it stands for */
    const struct hpx_jfr_value *v; /* by enum hpx_jfr_slot */
};

struct hpx_jfr {
    struct hpx_source *source;
    /* false: no more. */
    bool (*sink)(void *ctx, struct hpx_jfr *j, const struct hpx_jfr_event *ev);
    void *ctx;
    /* Since hpx_jfr_read(): */
    struct hpx_jfr_chunk chunk; /* of the event */
    size_t chunks;              /* that were read, with that of the event. Keys of constants hold in one chunk */
    bool async;                 /* async-profiler wrote the chunk */
    bool own;                   /* hprofx wrote it */
    uint64_t start, end;        /* ns since 1970: of the recording, as far as it was read */
    uint64_t began;             /* likewise: of the chunk */
    bool no_memory;
    char why[200]; /* what is wrong with the file; "": nothing. What is complete was told */
    /* private */
    uint8_t *bytes;
    size_t cap;
    uint64_t base, began_ticks, frequency; /* of the chunk: where it is; ticks at its start; ticks a second */
    uint64_t spare;                        /* steps (jfr_types.h) that are left for chunks which need more than their size allows */
    bool stopped;
};

/* Reads the source to its end. The caller has set the first three; hpx_jfr_fini() in any case. */
void hpx_jfr_read(struct hpx_jfr *j);
void hpx_jfr_fini(struct hpx_jfr *j);

/* ---- for the sink: what values are ---- */

struct hpx_jfr_frame {
    struct hpx_jfr_value method;
    int32_t line;
};

/* Appends the frames of a stack, innermost first, to a list of struct hpx_jfr_frame. false: it has none, or no memory. */
bool hpx_jfr_frames(struct hpx_jfr *j, const struct hpx_jfr_value *stack, struct hpx_list *to);
/* Names as the JVM has them, p/C and m; "" where there is none: functions have no class. */
void hpx_jfr_method(struct hpx_jfr *j, const struct hpx_jfr_value *method, char *class, char *name, size_t room);
bool hpx_jfr_class(struct hpx_jfr *j, const struct hpx_jfr_value *class, char *name, size_t room);
/* That of Java, else that of the system. */
bool hpx_jfr_thread(struct hpx_jfr *j, const struct hpx_jfr_value *thread, char *name, size_t room);

#endif
