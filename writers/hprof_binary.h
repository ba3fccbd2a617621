/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_binary.h: the binary format of HPROF (format=b), version 1.0.2; docs/formats.md has layout and decisions.
 *
 * The writer's thread only. In any order of calls, and without memory, the file is valid: definitions precede their uses and occur once,
 * TIME never decreases. Without memory for a definition its user is omitted or names less (the empty trace); that is counted in
 * `unplaced` and reported.
 *
 * If the output can refuse records (out.h), every record is separate. A refused definition is not defined, and is retried before its
 * next use. A record that needs a refused definition is not written; a row of a table is omitted.
 *
 * Order: hpx_binary_header(); threads and classes as they start and end; for every dump its sections, then hpx_binary_dump_end(); at the
 * end of the file hpx_binary_release(). */
#ifndef HPX_HPROF_BINARY_H
#define HPX_HPROF_BINARY_H

#include "bitset.h"
#include "bound.h"
#include "hprof_format.h"
#include "intern.h"
#include "out.h"
#include "snapshot.h"
#include "vec.h"
#include <stdatomic.h>
#include <time.h>

#define HPX_BINARY_RECENT 256u
#define HPX_BINARY_FRAMES 2048u /* of a trace: the option's limit */

struct hpx_binary {
    struct hpx_out *out;
    struct hpx_bound *bound;   /* set by the owner: rows beyond it are summed; NULL: none */
    uint32_t id_size;          /* 4 or 8 */
    _Atomic uint32_t shown_us; /* relaxed: TIME of the newest record, for the records of another thread */
    uint64_t zero_ns, time_us; /* hpx_clock_mono() of the header's time; TIME of the records, not yet cut to 4 bytes */
    struct hpx_bitset traces, frames, classes, begun; /* in the file: serials from their HPX_SERIAL_ on, numbers of frames */
    struct hpx_intern strings;                        /* names of methods, signatures, sources: numbers */
    bool strings_ready;
    struct hpx_vec methods;                  /* strings of numbered methods, so that a method is looked up once, not for every line */
    uint32_t nstrings, nnames, spare_frames; /* strings so far; newest names of threads and own notes; frames without a number */
    /* The most recent names of threads, groups and classes, so that a run with many short threads needs no table of names. */
    struct hpx_recent {
        struct hpx_hash128 hash;
        uint32_t number; /* 0: nothing here */
    } recent[HPX_BINARY_RECENT];
    struct hpx_vec held;     /* struct hpx_class_serial: of unloaded classes that the next dump may still name */
    uint64_t unplaced;       /* samples of this dump whose trace could not be written */
    uint64_t unplaced_sites; /* rows of ALLOC SITES, likewise */
    uint64_t unwritten;      /* what the rows stand for that were left out for want of memory; the owner takes it */
    bool exhausted_said;
    bool refused; /* a definition that the current record needs was refused */
    const struct hpx_thread_rec *(*live_thread)(
        uint32_t serial); /* set by the owner: finds a thread whose start may be missing; NULL: none */
    uint8_t record[HPX_RECORD_HEAD + 12 + 8 * HPX_BINARY_FRAMES];
};

/* id_size: 4 or 8. Without memory every string is written again. */
void hpx_binary_init(struct hpx_binary *w, struct hpx_out *o, uint32_t id_size);
void hpx_binary_fini(struct hpx_binary *w);
/* A new stream: nothing is defined; what waits for the next dump keeps waiting. The header must follow. */
void hpx_binary_restart(struct hpx_binary *w);

/* Sets the time of the next records (hpx_clock_mono()), unless an earlier call had a later one. */
void hpx_binary_at(struct hpx_binary *w, uint64_t mono_ns);
/* The file's head, with the time of now by both clocks; CONTROL SETTINGS; the empty trace, for which records that have none name it. */
void hpx_binary_header(struct hpx_binary *w, struct timespec wall, uint64_t mono_ns, uint32_t settings, uint32_t depth);

void hpx_binary_thread_start(struct hpx_binary *w, const struct hpx_thread_rec *t);
/* Whether its start is in the file. */
bool hpx_binary_has_thread(const struct hpx_binary *w, uint32_t serial);
/* No effect if the start of the thread is not in the file. */
void hpx_binary_thread_end(struct hpx_binary *w, const struct hpx_thread_rec *t);
/* Its newest name: a string that nothing names. As the end. */
void hpx_binary_thread_name(struct hpx_binary *w, const struct hpx_thread_rec *t);
void hpx_binary_class_load(struct hpx_binary *w, const struct hpx_class_rec *c);
/* No effect if the class is not in the file. With `in_traces` the record waits for the end of the next dump. */
void hpx_binary_class_unload(struct hpx_binary *w, const struct hpx_class_rec *c);

/* A UTF8 record that nothing names, which readers skip. false: it is not in the file. */
bool hpx_binary_note(struct hpx_binary *w, struct hpx_text text);
/* The same with an id that no name of the program has (HPX_THREAD_NAME_FIRST), so that none can pass for it. */
bool hpx_binary_own_note(struct hpx_binary *w, struct hpx_text text);
/* The strings, classes, frames and traces that the rows need, then CPU SAMPLES. Rows as in hpx_ascii_cpu_samples(). */
void hpx_binary_cpu_samples(struct hpx_binary *w, struct hpx_snapshot *s, double cutoff);
/* Writes only the traces. */
void hpx_binary_traces(struct hpx_binary *w, struct hpx_snapshot *s);
/* After the last section of a dump: writes the report as a string that no record names, then what waited for the dump. */
void hpx_binary_dump_end(struct hpx_binary *w, const char *report);
/* Writes what still waits for a dump. */
void hpx_binary_release(struct hpx_binary *w);

/* ---- for the sections of other files ---- */

/* Makes sure that the class is in the stream; false: no memory, or refused. */
bool hpx_binary_class(struct hpx_binary *w, struct hpx_class_serial serial, struct hpx_text name);
/* Reserves memory for the marks of a class, a thread and a trace (0, 0, NULL: none), so that later no mark fails for want of memory. */
bool hpx_binary_reserve(struct hpx_binary *w, struct hpx_class_serial klass, uint32_t thread, const struct hpx_trace_rec *t);
/* Room for the head of a record and up to 64 bytes of its body. */
#define HPX_BINARY_SMALL 80u
/* Fills in the head of a record; the caller writes it, then `length` bytes. */
uint8_t *hpx_binary_head(const struct hpx_binary *w, uint8_t *to, uint8_t tag, uint32_t length);
static inline uint8_t *hpx_binary_id(const struct hpx_binary *w, uint8_t *to, uint64_t id)
{
    return w->id_size == 8 ? hpx_put_be8(to, id) : hpx_put_be4(to, (uint32_t)id);
}
/* The same of a note of so many bytes, with its id. NULL: no ids left. */
uint8_t *hpx_binary_note_head(struct hpx_binary *w, uint8_t *to, size_t bytes);
/* Ends a record: everything since the end of the last one. false: refused. */
bool hpx_binary_end_record(struct hpx_binary *w);
/* Makes sure that the string is in the file and returns its id; 0: no ids left (reported), or refused (w->refused). */
uint64_t hpx_binary_string(struct hpx_binary *w, struct hpx_text s);
/* Makes sure that the trace is in the file; false: no memory, or refused; then name HPX_SERIAL_TRACE instead. */
bool hpx_binary_trace(struct hpx_binary *w, const struct hpx_trace_rec *t);
/* The section has room for `rows` rows of `each` bytes, and no more. */
static inline bool hpx_binary_is_full(const struct hpx_binary *w, uint32_t rows, uint32_t each)
{
    return hpx_bound_reached(w->bound, w->out, HPX_BINARY_SMALL + (uint64_t)(rows + 2) * each);
}
/* Whether hpx_binary_trace() has written it. */
bool hpx_binary_has_trace(const struct hpx_binary *w, const struct hpx_trace_rec *t);
/* How many of n elements of `each` bytes fit into a record after `fixed` bytes. */
uint32_t hpx_binary_fit(uint32_t n, uint32_t fixed, uint32_t each);
/* Of them, how many the output takes in one record; the rest counts as left out. */
uint32_t hpx_binary_cut(struct hpx_binary *w, uint32_t n, uint32_t fixed, uint32_t each);

#endif
