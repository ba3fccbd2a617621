/* SPDX-License-Identifier: BSD-2-Clause */
/* symbolized_table.h: methods and traces as they are printed, every printed form once; the records of snapshot.h. Owner: the aggregator;
 * records are constant once created and never move, so a snapshot's reader may follow pointers to them. */
#ifndef HPX_SYMBOLIZED_TABLE_H
#define HPX_SYMBOLIZED_TABLE_H

#include "id_map.h"
#include "snapshot.h"
#include "string_table.h"

struct hpx_symbolized_frame {
    uint32_t method; /* number of the symbolized method */
    int32_t line;    /* as in struct hpx_frame_rec */
};

struct hpx_symbolized_trace {
    const struct hpx_trace_rec *rec;
    uint64_t sum; /* scratch of the snapshot being made; 0 between snapshots */
};

struct hpx_symbolized {
    bool numbered;            /* frames get numbers */
    struct hpx_id_map frames; /* with `numbered`: method << 32 | line */
    const struct hpx_strings *strings;
    struct hpx_intern method_index, trace_index;
    struct hpx_vec methods; /* struct hpx_method_rec */
    struct hpx_vec traces;  /* struct hpx_symbolized_trace; element n has the serial HPX_SERIAL_TRACE + n; element 0: the empty trace */
    struct hpx_arena arena;
};

int hpx_symbolized_init(struct hpx_symbolized *s, const struct hpx_strings *strings); /* 0, -HPX_E_NOMEM */
void hpx_symbolized_fini(struct hpx_symbolized *s);
/* Frames of traces created later have numbers. 0, -HPX_E_NOMEM. */
int hpx_symbolized_number_frames(struct hpx_symbolized *s);
/* The symbolized method of these strings (numbers; 0: none) and this class. HPX_INTERN_NONE without memory. */
uint32_t hpx_symbolized_method(struct hpx_symbolized *s, struct hpx_class_serial klass, uint32_t class_name, uint32_t name,
                               uint32_t signature, uint32_t source);
/* The symbolized trace of this thread (0: any) and these frames. HPX_INTERN_NONE without memory. */
uint32_t hpx_symbolized_trace(struct hpx_symbolized *s, uint32_t thread, const struct hpx_symbolized_frame *frames, uint32_t nframes);
static inline struct hpx_symbolized_trace *hpx_symbolized_trace_at(const struct hpx_symbolized *s, uint32_t trace)
{
    return hpx_vec_at(&s->traces, trace);
}
size_t hpx_symbolized_bytes(const struct hpx_symbolized *s);

#endif
