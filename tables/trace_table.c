/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_table.c: see trace_table.h. */
#include "trace_table.h"
#include "err.h"
#include <string.h>

int hpx_traces_init(struct hpx_traces *t)
{
    *t = (struct hpx_traces){0};
    hpx_vec_init(&t->raws, sizeof(struct hpx_raw));
    hpx_arena_init(&t->arena);
    return hpx_intern_init(&t->index, 0);
}

void hpx_traces_fini(struct hpx_traces *t)
{
    hpx_intern_fini(&t->index);
    hpx_vec_fini(&t->raws);
    hpx_arena_fini(&t->arena);
}

uint32_t hpx_traces_add(struct hpx_traces *t, struct hpx_hash128 h, const struct hpx_raw_frame *frames, uint32_t nframes, uint32_t thread)
{
    struct hpx_raw *raw = hpx_intern_reserve(&t->index) == 0 ? hpx_vec_push(&t->raws) : NULL;
    if (!raw) {
        return HPX_INTERN_NONE;
    }
    /* The arena takes nothing back: it is asked last. */
    size_t n = nframes * sizeof(*frames);
    struct hpx_raw_frame *copy = hpx_arena_alloc(&t->arena, n, _Alignof(struct hpx_raw_frame));
    if (!copy) {
        t->raws.len--;
        return HPX_INTERN_NONE;
    }
    if (n > 0) {
        memcpy(copy, frames, n);
    }
    *raw = (struct hpx_raw){copy, nframes, thread, HPX_INTERN_NONE, false, 0};
    hpx_intern_put(&t->index, h, t->raws.len - 1);
    return t->raws.len - 1;
}

size_t hpx_traces_bytes(const struct hpx_traces *t)
{
    return hpx_intern_bytes(&t->index) + t->raws.bytes + t->arena.bytes;
}
