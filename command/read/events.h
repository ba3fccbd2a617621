/* SPDX-License-Identifier: BSD-2-Clause */
/* events.h: what a reader of an HPROF file tells, record by record; the same for the binary and the text format.
 *
 * Texts point into the reader's buffer: good during the call. Ids are the file's; in text 0 where the format has none. The order is that of
 * the file; what belongs together: TRACE, FRAME_OF_TRACE*, TRACE_END; TABLE, ROW*, TABLE_END; HEAP, (FIELD* CLASS | INSTANCE CONTENT* |
 * ...)*, HEAP_END. */
#ifndef HPX_READ_EVENTS_H
#define HPX_READ_EVENTS_H

#include "hprof_format.h"

struct hpx_rd_text {
    const char *p;
    size_t n;
};

enum hpx_rd_kind {
    HPX_RD_HEADER,
    HPX_RD_RECORD, /* binary: before the event of each record. Text: each record once, for counting */
    HPX_RD_CONTROL,
    HPX_RD_STRING,
    HPX_RD_LOAD,
    HPX_RD_UNLOAD,
    HPX_RD_FRAME,
    HPX_RD_TRACE,
    HPX_RD_FRAME_OF_TRACE,
    HPX_RD_TRACE_END,
    HPX_RD_THREAD_START,
    HPX_RD_THREAD_END,
    HPX_RD_THREAD_NAME, /* its newest name; binary: behind the STRING that tells it */
    HPX_RD_TABLE,
    HPX_RD_ROW,
    HPX_RD_TABLE_END,
    HPX_RD_SUMMARY,
    HPX_RD_HEAP,
    HPX_RD_ROOT,
    HPX_RD_FIELD,
    HPX_RD_CLASS,
    HPX_RD_INSTANCE,
    HPX_RD_OBJECTS,    /* object array */
    HPX_RD_PRIMITIVES, /* primitive array */
    HPX_RD_CONTENT,    /* binary, if the reader was asked for it: behind an INSTANCE or an array, what stands in it */
    HPX_RD_HEAP_END,
    HPX_RD_MONITOR_THREAD, /* text: a line of MONITOR DUMP */
    HPX_RD_MONITOR,
    HPX_RD_MONITOR_USER,    /* one that waits */
    HPX_RD_MONITOR_VIRTUAL, /* virtual threads, with one stack and state */
    HPX_RD_MONITOR_OF,      /* a line of those, or a NOTE: `name` is the line without its blanks */
    HPX_RD_SINCE,           /* text: tables count since the one before; binary has a flag of CONTROL */
    HPX_RD_EXACT,           /* text: a number of the table before */
    HPX_RD_REPORT,          /* text: a line of hprofx's report */
    HPX_RD_TIMELINE,        /* TIMELINE begins: PLACE*, MOMENT*, TIMELINE_END; a stream may have lost some of them */
    HPX_RD_PLACE,
    HPX_RD_MOMENT,
    HPX_RD_TIMELINE_END,
    HPX_RD_FINISH, /* the file ended after a whole record */
};

static inline bool hpx_rd_blocked(int tag)
{
    return tag >= HPX_TAG_MONITOR_TIME && tag <= HPX_TAG_PINNED_TIME;
}

#define HPX_NO_SHARE UINT32_MAX /* a row of a binary file */

struct hpx_rd_header {
    bool text, bare; /* bare: a text file without header */
    int minor;       /* 1 or 2: JAVA PROFILE 1.0.x */
    uint32_t id_size;
    uint64_t ms;
    struct hpx_rd_text date; /* in text */
};

struct hpx_rd_record {
    int tag;         /* enum hpx_tag */
    uint64_t us;     /* since the header's time, unwrapped; text: 0 */
    uint64_t length; /* of the body; text: 0 */
};

struct hpx_rd_string {
    uint64_t id, length;
    struct hpx_rd_text text; /* its beginning: at most 64 KiB */
    bool modified;
};

/* It is a report of hprofx: no head of a table, no name of a thread, and no timeline. */
bool hpx_rd_is_report(const struct hpx_rd_string *s);
/* It has lines of TIMELINE. */
bool hpx_rd_is_timeline(const struct hpx_rd_string *s);
/* It tells the newest name of a thread. */
bool hpx_rd_is_thread_name(const struct hpx_rd_string *s);

struct hpx_rd_load {
    uint64_t id, name;
    uint32_t serial;
};

struct hpx_rd_frame {
    uint64_t id, method, signature, source;
    uint32_t class_serial;
    int32_t line;
};

struct hpx_rd_trace {
    uint32_t serial, thread, frames; /* frames: binary */
};

struct hpx_rd_frame_of_trace {
    uint64_t id;               /* binary */
    struct hpx_rd_text method; /* text: class.method; "" with an empty line: no frames */
    struct hpx_rd_text source;
    int32_t line;
};

struct hpx_rd_thread {
    uint32_t serial;
    uint64_t name_id, group_id, parent_id; /* binary */
    struct hpx_rd_text name, group;        /* text; THREAD_NAME: of both formats, in text as it stands in quotes */
};

struct hpx_rd_table {
    int tag;
    uint32_t flags; /* SITES: of the binary record; text: 2 if ordered by allocated bytes */
    uint64_t total; /* samples, ms; SITES: live bytes */
    uint64_t live_objects, bytes, objects;
    uint32_t rows; /* binary */
    struct hpx_rd_text date;
    bool more; /* WALL CLOCK, binary: the rows of one more state or class, and their ms, which belong to the table before */
};

struct hpx_rd_row {
    uint32_t self;  /* text: in hundredths of a percent; HPX_NO_SHARE: binary */
    uint64_t count; /* WALL CLOCK: ms */
    uint32_t trace, class_serial, array;
    uint32_t owner;                                    /* MONITOR OWNERS: the trace of the owner; else 0 */
    uint64_t live_bytes, live_objects, bytes, objects; /* SITES */
    struct hpx_rd_text name, caller;                   /* text; caller, and ms in bytes: cpu=old */
    struct hpx_rd_text state;                          /* WALL CLOCK: of the thread; "STATE", or "STATE CLASS" of what it waits for */
};

struct hpx_rd_object {
    uint64_t id, class_id, super;     /* super: binary */
    uint64_t loader, signers, domain; /* CLASS, binary */
    uint32_t trace, type;             /* type: of a primitive array */
    uint64_t length;                  /* INSTANCE: bytes of the fields; arrays: elements; CLASS: declared bytes of an instance */
    uint64_t bytes;                   /* CLASS: of the fields it declares itself; arrays: of the elements; text: the size printed */
    struct hpx_rd_text name;          /* text: its class, or the name of the class itself */
};

struct hpx_rd_root {
    int sub;     /* enum hpx_root */
    uint64_t id; /* binary */
};

/* Of the class whose CLASS comes behind. */
enum hpx_rd_field_of { HPX_RD_CONSTANT, HPX_RD_STATIC, HPX_RD_DECLARED };

struct hpx_rd_field {
    enum hpx_rd_field_of of;
    int type;       /* enum hpx_type */
    uint64_t name;  /* a string; of a constant its index */
    uint64_t value; /* of a constant or static field */
};

struct hpx_rd_heap {
    int tag;
    bool ended; /* HEAP_END: the dump is complete */
};

struct hpx_rd_monitor {
    uint32_t trace, thread; /* thread: MONITOR_THREAD, its serial */
    uint64_t count;         /* MONITOR_VIRTUAL */
    struct hpx_rd_text name;
    bool unowned;
};

struct hpx_rd_report {
    struct hpx_rd_text key, value;
};

struct hpx_rd_exact {
    bool total; /* of the table; else of its next row */
    uint64_t ns;
};

struct hpx_rd_timeline {
    uint64_t zero_ms; /* since 1970: of the time 0 */
    uint64_t end_ms, coarse_ms, places, events;
};

enum hpx_rd_time_kind { HPX_RD_TIME_CPU, HPX_RD_TIME_WALL, HPX_RD_TIME_ALLOC, HPX_RD_TIME_BLOCK, HPX_RD_TIME_GC }; /* HPX_TIMELINE_KINDS */

/* What an event is about; the first of a TIMELINE has the number 0. */
struct hpx_rd_place {
    enum hpx_rd_time_kind kind;
    uint32_t trace, owner;   /* 0: none, or not in the file */
    struct hpx_rd_text name; /* WALL: as the state of a row; ALLOC, BLOCK: of the class */
    int tag;                 /* BLOCK: of the table that counts it */
    uint64_t bytes, shares;  /* ALLOC: of each object; in thousandths, for how many one stands */
};

struct hpx_rd_moment {
    uint64_t ms, unit; /* since the time 0; unit above 1: some time in so many ms from there on */
    uint32_t thread;   /* its serial; 0: none */
    uint32_t place;    /* may be one that is not there */
    uint64_t count, ns;
};

struct hpx_rd_event {
    enum hpx_rd_kind kind;
    uint64_t at;   /* offset of its record, or of its record inside a heap dump */
    uint64_t line; /* text: its line, from 1; binary: 0 */
    union {
        struct hpx_rd_header header;
        struct hpx_rd_record record;
        struct {
            uint32_t flags, depth;
        } control;
        struct hpx_rd_string string;
        struct hpx_rd_load load;
        uint32_t serial; /* UNLOAD, THREAD_END */
        struct hpx_rd_frame frame;
        struct hpx_rd_trace trace; /* and TRACE_END */
        struct hpx_rd_frame_of_trace of;
        struct hpx_rd_thread thread;
        struct hpx_rd_table table; /* and SUMMARY, TABLE_END */
        struct hpx_rd_row row;
        struct hpx_rd_root root;
        struct hpx_rd_field field;
        struct hpx_rd_object object; /* CLASS, INSTANCE, OBJECTS, PRIMITIVES */
        struct hpx_rd_text content;  /* whole values, as the file has them; of an instance all, up to HPX_SOURCE_MAX */
        struct hpx_rd_heap heap;
        struct hpx_rd_monitor monitor;
        struct hpx_rd_report report;
        struct hpx_rd_exact exact;
        struct hpx_rd_timeline timeline;
        struct hpx_rd_place place;
        struct hpx_rd_moment moment;
    };
};

#endif
