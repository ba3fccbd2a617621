/* SPDX-License-Identifier: BSD-2-Clause */
/* records.c: what a writer is given, made by hand. */
#include "records.h"
#include "cmocka_all.h"
#include <stdlib.h>
#include <string.h>

struct hpx_text text(const char *s)
{
    return (struct hpx_text){s, (uint32_t)strlen(s)};
}

struct hpx_trace_rec *trace(uint32_t serial, uint32_t thread, uint32_t n, const struct hpx_frame_rec *frames)
{
    struct hpx_trace_rec *t = calloc(1, sizeof(*t) + n * sizeof(frames[0]));
    assert_non_null(t);
    t->serial = serial;
    t->thread = thread;
    t->nframes = n;
    if (n > 0) {
        memcpy(t->frames, frames, n * sizeof(frames[0]));
    }
    return t;
}

struct hpx_snapshot samples_of(uint32_t n, struct hpx_row *rows)
{
    struct hpx_snapshot s = {.nrows = n, .rows = rows};
    for (uint32_t i = 0; i < n; i++) {
        s.total += rows[i].count;
    }
    return s;
}
