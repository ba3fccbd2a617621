/* SPDX-License-Identifier: BSD-2-Clause */
/* call_waits.h: the mounts that wait in the backlogs of one table of calls (call_switch.c), by key.
 *
 * A mount of an unknown stack proceeds only if no earlier mount of that stack waits anywhere. Thousands may wait when virtual threads yield
 * all the time, so each key has a heap of its turns: the lowest one is found in O(1), and a mount is added or removed in O(log n).
 *
 * Owner: that of the table. */
#ifndef HPX_CALL_WAITS_H
#define HPX_CALL_WAITS_H

#include "slots.h"
#include "vec.h"

/* A key of which mounts wait, or a free one. */
struct hpx_call_waiting {
    uint64_t key;
    uint64_t *turns; /* a heap: the lowest one is the first */
    uint32_t n, cap;
    uint32_t next_free;
};

struct hpx_call_waits {
    struct hpx_slots slots; /* {number + 1, hash of the key} */
    struct hpx_vec keys;    /* struct hpx_call_waiting */
    uint32_t free_key;      /* number + 1 of the first free one; 0: none */
    size_t heap_bytes;
    uint64_t steps; /* comparisons of two turns or keys, and threads that were looked at, since the start: what waiting costs */
};

int hpx_call_waits_init(struct hpx_call_waits *w); /* 0, -HPX_E_NOMEM */
void hpx_call_waits_fini(struct hpx_call_waits *w);
/* A mount begins to wait. false: no memory, and nothing has changed. */
bool hpx_call_waits_add(struct hpx_call_waits *w, uint64_t key, uint64_t turn);
/* A mount that waited has been applied. No effect on one that was never added. */
void hpx_call_waits_remove(struct hpx_call_waits *w, uint64_t key, uint64_t turn);
/* Does a mount of this key with a lower turn wait? */
bool hpx_call_waits_earlier(struct hpx_call_waits *w, uint64_t key, uint64_t turn);
static inline size_t hpx_call_waits_bytes(const struct hpx_call_waits *w)
{
    return w->slots.bytes + w->keys.bytes + w->heap_bytes;
}

#endif
