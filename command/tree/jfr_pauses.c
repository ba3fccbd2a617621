/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr_pauses.c: see jfr_pauses.h. */
#include "jfr_pauses.h"
#include <stdlib.h>

struct pause {
    size_t recording;
    uint64_t id; /* of the collection, in the recording */
    bool pauses;
    struct hpx_tree_pause of;
};

void hpx_jfr_pauses_init(struct hpx_jfr_pauses *p)
{
    *p = (struct hpx_jfr_pauses){.chunk = 0};
    hpx_seeded_map_init(&p->collections, true);
}

static void take_collection(struct hpx_jfr_pauses *p, struct hpx_tree *t, uint64_t id)
{
    uint32_t *chunk;
    const int added = hpx_seeded_map_add(&p->collections, id, &chunk);
    if (added < 0) {
        t->no_memory = true;
        return;
    }
    p->restarted |= added == 0 && *chunk != (uint32_t)p->chunk;
    *chunk = (uint32_t)p->chunk;
}

static void begin_recording(struct hpx_jfr_pauses *p)
{
    hpx_seeded_map_clear(&p->collections);
    p->recording++;
}

/* At the end of a chunk. */
static void settle_chunk(struct hpx_jfr_pauses *p, struct hpx_tree *t)
{
    const bool restarted = p->restarted;
    if (restarted) {
        begin_recording(p);
    }
    for (; p->first < p->all.len; p->first++) {
        struct pause *one = (struct pause *)p->all.items + p->first;
        one->recording = p->recording;
        if (restarted && !one->pauses) {
            take_collection(p, t, one->id);
        }
    }
    p->restarted = false;
}

void hpx_jfr_pauses_chunk(struct hpx_jfr_pauses *p, struct hpx_tree *t, const struct hpx_jfr *j)
{
    settle_chunk(p, t);
    if (j->own != p->own || j->began <= p->began) {
        begin_recording(p);
    }
    p->chunk = j->chunks;
    p->own = j->own;
    p->began = j->began;
}

void hpx_jfr_pauses_take(struct hpx_jfr_pauses *p, struct hpx_tree *t, uint64_t collection, bool pauses, const struct hpx_tree_pause *of)
{
    struct pause *one = t->timed ? hpx_list_push(&p->all, sizeof *one) : NULL;
    if (one == NULL) {
        t->no_memory |= t->timed;
        return;
    }
    *one = (struct pause){0, collection, pauses, *of};
    if (!pauses) {
        take_collection(p, t, collection);
    }
}

static int by_collection(const void *a, const void *b)
{
    const struct pause *x = a, *y = b;
    return x->recording != y->recording ? (x->recording > y->recording) - (x->recording < y->recording)
           : x->id != y->id             ? (x->id > y->id) - (x->id < y->id)
                                        : (int)x->pauses - (int)y->pauses;
}

/* Of a recording. */
static void add(struct hpx_tree *t, const struct pause *p, size_t n, bool has_pauses)
{
    const struct pause *collection = NULL;
    for (size_t i = 0; i < n; i++, p++) {
        struct hpx_tree_pause of = p->of;
        collection = !p->pauses ? p : collection;
        of.name = collection != NULL && collection->id == p->id ? collection->of.name : of.name;
        if (p->pauses == has_pauses) {
            hpx_tree_add_pause(t, &of);
        }
    }
}

void hpx_jfr_pauses_settle(struct hpx_jfr_pauses *p, struct hpx_tree *t)
{
    struct pause *all = p->all.items;
    settle_chunk(p, t);
    if (p->all.len > 1) {
        qsort(all, p->all.len, sizeof *all, by_collection);
    }
    for (size_t i = 0, end; i < p->all.len; i = end) {
        bool has_pauses = false;
        for (end = i; end < p->all.len && all[end].recording == all[i].recording; end++) {
            has_pauses |= all[end].pauses;
        }
        add(t, all + i, end - i, has_pauses);
    }
    free(all);
    hpx_seeded_map_fini(&p->collections);
}
