/* SPDX-License-Identifier: BSD-2-Clause */
/* output_internal.h: what output.c (the writer's thread) and output_post.c (who posts to it) share. */
#ifndef HPX_OUTPUT_INTERNAL_H
#define HPX_OUTPUT_INTERNAL_H

#include "output.h"
#include "spawn.h"
#include "stream.h"
#include <limits.h>
#include <semaphore.h>
#include <stddef.h>

enum { MSG_THREAD = 1, MSG_CLASS_LOAD, MSG_CLASS_UNLOAD, MSG_LINE, MSG_SPLIT, MSG_DUMP, MSG_JOURNAL_BEGIN, MSG_JOURNAL, MSG_END };

/* What HPX_OUTPUT_WAITING bounds. */
struct msg_event {
    struct hpx_msg m;
    bool replayed; /* not counted */
};
struct msg_thread {
    struct msg_event e;
    uint64_t at; /* hpx_clock_mono(), with format=b */
    enum hpx_thread_event what;
    struct hpx_thread_rec rec; /* its texts: behind */
    char text[];
};
struct msg_class {
    struct msg_event e;
    uint64_t at;
    struct hpx_class_rec rec; /* its name: behind */
    char text[];
};
struct msg_line {
    struct msg_event e;
    const struct hpx_mode *mode;
    _Alignas(max_align_t) char data[];
};
struct msg_split {
    struct hpx_msg m;
    struct timespec wall;
    uint64_t mono;
    uint32_t number; /* of the profile, from 1 */
};
struct msg_dump {
    struct hpx_msg m;
    struct hpx_parts parts;
    struct hpx_snapshot *traces;
    struct hpx_dump_request request;
    struct hpx_report report;
    bool last; /* the one at the end of the session */
};
struct msg_journal {
    struct hpx_msg m;
    struct hpx_parts parts;
};
struct msg_end {
    struct hpx_msg m;
    bool reported;
    struct hpx_report report;
};

struct hpx_output {
    struct hpx_lane lane;
    struct hpx_stream main;  /* the thread's, once it runs: what the options name */
    struct hpx_stream split; /* the thread's: a dump's own file, split=y */
    struct timespec wall;    /* of the header, and the same moment by the other clock; the thread's */
    uint64_t mono;
    struct hpx_stream *now;     /* the thread's: which of the two what comes is for */
    char pattern[PATH_MAX];     /* out_name.h: the names of the files; constant once the session runs */
    uint32_t last;              /* the thread's: number of the last profile */
    uint64_t split_unwritten;   /* the thread's: hpx_stream.unwritten of those */
    uint64_t split_lost;        /* the thread's: bytes that those have not */
    struct msg_end *end;        /* the aggregator's: made at load, as the end must always come */
    struct msg_dump *spare;     /* the aggregator's: the last dump's */
    struct msg_dump *next;      /* the aggregator's: of the next requested dump; NULL: not yet reserved */
    char text[HPX_REPORT_TEXT]; /* the thread's */
    sem_t done;                 /* posted after MSG_END was carried out */
    atomic_bool lacks;          /* relaxed: set by the reading thread, or before it gets the end message: an output is incomplete */
    atomic_bool journal_waits;  /* relaxed: a hint: a table of the journal is on its way */
    atomic_bool ends;           /* relaxed: the end is posted, or about to be */
    _Atomic uint64_t posted;    /* relaxed: messages */
    _Atomic uint64_t steps;     /* relaxed: of these, carried out */
    _Atomic uint64_t waiting;   /* relaxed: bytes of the events that wait */
    const char *stands;         /* who waits for the end: what did not move */
    bool replays;               /* the aggregator's: the model is repeating what it knows */
    bool said_slow;             /* the aggregator's */
    struct hpx_spawned thread;
};
extern struct hpx_output hpx_output;

#endif
