/* SPDX-License-Identifier: BSD-2-Clause */
/* definitions.h: what the records of a file define for those behind them: names, threads, frames, traces. The same for both formats.
 *
 * Memory: names once each (the first 4 KiB), one entry a frame, trace, thread and class, four bytes for each frame of a trace. Without
 * memory a name is "?", and no_memory is set. One thread. */
#ifndef HPX_READ_DEFINITIONS_H
#define HPX_READ_DEFINITIONS_H

#include "events.h"
#include "list.h"

/* Names are numbers; 0 is "?". */
struct hpx_defined_frame {
    uint32_t method, class_name, source; /* text: method has the class in it, and class_name is 0 */
    int32_t line;
    uint32_t full; /* binary: hpx_defined_method(), once it was asked for */
};

struct hpx_defined_trace {
    uint32_t first, frames; /* hpx_defined_frame() */
    uint32_t thread;        /* its serial; 0: not told */
};

struct hpx_defined_thread {
    uint32_t serial, name, group;
    uint32_t newest; /* the name that it has given itself since; 0: none */
    uint64_t start_us, end_us;
    bool ended;
};

struct hpx_definitions {
    bool text;
    bool no_memory; /* something is missing */
    uint64_t us;    /* of the last record */
    struct hpx_list threads, frames, traces;
    struct hpx_list frames_of_traces;                         /* uint32_t: frame + 1; 0: none */
    struct hpx_seeded_map thread_of, frame_of, trace_of;      /* -> index + 1 */
    struct hpx_seeded_map strings, class_names, object_names; /* binary: id, serial, id -> name */
    struct hpx_list names;                                    /* char * */
    struct hpx_seeded_map name_of;                            /* hash -> name */
    struct hpx_defined_trace trace;                           /* the open one */
};

/* 0, -HPX_E_NOMEM. */
int hpx_definitions_init(struct hpx_definitions *d);
void hpx_definitions_fini(struct hpx_definitions *d);
/* Takes from an event what it defines. */
void hpx_definitions_event(struct hpx_definitions *d, const struct hpx_rd_event *ev);

uint32_t hpx_defined_keep(struct hpx_definitions *d, struct hpx_rd_text text);
const char *hpx_defined_name(const struct hpx_definitions *d, uint32_t name);
/* Binary: the name of a class by its serial, and by its object. */
uint32_t hpx_defined_class(const struct hpx_definitions *d, uint32_t serial);
uint32_t hpx_defined_object(const struct hpx_definitions *d, uint64_t id);
/* One without a name where there is none. */
const struct hpx_defined_thread *hpx_defined_thread(const struct hpx_definitions *d, uint32_t serial);
/* The name that it is shown by. */
static inline uint32_t hpx_defined_newest(const struct hpx_defined_thread *t)
{
    return t->newest != 0 ? t->newest : t->name;
}
/* Frame i of a trace, innermost first: frame + 1; 0: none. i < frames. */
static inline uint32_t hpx_defined_frame(const struct hpx_definitions *d, const struct hpx_defined_trace *t, uint32_t i)
{
    return ((const uint32_t *)d->frames_of_traces.items)[t->first + i];
}
/* "class.method" of a frame + 1, as the text format has it; 0 for 0. */
uint32_t hpx_defined_method(struct hpx_definitions *d, uint32_t frame);

#endif
