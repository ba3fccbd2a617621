/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_binary.h: the binary format of HPROF (format=b), version 1.0.2; docs/hprof-binary.md has the layout and what was decided.
 *
 * The writer's thread only. Whatever the order and the memory, the file is sound: what a record names stands before it, each definition
 * once, TIME does not go back. What a definition has no memory for is left out or stands for less (a trace for the empty one), counted in
 * `unplaced` and said.
 *
 * Where records can be refused (out.h) each is one of its own; what was refused is not defined, and is tried again before its next user. A
 * user whose definition was refused is not written, a row of a table left out.
 *
 * hpx_binary_header() first; threads and classes as they begin and end; for each dump its sections, then hpx_binary_dump_end(); at the end
 * of the file hpx_binary_release(). */
#ifndef HPX_HPROF_BINARY_H
#define HPX_HPROF_BINARY_H

#include "big_endian.h"
#include "intern.h"
#include "numbered.h"
#include "out.h"
#include "seen.h"
#include "snapshot.h"
#include "vec.h"
#include <stdatomic.h>
#include <time.h>

#define HPX_BINARY_RECENT 256u
#define HPX_BINARY_FRAMES 2048u /* of a trace: the option's limit */

struct hpx_binary {
    struct hpx_out *out;
    uint32_t id_size;                               /* 4 or 8 */
    _Atomic uint32_t shown_us;                      /* relaxed: TIME of the newest record, for the records of another thread */
    uint64_t zero_ns, time_us;                      /* hpx_clock_mono() of the header's time; TIME of the records, not yet cut to 4 bytes */
    struct hpx_seen traces, frames, classes, begun; /* in the file: serials from their HPX_SERIAL_ on, numbers of frames */
    struct hpx_intern strings;                      /* names of methods, signatures, sources: numbers */
    bool strings_ready;
    struct hpx_numbered methods;     /* strings of methods that have a number, so that each is looked up once, not for each of its lines */
    uint32_t nstrings, spare_frames; /* strings so far; frames that have no number */
    /* Names of threads, groups, classes: the last ones, so that a run of many short threads needs no table of their names. */
    struct hpx_recent {
        struct hpx_hash128 hash;
        uint32_t number; /* 0: nothing here */
    } recent[HPX_BINARY_RECENT];
    struct hpx_vec held; /* uint32_t: serials of unloaded classes that the next dump may still name */
    uint64_t unplaced;   /* samples of this dump whose trace could not be written */
    bool exhausted_said;
    bool refused;                                            /* a definition of what is being put together was refused */
    const struct hpx_thread_rec *(*living)(uint32_t serial); /* the owner's: a thread whose start may be missing; NULL: none */
    uint8_t record[9 + 12 + 8 * HPX_BINARY_FRAMES];
};

/* id_size: 4 or 8. Without memory each string is a new one. */
void hpx_binary_init(struct hpx_binary *w, struct hpx_out *o, uint32_t id_size);
void hpx_binary_fini(struct hpx_binary *w);
/* A stream begins anew: nothing is defined, but what waits for the next dump waits still. The header comes next. */
void hpx_binary_restart(struct hpx_binary *w);

/* The records from now on are of this time (hpx_clock_mono()), or of the latest one told. */
void hpx_binary_at(struct hpx_binary *w, uint64_t mono_ns);
/* The file's head, with the time of now by both clocks; CONTROL SETTINGS; the empty trace, for which records that have none name it. */
#define HPX_BINARY_ALLOC 1u /* allocations have traces */
#define HPX_BINARY_CPU   2u /* sampling is on */
void hpx_binary_header(struct hpx_binary *w, struct timespec wall, uint64_t mono_ns, uint32_t settings, uint32_t depth);

void hpx_binary_thread_start(struct hpx_binary *w, const struct hpx_thread_rec *t);
/* Nothing for a thread whose start is not in the file. */
void hpx_binary_thread_end(struct hpx_binary *w, const struct hpx_thread_rec *t);
void hpx_binary_class_load(struct hpx_binary *w, const struct hpx_class_rec *c);
/* Nothing for a class that is not in the file. With `sampled` the record waits for the end of the next dump. */
void hpx_binary_class_unload(struct hpx_binary *w, const struct hpx_class_rec *c);

/* The strings, classes, frames and traces that the rows need, then CPU SAMPLES. Rows as in hpx_ascii_cpu_samples(). */
void hpx_binary_cpu_samples(struct hpx_binary *w, struct hpx_snapshot *s, double cutoff);
/* The traces alone. */
void hpx_binary_traces(struct hpx_binary *w, struct hpx_snapshot *s);
/* Behind the last section of a dump: the report as a string that nobody names, then what waited for the dump. */
void hpx_binary_dump_end(struct hpx_binary *w, const char *report);
/* What still waits for a dump. */
void hpx_binary_release(struct hpx_binary *w);

/* ---- for the sections of the heap (hprof_heap.h) ---- */

/* Ids as they stand in the file. */
uint64_t hpx_binary_class_object(uint32_t serial);
/* Room for the head of a record and up to 64 bytes of its body. */
#define HPX_BINARY_SMALL 80u
/* Puts the head of a record; the caller writes it, and `length` bytes behind it. */
uint8_t *hpx_binary_head(const struct hpx_binary *w, uint8_t *to, uint8_t tag, uint32_t length);
static inline uint8_t *hpx_binary_id(const struct hpx_binary *w, uint8_t *to, uint64_t id)
{
    return w->id_size == 8 ? hpx_be8(to, id) : hpx_be4(to, (uint32_t)id);
}
/* What was put since the last record ended was one. false: refused. */
bool hpx_binary_end_record(struct hpx_binary *w);
/* The id of a string, which is in the file afterwards; 0 when there are no more (said), or it was refused (w->refused). */
uint64_t hpx_binary_string(struct hpx_binary *w, struct hpx_text s);
/* The trace is in the file afterwards; false without memory or when it was refused: name HPX_SERIAL_TRACE instead. */
bool hpx_binary_trace(struct hpx_binary *w, const struct hpx_trace_rec *t);
/* How many elements of `each` bytes a record can have behind `fixed` bytes. */
uint32_t hpx_binary_fit(uint32_t n, uint32_t fixed, uint32_t each);

#endif
